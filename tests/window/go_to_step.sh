# go_to_step.sh PROGRAM : typing in the real window. G opens a field, what is typed stays in it (the P does not start
# presenter mode), Enter goes to the step, and the picture is that of a window that was opened there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

# The pointer waits in a corner, where nothing reacts to it.
xdotool mousemove 1919 1079
"$program" --step 17 --frames 10 --screenshot "$folder/opened.png" 2>"$folder/log" || fail "exit code $?: $(cat "$folder/log")"
"$program" --frames 240 --screenshot "$folder/typed.png" 2>"$folder/log" &
process=$!
xdotool search --sync --onlyvisible --name '^Tilewalk$' windowfocus >/dev/null
sleep 1 # until it has the keyboard, on a busy machine as well
xdotool key g
sleep .6
xdotool type --delay 80 p17
sleep .2
xdotool key Return
wait "$process" || fail "exit code $?: $(cat "$folder/log")"
cmp -s "$folder/opened.png" "$folder/typed.png" || {
    cp "$folder/opened.png" "$folder/typed.png" "${TMPDIR:-/tmp}"
    fail "the step that was typed looks different from the one that was opened (opened.png, typed.png in ${TMPDIR:-/tmp})"
}
