#!/usr/bin/env python3
"""Hands the kernels to an outside prover: tests/cuda/prove.sh calls this with what it has made ready.

A row of proofs.txt is one problem. `launches` says what a rung launches for it; each kernel that is launched is cut
out of nvcc's PTX and given to the prover with its grid and all of its arguments. What is expected of every one of
them is `race_free`: in every order in which its threads may run, barriers and copies are in order and no two
accesses to one place are without one between them.
"""
import argparse
import concurrent.futures
import datetime
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from ptx_of_kernels import HERE, NOT_PROVEN, ROOT, compiled, knows, nvcc_version, readable, demangled

RECORD = os.path.join(HERE, "proofs.json")
COLUMNS = ("rung", "type", "d", "N_q", "N_kv", "heads", "kv_heads", "before", "after", "batch", "traced", "KiB")


# ---- What is proven

def rows(path):
    """The problems of proofs.txt, with the seconds that each may take."""
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|")]
            yield dict(zip(COLUMNS, fields)), int(fields[len(COLUMNS)])


def symbols_of(program):
    """{address: name} of the program's functions."""
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [(int(f[0], 16), f[2]) for f in (line.split() for line in lines) if len(f) == 3 and f[1] in "tTwW"]
    return dict(zip((a for a, _ in found), map(readable, demangled([s for _, s in found]))))


class Refused(Exception):
    pass


def tile_and_launches(program, row, capability=90):
    """(Br, Bc) and what the rung launches there, by the kernels' names."""
    words = [program] + [row[column] for column in COLUMNS] + [str(capability)]
    made = subprocess.run(words, capture_output=True, text=True)
    if made.returncode:
        raise Refused(f"{' '.join(words[1:])}: {made.stderr}")
    names, said = symbols_of(program), json.loads(made.stdout)
    return said["tile"], [dict(launch, kernel=names[launch["kernel"]]) for launch in said["launches"]]


def launches_of(program, row):
    try:
        return tile_and_launches(program, row)[1]
    except Refused as why:
        sys.exit(str(why))


# ---- What the prover is given

def without_bfi(ptx):
    """bfi.b32, which the prover does not execute, as the shift, the two masks and the or that it stands for."""
    count = 0

    def written_out(m):
        nonlocal count
        indent, to, insert, base, shift, length = m.groups()
        mask = ((1 << int(length)) - 1) << int(shift) & 0xFFFFFFFF
        signed = [x - (1 << 32) if x >> 31 else x for x in (mask, ~mask & 0xFFFFFFFF)]
        a, b, c = (f"%bfi{3 * count + n}" for n in range(3))
        count += 1
        return (f"{indent}shl.b32 {a}, {insert}, {shift};\n{indent}and.b32 {b}, {a}, {signed[0]};\n"
                f"{indent}and.b32 {c}, {base}, {signed[1]};\n{indent}or.b32 {to}, {b}, {c};")

    ptx = re.sub(r"^([ \t]*)bfi\.b32[ \t]+(%\w+), (%\w+), (%\w+), (\d+), (\d+);", written_out, ptx, flags=re.M)
    return ptx.replace("\n{\n", f"\n{{\n.reg .b32 %bfi<{3 * count}>;\n", 1) if count else ptx


def without_atomics(ptx):
    """Additions to HBM, whose order the prover has no rules for: they are left out, and counted."""
    return re.subn(r"^[ \t]*(?:atom|red)\.[^\n]*", "", ptx, flags=re.M)


def given_values(launch):
    """The arguments for the prover: pointers that are not null are memory of their own, by name."""
    declarations, arguments = [], []
    for v in launch["values"]:
        at = {"parameter": v["parameter"], "type": v["type"]}
        if v["name"].find("parameter ") < 0:  # a member of a struct
            at["offset"] = v["offset"]
        if v["type"] != "pointer":
            arguments.append(dict(at, value=v["value"]))
        elif v["value"] == 0:
            arguments.append(dict(at, value=None))
        else:
            name = v["name"].replace(".data", "").replace(".", "_").replace(" ", "_")
            declarations.append(dict(at, space="global", object=name))
    return declarations, arguments


def given(launch, symbol):
    declarations, arguments = given_values(launch)
    return {"schema": "spverify.kernel-input/v1", "entry": symbol,
            "launch": {"grid_dim": launch["grid"], "block_dim": [launch["threads"], 1, 1],
                       "dynamic_shared_bytes": launch["shared"]},
            "declarations": declarations, "arguments": arguments}


# ---- The proof

