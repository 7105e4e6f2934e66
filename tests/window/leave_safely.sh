# leave_safely.sh PROGRAM [RUNS] : every way out while a driver is still being asked for GPUs, by the pages that ask.
# The driver is tests/driver, which does not answer before the program ends. Each run: two pictures, and the
# window closed by each of the ways there are, with the exit code, the settings and no crash.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
source "$here/common.bash"
runs=${2:-1}
export TILEWALK_STUB_DRIVER=late
export LD_LIBRARY_PATH=$(dirname "$program")/tests/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

draw() {
    local page=$1 status=0
    rm -f "$folder/page.svg"
    timeout 60 "$program" render --keys "$page" -o "$folder/page.svg" 2>"$folder/log" || status=$?
    [ $status -eq 0 ] || fail "render --keys $page: exit code $status: $(cat "$folder/log")"
    [ "$(tail -c 7 "$folder/page.svg")" = "</svg>" ] || fail "render --keys $page: the picture is not whole"
}

# The page asks in a thread, which loads the driver; a build without CUDA, which does not know its name, asks nobody.
asks=no
if grep -q 'libcuda\.so' "$program"; then asks=yes; fi
wait_for_question() {
    if [ $asks = no ]; then return; fi
    for _ in {1..1000}; do
        if grep -q libcuda "/proc/$1/maps"; then return; fi
        sleep .01
    done
    fail "page $page, $way: the driver was not asked within ten seconds"
}

# Opens the window and the page, ends it by the way, and expects the exit code.
show() {
    local page=$1 way=$2 expected=$3 status=0 process window
    rm -rf "$folder/tilewalk"
    # A shell lets what it starts in the background ignore SIGINT, nohup SIGHUP.
    env --default-signal=INT,HUP "$program" 2>"$folder/log" &
    process=$!
    window=$(xdotool search --sync --onlyvisible --name '^Tilewalk$' | tail -n 1)
    xdotool windowfocus "$window" key "$page"
    wait_for_question $process
    case $way in
    ask | cut) python3 "$here/close_window.py" "$window" "$way" ;;
    *) kill -s "$way" $process ;;
    esac
    wait $process 2>/dev/null || status=$?
    [ $status -eq "$expected" ] || fail "page $page, $way: exit code $status, expected $expected: $(cat "$folder/log")"
    if [ "$way" = cut ]; then return; fi
    grep -q '^}' "$folder/tilewalk/settings.json" || fail "page $page, $way: the settings were not saved"
}

for ((run = 1; run <= runs; ++run)); do
    for page in 7 9; do
        draw $page
        show $page ask 0
        show $page cut 1
        show $page TERM 143
        show $page INT 130
        show $page HUP 129
    done
done
echo "$runs runs of each way, no crash"
