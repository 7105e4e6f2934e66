# two_screens.sh PROGRAM : a display with two screens (tests/driver/two_screens.cpp). Shift P opens the speaker's window on
# one of them while the audience's fills the other; closing it gives the audience's window its place back; both end by a signal.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
export LD_PRELOAD=$(dirname "$program")/tests/driver/libtilewalk_two_screens.so

find_window() { xdotool search --sync --onlyvisible --name "^$1\$" | tail -n 1; }
size_of() { xdotool getwindowgeometry --shell "$1" | sed -n 's/^\(WIDTH\|HEIGHT\)=//p' | paste -sd x; }
# The window has that size, sooner or later.
expect_size() {
    for _ in {1..100}; do
        if [ "$(size_of "$1")" = "$2" ]; then return; fi
        sleep .05
    done
    fail "$3 is $(size_of "$1"), expected $2"
}

"$program" --step 15 2>"$folder/log" &
process=$!
audience=$(find_window Tilewalk)
before=$(size_of "$audience")
[ "$before" != 1920x1080 ] || fail "the window already fills the screen"
xdotool windowfocus --sync "$audience" key shift+p
speaker=$(find_window 'Tilewalk speaker')
expect_size "$audience" 1920x1080 "the audience's window"
xdotool windowfocus --sync "$speaker" key alt+p
xdotool key shift+p
expect_size "$audience" "$before" "the audience's window, afterwards,"
for _ in {1..100}; do
    if ! xdotool search --onlyvisible --name '^Tilewalk speaker$' >/dev/null; then break; fi
    sleep .05
done
! xdotool search --onlyvisible --name '^Tilewalk speaker$' >/dev/null || fail "the speaker's window is still there"

xdotool windowfocus --sync "$audience" key shift+p
find_window 'Tilewalk speaker' >/dev/null
kill -s TERM $process
status=0
wait $process 2>/dev/null || status=$?
[ $status -eq 143 ] || fail "exit code $status, expected 143: $(cat "$folder/log")"
grep -q "\"window_width\": ${before%x*}" "$folder/tilewalk/settings.json" || fail "the size of the full screen was kept"
