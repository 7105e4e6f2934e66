#!/usr/bin/env bash
# cuda/try-on-gpu.sh from end to end, with stand-ins for all that it starts: the program, the checks, compute-sanitizer,
# PyTorch. What it says, which file it leaves and how it ends, for each way that its parts can go. No GPU, no build.
#
#     tests/cuda/try_on_gpu.sh SOURCE_FOLDER
set -uo pipefail
source=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir -p "$work/bin" "$work/cuda/torch" "$work/build/tests" "$work/toolkit/bin"
cp "$source/cuda/try-on-gpu.sh" "$work/cuda/"
cd "$work" || exit 1
git init -q . 2>/dev/null
failed=0

# stand_in PATH LINE...: a program that does what the lines say
stand_in() {
    local path=$1
    shift
    printf '%s\n' '#!/usr/bin/env bash' "$@" >"$path"
    chmod +x "$path"
}
stand_in build/tests/tilewalk_test_gpu 'echo "[doctest] Status: SUCCESS!"'
stand_in build/tests/tilewalk_check_gpu 'printf "right\tf4-tensor-core f16\t12 cases\n"' \
    'printf "not run\tf7-hopper f16\tit needs compute capability 9.0\n"' 'echo "${CHECK_SAYS:-}"' 'exit ${CHECK_ENDS:-0}'
# 'devices', or 'bench … -o FILE'
stand_in build/tilewalk 'if [ "$1" = devices ]; then' '    [ -z "${NO_GPU:-}" ] || { echo "CUDA  none: no NVIDIA GPU"; exit; }' \
    '    echo "CUDA  NVIDIA Test 1, compute capability 8.0, 4 multiprocessors"; echo "      driver 13.0, CUDA 13.0"; exit' 'fi' \
    'for out; do :; done' 'for word; do [ "${last:-}" != -o ] || out=$word; last=$word; done' \
    '[ "${BENCH_ENDS:-0}" = 0 ] && echo "{\"schema\": \"tilewalk-bench-1\", \"complete\": true, \"points\": [1]}" >"$out"' \
    'echo "the bench has ended"' 'exit ${BENCH_ENDS:-0}'
stand_in bin/nvidia-smi '[ "$*" = "--query-gpu=driver_version --format=csv,noheader" ] && printf "580.65.06\n580.65.06\n"'
# A Python that sees a GPU where SEES says so; else the real one
real_python=$(command -v python3)
stand_in bin/python3 'case "$*" in *torch.cuda.is_available*) [ -n "${SEES:-}" ]; exit ;; esac' "exec $real_python \"\$@\""
stand_in cuda/torch/run.sh 'if [ "$1" = --build-only ]; then echo "no compiler"; exit ${LIBRARY_ENDS:-0}; fi' 'for word; do [ "${last:-}" != --output ] || out=$word; last=$word; done' \
    '[ "${TORCH_ENDS:-0}" = 0 ] && echo "{\"schema\": \"tilewalk-bench-1\", \"complete\": true, \"points\": [2, 2]}" >"$out"' \
    'echo "beside PyTorch"' 'exit ${TORCH_ENDS:-0}'
# sanitizer TOOL [STATUS]: what it is given to run it runs, as the real one does, and ends with STATUS, or with what
# --error-exitcode says, where the TOOL found something
sanitizer() {
    stand_in toolkit/bin/compute-sanitizer 'code=0' 'while [ "${1:0:2}" = -- ]; do' \
        '    [ "$1" != --error-exitcode ] || code=$2; [ "$1" != --tool ] || tool=$2; shift 2' 'done' \
        'echo "========= COMPUTE-SANITIZER ($tool)"' '"$@" >/dev/null || exit' \
        "if [ \"\$tool\" = \"$1\" ]; then echo '========= ERROR SUMMARY: 3 errors'; exit ${2:-\$code}; fi" \
        'echo "========= ERROR SUMMARY: 0 errors"'
}

# try CODE WHAT: runs it, and holds how it ended against CODE; settings come before
try() {
    rm -rf assets build/try-on-gpu
    PATH=$work/bin:$PATH CUDA_PATH=$work/toolkit TILEWALK_TRY_BUILT=${BUILT-yes} bash cuda/try-on-gpu.sh >said 2>&1
    local code=$?
    what=$2
    [ $code = "$1" ] || wrong "ended with $code, not $1"
}
wrong() {
    echo "$what: $1"
    sed 's/^/    /' said
    failed=1
}
says() { grep -qE "$1" said || wrong "does not say $1"; }
# handed PYTHON_EXPRESSION: of the file to hand in
handed() {
    "$real_python" -c "import json, sys; w = json.load(open('assets/bench/test-1.json')); sys.exit(not ($1))" 2>>said || wrong "not in the file: $1"
}
state_of() { echo "next(p['state'] for p in w['x-tried']['parts'] if p['part'].startswith('$1'))"; }

