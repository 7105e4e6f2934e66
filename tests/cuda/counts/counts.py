#!/usr/bin/env python3
"""What one tile costs a warp, counted in the machine code; tests/cuda/counts.sh calls this with what it has made ready.

Each kernel's tile loop is followed through once (machine_code.py) and what it executes is counted; products, exponentials
and copies must be as many as the tile's size says, or nothing is written. A model of the multiprocessor
(multiprocessor.py) says what that would cost."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "prover"))
from prove import Refused, tile_and_launches
from ptx_of_kernels import ROOT, demangled, nvcc_version, readable
import flash_attention
import machine_code
import multiprocessor
import plain

DOCUMENT = os.path.join(ROOT, "docs/gpu-counts.md")
CHIPS = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227}  # compute capability: KiB of shared memory that a block may ask for

# Rung, source, head dimensions; those without tensor cores: plain.py
RUNGS = [
    ("f4-tensor-core", "f4_tensor_core.cu", (64, 128)),
    ("f4b-copies-ahead", "f4b_copies_ahead.cu", (64, 128)),
    ("f5-flash2", "f5_flash2.cu", (64, 96, 128, 256)),
    ("f6-split", "f6_split.cu", (64, 128)),
    ("b2-tensor-core", "b2_tensor_core.cu", (64, 128)),
    ("b3-deterministic", "b3_deterministic.cu", (64, 128)),
]


def shape_of(kernel, tile):
    """(matrix products of a tile, Br, Bc); None where the kernel has no tile loop."""
    name, last = kernel.split("<")[0], kernel.rsplit(" ", 1)[-1].rstrip(">")
    if name == "query_block_gradients":  # b3's second kernel has tiles of its own: S, dP, dQ
        return 3, 64, 64
    products = {"tensor_core": 2, "copies_ahead": 2, "flash2": 2, "split_keys": 2,  # S, O
                "key_block_gradients": 5 if last == "true" else 4}.get(name)  # S, dV, dP, dK and, with atomics, dQ
    return products and (products, *tile)


def compiled(args, source, chip):
    """The cubin of a file of cuda/kernels, made once for each text of the sources."""
    text = "".join(open(os.path.join(folder, name), encoding="utf-8").read()
                   for folder, _, names in sorted(os.walk(os.path.join(ROOT, "cuda"))) for name in sorted(names)
                   if name.endswith(".h") or name == source)
    key = hashlib.sha256(f"{text} {chip} {nvcc_version(args.nvcc)}".encode()).hexdigest()[:16]
    cubin = os.path.join(args.work, f"{source}.{chip}.{key}.cubin")
    if not os.path.exists(cubin):
        made = subprocess.run([args.nvcc, "-cubin", "-std=c++17", "-O3", "-DNDEBUG", "-Xptxas", "-v", "-I" + ROOT,
                               f"-arch=sm_{chip}", os.path.join(ROOT, "cuda/kernels", source), "-o", cubin + ".part"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            sys.exit(made.stderr)
        open(cubin + ".said", "w", encoding="utf-8").write(made.stderr)
        os.rename(cubin + ".part", cubin)
    return cubin


def kernels_of(args, source, chip):
    """{name: (code, registers, spilled bytes)}"""
    cubin = compiled(args, source, chip)
    said = open(cubin + ".said", encoding="utf-8").read()
    code = machine_code.disassemble(args.nvdisasm, cubin)
    names = dict(zip(code, map(readable, demangled(list(code)))))
    found = {}
    for symbol, spills, registers in re.findall(
            r"Function properties for (\S+)\n.*?(\d+) bytes spill stores.*?\n.*?Used (\d+) registers", said):
        found[names[symbol]] = (code[symbol], int(registers), int(spills))
    return found


def tile_loop(code, threads, macs):
    """What a warp executes in one trip of the smallest loop that multiplies as often as a tile must."""
    misses = []
    for loop in sorted(machine_code.loops_of(code), key=lambda l: l.end - l.head):
        try:
            path = machine_code.one_trip(loop, threads)
        except machine_code.Unreadable as why:
            misses.append(str(why))
            continue
        done = sum(multiprocessor.macs_of(i.opcode) for i in path if i.name == "HMMA")
        if done == macs:
            return path
        misses.append(f"{loop.head:#x} … {loop.end:#x} multiplies {done}, not {macs}")
    raise machine_code.Unreadable("; ".join(misses))


COLUMNS = ("HMMA", "LDSM", "MUFU.EX2", "LDGSTS", "LDG", "LDS", "STS", "RED", "BAR", "SHFL", "FFMA", "FMUL", "FADD", "FMNMX",
           "LDL", "STL")


def count(path):
    counts = {column: 0 for column in COLUMNS}
    for i in path:
        for column in COLUMNS:
            counts[column] += i.opcode == column or i.opcode.startswith(column + ".") or i.name == column
    counts["all"] = len(path)
    return counts


def examine(args, rung, source, d, chip):
    """A row of the table for each kernel with a tile loop that the rung launches."""
    kind = "f16" if chip == 75 else "bf16"
    row = {"rung": rung, "type": kind, "d": str(d), "N_q": "4096", "N_kv": "4096", "heads": "1", "kv_heads": "1",
           "before": "-1", "after": "-1", "batch": "1", "traced": "0", "KiB": str(CHIPS[chip])}
    try:
        tile, launches = tile_and_launches(args.launches, row, chip)
    except Refused:
        return []  # refused there
    kernels = kernels_of(args, source, chip)
    rows = []
    for launch in launches:
        name, warps = launch["kernel"], launch["threads"] // 32
        shape = shape_of(name, tile)
        if not shape:
            continue
        products, Br, Bc = shape
        code, registers, spills = kernels[name]
        macs = products * Br * Bc * d // warps
        try:
            path = tile_loop(code, launch["threads"], macs)
        except machine_code.Unreadable as why:
            raise SystemExit(f"{rung} {name} sm_{chip}: {why}")
        counts = count(path)
        scores = Br * Bc // (32 * warps)
        if not scores <= counts["MUFU.EX2"] <= scores + 4:  # one for each score, and α of a lane's rows
            raise SystemExit(f"{rung} {name} sm_{chip}: {counts['MUFU.EX2']} exponentials for {scores} scores of a lane")
        # Forward, each tile copies 16 bytes a lane of K_j and V_j; at d = 96 a quarter of the lanes has nothing to copy
        if counts["LDGSTS"] and products == 2 and d % 64 == 0 and counts["LDGSTS"] * 512 * warps != 4 * Bc * d:
            raise SystemExit(f"{rung} {name} sm_{chip}: {counts['LDGSTS']} copies for a tile of {Bc} keys")
        blocks = multiprocessor.blocks_at_once(chip, warps, registers, launch["shared"])
        pipes = multiprocessor.pipe_cycles(path, chip)
        cycles = multiprocessor.cycles_of(path, chip, warps, blocks)
        tensor = macs * warps / multiprocessor.PIPES[chip]["tensor"]
        rows.append({"kernel": name, "rung": rung, "chip": chip, "d": d, "Br": Br, "Bc": Bc, "warps": warps,
                     "registers": registers, "spills": spills, "blocks": blocks, "counts": counts,
                     "pipes": pipes, "cycles": cycles, "share": tensor / cycles, "path": path})
    return rows


def examine_plain(args, rung, source, d, chip):
    """A row for each loop that is counted of a rung without tensor cores."""
    kind = "f32" if rung not in ("f0-cublas", "b0-materialise") else "f16" if chip == 75 else "bf16"
    row = {"rung": rung, "type": kind, "d": str(d), "N_q": "4096", "N_kv": "4096", "heads": "1", "kv_heads": "1",
           "before": "-1", "after": "-1", "batch": "1", "traced": "0", "KiB": str(CHIPS[chip])}
    tile, launches = tile_and_launches(args.launches, row, chip)
    kernels, rows = kernels_of(args, source, chip), []
    threads = max(launch["threads"] for launch in launches)
    for counted in plain.counted(rung, d, kind, tile, threads):
        launch = next(launch for launch in launches if launch["kernel"] == counted.kernel)
        if launch["threads"] != counted.threads:
            raise SystemExit(f"{rung} {counted.kernel} has {launch['threads']} threads, not {counted.threads}")
        code, registers, spills = kernels[counted.kernel]
        try:
            path = counted.path(code)
        except machine_code.Unreadable as why:
            raise SystemExit(f"{rung} {counted.kernel} sm_{chip}: {why}")
        blocks = multiprocessor.blocks_at_once(chip, launch["threads"] // 32, registers, launch["shared"])
        rows.append({"rung": rung, "chip": chip, "d": d, "counted": counted, "path": path, "blocks": blocks})
    return rows


def bound_of(pipes, warps, chip):
    """The pipe that is busy longest for the tiles of a block, and its cycles: each scheduler has its own, but for memory."""
    of_block = {pipe: cycles * (warps if pipe == "shared memory" else warps / multiprocessor.SCHEDULERS)
                for pipe, cycles in pipes.items() if pipe not in ("branch", "uniform")}
    return of_block, max(of_block, key=of_block.get)


def cells(row):
    c, pipes = row["counts"], row["pipes"]
    of_block, bound = bound_of(pipes, row["warps"], row["chip"])
    macs = c["HMMA"] or 1
    scalar = c["FFMA"] + c["FMUL"] + c["FADD"] + c["FMNMX"]
    return ([row["rung"] if row["first"] else "", str(row["d"]), f"{row['Br']} × {row['Bc']}", str(row["warps"])] +
            [str(c[name]) for name in ("HMMA", "LDSM")] + [f"{c['LDSM'] / macs:.2f}"] +
            [str(c[name]) for name in ("MUFU.EX2", "LDGSTS", "RED", "BAR")] + [str(scalar), str(c["LDL"] + c["STL"]), str(c["all"])],
            [row["rung"] if row["first"] else "", str(row["d"]), str(row["blocks"])] +
            [f"{of_block.get(pipe, 0):.0f}" for pipe in ("tensor", "shared memory", "mufu", "fma", "alu", "issue")] +
            [bound, f"{row['cycles']:.0f}", f"{100 * row['share']:.0f} %"])


def registers(operand, count):
    found = re.match(r"R(\d+)", operand.strip())
    return set(range(int(found[1]), int(found[1]) + count)) if found else set()


def products_before_use(path):
    """For each LDSM of a trip how many HMMA are issued before the first that takes what it loads: 0 where it is waited for."""
    found = []
    for at, load in enumerate(path):
        if load.name != "LDSM":
            continue
        loaded = registers(load.operands, 4 if load.opcode.endswith(".4") else 2 if load.opcode.endswith(".2") else 1)
        between = 0
        for i in path[at + 1:] + path[:at]:  # around the loop
            operands = i.operands.split(",")
            if i.name == "HMMA" and loaded & (registers(operands[1], 4) | registers(operands[2], 2)):
                break
            between += i.name == "HMMA"
        found.append(between)
    return found


def show_ahead(row):
    ahead = sorted(products_before_use(row["path"]))
    if ahead:
        print(f"sm_{row['chip']} {row['kernel']}: of {len(ahead)} LDSM {ahead.count(0)} are waited for at once; "
              f"the others have 1 to {ahead[-1]} HMMA before them, in the middle {ahead[len(ahead) // 2]}")


COUNTED = ["kernel", "d", "tile", "warps", "HMMA", "LDSM", "LDSM / HMMA", "EX2", "LDGSTS", "RED", "BAR", "softmax", "spilled", "all"]
MODELLED = ["kernel", "d", "blocks", "tensor", "shared memory", "EX2", "float", "integer", "issue", "longest", "model", "of the peak"]


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * 1 + " ---: |" * (len(head) - 1)] +
                     ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def recorded_of_others(chip):
    """The two tables' rows of FlashAttention-2 as they stand in the document: its code is not ours and does not change
    with ours, so that they stay where the library is not at hand."""
    text = open(DOCUMENT, encoding="utf-8").read()
    _, _, section = text.partition(f"\n## sm_{chip}\n")
    tables = [[], []]
    for part, kept in zip(section.split("\n## sm_")[0].strip().split("\n\n"), tables):
        of_others = False
        for line in part.splitlines():
            fields = [field.strip() for field in line.strip("|").split("|")]
            of_others = fields[0].startswith("FlashAttention-2") or of_others and not fields[0]
            if of_others:
                kept.append(fields)
    return tables


def main():
    options = argparse.ArgumentParser()
    for name in ("nvcc", "launches", "nvdisasm", "cuobjdump", "work"):
        options.add_argument("--" + name, required=True)
    options.add_argument("--chips", default=",".join(map(str, CHIPS)))
    options.add_argument("--record", action="store_true")
    options.add_argument("--ahead", action="store_true", help="how far ahead of its use each LDSM is issued, and no table")
    options.add_argument("--library", help="libtorch_cuda.so, whose FlashAttention-2 is counted, too")
    options.add_argument("words", nargs="*")
    args = options.parse_args()
    os.makedirs(args.work, exist_ok=True)
    text = ""
    for chip in map(int, args.chips.split(",")):
        rows = [row for rung, source, dims in RUNGS if not args.words or any(w in rung for w in args.words)
                for d in dims for row in examine(args, rung, source, d, chip)]
        if args.ahead:
            for row in rows:
                show_ahead(row)
            continue
        if args.library and chip == 80:  # the only architecture it is built for
            rows += flash_attention.rows(args.cuobjdump, args.nvdisasm, args.library, chip, args.work, tile_loop, count)
        plain_rows = [row for rung, source, dims in plain.RUNGS if not args.words or any(w in rung for w in args.words)
                      for d in dims for row in examine_plain(args, rung, source, d, chip)]
        for group in (rows, plain_rows):
            for row, before in zip(group, [None] + group):
                row["first"] = not before or before["rung"] != row["rung"]
        both = [cells(row) for row in rows]
        if not args.library and not args.words:
            both += zip(*recorded_of_others(chip))
        text += f"\n## sm_{chip}\n"
        if both:
            text += "\n" + table(COUNTED, [b[0] for b in both]) + "\n" + table(MODELLED, [b[1] for b in both])
        if plain_rows:
            both = [plain.cells(row) for row in plain_rows]
            text += "\nWithout tensor cores:\n\n" + table(plain.COUNTED, [b[0] for b in both])
            text += "\n" + table(plain.MODELLED, [b[1] for b in both])
    if not args.ahead:
        print(text)
    if args.record and not args.ahead:
        write(text, nvcc_version(args.nvcc))


def write(text, nvcc):
    """docs/gpu-counts.md: what stands above its first table stays."""
    path = DOCUMENT
    head = open(path, encoding="utf-8").read().split("\n## sm_")[0].rstrip()
    head = re.sub(r"nvcc \d+\.\d+\.\d+", f"nvcc {nvcc}", head)
    open(path + ".part", "w", encoding="utf-8").write(head + "\n" + text)
    os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
