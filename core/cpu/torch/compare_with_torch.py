#!/usr/bin/env python3
"""The kernels of the CPU beside PyTorch's scaled dot product attention in one run: decoding, or the ladder.

For each shape PyTorch is timed, then `tilewalk bench` runs, then PyTorch is timed again, all with the same
number of threads: what disturbs the machine for a while is not all on one side. What PyTorch computes is held against
attention in fp64 by the rule of docs/bench-format.md before it is timed. Without PyTorch the kernels are measured alone.
The result is one file as `tilewalk bench --format json` writes it, with points torch-flash and torch-math; the program
shows it as tables and as plots. It is there after each shape. `tilewalk bench --against torch` calls this script for shapes of
its own; the program has it within.

    compare_with_torch.py --program build/tilewalk --output assets/bench/decode.json
    compare_with_torch.py --set ladder --dtype bf16
"""
import argparse
import ctypes
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # leaves no folder beside the sources
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "cuda", "torch"))
from results_file import memory_of_host, nearest_rank, new_point, refuse, write  # noqa: E402

# heads/heads of K and V, d, queries, keys
SETS = {"decode": ("8/8 64 1 4096", "8/8 64 1 65536", "8/8 64 1 262144", "8/2 64 1 1048576", "1/1 64 1 1048576",
                   "8/8 128 1 65536", "32/8 128 1 65536", "8/2 64 4 65536", "8/8 64 4 65536", "8/8 64 16 65536"),
        "ladder": tuple(f"8/8 {d} {n} {n}{mask}{direction}" for direction in ("", " backward") for d in (64, 128)
                        for mask in ("", " causal") for n in (1024, 2048, 4096))}
LEAST_RUNS, SECONDS = 5, 2.0  # of each of the two times
NO_TORCH = 3  # the exit code


def shape_of(text):
    try:
        heads, d, queries, keys, *more = text.split()
        heads, kv_heads = heads.split("/")
        causal, backward = "causal" in more, "backward" in more
        if len(more) != causal + backward or causal and queries != keys:  # PyTorch aligns its mask otherwise
            raise ValueError
        return {"direction": "backward" if backward else "forward", "batch": 1, "heads": int(heads),
                "kv_heads": int(kv_heads), "seqlen": int(keys), "seqlen_q": int(queries), "head_dim": int(d),
                "causal": causal, "window": None}
    except ValueError:
        sys.exit(f"compare_with_torch.py: \"{text}\" is no shape, expected heads/heads of K and V, d, queries, keys, "
                 "and perhaps causal (with as many queries as keys) and backward, as in \"8/2 64 1 65536\".")


# ---- The kernels of the program

