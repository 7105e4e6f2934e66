#!/usr/bin/env python3
"""The kernels of the CPU beside PyTorch's scaled dot product attention, decoding, in one run.

For each shape PyTorch is timed, then `tilewalk bench` runs, then PyTorch is timed again, all with the same
number of threads: what disturbs the machine for a while is not all on one side. PyTorch's output is held against attention in
fp64 by the rule of docs/bench-format.md before it is timed. Without PyTorch the kernels are measured alone. The
result is one file as `tilewalk bench --format json` writes it, with points torch-flash and torch-math.

    compare_with_torch.py --program build/tilewalk --output assets/bench/decode.json
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # leaves no folder beside the sources
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "cuda", "torch"))
from results_file import nearest_rank, refuse, write  # noqa: E402

# heads/heads of K and V, d, queries, keys
SHAPES = ("8/8 64 1 4096", "8/8 64 1 65536", "8/8 64 1 262144", "8/2 64 1 1048576", "1/1 64 1 1048576",
          "8/8 128 1 65536", "32/8 128 1 65536", "8/2 64 4 65536", "8/8 64 4 65536", "8/8 64 16 65536")
LEAST_RUNS, SECONDS = 5, 2.0  # of each of the two times


def shape_of(text):
    try:
        heads, d, queries, keys = text.split()
        heads, kv_heads = heads.split("/")
        return {"direction": "forward", "batch": 1, "heads": int(heads), "kv_heads": int(kv_heads),
                "seqlen": int(keys), "seqlen_q": int(queries), "head_dim": int(d), "causal": False, "window": None}
    except ValueError:
        sys.exit(f"compare_with_torch.py: \"{text}\" is no shape, expected heads/heads of K and V, d, queries, keys, "
                 "as in \"8/2 64 1 65536\".")


# ---- The kernels of the program

def ours(options, w):
    """The report of one shape."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.json")
        words = ["--heads", w["heads"], "--kv-heads", w["kv_heads"], "--head-dim", w["head_dim"],
                 "--seqlen-q", w["seqlen_q"], "--seqlen", w["seqlen"]]
        if options.threads:
            words += ["--threads", options.threads]
        command = [options.program, "bench", *map(str, words), "--format", "json", "-o", path]
        subprocess.run(command, check=True)
        with open(path) as file:
            return json.load(file)


# ---- PyTorch's

