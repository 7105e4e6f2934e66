#!/usr/bin/env bash
# Looks for uninitialised memory in core and io: their tests in valgrind, which sees what the libraries do as well.
#
#     tests/memory.sh [SECONDS]
#
# Each entry of ctest that takes less than SECONDS [0.5] by itself; in valgrind it takes thirty to sixty times as long.
# Which were left out is told. Ends with 1 for a finding, where nothing was looked at, for what does not run to its end, and
# for what fails in valgrind alone unless it is among those that are permitted to, each with its reason.
# MemorySanitizer would need a standard library that is built with it: the first look-up in a std::map is a false alarm.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
set_up valgrind python3
for part in core io; do build build release "tilewalk_test_$part"; done
exec python3 - "$root/build" "${1:-0.5}" <<'PYTHON'
import json
import subprocess
import sys
import time

build, most = sys.argv[1], float(sys.argv[2])
entries = json.loads(subprocess.run(["ctest", "--test-dir", build, "-L", "^(core|io)$", "--show-only=json-v1"],
                                    capture_output=True, check=True).stdout)["tests"]
# What may fail there, and why; a finding or a signal is never permitted.
permitted = {
    "core/base/numbers": "valgrind's long double has 64 bits",
    "core/cpu/lanes": "valgrind is slower than the least peak of a machine",
    "core/lessons/contract": "valgrind's long double has 64 bits: what formulas come to is worked out in it",
    "core/lessons/savings": "the same",
    "core/base/spare_memory": "valgrind has an allocator of its own, which gives nothing back",
}


def reason(name):
    """Of an entry, or of the one that it is a part of: core/lessons/contract/9."""
    return permitted.get(name) or permitted.get(name.rsplit("/", 1)[0])


valgrind = ["valgrind", "--quiet", "--error-exitcode=99", "--trace-children=no", "--num-callers=25"]
found, long, differ, failed, looked_at = [], [], [], [], 0
for entry in entries:
    command = entry.get("command")
    if not command or "tilewalk_test_" not in command[0]:
        continue
    began = time.monotonic()
    plain = subprocess.run(command, capture_output=True, check=False)
    if time.monotonic() - began > most or plain.returncode == 77:
        long.append(entry["name"])
        continue
    if plain.returncode != 0:
        failed.append(f"{entry['name']} (without valgrind, too)")
        continue
    done = subprocess.run(valgrind + command, capture_output=True, check=False)
    looked_at += 1
    if done.returncode == 99:
        found.append(entry["name"])
        print(f"{entry['name']}\n{done.stderr.decode(errors='replace')[:4000]}", flush=True)
    elif done.returncode < 0 or done.returncode > 128:
        # Ended by a signal: an instruction that valgrind does not know, or valgrind itself
        signal = -done.returncode if done.returncode < 0 else done.returncode - 128
        failed.append(f"{entry['name']} (signal {signal} in valgrind)")
    elif done.returncode == 1 and reason(entry["name"]):
        differ.append(f"{entry['name']} ({reason(entry['name'])})")
    elif done.returncode != 0:
        failed.append(f"{entry['name']} ({done.returncode} in valgrind alone)")
        print(f"{entry['name']}\n{done.stdout.decode(errors='replace')[-2000:]}", flush=True)
print(f"left out as too long: {', '.join(long) or 'none'}")
print(f"permitted to fail in valgrind: {', '.join(differ) or 'none'}")
print(f"{looked_at} entries looked at, {len(found)} with findings{': ' + ', '.join(found) if found else ''}")
if failed:
    print(f"failed: {', '.join(failed)}")
if looked_at == 0:
    print("no entry was looked at: are the tests built?")
sys.exit(bool(found or failed or looked_at == 0))
PYTHON
