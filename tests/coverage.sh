#!/usr/bin/env bash
# Which lines and branches of core and io their own tests run through:
#
#     tests/coverage.sh [--list FILE] [LINES BRANCHES]
#
# Builds both without optimisation in build-coverage-core, runs the tests and prints the sums and the twenty files that
# miss most; --list prints each line of FILE that did not run, or not each way, of the run before. Ends with 1 below
# LINES or BRANCHES percent (0), or where no line ran. What only MPI, PyTorch or another kind of processor runs is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
build=$root/build-coverage-core
counted=$build/coverage.json

if [ "${1:-}" = --list ]; then
    [ -n "${2:-}" ] || die "--list needs a file, such as core/walk/trace.cpp"
    [ -f "$counted" ] || die "nothing is counted yet: call tests/coverage.sh first"
else
    set_up gcovr python3
    mkdir -p "$build"
    [ -f "$build/build.ninja" ] || (cd "$root" && run_logged "$build/configure.log" configuring \
        cmake --preset release -B "$build" -DTILEWALK_CUDA=OFF -DTILEWALK_MPI=OFF -DTILEWALK_COVERAGE_CORE=ON)
    run_logged "$build/build.log" building ninja -C "$build" -j "${JOBS:-$(nproc)}" tilewalk_test_core tilewalk_test_io
    find "$build" -name '*.gcda' -delete
    for part in core io; do
        say "the tests of $part"
        "$build/tests/tilewalk_test_$part" | tail -n 3
    done
    # A branch that only an exception takes is in every line that allocates; tests/faults takes those.
    (cd "$root" && gcovr -r . --object-directory "$build" --filter 'core/' --filter 'app/io/' \
        --exclude 'core/cpu/torch/' --exclude 'core/distributed/mpi/' --exclude-throw-branches \
        --exclude-unreachable-branches --gcov-ignore-parse-errors -j "${JOBS:-$(nproc)}" --json "$counted" \
        "$build/core" "$build/app" >"$build/gcovr.log" 2>&1) || { tail -n 20 "$build/gcovr.log" && exit 1; }
fi

exec python3 - "$root" "$counted" "$@" <<'PYTHON'
import collections
import json
import pathlib
import sys

root, words = pathlib.Path(sys.argv[1]), sys.argv[3:]
files = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))["files"]
wanted = words.pop(1) if words[:1] == ["--list"] else None

# A line of a template or of a header stands there once for each of its instances.
counts = {}
for file in files:
    lines = counts.setdefault(file["file"], {})
    for line in file["lines"]:
        if line.get("gcovr/noncode"):
            continue
        count, branches = lines.get(line["line_number"], (0, {}))
        for n, branch in enumerate(line["branches"]):
            branches[n] = branches.get(n, 0) + branch["count"]
        lines[line["line_number"]] = (count + line["count"], branches)

if wanted is not None:
    if wanted not in counts:
        sys.exit(f"no line of {wanted} was counted; a file is named from the root, such as core/walk/trace.cpp")
    text = (root / wanted).read_text(encoding="utf-8").split("\n")
    for number, (count, branches) in sorted(counts[wanted].items()):
        missed = sum(taken == 0 for taken in branches.values())
        if count == 0 or missed:
            print(f"{number:5} {'never' if count == 0 else f'{missed} of {len(branches)}':>8}  {text[number - 1]}")
    sys.exit(0)

Sum = collections.namedtuple("Sum", "lines run branches taken")
def total(lines):
    ways = [taken for _, branches in lines.values() for taken in branches.values()]
    return Sum(len(lines), sum(count > 0 for count, _ in lines.values()), len(ways), sum(way > 0 for way in ways))

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
sys.exit(not enough)
PYTHON
