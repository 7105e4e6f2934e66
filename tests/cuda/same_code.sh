#!/usr/bin/env bash
# same_code.sh NVCC [KERNEL...]: kernels that do not record compile to the same code whether or not the twins
# that do exist. Compiles each file to PTX twice, once with every RECORD(…) removed from its text, and compares
# the kernels whose last template argument, `traced`, is false.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
nvcc=$1
shift
[ $# -gt 0 ] || set -- f2_tiled_fp32 f3_warp_rows f4_tensor_core f4b_copies_ahead f5_flash2 f6_split
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# ptx KERNEL NAME [FLAG...]: the text of its kernels. The name of the anonymous namespace, line numbers and the
# twins are left out; they begin at .entry NAME…Lb1E.
ptx() {
    local kernel=$1 name=$2
    shift 2
    "$nvcc" -std=c++17 -O3 -I"$root" -gencode arch=compute_80,code=compute_80 -ptx "$@" \
        "$root/cuda/kernels/$kernel.cu" -o "$folder/$name.all"
    sed -E 's/_GLOBAL__N__[0-9a-f]+_[0-9]+_[A-Za-z0-9_]+_cu_[0-9a-f]{8}_?[0-9a-f]*/ANONYMOUS/g; /^\/\//d; /^[ \t]*\.loc/d' \
        "$folder/$name.all" |
        awk '/^\.(visible |weak )*\.?entry|\.entry/ { keep = !/Lb1EEEv/ } keep' |
        sed -E 's/\$L__BB[0-9]+_/$L__BB_/g' >"$folder/$name.ptx"
}

status=0
for kernel in "$@"; do
    ptx "$kernel" with &
    ptx "$kernel" without -DTILEWALK_WITHOUT_TRACE
    wait
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
