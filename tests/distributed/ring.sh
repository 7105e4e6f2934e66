#!/usr/bin/env bash
# ring.sh CASE PROGRAM: a ring of processes that ends well, or that must end badly everywhere, with one sentence of rank
# 0 and without hanging. The time limit is ctest's.
set -u
case_=$1 program=$2

command -v mpirun >/dev/null || { echo "skipped: there is no mpirun (openmpi-bin)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if "$program" bench --distributed 2>&1 | grep -q 'built without MPI'; then
    echo "skipped: the program was built without MPI (libopenmpi-dev)"
    exit 77
fi
# In a container everybody is root, and there may be fewer cores than ranks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export folder program

fail() { echo "FAILED: $*"; echo "--- said:"; cat "$folder/said"; echo "--- said by the ranks:"; grep . "$folder"/said-*; echo "--- written:"; cat "$folder/written"; grep . "$folder"/code-*; exit 1; }

# Each rank writes down what it said and how it ended, also when mpirun ends it.
one_rank='trap : TERM
"$program" bench --distributed --heads 2 --head-dim 16 "$@" 2> >(trap "" TERM; exec tee "$folder/said-$OMPI_COMM_WORLD_RANK" >&2)
code=$?
wait $!
echo $code >"$folder/code-$OMPI_COMM_WORLD_RANK"
exit $code'
# words_for RANKS WORDS...: for mpirun, also behind ":"
words_for() {
    local ranks=$1
    shift
    words+=(-np "$ranks" bash -c "$one_rank" rank "$@")
}
# ring: runs what `words` says
ring() {
    rm -f "$folder"/said-* "$folder"/code-*
    mpirun --oversubscribe "${words[@]}" >"$folder/written" 2>"$folder/said"
    status=$?
}
said_once() { # WHAT FILE...
    local what=$1 count
    shift
    count=$(cat "$@" | grep -c '^tilewalk: ')
    [ "$count" -eq 1 ] || fail "$count sentences instead of one"
    cat "$@" | grep -q "^tilewalk: .*$what" || fail "the sentence is not about: $what"
}
ended_badly() {
    [ "$status" -ne 0 ] || fail "mpirun ended with 0"
    if grep -qx 0 "$folder"/code-* 2>/dev/null; then fail "a rank ended with 0"; fi
    [ ! -s "$folder/written" ] || fail "something was written"
}
ends_badly() { # WHAT
    ended_badly
    said_once "$1" "$folder/said"
}

words=()
case $case_ in
    good)
        words_for 4 --seqlen 200 --causal --direction backward --format csv
        ring
        [ "$status" -eq 0 ] || fail "ended with $status"
        grep -q ',ring-4-zigzag,.*,measured,1,' "$folder/written" || grep -q 'ring-4-zigzag.*measured' "$folder/written" || fail "nothing measured"
        [ "$(wc -l <"$folder/written")" -eq 2 ] || fail "not one line of rank 0"
        [ ! -s "$folder/said" ] || fail "something was said"
        ;;
    odd) # shards of different lengths, a row each, and one rank alone
        for words_ in "3 --seqlen 101 --shards striped --causal" "5 --seqlen 10" "4 --seqlen 4 --shards contiguous" "1 --seqlen 64"; do
            words=()
            words_for $words_
            ring
            [ "$status" -eq 0 ] || fail "$words_ ended with $status"
            grep -q 'as the closed form says' "$folder/written" || fail "$words_: bytes"
        done
        ;;
    dies) # a rank is killed in the middle
        words_for 4 --seqlen 256 --accident die@2,1
        # mpirun leaves the others a second, and a busy machine may need more, and may end before it has handed on
        # their last words: what counts is that rank 0 says them, and no other rank.
        export OMPI_MCA_odls_base_sigkill_timeout=4
        ring
        ended_badly
        said_once 'a rank died' "$folder"/said-*
        [ -s "$folder/said-0" ] || fail "it was not rank 0 that said it"
        ;;
    cut) # a message has half of its bytes
        words_for 4 --seqlen 256 --accident cut@2,1
        ring
        ends_badly 'A message from rank 2 to rank 3 came with'
        ;;
    stalls) # a rank neither computes nor answers
        words_for 3 --seqlen 64 --patience 2 --accident stall@1,1
        ring
        ends_badly 'has waited 2.00 s for a message'
        ;;
    stops) # its whole process does, as under a debugger
        words_for 3 --seqlen 64 --patience 2 --accident stop@1,1
        ring
        ends_badly 'has waited 2.00 s for a message'
        ;;
    disagree)
        words_for 2 --seqlen 256
        words+=(:)
        words_for 1 --seqlen 257
        ring
        ends_badly 'Rank 2 has another problem than rank 0'
        ;;
    refused) # by one rank alone, and by all
        words_for 2 --seqlen 256
        words+=(:)
        words_for 1 --seqlen 256 --nonsense
        ring
        ends_badly 'has no option "--nonsense"'
        words=()
        words_for 3 --seqlen 256 --window 3
        ring
        ends_badly 'A ring takes no window'
        # what other commands refuse by themselves
        words=()
        words_for 3 --seqlen 64 --format foo
        ring
        ends_badly '"foo"'
        words=()
        words_for 3 --load x.json
        ring
        ends_badly '--load shows what was recorded'
        ;;
    no-memory) # as a run without a ring ends
        words_for 2 --seqlen 64 --memory-limit 1K
        ring
        [ "$status" -eq 2 ] || fail "ended with $status"
        said_once 'Nothing was measured: no kernel fits into 1000 B' "$folder/said"
        grep -q 'does not fit' "$folder/written" || fail "the report does not say it"
        ;;
    too-many) # ranks for the positions
        words_for 4 --seqlen 7
        ring
        ends_badly '4 ranks with zigzag shards need 8 positions'
        ;;
    not-written)
        words_for 2 --seqlen 64 -o /nowhere/ring.json
        ring
        ends_badly '/nowhere'
        ;;
    alone) # without mpirun
        status=0
        env -u OMPI_COMM_WORLD_RANK "$program" bench --distributed >"$folder/written" 2>"$folder/said" || status=$?
        ends_badly 'A ring needs its ranks: mpirun'
        ;;
    *)
        echo "there is no case $case_"
        exit 2
        ;;
esac
