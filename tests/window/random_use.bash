# Sourced by tests/soak.sh and tests/starts.sh, which say what they do.

# random_use NAME HOW_MUCH [NUMBER] [--seed S]: window/NAME.py under a display of its own, with a home of its own.
random_use() {
    local name=$1 much=$2 seed=1
    shift 2
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) sed -n '/^# /s/^# \?//p; /^#$/s/#//p' "$0" && exit ;;
            --seed) seed=${2:-} && shift ;;
            *) much=$1 ;;
        esac
        shift
    done
    [[ $much =~ ^[0-9]+$ && $seed =~ ^[0-9]+$ ]] || { sed -n 's/^#  *tests/tests/p' "$0" >&2 && exit 2; }
    if [ -z "${TILEWALK_PROGRAM:-}" ]; then
        source "$here/../cmake/setup.sh"
        set_up xvfb xauth xdotool python3
        build build release tilewalk
        TILEWALK_PROGRAM=$root/build/tilewalk
    fi
    source "$here/window/common.bash" "$(realpath "$TILEWALK_PROGRAM")"
    export HOME=$folder XDG_CACHE_HOME=$folder/cache XDG_DATA_HOME=$folder/data TMPDIR=$folder LIBGL_ALWAYS_SOFTWARE=1 PYTHONDONTWRITEBYTECODE=1
    xvfb-run -a -s '-screen 0 1920x1080x24 -noreset' python3 "$here/window/$name.py" "$program" "$much" "$seed" "$folder"
}
