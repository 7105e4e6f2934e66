"""What kernels are held against: attention of one head in PyTorch, every query sees every key, scale 1/8. BASE is
log2(e) as the kernel has it; D is rowsum(dO * O). The prover traces the one that is called `reference`."""
import torch

LOG2_E = 12102203 / 8388608  # of float
SCALE = 0.125


def weights(Q, K):
    return torch.exp2(torch.matmul(Q.float(), K.float().transpose(0, 1)) * (SCALE * BASE))


def forward(Q, K, V):
    P = weights(Q, K)
    l = torch.sum(P, dim=1, keepdim=True)
    return ((torch.matmul(P, V.float()) / l).to(Q.dtype),)


def forward_seen(Q, K, V):
    """Of each query the keys that it sees alone: what the kernel cuts away is not there."""
    rows = []
    for i in range(Q.shape[0]):
        at = i + K.shape[0] - Q.shape[0]
        first = 0 if BEFORE < 0 else max(0, at - BEFORE)
        end = K.shape[0] if AFTER < 0 else min(K.shape[0], at + AFTER + 1)
        rows.append(forward(Q[i:i + 1], K[first:end], V[first:end])[0])
    return (torch.cat(rows),)


def forward_with_L(Q, K, V):
    P = weights(Q, K)
    l = torch.sum(P, dim=1, keepdim=True)
    return (torch.matmul(P, V.float()) / l).to(Q.dtype), torch.log(l).reshape(-1)


def gradient_of_scores(Q, K, V, dO, L, D):
    S = torch.matmul(Q.float(), K.float().transpose(0, 1))
    P = torch.exp2(S * (SCALE * BASE) - (L * BASE).reshape(-1, 1))
    dP = torch.matmul(dO.float(), V.float().transpose(0, 1))
    return P, P * (dP - D.reshape(-1, 1))


def gradients_of_keys(Q, K, V, dO, L, D):
    P, dS = gradient_of_scores(Q, K, V, dO, L, D)
    dK = torch.matmul(dS.transpose(0, 1), Q.float()) * SCALE
    return dK.to(Q.dtype), torch.matmul(P.transpose(0, 1), dO.float()).to(Q.dtype)


def gradient_of_queries(Q, K, V, dO, L, D):
    _, dS = gradient_of_scores(Q, K, V, dO, L, D)
    return ((torch.matmul(dS, K.float()) * SCALE).to(Q.dtype),)
