"""Breaks core and io by rule, one place at a time, and lets their tests look for it; run.sh says how it is called.

A place is an operator, a constant or a whole statement on a line of code. The seed and the words of a line decide when
its turn comes and which place of it is broken: the first 50 of 200 are the 50 of the same seed, and what changes
elsewhere in the code leaves the others in their order. What does not compile is no mutant and the next one takes its turn.
"""
import argparse
import collections
import hashlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

# Texts alone, or measured and not tested: what is there cannot be wrong by a rule.
LEFT_OUT = re.compile(r"core/class/glossary|core/cpu/(peak|read_kv|torch/)|core/distributed/mpi/|core/bench/machine")

# What is tested most by what is built on it: (files, program, its files), asked behind the tests of the folder.
BUILT_ON_IT = [
    (re.compile(r"core/inside/"), "tilewalk_test_kernels",
     ["inside_words", "inside_questions", "inside_walk", "inside_calls", "bridge", "ladder", "records", "inside_faults",
      "inside", "inside_heads", "hopper"]),
    (re.compile(r"core/class/"), "tilewalk_test_kernels", ["inside_words", "inside_questions"]),
    (re.compile(r"core/compare/"), "tilewalk_test_kernels", ["forward", "records", "bridge"]),
]

# What stands between spaces is an operator of two sides: clang-format sees to that.
OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
             " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ",
             " += ": " -= ", " -= ": " += ", " % ": " * ", "++": "--"}
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.'])|\b(true|false)\b|(?<![\w.])(\d+\.\d+)(?![\w.])")
STATEMENT = re.compile(r"\s+(?:\+\+|--)?[A-Za-z_][\w.:\[\]>-]*(?:\[[^\]]*\]|\([^()]*\))*"
                       r"(?:\.\w+|->\w+)*\s*(?:=|\+=|-=|\*=|\|=|\(|;).*;$")
NEVER = re.compile(r"\s*(return|const|auto|using|constexpr|static|else|break|continue|case|default|goto|template|struct|"
                   r"namespace|typedef|delete|throw|for|while|do|switch)\b")


def code_of(line):
    """The line with strings, letters and comments made blank, at the same places."""
    out, at, inside = list(line), 0, None
    while at < len(line):
        c = line[at]
        if inside:
            out[at] = " " if c != inside else c
            if c == "\\":
                at += 1
                if at < len(line):
                    out[at] = " "
            elif c == inside:
                inside = None
        elif c == '"' or (c == "'" and not (at and line[at - 1].isalnum())):
            inside = c
        elif line.startswith("//", at):
            return "".join(out[:at]).ljust(len(line))
        at += 1
    return "".join(out)


def balanced(text):
    return text.count("(") == text.count(")") and text.count("{") == text.count("}")


def places_of_line(line, code, before, after):
    """(rule, mutated line) of all that can be broken on it."""
    found = []
    for what, instead in OPERATORS.items():
        at = code.find(what)
        while at >= 0:
            # Texts are put together with a plus that has no opposite.
            joins = what == " + " and ('"' in line or "str(" in line)
            if "template" not in code and "operator" not in code and not joins:
                found.append((f"{what.strip()} is {instead.strip()}", line[:at] + instead + line[at + len(what):]))
            at = code.find(what, at + 1)
    for match in NUMBER.finditer(code):
        if re.match(r"\s*(#|template|case\b)", code):
            break
        word = match.group()
        other = {"true": "false", "false": "true"}.get(word) or str(
            float(word) * 2 + 1 if "." in word else int(word) + 1)
        found.append((f"{word} is {other}", line[:match.start()] + other + line[match.end():]))
    # A statement on a line of its own, or an "if" with its own statement behind it
    whole = code.rstrip()
    begins = before.rstrip()[-1:] in {";", "{", "}", ":"} or not before.strip()
    if begins and balanced(whole) and whole.endswith(";") and not after.lstrip().startswith("else"):
        if re.match(r"\s+if \(", whole) or (STATEMENT.match(whole) and not NEVER.match(whole)):
            found.append(("removed", ""))
    return found


def places(root, folders):
    every = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.cpp")):
            name = str(path.relative_to(root))
            if LEFT_OUT.search(name):
                continue
            lines = path.read_text(encoding="utf-8").split("\n")
            codes, comment = [], False
            for line in lines:
                if comment or line.lstrip().startswith("/*"):
                    comment = "*/" not in line
                    codes.append("")
                else:
                    codes.append(code_of(line))
            if any('R"' in line for line in lines):
                continue
            for n, (line, code) in enumerate(zip(lines, codes)):
                if not code.strip() or code.lstrip().startswith(("#", "static_assert", "assert(")):
                    continue
                before = next((c for c in reversed(codes[:n]) if c.strip()), "")
                after = next((c for c in codes[n + 1:] if c.strip()), "")
                found = places_of_line(line, code, before, after)
                if found:
                    every.append((name, n, line, found))
    return every


