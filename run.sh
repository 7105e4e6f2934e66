#!/usr/bin/env bash
# Sets up, builds and runs Tilewalk: ./run.sh opens its window, ./run.sh ARGS... hands its arguments on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

set_up
build build release tilewalk
exec 9>&-
program=$root/build/tilewalk

if [ $# -gt 0 ]; then exec "$program" "$@"; fi
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    status=0
    "$program" || status=$?
    [ $status -eq 3 ] || exit $status
else
    say "there is no display (DISPLAY is not set)"
fi
say "here is the walk as text; './run.sh --help' lists what else there is"
exec "$program" trace
