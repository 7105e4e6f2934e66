// f1-online-row: the online softmax (Milakov & Gimelshein 2018): a warp walks over the keys of one query and
// never writes S or P anywhere.
//
// What changed since f0: m, ℓ and the row of O live in registers; whenever a larger score comes, what has
// been summed so far is scaled down by α. No workspace, memory linear in N. The lanes of the warp share the
// row: lane c has the columns c, c + 32, … of q, of O and of what it reads of K and V. What should limit it:
// the instructions beside its products. Each key costs five shuffles for the sum, two exponentials, and 2 d
// products on 32 lanes, all of which wait for each other. Where it should fall short: writing S down is
// saved, and little else: every query fetches all of K and V for itself, through the caches.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4;

/// `parts`: columns of each lane, d ≤ 32 · parts.
template <int parts> KERNEL void THREADS(32 * warps) online_row(const Arguments a) {
    const int i = block_x() * warps + warp(), head = block_y(), batch = block_z();
    if (i >= a.N_q) return;
    const int kv_head = head / (a.heads / a.kv_heads);
    const float* const Q = head_of<const float>(a.Q, batch, head) + i * a.Q.row;
    const float* const K = head_of<const float>(a.K, batch, kv_head);
    const float* const V = head_of<const float>(a.V, batch, kv_head);

    // m ← −∞,  ℓ ← 0,  O ← 0
    float m = -INFINITY, l = 0, q[parts], O[parts];
    UNROLL
    for (int p = 0; p < parts; ++p) {
        const int c = lane() + 32 * p;
        q[p] = c < a.d ? Q[c] : 0;
        O[p] = 0;
    }

    const Mask mask(a);
    for (int key = mask.first(i); key <= mask.last(i); ++key) {
        // s = scale · q · k
        float s = 0;
        UNROLL
        for (int p = 0; p < parts; ++p) {
            const int c = lane() + 32 * p;
            if (c < a.d) s += q[p] * K[key * a.K.row + c];
        }
        s = a.scale * sum_of_warp(s);

        // m ← max(m, s),  α = exp(m_old − m),  p = exp(s − m)
        const float m_new = fmaxf(m, s), alpha = exp_of(m - m_new), weight = exp_of(s - m_new);
        m = m_new;

        // ℓ ← α ℓ + p,  O ← α O + p v
        l = alpha * l + weight;
        UNROLL
        for (int p = 0; p < parts; ++p) {
            const int c = lane() + 32 * p;
            if (c < a.d) O[p] = alpha * O[p] + weight * V[key * a.V.row + c];
        }
    }

    // O ← O / ℓ,  L = m + ln ℓ. A query that saw no key has ℓ = 0: O = 0, L = −∞.
    const float inverse = l == 0 ? 0 : 1 / l;
    float* const out = head_of<float>(a.O, batch, head) + i * a.O.row;
    UNROLL
    for (int p = 0; p < parts; ++p) {
        const int c = lane() + 32 * p;
        if (c < a.d) out[c] = O[p] * inverse;
    }
    if (lane() == 0)
        a.L[(std::int64_t(batch) * a.heads + head) * a.N_q + i] = l == 0 ? -INFINITY : m + log_of(l);
}

std::string refuse(const Arguments& a, DType type, const Chip&) {
    return first_of({refuse_all_but_f32(type), refuse_wide(a.d, 256)});
}

void run(const Arguments& a, DType, Stream& stream) {
    const int parts = blocks_of(a.d, 32), power = parts <= 2 ? parts : parts <= 4 ? 4 : 8;
    const Grid grid{blocks_of(a.N_q, warps), a.heads, a.batch, 32 * warps};
    with_d<1, 2, 4, 8>(power, [&](auto n) { launch(stream, grid, online_row<n>, a); });
}

}  // namespace

const Rung& f1_online_row() {
    static const Rung rung{"f1-online-row",
                           "Online softmax, a warp for each query",
                           "m, ℓ and the rescaling by α: attention without S and P in memory",
                           "cuda/kernels/f1_online_row.cu",
                           Direction::forward,
                           false,
                           false,
                           refuse,
                           no_workspace,
                           no_tile,
                           run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
