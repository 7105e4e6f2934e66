// b3-deterministic: the same bits in every run.
//
// What changed since b2: no additions to HBM. A second kernel owns blocks of queries, computes S and dP of
// its tiles once more and keeps dQ in registers: seven products for each tile instead of five, and the order
// of every sum is fixed. There Q and dO, too, stay in registers, and K and V come in the background, into the
// place that Q and dO leave. What should limit it: the two products more, 7 / 5 of the work. Where it should
// fall short: the registers are full, and each fragment of K and V serves one band of 16 queries. What it
// costs beside b2 has to be measured; reproducible training may be worth it.
#include "cuda/kernels/key_blocks.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4, Br = 16 * warps, Bc = Br;
/// Two buffers of K_j and V_j; the second begins as Q_i and dO_i.
template <int d> constexpr std::int64_t shared_bytes_of_dQ = std::int64_t(4 * Bc) * d * 2;

/// dQ of block i of one head: dQ = scale · Σ_j dS K_j.
template <class T, int d> KERNEL void THREADS(32 * warps) query_block_gradients(const Arguments a) {
    const int i0 = block_x() * Br, head = block_y(), batch = block_z();
    const int i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1, kv_head = head / (a.heads / a.kv_heads);
    const Mask mask(a);
    const std::int64_t head_row = (std::int64_t(batch) * a.heads + head) * a.N_q;
    const int row0 = 16 * warp();

    unsigned char* const shared = shared_memory<unsigned char>();
    const auto K_in = [&](int buffer) { return Swizzled<T, d>{shared + buffer * 2 * Bc * d * 2}; };
    const auto V_in = [&](int buffer) { return Swizzled<T, d>{K_in(buffer).base + Bc * d * 2}; };
    const auto fetch = [&](int j, int buffer) {
        copy_rows(K_in(buffer), head_of<const T>(a.K, batch, kv_head), a.K.row, j * Bc, Bc, a.N_kv);
        copy_rows(V_in(buffer), head_of<const T>(a.V, batch, kv_head), a.V.row, j * Bc, Bc, a.N_kv);
        commit_copies();
    };
    const int first = mask.first_block(i0, Bc), last = mask.last_block(i1, Bc);

    // Q_i and dO_i to registers, by way of the second buffer
    std::uint32_t q[d / 16][4], dO[d / 16][4];
    if (first <= last) {
        copy_rows(K_in(1), head_of<const T>(a.Q, batch, head), a.Q.row, i0, Br, a.N_q);
        copy_rows(V_in(1), head_of<const T>(a.dO, batch, head), a.dO.row, i0, Br, a.N_q);
        fetch(first, 0);
        wait_copies<0>();
        sync_block();
        UNROLL
        for (int k = 0; k < d / 16; ++k) {
            load_A(q[k], K_in(1), row0, k);
            load_A(dO[k], V_in(1), row0, k);
        }
    }

    float L[2], D[2];
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int row = i0 + row0 + fragment_row(2 * r);
        L[r] = row < a.N_q ? a.L[head_row + row] * log2_e : 0;
        D[r] = row < a.N_q ? BackwardSums(a).D[head_row + row] : 0;
    }
    float dQ[d / 8][4] = {};
    const float c = a.scale * log2_e;
    for (int j = first; j <= last; ++j) {
        // K_j and V_j are here, and all warps are done with the other buffer
        const int buffer = (j - first) % 2;
        wait_copies<0>();
        sync_block();
        if (j < last) fetch(j + 1, 1 - buffer);
        const Swizzled<T, d> Kj = K_in(buffer), Vj = V_in(buffer);

        // S = Q_i K_jᵀ and dP = dO_i V_jᵀ                                                    (Br × Bc)
        float P[Bc / 8][4] = {}, dS[Bc / 8][4] = {};
        UNROLL
        for (int k = 0; k < d / 16; ++k) {
            std::uint32_t b[4];
            UNROLL
            for (int n = 0; n < Bc / 16; ++n) {
                load_B_transposed(b, Kj, 16 * n, k);
                multiply_add<T>(P[2 * n], q[k], b[0], b[1]);
                multiply_add<T>(P[2 * n + 1], q[k], b[2], b[3]);
                load_B_transposed(b, Vj, 16 * n, k);
                multiply_add<T>(dS[2 * n], dO[k], b[0], b[1]);
                multiply_add<T>(dS[2 * n + 1], dO[k], b[2], b[3]);
            }
        }

        // P = exp(S − L), 0 where the mask cuts;  dS = P ⊙ (dP − D)
        const bool cut = !mask.covers(i0, i1, j * Bc, j * Bc + Bc - 1);
        UNROLL
        for (int n = 0; n < Bc / 8; ++n) {
            UNROLL
            for (int e = 0; e < 4; ++e) {
                const bool seen =
                    !cut || mask.sees(i0 + row0 + fragment_row(e), j * Bc + 8 * n + fragment_column(e));
                P[n][e] = seen ? exp2_of(P[n][e] * c - L[e / 2]) : 0;
                dS[n][e] = P[n][e] * (dS[n][e] - D[e / 2]);
            }
        }

        // dQ ← dQ + dS K_j: dS is a left operand as it lies                                   (Br × d)
        UNROLL
        for (int k = 0; k < Bc / 16; ++k) {
            std::uint32_t ds[4], b[4];
            as_A<T>(ds, dS[2 * k], dS[2 * k + 1]);
            UNROLL
            for (int n = 0; n < d / 16; ++n) {
                load_B(b, Kj, 16 * k, n);
                multiply_add<T>(dQ[2 * n], ds, b[0], b[1]);
                multiply_add<T>(dQ[2 * n + 1], ds, b[2], b[3]);
            }
        }
    }

    T* const out = head_of<T>(a.dQ, batch, head);
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int row = i0 + row0 + fragment_row(2 * r);
        if (row >= a.N_q) continue;
        std::uint32_t* const to = reinterpret_cast<std::uint32_t*>(out + row * a.dQ.row);
        UNROLL
        for (int n = 0; n < d / 8; ++n)
            to[4 * n + lane() % 4] = pack<T>(dQ[n][2 * r] * a.scale, dQ[n][2 * r + 1] * a.scale);
    }
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 128>(a.d, [&](auto d) {
        shared = with_key_blocks<d>(chip, [](auto size) { return decltype(size)::shared_bytes; });
        if (shared < shared_bytes_of_dQ<d>) shared = shared_bytes_of_dQ<d>;
    });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_d<64, 128>(a.d),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

