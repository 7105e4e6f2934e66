#!/usr/bin/env bash
# assets/bench/record_ring.sh NAME [PROGRAM]
# Measures rings of 1, 2 and 4 ranks with a thread each on this machine, causal, forward and backward, with zig-zag and
# contiguous shards, and writes assets/bench/NAME.json. Takes some minutes; let the machine do nothing else meanwhile.
# RANKS="1 2 4 8" measures others, LENGTHS other lengths, MPIRUN="mpirun --hostfile hosts" on several hosts.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
name=${1:?usage: assets/bench/record_ring.sh NAME [PROGRAM]}
program=${2:-$folder/../../build/tilewalk}
lengths=${LENGTHS:-4096,8192,16384}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
read -r -a mpirun <<<"${MPIRUN:-mpirun --oversubscribe --bind-to none}"

files=()
for direction in forward backward; do
    for ranks in ${RANKS:-1 2 4}; do
        for shards in zigzag contiguous; do
            part=$parts/$direction-$ranks-$shards.json
            "${mpirun[@]}" -np "$ranks" "$program" bench --distributed --direction "$direction" --shards "$shards" \
                --causal --threads 1 --seqlen "$lengths" --format json -o "$part"
            files+=("$part")
        done
    done
done
"$program" bench --load "$(IFS=,; echo "${files[*]}")" --format json -o "$folder/$name.json"
