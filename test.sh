#!/usr/bin/env bash
# Sets up, builds and runs the tests, all of them or the parts that are named; ./test.sh --help lists them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"
passed=0 failed=0 skipped=0

usage() {
    cat <<'TEXT'
./test.sh [PART...]   builds and runs the tests; without a PART all but the sanitizers
  all        what runs without a PART
  core       problems, lessons, traces, explanations, CPU kernels (builds the core alone)
  io         files, examples, settings
  ui         the interface, without a window
  render     pictures
  faults     allocations and calls of the system that fail, one after the other
  cli        the command line; export: what it writes as pages, slides, notes and LaTeX
  kernels    the GPU kernels on the emulator, and their PTX on a second machine
  window     the real window, on a virtual display
  distributed  a ring of processes under mpirun
  sanitizers all tests under AddressSanitizer and UndefinedBehaviorSanitizer; sanitized-core only those of core
  structure  who includes whom, and no type defined twice
  format     clang-format
  neon       the CPU kernels for Arm's processors, run by qemu; not part of all
  web        the browser edition in Chromium (builds it: twenty minutes the first time); not part of all
  package    the packages, installed in fresh roots of Debian 12 and 13; as root, twenty minutes, not part of all
  soak       the real window for half an hour of anything; not part of all. starts: a thousand starts, half of them killed
  tidy       clang-tidy, where it is installed, over what changed last, for two minutes; with --all over everything
--within MINUTES   begins no part later than that, and counts what was left out as skipped
TEXT
}

# Adds up one run of ctest. A program of unit tests says how many cases passed, failed and were skipped; every other
# entry counts as one, and so does a program that fails without saying of which case.
count() {
    local found
    found=$(awk '
        / Test +#[0-9]+: / {
            match($0, /#[0-9]+/); entry = substr($0, RSTART + 1, RLENGTH - 1)
            result[entry] = /\*\*\*Skipped/ ? "skipped" : /  Passed  / ? "good" : "bad"
        }
        /^[0-9]+: cases: / { entry = $1 + 0; told[entry] = 1; good += $3; bad += $5; skipped += $7; of[entry] = $5 }
        END {
            for (entry in result) {
                if (result[entry] == "bad") bad += !of[entry]
                else if (!told[entry]) { if (result[entry] == "good") good++; else skipped++ }
            }
            print good + 0, bad + 0, skipped + 0
        }' "$1")
    local good bad left_out
    read -r good bad left_out <<<"$found"
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left_out))
}

# The lines of the entries that failed, and what was skipped.
summary() {
    awk 'FNR == NR { if (/ Test +#[0-9]+: / && !/  Passed  / && match($0, /#[0-9]+/)) of[substr($0, RSTART + 1, RLENGTH - 1)] = 1; next }
        / Test +#[0-9]+: / && !/  Passed  / { print; next }
        /^[0-9]+: / && (of[$1 + 0] || / \[skipped\] /) { print }' "$1" "$1"
}

# run_ctest FOLDER [LABEL]: side by side; what fails is shown.
run_ctest() {
    say "testing $1 ${2:-}"
    local log=$root/$1/test.log status=0
    with_progress "$log" "testing $1" ctest --test-dir "$root/$1" ${2:+-L "^$2\$"} -j "$(nproc)" --no-tests=error --verbose ||
        status=$?
    summary "$log"
    tail -n 3 "$log" | grep 'Total Test time' || true
    local before=$failed
    count "$log"
    # A run that failed in a way that no line names is a failure.
    if [ $status -ne 0 ] && [ "$failed" -eq "$before" ]; then
        tail -n 5 "$log"
        failed=$((failed + 1))
    fi
}

# run_script NAME COMMAND...: one check that is no entry of ctest here. 77: it cannot be done on this machine.
run_script() {
    local name=$1 status=0
    shift
    say "testing $name"
    "$@" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
    esac
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
        [ -n "$files" ] || return 0
        say "the formatting differs (clang-format -i, version 14, repairs it): $files"
        return 1
    done
    say "the formatting is not checked: there is no clang-format 14"
    return 77
}

# A browser for the page that 'tilewalk export' writes, by the name that it has here. Where the name stands for a
# package of another system (Ubuntu's chromium), or for none, that test is skipped.
browser() {
    local name
    command -v apt-cache >/dev/null && grep -q '^ID=debian' /etc/os-release || return 0
    for name in chromium-headless-shell chromium; do
        # Not grep -q: it would end before apt-cache has written all, which counts as a failure here.
        if apt-cache policy "$name" | grep '^ *Candidate: [0-9]' >/dev/null; then
            echo "$name"
            return 0
        fi
    done
}

# Packages that a part needs beside those of the program
extra_packages() {
    case $1 in
        all) for name in window distributed cli export format; do extra_packages "$name"; done ;;
        window | soak | starts) echo xvfb xauth xdotool ;;
        distributed) echo libopenmpi-dev openmpi-bin ;;
        cli) echo ffmpeg ;;
        neon) echo g++-aarch64-linux-gnu qemu-user dpkg-dev ;;
        export) browser; echo poppler-utils ;;
        web) echo chromium chromium-driver python3-selenium ffmpeg ;;
        package) echo debootstrap lintian desktop-file-utils appstream groff dpkg-dev file patchelf fontconfig ;;
        format) ! grep -qE '^VERSION_CODENAME=(bookworm|jammy)' /etc/os-release || echo clang-format ;;
        tidy) ! grep -qE '^VERSION_CODENAME=(bookworm|jammy)' /etc/os-release || echo clang clang-tidy ;;
    esac
}

