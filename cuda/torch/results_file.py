"""A results file as `tilewalk bench --format json` writes it (docs/bench-format.md)."""
import datetime
import json
import math
import os
import platform
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def flops(w):
    n = w["seqlen"]
    seen = n * (n + 1) // 2 if w["causal"] else n * n
    return (4 if w["direction"] == "forward" else 10) * w["head_dim"] * w["batch"] * w["heads"] * seen


def new_point(w, name, dtype):
    return {"device": "cuda", "kernel": name, **w, "dtype": dtype, "state": "cancelled", "verified": False,
            "max_error": None, "error_limit": None, "median_s": None, "p20_s": None, "p80_s": None,
            "first_s": None, "runs": 0, "seconds": [], "tflops": None, "peak_flops": 0,
            "workspace_bytes": None, "model_bytes": 0, "peak_rss_bytes": None, "skipped": "Cancelled."}


def refuse(point, state, reason):
    point.update(state=state, skipped=reason, workspace_bytes=None, first_s=None)


def nearest_rank(values, part):
    ordered = sorted(values)
    return ordered[max(1, math.ceil(part * len(ordered))) - 1]


def finish(point, seconds, gemm):
    median = nearest_rank(seconds, .5)
    point.update(state="measured", skipped=None, seconds=seconds, runs=len(seconds), median_s=median,
                 p20_s=nearest_rank(seconds, .2), p80_s=nearest_rank(seconds, .8),
                 tflops=flops(point) / median / 1e12, peak_flops=gemm)


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"VERSION (\d+\.\d+\.\d+)", file.read()).group(1)


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def driver_version():
    lines = output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").splitlines()
    return lines[0] if lines else "unknown"


def memory_of_host():
    try:
        with open("/proc/meminfo") as file:
            fields = dict(line.split(":", 1) for line in file)
        return [int(fields[key].split()[0]) * 1024 for key in ("MemTotal", "MemAvailable")]
    except (OSError, KeyError, ValueError):
        return [0, 0]


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown"


def report(gpu, driver, versions, limit):
    total, available = memory_of_host()
    nvcc = output_of("nvcc", "--version").splitlines()
    return {"schema": "tilewalk-bench-1",
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"),
            "command": "cuda/torch/run.sh " + " ".join(os.environ.get("TILEWALK_WORDS", "").split()),
            "complete": False, "peak_flops": 0, "memory_limit": limit,
            "machine": {"cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)), "threads": 0, "instructions": "",
                        "product_library": "", "memory_total": total, "memory_available": available,
                        "system": platform.platform(), "gpu": gpu, "driver": driver},
            "build": {"version": version(), "commit": os.environ.get("TILEWALK_COMMIT") or
                      output_of("git", "rev-parse", "--short", "HEAD") or "unknown",
                      "compiler": nvcc[-2] if len(nvcc) > 1 else "unknown", "flags": "-O3"},
            "x-torch": versions, "points": []}


def write(path, result):
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def default_output(gpu):
    name = gpu.lower().replace("nvidia", "").strip().replace(" ", "-")
    return os.path.join(ROOT, "assets", "bench", name + ".json")


def show(w, points):
    print(f"{w['direction']}, N = {w['seqlen']}, d = {w['head_dim']}{', causal' if w['causal'] else ''}", flush=True)
    for p in points:
        text = f"{p['state']}: {p['skipped']}"
        if p["state"] == "measured":
            of_gemm = 100 * p["tflops"] * 1e12 / p["peak_flops"]
            text = f"{p['median_s'] * 1e3:9.3f} ms {p['tflops']:8.1f} TFLOP/s {of_gemm:5.1f} %"
        print(f"  {p['kernel']:16} {p['dtype']:5} {text}", flush=True)
