# Sourced by run.sh and test.sh: installs what is missing and builds. Everything said goes to stderr, because
# stdout belongs to the program.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
needed_cmake=3.25
tools=$root/build/tools # private copies of tools that the distribution has too old

say() { printf 'tilewalk: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

# How far the command is that writes this log: "step 12 of 345", "unpacking 3 of 42"; nothing if it does not say.
how_far() {
    awk '
        match($0, /^\[[0-9]+\/[0-9]+\]/) { split(substr($0, 2, RLENGTH - 2), of, "/"); told = "step"; done = of[1]; all = of[2] }
        match($0, /^ *[0-9]+\/[0-9]+ Test +#/) { split(substr($0, 1, RLENGTH), of, /[ \/]+/); told = "test"; done = of[1] ? of[1] : of[2]; all = of[1] ? of[2] : of[3] }
        match($0, /^[0-9]+ upgraded, [0-9]+ newly installed/) { all = $1 + $3; split("", seen) }
        /^Get:/ { told = "fetching"; done = ++seen[told] }
        /^Unpacking / { told = "unpacking"; done = ++seen[told] }
        /^Setting up / { told = "setting up"; done = ++seen[told] }
        END { if (all && done <= all) printf "%s %d of %d", told, done, all }' "$1" 2>/dev/null || true
}

# "0:45"; behind "step 12 of 345" also how long the rest takes if it goes on like this.
time_told() {
    local seconds=$1 far=$2 done all left
    printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
    [[ $far =~ ^step\ ([0-9]+)\ of\ ([0-9]+)$ ]] || return 0
    done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    [ $((done * 20)) -ge "$all" ] && [ "$seconds" -ge 10 ] || return 0
    left=$((seconds * (all - done) / done))
    if [ "$left" -ge 90 ]; then
        printf ', about %d minutes left' $(((left + 30) / 60))
    else
        printf ', about %d seconds left' $((left / 10 * 10 + 10))
    fi
}

on_terminal() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; }

# tell_progress LOG WHAT: until it is ended, how far the command is that writes this log. On a terminal in a line that is
# written anew every second, elsewhere in a line every half minute.
tell_progress() {
    local log=$1 what=$2 begun=$SECONDS passed far text every=30
    if on_terminal; then every=1; fi
    while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        passed=$((SECONDS - begun))
        if [ $passed -lt 2 ] || [ $((passed % every)) -ne 0 ]; then continue; fi
        far=$(how_far "$log")
        text="tilewalk: $what, ${far:+$far, }$(time_told $passed "$far")"
        if [ $every -eq 1 ]; then
            printf '\r%s\033[K' "${text:0:$((${COLUMNS:-80} - 1))}" >&2
        else
            printf '%s\n' "$text" >&2
        fi
    done
}

# with_progress LOG WHAT COMMAND... : the output goes to the log; meanwhile it is told how far it is.
with_progress() {
    local log=$1 what=$2 status=0 teller
    shift 2
    mkdir -p "$(dirname "$log")"
    : >"$log"
    # Without the lock (9): neither this nor a service that a package starts must hold on to it.
    tell_progress "$log" "$what" 9>&- </dev/null >/dev/null &
    teller=$!
    "$@" >"$log" 2>&1 </dev/null 9>&- || status=$?
    kill $teller 2>/dev/null || true
    wait $teller 2>/dev/null || true
    if on_terminal; then printf '\r\033[K' >&2; fi
    return $status
}

# run_logged LOG WHAT COMMAND... : the output goes to the log and is shown only if the command fails.
run_logged() {
    local log=$1 what=$2
    with_progress "$@" && return
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" >&2 || true # without the steps that went well
    die "$what failed; the output above is in $log"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "packages are missing and neither root nor sudo is at hand. As root: $*"
    fi
}

# Version A is at least version B.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# Prints those of the given packages that are not installed, one per line.
missing_packages() {
    # dpkg-query fails for names it has never heard of; those are missing as well.
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    local package
    for package in "$@"; do
        grep -qxF "installed $package" <<<"$installed" || echo "$package"
    done
}

packages_told() { if [ "$1" -eq 1 ]; then echo "1 package"; else echo "$1 packages"; fi; }

install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] && return
    say "installing $(packages_told "${#missing[@]}"), with what they need (some minutes): ${missing[*]}"
    # Asks for the password here, where it can be seen, and not into the log.
    [ "$(id -u)" -eq 0 ] || ! command -v sudo >/dev/null || sudo -v || die "sudo was refused"
    run_logged "$root/build/packages.log" "apt-get update" as_root apt-get update
    run_logged "$root/build/packages.log" "apt-get install" \
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# fetch_sources FOLDER PACKAGE...: the sources of Debian's packages into FOLDER/sources, for what is compiled for another
# processor than this one.
fetch_sources() {
    local folder=$1 release mirror package options
    shift
    local here=$folder/sources private=$folder/apt
    mkdir -p "$here" "$private/lists/partial" "$private/cache/archives/partial"
    for package in "$@"; do compgen -G "$here/$package-*/debian/control" >/dev/null || break; done
    if compgen -G "$here/$package-*/debian/control" >/dev/null; then return; fi
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # Where the packages of this system come from, asked for sources
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" | head -n 1)
    echo "deb-src ${mirror:?no package sources are known} $release main" >"$private/sources.list"
    options=(-o "Dir::Etc::sourcelist=$private/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$private/lists"
        -o "Dir::Cache=$private/cache" -o APT::Sandbox::User=root)
    say "fetching the sources of $*"
    (cd "$here" && apt-get -qq "${options[@]}" update && apt-get -qq "${options[@]}" source --download-only "$@")
    (cd "$here" && for file in *.dsc; do dpkg-source -x --no-check "$file" >/dev/null; done)
}

# Tools count as there when they can be called, wherever they come from.
tool_packages() {
    command -v g++ >/dev/null || echo g++
    command -v cmake >/dev/null || echo cmake
    command -v ninja >/dev/null || echo ninja-build
    command -v pkg-config >/dev/null || echo pkg-config
}

# The version of the glad package that is installed or could be; empty if there is none.
glad_version() {
    local version
    version=$(dpkg-query -W -f '${db:Status-Status} ${Version}' python3-glad 2>/dev/null || true)
    if [[ $version == installed* ]]; then
        echo "${version#installed }"
    elif command -v apt-cache >/dev/null; then
        apt-cache policy python3-glad | sed -n 's/^ *Candidate: \([0-9].*\)/\1/p'
    fi
}

# Puts newer versions into a virtual environment of Python's, without touching the system.
private_tools() {
    export PATH=$tools/bin:$PATH
    local stamp=$tools/.complete
    [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$*" ] && return
    install_packages python3 python3-venv
    say "getting a newer $* for this build alone, into build/tools"
    rm -rf "$tools"
    run_logged "$root/build/tools.log" "python3 -m venv" /usr/bin/python3 -m venv "$tools"
    run_logged "$root/build/tools.log" "pip install $*" "$tools/bin/pip" install --disable-pip-version-check "$@"
    echo "$*" >"$stamp"
}

# nvcc and what it compiles with, for this build alone, without touching the system: where it is asked for or a GPU is
# seen, and no toolkit is there. Without network the build is one without CUDA. cmake/cuda.cmake finds it.
nvcc_folder=$root/build/nvcc usual_nvcc=/usr/local/cuda/bin/nvcc
nvcc_packages=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl nvidia-nvtx)
gpu_is_seen() {
    [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null || ldconfig -p 2>/dev/null | grep -F libcuda.so.1 >/dev/null
}
# The CUDA that the driver knows, "12.4"; empty where it cannot be asked.
cuda_of_driver() { nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p'; }
private_nvcc() {
    local wanted=${TILEWALK_CUDA:-AUTO} knows stamp=$nvcc_folder/.complete failed=$root/build/nvcc.failed
    if [ "$wanted" = OFF ] || [ -n "${CUDACXX:-}" ] || command -v nvcc >/dev/null || [ -x "$usual_nvcc" ] ||
        [ -e "$stamp" ]; then return 0; fi
    if [ "$wanted" != ON ]; then
        gpu_is_seen || return 0
        knows=$(cuda_of_driver)
        if [ -n "$knows" ] && ! at_least "$knows" 13.0; then
            say "the NVIDIA driver knows CUDA $knows; kernels for the GPU need driver 580 or later. Building without CUDA"
            return 0
        fi
        # What failed is tried again the next day.
        [ -z "$(find "$failed" -mmin -1440 2>/dev/null)" ] || return 0
        say "a GPU is here and no nvcc"
    fi
    # Debian has in a package of its own what environments of Python's are made with; where that fails, so does get_nvcc.
    if ! makes_environments && command -v apt-get >/dev/null; then (install_packages python3 python3-venv) || true; fi
    say "getting nvcc 13.0 from PyPI (130 MB) for this build alone, into build/nvcc; TILEWALK_CUDA=OFF goes without"
    if with_progress "$root/build/nvcc.log" "getting nvcc" get_nvcc; then
        touch "$stamp"
        rm -f "$failed" "$root/build/build.ninja" # what was configured without it
    else
        touch "$failed"
        say "nvcc could not be had (build/nvcc.log says why; no network?). Building without CUDA; tried again tomorrow, or with TILEWALK_CUDA=ON"
    fi
}
makes_environments() { /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null; }
get_nvcc() {
    rm -rf "$nvcc_folder"
    local python=/usr/bin/python3
    [ -x "$python" ] || python=python3
    "$python" -m venv "$nvcc_folder" || return 1
    "$nvcc_folder/bin/pip" install --disable-pip-version-check --retries 1 --timeout 15 \
        "${nvcc_packages[@]/%/==13.0.*}" || return 1
    (cd "$nvcc_folder" && ln -s lib/python3*/site-packages/nvidia/cu13 cuda && ln -s lib cuda/lib64) &&
        "$nvcc_folder/cuda/bin/nvcc" --version
}

# set_up [PACKAGE...]: everything that building needs, and the packages named.
set_up() {
    # Two of these scripts at once would write the same files. The lock ends with the script; one that another of them
    # has called (./test.sh package calls cmake/release.sh) has its caller's.
    mkdir -p "$root/build" && : >>"$root/build/lock" ||
        die "cannot write to $root/build, where it is built (what is built there already runs as build/tilewalk)"
    if [ "${TILEWALK_LOCKED:-}" != "$root" ]; then
        exec 9>"$root/build/lock"
        flock -n 9 || { say "waiting for another ./run.sh or ./test.sh in this folder" && flock 9; }
        export TILEWALK_LOCKED=$root
    fi
    trap 'say "interrupted; called again, it goes on from here" && exit 130' INT

    local old=()
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        local packages
        mapfile -t packages < <(tool_packages)
        packages+=(libimgui-dev libglfw3-dev libeigen3-dev libhwy-dev libboost-context-dev libopenblas0-pthread doctest-dev
            libcairo2-dev libstb-dev libcli11-dev nlohmann-json3-dev fonts-inter fonts-dejavu-core mold)
        install_packages "${packages[@]}" "$@"
        if at_least "$(glad_version)" 2; then
            install_packages python3-glad
        else
            old+=("glad2<3" setuptools)
        fi
    else
        say "this is neither Debian nor Ubuntu; the libraries that the README lists must be there"
    fi
    at_least "$(cmake --version | sed -n '1s/[^0-9]*//p')" "$needed_cmake" || old+=("cmake>=$needed_cmake,<4")
    if [ ${#old[@]} -gt 0 ]; then private_tools "${old[@]}"; fi
    private_nvcc
}

# The preset of the sanitizers goes without CUDA. ON is a wish here: without nvcc it is built without, and said so.
cuda_option() {
    if [ "$1" != release ] || [ "$TILEWALK_CUDA" = OFF ]; then echo OFF; else echo AUTO; fi
}

# build FOLDER PRESET TARGET [-DOPTION=VALUE...]: configures if need be, then builds; quick when nothing changed. An
# option stays for later builds in that folder.
build() {
    local folder=$root/$1 preset=$2 target=$3
    shift 3
    local glad=()
    if [ -x "$tools/bin/glad" ]; then glad=("-DGLAD_EXE=$tools/bin/glad"); fi
    # A build folder that was copied or moved here with its sources still refers to the old place.
    if [ ! -f "$folder/build.ninja" ] ||
        ! grep -sqxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
        say "configuring and building ${folder##*/}: the first time takes some minutes, later starts are instant"
        (cd "$root" && run_logged "$folder/configure.log" "configuring" \
            cmake --preset "$preset" --fresh "${glad[@]}" ${TILEWALK_CUDA:+-DTILEWALK_CUDA=$(cuda_option "$preset")} "$@")
    else
        if [ $# -gt 0 ]; then run_logged "$folder/configure.log" "configuring" cmake "$@" "$folder"; fi
        if [ -n "$(sources_newer_than "$folder/built-$target")" ]; then say "building ${folder##*/}"; fi
    fi
    run_logged "$folder/build.log" "building" ninja -C "$folder" -j "$(nproc)" "$target"
    touch "$folder/built-$target"
}

# Only decides whether to announce a build; ninja itself decides what to build.
sources_newer_than() {
    (cd "$root" && find CMakeLists.txt CMakePresets.json app assets cmake core cuda tests \
        -newer "$1" -print -quit 2>/dev/null || echo unknown)
}
