#!/usr/bin/env bash
# Tries the CUDA kernels on the GPU of this machine, and writes one file to hand in: assets/bench/<gpu>.json.
#
#     cuda/try-on-gpu.sh              on any NVIDIA GPU from compute capability 7.5 on
#     cuda/try-on-gpu.sh --rehearse   the same on a stand-in for a GPU (tests/cuda/stubs), into build/rehearsal
#
# It builds what it needs, which takes some minutes the first time, and then, in a quarter of an hour at most: instructions
# against their models, every kernel over the case matrix (layouts, strides, windows, grouped heads) and every traced
# twin, compute-sanitizer where it is installed, timings against PyTorch where it is. Each part says what came of it, or
# why it could not run; none hides another. Ends with 0 where all that could run is right, with 1 where something is
# wrong, with 2 at an unknown option, with 3 where there is no GPU or nothing to build with.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=build rehearsal='' command="cuda/try-on-gpu.sh $*"
case ${1:-} in
    '') ;;
    --rehearse) rehearsal=yes ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" && exit ;;
    *) echo "try-on-gpu.sh: there is no option $1" >&2 && exit 2 ;;
esac
here=$PWD logs=$PWD/$folder/try-on-gpu
rm -rf "$logs"
mkdir -p "$logs" && : >"$logs/results" || exit 1

# told PART STATE WORDS: a line of the summary; states are passed, WRONG, timed out (wrong, too), not run.
told() {
    printf '%s\t%s\t%s\n' "$2" "$1" "$3" >>"$logs/results"
    printf '%-9s %-28s %s\n' "$2" "$1" "$3"
}
# within SECONDS LOG COMMAND...: 124 where it took longer. Interrupted, a benchmark writes down what it has.
within() {
    local seconds=$1 log=$2
    shift 2
    timeout --signal=INT --kill-after=10 "$seconds" "$@" >"$log" 2>&1 </dev/null
}
last_words() { grep -v '^ *$' "$1" | tail -n 1 | cut -c1-300; }

# What is built, and where it lies
if [ -n "$rehearsal" ]; then
    stubs=$folder/tests/cuda/stubs
    targets=(tilewalk_on_stubs tilewalk_check_gpu_on_stubs tilewalk_test_stubs)
    program=$stubs/tilewalk_on_stubs check=$stubs/tilewalk_check_gpu_on_stubs intrinsics=$stubs/tilewalk_test_stubs
    scores=250 draws=1 seconds=40 lengths=64 timed_kernels=f4-tensor-core results=build/rehearsal
else
    targets=(tilewalk tilewalk_check_gpu tilewalk_test_gpu)
    program=$folder/tilewalk check=$folder/tests/tilewalk_check_gpu intrinsics=$folder/tests/tilewalk_test_gpu
    scores=65536 draws=2 seconds=120 lengths=1024,4096 timed_kernels=f0-cublas,f4-tensor-core,f5-flash2 results=assets/bench
fi

# What the set-up says is seen while it builds; all else goes to the log.
build_all() {
    # In a shell of its own: what fails there ends it.
    (
        source cmake/setup.sh
        set_up
        for target in "${targets[@]}"; do build "$folder" release "$target" -DTILEWALK_CUDA_ARCHITECTURES=AUTO; done
    ) </dev/null 2>&1 | tee "$logs/build" | grep --line-buffered '^tilewalk: '
    return "${PIPESTATUS[0]}"
}
if [ -n "${TILEWALK_TRY_BUILT:-}" ]; then
    told build passed "what is built already, as TILEWALK_TRY_BUILT says"
elif build_all; then
    told build passed "the program and its tests"
else
    told build "WRONG" "$(last_words "$logs/build") ($logs/build)"
    exit 3
fi

# Without a GPU nothing else can run.
within 30 "$logs/devices" "$program" devices
gpu=$(sed -n 's/^CUDA  \(.*\), compute capability .*/\1/p' "$logs/devices" | head -n 1)
if [ -z "$gpu" ]; then
    reason=$(sed -n 's/^CUDA  none: //p' "$logs/devices")
    told GPU "not run" "There is no GPU to run on: ${reason:-$(last_words "$logs/devices")}."
    echo "Nothing was tried, and there is no file to hand in."
    exit 3
fi
told GPU passed "$(sed -n 's/^CUDA  //p' "$logs/devices" | head -n 1)"

# Whatever a part says, the others run. LATE is what it is where it did not end within its time: WRONG, as a kernel that
# waits forever is, unless said otherwise.
status_of_part() {
    local part=$1 status=$2 log=$3 late=${4:-WRONG}
    case $status in
        0) told "$part" passed "$(last_words "$log" | grep . || echo done)" ;;
        77) told "$part" "not run" "$(sed -n 's/^\[skipped\] //p' "$log" | head -n 1)" ;;
        124 | 137) told "$part" "$late" "it did not end within its time ($log)" ;;
        *) told "$part" WRONG "$(last_words "$log") ($log)" ;;
    esac
}

