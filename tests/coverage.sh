#!/usr/bin/env bash
# Which lines and branches of core and io their own tests run through, and of core/inside those that record kernels:
#
#     tests/coverage.sh [LINES BRANCHES]
#     tests/coverage.sh --list FILE
#     tests/coverage.sh --rest
#
# Builds both by clang in build-counted, runs the tests and prints the sums and the twenty files that miss most. Ends with
# 1 below LINES or BRANCHES percent (0), where no line ran, or where a test failed. A branch is one way out of a condition
# or into a case, as it stands in the source: what an exception or the compiler adds is none. What only MPI runs is left out.
# Of the run before, --list prints each line of FILE that did not run, or not each way, and --rest those of all files that
# tests/coverage.txt gives no reason for; both say which way: "9:true" is the condition at column 9, never true.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
build=$root/build-counted
counted=$build/counted.txt parts=(core io kernels)
records='*test_inside*,*test_bridge*,*test_ladder*,*test_records*,*test_hopper*,*test_split*,*test_forward*'
# A recorder by clang sees no store of a single 16-bit number, which this case counts (docs/reliability.md).
unseen='f6 with few queries*'

# The tools of the compiler's own version: others cannot read what it wrote.
tool() {
    local beside
    beside=$(dirname "$(readlink -f "$(command -v clang++)")")/$1
    if [ -x "$beside" ]; then echo "$beside"; else echo "$1"; fi
}

if [ "${1:-}" = --list ] || [ "${1:-}" = --rest ]; then
    [ "$1" = --rest ] || [ -n "${2:-}" ] || die "--list needs a file, such as core/walk/trace.cpp"
    [ -f "$counted" ] || die "nothing is counted yet: call tests/coverage.sh first"
