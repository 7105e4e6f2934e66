#!/usr/bin/env bash
# Sets up, builds and runs Tilewalk: ./run.sh opens its window, ./run.sh ARGS... hands its arguments on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

set_up
build build release tilewalk
exec 9>&-
program=$root/build/tilewalk

if [ $# -gt 0 ]; then exec "$program" "$@"; fi
# The window. Who ends this script means the program, which saves its settings first.
show_window() {
    local child signal
    env --default-signal=INT,QUIT "$program" <&0 &
    child=$!
    for signal in TERM HUP; do trap "kill -s $signal $child 2>/dev/null" $signal; done
    trap : INT
    while :; do
        status=0
        wait $child || status=$?
        kill -0 $child 2>/dev/null || return 0
    done
}

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    show_window
    [ $status -eq 3 ] || exit $status
else
    say "there is no display (DISPLAY is not set)"
fi
say "here is the walk as text; './run.sh --help' lists what else there is"
exec "$program" trace
