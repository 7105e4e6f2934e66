#!/usr/bin/env bash
# Feeds what takes a stranger's bytes with inputs that nobody thought of (tests/fuzz, clang's libFuzzer with both sanitizers).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

usage() {
    cat <<'TEXT'
./fuzz.sh [TARGET] [MINUTES]   one target, or all of them in turn; MINUTES each [1]
./fuzz.sh --list               the targets
./fuzz.sh --keep [TARGET]      the smallest inputs that reach all that was reached, into tests/fuzz/corpus
./fuzz.sh --replay TARGET FILE one input again
What breaks a promise lies in build-fuzz/found then; the exit code is 1. Inputs that found something new stay in
build-fuzz/corpus, and the next run begins with them.
TEXT
}
case ${1:-} in -h | --help) usage && exit ;; esac

TILEWALK_CUDA=OFF
set_up clang python3
fuzzers=$root/build-fuzz/tests/tilewalk_fuzz
# The readers alone are built sooner and fed faster than with the whole interface around them: the other program is built
# only where one of its targets is wanted. Not grep -q: it would end before they have written all, which counts as a failure.
fuzzer_of() { if "${fuzzers}_reader" --targets | cut -f1 | grep -xF "$1" >/dev/null; then echo "${fuzzers}_reader"; else echo "${fuzzers}_program"; fi; }
task=feed
case ${1:-} in
    --keep) task=keep && shift ;;
    --list | --replay) task=$1 && shift ;;
esac
wanted=${1:-all} minutes=${2:-1} file=${2:-}
build build-fuzz fuzz tilewalk_fuzz_reader
[ "$(fuzzer_of "$wanted")" = "${fuzzers}_reader" ] || build build-fuzz fuzz tilewalk_fuzz_program
targets() { "${fuzzers}_reader" --targets && "${fuzzers}_program" --targets; }
if [ "$task" = --list ]; then targets | awk -F'\t' '{printf "%-13s %s\n", $1, $4}' && exit; fi
[ "$wanted" = all ] || "$(fuzzer_of "$wanted")" --targets | cut -f1 | grep -xF "$wanted" >/dev/null || die "there is no target $wanted; --list names them"
if [ "$task" = --replay ]; then TILEWALK_FUZZ=$wanted exec "$(fuzzer_of "$wanted")" "$file"; fi
[[ $minutes =~ ^[0-9]+$ ]] || die "MINUTES is a whole number, not $minutes"
found=$root/build-fuzz/found failed=0
mkdir -p "$found"

# What was kept, and the examples of the repository
begin_with() {
    mkdir -p "$corpus"
    python3 "$root/tests/fuzz/corpus.py" unpack "$root/tests/fuzz/corpus/$name.txt" "$corpus"
    [ "$files" = - ] || for file in "$root"/$files; do head -c "$longest" "$file" >"$corpus/$(basename "$file")"; done
}

feed() {
    "$fuzzer" --dictionary "$name" >"$corpus.words"
    local log=$root/build-fuzz/$name.log status=0 words=()
    [ ! -s "$corpus.words" ] || words=(-dict="$corpus.words")
    # Out of the way: settings, and files that a command might write
    (mkdir -p "$corpus.home" && cd "$corpus.home" && HOME=$corpus.home XDG_CONFIG_HOME=$corpus.home TILEWALK_FUZZ=$name \
        "$fuzzer" -max_total_time=$((minutes * 60)) -max_len="$longest" "${words[@]}" -timeout=30 -rss_limit_mb=4000 \
        -artifact_prefix="$found/$name-" -print_final_stats=1 "$corpus") >"$log" 2>&1 || status=$?
    printf '%-13s %12s executions, %6s inputs kept%s\n' "$name" "$(sed -n 's/stat::number_of_executed_units: *//p' "$log")" \
        "$(find "$corpus" -type f | wc -l)" "$([ $status -eq 0 ] || echo ", BROKEN: $log")"
    [ $status -eq 0 ] || failed=1
}

keep() {
    rm -rf "$corpus.small" && mkdir "$corpus.small"
    TILEWALK_FUZZ=$name "$fuzzer" -merge=1 -max_len="$longest" "$corpus.small" "$corpus" >"$root/build-fuzz/$name.log" 2>&1
    python3 "$root/tests/fuzz/corpus.py" pack "$corpus.small" "$root/tests/fuzz/corpus/$name.txt" 20000
    wc -l "$root/tests/fuzz/corpus/$name.txt"
}

while IFS=$'\t' read -r name longest files _; do
    [ "$wanted" = all ] || [ "$wanted" = "$name" ] || continue
    corpus=$root/build-fuzz/corpus/$name fuzzer=$(fuzzer_of "$name")
    begin_with
    $task
done < <(if [ "$wanted" = all ]; then targets; else "$(fuzzer_of "$wanted")" --targets; fi)
exit $failed
