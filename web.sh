#!/usr/bin/env bash
# Builds the browser edition, a folder of static files, and serves it; sets up what is missing. ./web.sh --help
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

usage() {
    cat <<'TEXT'
./web.sh [--build-only] [-o FOLDER] [--port N]
  without options: builds the browser edition into ./site and serves it on this machine
  -o FOLDER      where its files go [site]: index.html, tilewalk.js, tilewalk.wasm, and tilewalk.html, all in one file
  --build-only   serves nothing
  --port N       [8000]
TEXT
}

site=$root/site port=8000 serve=1
while [ $# -gt 0 ]; do
    case $1 in
        --build-only) serve=0 ;;
        -o) site=$(realpath -m "${2:?-o needs a folder}"); shift ;;
        --port) port=${2:?--port needs a number}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) say "$1 is not known; ./web.sh --help"; exit 2 ;;
    esac
    shift
done

build=$root/build-web
# What compiles for a browser, beside what ./run.sh needs for its headers
set_up emscripten python3-fonttools brotli dpkg-dev fonts-inter fonts-dejavu-core

# Only the letters that the program draws
cut_fonts() {
    local stamp=$build/fonts.cut
    [ -e "$stamp" ] && [ "$stamp" -nt "$root/app/ui/kit/fonts.cpp" ] && [ "$stamp" -nt "$root/cmake/web/cut_fonts.py" ] && return
    rm -rf "$build/fonts"
    run_logged "$build/fonts.log" "cutting the fonts" /usr/bin/python3 "$root/cmake/web/cut_fonts.py" "$root/app/ui/kit/fonts.cpp" "$build/fonts"
    touch "$stamp"
}

# Emscripten's own settings, with its libraries where this user may write them
export EM_CONFIG=$build/emscripten.cfg NODE_PATH=/usr/share/nodejs
configure_emscripten() {
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/emscripten
    mkdir -p "$cache" "$build"
    sed 's/^FROZEN_CACHE.*/FROZEN_CACHE = False/' /usr/share/emscripten/.emscripten >"$EM_CONFIG"
    printf "\nCACHE = '%s'\n" "$cache" >>"$EM_CONFIG"
}

# Debian has these two compiled for this machine only, so it is their sources that are used.
fetch_sources "$build" imgui highway
cut_fonts
configure_emscripten
say "building the browser edition (the first time takes twenty minutes)"
emcmake cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEWALK_MPI=OFF \
    -DTILEWALK_WEB_SOURCES="$build/sources" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >"$build/configure.log" 2>&1 ||
    { tail -n 20 "$build/configure.log"; exit 1; }
ninja -C "$build" -j "$(nproc)" tilewalk_web tilewalk_kernels_program
python3 "$root/cmake/web/assemble.py" "$build/page" "$root/app/web" "$site"
if [ $serve = 1 ]; then
    say "http://localhost:$port/ (Ctrl C ends it)"
    exec python3 -m http.server --bind 127.0.0.1 --directory "$site" "$port"
fi
