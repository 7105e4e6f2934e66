#!/usr/bin/env bash
# Breaks one line of a kernel at a time (mutants.txt) and lets the checks of the emulator look for it.
#
#     tests/cuda/mutants.sh BUILD_FOLDER [COUNT]
#
# With COUNT only so many of them, one of each class first. Prints a table; ends with 1 if one was not caught.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
build=$(cd "$1" && pwd -P)
count=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "$root/tests/mutate.sh"

caught=0 all=0
g++ -std=c++20 -O1 -I"$root" -c "$root/tests/cuda/check_kernels.cpp" -o "$work/check_kernels.o"
printf "%-22s %-18s %-22s %s\n" class kernel file result
while IFS= read -r line; do
    [ "$all" -lt "$count" ] || break
    IFS=$'\x1f' read -r class kernel source file what instead < <(sed $'s/ [|] /\x1f/g' <<<"$line")
    all=$((all + 1))
    rm -rf "$work/cuda"
    mkdir -p "$work/cuda"
    cp -r "$root/cuda/kernels" "$work/cuda/kernels"
    mutate "$work/cuda/kernels/$file" "$what" "$instead"
    printf '#include "cuda/kernels/%s.cu"\n' "$source" >"$work/kernel.cpp"
    g++ -std=c++20 -O1 -w -I"$work" -I"$root" -c "$work/kernel.cpp" -o "$work/kernel.o"
    # Its object comes before the library that holds the sound one.
    g++ "$work/kernel.o" "$work/check_kernels.o" "$build/tests/libtilewalk_kernel_cases.a" \
        "$build/cuda/libtilewalk_gpu.a" "$build/cuda/libtilewalk_emulator.a" "$build/core/libtilewalk_core.a" \
        -lboost_context -lhwy -ldl -lpthread -o "$work/check"
    status=0
    timeout 120 "$work/check" "$kernel" 40000 2 >"$work/said" 2>&1 || status=$?
    result="NOT caught"
    if [ $status -ne 0 ]; then
        caught=$((caught + 1))
        result="caught: $(tail -n 1 "$work/said" | cut -c 1-100)"
    fi
    printf '%-22s %-18s %-22s %s\n' "$class" "$kernel" "$file" "$result"
done < <(ordered "$root/tests/cuda/mutants.txt")
echo "$caught of $all caught"
[ "$caught" -eq "$all" ]
