#!/usr/bin/env bash
# cmake/release.sh [FOLDER]: makes everything that a release has into FOLDER (build-release): the package for Debian and
# Ubuntu, the portable folder as an archive, the browser edition as an archive and as a single file (TILEWALK_WEB=OFF goes
# without), and their checksums. docs/releasing.md says more. The same commit on the same system is meant to give the same
# bytes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

out=$(realpath -m "${1:-$root/build-release}")
set_up dpkg-dev file patchelf fontconfig
build_folder=$root/build-package
[ -z "$(git -C "$root" status --porcelain)" ] || die "there are changes that are not committed; a release is made of a commit"
# Everything that is written is dated by the commit.
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
run_logged "$build_folder/configure.log" "configuring" cmake -S "$root" -B "$build_folder" -G Ninja \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" \
    "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$root=." -DTILEWALK_PORTABLE=ON -DTILEWALK_MPI=OFF \
    "-DTILEWALK_CUDA=${TILEWALK_CUDA:-AUTO}" -DTILEWALK_CUDA_ARCHITECTURES=ALL
say "building what is packed in $build_folder; the first time takes some minutes"
run_logged "$build_folder/build.log" "building" cmake --build "$build_folder" --target tilewalk

# ---- The package
rm -rf "$build_folder/packages"
(cd "$build_folder" && run_logged "$build_folder/cpack.log" "packing" cpack -G DEB -B packages -D CPACK_CMAKE_GENERATOR=Ninja \
    -D "CPACK_INSTALL_CMAKE_PROJECTS=$build_folder;tilewalk;ALL;/")
mkdir -p "$out"
rm -f "$out"/tilewalk_*_*.deb "$out"/tilewalk-*.tar.gz "$out/tilewalk.html" "$out/SHA256SUMS"
cp "$build_folder"/packages/*.deb "$out/"

# ---- The portable folder: the program, and beside it what a system may have in another version. What belongs to the
# system stays the system's: the C library, OpenGL with its driver, and what talks to the display.
folder=$build_folder/portable/tilewalk-linux-$(uname -m)
rm -rf "$build_folder/portable"
run_logged "$build_folder/install.log" "installing" env DESTDIR= cmake --install "$build_folder" --strip --prefix "$folder"
mkdir -p "$folder/lib/tilewalk"
mv "$folder/bin/tilewalk" "$folder/lib/tilewalk/tilewalk"
ldd "$folder/lib/tilewalk/tilewalk" | awk '$3 ~ /^\// {print $1, $3}' | while read -r name path; do
    case $name in
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libgcc_s.so.* | libstdc++.so.* | libGL* | libEGL* | \
            libX* | libxcb*) ;;
        *) cp -L "$path" "$folder/lib/tilewalk/$name" && patchelf --set-rpath '$ORIGIN' "$folder/lib/tilewalk/$name" ;;
    esac
done
patchelf --set-rpath '$ORIGIN' "$folder/lib/tilewalk/tilewalk"
mkdir "$folder/lib/tilewalk/fonts"
cp -L $(fc-list --format '%{file}\n' | grep -E '/(Inter-(Regular|Medium|SemiBold|Italic|SemiBoldItalic)|DejaVuSans(Mono)?(-Bold|-Oblique|-BoldOblique)?)\.(otf|ttf)$' |
    sort) "$folder/lib/tilewalk/fonts/"
install -m 755 "$root/cmake/package/start.sh" "$folder/bin/tilewalk"
# archive PARENT FOLDER: packed, in one order and with one date
archive() {
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -c "$2" | gzip -9n >"$out/$2.tar.gz"
}
archive "$build_folder/portable" "$(basename "$folder")"

# ---- The browser edition
if [ "${TILEWALK_WEB:-ON}" != OFF ]; then
    rm -rf "$build_folder/web"
    bash "$root/web.sh" --build-only -o "$build_folder/web/tilewalk-site"
    mv "$build_folder/web/tilewalk-site/tilewalk.html" "$out/"
    archive "$build_folder/web" tilewalk-site
fi

(cd "$out" && sha256sum tilewalk_*.deb tilewalk-*.tar.gz $(ls tilewalk.html 2>/dev/null) >SHA256SUMS)
say "made:"
(cd "$out" && ls -l | tail -n +2) >&2
