#!/usr/bin/env bash
# Breaks one line of a lesson at a time (mutants.txt) and lets the contract of the lessons look for it.
#
#     tests/core/lessons/mutants.sh BUILD_FOLDER [COUNT]
#
# With COUNT only so many of them, one of each class first. Only the broken file is compiled, with those that are
# compiled together with it; the rest is that of the build. Prints a table; ends with 1 if one was not caught, or if a
# line no longer fits its file.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
build=$(cd "$1" && pwd -P)
count=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source "$root/tests/mutate.sh"

caught=0 all=0
printf "%-24s %-40s %s\n" class file result
while IFS= read -r line; do
    [ "$all" -lt "$count" ] || break
    IFS=$'\x1f' read -r class file what instead < <(sed $'s/ [|] /\x1f/g' <<<"$line")
    all=$((all + 1))
    cp "$root/core/$file" "$work/broken.cpp"
    mutate "$work/broken.cpp" "$what" "$instead"
    unit=$(grep -lsF "/core/$file\"" "$build"/core/CMakeFiles/tilewalk_core.dir/Unity/*.cxx || echo "$work/broken.cpp")
    sed "s|\".*/core/$file\"|\"$work/broken.cpp\"|" "$unit" >"$work/unit.cpp"
    g++ -std=c++20 -O1 -w -I"$root" $(pkg-config --cflags eigen3) -c "$work/unit.cpp" -o "$work/broken.o"
    # Its object comes before the library that holds the sound one.
    g++ "$work/broken.o" "$build/tests/CMakeFiles/tilewalk_test_core.dir/core/lessons/test_contract.cpp.o" \
        "$build/tests/libtilewalk_test_core_shared.a" "$build/core/libtilewalk_core.a" \
        -lhwy -ldl -lpthread -o "$work/contract"
    status=0
    timeout 120 "$work/contract" --abort-after=1 >"$work/said" 2>&1 || status=$?
    result="NOT caught"
    # The contract must have said something: a program that does not even start catches nothing.
    if [ $status -ne 0 ] && grep -qE 'ERROR|abort' "$work/said"; then
        caught=$((caught + 1))
        result="caught: $(grep -m 1 -oE 'ERROR: .*' "$work/said" | cut -c 8-90)"
    fi
    printf '%-24s %-40s %s\n' "$class" "$file" "$result"
done < <(ordered "$root/tests/core/lessons/mutants.txt")
echo "$caught of $all caught"
[ "$caught" -eq "$all" ]
