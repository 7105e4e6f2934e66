# speaker_window.sh PROGRAM : two real windows. A key in either of them moves both, as the pictures of both windows show;
# closing the speaker's window leaves the talk running, closing the other one ends it.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
source "$here/common.bash"

# The pointer waits in a corner, where nothing reacts to it.
xdotool mousemove 1919 1079
find_window() { xdotool search --sync --onlyvisible --name "^$1\$" | tail -n 1; }

# show NAME WINDOW KEY...: both windows, NAME.png and NAME-speaker.png, after keys in one of them
show() {
    local name=$1 to=$2 process window each
    shift 2
    "$program" --step 15 --speaker window --frames 400 --screenshot "$folder/$name.png" 2>"$folder/log" &
    process=$!
    find_window 'Tilewalk speaker' >/dev/null
    window=$(find_window "$to")
    # Mesa draws every pixel of 400 frames; small windows have fewest.
    for each in 'Tilewalk speaker' Tilewalk; do xdotool windowsize --sync "$(find_window "$each")" 1024 640; done
    sleep .3
    if [ $# -gt 0 ]; then xdotool windowfocus --sync "$window" key --delay 60 "$@"; fi
    wait $process || fail "$name: exit code $?: $(cat "$folder/log")"
}
same() { cmp -s "$folder/$1.png" "$folder/$2.png"; }

show still 'Tilewalk speaker'
show there 'Tilewalk speaker' Right Right
show here Tilewalk Right Right
for window in '' -speaker; do
    ! same "still$window" "there$window" || fail "keys in the speaker's window did not reach both (still$window)"
    same "there$window" "here$window" || {
        cp "$folder/there$window.png" "$folder/here$window.png" "${TMPDIR:-/tmp}"
        fail "keys in one window show something else than in the other (there$window.png, here$window.png in ${TMPDIR:-/tmp})"
    }
done

# The speaker's window closes alone, opens again, and goes with the other one.
"$program" --speaker window 2>"$folder/log" &
process=$!
python3 "$here/close_window.py" "$(find_window 'Tilewalk speaker')" ask
for _ in {1..100}; do
    if ! xdotool search --onlyvisible --name '^Tilewalk speaker$' >/dev/null; then break; fi
    sleep .05
done
! xdotool search --onlyvisible --name '^Tilewalk speaker$' >/dev/null || fail "the speaker's window does not close"
kill -0 $process || fail "the talk ended with the speaker's window: $(cat "$folder/log")"
window=$(find_window Tilewalk)
xdotool windowfocus --sync "$window" key shift+p
find_window 'Tilewalk speaker' >/dev/null
python3 "$here/close_window.py" "$window" ask
wait $process || fail "exit code $? after both windows: $(cat "$folder/log")"
grep -q '"speaker": "window"' "$folder/tilewalk/settings.json" || fail "the settings were not saved"
