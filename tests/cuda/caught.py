#!/usr/bin/env python3
"""caught.py EMULATOR MACHINE PROVER: the table of docs/kernels.md, from what tests/cuda/mutants.sh,
tests/cuda/ptx/mutants.sh and tests/cuda/prove.sh --mutants printed into these files: for each class of mutant how many
there are, and how many each of the three caught. "of n": of those that it was asked for; the prover may not be, and may
have no answer. Hopper's kernels are the emulator's alone and left out."""
import collections
import re
import sys

LINE = re.compile(r"^(?P<kind>\S.*?)  +(?P<kernel>[bf]\d\S*)  +(?P<file>\S+) +"
                  r"(?P<result>caught|NOT caught|hung|no answer|not asked)")


def results(path):
    """[(class, rung, result)]"""
    found = map(LINE.match, open(path, encoding="utf-8"))
    return [(m["kind"], re.match(r"[^-]*", m["kernel"])[0], m["result"]) for m in found if m and "hopper" not in m["kernel"]]


class Line:
    def __init__(self):
        self.rungs, self.results = set(), [collections.Counter() for _ in range(3)]

    def count(self):
        return max(sum(r.values()) for r in self.results)

    def add(self, other):
        for own, more in zip(self.results, other.results):
            own.update(more)

    def cell(self, at):
        of = self.results[at]
        asked = sum(of.values()) - of["not asked"]
        if not asked:
            return "cannot see them" if at == 0 else "not asked"
        return f"{of['caught']} of {asked}" + (f", {of['no answer']} without an answer" if of["no answer"] else "")

    def cells(self):
        return " | ".join(self.cell(at) for at in range(3))


def table(*runs):
    lines, total, count = collections.OrderedDict(), Line(), 0
    for at, run in enumerate(runs):
        for kind, rung, result in run:
            line = lines.setdefault(kind, Line())
            line.rungs.add(rung)
            line.results[at][result] += 1
    yield "| what is broken | in | mutants | the emulator catches | the second machine | the prover |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for kind, line in sorted(lines.items(), key=lambda item: -item[1].count()):
        total.add(line)
        count += line.count()
        yield f"| {kind} | {', '.join(sorted(line.rungs))} | {line.count()} | {line.cells()} |"
    yield f"| **all** | | **{count}** | {total.cells()} |"


if __name__ == "__main__":
    print("\n".join(table(*map(results, sys.argv[1:4]))))