def drawn(seed, every):
    """Each place once, in the order of the seed: (file, line, text, rule, mutated line)."""
    turns, seen = [], collections.Counter()
    for name, n, line, found in every:
        words = (name, line.strip())
        seen[words] += 1
        digest = hashlib.sha256(f"{seed} {name} {words[1]} {seen[words]}".encode()).digest()
        turns.append((digest, name, n, line, *found[int.from_bytes(digest[:4], "big") % len(found)]))
    return [turn[1:] for turn in sorted(turns)]


def limited():
    # Whoever hangs or eats all memory is caught; time of the processor, because others use the machine as well.
    resource.setrlimit(resource.RLIMIT_CPU, (200, 210))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Work:
    def __init__(self, tree, build, jobs):
        self.tree, self.build, self.jobs = tree, build, jobs

    def compiles(self, program):
        log = self.build / "mutation.log"
        with open(log, "w", encoding="utf-8") as out:
            return subprocess.run(["ninja", "-C", str(self.build), "-j", str(self.jobs), program], stdout=out,
                                  stderr=out).returncode == 0

    def speaks(self, program, *words):
        """What the tests say against it, or None; "" where no case has such a name."""
        done = subprocess.run([str(self.build / "tests" / program), "--abort-after=1", *words], capture_output=True,
                              preexec_fn=limited, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if "No case has this name" in said:
            return None
        if done.returncode in (0, 77):
            return None
        case = re.search(r"TEST CASE:\s*(.*)", said)
        if done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
            return "hung"
        return (case.group(1).strip() if case else f"ended with {done.returncode}")[:70]

    def caught(self, name):
        """The nearest tests first: those of the file, of its folder, of its part, of what is built on it."""
        folder = "tests/" + os.path.dirname(name)
        stem = pathlib.Path(name).stem
        own = f"*{folder}/test_{stem}.cpp"
        program = "tilewalk_test_core" if name.startswith("core/") else "tilewalk_test_io"
        rounds = [[program, f"-sf={own}"], [program, f"-sf=*{folder}/*", f"-sfe={own}"]]
        for files, others, tests in BUILT_ON_IT:
            if files.match(name):
                rounds.append([others, "-sf=" + ",".join(f"*tests/cuda/test_{test}.cpp" for test in tests)])
        rounds += [[program, f"-sfe=*{folder}/*,*core/class/*"],
                   [program, "-sf=*core/class/*", f"-sfe=*{folder}/*"]]
        if program == "tilewalk_test_core":
            rounds.append(["tilewalk_test_io"])
        built = program
        for program, *words in rounds:
            if program != built and not self.compiles(program):
                return f"{program} does not compile"
            built = program
            said = self.speaks(program, *words)
            if said is not None:
                return said
        return None


def verdict(count, tried, survived, most):
    """1 where more than `most` of `count` survived, of fewer that there was time for as many fewer; or none was tried."""
    if tried == 0:
        print("no mutant was tried")
        return 1
    if most is None or survived <= -(-most * tried // count):
        return 0
    print(f"{survived} of {tried} survived, more than {most} of {count}")
    return 1


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--root", type=pathlib.Path, required=True)
    arguments.add_argument("--build", type=pathlib.Path)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=1e9)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--from", dest="first", type=int, default=1)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--most-survivors", type=int)
    arguments.add_argument("count", type=int)
    given = arguments.parse_args()

    every = places(given.root, ["core", "app/io"])
    if given.list:
        print(f"{len(every)} lines, {sum(len(found) for *_, found in every)} places")
    work = Work(given.root, given.build, given.jobs)
    began, tried, caught, number = time.monotonic(), 0, 0, 0
    survivors = []
    for name, n, line, rule, instead in drawn(given.seed, every):
        if given.only and not re.search(given.only, name):
            continue
        number += 1
        if tried >= given.count or time.monotonic() - began > given.minutes * 60:
            break
        if number < given.first:
            continue
        shown = f"{number:4} {name}:{n + 1} [{rule}] {line.strip()}"
        if given.list:
            print(shown)
            tried += 1
            continue
        path = given.root / name
        sound = path.read_text(encoding="utf-8")
        lines = sound.split("\n")
        lines[n] = instead
        try:
            path.write_text("\n".join(lines), encoding="utf-8")
            program = "tilewalk_test_core" if name.startswith("core/") else "tilewalk_test_io"
            if not work.compiles(program):
                print(f"{shown}\n     no mutant: it does not compile", flush=True)
                continue
            said = work.caught(name)
        finally:
            path.write_text(sound, encoding="utf-8")
        tried += 1
        caught += said is not None
        if said is None:
            survivors.append(shown)
        print(f"{shown}\n     {'caught: ' + said if said is not None else 'SURVIVED'}", flush=True)
    if not given.list:
        print("".join(s + "\n" for s in survivors) + f"{caught} of {tried} caught")
    return 0 if given.list else verdict(given.count, tried, len(survivors), given.most_survivors)


if __name__ == "__main__":
    sys.exit(main())