else
    set_up clang llvm python3
    mkdir -p "$build"
    # Counters stand in the program before it is optimised, so nothing is lost by it; without it the tests take hours.
    [ -f "$build/build.ninja" ] || (cd "$root" && run_logged "$build/configure.log" configuring \
        cmake --preset debug -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_CXX_FLAGS_DEBUG="-O1 -DNDEBUG" -DTILEWALK_CUDA=OFF -DTILEWALK_MPI=OFF -DTILEWALK_COVERAGE_CORE=ON)
    run_logged "$build/build.log" building ninja -C "$build" -j "${JOBS:-$(nproc)}" "${parts[@]/#/tilewalk_test_}"
    rm -f "$build"/*.profraw "$counted"
    failed=0
    export TILEWALK_KERNELS=all TILEWALK_QUESTIONS=all  # not a part of their rounds, as each seed draws another
    for part in "${parts[@]}"; do
        say "the tests of $part"
        # %c: counters lie in the file, so those of a child that a signal ends stay.
        only=()
        [ "$part" != kernels ] || only=("-sf=$records" "-tce=$unseen")
        LLVM_PROFILE_FILE=$build/$part-%p%c.profraw "$build/tests/tilewalk_test_$part" "${only[@]}" >"$build/$part.log" || failed=1
        tail -n 3 "$build/$part.log"
    done
    "$(tool llvm-profdata)" merge -sparse "$build"/*.profraw -o "$build/counts.profdata"
    "$(tool llvm-cov)" show "$build/tests/tilewalk_test_core" -object "$build/tests/tilewalk_test_io" \
        -object "$build/tests/tilewalk_test_kernels" \
        -instr-profile "$build/counts.profdata" -show-branches=count -use-color=false \
        "$root/core" "$root/app/io" >"$counted"
    [ $failed -eq 0 ] || die "a test failed; build-counted/*.log says which"
fi

exec python3 - "$root" "$counted" "$@" <<'PYTHON'
import collections
import pathlib
import re
import sys

root, words = pathlib.Path(sys.argv[1]), sys.argv[3:]
wanted, rest = words.pop(1) if words[:1] == ["--list"] else None, words[:1] == ["--rest"]

# What llvm-cov shows: "   12|  1.5k|text" for a line, without a number where nothing stands that could run, and below it
# "  |  Branch (12:9): [True: 3, False: 0]"; then the same of each instance of a template. What one of them ran has run.
counts, text, file = collections.defaultdict(dict), {}, None
for shown in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").split("\n"):
    if shown.startswith(str(root)) and shown.endswith(":"):
        name = str(pathlib.Path(shown[:-1]).relative_to(root))
        file = None if name.startswith("core/distributed/mpi/") else counts[name]
    elif file is None:
        continue
    elif line := re.match(r"(?:  \|)* *(\d+)\| *([\d.]+[kMGTPE]?)\|(.*)", shown):
        ran, ways = file.get(int(line[1]), (False, {}))
        file[int(line[1])] = (ran or line[2] != "0", ways)
        text[name, int(line[1])] = line[3]
    elif branch := re.match(r"(?:  \|)*  \|  Branch \((\d+):(\d+)\): \[True: (\S+), False: (\S+)\]", shown):
        ways = file.setdefault(int(branch[1]), (False, {}))[1]
        before = ways.get(int(branch[2]), (False, False))
        ways[int(branch[2])] = (before[0] or branch[3] != "0", before[1] or branch[4] != "0")

# "core/base/numbers.cpp | part of the line | why no test comes there"
reasons = [[part.strip() for part in row.split(" | ")] for row in
           (root / "tests/coverage.txt").read_text(encoding="utf-8").split("\n") if row and row[0] != "#"]
def reason_of(name, number):
    return next((why for file, part, why in reasons if file == name and part in text.get((name, number), "")), None)

def missed(name):
    for number, (ran, ways) in sorted(counts[name].items()):
        ways = [f"{column}:{'never' if not any(way) else 'false' if way[0] else 'true'}"
                for column, way in sorted(ways.items()) if not all(way)]
        if not ran or ways:
            yield number, "never" if not ran else " ".join(ways)

if wanted is not None or rest:
    if wanted is not None and wanted not in counts:
        sys.exit(f"no line of {wanted} was counted; a file is named from the root, such as core/walk/trace.cpp")
    for name in sorted(counts) if rest else [wanted]:
        shown = [(number, how) for number, how in missed(name) if not rest or reason_of(name, number) is None]
        if rest and shown:
            print(name)
        for number, how in shown:
            why = reason_of(name, number)
            print(f"{number:5} {how:>16}  {text.get((name, number), '')}" + (f"   [{why}]" if why else ""))
    sys.exit(0)

Sum = collections.namedtuple("Sum", "lines run branches taken")
def total(lines):
    ways = [way for _, both in lines.values() for pair in both.values() for way in pair]
    return Sum(len(lines), sum(ran for ran, _ in lines.values()), len(ways), sum(ways))

sums = {name: total(lines) for name, lines in counts.items()}
if not any(s.run for s in sums.values()):
    sys.exit("no line ran: were the counts written?")
def percent(part, whole):
    return 100 * part / max(whole, 1)
def row(name, s):
    print(f"{name:44} {s.run:6} of {s.lines:6} lines {percent(s.run, s.lines):5.1f} %   "
          f"{s.taken:6} of {s.branches:6} branches {percent(s.taken, s.branches):5.1f} %")

for name in sorted(sums, key=lambda name: sums[name].run - sums[name].lines)[:20]:
    row(name, sums[name])
enough = True
least = [float(word) for word in words] + [0, 0]
for part in ["core/", "app/io/", ""]:
    s = Sum(*map(sum, zip(*(sums[name] for name in sums if name.startswith(part)))))
    row("both" if not part else part, s)
    enough = enough and percent(s.run, s.lines) >= least[0] and percent(s.taken, s.branches) >= least[1]
of_all = [(name, number) for name in counts for number, _ in missed(name)]
told = sum(reason_of(*place) is not None for place in of_all)
print(f"{len(of_all)} lines did not run, or not each way; tests/coverage.txt has the reason of {told}.")
sys.exit(not enough)
PYTHON
