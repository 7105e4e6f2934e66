#!/usr/bin/env bash
# The CPU kernels as Arm's processors run them: compiled for them, with NEON, and their tests run by qemu.
#
#     tests/neon.sh [WORD...]     words for doctest, such as -tc='*exp*'; without any all cases of tests/core/cpu
#
# What an instruction computes is the same there as on a real processor; how fast it is says nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
set_up g++-aarch64-linux-gnu qemu-user dpkg-dev
build=$root/build-neon
fetch_sources "$build" highway
[ -f "$build/build.ninja" ] || run_logged "$build/configure.log" configuring \
    cmake -S "$root/tests/neon" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DHIGHWAY="$(echo "$build"/sources/highway-*)"
run_logged "$build/build.log" "building for Arm" ninja -C "$build"
exec qemu-aarch64 -L /usr/aarch64-linux-gnu "$build/tilewalk_test_neon" "$@"
