# go_to_step.sh PROGRAM : typing in the real window. G opens a field, what is typed stays in it (the P does not start
# presenter mode), Enter goes to the step, and the picture is that of a window that was opened there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

# The pointer waits in a corner, where nothing reacts to it.
xdotool mousemove 1919 1079
"$program" --step 17 --frames 10 --screenshot "$folder/opened.png" 2>"$folder/log" || fail "exit code $?: $(cat "$folder/log")"
picture_after typed Tilewalk -- g p 1 7 Return
cmp -s "$folder/opened.png" "$folder/typed.png" || {
    cp "$folder/opened.png" "$folder/typed.png" "${TMPDIR:-/tmp}"
    fail "the step that was typed looks different from the one that was opened (opened.png, typed.png in ${TMPDIR:-/tmp})"
}
