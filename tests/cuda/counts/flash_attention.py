"""FlashAttention-2's own machine code, as PyTorch's library carries it, counted by the same rule: what to hold ours against.

    tests/cuda/counts.sh --library …/torch/lib/libtorch_cuda.so"""
import os
import re
import subprocess

import machine_code
import multiprocessor

# Symbols of bf16 kernels without dropout, mask, bias or softcap, for lengths that divide; products of a tile
KERNELS = [
    ("forward", r"flash_fwd_kernelI.*traitsILi{d}ELi{Br}ELi{Bc}ELi{warps}E.*bfloat16.*Lb0ELb0ELb0ELb0ELb1ELb1ELb0ELb0E", 2,
     [(64, 128, 128, 4, 2), (128, 128, 64, 4, 2)]),
    ("backward", r"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernelI.*traitsILi{d}ELi{Br}ELi{Bc}ELi{warps}E.*bfloat16"
     r".*Lb0ELb0ELb0ELb0ELb1ELb1ELb0E", 5, [(64, 128, 128, 8, 1), (128, 64, 128, 8, 1)]),
]


def cubins(cuobjdump, library, chip, wanted, work):
    """Files of machine code that hold a symbol that is wanted."""
    # Asked for one architecture, it numbers them anew, but finds them by the number among all
    listed = subprocess.run([cuobjdump, "-lelf", library], capture_output=True, text=True, check=True).stdout
    names = [n for n in re.findall(r"\S+\.cubin", listed) if f".sm_{chip}." in n]
    symbols = subprocess.run([cuobjdump, "-arch", f"sm_{chip}", "-symbols", library], capture_output=True, text=True,
                             check=True).stdout
    for name, part in zip(names, symbols.split("Fatbin elf code")[1:]):
        if any(re.search(w, part) for w in wanted):
            subprocess.run([cuobjdump, "-xelf", name, library], cwd=work, capture_output=True, check=True)
            yield os.path.join(work, name)


def rows(cuobjdump, nvdisasm, library, chip, work, tile_loop, count):
    """Rows for the tables: each kernel's counts, and what the model says for so many blocks at once."""
    shapes = [(direction, pattern.format(d=d, Br=Br, Bc=Bc, warps=warps), products, d, Br, Bc, warps, blocks)
              for direction, pattern, products, sizes in KERNELS for d, Br, Bc, warps, blocks in sizes]
    wanted = [s[1].split(".*bfloat16")[0] for s in shapes]
    code = {}
    for cubin in cubins(cuobjdump, library, chip, wanted, work):
        code.update(machine_code.disassemble(nvdisasm, cubin))
    for direction, pattern, products, d, Br, Bc, warps, blocks in shapes:
        found = [symbol for symbol in code if re.search(pattern, symbol)]
        if not found:
            continue
        macs = products * Br * Bc * d // warps
        path = tile_loop(code[found[0]], 32 * warps, macs)
        cycles = multiprocessor.cycles_of(path, chip, warps, blocks)
        yield {"rung": "FlashAttention-2 " + direction, "chip": chip, "d": d, "Br": Br, "Bc": Bc, "warps": warps,
               "blocks": blocks, "counts": count(path), "pipes": multiprocessor.pipe_cycles(path, chip), "cycles": cycles,
               "share": macs * warps / multiprocessor.PIPES[chip]["tensor"] / cycles}
