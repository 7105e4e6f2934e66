#!/usr/bin/env bash
# Traces, exports and pictures of several builds and numbers of threads, byte for byte: one table of hashes each, compared.
#
#     tests/determinism.sh [BUILD...]     one of gcc-O0 gcc-O3 clang-O0 clang-O3; all of them without a name
#
# They are compared with the program as it is released (build/tilewalk). Each other build lies in build-determinism/NAME,
# without CUDA; the first time takes as long as building the program does. Ends with 1 if one byte differs that is not
# in the list below; docs/reliability.md tells of what is.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
builds=("$@")
[ $# -gt 0 ] || builds=(gcc-O0 gcc-O3 clang-O0 clang-O3)

# hashes PROGRAM: a line for each thing that a program writes
hashes() {
    local program=$1 work lesson threads format
    work=$(mktemp -d)
    hash_of() { # NAME COMMAND...
        local name=$1
        shift
        "$@" >"$work/said" 2>&1 || echo "failed: $*: $(head -c 300 "$work/said")"
        printf '%s  %s\n' "$(sed "s|$work||g" "$work/said" | sha256sum | cut -c 1-16)" "$name"
    }
    file_hash() { # NAME FILE COMMAND...
        local name=$1 file=$2
        shift 2
        "$@" >/dev/null 2>"$work/said" || echo "failed: $*: $(cat "$work/said")"
        printf '%s  %s\n' "$(cat "$file" 2>/dev/null | sha256sum | cut -c 1-16)" "$name"
    }
    for lesson in $("$program" lessons | awk '/^[a-z]/ {print $1}'); do
        for format in text json md; do
            hash_of "trace $lesson $format" "$program" trace --lesson "$lesson" --format "$format"
            hash_of "trace $lesson random $format" "$program" trace --lesson "$lesson" --random 12x8 --seed 7 --format "$format"
        done
        for format in md tex html; do
            file_hash "export $lesson $format" "$work/$lesson.$format" "$program" export --lesson "$lesson" -o "$work/$lesson.$format"
        done
        for threads in 1 8; do
            file_hash "picture $lesson, $threads processors" "$work/$lesson-$threads.png" \
                taskset -c "0-$((threads > $(nproc) ? $(nproc) - 1 : threads - 1))" \
                "$program" render --lesson "$lesson" --step 5 -o "$work/$lesson-$threads.png"
        done
    done
    rm -rf "$work"
}

TILEWALK_CUDA=OFF
set_up clang
# Here as there without CUDA, with the same version and no commit
configure() { # NAME
    local compiler=${1%-*} level=${1#*-} cc=gcc cxx=g++
    if [ "$compiler" = clang ]; then cc=clang cxx=clang++; fi
    (cd "$root" && run_logged "$folder/configure.log" configuring cmake -S . -B "$folder" -G Ninja \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=$cc -DCMAKE_CXX_COMPILER=$cxx \
        "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-$level -DNDEBUG" -DTILEWALK_CUDA=OFF -DTILEWALK_MPI=OFF)
}
[ -x "$root/build/tilewalk" ] || build build release tilewalk
tables=$root/build-determinism status=0
mkdir -p "$tables"
hashes "$root/build/tilewalk" >"$tables/released"
! grep failed: "$tables/released" || exit 1
for name in "${builds[@]}"; do
    folder=$tables/$name
    mkdir -p "$folder"
    [ -f "$folder/build.ninja" ] || configure "$name"
    run_logged "$folder/build.log" "building $name" nice -n 19 ninja -C "$folder" -j "$(nproc)" tilewalk
    hashes "$folder/tilewalk" >"$tables/$name.table"
    if diff "$tables/released" "$tables/$name.table" >"$tables/$name.diff"; then
        echo "$name: $(wc -l <"$tables/released") of $(wc -l <"$tables/released") the same"
    else
        echo "$name: $(grep -c '^>' "$tables/$name.diff") of $(wc -l <"$tables/released") differ:"
        grep '^>' "$tables/$name.diff" | cut -c 21-
        status=1
    fi
done
# The same program with one processor and with all of them
if grep processors "$tables/released" | sed 's/, [0-9]* processors//' | sort -u | awk '{print $2, $3}' | sort | uniq -d | grep .; then
    echo "differ with the number of processors"
    status=1
fi
exit $status