def ask(options, module, question, seconds):
    """(what the prover said, seconds that it took)"""
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        ptx, config = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "input.json")
        open(ptx, "w").write(module)
        json.dump(question, open(config, "w"))
        began = time.time()
        command = [options.prover, ptx, "--input", config, "--timeout", str(seconds),
                   "--memory-limit-mib", str(options.memory)]
        said = subprocess.run(command, capture_output=True, text=True)
        took = time.time() - began
    try:
        return json.loads(said.stdout), took
    except ValueError:
        return {"result": "no answer", "diagnostics": [(said.stdout + said.stderr)[-500:]]}, took


def prove(options, row, launch, entry, architectures, seconds):
    """One line of the record."""
    module, atomics = without_atomics(without_bfi(entry.module))
    answer, took = ask(options, module, given(launch, entry.symbol), seconds)
    return {"kernel": f"{row['rung']} {launch['kernel']}", "sm": architectures, "hash": entry.hash,
            "problem": {c: row[c] for c in COLUMNS[1:]}, "grid": launch["grid"], "result": answer["result"],
            "atomics left out": atomics, "seconds": round(took),
            "diagnostics": answer.get("diagnostics", []) if answer["result"] != "race_free" else []}


def show(line):
    p = line["problem"]
    notes = f", without its {line['atomics left out']} atomic additions" if line["atomics left out"] else ""
    print(f"{line['result']:18} {line['kernel']:58} sm_{','.join(line['sm']):9} {p['N_q']:>4} x {p['N_kv']:<4} "
          f"{'x'.join(map(str, line['grid'])):8} {line['seconds']:4} s{notes}", flush=True)
    for said in line["diagnostics"][:2]:
        print("    " + json.dumps(said)[:600], flush=True)


def tasks(options):
    """(row, launch, entry, architectures, seconds) of every proof. What is the same text for several architectures is
    proven once, and so is a kernel that several rows launch with the same arguments."""
    seen = set()
    for row, seconds in rows(options.table):
        if options.only and not any(word in " ".join(row.values()) for word in options.only):
            continue
        source = row["rung"].replace("-", "_") + ".cu"
        for launch in launches_of(options.launches, row):
            same = {}
            for architecture in options.architectures:
                entry = compiled(options.nvcc, source, architecture, options.root)[launch["kernel"]]
                same.setdefault(entry.hash, (entry, []))[1].append(architecture)
            for entry, architectures in same.values():
                key = json.dumps([launch, entry.hash])
                if key not in seen:
                    seen.add(key)
                    yield row, launch, entry, architectures, seconds


# ---- Deletions: would the prover miss a barrier or a wait?

# One behind a condition on sizes is one as well; then the condition stays, for the statement behind it.
STATEMENT = re.compile(r"^ *(?:if \(stages == \d\) )?(sync_block\(\);|wait_copies<\d>\(\);)", re.M)


def kept_with_reason():
    """{(file, what stands behind the statement): reason} of those that stay although no proof needs them."""
    lines = open(os.path.join(HERE, "deletions.txt"), encoding="utf-8").read().splitlines()
    fields = [[field.strip() for field in line.split(" | ")] for line in lines if line and not line.startswith("#")]
    return {(file, after): reason for file, after, reason in fields}


def rungs_of(name):
    """The rungs that are made of a file of cuda/kernels."""
    return {"key_blocks.h": ["b2-tensor-core", "b3-deterministic"]}.get(name, [name[:-3].replace("_", "-")])


def without(options, name, found):
    """A folder that holds the kernels, one statement missing."""
    root = tempfile.mkdtemp(dir=options.work)
    shutil.copytree(os.path.join(ROOT, "cuda"), os.path.join(root, "cuda"))
    os.symlink(os.path.join(ROOT, "core"), os.path.join(root, "core"))
    path = os.path.join(root, "cuda/kernels", name)
    text = open(path, encoding="utf-8").read()
    open(path, "w", encoding="utf-8").write(text[:found.start(1)] + text[found.end(1):])
    return root


def missed(options, name, found):
    """(what the prover says of the first kernel that is not race_free, in which kernel); None: it misses nothing."""
    root = without(options, name, found)
    architecture = options.architectures[0]
    tried = 0
    try:
        for row, seconds in rows(options.table):
            if row["rung"] not in rungs_of(name) or row["traced"] == "1" or row["d"] not in ("32", "64"):
                continue
            for launch in launches_of(options.launches, row):
                module = compiled(options.nvcc, row["rung"].replace("-", "_") + ".cu", architecture, root)
                whole = compiled(options.nvcc, row["rung"].replace("-", "_") + ".cu", architecture)
                entry = module[launch["kernel"]]
                if entry.hash == whole[launch["kernel"]].hash:
                    continue  # the statement is of another kernel
                tried += 1
                line = prove(options, row, launch, entry, [architecture], seconds)
                if line["result"] != "race_free":
                    return line["result"], line["kernel"]
    finally:
        shutil.rmtree(root)
    return None if tried else ("of no kernel", "")


