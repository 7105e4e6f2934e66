"""Whether outputs are right: the rule of docs/bench-format.md, for whole heads, on the GPU."""
import math


def attention(torch, q, k, v, dO, causal, store):
    """One head (N x d, fp64), block by block; `store` rounds what standard attention stores."""
    n, scale, rows = q.shape[0], 1 / math.sqrt(q.shape[1]), 1024
    out = {"O": torch.empty_like(q), "L": torch.empty_like(q[:, 0])}
    if dO is not None:
        out.update(dQ=torch.empty_like(q), dK=torch.zeros_like(k), dV=torch.zeros_like(v))
    keys = torch.arange(n, device=q.device)
    for i in range(0, n, rows):
        block = slice(i, min(n, i + rows))
        S = store(scale * q[block] @ k.T)
        if causal:
            S.masked_fill_(keys[None, :] > keys[block, None], -math.inf)
        P = store(torch.softmax(S, 1))
        out["L"][block] = torch.logsumexp(S, 1)
        out["O"][block] = store(P @ v)
        if dO is None:
            continue
        D = (dO[block] * out["O"][block]).sum(1, keepdim=True)
        dS = store(P * (store(dO[block] @ v.T) - D))
        out["dQ"][block] = store(scale * dS @ k)
        out["dK"] += scale * dS.T @ q[block]
        out["dV"] += P.T @ dO[block]
    for name in ("dK", "dV"):
        if name in out:
            out[name] = store(out[name])
    return out


def references(torch, inputs, causal):
    """For the first head and the last: fp64, and standard attention in each type."""
    stores = {"exact": lambda x: x, "bf16": lambda x: x.to(torch.bfloat16).double(),
              "f32": lambda x: x.to(torch.float32).double()}
    found = {}
    for place in ((0, 0), (-1, -1)):
        q, k, v = (inputs[n][place].double() for n in ("Q", "K", "V"))
        dO = inputs["dO"][place].double() if "dO" in inputs else None
        found[place] = {kind: attention(torch, q, k, v, dO, causal, store) for kind, store in stores.items()}
    return found


def verify(contender, reference):
    """(passed, error, limit, sentence) of the tensor nearest to its limit."""
    worst = (-1.0, True, 0.0, 1.0, "")
    for place, kinds in reference.items():
        for name, x in contender.outputs().items():
            kind = "f32" if name == "L" else contender.dtype  # L is f32 for all
            two_roundings = {"f32": 2.0**-23, "bf16": 2.0**-7}[kind]
            exact, standard = kinds["exact"][name], kinds[kind][name]
            error = (x[place].double() - exact).abs().max().item()
            if math.isnan(error):
                error = math.inf
            # In f32 the sums of the standard are of fp64 here; kernels add N terms in float.
            sums = 16 * 2.0**-24 * math.sqrt(exact.shape[0]) if kind == "f32" else 0
            limit = ((2 if name in ("O", "L") else 3) * (standard - exact).abs().max().item() +
                     (two_roundings + sums) * exact.abs().max().item())
            sentence = f"{name} is off by {error:.1e} (limit {limit:.1e}) in the head at {place}."
            worst = max(worst, (error / limit, error <= limit, error, limit, sentence))
    return worst[1:]
