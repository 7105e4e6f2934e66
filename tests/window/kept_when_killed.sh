# kept_when_killed.sh PROGRAM : a change in the real window is on the disk a moment later, so that kill -9 does not take
# it; the next start has it back, and leaves in order.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
settings=$folder/tilewalk/settings.json

xdotool mousemove 1919 1079
"$program" --step 17 --presenter 2>"$folder/log" &
process=$!
xdotool search --sync --onlyvisible --name '^Tilewalk$' windowfocus key shift+1 >/dev/null
for _ in $(seq 50); do
    sleep .1
    [ ! -e "$settings" ] || break
done
kill -9 $process
wait $process 2>/dev/null || true
grep -q '"open": true' "$settings" || fail "nothing was kept: $(cat "$folder/log")"
grep -q 'no_correction\|no_max\|stale_max' "$settings" || fail "the fault was not kept: $(cat "$settings")"
cp "$settings" "$folder/killed.json"

"$program" 2>"$folder/log" &
process=$!
xdotool search --sync --onlyvisible --name '^Tilewalk$' >/dev/null
kill -TERM $process
wait $process 2>/dev/null || true
grep -q '"open": false' "$settings" || fail "the second start did not leave in order: $(cat "$settings")"
grep -q problem_json "$folder/killed.json" || fail "the problem was not kept: $(cat "$folder/killed.json")"
diff <(grep problem_json "$folder/killed.json") <(grep problem_json "$settings") || fail "the second start lost the problem"
