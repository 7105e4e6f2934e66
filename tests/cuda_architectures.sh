#!/usr/bin/env bash
# What the kernels are compiled for: tilewalk_cuda_architectures of cmake/cuda.cmake, with stand-ins for nvcc and the GPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ask.cmake" <<'CMAKE'
set(TILEWALK_CUDA OFF)
include(${ROOT}/cmake/cuda.cmake)
set(TILEWALK_CUDA_ARCHITECTURES ${WANTED})
tilewalk_cuda_architectures(${NVCC} found)
message("found:${found}")
CMAKE
printf '#!/bin/sh\n[ -n "$GPUS" ] || exit 9\nprintf "%%b" "$GPUS"\n' >"$work/nvidia-smi"
printf '#!/bin/sh\nfor a in $KNOWS; do echo compute_$a; done\n' >"$work/nvcc"
chmod +x "$work/nvidia-smi" "$work/nvcc"
failed=0

# try WANTED 'WHAT NVCC KNOWS' 'COMPUTE CAPABILITIES OF THE GPUS' EXPECTED
try() {
    local found
    found=$(PATH=$work:$PATH KNOWS=$2 GPUS=$3 cmake -DROOT="$root" -DNVCC="$work/nvcc" -DWANTED="$1" -P "$work/ask.cmake" 2>&1 |
        sed -n 's/^found://p')
    [ "$found" = "$4" ] && return
    echo "$1, nvcc for $2, GPUs ${3:-none}: '$found' where '$4' was expected"
    failed=$((failed + 1))
}
new="75 80 86 87 88 89 90 100 103 110 120 121" old="50 52 70 72 75 80 86 87 89 90"
try AUTO "$new" "" 80
try AUTO "$new" "9.0\n" 90
try AUTO "$new" "8.6\n8.6\n7.5\n" "86;75"
try AUTO "$new" "12.0\n" 120
try AUTO "$old" "12.0\n" 90         # a GPU of after that nvcc: the driver compiles it from PTX
try AUTO "$old" "8.9\n12.0\n" "89;90"
try AUTO "$old" "8.7\n10.0\n12.0\n" "87;90"
try AUTO "$old" "7.0\n" 80         # no kernel is compiled for it; refused when it is opened, with the reason
try AUTO "$new" "6.1\n7.5\n" 75
try ALL "$new" "9.0\n" "75;80;86;89;90"
try ALL "50 70 75 80 86" "" "75;80;86"
try "80;120" "$old" "" "80"          # what is named is taken as it is
try AUTO "" "9.0\n" ""
echo "$failed failed"
[ $failed -eq 0 ]