within 60 "$logs/intrinsics" "$intrinsics" -ts=intrinsics
status_of_part "instructions" $? "$logs/intrinsics"

# check_gpu says a line for each kernel and type.
within $((seconds + 60)) "$logs/kernels" "$check" all $scores $draws $seconds
status=$?
while IFS=$'\t' read -r state name words; do
    case $state in
        right) told "$name" passed "$words" ;;
        WRONG) told "$name" WRONG "$words" ;;
        "not run") told "$name" "not run" "$words" ;;
    esac
done <"$logs/kernels"
[ $status -le 1 ] || status_of_part "kernels" $status "$logs/kernels"

sanitizer=$(command -v compute-sanitizer || ls "${CUDA_PATH:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null)
if [ -n "$rehearsal" ]; then
    told "compute-sanitizer" "not run" "it needs a GPU"
elif [ -z "$sanitizer" ]; then
    told "compute-sanitizer" "not run" "it is not installed (it is part of NVIDIA's toolkit)"
else
    for tool in memcheck racecheck synccheck; do
        within 50 "$logs/$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 "$check" all 250 1 20
        status_of_part "compute-sanitizer $tool" $? "$logs/$tool" "timed out"
    done
fi

# Timings: against PyTorch where it is, otherwise the ladder alone.
file=$results/$(tr 'A-Z ' 'a-z-' <<<"${gpu#NVIDIA }").json
mkdir -p "$results" "$logs/timings"
timed=$logs/timings/results.json
python=$(command -v "${PYTHON:-python3}")
time_ladder() {
    within 120 "$logs/bench" "$program" bench --device cuda --seqlen $lengths --head-dim 64 --heads 2 --batch 1 --causal \
        --kernels $timed_kernels --format json -o "$timed"
    status_of_part "timings of the ladder" $? "$logs/bench" "not run"
}
if [ -n "$python" ] && "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null && [ -z "$rehearsal" ]; then
    [ -x /usr/local/cuda/bin/nvcc ] || command -v nvcc >/dev/null || export CUDACXX=$here/build/nvcc/cuda/bin/nvcc
    if within 900 "$logs/torch-library" cuda/torch/run.sh --build-only; then
        within 200 "$logs/torch" cuda/torch/run.sh --seqlens 1024,4096 --head-dims 64,128 --repeats 10 --output "$timed"
        status_of_part "timings against PyTorch" $? "$logs/torch" "not run"
    else
        told "timings against PyTorch" WRONG "the kernels could not be built for it: $(last_words "$logs/torch-library")"
    fi
    [ -s "$timed" ] || time_ladder
else
    if [ -n "$rehearsal" ]; then
        reason="it needs a GPU"
    elif [ -z "$python" ]; then
        reason="there is no python3"
    else
        reason="$python has no PyTorch that sees a GPU"
    fi
    told "timings against PyTorch" "not run" "$reason"
    time_ladder
fi

# One file: the timings, with what passed beside them.
if [ -z "$python" ]; then
    told "file to hand in" "not run" "there is no python3; $logs/results has the lines above"
elif "$python" - "$timed" "$logs/results" "$logs/devices" "$file" "$command" <<'PYTHON' 2>"$logs/file"; then
import datetime, json, os, subprocess, sys

timed, results, devices, file, command = sys.argv[1:]
try:
    with open(timed) as source:
        whole = json.load(source)
except (OSError, ValueError):  # the timings failed: the rest is worth a file
    whole = {"schema": "tilewalk-bench-1", "complete": False, "points": []}
lines = open(devices).read().splitlines()
after = lambda word: next((line.split(word, 1)[1].strip() for line in lines if word in line), "unknown")
def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()
    except OSError:  # it is not there
        return ""


# The driver's own number is that of its tools; CUDA knows which CUDA it is made for.
own = said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").partition("\n")[0]
whole["x-tried"] = {
    "device": after("CUDA "), "driver": own or "unknown", "cuda of the driver": after("driver ").split(",")[0],
    "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"),
    "commit": said("git", "describe", "--always", "--dirty=+", "--exclude=*") or "unknown", "command": command.strip(),
    "parts": [dict(zip(("state", "part", "words"), line.rstrip("\n").split("\t"))) for line in open(results)]}
with open(file + ".part", "w") as out:
    json.dump(whole, out, indent=1)
    out.write("\n")
os.replace(file + ".part", file)
PYTHON
    echo "to hand in: $file"
else
    told "file to hand in" WRONG "$(last_words "$logs/file")"
fi

count() { grep -c "^$1" "$logs/results"; }
wrong=$(($(count WRONG) + $(count 'timed out')))
echo "$(count passed) passed, $wrong wrong, $(count 'not run') could not run, in $((SECONDS / 60)) min $((SECONDS % 60)) s"
[ "$wrong" -eq 0 ]
