#!/usr/bin/env python3
"""races.py BUILD_FOLDER [COUNT]: deletes each barrier and each wait of each kernel in turn, which are the mutants of
mutants.txt about waiting and more, and expects that one recorded run (check_inside.cpp) reports a race, or, where it is
an arrival that others wait for, that they wait forever.

With COUNT only so many of them. A sound kernel must be silent. What the prover finds unneeded may be silent as well
(prover/deletions.txt). Prints a table; ends with 1 if one was missed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "prover"))
from prove import STATEMENT, kept_with_reason, rungs_of

# What f7 and b4 wait for, and whom they tell.
OF_HOPPER = re.compile(r"^ *((?:if (?:constexpr )?\([^)]*\) )?(?:sync_block|sync_warp|wait_for|wait_products<[^>]*>|fence_products|release\w*|expect_bytes"
                       r"|take_turn|give_turn|arrive_at)\([^\n]*\);)", re.M)

OPTIONS = "-std=c++20 -O1 -w -DTILEWALK_RECORDS -fsanitize=alignment -fno-tree-vectorize".split()


def deletions():
    """(rung, file, what it is called, its text without one statement, whether it may be silent)"""
    reasons = kept_with_reason()
    folder = os.path.join(ROOT, "cuda/kernels")
    for name in sorted(os.listdir(folder)):
        if name == "intrinsics.cu":
            continue
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        for found in (OF_HOPPER if name.endswith("_hopper.cu") else STATEMENT).finditer(text):
            after = next(line.strip() for line in text[found.end():].split("\n")[1:] if line.strip())
            line = text[:found.start(1)].count("\n") + 1
            for rung in rungs_of(name):
                yield (rung, name, f"{name}:{line} {found[1]}", text[:found.start(1)] + text[found.end(1):],
                       reasons.get((name, after)))


class Checks:
    def __init__(self, build, work):
        self.build, self.work = build, work
        self.main = os.path.join(work, "check_inside.o")
        subprocess.run(["g++", "-std=c++20", "-O1", "-I" + ROOT, "-c", os.path.join(HERE, "check_inside.cpp"), "-o",
                        self.main], check=True)

    def said(self, rung, name=None, text=None):
        """What one run says of the rung, with another text in one of its files."""
        source = rung.replace("-", "_") + ".cu"
        shutil.rmtree(os.path.join(self.work, "cuda"), ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "cuda/kernels"), os.path.join(self.work, "cuda/kernels"))
        if name:
            open(os.path.join(self.work, "cuda/kernels", name), "w", encoding="utf-8").write(text)
        kernel, program = os.path.join(self.work, "kernel.o"), os.path.join(self.work, "check")
        subprocess.run(["g++", *OPTIONS, "-I" + self.work, "-I" + ROOT, "-x", "c++", "-c",
                        os.path.join(self.work, "cuda/kernels", source), "-o", kernel], check=True)
        # Its object comes before the library that holds the sound one.
        libraries = [os.path.join(self.build, library) for library in (
            "tests/libtilewalk_kernel_cases.a", "cuda/libtilewalk_gpu.a", "cuda/libtilewalk_recorder.a", "cuda/libtilewalk_emulator.a",
            "core/libtilewalk_core.a")]
        subprocess.run(["g++", kernel, self.main, *libraries, "-lboost_context", "-lhwy", "-ldl", "-lpthread", "-o",
                        program], check=True)
        run = subprocess.run([program, rung], capture_output=True, text=True, timeout=120)
        if run.returncode not in (0, 1, 2):
            sys.exit(f"The check of {rung} ended with {run.returncode}: {run.stdout}{run.stderr}")
        # 2: it did not come to its end, as where nobody arrives
        return run.stdout or run.stderr


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    all_of_them = list(deletions())[:count]
    missed = silent = 0
    with tempfile.TemporaryDirectory() as work:
        checks = Checks(os.path.abspath(sys.argv[1]), work)
        for rung in sorted({broken[0] for broken in all_of_them}):
            if said := checks.said(rung):
                sys.exit(f"{rung} is sound, and yet:\n{said}")
        for rung, name, called, text, reason in all_of_them:
            said = checks.said(rung, name, text).split("\n")
            verdict = " ".join(line.strip() for line in said[:3]) if said[0] else "kept: " + reason if reason else "MISSED"
            silent += bool(reason and not said[0])
            missed += not said[0] and not reason
            print(f"{rung:18} {called:40} {verdict}", flush=True)
    found = len(all_of_them) - missed - silent
    print(f"{found} of {len(all_of_them)} reported in one run, {silent} kept with a reason, {missed} missed.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
