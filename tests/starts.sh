#!/usr/bin/env bash
# The window is opened and changed, and closed in order or killed at a random moment, a thousand times with the same settings.
#
#     tests/starts.sh [COUNT] [--seed S]      1000 times, seed 1
#
# After each the settings are those before or those after, whole, and no files are left over. Ends with 1 at the first damage
# and says at which start. TILEWALK_PROGRAM: one that is built already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/window/random_use.bash"
export LP_NO_RAST=1
random_use starts 1000 "$@"
