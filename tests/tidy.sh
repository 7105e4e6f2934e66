#!/usr/bin/env bash
# tidy.sh [--all]: clang-tidy over the sources, with the settings of .clang-tidy.
#
# A unit (the files that are compiled together) that was found clean is remembered in build-tidy/tidy, together with
# every header of ours that it includes, and is not looked at again until one of them changes. What changed last in the
# history comes first. Without --all it begins none after 75 seconds, so that it stays under two minutes, and says how
# many are left.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-tidy
for tool in clang++ clang-tidy; do
    command -v $tool >/dev/null || { echo "tidy: there is no $tool"; exit 77; }
done
# Without precompiled headers, which are not for clang-tidy; nothing is compiled here.
(cd "$root" && cmake --preset tidy && ninja -C "$build" app/glad/include/glad/gl.h) >/dev/null
exec python3 - "$root" "$build" "$@" <<'PYTHON'
import concurrent.futures, hashlib, json, os, pathlib, re, shutil, subprocess, sys, time

root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
everything = "--all" in sys.argv[3:]
seconds = 75
include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def tool():
    for name in ("clang-tidy-14", "clang-tidy"):
        if shutil.which(name) and "version 14." in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name


# Name of the unit: how it is compiled. Some are compiled more than once; what is generated is not ours to mend.
def commands():
    out = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(build) and "Unity" not in file.parts:
            continue
        out.setdefault(str(file.relative_to(root)), entry)
    return out


# The unit and all of ours that it includes
def files_of(unit):
    seen, todo = set(), [unit]
    while todo:
        name = todo.pop().removeprefix(f"{root}/")
        if name in seen or not (root / name).is_file():
            continue
        seen.add(name)
        todo += include.findall((root / name).read_text())
    return sorted(seen)


def key_of(unit, settings):
    digest = hashlib.sha256(settings)
    for name in files_of(unit):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


# Changed units first, then by how recently the history changed them; those of the tests last
def order(units):
    git = lambda *words: subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True).stdout
    recent = [line[3:] for line in git("status", "--porcelain").splitlines()]
    recent += git("log", "--name-only", "--format=").split()
    place = {}
    for n, name in enumerate(recent):
        place.setdefault(name, n)
    age = lambda unit: min(place.get(name, len(recent)) for name in files_of(unit) if name.endswith((".cpp", ".cu", ".cxx")))
    return sorted(units, key=lambda unit: ("tests/" in unit, age(unit), unit))


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
keys = {unit: key_of(unit, settings) for unit in known}
todo = [unit for unit in order(known) if keys[unit] not in clean]
until = time.monotonic() + seconds


def look_at(unit):
    if not everything and time.monotonic() > until:
        return unit, None
    return unit, subprocess.run([name, "--quiet", "-p", str(folder), str(root / unit)], capture_output=True, text=True)


# What is found in a library's header is not ours to mend; and clang 14 cannot yet let a lambda hold a structured
# binding, which C++20 allows and doctest's messages need.
def faults(text):
    return [line for line in text.splitlines()
            if line.startswith(f"{root}/") and "error: " in line and "reference to local binding" not in line]


bad = left = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for unit, result in pool.map(look_at, todo):
        if result is None:
            left += 1
        elif result.returncode == 0 or not faults(result.stdout):
            with clean_file.open("a") as out:
                out.write(keys[unit] + "\n")
        else:
            bad += 1
            print(result.stdout, flush=True)
print(f"tidy: {len(known) - bad - left} of {len(known)} units are clean, {bad} are not" +
      (f"; {left} are left for the next run (--all takes them now)" if left else ""))
sys.exit(1 if bad else 0)
PYTHON
