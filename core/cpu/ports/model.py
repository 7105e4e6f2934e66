#!/usr/bin/env python3
"""What flash, forward, would take where nothing but the ports of a processor limits it: cycles for a vector of scores.

    core/cpu/ports/model.py [--d 64,128] [--loops] [--highway FOLDER]

The forward pass is compiled to assembly as it is released; its three loops are found in it by what they are made of, and
llvm-mca (LLVM 19 or newer: Debian's llvm-19) says for each how many cycles its instructions keep the busiest port, or how many they
take to be dispatched. The
maximum, loading and storing of rows, caches, lines that a load crosses and the clock are not in it: what is measured beside
it (docs/performance.md) is more. Arm's processors need g++-aarch64-linux-gnu and Highway's sources, which tests/neon.sh fetches.
--loops prints the loops.
"""
import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass
class Processor:
    name: str
    llvm: str  # its name in LLVM
    set: str  # of instructions, as Highway names it
    compiler: str
    units: int  # multiply-adds of a whole vector in a cycle
    tile_rows: int  # of the micro-kernel (tile_product-inl.h)


processors = [
    Processor("Zen 4, AVX-512", "znver4", "N_AVX3", "g++", 1, 8),
    Processor("Zen 4, AVX2", "znver4", "N_AVX2", "g++", 2, 6),
    # LLVM's table of Golden Cove has one unit for multiply-adds of 512 bits, where there are two, on the ports of Skylake-X
    Processor("Golden Cove, AVX-512", "skylake-avx512", "N_AVX3", "g++", 2, 8),
    Processor("Golden Cove, AVX2", "alderlake", "N_AVX2", "g++", 2, 6),
    Processor("Neoverse V2, NEON", "neoverse-v2", "N_NEON", "aarch64-linux-gnu-g++", 4, 8),
]

multiply_add = re.compile(r"v?f(n?m(add|sub|la|ls)|mla|mls|msub|madd)")


@dataclasses.dataclass
class Loop:
    function: str
    body: list

    @property
    def multiply_adds(self):
        return sum(bool(multiply_add.match(line)) for line in self.body)


def assembly(compiler, highway):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "forward.s"
        include = [f"-isystem{highway}"] if highway else []
        subprocess.run([compiler, "-std=c++20", "-O3", "-DNDEBUG", "-DHWY_SHARED_DEFINE", f"-I{root}", *include, "-S", "-o", out,
                        root / "core/cpu/flash_forward.cpp"], check=True)
        return out.read_text().splitlines()


# Loops without another one inside: from a label to the next jump back to it
def innermost_loops(lines):
    found, function, labels = [], "", {}
    for at, line in enumerate(lines):
        if label := re.match(r"(\S+):", line):
            labels[label[1]] = at
            if not label[1].startswith(".L"):
                function = label[1]
        jump = re.match(r"\s+(?:j\w+|b\.?[a-z]{2}|cbnz\s+\w+,)\s+(\.L\d+)", line)
        if jump and jump[1] in labels:
            inside = lines[labels[jump[1]] + 1:at + 1]
            body = [text.strip() for text in inside if text.startswith("\t") and not text.strip().startswith(".")]
            found.append(Loop(function, body))
    return found


# The loops of one set of instructions: along d (scores), along the keys (O), along the keys (weights)
def three_loops(loops, processor):
    mine = [loop for loop in loops if processor.set in loop.function]
    full = 2 * processor.tile_rows

    def shortest(what, fits):
        found = [loop for loop in mine if fits(loop)]
        if not found:
            sys.exit(f"model.py: no loop of {processor.name} looks like that of {what}; the compiler made something else of it")
        return min(found, key=lambda loop: len(loop.body))

    def is_product(loop, *words):
        return loop.multiply_adds == full and all(word in loop.function for word in words)

    # Two vectors of weights: nothing else in the walk of a tile has so many multiply-adds
    return (shortest("the scores", lambda loop: is_product(loop, "productILNS1_6BeforeE0", "HighestAn")),
            shortest("O", lambda loop: is_product(loop, "productILNS1_6BeforeE2")),
            shortest("the weights", lambda loop: "walk_tile" in loop.function and loop.multiply_adds >= 8))


def analyzer():
    for version in range(30, 18, -1):
        if found := shutil.which(f"llvm-mca-{version}"):
            return found
    sys.exit("model.py: there is no llvm-mca of LLVM 19 or newer (Debian: llvm-19)")


# Cycles of one turn for the busiest port
def cycles(loop, processor):
    arm = processor.compiler != "g++"
    run = subprocess.run([analyzer(), f"-mcpu={processor.llvm}", f"-mtriple={'aarch64' if arm else 'x86_64'}-linux-gnu",
                          "-iterations=1", "-instruction-info=false", "-resource-pressure=false"],
                         input="\n".join(loop.body) + "\n", capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"model.py: llvm-mca does not take a loop of {processor.name}: {run.stderr.strip().splitlines()[0]}")
    return float(re.search(r"Block RThroughput:\s*([\d.]+)", run.stdout)[1])


def row(processor, loops, widths):
    scores, output, weights = (cycles(loop, processor) for loop in three_loops(loops, processor))
    # A turn of a product is one step along d (or along the keys) for tile_rows × 2 vectors; one of the weights is two vectors
    exponential = weights / 2
    for d in widths:
        best = 2 * d / processor.units
        products = d * (scores + output) / (2 * processor.tile_rows)
        yield (f"| {processor.name} | {d} | {best:.0f} | {products:.1f} | {exponential:.1f} "
               f"| {best / (products + exponential):.2f} |")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--d", default="64,128")
    words.add_argument("--loops", action="store_true")
    words.add_argument("--highway", default=next(iter((root / "build-neon/sources").glob("highway-*/")), ""))
    options = words.parse_args()
    widths = [int(d) for d in options.d.split(",")]
    known = {}
    print("| processor | d | multiply-adds alone | products | exponential | of peak |\n|---|---|---|---|---|---|")
    for processor in processors:
        arm = processor.compiler != "g++"
        if not shutil.which(processor.compiler) or (arm and not options.highway):
            print(f"{processor.name}: left out, there is no {processor.compiler} or no Highway for it", file=sys.stderr)
            continue
        if processor.compiler not in known:
            known[processor.compiler] = innermost_loops(assembly(processor.compiler, options.highway if arm else None))
        print("\n".join(row(processor, known[processor.compiler], widths)))
        if options.loops:
            for loop in three_loops(known[processor.compiler], processor):
                print(f"\n{loop.function}, {loop.multiply_adds} multiply-adds\n    " + "\n    ".join(loop.body))


main()
