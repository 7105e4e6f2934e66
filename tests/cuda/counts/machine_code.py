"""A kernel's machine code as nvdisasm prints it: instructions, loops, and what one trip through its tile loop executes.

The way through the loop is that of a tile in the middle: not cut by a mask, and not the last one. It is found from the
code itself: an inner loop turns as often as its counter says; what a branch may jump over is executed unless it can only
be the mask (comparisons, selections and moves alone) or a slow path (a call)."""
import json
import re
import subprocess


class Unreadable(Exception):
    pass


class Instruction:
    def __init__(self, at, said):
        self.at = at
        self.predicate = said.get("predicate", "")
        self.opcode = said["opcode"]
        self.operands = said.get("operands", "")
        self.name = {"REDG": "RED"}.get(self.opcode.split(".")[0], self.opcode.split(".")[0])
        # '@P0 CALL.REL.NOINC 0x43c0' within the kernel is how a loop is left; a call elsewhere names its function
        self.target = None
        if self.name in ("BRA", "CALL") and self.opcode != "BRA.DIV":  # that one is for warps whose lanes have parted
            found = re.search(r"0x([0-9a-f]+)$", self.operands)
            self.target = int(found.group(1), 16) if found else None
        # '@P0 BRA P1, 0x…' jumps where both hold
        self.conditional = bool(self.predicate) or (self.name == "BRA" and re.match(r"!?U?P\d", self.operands) is not None)

    def __repr__(self):
        return f"{self.at:#x} {self.predicate} {self.opcode} {self.operands}"


def disassemble(nvdisasm, cubin):
    """{symbol: [Instruction]}"""
    said = subprocess.run([nvdisasm, "-json", cubin], capture_output=True, text=True, check=True).stdout
    return {f["function-name"]: [Instruction(16 * n, i) for n, i in enumerate(f["sass-instructions"])]
            for f in json.loads(said)[1]}


# What a mask or the choice of an address is made of: nothing that computes, loads, stores or waits
CHOICES = {"ISETP", "FSETP", "PLOP3", "FSEL", "SEL", "MOV", "IADD3", "IMAD", "LOP3", "IMNMX", "VIMNMX", "VIADDMNMX", "LEA",
           "SHF", "S2R", "BRA", "BSSY", "BSYNC", "NOP", "UIADD3", "UISETP", "UMOV", "ULDC", "USEL", "VIADD", "R2UR", "PRMT", "P2R",
           "R2P", "UPLOP3", "WARPSYNC", "YIELD", "CS2R", "ULOP3", "USHF", "UIMAD", "ULEA", "I2FP", "HFMA2", "LDC", "IABS"}


def constant(text):
    """The number that an operand is, or None."""
    if text in ("RZ", "URZ"):
        return 0
    found = re.fullmatch(r"(-?)0x([0-9a-f]+)", text)
    if not found:
        return None
    n = int(found.group(2), 16)
    n = n - (1 << 32) if n >= 1 << 31 else n
    return -n if found.group(1) else n


STEPS = ("IADD3", "UIADD3", "VIADD")


