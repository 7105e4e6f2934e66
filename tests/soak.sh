#!/usr/bin/env bash
# Anything at all in the real window, for half an hour: keys, pointer, sizes of the window, as fast as it takes them.
#
#     tests/soak.sh [MINUTES] [--seed S]      30 minutes, seed 1
#
# Every half minute it tells the memory, the open files and the threads. Ends with 1 if the program ends by itself or takes no
# events for a minute, if one of the three grows (tests/window/soak.py has the bounds), or for a frame of more than 16 ms, the
# driver's drawing and the time without a processor not counted; letters of a new size are told, but not judged.
# LP_NO_RAST=0 lets Mesa draw the pixels, too, which takes a processor nine tenths of the time of a frame.
# TILEWALK_PROGRAM: one that is built already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/window/random_use.bash"
export LP_NO_RAST=${LP_NO_RAST:-1}
random_use soak 30 "$@"
