"""What the rungs without tensor cores execute: their products are FFMA, and their loops turn as often as registers say.

How often an inner loop turns is read off the code where it can be (machine_code.py), and follows from what the tile must do
where not: so many words to copy, exponentials, maxima or multiply-adds, by what one turn has of them. Then all must come out
exactly, each copy, each exponential, each multiply-add, or nothing is written."""
import machine_code
import multiprocessor

MULTIPLIES = ("FFMA", "FMUL")


def tally(path):
    """{what: how many}: instructions by name, MUFU by what it computes, loads and stores of shared memory in words, too."""
    found = {}
    for i in path:
        name = "EX2" if i.opcode.startswith("MUFU.EX2") else i.name
        found[name] = found.get(name, 0) + 1
        if name in ("LDS", "STS"):
            found[name + " words"] = found.get(name + " words", 0) + multiprocessor.width_of(i.opcode)
    return found


class Work:
    """What a lane must do for one tile. products: multiply-adds of each product, in the order of the code; copies: loads
    from HBM that go to shared memory, of each matrix; exponentials and scores of a lane; sums that are added to HBM; other multiplications
    that are allowed beside."""

    def __init__(self, products, copies=(), scores=0, exponentials=0, shuffles=None, added=0, loads=0, stores=0,
                 beside=0):
        self.products, self.copies, self.scores, self.exponentials = products, copies, scores, exponentials
        self.shuffles, self.added, self.loads, self.stores = shuffles, added, loads, stores
        self.beside = beside

    def turns(self, loop, threads):
        """Of an inner loop."""
        try:
            return loop.trips(threads)
        except machine_code.Unreadable:
            pass
        has = tally(loop.body())
        if "VOTE" in has and not set(has) & {"FFMA", "LDG", "LDS"}:
            return 1  # sm_75 waits there for lanes of its warp that have parted
        multiplies = sum(has.get(name, 0) for name in MULTIPLIES)
        if has.get("RED"):
            todo, done = self.added, has["RED"]
        elif has.get("EX2"):
            todo, done = self.scores, has["EX2"]
        elif has.get("LDG") and has.get("STS"):
            todo, done = self.copies[0], has["STS"]
        elif multiplies:
            todo, done = self.products[0], multiplies
        else:
            todo, done = self.scores, has.get("FMNMX", 0)
        if not done or todo % done:
            raise machine_code.Unreadable(f"the loop at {loop.head:#x} does {done} of {todo} in a turn")
        return todo // done

    def wrong(self, path):
        """What does not come out, in words; None where all does."""
        has = tally(path)
        wanted = {"EX2": self.exponentials, "LDG": sum(self.copies) + self.loads, "STG": self.stores, "RED": self.added}
        if self.shuffles is not None:
            wanted["SHFL"] = self.shuffles
        for name, number in wanted.items():
            if has.get(name, 0) != number:
                return f"{has.get(name, 0)} {name}, not {number}"
        multiplies = sum(has.get(name, 0) for name in MULTIPLIES)
        # Beside the products: up to six for an exponential, and O times α, of which a lane has no more than its keys' sums
        beside = multiplies - sum(self.products)
        if not 0 <= beside <= self.beside + 8 * self.exponentials + (self.products[0] // 8 if self.products else 0):
            return f"{multiplies} multiplications, where the products have {sum(self.products)}"
        return None


def copies_rest(between):
    """What is left of a copy that is unrolled by four: up to three, which our tiles never leave."""
    names = [i.name for i in between]
    return names.count("LDG") == names.count("STS") == 3 and "FFMA" not in names and "BAR" not in names


def loop_of(code, threads, work):
    """What a warp executes in one trip of the smallest loop that does all that a tile must."""
    misses = []
    for loop in sorted(machine_code.loops_of(code), key=lambda l: l.end - l.head):
        try:
            path = machine_code.one_trip(loop, threads, lambda inner: work.turns(inner, threads), copies_rest)
        except machine_code.Unreadable as why:
            misses.append(f"{loop.head:#x} … {loop.end:#x}: {why}")
            continue
        wrong = work.wrong(path)
        if wrong is None:
            return path
        misses.append(f"{loop.head:#x} … {loop.end:#x}: {wrong}")
    raise machine_code.Unreadable("; ".join(misses))


# ---- Which rungs, and what they must do

class Counted:
    """kernel: as nvcc's symbol reads. parts: Work of the loops whose turns are counted together; times: how often.
    hbm: bytes of N × N matrices that a warp reads or writes meanwhile, None where there are none."""

    def __init__(self, kernel, tile, threads, parts, times=1, hbm=None):
        self.kernel, self.tile, self.threads, self.parts, self.times, self.hbm = kernel, tile, threads, parts, times, hbm

    def path(self, code):
        return [i for work in self.parts for i in loop_of(code, self.threads, work)] * self.times

    def macs(self):
        """Multiply-adds of a lane that the products need."""
        return self.times * sum(sum(work.products) for work in self.parts)


def counted(rung, d, kind, tile, threads):
    """The kernels of a rung whose loops are counted; tile: (Br, Bc), as the rung has it for this chip."""
    Br, Bc = tile
    scores, columns = Br * Bc // threads, d // 32
    if rung == "f0-materialise":
        return [Counted("scores", f"32 scores, {d} columns", 256, [Work([16], loads=32, shuffles=0)], d // 16, 128),
                Counted("softmax", "128 keys of a row", 256,
                        [Work([], loads=4, shuffles=0), Work([], scores=4, exponentials=4, loads=4),
                         Work([], scores=4, exponentials=4, loads=4, stores=4)], 1, 1024),
                Counted("weighted_sum", "32 columns, 16 keys", 32 * columns, [Work([16], loads=32, shuffles=0)], 1, 64 // columns)]
    if rung == "f0-cublas":
        return [Counted(f"softmax_rows<{kind}>", "256 keys of a row", 256,
                        [Work([], exponentials=9, loads=1), Work([], exponentials=8, loads=1, stores=1)], 1, 1024)]
    if rung == "b0-materialise":
        return [Counted(f"score_gradients<{kind}>", "512 keys of a row", 256, [Work([], loads=4, stores=2, beside=32)], 1, 3072)]
    if rung == "f1-online-row":
        return [Counted(f"online_row<{columns}>", "a key of a query", 128, [Work([columns] * 2, (), 1, 2, 5, 0, 2 * columns)])]
    if rung == "f2-tiled-fp32":
        return [Counted(f"tiled<{d}, {Bc}, false>", f"{Br} × {Bc}", threads,
                        [Work([scores * d] * 2, (Bc * d // threads,) * 2, scores, scores + 1)])]
    if rung == "f3-warp-rows":
        return [Counted(f"online_rows<{d}, {threads // 32}, {Bc}, false>", f"{Br} × {Bc}", threads,
                        [Work([scores * d] * 2, (Bc * d // 4 // threads,) * 2, scores, scores + 4)])]
    if rung == "b1-recompute-fp32":
        return [Counted(f"recompute<{d}>", f"{Br} × {Bc}", threads,  # S and dP, dV and dK, dQ; L and D of each score
                        [Work([2 * scores * d] * 2 + [scores * d], (Br * d // 4 // threads,) * 2, scores, scores, None,
                              Br * d // threads, 2 * scores)])]
    raise KeyError(rung)


RUNGS = [("f0-materialise", "f0_materialise.cu", (64, 128)), ("f0-cublas", "f0_cublas.cu", (64,)),
         ("f1-online-row", "f1_online_row.cu", (64, 128)), ("f2-tiled-fp32", "f2_tiled_fp32.cu", (64, 128)),
         ("f3-warp-rows", "f3_warp_rows.cu", (64, 128)), ("b0-materialise", "b0_materialise.cu", (64,)),
         ("b1-recompute-fp32", "b1_recompute_fp32.cu", (64, 128))]

COUNTED = ["kernel", "d", "counted for", "multiply-adds", "FFMA", "FMUL", "FADD", "FMNMX", "EX2", "SHFL", "LDS", "STS", "LDG", "STG",
           "RED", "BAR", "all"]
MODELLED = ["kernel", "d", "counted for", "blocks", "loads", "EX2", "float", "integer", "issue", "HBM", "longest",
            "of the peak at most"]


def cells(row):
    """The two tables' rows."""
    has, c, chip = tally(row["path"]), row["counted"], row["chip"]
    name = row["rung"] if row["first"] else ""
    counts = [has.get(column, 0) for column in COLUMNS]
    first = [name, str(row["d"]), c.tile, str(c.macs())] + [str(n) for n in counts] + [str(len(row["path"]))]
    warps = c.threads // 32
    pipes = {pipe: cycles * (warps if pipe == "shared memory" else warps / multiprocessor.SCHEDULERS)
             for pipe, cycles in multiprocessor.pipe_cycles(row["path"], chip).items() if pipe not in ("branch", "uniform")}
    if c.hbm is not None:
        pipes["HBM"] = warps * c.hbm / 32 * multiprocessor.SECTOR[chip]
    longest = {"fma": "float", "alu": "integer", "mufu": "EX2", "shared memory": "loads"}.get(max(pipes, key=pipes.get), max(pipes, key=pipes.get))
    second = [name, str(row["d"]), c.tile, str(row["blocks"])]
    second += [f"{pipes.get(pipe, 0):.0f}" for pipe in ("shared memory", "mufu", "fma", "alu", "issue")]
    second += [f"{pipes['HBM']:.0f}" if "HBM" in pipes else "–", longest]
    if "HBM" in pipes or not c.macs():
        return first, second + ["–"]
    share = 32 * warps * c.macs() / multiprocessor.PIPES[chip]["fma"] / max(pipes.values())
    return first, second + [f"{100 * share:.0f} %"]


COLUMNS = ("FFMA", "FMUL", "FADD", "FMNMX", "EX2", "SHFL", "LDS", "STS", "LDG", "STG", "RED", "BAR")
