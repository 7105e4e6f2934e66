#!/usr/bin/env bash
# Breaks one line of a kernel at a time (mutants.txt) and lets the checks of the emulator look for it.
#
#     tests/cuda/mutants.sh BUILD_FOLDER [COUNT [WORD]]
#
# With COUNT only so many of them, one of each class first; with WORD those whose line holds it. Prints a table; ends
# with 1 if one was not caught.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../mutate.sh"

check_kernels=$build/tests/CMakeFiles/tilewalk_check_kernels.dir/cuda/check_kernels.cpp.o
sound_field=1
# The case, as check_kernels begins to speak of it
caught_says='^[a-z][0-9]b?-.*:$'
try_one() {
    local class=$1 source=$3 file=$4 what=$5 instead=$6
    kernel=$2
    shown=$(printf '%-22s %-18s %-22s' "$class" "$kernel" "$file")
    rm -rf "$work/cuda"
    mkdir -p "$work/cuda"
    cp -r "$root/cuda/kernels" "$work/cuda/kernels"
    mutate "$work/cuda/kernels/$file" "$what" "$instead"
    printf '#include "cuda/kernels/%s.cu"\n' "$source" >"$work/kernel.cpp"
    g++ -std=c++20 -O1 -w -I"$work" -I"$root" -c "$work/kernel.cpp" -o "$work/kernel.o"
    # Its object comes before the library that holds the sound one.
    g++ "$work/kernel.o" "$check_kernels" "$build/tests/libtilewalk_kernel_cases.a" \
        "$build/cuda/libtilewalk_gpu.a" "$build/cuda/libtilewalk_emulator.a" "$build/core/libtilewalk_core.a" \
        -lboost_context -lhwy -ldl -lpthread -o "$work/check"
}
run_check() { echo && timeout 600 "$work/check" "$kernel" 40000 2; }
printf "%-22s %-18s %-22s %s\n" class kernel file result
try_all "$root/tests/cuda/mutants.txt"
