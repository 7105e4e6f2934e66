#!/usr/bin/env bash
# What takes hours, one after the other: the sanitizers, valgrind, every fault, many problems, the fuzzer, the coverage, and
# whole what ./test.sh takes a part of (docs/reliability.md).
#
#     tests/nightly.sh [PART...]     parts: kernels broken looks questions address threads memory faults problems limits fuzz
#                                    coverage mutation starts soak; all of them
#
# Each part ends with a line of its own; its output is in build-nightly. Ends with 1 if one of them failed.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root" || exit 1
logs=$root/build-nightly failed=0
mkdir -p "$logs"

# The program of these tests, without a run of what the part itself runs whole
built() {
    (source cmake/setup.sh && set_up && { [ -f build/build.ninja ] || cmake --preset release; } && ninja -C build "tilewalk_test_$1")
}

# Every line of the lists of mutants; without nvcc there is no PTX of them.
broken() {
    built core && built kernels && ninja -C build tilewalk_check_kernels tilewalk_check_ptx || return 1
    tests/core/lessons/mutants.sh build && tests/cuda/mutants.sh build && python3 tests/cuda/races.py build || return 1
    tests/cuda/ptx/mutants.sh build || [ $? -eq 77 ]
}

# What is drawn, and the pages in a browser, where there is one
looks() {
    built ui && TILEWALK_LAYOUT=all build/tests/tilewalk_test_ui && ninja -C build tilewalk || return 1
    TILEWALK_LAYOUT=all python3 tests/app/export/drive_page.py build/tilewalk || [ $? -eq 77 ]
}

run_part() {
    case $1 in
        kernels) TILEWALK_KERNELS=all ./test.sh kernels && built cli && TILEWALK_KERNELS=all build/tests/tilewalk_test_cli -sf='*test_own_kernel*' ;;
        broken | looks) "$1" ;;
        questions) built core && TILEWALK_QUESTIONS=all build/tests/tilewalk_test_core -sf='*test_variants*' ;;
        address) ./test.sh sanitizers ;;
        threads) tests/threads.sh ;;
        memory) tests/memory.sh 2 ;;
        faults) built faults && TILEWALK_FAULTS=all build/tests/tilewalk_test_faults ;;
        problems) built core && TILEWALK_PROBLEMS=10000 TILEWALK_SEED=$(date +%Y%m%d0000) build/tests/tilewalk_test_core -tc='anything that is valid*' ;;
        limits) built cli && TILEWALK_LIMITS=1 build/tests/tilewalk_test_cli -sf='*test_limits*' ;;
        fuzz) ./fuzz.sh all 15 ;;
        coverage) tests/coverage.sh 97.5 91.5 ;; # docs/reliability.md says what was reached
        starts) tests/starts.sh 1000 --seed "$(date +%Y%m%d)" ;;
        soak) tests/soak.sh 30 --seed "$(date +%Y%m%d)" ;;
        mutation) tests/mutation/run.sh 100 --seed "$(date +%Y%m%d)" --minutes 180 --most-survivors 29 ;; # as 4 of the first 14
        *) echo "there is no part $1" && return 1 ;;
    esac
}

[ $# -gt 0 ] || set -- kernels broken looks questions address threads memory faults problems limits fuzz coverage mutation starts soak
for part in "$@"; do
    began=$SECONDS
    if run_part "$part" >"$logs/$part.log" 2>&1; then verdict=passed; else verdict=FAILED failed=1; fi
    printf '%-9s %s after %d minutes: %s\n' "$part" "$verdict" $(((SECONDS - began) / 60)) "$(tail -n 1 "$logs/$part.log")"
done
exit $failed