# What a part builds
targets() {
    case $1 in
        core | io | ui | faults) echo "tilewalk_test_$1" ;;
        render) echo tilewalk_test_ui ;;
        cli | export) echo tilewalk_test_cli ;;
        kernels) echo tilewalk_test_kernels tilewalk_check_kernels tilewalk_check_ptx ;;
        window) echo tilewalk tilewalk_test_io ;;
        distributed | web | soak | starts) echo tilewalk ;;
    esac
}

# What it is configured with. Kernels are tested as they are released: cuda/resources.json has every architecture.
options() {
    case $1 in
        all) echo -DTILEWALK_CUDA_ARCHITECTURES=ALL -DTILEWALK_MPI=AUTO ;;
        kernels) echo -DTILEWALK_CUDA_ARCHITECTURES=ALL ;;
        distributed) echo -DTILEWALK_MPI=AUTO ;; # looks for it again, now that it is there
    esac
}

# The rules for readers who do not see the page, from a package of PyPI; nothing where it cannot be had.
axe_core() {
    local folder=$root/build-web/axe
    [ -d "$folder/axe_playwright_python" ] ||
        { python3 -m pip download -q --no-deps -d "$folder" axe-playwright-python==0.1.8 &&
            python3 -m zipfile -e "$folder"/axe_playwright_python-*.whl "$folder"; } >"$root/build-web/axe.log" 2>&1 || true
    find "$folder" -name axe.min.js 2>/dev/null | head -n 1
}

run_part() {
    local target
    case $1 in
        all)
            build build release all $(options all)
            run_ctest build
            for target in structure format tidy; do run_part "$target"; done
            ;;
        structure)
            run_script structure python3 "$root/tests/structure/circles.py" "$root"
            run_script twice python3 "$root/tests/structure/twice.py" "$root"
            ;;
        format) run_script format check_format ;;
        web)
            build build release tilewalk
            build build release tilewalk_check_web_kernels
            local before=$failed
            run_script web bash "$root/web.sh" --build-only -o "$root/build-web/site"
            [ "$failed" -gt "$before" ] || run_script web-kernels bash "$root/tests/web/kernels.sh" "$root/build/tests/tilewalk_check_web_kernels" \
                "$root/app/web/page.js" "$root/build-web/page/kernels.wasm"
            # A site of an earlier build would be tested otherwise.
            [ "$failed" -gt "$before" ] || TILEWALK_AXE=$(axe_core) run_script browser /usr/bin/python3 "$root/tests/web/browse.py" "$root/build-web/site" "$root/build/tilewalk"
            ;;
        # Two minutes less without what asks for the same many times over
        neon) run_script neon bash "$root/tests/neon.sh" -tce='*same bits*,*stopped a*,*be stopped*' ;;
        soak | starts)
            build build release tilewalk
            run_script "$1" env TILEWALK_PROGRAM="$root/build/tilewalk" bash "$root/tests/$1.sh"
            ;;
        package) run_script package bash "$root/tests/package.sh" ;;
        tidy) run_script tidy bash "$root/tests/tidy.sh" $all_files ;;
        sanitizers)
            build build-asan asan tilewalk_tests
            run_ctest build-asan
            ;;
        sanitized-core)
            build build-asan asan tilewalk_test_core
            run_ctest build-asan core
            ;;
        *)
            for target in $(targets "$1"); do build build release "$target" $(options "$1"); done
            run_ctest build "$1"
            ;;
    esac
}

# In time, or left out and said so
run_part_within() {
    if [ -z "$minutes" ] || [ $SECONDS -lt $((10#$minutes * 60)) ]; then
        run_part "$1"
    else
        say "left out, after $((SECONDS / 60)) minutes: $1"
        skipped=$((skipped + 1))
    fi
}

export UBSAN_OPTIONS=print_stacktrace=1
parts=() all_files= minutes=
while [ $# -gt 0 ]; do
    word=$1
    shift
    case $word in
        -h | --help) usage && exit ;;
        --all) all_files=--all ;;
        --within)
            [[ ${1:-} =~ ^[0-9]{1,4}$ ]] || die "--within needs a number of minutes"
            minutes=$1
            shift
            ;;
        all | core | io | ui | faults | render | cli | export | kernels | window | distributed | sanitizers | sanitized-core | structure | format | tidy | package | neon | web | soak | starts) parts+=("$word") ;;
        *) usage >&2 && die "there is no part $word" ;;
    esac
done

if [ ${#parts[@]} -eq 0 ]; then parts=(all); fi
mapfile -t extra < <(for part in "${parts[@]}"; do extra_packages "$part"; done | tr ' ' '\n')
set_up "${extra[@]}"
for part in "${parts[@]}"; do run_part_within "$part"; done

if [ "$skipped" -gt 0 ]; then also=", $skipped skipped"; fi
echo "$passed passed, $failed failed${also:-}"
[ "$failed" -eq 0 ]
