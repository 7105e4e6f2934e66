#!/usr/bin/env bash
# Draws the pictures of this folder anew with the program that ./run.sh built (or the one named).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "${1:-$here/../../build/tilewalk}")
cd "$here"

draw() { # NAME OPTIONS...
    local name=$1
    shift
    "$program" render "$@" -o "$name.png"
    echo "$name.png"
}

# Three steps of the worked example
draw step-4-dark --step 4 --size 1600x900
draw step-17-dark --step 17 --size 1600x900
draw step-20-dark --step 20 --size 1600x900
# The other themes
draw step-17-light --step 17 --size 1600x900 --theme light
draw step-17-contrast --step 17 --size 1600x900 --theme contrast
# A projector
draw presenter-17-dark --step 17 --size 1280x720 --presenter
draw presenter-18-light --step 18 --size 1280x720 --presenter --theme light
draw speaker-dark --tour flash-attention --stop 11 --speaker window --size 1280x720
draw speaker-panel-light --tour flash-attention --stop 11 --speaker panel --size 1280x720 --theme light
# Broken on stage, and rounded
draw stage-broken --step 17 --keys 'x 3' --size 1280x720 --presenter
draw stage-rounded --step 16 --keys 'x e' --size 1280x720 --presenter --theme light
# The smallest window, and a large one at twice the resolution
draw small-8-light --step 8 --size 1024x640 --theme light
draw large-18-dark --step 18 --size 3840x2160 --pixel-ratio 2
# Other problems
draw causal-8 --example causal-8 --step 44 --size 1600x900
draw random-64 --random 64x64 --br 8 --bc 8 --step 300 --size 1600x900

# The start page
draw start-dark --lesson start --size 1600x900
draw start-presenter --lesson start --size 1280x720 --presenter

# Every lesson at a telling step: dark, light, and for a projector
lesson() { # LESSON STEP OPTIONS...
    local name=$1 step=$2
    shift 2
    local options=(--lesson "$name" "$@")
    if [ -n "$step" ]; then options+=(--step "$step"); fi
    draw "lesson-$name-dark" "${options[@]}" --size 1600x900
    draw "lesson-$name-light" "${options[@]}" --size 1600x900 --theme light
    draw "lesson-$name-presenter" "${options[@]}" --size 1280x720 --presenter
}
lesson attention 9 --example six-words
lesson softmax-3pass 20
lesson softmax-2pass 16
lesson softmax-1pass 19
lesson flash-forward 18 --break no_correction
lesson flash-forward-v1 32
lesson backward 4
lesson flash-backward 29
lesson training-step 32
draw heads-training-step --lesson training-step --example gradients-4x4 --heads 4 --kv-heads 2 --step 14 --size 1600x900
lesson memory ""
lesson merge 6 --splits 2,2
lesson split-kv 20 --random 16x4 --bc 2 --workers 4
lesson ring 8 --example causal-8 --ranks 4 --shards zigzag
lesson ring-backward 10
lesson cascade 30 --random 16x4 --seed 1 --br 4 --bc 4 --prefix 12 --sequences 4

# Alone and in the classroom: a stop of the tour, a question and its answer, where 13.44 comes from, a symbol,
# a projector with a sentence to say
stop=$(grep '^## ' ../../assets/tour/flash-attention.md | grep -nxF '## m, the maximum so far' | cut -d: -f1)
draw tour --tour flash-attention --stop "$stop" --size 1600x900
draw tour-presenter-light --tour flash-attention --stop "$stop" --size 1280x720 --presenter --theme light
draw question --step 13 --keys 'q right' --size 1600x900
draw question-answered-light --step 17 --keys 'q right 1 6 . 7 2 enter' --size 1280x720 --theme light
draw question-presenter --step 17 --keys 'q right enter' --size 1280x720 --presenter
draw breadcrumb --step 18 --keys 'shift+down w down enter down down enter enter' --size 1600x900
draw breadcrumb-presenter-light --step 18 --keys 'shift+down w' --size 1280x720 --presenter --theme light
draw glossary --step 15 --keys 'k' --size 1600x900
draw keys-light --keys '?' --size 1600x900 --theme light
draw settings-safe --step 15 --keys 'o' --size 1600x900 --palette safe
draw palette --step 15 --keys 'ctrl+k m a x' --size 1280x720
draw save --step 15 --keys 'ctrl+s' --size 1280x720
draw problem-safe-light --step 17 --palette safe --theme light --size 1280x720

# Inside a kernel: who asks which bank, and on stage
draw inside-dark --lesson inside --size 1600x900
draw inside-presenter --lesson inside --size 1280x720 --presenter
stop=$(grep '^## ' ../../assets/tour/flash-attention.md | grep -nxF '## Who owns what' | cut -d: -f1)
draw inside-owns-light --tour flash-attention --stop "$stop" --size 1600x900 --theme light

# Recorded results
draw scale-dark --lesson scale --size 1600x900
draw scale-light --lesson scale --size 1600x900 --theme light
draw scale-presenter --lesson scale --size 1280x720 --presenter

# A kernel beside the CPU's walk: sound, and with a fault
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
problem=(--random 256x64 --causal --device emulator --kernel f5-flash2)
"$program" compare "${problem[@]}" --save "$runs/sound.json" >/dev/null
"$program" compare "${problem[@]}" --fault alpha@1,1,37=0.001 --save "$runs/fault.json" >/dev/null 2>&1 || true
draw compare-dark --lesson compare --load "$runs/sound.json" --size 1600x900
draw compare-fault-light --lesson compare --load "$runs/fault.json" --size 1600x900 --theme light
draw compare-fault-presenter --lesson compare --load "$runs/fault.json" --size 1280x720 --presenter
