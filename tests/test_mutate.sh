#!/usr/bin/env bash
# mutate.sh itself: what counts as caught, and that nothing does where the check speaks of what is not broken.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT

# A check is a file of a shell's commands; what a line of the list puts into it is the mutant.
try() {
    (
        source "$here/mutate.sh" "$own"
        caught_says='^wrong by'
        try_one() {
            shown=$1
            echo "$sound" >"$work/check"
            mutate "$work/check" "$2" "$3"
        }
        run_check() { timeout 1 bash "$work/check"; }
        try_all "$own/list"
    )
}
expect() {
    local what=$1 of=$2
    grep -qF "$what" <<<"$of" || { printf 'expected: %s\nfound:\n%s\n' "$what" "$of"; exit 1; }
}

sound='true'
cat >"$own/list" <<'LIST'
# class | what stands there | what is put there
one | true | echo wrong by 3; exit 1
two | true | echo no such library; exit 127
three | true | sleep 5
four | true | echo wrong by 3
LIST
said=$(try) && { echo "it ends with 0 though some were not caught"; exit 1; }
expect "one caught: wrong by 3" "$said"
expect "two NOT caught, status 127: no such library" "$said"
expect "three hung" "$said"
expect "four NOT caught, status 0" "$said"
expect "1 of 4 caught, 1 hung" "$said"

sound='echo wrong by 2; true; exit 1'
said=$(try) && { echo "it ends with 0 though the sound one is wrong"; exit 1; }
expect "speaks although nothing is broken" "$said"

sound='true'
echo 'one | true | echo wrong by 3; exit 1' >"$own/list"
try >/dev/null
