# Sourced by the scripts beside it, with their PROGRAM: a folder of their own for settings and pictures, and a way to fail.
program=$1
folder=$(mktemp -d)
export XDG_CONFIG_HOME=$folder
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}
