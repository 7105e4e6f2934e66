#!/usr/bin/env python3
"""The kernels of the ladder beside PyTorch's scaled dot product attention, on one GPU, in one run.

All contenders of a workload take turns: five rounds to warm up, then at least thirty, each with a cold L2.
Before they are timed, their outputs for some heads are held against attention in fp64 on the same inputs, by
the rule of docs/bench-format.md. A product of two 8192 x 8192 matrices runs in the same rounds: it says what
the GPU gave at that time. The result is a file as `tilewalk bench --format json` writes it.

    compare_with_torch.py --library libtilewalk_cuda_kernels.so --output assets/bench/h200.json

--dry-run goes through the plan with a stand-in for the GPU and writes a file of invented times: it shows that
the script and the format hold together, and nothing else.
"""
import argparse
import contextlib
import ctypes
import math
import statistics
import sys

sys.dont_write_bytecode = True  # leaves no folder beside the sources
from results_file import default_output, driver_version, finish, new_point, refuse, report, show, write
from verification import references, verify

TYPES = {"f32": 0, "f16": 1, "bf16": 2}
UNLIMITED = 1 << 30
WARM_UPS, LONG_RUN, FEW = 5, 0.2, 5  # what takes longer than LONG_RUN seconds is repeated FEW times
TOKENS, WIDTH = 16384, 2048  # batch · N and heads · d, as in FlashAttention's own benchmarks
GEMM = 8192


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p)] + [(n, ctypes.c_int64) for n in ("batch", "head", "row")]


class Arguments(ctypes.Structure):
    """tilewalk_arguments"""
    _fields_ = ([(n, Tensor) for n in ("Q", "K", "V", "O", "dO", "dQ", "dK", "dV")] + [("L", ctypes.c_void_p)] +
                [(n, ctypes.c_int32) for n in ("batch", "heads", "kv_heads", "N_q", "N_kv", "d")] +
                [("scale", ctypes.c_float), ("before", ctypes.c_int32), ("after", ctypes.c_int32),
                 ("workspace", ctypes.c_void_p)])


class Failed(Exception):
    """A contender cannot run; str() is the reason."""


class Library:
    def __init__(self, path):
        self.so = ctypes.CDLL(path)
        self.so.tilewalk_kernel_name.restype = ctypes.c_char_p
        self.so.tilewalk_workspace_bytes.restype = ctypes.c_int64
        self.names = [self.so.tilewalk_kernel_name(k).decode() for k in range(self.so.tilewalk_kernel_count())]

    def is_backward(self, name):
        return bool(self.so.tilewalk_kernel_is_backward(self.names.index(name)))

    def call(self, function, name, arguments, dtype, *more):
        reason = ctypes.create_string_buffer(256)
        status = getattr(self.so, "tilewalk_" + function)(self.names.index(name), ctypes.byref(arguments),
                                                          TYPES[dtype], *more, reason, len(reason))
        return reason.value.decode(errors="replace") if status else ""

    def workspace(self, name, arguments, dtype):
        return self.so.tilewalk_workspace_bytes(self.names.index(name), ctypes.byref(arguments), TYPES[dtype])


# ---- Workloads

