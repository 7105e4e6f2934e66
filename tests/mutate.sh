# Sourced by the scripts that break one line at a time, with their BUILD_FOLDER [COUNT [WORD]].
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$(cd "$1" && pwd -P)
count=${2:-1000}
word=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ordered LIST: those that hold the word, one of each class before the others. Where only some are wanted, TILEWALK_SEED
# says with which of the classes they begin.
ordered() {
    grep -v '^#' "$1" | grep -F -- "$word" |
        awk -F ' [|] ' -v seed="${TILEWALK_SEED:-1}" '
            { if (seen[$1]++) later[n++] = $0; else first[m++] = $0 }
            END {
                for (k = 0; k < m; k++) print first[(k + seed - 1) % m]
                for (k = 0; k < n; k++) print later[k]
            }'
}

# mutate FILE WHAT INSTEAD: exactly one place; @ stands for the end of a line. Nothing where nothing is to be broken.
breaks=yes
mutate() {
    [ "$breaks" = yes ] || return 0
    python3 - "$@" <<'PYTHON'
import sys
path, what, instead = sys.argv[1], sys.argv[2].replace("@", "\n"), sys.argv[3].replace("@", "\n")
text = open(path, encoding="utf-8").read()
if text.count(what) != 1:
    sys.exit(f"mutants.txt: {path.rsplit('/')[-1]} has this {text.count(what)} times: {what}")
open(path, "w", encoding="utf-8").write(text.replace(what, instead))
PYTHON
}

# try_sound FIELD...: the same check of what is not broken, once for each of what the field number `sound_field` names
# (without it, once). It must be silent, or what it says of a mutant means nothing.
sound_field=
declare -A is_sound=()
try_sound() {
    local fields=("$@") subject=everything
    [ -z "$sound_field" ] || subject=${fields[$sound_field]}
    [ -z "${is_sound[$subject]:-}" ] || return 0
    breaks=no try_one "$@"
    if ! run_check >"$work/said" 2>&1; then
        echo "The check of $subject speaks although nothing is broken:"
        tail -n 5 "$work/said"
        exit 1
    fi
    is_sound[$subject]=yes
}

# try_all LIST: calls `try_one FIELD...` for each line, which makes $work/check of it and sets `shown` for the table, and
# then `run_check`. A check that does not even start catches nothing, nor one that `timeout` ended, which is all that 124
# says: what it says must match `caught_says`.
try_all() {
    local caught=0 hung=0 all=0 status result fields
    while IFS= read -r line; do
        [ "$all" -lt "$count" ] || break
        IFS=$'\x1f' read -r -a fields < <(sed $'s/ [|] /\x1f/g' <<<"$line")
        try_sound "${fields[@]}"
        all=$((all + 1)) status=0
        breaks=yes try_one "${fields[@]}"
        run_check >"$work/said" 2>&1 || status=$?
        if [ $status -eq 124 ]; then
            hung=$((hung + 1))
            result=hung
        elif [ $status -ne 0 ] && grep -qE "$caught_says" "$work/said"; then
            caught=$((caught + 1))
            result="caught: $(grep -oE "($caught_says).*" "$work/said" | tail -n 1 | cut -c 1-90)"
        else
            result="NOT caught, status $status: $(tail -n 1 "$work/said" | cut -c 1-90)"
        fi
        printf '%s %s\n' "$shown" "$result"
    done < <(ordered "$1")
    echo "$caught of $all caught, $hung hung"
    [ "$all" -gt 0 ] && [ "$caught" -eq "$all" ]
}
