#!/usr/bin/env bash
# Breaks one line of a lesson at a time (mutants.txt) and lets the contract of the lessons look for it.
#
#     tests/core/lessons/mutants.sh BUILD_FOLDER [COUNT]
#
# With COUNT only so many of them, one of each class first. Only the broken file is compiled, with those that are
# compiled together with it; the rest is that of the build. Prints a table; ends with 1 if one was not caught, or if a
# line no longer fits its file.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../mutate.sh"

caught_says='ERROR|abort'
try_one() {
    local class=$1 file=$2 what=$3 instead=$4 unit
    shown=$(printf '%-24s %-40s' "$class" "$file")
    cp "$root/core/$file" "$work/broken.cpp"
    mutate "$work/broken.cpp" "$what" "$instead"
    unit=$(grep -lsF "/core/$file\"" "$build"/core/CMakeFiles/tilewalk_core.dir/Unity/*.cxx || echo "$work/broken.cpp")
    sed "s|\".*/core/$file\"|\"$work/broken.cpp\"|" "$unit" >"$work/unit.cpp"
    g++ -std=c++20 -O1 -w -I"$root" $(pkg-config --cflags eigen3) -c "$work/unit.cpp" -o "$work/broken.o"
    # Its object comes before the library that holds the sound one.
    g++ "$work/broken.o" "$build/tests/CMakeFiles/tilewalk_test_core.dir/core/lessons/test_contract.cpp.o" \
        "$build/tests/libtilewalk_test_core_shared.a" "$build/core/libtilewalk_core.a" \
        -lhwy -ldl -lpthread -o "$work/check"
}
run_check() { timeout 120 "$work/check" --abort-after=1; }
printf "%-24s %-40s %s\n" class file result
try_all "$root/tests/core/lessons/mutants.txt"
