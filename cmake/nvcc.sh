#!/bin/sh
# nvcc.sh [ccache] nvcc ARGUMENT...: compiles, and keeps what ptxas says of every kernel (registers, spills)
# beside the object, in OBJECT.ptxas. A message C75xx means that ptxas gave up some of the overlap that a kernel
# was written for; nvcc has no switch to make it an error, so it is one here.
output='' previous='' compiles=''
for argument; do
    [ "$previous" = -o ] && output=$argument
    [ "$argument" = -c ] && compiles=yes
    previous=$argument
done
if [ -z "$compiles" ] || [ -z "$output" ]; then exec "$@"; fi

log=$output.ptxas
"$@" -Xptxas -v >"$log" 2>&1
status=$?
grep -v -e '^ptxas info' -e ' bytes stack frame, ' "$log" >&2
if grep -E '\(C75[0-9][0-9]\)' "$log" >&2; then
    echo "ptxas serialises instructions that were meant to overlap: $output" >&2
    rm -f "$output"
    exit 1
fi
exit $status
