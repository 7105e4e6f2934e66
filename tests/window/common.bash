# Sourced by the scripts beside it, with their PROGRAM: a folder of their own for settings and pictures, and a way to fail.
program=$1
folder=$(mktemp -d)
export XDG_CONFIG_HOME=$folder
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}
# picture_after NAME TITLE OPTION... -- KEY...: folder/NAME.png, of a window that has taken these keys and come to rest
picture_after() {
    local name=$1 title=$2 options=() process here
    here=$(dirname "${BASH_SOURCE[0]}")
    shift 2
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    "$program" "${options[@]}" --frames 1000000 --screenshot "$folder/$name.png" 2>"$folder/log" &
    process=$!
    python3 "$here/press.py" "$title" "$@" || fail "$name: the keys were not taken: $(cat "$folder/log")"
    wait $process || fail "$name: exit code $?: $(cat "$folder/log")"
}
