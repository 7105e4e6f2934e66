#!/usr/bin/env bash
# tidy.sh [--all]: clang-tidy over the sources, with the settings of .clang-tidy.
#
# A file that was found clean is remembered in build-tidy/tidy, together with every header of ours that it includes, and
# is not looked at again until one of them changes. What changed last in the history comes first. Without --all it
# stops beginning files after 90 seconds, so that it stays under two minutes, and says how many are left.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-tidy
command -v clang-tidy >/dev/null || { echo "tidy: there is no clang-tidy"; exit 77; }
# Every file alone, without precompiled headers, which are not for clang; nothing is compiled here.
(cd "$root" && cmake --preset tidy && ninja -C "$build" app/glad/include/glad/gl.h) >/dev/null
exec python3 - "$root" "$build" "$@" <<'PYTHON'
import concurrent.futures, hashlib, json, os, pathlib, re, shutil, subprocess, sys, time

root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
everything = "--all" in sys.argv[3:]
seconds = 90
include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def tool():
    for name in ("clang-tidy-14", "clang-tidy"):
        if shutil.which(name) and "version 14." in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name


def commands():
    out = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if not file.is_relative_to(root) or file.relative_to(root).parts[0] not in ("app", "core", "cuda", "tests"):
            continue
        out.setdefault(str(file.relative_to(root)), entry)  # some are compiled more than once
    return out


# What the file and all that it includes of ours say
def key_of(file, settings):
    seen, todo, digest = set(), [file], hashlib.sha256(settings)
    while todo:
        name = todo.pop()
        if name in seen or not (root / name).is_file():
            continue
        seen.add(name)
        text = (root / name).read_text()
        digest.update(text.encode())
        todo += include.findall(text)
    return digest.hexdigest()


# Changed files first, then by how recently the history changed them
def order(files):
    git = lambda *words: subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True).stdout
    recent = [line[3:] for line in git("status", "--porcelain").splitlines()]
    recent += git("log", "--name-only", "--format=").split()
    place = {}
    for n, name in enumerate(recent):
        place.setdefault(name, n)
    return sorted(files, key=lambda name: (place.get(name, len(recent)), name))


name = tool()
if not name:
    print("tidy: there is no clang-tidy 14")
    sys.exit(77)
folder = build / "tidy"
folder.mkdir(exist_ok=True)
known = commands()
(folder / "compile_commands.json").write_text(json.dumps(list(known.values())))
settings = (root / ".clang-tidy").read_bytes()
clean_file = folder / "clean"
clean = set(clean_file.read_text().split()) if clean_file.exists() else set()
keys = {file: key_of(file, settings) for file in known}
todo = [file for file in order(known) if keys[file] not in clean]
until = time.monotonic() + seconds


def look_at(file):
    if not everything and time.monotonic() > until:
        return file, None
    return file, subprocess.run([name, "--quiet", "-p", str(folder), str(root / file)], capture_output=True, text=True)


bad = left = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for file, result in pool.map(look_at, todo):
        if result is None:
            left += 1
        elif result.returncode == 0:
            with clean_file.open("a") as out:
                out.write(keys[file] + "\n")
        else:
            bad += 1
            print(result.stdout, flush=True)
print(f"tidy: {len(known) - bad - left} of {len(known)} files are clean, {bad} are not" +
      (f"; {left} are left for the next run (--all takes them now)" if left else ""))
sys.exit(1 if bad else 0)
PYTHON
