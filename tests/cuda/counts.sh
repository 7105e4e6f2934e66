#!/usr/bin/env bash
# counts.sh [--record] [--chips 80,90] [WORD...]: what one tile costs a warp, counted in the machine code of each kernel,
# and what a model of the multiprocessor makes of it; no GPU is needed and none is measured.
#
#     tests/cuda/counts.sh                     every rung and architecture
#     tests/cuda/counts.sh --chips 80 f5       the rungs that hold the word, for compute capability 8.0
#     tests/cuda/counts.sh --record            all of it to docs/gpu-counts.md
#     … --ahead                                how far ahead of its use each ldmatrix is issued
#     … --library …/torch/lib/libtorch_cuda.so  FlashAttention-2's own kernels, too, as PyTorch carries them
#
# nvdisasm and cuobjdump go to a private environment in build/counts or where TILEWALK_COUNTS says; NVCC names another nvcc.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
version=13.2.78
place=${TILEWALK_COUNTS:-$root/build/counts}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

[ -x "$nvcc" ] || { echo "Machine code is counted as nvcc makes it, and there is no nvcc (NVCC names one)." >&2; exit 77; }
tool() { find "$place" -path "*/bin/$1" -perm -u+x -print -quit 2>/dev/null; }
if [ -z "$(tool cuobjdump)" ]; then
    mkdir -p "$place"
    if ! { python3 -m venv "$place" && "$place/bin/pip" install -q "nvidia-cuda-nvdisasm==$version" "nvidia-cuda-cuobjdump==$version"; }; then
        echo "The disassembler cannot be had here: nvidia-cuda-nvdisasm and -cuobjdump $version are Python packages." >&2
        exit 77
    fi
    find "$place" -path '*/nvidia/*/bin/*' -type f -exec chmod u+x {} +
fi
source "$root/tests/cuda/prover/launches.sh"
build_launches "$root" "$place"
exec python3 "$root/tests/cuda/counts/counts.py" --nvcc "$nvcc" --launches "$place/launches.program" \
    --nvdisasm "$(tool nvdisasm)" --cuobjdump "$(tool cuobjdump)" --work "$place/work" "$@"
