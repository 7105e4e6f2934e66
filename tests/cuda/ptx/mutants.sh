#!/usr/bin/env bash
# Breaks one line at a time, of the kernels (tests/cuda/mutants.txt, as for the emulator) and of what nvcc alone sees
# (mutants.txt beside this), compiles it to PTX and lets the second machine look for it.
#
#     tests/cuda/ptx/mutants.sh BUILD_FOLDER [COUNT [WORD]]
#
# With COUNT only so many of them, one of each class first; with WORD those whose line holds it. Prints a table; ends
# with 1 if one was not caught.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../mutate.sh"

nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -z "$nvcc" ]; then
    echo "skipped: this build has no nvcc"
    exit 77
fi
sound_field=1
# "Not understood" is not among them: a mutant that the machine cannot read has not been run.
caught_says='PTX line|is off by|depends on the schedule|ULP from|wrote between|Another tile|did not visit|unwritten'
try_one() {
    local class=$1 source=$3 file=$4 what=$5 instead=$6
    kernel=$2
    shown=$(printf '%-22s %-18s %-22s' "$class" "$kernel" "$file")
    rm -rf "$work/cuda" "$work/80"
    mkdir -p "$work/cuda"
    cp -r "$root/cuda/kernels" "$root/cuda/device" "$work/cuda"
    mutate "$work/cuda/kernels/$file" "$what" "$instead"
    cp -r "$build/tests/cuda/ptx/80" "$work/80"
    # These two share kernels, which must not be taken from the other's sound text
    case $source in
        b2_*) rm "$work/80/b3_deterministic.ptx" ;;
        b3_*) rm "$work/80/b2_tensor_core.ptx" ;;
    esac
    "$nvcc" -std=c++17 -w -I "$work" -I "$root" -arch=compute_80 -ptx -o "$work/80/$source.ptx" \
        "$work/cuda/kernels/$source.cu"
}
run_check() {
    echo && timeout 300 "$build/tests/cuda/ptx/tilewalk_check_ptx" --ptx "$work" --kernel "$kernel" --capability 80 --first
}
printf "%-22s %-18s %-22s %s\n" class kernel file result
# What is for Hopper is not for this machine.
grep -v -- '-hopper |' "$root/tests/cuda/mutants.txt" | cat - "$root/tests/cuda/ptx/mutants.txt" >"$work/all.txt"
try_all "$work/all.txt"
