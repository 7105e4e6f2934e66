#!/usr/bin/env bash
# Breaks core and io by rule, one place at a time, and counts how many of these mutants their tests catch.
#
#     tests/mutation/run.sh [COUNT] [--seed N] [--minutes M] [--only REGEX] [--from N] [--list] [--most-survivors N]
#
# COUNT [200] mutants, those of the seed N [1] in their order; with --from on from that one. --only: in files whose name
# matches. --list only shows them. It works in a copy of the checkout, build-mutation (or $TILEWALK_MUTATION), at low
# priority, and ends with a list of those that survived; docs/reliability.md says what became of earlier ones. Ends with
# 1 if none could be tried or more than --most-survivors of COUNT survive (in proportion where the minutes end it).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/setup.sh"
count=200
if [[ ${1:-} =~ ^[0-9]+$ ]]; then count=$1 && shift; fi
case " $* " in
    *" --list "*) exec python3 "$root/tests/mutation/mutants.py" --root "$root" "$@" "$count" ;;
    *" -h "* | *" --help "*) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit ;;
esac

set_up python3 git
copy=${TILEWALK_MUTATION:-$root/build-mutation}
mkdir -p "$copy"
# Only what differs is copied: what is built there stays built.
(cd "$root" && git ls-files --cached --others --exclude-standard) | while IFS= read -r file; do
    cmp -s "$root/$file" "$copy/$file" || { mkdir -p "$(dirname "$copy/$file")" && cp "$root/$file" "$copy/$file"; }
done
# Who reads beside a list is caught: the standard library looks.
[ -f "$copy/build/build.ninja" ] || (cd "$copy" && run_logged "$copy/configure.log" configuring \
    nice -n 19 cmake --preset release -DTILEWALK_CUDA=OFF -DTILEWALK_MPI=OFF -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS)
say "building the sound one"
run_logged "$copy/build.log" building nice -n 19 ninja -C "$copy/build" tilewalk_test_core tilewalk_test_io tilewalk_test_kernels
for program in core io kernels; do
    run_logged "$copy/sound.log" "the tests of what is not broken" nice -n 19 "$copy/build/tests/tilewalk_test_$program"
done
exec nice -n 19 python3 "$root/tests/mutation/mutants.py" --root "$copy" --build "$copy/build" --jobs "$(nproc)" "$@" "$count"
