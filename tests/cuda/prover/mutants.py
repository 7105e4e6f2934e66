#!/usr/bin/env python3
"""Breaks one line of a kernel at a time and asks the prover: tests/cuda/prove.sh --mutants.

The mutants are those of the emulator (tests/cuda/mutants.txt) and of the second machine (tests/cuda/ptx/mutants.txt).
What is broken in the order of threads and copies is asked for with the problems of proofs.txt, the quickest first, of
which the record says that the sound kernel is race_free there. What is broken in the numbers is no race: it is held
against PyTorch, with the rows of equal.txt whose sound kernel is proven equal. A row in which the mutant is the same
PTX says nothing and is left out.

A line for each mutant, as tests/cuda/caught.py reads them. `caught`: what the prover says of the sound kernel it does
not say of this one, but with a reason that is no lack of time or memory.
"""
import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import equal
import prove
from ptx_of_kernels import HERE, ROOT, compiled, nvcc_version

LISTS = [os.path.join(HERE, "..", name) for name in ("mutants.txt", "ptx/mutants.txt")]
# Classes of broken order; a wrong instruction may be either.
ORDER = ("missing barrier", "missing wait", "early buffer")
BOTH = ("wrong instruction",)
# The prover came to no end. Nothing follows of the kernel.
NO_ANSWER = ("timeout", "memory_budget_exceeded", "tool_failure", "no answer")


def mutants():
    for path in LISTS:
        for line in open(path, encoding="utf-8"):
            fields = [field.replace("@", "\n") for field in line.rstrip("\n").split(" | ")]
            if len(fields) == 6 and not line.startswith("#") and "hopper" not in fields[1]:
                yield fields


def broken(work, fields):
    """A folder that holds the kernels, one line broken."""
    root = tempfile.mkdtemp(dir=work)
    shutil.copytree(os.path.join(ROOT, "cuda"), os.path.join(root, "cuda"))
    os.symlink(os.path.join(ROOT, "core"), os.path.join(root, "core"))
    path = os.path.normpath(os.path.join(root, "cuda/kernels", fields[3]))
    text = open(path, encoding="utf-8").read()
    if text.count(fields[4]) != 1:
        sys.exit(f"mutants.txt: {fields[3]} has this {text.count(fields[4])} times: {fields[4]}")
    open(path, "w", encoding="utf-8").write(text.replace(fields[4], fields[5]))
    return root


def changed(options, rung, kernel, root):
    """The kernel in the broken folder; None: nothing of it has changed."""
    source = rung.replace("-", "_") + ".cu"
    entry = compiled(options.nvcc, source, options.architecture, root)[kernel]
    return None if entry.hash == compiled(options.nvcc, source, options.architecture)[kernel].hash else entry


# ---- Is it in order?

def proven(options, rung):
    """(seconds, row) of the problems in which the sound kernel is race_free, the quickest first."""
    record = json.load(open(prove.RECORD))["proofs"]
    for row, _ in prove.rows(options.table):
        took = [p["seconds"] for p in record
                if p["kernel"].startswith(rung + " ") and p["problem"] == " ".join(list(row.values())[1:])
                and p["result"] == "race_free" and options.architecture in p["sm"]]
        if row["rung"] == rung and row["traced"] == "0" and took:
            yield max(took), row


def in_order(options, rung, root):
    """(verdict, what was said, seconds) of races."""
    asked, left = 0, options.seconds
    for _, row in sorted(proven(options, rung), key=lambda found: found[0]):
        for launch in prove.launches_of(options.launches, row):
            entry = changed(options, rung, launch["kernel"], root)
            if not entry:
                continue
            if left < 10:
                return "no answer", "the time is over", options.seconds - left
            asked += 1
            line = prove.prove(options, row, launch, entry, [options.architecture], int(left))
            left -= line["seconds"]
            if line["result"] in NO_ANSWER:
                return "no answer", line["result"], options.seconds - left
            if line["result"] != "race_free":
                return "caught", f"{line['result']}, {' x '.join((row['N_q'], row['N_kv']))}", options.seconds - left
    return ("NOT caught", f"race_free in {asked} problems", options.seconds - left) if asked else None


# ---- Is it equal?

def verified():
    """The rows of equal.txt whose sound kernel the record calls equal."""
    known = json.load(open(equal.RECORD))["equalities"]
    for line in open(os.path.join(HERE, "equal.txt"), encoding="utf-8"):
        fields = [field.strip() for field in line.split("|")]
        if line.startswith("#") or len(fields) != 11:
            continue
        size = f"{fields[1]}, d = {fields[2]}, {fields[3]} x {fields[4]}"
        if any(k["size"] == size and k["kernel"].startswith(f"{fields[0]} {fields[7]}") and k["reference"] == fields[8]
               and k["result"] == "verified" and fields[5] == fields[6] == "-1" for k in known):
            yield fields


def is_equal(options, rung, root):
    for of, kind, d, N, M, before, after, kernel, function, changes, _ in verified():
        if of != rung:
            continue
        row = dict(zip(prove.COLUMNS, (rung, kind, d, N, M, "1", "1", before, after, "1", "0", "60")))
        launch = next(l for l in prove.launches_of(options.launches, row) if l["kernel"].startswith(kernel))
        if not changed(options, rung, launch["kernel"], root):
            continue
        changes = [c.strip() for c in changes.split(",") if c.strip()]
        answer, _, _, took = equal.prove_equal(options, row, kernel, function, changes, options.seconds, root)
        said = f"{answer['result']}: {equal.words_of(answer)}"[:80]
        if answer["result"] in NO_ANSWER:
            return "no answer", said, took
        return ("NOT caught" if answer["result"] == "verified" else "caught"), said, took
    return None


def main():
    parse = prove.command_line(__doc__, "mutants whose line holds one of these words", "proofs.txt")
    parse.add_argument("--architecture", default="80")
    parse.add_argument("--seconds", type=int, default=600, help="for one mutant")
    options = parse.parse_args()
    print(f"{prove.tool_version(options.prover)}, nvcc {nvcc_version(options.nvcc)}, sm_{options.architecture}")
    tally = {}
    for fields in mutants():
        kind, rung = fields[0], fields[1]
        if options.only and not any(word in " | ".join(fields) for word in options.only):
            continue
        root, found = broken(options.work, fields), None
        try:
            if kind in ORDER + BOTH:
                found = in_order(options, rung, root)
            if kind not in ORDER and (not found or found[0] == "NOT caught"):
                found = is_equal(options, rung, root) or found
        finally:
            shutil.rmtree(root)
        verdict, said, took = found or ("not asked", "no proof of the sound kernel holds what is broken", 0)
        tally[verdict] = tally.get(verdict, 0) + 1
        print(f"{kind:22} {rung:18} {fields[3]:22} {verdict}: {said}, {took} s", flush=True)
    print("; ".join(f"{verdict} {n}" for verdict, n in tally.items()))


if __name__ == "__main__":
    main()
