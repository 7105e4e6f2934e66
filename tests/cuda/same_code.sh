#!/usr/bin/env bash
# same_code.sh NVCC PTX [KERNEL...]: kernels that do not record compile to the same code whether or not the twins
# that do exist. Compiles each file to PTX with every RECORD(…) removed from its text, and compares the kernels whose
# last template argument, `traced`, is false, with those in the folder PTX, which the build made for the second machine
# (tests/cuda/ptx). Without KERNEL one of two, which TILEWALK_SEED draws; all six where TILEWALK_KERNELS=all.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
nvcc=$1 built=$2
shift 2
if [ $# -eq 0 ]; then
    if [ "${TILEWALK_KERNELS:-}" = all ]; then
        set -- f2_tiled_fp32 f3_warp_rows f4_tensor_core f4b_copies_ahead f5_flash2 f6_split
    elif [ $((${TILEWALK_SEED:-1} % 2)) -eq 1 ]; then
        set -- f5_flash2
    else
        set -- f4_tensor_core
    fi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# kernels_of NAME: the text of the kernels in NAME.all. The name of the anonymous namespace, line numbers and the
# twins are left out; they begin at .entry NAME…Lb1E.
kernels_of() {
    local name=$1
    sed -E 's/_GLOBAL__N__[0-9a-f]+_[0-9]+_[A-Za-z0-9_]+_cu_[0-9a-f]{8}_?[0-9a-f]*/ANONYMOUS/g; /^\/\//d; /^[ \t]*\.loc/d' \
        "$folder/$name.all" |
        awk '/^\.(visible |weak )*\.?entry|\.entry/ { keep = !/Lb1EEEv/ } keep' |
        sed -E 's/\$L__BB[0-9]+_/$L__BB_/g' >"$folder/$name.ptx"
}

status=0
for kernel in "$@"; do
    cp "$built/$kernel.ptx" "$folder/with.all"
    "$nvcc" -std=c++17 -I"$root" -arch=compute_80 -ptx -DTILEWALK_WITHOUT_TRACE "$root/cuda/kernels/$kernel.cu" \
        -o "$folder/without.all"
    kernels_of with
    kernels_of without
    kernels=$(grep -c '\.entry' "$folder/with.ptx" || true)
    if [ "$kernels" -gt 0 ] && cmp -s "$folder/with.ptx" "$folder/without.ptx"; then
        echo "$kernel: $kernels kernels compile to the same code without RECORD"
    else
        echo "$kernel: the kernels that do not record differ from those of a source without RECORD:"
        diff "$folder/with.ptx" "$folder/without.ptx" | head -20 || true
        status=1
    fi
done
exit $status
