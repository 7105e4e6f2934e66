#!/usr/bin/env bash
# assets/bench/record.sh NAME [PROGRAM]
# Measures the CPU kernels of this machine, forward and backward, with and without a causal mask, d = 64 and 128, and
# writes assets/bench/NAME.json. Takes about a quarter of an hour; let the machine do nothing else meanwhile.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
name=${1:?usage: assets/bench/record.sh NAME [PROGRAM]}
program=${2:-$folder/../../build/tilewalk}
lengths=${LENGTHS:-512,1024,2048,4096,8192}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

files=()
for direction in forward backward; do
    for d in 64 128; do
        for mask in "" --causal; do
            part=$parts/$direction-$d$mask.json
            # shellcheck disable=SC2086 # without a mask there is no word
            "$program" bench --direction "$direction" --head-dim "$d" $mask --seqlen "$lengths" --format json -o "$part"
            files+=("$part")
        done
    done
done
"$program" bench --load "$(IFS=,; echo "${files[*]}")" --format json -o "$folder/$name.json"