def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def ours(options, w):
    """The report of one shape."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.json")
        words = ["--heads", w["heads"], "--kv-heads", w["kv_heads"], "--head-dim", w["head_dim"],
                 "--seqlen", w["seqlen"], "--direction", w["direction"], "--dtype", options.dtype]
        if w["seqlen_q"] != w["seqlen"]:
            words += ["--seqlen-q", w["seqlen_q"]]
        if w["causal"]:
            words.append("--causal")
        if options.threads:
            words += ["--threads", options.threads]
        command = [options.program, "bench", *map(str, words), *shlex.split(options.more), "--format", "json", "-o", path]
        code = subprocess.run(command, preexec_fn=end_with_parent).returncode
        if not os.path.exists(path):  # a kernel that is wrong is in the file as such
            sys.exit(code or 1)
        with open(path) as file:
            return json.load(file)


# ---- PyTorch's

class Torchs:
    def __init__(self, torch, backend, w, inputs, dO):
        self.torch, self.name, self.backend, self.inputs, self.dO = torch, "torch-" + backend, backend, inputs, dO
        self.more = {"is_causal": True} if w["causal"] else {}
        if w["heads"] != w["kv_heads"]:
            self.more["enable_gqa"] = True
        self.O = None  # backward, with what its gradients need

    def attention(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel({"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}[self.backend]):
            return self.torch.nn.functional.scaled_dot_product_attention(*self.inputs, **self.more)

    def run(self):
        """O, or dQ, dK, dV alone: O is there then."""
        if self.dO is None:
            with self.torch.inference_mode():
                return [self.attention()]
        if self.O is None:
            self.O = self.attention()
        return self.torch.autograd.grad(self.O, self.inputs, self.dO, retain_graph=True)

    def times(self):
        seconds, begun = [], time.perf_counter()
        while len(seconds) < LEAST_RUNS or time.perf_counter() - begun < SECONDS and len(seconds) < 50:
            begin = time.perf_counter()
            self.run()
            seconds.append(time.perf_counter() - begin)
        return seconds


def plainly(torch, q, k, v, causal, dO):
    """Standard attention of one head of keys and the heads of queries that share it: O, or dQ, dK, dV."""
    q, k, v = (x.detach().requires_grad_(dO is not None) for x in (q, k, v))
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    O = torch.softmax(scores, -1) @ v
    return [O] if dO is None else torch.autograd.grad(O, (q, k, v), dO)


def verify(torch, outputs, inputs, dO, causal):
    """(error, limit): in the first and the last head of K and V, against fp64 and standard attention in the type."""
    worst = (0.0, 1.0)
    Q, K, V = inputs
    group = Q.shape[1] // K.shape[1]
    for kv in {0, K.shape[1] - 1}:
        heads = slice(kv * group, (kv + 1) * group)
        those = [Q[0, heads], K[0, kv], V[0, kv]]
        d = None if dO is None else dO[0, heads]
        standard = plainly(torch, *those, causal, d)
        exact = plainly(torch, *(x.double() for x in those), causal, None if d is None else d.double())
        found = [outputs[0][0, heads], *(x[0, kv] for x in outputs[1:])]
        roundings = {torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}[Q.dtype]
        for x, y, truth in zip(found, standard, exact):
            error = (x - truth).abs().max().item()
            limit = (2 if dO is None else 3) * (y - truth).abs().max().item() + roundings * truth.abs().max().item()
            worst = max(worst, (error if error == error else 1e30, limit), key=lambda pair: pair[0] / pair[1])
    return worst


def bytes_needed(w, backend, dtype):
    """What checking a backend and running it take at the most, roughly: without this the system would end the process."""
    element = 4 if dtype == "f32" else 2
    group = w["heads"] // w["kv_heads"]
    backward = w["direction"] == "backward"
    scores = w["seqlen_q"] * w["seqlen"]
    tensors = (3 if backward else 1) * w["head_dim"] * (2 * w["heads"] * w["seqlen_q"] + 2 * w["kv_heads"] * w["seqlen"])
    squares = (4 if backward else 2) * w["heads"] * scores * element if backend == "math" else 0
    checked = (4 if backward else 3) * group * scores * 8  # attention of a group in fp64
    return tensors * element + max(squares, checked)


def make_inputs(torch, w, dtype):
    torch.manual_seed(1)
    rows = {"Q": (w["heads"], w["seqlen_q"]), "K": (w["kv_heads"], w["seqlen"]), "V": (w["kv_heads"], w["seqlen"])}
    backward = w["direction"] == "backward"
    make = lambda n: torch.randn(1, *rows[n], w["head_dim"]).to(dtype)  # noqa: E731
    return [make(n).requires_grad_(backward) for n in ("Q", "K", "V")], make("Q") if backward else None


def contenders(torch, w, dtype):
    """Those that run and are right, and a point of each."""
    inputs, dO = make_inputs(torch, w, {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype])
    ready, points = [], {}
    free = memory_of_host()[1]
    for backend in ("flash", "math"):
        c = Torchs(torch, backend, w, inputs, dO)
        point = points[c.name] = {**new_point(w, c.name, dtype), "device": "cpu"}
        needed = bytes_needed(w, backend, dtype)
        if needed > free > 0:
            refuse(point, "does not fit", f"It and its check need {needed / 2**30:.1f} GiB, of which {free / 2**30:.1f} GiB are free.")
            continue
        try:
            begin = time.perf_counter()
            outputs = c.run()
            point["first_s"] = time.perf_counter() - begin
        except (RuntimeError, TypeError, ImportError) as error:  # a backend's way to refuse
            refuse(point, "not supported", (str(error).strip().splitlines() or [type(error).__name__])[0][:300])
            continue
        error, limit = verify(torch, outputs, inputs, dO, w["causal"])
        point.update(verified=error <= limit, max_error=error, error_limit=limit)
        if error <= limit:
            ready.append(c)
        else:
            refuse(point, "failed", f"It is off by {error:.1e} (limit {limit:.1e}).")
    return ready, points


def finish(point, seconds):
    median = nearest_rank(seconds, .5)
    n = point["seqlen"]
    seen = n * (n + 1) // 2 if point["causal"] else n * point["seqlen_q"]
    work = (4 if point["direction"] == "forward" else 10) * point["head_dim"] * point["heads"] * seen
    point.update(state="measured", skipped=None, seconds=seconds, runs=len(seconds), median_s=median,
                 p20_s=nearest_rank(seconds, .2), p80_s=nearest_rank(seconds, .8), tflops=work / median / 1e12)


# ---- All of it

def find_torch(needed):
    try:
        import torch
        return torch
    except (ImportError, OSError):
        if needed:
            print("PyTorch is not installed for this Python.", file=sys.stderr)
            sys.exit(NO_TORCH)
        print("PyTorch is not installed for this Python: the kernels are measured alone.", file=sys.stderr)
        return None


def tell(words):
    """The line that the program shows while it waits."""
    print(words, file=sys.stderr, flush=True)


def measure(options, torch, w, place):
    where = f"{place}, N = {w['seqlen']}: "
    if torch:
        tell(where + "PyTorch")
    ready, points = contenders(torch, w, options.dtype) if torch else ([], {})
    seconds = {c.name: c.times() for c in ready}
    tell(where + "the kernels")
    report = ours(options, w)
    if ready:
        tell(where + "PyTorch once more")
    for c in ready:
        finish(points[c.name], seconds[c.name] + c.times())
        points[c.name]["peak_flops"] = report["peak_flops"]
    report["points"] += points.values()
    return report


def rate(p, read, w, dtype):
    """GB/s of K and V and the part of reading them, where that was measured, else GFLOP/s."""
    if read is None:
        return f"{p['tflops'] * 1e3:8.1f} GFLOP/s"
    size = 2 * (4 if dtype == "f32" else 2) * w["kv_heads"] * w["seqlen"] * w["head_dim"]
    return f"{size / p['median_s'] * 1e-9:7.1f} GB/s {100 * read / p['median_s']:6.1f} % of reading"


def show(w, points, dtype):
    print(f"{w['direction']}, {dtype}, {w['heads']}/{w['kv_heads']} heads, d = {w['head_dim']}"
          f"{', causal' if w['causal'] else ''}, {w['seqlen_q']} queries, {w['seqlen']} keys")
    median = {p["kernel"]: p["median_s"] for p in points if p["state"] == "measured"}
    torchs = [median[n] for n in ("torch-flash", "torch-math") if n in median]
    for p in points:
        text = f"{p['state']}: {p['skipped']}"
        if p["kernel"] in median:
            text = f"{p['median_s'] * 1e3:10.3f} ms {rate(p, median.get('read-kv'), w, dtype)}"
            if torchs:
                text += f" {min(torchs) / p['median_s']:6.2f} x PyTorch"
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
    parse.add_argument("--output", help="assets/bench/decode.json or assets/bench/ladder.json, by the set, unless said otherwise")
    parse.add_argument("--set", choices=sorted(SETS), default="decode", help="the shapes: decoding, or forward and backward with "
                       "as many queries as keys")
    parse.add_argument("--dtype", choices=("f32", "f16", "bf16"), default="f32")
    parse.add_argument("--threads", type=int, default=0, help="of both; all that the process may use unless said otherwise")
    parse.add_argument("--needs-torch", action="store_true", help="without PyTorch nothing is measured, and the exit code is "
                       f"{NO_TORCH}")
    parse.add_argument("--more", default="", metavar="WORDS", help="options of 'tilewalk bench', as in --more='--kernels flash'")
    parse.add_argument("--shapes", nargs="+", metavar="SHAPE",
                       help="instead of a set: heads/heads of K and V, d, queries, keys, as in '8/2 64 1 65536', and perhaps "
                       "causal and backward")
    options = parse.parse_args()
    if options.needs_torch:  # the program has called this
        end_with_parent()
    shapes = [shape_of(text) for text in options.shapes or SETS[options.set]]
    options.output = options.output or os.path.join(ROOT, "assets", "bench", options.set + ".json")
    if not os.access(options.program, os.X_OK):
        sys.exit(f"compare_with_torch.py: {options.program} is not there; ./run.sh devices builds it.")
    torch = find_torch(options.needs_torch)
    if torch:
        torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    result = None
    for n, w in enumerate(shapes, 1):
        report = measure(options, torch, w, f"{n} of {len(shapes)}")
        show(w, report["points"], options.dtype)
        result = add(result, report)
        result["command"] = ("core/cpu/torch/run.sh " + os.environ.get("TILEWALK_WORDS", "")).strip()
        if torch:
            result["x-torch"] = {"torch": torch.__version__, "threads": torch.get_num_threads()}
        write(options.output, result)


if __name__ == "__main__":
    main()
