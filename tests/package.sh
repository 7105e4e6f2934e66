#!/usr/bin/env bash
# package.sh: makes the packages (cmake/release.sh) and installs the one for Debian in fresh roots of Debian 12 and 13:
# there the program traces, draws and opens its window, its files are complete, and once removed it leaves nothing.
# With --twice everything is made once more, in another folder and from nothing, and has the same bytes.
# TILEWALK_WEB=OFF goes without the browser edition. Needs root (chroot). Prints one line for each thing; ends with 1 if
# one failed, with 77 where it cannot be tried.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
[ "$(id -u)" -eq 0 ] || { echo "skipped: a fresh root of another system needs root"; exit 77; }
[ -z "$(for tool in debootstrap lintian desktop-file-validate appstreamcli; do command -v $tool >/dev/null || echo $tool; done)" ] ||
    { echo "skipped: needs debootstrap, lintian, desktop-file-utils and appstream"; exit 77; }
work=$(mktemp -d)
mounted=()
clean_up() {
    local place
    for place in "${mounted[@]}"; do umount -l "$place" || true; done
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
failed=0
check() {
    local what=$1 log=$work/log
    shift
    if "$@" >"$log" 2>&1; then
        echo "good    $what"
    else
        echo "FAILED  $what" && tail -n 20 "$log" && failed=1
    fi
}

bash "$root/cmake/release.sh" "$work/release"
check "the checksums" bash -c "cd '$work/release' && sha256sum --check --strict SHA256SUMS"
if [ "${TILEWALK_WEB:-ON}" != OFF ]; then
    check "the browser edition" bash -c "tar tzf '$work/release/tilewalk-site.tar.gz' | diff - <(printf 'tilewalk-site/%s\n' '' index.html tilewalk.js tilewalk.wasm)"
    check "the single file" grep -q tilewalk "$work/release/tilewalk.html"
fi
if [ "${1:-}" = --twice ]; then
    git clone -q "$root" "$work/again"
    bash "$work/again/cmake/release.sh" "$work/second"
    check "made twice, the same bytes" diff "$work/release/SHA256SUMS" "$work/second/SHA256SUMS"
    rm -rf "$work/again"
fi
deb=$(ls "$work"/release/*.deb)
archive=$(ls "$work"/release/tilewalk-linux-*.tar.gz)

# ---- By itself
check "no error of lintian" lintian --allow-root --fail-on error --tag-display-limit 0 "$deb"
dpkg-deb -x "$deb" "$work/unpacked"
check "the desktop entry" desktop-file-validate "$work/unpacked/usr/share/applications/tilewalk.desktop"
check "the AppStream data" appstreamcli validate --no-net "$work"/unpacked/usr/share/metainfo/*.xml
check "the manual page" bash -c "zcat '$work/unpacked/usr/share/man/man1/tilewalk.1.gz' >'$work/page' && test -s '$work/page'"
check "the manual page without a warning" bash -c "groff -man -Tutf8 -ww -K utf8 '$work/page' 2>'$work/warnings' >/dev/null && ! grep . '$work/warnings'"

# Where this system's own packages come from
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1)}

# ---- In a fresh system. files_of: what lies there, without what apt and dpkg write down of their own work.
files_of() { (cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
    -o -path ./var/cache -o -path ./var/log -o -path ./tmp \) -prune -o -print | sort); }
within() { chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive MESA_SHADER_CACHE_DISABLE=1 "$@"; }
try_in() {
    local release=$1
    system=$work/$release
    debootstrap --variant=minbase "$release" "$system" "$mirror" >"$work/log" 2>&1 ||
        { echo "FAILED  debootstrap of $release" && tail -n 5 "$work/log" && failed=1; return; }
    # As on this system: proxies and places of packages.
    cp -r /etc/apt/apt.conf.d/. "$system/etc/apt/apt.conf.d/" 2>/dev/null || true
    cp /etc/resolv.conf "$system/etc/resolv.conf" 2>/dev/null || true
    local place
    for place in proc dev; do mount --bind "/$place" "$system/$place" && mounted+=("$system/$place"); done
    cp "$deb" "$archive" "$system/tmp/"
    check "$release: update" within apt-get update
    check "$release: what the window needs" within apt-get install -y --no-install-recommends xvfb xauth libgl1 libgl1-mesa-dri libegl1
    files_of "$system" >"$work/before"
    check "$release: apt install ./$(basename "$deb")" within sh -c "apt-get install -y --no-install-recommends /tmp/$(basename "$deb")"
    check "$release: trace" within sh -c "tilewalk trace | grep -q 1.639"
    check "$release: render" within sh -c "tilewalk render --step 17 -o /tmp/step.png && test -s /tmp/step.png"
    check "$release: the window" within xvfb-run -a -s "-screen 0 1600x900x24" tilewalk --step 17 --frames 5 --screenshot /tmp/window.png
    check "$release: a picture of it" test -s "$system/tmp/window.png"
    check "$release: the page for man" test -s "$system/usr/share/man/man1/tilewalk.1.gz"
    check "$release: removed" within sh -c "apt-get purge -y tilewalk && apt-get autoremove --purge -y"
    files_of "$system" >"$work/after"
    check "$release: nothing is left" diff "$work/before" "$work/after"
    check "$release: the portable folder" within sh -c "cd /tmp && tar xzf $(basename "$archive") && ./tilewalk-linux-*/bin/tilewalk trace | grep -q 1.639 || ./tilewalk-linux-*/bin/tilewalk trace 2>&1 | grep -q 'this system lacks'"
    check "$release: its window" within sh -c "apt-get install -y --no-install-recommends libx11-6 libxcb1 libxrender1 libxext6 libxcb-render0 libxcb-shm0 && xvfb-run -a /tmp/tilewalk-linux-*/bin/tilewalk --frames 5 --screenshot /tmp/portable.png && test -s /tmp/portable.png"
}
for release in bookworm trixie; do try_in "$release"; done
exit $failed
