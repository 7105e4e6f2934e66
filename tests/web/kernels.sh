#!/usr/bin/env bash
# kernels.sh CHECK PAGE.JS KERNELS.WASM: the kernels as the browser edition carries them beside those of this machine, by
# tilewalk_check_web_kernels and the page's own script in node. Exit code 77 where there is no node.
set -euo pipefail
node=$(command -v node || command -v nodejs) || { echo "kernels.sh: there is no node"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder" >/dev/null
"$node" "$(dirname "$0")/kernels.js" "$2" "$3" "$folder"
"$1" "$folder"
