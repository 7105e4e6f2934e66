"""A model of one multiprocessor: how many cycles the warps of its blocks need for a tile.

It is a prediction and nothing else: no figure of it was measured here. Four schedulers each issue one instruction a cycle,
in order within a warp; an instruction waits for the registers it reads and for its pipe. Widths of the pipes are NVIDIA's
published throughputs (CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions"; multiply-adds of
tensor cores: whitepapers of Turing, Ampere GA100 and GA102, Ada, Hopper). Latencies are assumed, of the size that
microbenchmarks find (arXiv 2206.02874 for mma and ldmatrix): LATENCY. Global memory answers from the L2 and is wide enough.
Left out: instruction caches, register banks, the order in which real schedulers choose, clocks that fall under load."""
import heapq
import re

# Lanes a cycle of one multiprocessor; `tensor` is multiply-adds a cycle, 16-bit operands and float sums; `shared` is bytes
PIPES = {
    75: dict(tensor=512, fma=64, alu=64, mufu=16, shuffle=32, shared=128, registers=65536, threads=1024, blocks=16, KiB=64),
    80: dict(tensor=1024, fma=64, alu=64, mufu=16, shuffle=32, shared=128, registers=65536, threads=2048, blocks=32, KiB=164),
    86: dict(tensor=512, fma=128, alu=64, mufu=16, shuffle=32, shared=128, registers=65536, threads=1536, blocks=16, KiB=100),
    89: dict(tensor=512, fma=128, alu=64, mufu=16, shuffle=32, shared=128, registers=65536, threads=1536, blocks=24, KiB=100),
    90: dict(tensor=2048, fma=128, alu=64, mufu=16, shuffle=32, shared=128, registers=65536, threads=2048, blocks=32, KiB=228),
}
SCHEDULERS = 4
# Cycles of one multiprocessor's share of HBM for 32 bytes, as docs/inside.md has them
SECTOR = {75: 6, 80: 2, 86: 5, 89: 10, 90: 2}
# mma.sync reaches about 0.62 of what wgmma does on compute capability 9.0 (arXiv 2407.08608, section 2, says 'two thirds')
MMA_SHARE = {90: 0.62}
LATENCY = {"alu": 5, "fma": 5, "mufu": 20, "shuffle": 24, "load": 28, "matrix load": 31, "global": 250, "uniform": 8,
           "branch": 8, "barrier": 12, "tensor": {75: 18, 80: 25, 86: 33, 89: 33, 90: 33}}

ON_ALU = {"IADD3", "ISETP", "FSETP", "LOP3", "SEL", "FSEL", "FMNMX", "IMNMX", "VIMNMX", "MOV", "PRMT", "LEA", "SHF", "PLOP3",
          "F2FP", "P2R", "R2P", "IABS", "VOTE", "VOTEU", "VIADD", "CS2R", "FCHK", "SGXT", "BMSK", "FMNMX3", "VIADDMNMX"}
ON_FMA = {"FFMA", "FMUL", "FADD", "IMAD", "HFMA2", "HADD2", "HMUL2", "FSWZADD"}


def macs_of(opcode):
    """Multiply-adds of an mma: HMMA.16816 is 16 × 8 × 16."""
    shape = re.search(r"HMMA\.(\d+)", opcode).group(1)
    return {"16816": 2048, "1688": 1024}[shape]


def registers(text, wide=1):
    """'R24.reuse' and the registers that follow it."""
    found = re.match(r"[-|~!]*(U?)R(\d+)", text)
    return [f"{found.group(1)}R{int(found.group(2)) + n}" for n in range(wide)] if found else []


def width_of(opcode):
    """32-bit registers that a load writes or a store reads."""
    for mark, wide in ((".128", 4), (".64", 2)):
        if mark in opcode:
            return wide
    return 1


