#!/usr/bin/env bash
# What ./run.sh and ./test.sh tell while they wait: cmake/setup.sh on logs of ninja, apt-get and ctest.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/cmake"
cp "$root/cmake/setup.sh" "$work/cmake"
source "$work/cmake/setup.sh"
failed=0

expect() {
    local name=$1 is=$2 expected=$3
    [[ $is == $expected ]] && return
    echo "$name: '$is' where '$expected' was expected"
    failed=$((failed + 1))
}
far_of() { printf '%s\n' "$@" >"$work/log" && how_far "$work/log"; }

expect "ninja" "$(far_of '[1/300] Building a.cpp' 'a.cpp:1: warning: [2/3]' '[42/345] Building b.cpp')" "step 42 of 345"
expect "apt-get that has not counted yet" "$(far_of 'Reading package lists...' 'Get:1 http://a b')" ""
apt=('1 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.' 'Get:1 http://a b' 'Get:2 http://a c')
expect "apt-get fetches" "$(far_of "${apt[@]}")" "fetching 2 of 3"
expect "and unpacks" "$(far_of "${apt[@]}" 'Unpacking b (1) ...')" "unpacking 1 of 3"
expect "and sets up" "$(far_of "${apt[@]}" 'Unpacking b (1) ...' 'Setting up b (1) ...')" "setting up 1 of 3"
expect "ctest" "$(far_of ' 7/12 Test  #3: core/walk/trace ....   Passed    0.10 sec')" "test 7 of 12"
expect "ctest from a hundred on" "$(far_of '107/112 Test  #3: core/walk/trace ....   Passed    0.10 sec')" "test 107 of 112"
expect "no log" "$(how_far "$work/none")" ""

expect "too early to tell" "$(time_told 9 'step 50 of 100')" "0:09"
expect "too little done" "$(time_told 60 'step 4 of 100')" "1:00"
expect "half of it" "$(time_told 60 'step 50 of 100')" "1:00, about 70 seconds left"
expect "minutes" "$(time_told 65 'step 10 of 100')" "1:05, about 10 minutes left"
expect "apt-get goes by no steps" "$(time_told 60 'unpacking 50 of 100')" "1:00"

# It runs as it would alone: output and failure are its own, the lock is not held, nothing holds on to the pipe.
exec 9>"$work/lock"
flock -n 9
as_ever() {
    echo "[1/2] one" && echo two >&2
    flock -n "$work/lock" true 9>&- && echo "the lock is open"
    ! { true >&9; } 2>/dev/null || echo "9 is open"
    return 3
}
status=0 began=$SECONDS
said=$(with_progress "$work/log" waiting as_ever 2>&1) || status=$?
expect "status" "$status" 3
expect "said at once" "$said$((SECONDS - began))" "[01]"
expect "log" "$(tr '\n' ' ' <"$work/log")" "\[1/2\] one two "
on_terminal() { true; }
slow() { for n in 1 2 3 4; do echo "[$n/9] n" && sleep 1; done; }
expect "on a terminal" "$(with_progress "$work/log" building slow 2>&1)" *$'\rtilewalk: building, step [23] of 9, 0:0[23]\e\[K'*
echo "$failed failed"
[ $failed -eq 0 ]
