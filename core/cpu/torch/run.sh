#!/bin/sh
# Decoding on this machine, in one command: the kernels of the CPU and, where PyTorch is installed, its scaled
# dot product attention on the same shapes with the same threads. Prints the ratios and writes
# assets/bench/decode.json. PYTHON names another Python. Options go to compare_with_torch.py:
#   core/cpu/torch/run.sh --output decode.json --shapes '8/8 64 1 65536'
#   core/cpu/torch/run.sh --set ladder --dtype bf16      # forward and backward; writes assets/bench/ladder.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
TILEWALK_WORDS="$*"
export TILEWALK_WORDS
exec "${PYTHON:-python3}" "$here/compare_with_torch.py" "$@"
