# Sourced by the scripts that break one line at a time.

# ordered LIST: one of each class before the others
ordered() {
    grep -v '^#' "$1" |
        awk -F ' [|] ' '{ if (seen[$1]++) later[n++] = $0; else print } END { for (k = 0; k < n; k++) print later[k] }'
}

# mutate FILE WHAT INSTEAD: exactly one place; @ stands for the end of a line.
mutate() {
    python3 - "$@" <<'PYTHON'
import sys
path, what, instead = sys.argv[1], sys.argv[2].replace("@", "\n"), sys.argv[3].replace("@", "\n")
text = open(path, encoding="utf-8").read()
if text.count(what) != 1:
    sys.exit(f"mutants.txt: {path.rsplit('/')[-1]} has this {text.count(what)} times: {what}")
open(path, "w", encoding="utf-8").write(text.replace(what, instead))
PYTHON
}