def operands_of(instruction):
    """([registers written], [registers read])"""
    text = instruction.operands.replace(".reuse", "")
    parts = [p for p in re.split(r",(?![^\[]*\])", text) if p]
    name, opcode = instruction.name, instruction.opcode
    written, read = [], []
    for p in re.findall(r"\[([^\]]*)\]", text):  # addresses
        for term in p.split("+"):
            read += registers(term, 2 if ".64" in term else 1)
    plain = [p for p in parts if "[" not in p]
    if name in ("STS", "STL", "STG", "RED", "ST", "ATOM", "ATOMG"):
        for p in plain:
            read += registers(p, width_of(opcode))
    elif name in ("LDGSTS", "BAR", "DEPBAR", "LDGDEPBAR", "BRA", "BSSY", "BSYNC", "EXIT", "CALL", "NOP", "WARPSYNC", "YIELD", "MEMBAR"):
        for p in plain:
            read += registers(p)
    elif name == "HMMA":
        small = macs_of(opcode) == 1024
        for p, wide in zip(parts, (4, 2 if small else 4, 1 if small else 2, 4)):
            (written if p is parts[0] else read).extend(registers(p, wide))
    elif plain:
        wide = 1
        if name in ("LDS", "LDG", "LD", "LDL"):
            wide = width_of(opcode)
        elif name == "LDSM":
            wide = int(opcode[-1]) if opcode[-1] in "24" else 1
        elif ".WIDE" in opcode or name == "CS2R":
            wide = 2
        written += registers(plain[0], wide)
        for n, p in enumerate(plain[1:]):
            read += registers(p, 2 if ".WIDE" in opcode and n == 2 else 1)
    predicates = re.findall(r"!?(U?P\d)(?!\w)", text)
    if name in ("ISETP", "FSETP", "PLOP3", "UISETP", "UPLOP3", "VOTE", "VOTEU", "R2P", "FCHK"):
        written += predicates[:2]
        read += predicates[2:]
    elif name in ("IADD3", "LEA", "UIADD3", "SHFL", "VIADD", "ULEA") and predicates:
        written += predicates[:1]
        read += predicates[1:]
    else:
        read += predicates
    read += re.findall(r"U?P\d", instruction.predicate)
    return written, read


def cost_of(instruction, chip, ways):
    """(pipe, cycles of that pipe, latency): cycles of one scheduler's quarter, or of the whole multiprocessor's shared memory."""
    p, name, opcode = PIPES[chip], instruction.name, instruction.opcode
    quarter = lambda lanes: 32 * SCHEDULERS / lanes
    if name == "HMMA":
        rate = p["tensor"] * MMA_SHARE.get(chip, 1)
        return "tensor", macs_of(opcode) * SCHEDULERS / rate, LATENCY["tensor"][chip]
    if name == "MUFU":
        return "mufu", quarter(p["mufu"]), LATENCY["mufu"]
    if name == "SHFL":
        return "shared memory", 128 / p["shared"], LATENCY["shuffle"]
    if name == "LDSM":
        return "shared memory", (int(opcode[-1]) if opcode[-1] in "24" else 1) * ways, LATENCY["matrix load"]
    if name in ("LDS", "STS", "LDL", "STL"):
        return "shared memory", width_of(opcode) * ways, LATENCY["load"]
    if name in ("LDGSTS", "LDG", "STG", "RED", "ATOM", "ATOMG", "LD", "ST"):
        return "shared memory", width_of(opcode), LATENCY["global"]
    if name in ON_FMA:
        # Where there are twice as many lanes for floats, integers have one half of them
        return "fma", quarter(64 if name == "IMAD" else p["fma"]), LATENCY["fma"]
    if name in ON_ALU:
        return "alu", quarter(p["alu"]), LATENCY["alu"]
    if name in ("F2F", "F2I", "I2F", "I2FP", "FRND", "POPC", "FLO", "BREV"):
        return "mufu", quarter(p["mufu"]), LATENCY["mufu"]
    if name in ("BRA", "BSSY", "BSYNC", "CALL", "WARPSYNC", "YIELD", "EXIT", "BREAK", "BMOV"):
        return "branch", 1, LATENCY["branch"]
    if name in ("BAR", "DEPBAR", "LDGDEPBAR", "NOP", "MEMBAR"):
        return "issue", 1, LATENCY["barrier"]
    if name.startswith("U") or name in ("R2UR", "S2R", "S2UR", "LDC", "LDCU", "REDUX"):
        return "uniform", 2, LATENCY["uniform"]
    raise KeyError(f"the model knows no {instruction}")