def deletions(options):
    reasons, unexplained = kept_with_reason(), 0
    folder = os.path.join(ROOT, "cuda/kernels")
    for name in sorted(os.listdir(folder)):
        if name in NOT_PROVEN or options.only and not any(word in name for word in options.only):
            continue
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        for found in STATEMENT.finditer(text):
            after = next(line.strip() for line in text[found.end():].split("\n")[1:] if line.strip())
            said = missed(options, name, found)
            reason = reasons.get((name, after))
            verdict = (f"found: {said[0]} in {said[1]}" if said else
                       f"not needed, and kept: {reason}" if reason else "NOT NEEDED")
            unexplained += said is None and not reason
            line = text[:found.start(1)].count("\n") + 1
            print(f"{name + ':' + str(line):26} {found[1]:18} {verdict}", flush=True)
    print(f"{unexplained} that no proof needs and no reason keeps.")
    return 1 if unexplained else 0


def command_line(description, only, table):
    """What prove.py, equal.py and mutants.py have in common."""
    parse = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("only", nargs="*", help=only)
    parse.add_argument("--nvcc", required=True)
    parse.add_argument("--launches", required=True, help="the program of launches.cpp")
    parse.add_argument("--prover", required=True)
    parse.add_argument("--work", required=True, help="a folder for what is made on the way")
    parse.add_argument("--table", default=os.path.join(HERE, table))
    parse.add_argument("--memory", type=int, default=12000, help="MiB of one proof")
    return parse


def main():
    parse = command_line(__doc__, "rows of the table that hold one of these words", "proofs.txt")
    parse.add_argument("--architectures", default="80,90,100")
    parse.add_argument("--jobs", type=int, default=1, help="proofs at a time; one takes up to 12 GB")
    parse.add_argument("--root", default=ROOT, help="the folder that holds cuda/kernels")
    parse.add_argument("--record", action="store_true", help="write proofs.json")
    parse.add_argument("--deletions", action="store_true", help="take out each barrier and each wait in turn")
    options = parse.parse_args()
    options.architectures = [a for a in options.architectures.split(",") if knows(options.nvcc, a)]

    if options.deletions:
        return deletions(options)
    lines = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for proof in [pool.submit(prove, options, *task) for task in tasks(options)]:
            lines.append(proof.result())
            show(lines[-1])
            if options.record:
                record(options, lines[-1])
    wrong = [line for line in lines if line["result"] != "race_free"]
    print(f"{len(lines) - len(wrong)} of {len(lines)} are race_free.")
    return 1 if wrong or not lines else 0


def tool_version(prover):
    """Of the package that the prover was installed from."""
    python = os.path.join(os.path.dirname(prover), "python")
    said = subprocess.run([python, "-c", "import importlib.metadata as m; print(m.version('sentryward'))"],
                          capture_output=True, text=True)
    return "SentryWard " + said.stdout.strip()


def record(options, line):
    """Puts a proof into proofs.json, in the place of what was known of this kernel and problem."""
    with open(os.path.join(options.work, "record.lock"), "w") as lock:  # one at a time
        fcntl.flock(lock, fcntl.LOCK_EX)
        put(options, line)


def put(options, line):
    known = json.load(open(RECORD)) if os.path.exists(RECORD) else {"proofs": []}
    line = {k: v for k, v in line.items() if k != "diagnostics"}
    line["problem"] = " ".join(line["problem"].values())

    def same(other):
        return (other["kernel"], other["problem"]) == (line["kernel"], line["problem"]) and (
            set(other["sm"]) & set(line["sm"]))
    wanted = {(row["rung"], " ".join(list(row.values())[1:])) for row, _ in rows(options.table)}
    proofs = [p for p in known["proofs"] if not same(p) and (p["kernel"].split()[0], p["problem"]) in wanted] + [line]
    head = {"about": "The last proof of each kernel and problem (tests/cuda/prover/proofs.txt); "
                     "tests/cuda/prove.sh --record writes this file.",
            "columns of problem": " ".join(COLUMNS[1:]), "prover": tool_version(options.prover),
            "nvcc": nvcc_version(options.nvcc), "date": datetime.date.today().isoformat()}
    text = json.dumps(head, indent=1)[:-2] + ",\n \"proofs\": [\n"
    text += ",\n".join("  " + json.dumps(p) for p in sorted(proofs, key=lambda p: (p["kernel"], p["problem"], p["sm"])))
    with open(RECORD + ".part", "w") as file:
        file.write(text + "\n ]\n}\n")
    os.replace(RECORD + ".part", RECORD)


if __name__ == "__main__":
    sys.exit(main())
