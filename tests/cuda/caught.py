#!/usr/bin/env python3
"""caught.py EMULATOR MACHINE: the table of docs/kernels.md, from what tests/cuda/mutants.sh and tests/cuda/ptx/mutants.sh
printed into these files: for each class of mutant how many there are, and how many each of the two caught."""
import collections
import re
import sys

LINE = re.compile(r"^(?P<kind>\S.*?)  +(?P<kernel>[bf]\d\S*)  +(?P<file>\S+) +(?P<result>caught|NOT caught|hung)")


def results(path):
    """[(class, rung, result)]"""
    found = map(LINE.match, open(path, encoding="utf-8"))
    return [(m["kind"], re.match(r"[^-]*", m["kernel"])[0], m["result"]) for m in found if m]


def table(emulator, machine):
    lines = collections.OrderedDict()
    for at, run in enumerate((emulator, machine)):
        for kind, rung, result in run:
            line = lines.setdefault(kind, {"rungs": set(), "all": [0, 0], "caught": [0, 0]})
            line["rungs"].add(rung)
            line["all"][at] += 1
            line["caught"][at] += result == "caught"

    def cell(line, at):
        return f"{line['caught'][at]} of {line['all'][at]}" if line["all"][at] else "cannot see them"
    yield "| what is broken | in | mutants | the emulator catches | the second machine |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for kind, line in sorted(lines.items(), key=lambda item: -max(item[1]["all"])):
        yield (f"| {kind} | {', '.join(sorted(line['rungs']))} | {max(line['all'])} | "
               f"{cell(line, 0)} | {cell(line, 1)} |")
    both = [f"**{sum(l['caught'][at] for l in lines.values())} of {sum(l['all'][at] for l in lines.values())}**"
            for at in (0, 1)]
    yield f"| **all** | | **{sum(max(l['all']) for l in lines.values())}** | {both[0]} | {both[1]} |"


if __name__ == "__main__":
    print("\n".join(table(*map(results, sys.argv[1:3]))))