def workloads(options):
    for direction in options.directions:
        for d in options.head_dims:
            for causal in (False, True):
                for n in options.seqlens:
                    yield {"direction": direction, "batch": max(1, TOKENS // n), "heads": WIDTH // d,
                           "kv_heads": WIDTH // d, "seqlen": n, "head_dim": d, "causal": causal, "window": None}


# ---- Contenders: each has a name, a dtype, prepare(), run() and outputs()

class Ours:
    def __init__(self, torch, library, name, dtype, w, inputs):
        self.torch, self.library, self.name, self.dtype = torch, library, name, dtype
        self.backward = w["direction"] == "backward"
        kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        self.t = {n: x.to(kind) for n, x in inputs.items()}
        shape = (w["batch"], w["heads"], w["seqlen"])
        self.L = torch.full(shape, math.nan, dtype=torch.float32, device="cuda")
        for n in ("O", "dQ", "dK", "dV") if self.backward else ("O",):
            self.t[n] = torch.full_like(self.t["Q"], math.nan)
        self.a = Arguments(L=self.L.data_ptr(), batch=w["batch"], heads=w["heads"], kv_heads=w["kv_heads"],
                           N_q=w["seqlen"], N_kv=w["seqlen"], d=w["head_dim"],
                           scale=1 / math.sqrt(w["head_dim"]), before=UNLIMITED,
                           after=0 if w["causal"] else UNLIMITED)
        for n, x in self.t.items():
            setattr(self.a, n, Tensor(x.data_ptr(), *x.stride()[:3]))
        self.workspace_bytes = library.workspace(name, self.a, dtype)

    def refusal(self):
        return self.library.call("refuse", self.name, self.a, self.dtype)

    def queue(self, function, name):
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        reason = self.library.call(function, name, self.a, self.dtype, stream)
        if reason:
            raise Failed(reason)

    def first(self):
        """The backward pass needs O and L, of the last forward kernel that takes the workload."""
        if self.backward:
            forward = [n for n in self.library.names if not self.library.is_backward(n) and
                       not self.library.call("refuse", n, self.a, self.dtype)]
            block = self.torch.empty(max(16, self.library.workspace(forward[-1], self.a, self.dtype)),
                                     dtype=self.torch.uint8, device="cuda")
            self.a.workspace = block.data_ptr()
            self.queue("launch", forward[-1])
            self.torch.cuda.synchronize()

    def prepare(self):
        """Workspace is taken for each run, so that contenders need not fit beside each other."""
        self.block = self.torch.empty(max(16, self.workspace_bytes), dtype=self.torch.uint8, device="cuda")
        self.a.workspace = self.block.data_ptr()
        if self.backward:
            self.queue("prepare", self.name)

    def run(self):
        self.queue("launch", self.name)

    def release(self):
        self.block = None

    def outputs(self):
        if self.backward:
            return {n: self.t[n] for n in ("dQ", "dK", "dV")}
        return {"O": self.t["O"], "L": self.L}


class Torchs:
    def __init__(self, torch, backend, w, inputs):
        self.torch, self.backend, self.name, self.dtype = torch, backend, "torch-" + backend, "bf16"
        self.backward, self.causal = w["direction"] == "backward", w["causal"]
        self.t = {n: inputs[n].detach().clone().requires_grad_(self.backward and n != "dO") for n in inputs}
        self.workspace_bytes = 0
        self.result = self.O = None

    def context(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        return sdpa_kernel({"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
                            "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}[self.backend])

    def forward(self):
        return self.torch.nn.functional.scaled_dot_product_attention(self.t["Q"], self.t["K"], self.t["V"],
                                                                     is_causal=self.causal)

    def first(self):
        """What the first run takes beyond the tensors that it gives."""
        before = self.torch.cuda.memory_allocated()
        self.torch.cuda.reset_peak_memory_stats()
        with self.context():
            self.prepare()
            self.run()
        self.torch.cuda.synchronize()
        given = sum(x.numel() * x.element_size() for x in self.outputs().values())
        if self.backward:
            given += self.O.numel() * self.O.element_size()
        self.workspace_bytes = max(0, self.torch.cuda.max_memory_allocated() - before - given)
        self.release()

    def prepare(self):
        if self.backward and self.O is None:
            self.O = self.forward()

    def run(self):
        if self.backward:
            leaves = (self.t["Q"], self.t["K"], self.t["V"])
            self.result = self.torch.autograd.grad(self.O, leaves, self.t["dO"], retain_graph=True)
        else:
            self.result = (self.forward(),)

    def release(self):
        self.result = None
        if self.backend == "math":  # its graph holds N x N matrices
            self.O = None

    def outputs(self):
        return dict(zip(("dQ", "dK", "dV") if self.backward else ("O",), self.result))


class Gemm:
    name, dtype, backward = "gemm", "bf16", False

    def __init__(self, torch):
        self.torch = torch
        self.A = torch.randn(GEMM, GEMM, device="cuda", dtype=torch.bfloat16)
        self.B = torch.randn(GEMM, GEMM, device="cuda", dtype=torch.bfloat16)
        self.C = torch.empty_like(self.A)

    def prepare(self):
        pass

    def run(self):
        self.torch.matmul(self.A, self.B, out=self.C)

    def release(self):
        pass


# ---- Time

class Clock:
    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")

    def once(self, contender):
        """Seconds between two events. The pause before them lets the host queue everything in time."""
        torch = self.torch
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with contender.context() if isinstance(contender, Torchs) else contextlib.nullcontext():
            contender.prepare()
            self.flush.max()  # reads: what is written there would go to HBM in the time of the next run
            torch.cuda._sleep(500_000)
            begin.record()
            contender.run()
            end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3


def is_out_of_memory(error):
    return type(error).__name__ == "OutOfMemoryError" or "out of memory" in str(error).lower()


def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]


def take_turns(clock, contenders, repeats):
    """Seconds of each contender by name; what fails on the way has its error instead."""
    seconds = {c.name: [] for c in contenders}
    runs, failed = {}, {}
    for turn in range(WARM_UPS + repeats):
        for k in range(len(contenders)):
            c = contenders[(k + turn) % len(contenders)]
            if c.name in failed or turn >= WARM_UPS and len(seconds[c.name]) >= runs[c.name]:
                continue
            try:
                once = clock.once(c)
                c.release()
            except Exception as error:  # one contender less
                if not (isinstance(error, Failed) or is_out_of_memory(error)):
                    raise
                failed[c.name] = error
                c.release()
                continue
            if turn == 0:
                runs[c.name] = repeats if once < LONG_RUN else FEW
            if turn >= WARM_UPS:
                seconds[c.name].append(once)
    return seconds, failed


# ---- One workload

def ours(torch, library, name, w, inputs):
    """In bf16 where the kernel takes it, in f32 otherwise."""
    for dtype in ("bf16", "f32"):
        contender = Ours(torch, library, name, dtype, w, inputs)
        reason = contender.refusal()
        if not reason:
            return contender
    raise Failed(reason)


def makers(torch, library, w, inputs):
    """Of each contender the name, and what makes it."""
    for name in library.names:
        if library.is_backward(name) == (w["direction"] == "backward"):
            yield name, lambda n=name: ours(torch, library, n, w, inputs)
    for backend in ("math", "efficient", "flash", "cudnn"):
        yield "torch-" + backend, lambda b=backend: Torchs(torch, b, w, inputs)


def enter(clock, name, make, w, reference):
    """A contender that has been verified, or none; and its point."""
    point = new_point(w, name, "bf16")
    try:
        c = make()
        c.first()
        point.update(dtype=c.dtype, workspace_bytes=c.workspace_bytes, model_bytes=c.workspace_bytes,
                     first_s=clock.once(c))
        passed, error, limit, sentence = verify(c, reference)
        c.release()
    except Exception as error:  # whatever a backend throws is its refusal
        refuse(point, "does not fit" if is_out_of_memory(error) else "not supported", first_line(error))
        return None, point
    point.update(verified=passed, max_error=error if math.isfinite(error) else 1e30, error_limit=limit)
    if passed:
        return c, point
    refuse(point, "failed", sentence)
    return None, point


def measure(torch, library, clock, gemm, w, repeats):
    torch.manual_seed(1)
    shape = (w["batch"], w["heads"], w["seqlen"], w["head_dim"])
    names = ("Q", "K", "V", "dO") if w["direction"] == "backward" else ("Q", "K", "V")
    inputs = {n: torch.randn(shape, device="cuda", dtype=torch.bfloat16) for n in names}
    reference = references(torch, inputs, w["causal"])
    contenders, points = [gemm], {}
    for name, make in makers(torch, library, w, inputs):
        contender, points[name] = enter(clock, name, make, w, reference)
        if contender:
            contenders.append(contender)
        torch.cuda.empty_cache()
    seconds, failed = take_turns(clock, contenders, repeats)
    rate = 2 * GEMM**3 / statistics.median(seconds["gemm"])
    for c in contenders[1:]:
        if c.name in failed:
            refuse(points[c.name], "does not fit" if is_out_of_memory(failed[c.name]) else "not supported",
                   first_line(failed[c.name]))
        else:
            finish(points[c.name], seconds[c.name], rate)
    return list(points.values()), rate


def run(options):
    import torch
    if not torch.cuda.is_available():
        sys.exit("compare_with_torch.py: there is no GPU to run on.")
    torch.backends.cuda.matmul.allow_tf32 = False
    properties = torch.cuda.get_device_properties(0)
    versions = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                "gemm": f"{GEMM} x {GEMM} x {GEMM}, bf16", "l2_flush_bytes": 256 << 20, "warm_ups": WARM_UPS}
    result = report(properties.name, driver_version(), versions, properties.total_memory)
    library, clock, gemm = Library(options.library), Clock(torch), Gemm(torch)
    for w in workloads(options):
        points, rate = measure(torch, library, clock, gemm, w, options.repeats)
        result["points"] += points
        result["peak_flops"] = max(result["peak_flops"], rate)
        write(options.output or default_output(properties.name), result)
        show(w, points)
    result["complete"] = True
    write(options.output or default_output(properties.name), result)


def dry_run(options):
    """Every step but those that need a GPU; the stand-ins take as long as they say."""
    class Stand:
        def __init__(self, name, seconds):
            self.name, self.seconds = name, seconds

        def release(self):
            pass

    class StandClock:
        @staticmethod
        def once(c):
            if c.name == "torch-math":
                raise Failed("CUDA out of memory. Invented.")
            return c.seconds

    result = report("dry run", "none", {"torch": "none"}, 1 << 34)
    for w in workloads(options):
        stands = [Stand("gemm", 2e-3), Stand("f0-materialise", .5), Stand("f5-flash2", 1e-3), Stand("torch-math", 1)]
        seconds, failed = take_turns(StandClock, stands, options.repeats)
        rate = 2 * GEMM**3 / statistics.median(seconds["gemm"])
        for c in stands[1:]:
            point = new_point(w, c.name, "bf16")
            if c.name in failed:
                refuse(point, "does not fit", first_line(failed[c.name]))
            else:
                point.update(verified=True, max_error=1e-3, error_limit=2e-3, workspace_bytes=0, first_s=1e-3)
                finish(point, seconds[c.name], rate)
            result["points"].append(point)
        result["peak_flops"] = max(result["peak_flops"], rate)
        show(w, result["points"][-3:])
    result["complete"] = True
    write(options.output or "dry-run.json", result)


def main():
    whole = lambda text: [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", help="libtilewalk_cuda_kernels.so")
    parser.add_argument("--output", help="file; without it assets/bench/GPU.json")
    parser.add_argument("--seqlens", type=whole, default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--head-dims", type=whole, default=[64, 128])
    parser.add_argument("--directions", type=lambda text: text.split(","), default=["forward", "backward"])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--dry-run", action="store_true", help="without GPU and PyTorch; times are invented")
    options = parser.parse_args()
    if options.dry_run:
        return dry_run(options)
    if not options.library:
        parser.error("--library is missing; run.sh builds it")
    return run(options)


if __name__ == "__main__":
    main()
