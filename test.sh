#!/usr/bin/env bash
# Sets up, builds and runs every test: the optimised build, the sanitizers, the formatting.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"
passed=0 failed=0

# Adds up one run of ctest: the cases of the unit tests, and every other entry as one.
count() {
    local found
    found=$(awk '
        / Test +#[0-9]+: / && /Passed|\*Skipped/  { if (!/tilewalk_tests/) good++ }
        / Test +#[0-9]+: / && !/Passed|\*Skipped/ { if (/tilewalk_tests/) broken = 1; else bad++ }
        /\[doctest\] test cases:/ {
            cases = 1
            for (i = 2; i <= NF; i++) { if ($i == "passed") good += $(i-1); if ($i == "failed") bad += $(i-1) }
        }
        END { if (broken && !(cases && bad)) bad++; print good + 0, bad + 0 }' "$1")
    passed=$((passed + ${found% *}))
    failed=$((failed + ${found#* }))
}

# test_build FOLDER: runs ctest there.
test_build() {
    say "testing $1"
    local log=$root/$1/test.log status=0
    ctest --test-dir "$root/$1" --verbose >"$log" 2>&1 </dev/null || status=$?
    if [ $status -ne 0 ]; then cat "$log"; else grep -E ' Test +#|\[doctest\] (test cases|assertions)' "$log" || true; fi
    local before=$((passed + failed)) before_failed=$failed
    count "$log"
    # A run that counted nothing, or failed in a way that no line names, is a failure.
    if [ $((passed + failed)) -eq "$before" ] || { [ $status -ne 0 ] && [ "$failed" -eq "$before_failed" ]; }; then
        failed=$((failed + 1))
    fi
}

# Prints the files whose formatting differs.
unformatted() {
    (cd "$root" && find app core cuda tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
        -print0 | xargs -0 "$1" --dry-run 2>&1) |
        sed -n 's/^\([^:]*\):[0-9].*warning: .*/\1/p' | sort -u
}

# Another version of clang-format would format differently.
check_format() {
    local tool files
    for tool in clang-format-14 clang-format; do
        if ! command -v "$tool" >/dev/null || ! "$tool" --version | grep -q 'version 14\.'; then continue; fi
        files=$(unformatted "$tool" | tr "\n" " ") || files="(clang-format failed)"
        if [ -z "$files" ]; then
            say "the formatting is right"
            passed=$((passed + 1))
        else
            say "the formatting differs (clang-format -i, version 14, repairs it): $files"
            failed=$((failed + 1))
        fi
        return
    done
    say "the formatting is not checked: there is no clang-format 14"
}

extra=(xvfb xauth xdotool)
# A browser for the page that 'tilewalk export' writes, by the name that it has here. Where the name stands for a
# package of another system (Ubuntu's chromium), or for none, that test is skipped.
browser() {
    local name
    command -v apt-cache >/dev/null && grep -q '^ID=debian' /etc/os-release || return 0
    for name in chromium-headless-shell chromium; do
        if apt-cache policy "$name" | grep -q '^ *Candidate: [0-9]'; then
            echo "$name"
            return 0
        fi
    done
}

if grep -qE '^VERSION_CODENAME=(bookworm|jammy)' /etc/os-release; then extra+=(clang-format); fi
set_up "${extra[@]}"
mapfile -t browsers < <(browser)
if [ ${#browsers[@]} -gt 0 ]; then install_packages "${browsers[@]}"; fi

build build release all
test_build build
build build-asan asan tilewalk_tests
export UBSAN_OPTIONS=print_stacktrace=1
test_build build-asan
check_format

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
