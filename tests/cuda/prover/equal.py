#!/usr/bin/env python3
"""Whether kernels compute what a PyTorch reference does, in real arithmetic: tests/cuda/prove.sh --equal.

A row of equal.txt is one kernel at one size with its reference (references.py), and with what has to be changed in its
PTX for the proof to close; the changes are printed with the verdict. Only `verified` says something: of right kernels,
too, the prover may say that it could not prove them.
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from prove import COLUMNS, command_line, given, launches_of, tool_version, without_atomics, without_bfi
from ptx_of_kernels import HERE, ROOT, compiled, nvcc_version

RECORD = os.path.join(HERE, "equalities.json")

WIDTH = {"f32": 4, "f16": 2, "bf16": 2}
TORCH = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}


# ---- What is changed in the PTX, by name

def without_L(ptx):
    """The stores of L are left out: the next one behind each ln 2 of logf."""
    places, at = [], 0
    while (at := ptx.find("0f3F317218", at) + 1) > 0:
        places.append(ptx.index("st.global.f32", at))
    for place in sorted(set(places), reverse=True):
        ptx = ptx[:place] + "//" + ptx[place:]
    return ptx


def round_base(ptx):
    """log2(e) becomes 1.5, in the kernel as in the reference: the prover takes 2^(x log2 e) for exp(x) in some places
    and not in others."""
    return ptx.replace("0f3FB8AA3B", "0f3FC00000")


def single_stores(ptx):
    """Two 16-bit numbers that are stored as one word are stored as two."""
    count = 0

    def two(m):
        nonlocal count
        indent, address, offset, word = m[1], m[2], int(m[3] or 0), m[4]
        low, high = f"%half{2 * count}", f"%half{2 * count + 1}"
        count += 1
        return (f"{indent}mov.b32 {{{low}, {high}}}, {word};\n{indent}st.global.b16 [{address}+{offset}], {low};\n"
                f"{indent}st.global.b16 [{address}+{offset + 2}], {high};")
    ptx = re.sub(r"^([ \t]*)st\.global\.(?:u|b)32[ \t]+\[(%\w+)(?:\+(-?\d+))?\], (%\w+);", two, ptx, flags=re.M)
    return ptx.replace("\n{\n", f"\n{{\n.reg .b16 %half<{2 * count + 2}>;\n", 1)


def plain_loads(ptx):
    """A vector load of which some bytes are not used loads the others one by one."""
    def masked(m):
        registers, offset, mask = [r.strip() for r in m[3].split(",")], int(m[5] or 0), int(m[1])
        return "\n".join(f"\tld.shared.f32 {r}, [{m[4]}+{offset + 4 * n}];"
                         for n, r in enumerate(registers) if mask >> (4 * n) & 15)
    return re.sub(r'^[ \t]*\.pragma "used_bytes_mask (\d+)";\s*\n[ \t]*ld\.shared\.v(\d)\.[fb]32[ \t]+\{([^}]*)\}, '
                  r'\[(%\w+)(?:\+(\d+))?\];', masked, ptx, flags=re.M)


CHANGES = {"without L": without_L, "log2(e) = 1.5": round_base, "single stores": single_stores,
           "plain loads": plain_loads}


def decided(ptx):
    """Branches that depend on numbers: l is not 0 (every row sees a key), and finite."""
    found, last = [], {}
    for number, line in enumerate(ptx.split("\n"), 1):
        compared = re.match(r"\s*setp\.(\S+)\s+(%p\d+), (\S+), (\S+);", line)
        if compared:
            last[compared[2]] = (compared[1], compared[4])
        branch = re.match(r"\s*@(!?)(%p\d+) bra", line)
        if not branch or branch[2] not in last:
            continue
        operation, limit = last[branch[2]]
        negated = branch[1] == "!"
        if operation.startswith("eq.") and limit == "0f00000000":
            found.append({"line": number, "taken": negated, "note": "l is not 0"})
        if operation.startswith("neu.") and limit == "0f00000000":
            found.append({"line": number, "taken": not negated, "note": "l is not 0"})
        if (operation, limit) == ("lt.u32", "2139095040"):
            found.append({"line": number, "taken": not negated, "note": "l is finite"})
        if (operation, limit) == ("gt.u32", "2139095039"):
            found.append({"line": number, "taken": negated, "note": "l is finite"})
    return found


# ---- What corresponds to what

def allocation(name):
    return f"6:global{len(name)}:{name}"


def layout(shape, width, prefixes):
    strides = [width]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    of = {"shape": shape, "element_bytes": width}
    for prefix in prefixes:
        of.update({prefix + "_offset": 0, prefix + "_strides_bytes": strides})
    return of


def binding(row, launch, symbol, inputs, outputs):
    """Of reference and kernel, the tensors that are the same."""
    N, M, d, width = int(row["N_q"]), int(row["N_kv"]), int(row["d"]), WIDTH[row["type"]]
    shapes = {"Q": ([N, d], width), "dO": ([N, d], width), "O": ([N, d], width), "dQ": ([N, d], width),
              "K": ([M, d], width), "V": ([M, d], width), "dK": ([M, d], width), "dV": ([M, d], width),
              "L": ([N], 4), "workspace": ([N], 4)}
    scale = next(v for v in launch["values"] if v["name"] == "scale")
    left = {"allocations": {allocation(n): n for n in inputs}, "parameters": {},
            "layouts": {allocation(n): layout(*shapes[n], ("source", "target")) for n in inputs}}
    constant = {f"{symbol}_param_0+{scale['offset']}": {"type": "f32", "literal": repr(scale["value"])}}
    return {"schema": "spverify.equivalence-mapping.v1", "left_inputs": left,
            "right_inputs": dict(left, parameter_constants=constant),
            "outputs": {"kind": "dense_tensors", "tensors": [
                dict(layout(*shapes[n], ("left", "right")), left_allocation=n + "_ref", right_allocation=allocation(n))
                for n in outputs]},
            "output_value_semantics": "ideal_real",
            "reference": {"arguments": [{"name": "D" if n == "workspace" else n, "allocation": allocation(n),
                                         "dtype": "float32" if shapes[n][1] == 4 and len(shapes[n][0]) == 1
                                         else TORCH[row["type"]]} for n in inputs]}}


def reference_of(folder, row, function, changes):
    """A file that holds one reference as `reference`."""
    text = open(os.path.join(HERE, "references.py"), encoding="utf-8").read()
    base = "1.5" if "log2(e) = 1.5" in changes else "LOG2_E"
    path = os.path.join(folder, "reference.py")
    sight = f"BEFORE, AFTER = {row['before']}, {row['after']}"
    open(path, "w").write(text + f"\nBASE = {base}\n{sight}\nreference = {function}\n")
    return path


# ---- The proof

def prove_equal(options, row, kernel, function, changes, seconds, root=ROOT):
    launch = next(l for l in launches_of(options.launches, row) if l["kernel"].startswith(kernel))
    source = row["rung"].replace("-", "_") + ".cu"
    entry = compiled(options.nvcc, source, options.architecture, root)[launch["kernel"]]
    module, _ = without_atomics(without_bfi(entry.module))
    for change in changes:
        module = CHANGES[change](module)
    question = dict(given(launch, entry.symbol), branch_decisions=decided(module))
    inputs, outputs = INPUTS[function]
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        paths = {name: os.path.join(folder, name) for name in ("kernel.ptx", "input.json", "binding.json")}
        open(paths["kernel.ptx"], "w").write(module)
        json.dump(question, open(paths["input.json"], "w"))
        json.dump(binding(row, launch, entry.symbol, inputs, outputs), open(paths["binding.json"], "w"))
        began = time.time()
        said = subprocess.run([options.prover, paths["kernel.ptx"], "--input", paths["input.json"], "--timeout",
                               str(seconds), "--memory-limit-mib", str(options.memory), "--reference",
                               reference_of(folder, row, function, changes), "--reference-binding", paths["binding.json"]],
                              capture_output=True, text=True)
    try:
        answer = json.loads(said.stdout)
    except ValueError:
        answer = {"result": "no answer", "diagnostics": [(said.stdout + said.stderr)[-500:]]}
    return answer, launch["kernel"], entry.hash, round(time.time() - began)


INPUTS = {"forward": (("Q", "K", "V"), ("O",)),
          "forward_seen": (("Q", "K", "V"), ("O",)),
          "forward_with_L": (("Q", "K", "V"), ("O", "L")),
          "gradients_of_keys": (("Q", "K", "V", "dO", "L", "workspace"), ("dK", "dV")),
          "gradient_of_queries": (("Q", "K", "V", "dO", "L", "workspace"), ("dQ",))}


def words_of(answer):
    """Where the prover stopped, in its own words."""
    told = answer.get("diagnostics", [])[:1]
    return "; ".join(d if isinstance(d, str) else d.get("message") or f"{d.get('code')} in {d.get('stage')}" for d in told)


def record(line, prover, nvcc):
    """Puts a verdict into equalities.json, in the place of what was known of this kernel and size."""
    known = json.load(open(RECORD))["equalities"] if os.path.exists(RECORD) else []
    place = lambda x: (x["kernel"], x["size"], x.get("reference", ""))
    lines = sorted([x for x in known if place(x) != place(line)] + [line], key=place)
    head = {"about": "Kernels that were held against PyTorch in real arithmetic; tests/cuda/prove.sh --equal --record "
                     "writes this file.", "prover": prover, "nvcc": nvcc, "date": datetime.date.today().isoformat()}
    text = json.dumps(head, indent=1)[:-2] + ",\n \"equalities\": [\n"
    open(RECORD, "w").write(text + ",\n".join("  " + json.dumps(x) for x in lines) + "\n ]\n}\n")


def main():
    parse = command_line(__doc__, "rows that hold one of these words", "equal.txt")
    parse.add_argument("--architecture", default="80")
    parse.add_argument("--record", action="store_true", help="write equalities.json")
    options = parse.parse_args()
    open_ones = 0
    for line in open(options.table, encoding="utf-8"):
        fields = [field.strip() for field in line.split("|")]
        if not line.strip() or line.startswith("#") or options.only and not any(w in " ".join(fields) for w in options.only):
            continue
        rung, kind, d, N, M, before, after, kernel, function, changes, seconds = fields
        row = dict(zip(COLUMNS, (rung, kind, d, N, M, "1", "1", before, after, "1", "0", "60")))
        changes = [c.strip() for c in changes.split(",") if c.strip()]
        answer, name, digest, took = prove_equal(options, row, kernel, function, changes, int(seconds))
        print(f"{answer['result']:14} {rung} {name}, {N} x {M}, {took} s; {', '.join(changes) or 'unchanged'}; {digest}",
              flush=True)
        for said in answer.get("diagnostics", [])[:2] if answer["result"] != "verified" else []:
            print("    " + json.dumps(said)[:400], flush=True)
        if options.record:
            sight = "" if before == after == "-1" else f", before {before}, after {after}"
            line = {"kernel": f"{rung} {name}", "hash": digest, "size": f"{kind}, d = {d}, {N} x {M}{sight}",
                    "reference": function, "changes": changes, "result": answer["result"], "seconds": took}
            if answer["result"] != "verified":
                line["in its words"] = words_of(answer)
            record(line, tool_version(options.prover), nvcc_version(options.nvcc))
        open_ones += answer["result"] != "verified"
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
