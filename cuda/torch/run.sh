#!/bin/sh
# The kernels beside PyTorch, in one command: builds the library, runs the comparison, writes
# assets/bench/<gpu>.json. Needs nvcc, CMake, a GPU and a Python with PyTorch (PYTHON names another one).
# Options go to compare_with_torch.py: cuda/torch/run.sh --seqlens 1024,4096 --directions forward
# With --build-only it ends where the library is built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build-torch}
TILEWALK_WORDS="$*"
export TILEWALK_WORDS
for option in "$@"; do
  if [ "$option" = --dry-run ]; then exec "${PYTHON:-python3}" "$here/compare_with_torch.py" "$@"; fi
done
[ -n "${CUDACXX:-}" ] || command -v nvcc >/dev/null || CUDACXX=/usr/local/cuda/bin/nvcc
[ -z "${CUDACXX:-}" ] || export CUDACXX
cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$build" --target tilewalk_cuda_kernels --parallel
if [ "${1:-}" = --build-only ]; then exit; fi
exec "${PYTHON:-python3}" "$here/compare_with_torch.py" --library "$build/libtilewalk_cuda_kernels.so" "$@"
