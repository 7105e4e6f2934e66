"""The kernels as PTX: compiled by nvcc, cut into entries, each with a name that the host's compiler has for it, too,
and a hash of what is left when names that differ from build to build are taken out."""
import functools
import hashlib
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
# f7 and b4 are PTX of sm_90a (TMA, mbarrier, wgmma), which the prover does not read; intrinsics is no rung.
NOT_PROVEN = ("intrinsics.cu", "ladder.cu", "f7_hopper.cu", "b4_hopper.cu")
FLAGS = ["-ptx", "-std=c++17", "-O3", "-DNDEBUG"]


def demangled(symbols):
    text = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout
    return text.splitlines()


def readable(name):
    """flash2<f16, 64, false>: without namespaces, the result and the parameters."""
    for what, instead in (("tilewalk::gpu::", ""), ("on_cuda::", ""), ("on_emulator::", ""), ("emulator::", ""),
                          ("(anonymous namespace)::", ""), ("__nv_bfloat16", "bf16"), ("__half", "f16"),
                          ("(bool)1", "true"), ("(bool)0", "false"), ("void ", "")):
        name = name.replace(what, instead)
    depth = 0
    for at, c in enumerate(name):
        depth += {"<": 1, ">": -1}.get(c, 0)
        if c == "(" and depth == 0:
            return name[:at]
    return name


class Entry:
    """One kernel: `module` is a module that holds it alone."""

    def __init__(self, symbol, head, text):
        self.symbol, self.module = symbol, head + text
        plain = re.sub(r"_GLOBAL__N__[0-9a-f]+_[0-9]+_[A-Za-z0-9_]+_cu_[0-9a-f]{8}_?[0-9a-f]*", "ANONYMOUS", text)
        plain = re.sub(r"__local_depot\d+", "__local_depot", plain)  # numbered by its place in the module
        lines = [line for line in plain.splitlines() if not re.match(r"\s*(//|\.loc)", line)]
        self.hash = hashlib.sha256(re.sub(r"\$L__BB\d+_", "$L__BB_", "\n".join(lines)).encode()).hexdigest()[:16]


def entries_of(ptx):
    """{name: Entry} of a module's text."""
    starts = [m.start() for m in re.finditer(r"^(?:\.(?:visible|weak) )?\.(?:entry|func)", ptx, re.M)] + [len(ptx)]
    texts = [ptx[a:b] for a, b in zip(starts, starts[1:])]
    found = [(re.search(r"\.entry (\S+?)\(", text).group(1), text) for text in texts if ".entry " in text[:40]]
    names = demangled([symbol for symbol, _ in found])
    return {readable(name): Entry(symbol, ptx[:starts[0]], text) for name, (symbol, text) in zip(names, found)}


def nvcc_version(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"release .*V(\S+)", said).group(1)


def knows(nvcc, architecture):
    said = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True).stdout
    return f"compute_{architecture}\n" in said + "\n"


@functools.lru_cache(maxsize=None)
def compiled(nvcc, source, architecture, root=ROOT):
    """{name: Entry} of a file of cuda/kernels."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "kernels.ptx")
        subprocess.run([nvcc, *FLAGS, "-I" + root, f"-arch=sm_{architecture}",
                        os.path.join(root, "cuda/kernels", source), "-o", ptx], stdin=subprocess.DEVNULL, check=True)
        return entries_of(open(ptx).read())
