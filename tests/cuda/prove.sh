#!/usr/bin/env bash
# prove.sh [--equal] [--record] [--deletions] [--mutants] [WORD...]: lets an outside prover look at the kernels, without a GPU.
#
#     tests/cuda/prove.sh                      every row of prover/proofs.txt: no race in any order of the threads
#     tests/cuda/prove.sh --record f5 b3       the rows that hold one of the words, and what came of it to proofs.json
#     tests/cuda/prove.sh --deletions          each barrier and each wait taken out in turn: does it miss it?
#     tests/cuda/prove.sh --mutants            kernels with one line broken, those of mutants.txt: does it see that?
#     tests/cuda/prove.sh --equal              kernels against PyTorch, in real arithmetic; takes 5 GB for PyTorch
#
# Hours for all of it. The prover (SentryWard, pinned) goes to a private environment in build/prover or where
# TILEWALK_PROVER says; NVCC names another nvcc, CXX another compiler. docs/kernels.md says what a proof covers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
here=$root/tests/cuda/prover
version=0.1.1
place=${TILEWALK_PROVER:-$root/build/prover}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

[ -x "$nvcc" ] || { echo "The proofs read what nvcc makes of the kernels, and there is no nvcc (NVCC names one)." >&2; exit 77; }

# The prover
if ! "$place/bin/python" -c "import importlib.metadata as m; assert m.version('sentryward') == '$version'" 2>/dev/null; then
    mkdir -p "$place"
    if ! { python3 -m venv "$place" && "$place/bin/pip" install -q "sentryward==$version"; }; then
        echo "The prover cannot be had here: SentryWard $version is a Python package, for Python 3.10 and later." >&2
        exit 77
    fi
fi

source "$here/launches.sh"
build_launches "$root" "$place"

mkdir -p "$place/work"
program=prove.py
case ${1:-} in
    --equal) program=equal.py ;;
    --mutants) program=mutants.py ;;
esac
if [ $program != prove.py ]; then
    shift
    "$place/bin/python" -c 'import torch' 2>/dev/null || "$place/bin/pip" install -q "sentryward[reference]==$version"
fi
exec python3 "$here/$program" --nvcc "$nvcc" --launches "$place/launches.program" --prover "$place/bin/sentryward" \
    --work "$place/work" "$@"
