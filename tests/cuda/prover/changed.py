#!/usr/bin/env python3
"""changed.py NVCC PTX: names the kernels that changed since they were last proven (proofs.json).

Compares the hash of each kernel with the recorded one. PTX is the folder of what the build made of them for the second
machine (tests/cuda/ptx): kernel for kernel the same text as is compiled for the proof. Another nvcc writes other
PTX: then there is nothing to compare, and the test is skipped (77). The table of docs/kernels.md that says how many are
proven is held against the record, too; what it should say is printed.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from ptx_of_kernels import HERE, NOT_PROVEN, ROOT, entries_of, nvcc_version

ARCHITECTURE = "80"


def compare(proofs, hashes):
    """What is to be said of each kernel; `hashes`: of today."""
    said = []
    for kernel in sorted({p["kernel"] for p in proofs}):
        known = {p["hash"] for p in proofs if p["kernel"] == kernel}
        if kernel not in hashes:
            said.append(f"{kernel} is proven, and no longer there")
        elif hashes[kernel] not in known:
            said.append(f"{kernel} has changed since it was proven")
    return said


def records(kernel):
    """Whether it is a twin: of the forward rungs' kernels the last argument says so."""
    return kernel.startswith("f") and kernel.endswith(", true>")


def table(kernels, free):
    """For each rung how many of its kernels are proven, and how many of its twins."""
    yield "| rung | kernels | its twins that record |"
    yield "| --- | ---: | ---: |"
    for rung in sorted({k.split()[0] for k in kernels}):
        own = [[k for k in kernels if k.split()[0] == rung and records(k) == twin] for twin in (False, True)]
        cells = [f"{len(free & set(of))} of {len(of)}" if of else "–" for of in own]
        yield f"| `{rung}` | {' | '.join(cells)} |"
    yield f"| all | {len(free & set(kernels))} of {len(kernels)} | {sum(map(records, free & set(kernels)))} of them twins |"


def main():
    nvcc, folder = sys.argv[1:]
    record = json.load(open(os.path.join(HERE, "proofs.json")))
    if nvcc_version(nvcc) != record["nvcc"]:
        print(f"nvcc {nvcc_version(nvcc)} is not the {record['nvcc']} of the proofs.")
        return 77
    proofs = [p for p in record["proofs"] if ARCHITECTURE in p["sm"]]
    names = os.listdir(os.path.join(ROOT, "cuda/kernels"))
    sources = sorted(n for n in names if n.endswith(".cu") and n not in NOT_PROVEN)
    hashes = {}
    for source in sources:
        text = open(os.path.join(folder, source[:-3] + ".ptx"), encoding="utf-8").read()
        for name, entry in entries_of(text).items():
            hashes[f"{source[:-3].replace('_', '-')} {name}"] = entry.hash

    equal = json.load(open(os.path.join(HERE, "equalities.json")))["equalities"]
    said = sorted(set(compare(proofs, hashes) + compare(equal, hashes)))
    free = {p["kernel"] for p in proofs if p["result"] == "race_free"}
    lines = list(table(hashes, free))
    document = open(os.path.join(ROOT, "docs/kernels.md"), encoding="utf-8").read()
    told = "\n".join(lines) in document
    for line in said:
        print(line + ".")
    if said:
        print("tests/cuda/prove.sh --record WORD proves them anew; a word is a rung, f5.")
    if not told:
        print("docs/kernels.md should have this table:", *lines, sep="\n")
    print(f"{len(free)} kernels are proven, {len(said)} of the record have changed. Without a proof:")
    for kernel in sorted(set(hashes) - free):
        print("    " + kernel)
    return 1 if said or not told else 0


if __name__ == "__main__":
    sys.exit(main())