std::int64_t workspace(const Arguments& a, DType) { return BackwardSums::bytes(a, false); }

Tile tile(const Arguments& a, DType, const Chip& chip) {
    Tile t;
    with_d<64, 128>(a.d, [&](auto d) {
        t = with_key_blocks<d>(chip, [](auto size) { return Tile{size.Br, size.Bc}; });
    });
    return t;
}

template <class T, class Size> void run_in(const Arguments& a, Stream& stream) {
    launch(stream, rows_grid(a), row_dots<T, false>, a);
    const Grid keys{blocks_of(a.N_kv, Size::Bc), a.kv_heads, a.batch, 32 * Size::warps, Size::shared_bytes};
    launch(stream, keys, key_block_gradients<T, Size, false>, a);
    const Grid queries{blocks_of(a.N_q, Br), a.heads, a.batch, 32 * warps, shared_bytes_of_dQ<Size::d>};
    launch(stream, queries, query_block_gradients<T, Size::d>, a);
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 128>(a.d, [&](auto d) {
            with_key_blocks<d>(stream.chip, [&](auto size) { run_in<T, decltype(size)>(a, stream); });
        });
    });
}

}  // namespace

const Rung& b3_deterministic() {
    static const Rung rung{
        "b3-deterministic",
        "Backward with the same bits every time",
        "A second kernel owns the rows of dQ: seven products instead of five, no atomic additions",
        "cuda/kernels/b3_deterministic.cu",
        Direction::backward,
        false,
        false,
        refuse,
        workspace,
        tile,
        run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