class Torchs:
    def __init__(self, torch, backend, w, inputs):
        self.torch, self.name, self.backend, self.inputs = torch, "torch-" + backend, backend, inputs
        self.more = {"enable_gqa": True} if w["heads"] != w["kv_heads"] else {}

    def context(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        return sdpa_kernel({"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}[self.backend])

    def run(self):
        with self.context(), self.torch.inference_mode():
            return self.torch.nn.functional.scaled_dot_product_attention(*self.inputs, **self.more)

    def times(self):
        seconds, begun = [], time.perf_counter()
        while len(seconds) < LEAST_RUNS or time.perf_counter() - begun < SECONDS and len(seconds) < 50:
            begin = time.perf_counter()
            self.run()
            seconds.append(time.perf_counter() - begin)
        return seconds


def verify(torch, O, inputs):
    """(error, limit): in the first and the last head, against fp64 and standard attention in fp32."""
    worst = (0.0, 1.0)
    Q, K, V = inputs
    for head in (0, Q.shape[1] - 1):
        kv = head * K.shape[1] // Q.shape[1]
        q, k, v = Q[0, head], K[0, kv], V[0, kv]
        scale = 1 / math.sqrt(q.shape[1])
        standard = torch.softmax(scale * q @ k.T, 1) @ v
        exact = torch.softmax(scale * q.double() @ k.double().T, 1) @ v.double()
        error = (O[0, head] - exact).abs().max().item()
        limit = 2 * (standard - exact).abs().max().item() + 2.0**-23 * exact.abs().max().item()
        worst = max(worst, (error if error == error else 1e30, limit), key=lambda pair: pair[0] / pair[1])
    return worst


def contenders(torch, w):
    """Those that run and are right, and a point of each."""
    torch.manual_seed(1)
    rows = {"Q": (w["heads"], w["seqlen_q"]), "K": (w["kv_heads"], w["seqlen"]), "V": (w["kv_heads"], w["seqlen"])}
    inputs = [torch.randn(1, *rows[n], w["head_dim"]) for n in ("Q", "K", "V")]
    ready, points = [], {}
    for backend in ("flash", "math"):
        c = Torchs(torch, backend, w, inputs)
        point = points[c.name] = {
            "device": "cpu", "kernel": c.name, **w, "dtype": "f32", "state": "cancelled", "verified": False,
            "max_error": None, "error_limit": None, "median_s": None, "p20_s": None, "p80_s": None, "first_s": None,
            "runs": 0, "seconds": [], "tflops": None, "peak_flops": 0, "workspace_bytes": None, "model_bytes": 0,
            "peak_rss_bytes": None, "skipped": "Cancelled."}
        try:
            begin = time.perf_counter()
            O = c.run()
            point["first_s"] = time.perf_counter() - begin
        except (RuntimeError, TypeError, ImportError) as error:  # a backend's way to refuse
            refuse(point, "not supported", (str(error).strip().splitlines() or [type(error).__name__])[0][:300])
            continue
        error, limit = verify(torch, O, inputs)
        point.update(verified=error <= limit, max_error=error, error_limit=limit)
        if error <= limit:
            ready.append(c)
        else:
            refuse(point, "failed", f"O is off by {error:.1e} (limit {limit:.1e}).")
    return ready, points


def finish(point, seconds):
    median = nearest_rank(seconds, .5)
    work = 4 * point["head_dim"] * point["heads"] * point["seqlen_q"] * point["seqlen"]
    point.update(state="measured", skipped=None, seconds=seconds, runs=len(seconds), median_s=median,
                 p20_s=nearest_rank(seconds, .2), p80_s=nearest_rank(seconds, .8), tflops=work / median / 1e12)


# ---- All of it

def find_torch():
    try:
        import torch
        return torch
    except ImportError:
        print("PyTorch is not installed for this Python: the kernels are measured alone.", file=sys.stderr)
        return None


def measure(options, torch, w):
    ready, points = contenders(torch, w) if torch else ([], {})
    seconds = {c.name: c.times() for c in ready}
    report = ours(options, w)
    for c in ready:
        finish(points[c.name], seconds[c.name] + c.times())
    report["points"] += points.values()
    return report


def show(w, points):
    print(f"{w['heads']}/{w['kv_heads']} heads, d = {w['head_dim']}, {w['seqlen_q']} queries, {w['seqlen']} keys")
    median = {p["kernel"]: p["median_s"] for p in points if p["state"] == "measured"}
    torchs = [median[n] for n in ("torch-flash", "torch-math") if n in median]
    size = 2 * 4 * w["kv_heads"] * w["seqlen"] * w["head_dim"]
    for p in points:
        text = f"{p['state']}: {p['skipped']}"
        if p["kernel"] in median:
            mine = median[p["kernel"]]
            text = f"{mine * 1e3:10.3f} ms {size / mine * 1e-9:7.1f} GB/s {100 * median['read-kv'] / mine:6.1f} % of reading"
            if torchs:
                text += f" {min(torchs) / mine:6.2f} x PyTorch"
        print(f"  {p['kernel']:12} {text}", flush=True)


def add(result, report):
    if result is None:
        return report
    result["points"] += report["points"]
    result["peak_flops"] = max(result["peak_flops"], report["peak_flops"])
    result["complete"] = result["complete"] and report["complete"]
    return result


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--program", default=os.path.join(ROOT, "build", "tilewalk"))
    parse.add_argument("--output", default=os.path.join(ROOT, "assets", "bench", "decode.json"))
    parse.add_argument("--threads", type=int, default=0, help="of both; all that the process may use unless said otherwise")
    parse.add_argument("--shapes", nargs="+", default=SHAPES, metavar="SHAPE",
                       help="heads/heads of K and V, d, queries, keys, as in '8/2 64 1 65536'")
    options = parse.parse_args()
    shapes = [shape_of(text) for text in options.shapes]
    if not os.access(options.program, os.X_OK):
        sys.exit(f"compare_with_torch.py: {options.program} is not there; ./run.sh devices builds it.")
    torch = find_torch()
    if torch:
        torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    result = None
    for w in shapes:
        report = measure(options, torch, w)
        show(w, report["points"])
        result = add(result, report)
        result["command"] = ("core/cpu/torch/run.sh " + os.environ.get("TILEWALK_WORDS", "")).strip()
        if torch:
            result["x-torch"] = {"torch": torch.__version__, "threads": torch.get_num_threads()}
        write(options.output, result)


if __name__ == "__main__":
    main()
