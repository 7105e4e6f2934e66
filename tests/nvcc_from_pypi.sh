#!/usr/bin/env bash
# When ./run.sh and ./test.sh fetch nvcc, and when not: cmake/setup.sh with a stand-in for the driver, the GPU and PyPI.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/cmake" "$work/tree/build" "$work/seen" "$work/empty"
cp "$root/cmake/setup.sh" "$work/tree/cmake"
printf '#!/bin/sh\necho "| NVIDIA-SMI 580.65   Driver Version: 580.65   CUDA Version: $KNOWS     |"\n' >"$work/seen/nvidia-smi"
printf '#!/bin/sh\n' >"$work/seen/nvcc"
chmod +x "$work/seen"/*
failed=0

# try NAME 'SETTINGS' EXPECTED: what private_nvcc says, and "fetched" where it asked for it, as one line.
try() {
    local name=$1 settings=$2 expected=$3 said
    said=$(
        source "$work/tree/cmake/setup.sh"
        usual_nvcc=/none/nvcc GPU=yes WORKS=yes
        unset TILEWALK_CUDA CUDACXX
        hash -r
        command() { [ "$*" = "-v nvcc" ] && [ -z "${NVCC_THERE:-}" ] && return 1 || builtin command "$@"; }
        makes_environments() { [ -z "${NO_VENV:-}" ]; }
        install_packages() { say "installing $*" && [ "$NO_VENV" = installs ]; }
        get_nvcc() { touch "$work/fetched" && [ "$WORKS" = yes ] && mkdir -p "$nvcc_folder"; }
        export KNOWS=13.0 PATH=$work/seen:$PATH
        eval "$settings"
        if [ "$GPU" = no ]; then gpu_is_seen() { return 1; }; fi
        rm -f "$work/fetched"
        exec 9>&2
        private_nvcc 2>&1
        [ ! -e "$work/fetched" ] || echo fetched
    )
    said=$(tr '\n' ' ' <<<"$said" | sed 's/tilewalk: //g; s/ *$//')
    [[ $said == $expected ]] && return
    echo "$name: '$said' where '$expected' was expected"
    failed=$((failed + 1))
}
stamp=$work/tree/build/nvcc/.complete
touch "$work/tree/build/build.ninja"
try "a GPU and its driver" "" "a GPU is here and no nvcc getting nvcc 13.0 from PyPI* fetched"
[ -e "$stamp" ] && [ ! -e "$work/tree/build/build.ninja" ] ||
    { echo "what was configured without nvcc is still there" && failed=$((failed + 1)); }
try "it is there" "" ""
rm "$stamp"
try "no network" "WORKS=no" "a GPU is here*nvcc could not be had*Building without CUDA; tried again tomorrow* fetched"
try "within a day it is not tried again" "" ""
touch -d '2 days ago' "$work/tree/build/nvcc.failed"
try "the day after it is" "" "a GPU is here*fetched"
[ ! -e "$work/tree/build/nvcc.failed" ] || { echo "it is there, and said to have failed" && failed=$((failed + 1)); }
rm "$stamp"
try "no GPU" "GPU=no" ""
try "no GPU, but it is asked for" "GPU=no TILEWALK_CUDA=ON" "getting nvcc 13.0*fetched"
rm "$stamp"
try "without what makes environments" "NO_VENV=installs" "a GPU is here*installing python3 python3-venv getting*fetched"
rm "$stamp"
try "which cannot be had either" "NO_VENV=fails WORKS=no" "*installing python3 python3-venv getting*could not be had*fetched"
rm "$work/tree/build/nvcc.failed"
try "an old driver" "KNOWS=12.4" "the NVIDIA driver knows CUDA 12.4; kernels for the GPU need driver 580 or later. Building without CUDA"
try "an old driver, but it is asked for" "KNOWS=12.4 TILEWALK_CUDA=ON" "getting nvcc 13.0*fetched"
rm "$stamp"
try "it is not wanted" "TILEWALK_CUDA=OFF" ""
try "nvcc is named" "CUDACXX=/some/nvcc" ""
try "nvcc is on the path" "NVCC_THERE=yes" ""
try "nvcc where NVIDIA's installer puts it" "usual_nvcc=$work/seen/nvcc" ""
echo "$failed failed"
[ $failed -eq 0 ]
