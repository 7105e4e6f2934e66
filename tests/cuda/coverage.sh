#!/usr/bin/env bash
# Which lines of the host's code for GPUs run on the stand-in for one (tests/cuda/stubs):
#
#     tests/cuda/coverage.sh [LEAST]
#
# Builds in build-coverage, runs the tests, lists the files and every line that did not run. Ends with 1 if fewer than
# LEAST percent of the lines ran (95).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
build=$root/build-coverage
least=${1:-95}
cd "$root"

[ -f "$build/build.ninja" ] ||
    cmake --preset release -B "$build" -DTILEWALK_CUDA=ON -DTILEWALK_COVERAGE=ON -DTILEWALK_CUDA_ARCHITECTURES=80 \
        >/dev/null
ninja -C "$build" -j "${JOBS:-$(nproc)}" tilewalk_test_stubs >"$build/build.log" ||
    { tail -n 20 "$build/build.log" && exit 1; }
find "$build" -name '*.gcda' -delete
# What starts the program, once for each way to fail, is left out: its lines are those of the other tests.
TILEWALK_GPU_SCORES=250 "$build/tests/cuda/stubs/tilewalk_test_stubs" -tse=stubs/program | tail -n 1

python3 - "$root" "$build" "$least" <<'PYTHON'
import collections, glob, json, os, re, subprocess, sys

root, build, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
wanted = re.compile(r"cuda/(host/[^/]*[.](cu|cpp|h)|device/([^/]*_cuda[.](cu|h)|cublas_places[.]cpp)|torch/c_abi[.]cu)$")
# Bodies of functions that only the GPU runs; cudafe leaves their lines in what the host's compiler sees.
on_device = re.compile(r"\b(DEVICE|__global__|__device__)\b")

def lines_of_device(path):
    lines, depth, inside = set(), 0, False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if not inside and on_device.search(line) and not line.startswith("#define") and not line.rstrip().endswith(";"):
            inside, depth = True, 0
        if inside:
            lines.add(number)
            depth += line.count("{") - line.count("}")
            inside = depth > 0 or "{" not in line and "}" not in line
    return lines

counts = collections.defaultdict(dict)
for data in glob.glob(build + "/**/*.gcda", recursive=True):
    said = subprocess.run(["gcov", "--json-format", "--stdout", data], capture_output=True, cwd=os.path.dirname(data))
    for text in said.stdout.decode(errors="replace").splitlines():
        for file in json.loads(text)["files"]:
            path = os.path.relpath(os.path.join(build, file["file"]), root)
            if not wanted.search(path) or not os.path.exists(os.path.join(root, path)):
                continue
            for line in file["lines"]:
                number = line["line_number"]
                counts[path][number] = counts[path].get(number, 0) + line["count"]

all_run = all_lines = 0
for path in sorted(counts):
    source = open(os.path.join(root, path), encoding="utf-8").read().splitlines()
    device = lines_of_device(os.path.join(root, path))
    lines = {n: c for n, c in counts[path].items() if n <= len(source) and n not in device}
    run = sum(c > 0 for c in lines.values())
    all_run, all_lines = all_run + run, all_lines + len(lines)
    print(f"{path}: {run} of {len(lines)} lines")
    for n in sorted(n for n, c in lines.items() if c == 0):
        print(f"    {n}: {source[n - 1].strip()}")
percent = 100 * all_run / max(all_lines, 1)
print(f"all: {all_run} of {all_lines} lines, {percent:.1f} %")
sys.exit(percent < least)
PYTHON