rm -f toolkit/bin/compute-sanitizer
try 0 "without compute-sanitizer and PyTorch"
says '^not run +compute-sanitizer +it is not installed'
says '^not run +timings against PyTorch +.* has no PyTorch that sees a GPU'
says '^passed +timings of the ladder +the bench has ended'
says '^to hand in: assets/bench/test-1.json'
says '^[0-9]+ passed, 0 wrong, 3 could not run'
handed "w['complete'] and w['points'] == [1] and w['x-tried']['device'].startswith('NVIDIA Test 1')"
handed "w['x-tried']['driver'] == '580.65.06' and w['x-tried']['cuda of the driver'] == '13.0'"
handed "w['x-tried']['command'] == 'cuda/try-on-gpu.sh' and len(w['x-tried']['commit']) > 6 and w['x-tried']['date'][:2] == '20'"
handed "$(state_of f4-tensor-core) == 'passed' and $(state_of f7-hopper) == 'not run'"

sanitizer none
try 0 "with compute-sanitizer"
for tool in memcheck racecheck synccheck; do says "^passed +compute-sanitizer $tool +========= ERROR SUMMARY: 0 errors"; done

sanitizer racecheck
try 1 "where compute-sanitizer finds something"
says '^WRONG +compute-sanitizer racecheck +========= ERROR SUMMARY: 3 errors'
says '^passed +compute-sanitizer synccheck'
says '^passed +timings of the ladder'
handed "$(state_of 'compute-sanitizer racecheck') == 'WRONG' and w['complete']"

# What a sanitizer that hangs ends with
sanitizer synccheck 124
try 1 "where compute-sanitizer does not come to an end"
says '^timed out +compute-sanitizer synccheck +it did not end within its time'
says '^passed +timings of the ladder'
says '^[0-9]+ passed, 1 wrong, '
handed "$(state_of 'compute-sanitizer synccheck') == 'timed out' and w['complete']"

sanitizer none
SEES=yes try 0 "beside PyTorch"
says '^passed +timings against PyTorch +beside PyTorch'
handed "w['points'] == [2, 2]"
SEES=yes TORCH_ENDS=1 try 1 "where the comparison with PyTorch fails"
says '^WRONG +timings against PyTorch'
says '^passed +timings of the ladder'
handed "w['complete'] and w['points'] == [1]"
SEES=yes LIBRARY_ENDS=1 try 1 "where the kernels cannot be built for PyTorch"
says '^WRONG +timings against PyTorch +the kernels could not be built for it: no compiler'
handed "w['complete'] and w['points'] == [1]"
SEES=yes TORCH_ENDS=124 try 0 "where the comparison with PyTorch takes too long"
says '^not run +timings against PyTorch +it did not end within its time'
says '^passed +timings of the ladder'
SEES=yes TORCH_ENDS=1 BENCH_ENDS=1 try 1 "where no timings come to an end"
handed "not w['complete'] and w['points'] == []"
BENCH_ENDS=1 try 1 "where the timings fail"
says '^WRONG +timings of the ladder'
handed "not w['complete'] and $(state_of f4-tensor-core) == 'passed'"

CHECK_ENDS=1 CHECK_SAYS=$'WRONG\tf5-flash2 f16\tO is off' try 1 "where a kernel is wrong"
says '^WRONG +f5-flash2 f16 +O is off'
handed "$(state_of f5-flash2) == 'WRONG' and w['complete']"

# What the set-up says is seen at once, what the compiler says is in the log; nobody waits for what it leaves behind.
mkdir -p cmake
cat >cmake/setup.sh <<'SETUP'
set -euo pipefail
say() { echo "tilewalk: $*" >&2; }
set_up() { say "a GPU is here and no nvcc"; }
build() {
    echo "a line of the compiler's"
    [ -z "${BUILD_ENDS:-}" ] || { say "building failed" && exit "$BUILD_ENDS"; }
    say "built $3 with $4"
}
SETUP
BUILT='' try 0 "where it builds first"
says '^tilewalk: a GPU is here and no nvcc'
says '^tilewalk: built tilewalk_check_gpu with -DTILEWALK_CUDA_ARCHITECTURES=AUTO'
says '^passed +build +the program and its tests'
! grep -q "of the compiler" said || wrong "shows what belongs into the log"
grep -q "of the compiler" build/try-on-gpu/build || wrong "has no log of what the compiler says"
BUILT='' BUILD_ENDS=1 try 3 "where it cannot be built"
says '^WRONG +build +tilewalk: building failed \(.*/build/try-on-gpu/build\)'
[ ! -e assets ] || wrong "left a file"

NO_GPU=yes try 3 "without a GPU"
says 'There is no GPU to run on: no NVIDIA GPU'
says '^Nothing was tried, and there is no file to hand in'
[ ! -e assets ] || wrong "left a file"

mkdir -p assets && : >assets/bench
PATH=$work/bin:$PATH CUDA_PATH=$work/toolkit TILEWALK_TRY_BUILT=yes bash cuda/try-on-gpu.sh >said 2>&1
code=$? what="where the file cannot be written"
[ $code = 1 ] || wrong "ended with $code, not 1"
says '^WRONG +file to hand in'

[ $failed = 0 ] && echo "every way that its parts can go"
exit $failed