class Loop:
    """Places head … end of the code, with a jump back at `end`."""

    def __init__(self, code, head, end):
        self.code, self.head, self.end = code, head, end

    def holds(self, other):
        return self.head <= other.head and other.end <= self.end and (self.head, self.end) != (other.head, other.end)

    def body(self):
        return self.code[self.head // 16:self.end // 16 + 1]

    def trips(self, threads):
        """How often an inner loop turns: its counter starts at a constant or at the thread's number, grows by a constant or
        by the block's threads, and is held against a constant, or against itself and a constant."""
        body = self.body()
        condition = body[-1].predicate or body[-1].operands.split(",")[0]
        name = re.search(r"U?P\d", condition)
        name = name and name.group(0)
        copy = next((i for i in reversed(body) if i.name == "PLOP3" and i.operands.startswith(f"{name},")), None)
        uniform = copy and re.search(r"UP\d", copy.operands)
        if uniform:  # a comparison of the uniform registers, copied
            name = uniform.group(0)
        compare = next((i for i in reversed(body) if i.name in ("ISETP", "UISETP") and i.operands.startswith(f"{name},")), None)
        if not compare:
            raise Unreadable(f"no comparison ends the loop at {self.end:#x}")
        _, _, left, right = re.match(r"(\S+?),(\S+?),([^,]+),([^,]+)", compare.operands).groups()
        left = left.replace(".reuse", "")
        limit, step, start = constant(right), None, None
        for i in body:
            operands = i.operands.replace(".reuse", "").split(",")
            if operands[0] == left and left in operands[1:] and i.name in STEPS or \
                    operands[0] == left and i.opcode == "IMAD.IADD" and left in operands[1:]:
                by = [o for o in operands[1:] if o not in (left, "RZ", "URZ", "0x1", "PT", "!PT")] or ["0x1"]
                # A register: the block's threads, which no kernel of ours keeps for anything else; what is copied is checked
                step = threads if by[0] == "c[0x0][0x0]" or re.fullmatch(r"U?R\d+", by[0]) else constant(by[0])
        for i in self.code[:self.head // 16]:
            operands = i.operands.replace(".reuse", "").split(",")
            if operands[0] != left:
                continue
            if i.name in ("MOV", "UMOV"):
                start = constant(operands[1])
            elif i.opcode == "IMAD.MOV.U32":
                start = constant(operands[3])
            elif i.name == "CS2R" or (i.name == "HFMA2" and operands[1:] == ["-RZ", "RZ", "0", "0"]):
                start = 0
            else:
                start = None
        if limit is None and start is None:
            limit, start = self.limit_from(left, right.replace(".reuse", "").strip()), 0
        if start is None and limit is not None and step and limit % step == 0 and step >= threads:
            return limit // step  # from the thread's number on
        if None in (limit, step, start) or not step:
            raise Unreadable(f"the loop at {self.head:#x} counts {left} from {start} by {step} to {limit} ({compare})")
        holds = {"NE": lambda n: n != limit, "LT": lambda n: n < limit, "GE": lambda n: n >= limit, "GT": lambda n: n > limit,
                 "LE": lambda n: n <= limit, "EQ": lambda n: n == limit}[compare.opcode.split(".")[1]]
        wanted = "!" not in condition
        # The comparison may stand before the step or after it
        n = start
        for trip in range(1, 4097):
            before, n = n, n + step
            at = n if body.index(compare) > next(k for k, i in enumerate(body) if i.operands.startswith(left)
                                                 and i.name in STEPS) else before
            if holds(at) != wanted:
                return trip
        raise Unreadable(f"the loop at {self.head:#x} does not end")


    def limit_from(self, counter, register):
        """How much further the limit is than the counter, where the last words before the loop make it of the counter; or None."""
        for i in reversed(self.code[:self.head // 16]):
            operands = i.operands.replace(".reuse", "").split(",")
            if operands[0] == counter or i.target is not None:
                return None
            if operands[0] == register:
                return constant(operands[2]) if i.name == "IADD3" and operands[1] == counter and operands[3] == "RZ" else None
        return None


def loops_of(code):
    """The loops, outer ones first. Jumps back to one head are one loop."""
    ends = {}
    for i in code:
        if i.target is not None and i.target <= i.at and i.name == "BRA" and i.target != i.at:
            ends[i.target] = max(ends.get(i.target, 0), i.at)
    return sorted((Loop(code, head, end) for head, end in ends.items()), key=lambda l: l.head - l.end)


def is_choice(code):
    return all(i.name in CHOICES for i in code)


def one_trip(loop, threads, turns=None, skipped=lambda between: False):
    """[Instruction] in the order in which a warp executes them for one tile. turns(inner loop) says how often it turns,
    where that is not read off the code; skipped(code) what is not executed beside masks and slow paths."""
    turns = turns or (lambda inner: inner.trips(threads))
    inner = {l.end: l for l in loops_of(loop.code) if loop.holds(l)}
    turned, path, place = {}, [], loop.head
    while True:
        i = loop.code[place // 16]
        if i.predicate != "@!PT":  # what never executes: '@!PT LDS RZ, [RZ]'
            path.append(i)
        if len(path) > 200000:
            raise Unreadable("no way through the tile loop ends")
        if i.at in inner:  # the end of an inner loop
            turned[i.at] = turned.get(i.at, 0) + 1
            if turned[i.at] < turns(inner[i.at]):
                place = inner[i.at].head
                continue
            turned[i.at] = 0
        elif i.target is not None and i.target == loop.head:
            return path
        elif i.target is not None and not i.conditional:
            if not loop.head <= i.target <= loop.end:
                raise Unreadable(f"{i} leaves the tile loop")
            place = i.target
            continue
        elif i.target is not None and i.name == "BRA" and i.at < i.target <= loop.end:
            between = loop.code[place // 16 + 1:i.target // 16]
            if is_choice(between) or any(j.name == "CALL" and j.target is None for j in between) or skipped(between):
                place = i.target
                continue
        elif i.name in ("EXIT", "RET") and not i.predicate:
            raise Unreadable(f"{i} ends the kernel within its tile loop")
        place += 16
