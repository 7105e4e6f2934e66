# open_window.sh PROGRAM : the real window, on the display that is set. Draws some frames, walks with the keyboard
# and compares what two pictures of the window show.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

# It opens, draws and closes by itself.
"$program" --frames 10 --screenshot "$folder/first.png" --timing 2>"$folder/log" || fail "exit code $?: $(cat "$folder/log")"
grep -q '^first frame after' "$folder/log" || fail "no timing was printed"
[ "$(head -c 4 "$folder/first.png" | tail -c 3)" = PNG ] || fail "the screenshot is no PNG file"
[ "$(stat -c %s "$folder/first.png")" -gt 20000 ] || fail "the screenshot is empty"

# A key press changes what is seen. The pointer waits in a corner, where nothing reacts to it.
xdotool mousemove 1919 1079
"$program" --frames 80 --screenshot "$folder/stayed.png" 2>"$folder/log" || fail "exit code $?: $(cat "$folder/log")"
"$program" --frames 80 --screenshot "$folder/walked.png" 2>"$folder/log" &
process=$!
xdotool search --sync --onlyvisible --name '^Tilewalk$' windowfocus key Right Right Right >/dev/null
wait "$process" || fail "exit code $?: $(cat "$folder/log")"
cmp -s "$folder/first.png" "$folder/stayed.png" || fail "it changes without a key"
! cmp -s "$folder/stayed.png" "$folder/walked.png" || fail "the arrow keys changed nothing"

# Without a display it says so and says what to use instead.
status=0
env -u DISPLAY "$program" --frames 1 >"$folder/out" 2>"$folder/log" || status=$?
[ $status -eq 3 ] || fail "exit code $status without a display, expected 3"
grep -q "tilewalk render" "$folder/log" || fail "no way out is named: $(cat "$folder/log")"
[ ! -s "$folder/out" ] || fail "stdout is not empty"