def blocks_at_once(chip, warps, registers_of_thread, shared_bytes):
    p = PIPES[chip]
    of_warp = (registers_of_thread + 7) // 8 * 8 * 32
    by_registers = p["registers"] // (of_warp * warps)
    by_shared = p["KiB"] * 1024 // max(1, shared_bytes + (1024 if chip >= 80 else 0))  # the system takes 1 KiB of each block
    return min(by_registers, by_shared, p["threads"] // (32 * warps), p["blocks"])


def pipe_cycles(path, chip, ways=1):
    """{pipe: cycles} of one warp for one tile: of its own scheduler's pipes; shared memory of the whole multiprocessor's."""
    cycles = {"issue": len(path)}
    for i in path:
        pipe, busy, _ = cost_of(i, chip, ways)
        if pipe != "issue":
            cycles[pipe] = cycles.get(pipe, 0) + busy
    return cycles


class Warp:
    def __init__(self, number, block, scheduler, start):
        self.number, self.block, self.scheduler = number, block, scheduler
        self.place, self.trip, self.free = 0, 0, start
        self.ready = {}           # register: the cycle from which on it can be read
        self.copies, self.groups = 0, []  # when copies under way arrive


def cycles_of(path, chip, warps, blocks):
    """Cycles of a multiprocessor for one tile when it runs evenly: the mean over how far apart its blocks begin."""
    apart = [0.5] if blocks == 1 else [0.2, 0.4, 0.6, 0.8, 1.0]
    return sum(simulate(path, chip, warps, blocks, a) for a in apart) / len(apart)


def simulate(path, chip, warps, blocks, apart, trips=12, skipped=4):
    """The same for blocks that begin `apart` instructions of a tile after each other."""
    known = {}
    steps = []
    for i in path:
        if i.at not in known:
            known[i.at] = (i, cost_of(i, chip, 1), operands_of(i))
        steps.append(known[i.at])
    everyone = []
    for block in range(blocks):
        for w in range(warps):
            everyone.append(Warp(w, block, (block * warps + w) % SCHEDULERS, 2 * apart * block * len(path) / blocks))
    pipe_free = [{} for _ in range(SCHEDULERS)]
    memory_free, issue_free = 0.0, [0.0] * SCHEDULERS
    waiting = {}  # (block, place, trip): warps at a barrier

    def earliest(warp):
        i, (pipe, busy, _), (written, read) = steps[warp.place]
        at = max(warp.free, issue_free[warp.scheduler])
        for register in read:
            at = max(at, warp.ready.get(register, 0))
        for register in written:
            at = max(at, warp.ready.get(register, 0) - (LATENCY["tensor"][chip] if pipe == "tensor" else 0))
        if pipe == "shared memory":
            at = max(at, memory_free - 32)  # a queue of some instructions before it
        elif pipe != "issue":
            at = max(at, pipe_free[warp.scheduler].get(pipe, 0))
        if i.name == "DEPBAR" and warp.groups:
            kept = int(re.search(r"0x([0-9a-f]+)$", i.operands).group(1), 16)
            due = warp.groups[:len(warp.groups) - kept]
            at = max([at] + due)
        return at

    def progress():
        return [w.trip + w.place / len(steps) for w in everyone]

    # In the order of time; of those that could go at once, the one that has waited longest
    queue = []
    def wait(n):
        heapq.heappush(queue, (earliest(everyone[n]), everyone[n].free, n))

    for n in range(len(everyone)):
        wait(n)
    since = until = progress_then = 0
    while True:
        at, _, n = heapq.heappop(queue)
        warp = everyone[n]
        if earliest(warp) > at:
            wait(n)
            continue
        i, (pipe, busy, latency), (written, read) = steps[warp.place]
        issue_free[warp.scheduler] = at + 1
        warp.free = at + 1
        done = at + latency
        if pipe == "shared memory":
            begin = max(memory_free, at)
            memory_free = begin + busy
            done = begin + busy + latency
        elif pipe != "issue":
            pipe_free[warp.scheduler][pipe] = at + busy
        for register in written:
            warp.ready[register] = done
        if i.name == "LDGSTS":
            warp.copies = max(warp.copies, done)
        elif i.name == "LDGDEPBAR":
            warp.groups.append(warp.copies)
        elif i.name in ("BRA", "BSYNC"):
            warp.free = at + 2
        place, trip = warp.place, warp.trip
        warp.place += 1
        if warp.place == len(steps):
            warp.place, warp.trip = 0, warp.trip + 1
            if warp.trip == skipped and not since:  # the first that has come so far
                since, progress_then = at, sum(progress())
            if warp.trip == trips:
                until = at
                break
        if i.name == "BAR":
            key = (warp.block, place, trip)
            waiting.setdefault(key, []).append(n)
            if len(waiting[key]) < warps:
                continue
            for other in waiting.pop(key):
                everyone[other].free = at + latency
                wait(other)
            continue
        wait(n)
    return (until - since) * warps / (sum(progress()) - progress_then)
