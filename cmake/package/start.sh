#!/bin/sh
# Starts Tilewalk from its folder, or says what this system lacks.
here=$(cd "$(dirname "$(readlink -f "$0")")/../lib/tilewalk" && pwd) || exit 1
missing=$(ldd "$here/tilewalk" 2>&1 | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p; s/.*version `\([^'\'']*\)'\'' not found.*/\1/p' | sort -u | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "tilewalk: this system lacks ${missing% }; needed are glibc 2.36, libstdc++ of gcc 12 and the X11 libraries, or newer ones." >&2
    exit 1
fi
export TILEWALK_FONTS="$here/fonts"
exec "$here/tilewalk" "$@"
