// f7-hopper: FlashAttention-3's way of using Hopper (Shah et al. 2024, arXiv:2407.08608, algorithm 2).
//
// What changed since f5: nobody copies and nobody waits for its own products any more. One warp only asks for
// tiles, which come by themselves (TMA), already swizzled. Two groups of four warps compute: they issue
// products of 64 rows that read both factors from shared memory and run on while the warps do something else
// (wgmma). While a group takes the exponentials of its scores, the tensor cores multiply: its own O ← O + P̃
// V_{j−1} (pipelined within the group), and the scores of the other group (ping-pong: named barriers give the
// tensor cores to one group after the other). What should limit it: the tensor cores. Where it should fall
// short: at d = 64 there are half as many products for the same exponentials.
//
// Left out of FlashAttention-3: blocks that stay and take one tile of queries after the other, O by way of
// shared memory, clusters, 8-bit products; larger tiles (176 keys at d = 128 without a mask).
#include "cuda/kernels/bands.h"
#include "cuda/kernels/hopper_parts.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

/// 64 query rows for each group of warps; as many keys as registers hold: S takes Bc / 2 of them, P̃ Bc / 4,
/// O d / 2.
template <int dim, int keys> struct Sizes {
    static constexpr int d = dim, Bc = keys, Br = 64 * consumers;
    static constexpr int threads = group_threads + consumer_threads;
    using Queries = Panels<Br, d>;
    using Keys = Panels<Bc, d>;
    static constexpr int barriers = 1 + 4 * stages;
    static constexpr int barriers_at = Queries::bytes + 2 * stages * Keys::bytes;
    static constexpr std::int64_t shared_bytes = barriers_at + barriers * std::int64_t(sizeof(MBarrier));
};

template <class F> bool with_sizes(int d, F&& f) {
    switch (d) {
    case 64: return f(Sizes<64, 64>{}), true;
    case 128: return f(Sizes<128, 128>{}), true;
    default: return false;
    }
}

/// Tiles in shared memory, and the barriers that say who may touch them. `full`: it has come; `free`: every
/// warp that computes is done with it.
template <class Size> struct Shared {
    unsigned char* base;

    DEVICE typename Size::Queries Q() const { return {base}; }
    DEVICE typename Size::Keys K(int stage) const { return {base + Size::Queries::bytes + stage * bytes}; }
    DEVICE typename Size::Keys V(int stage) const { return K(stages + stage); }
    DEVICE MBarrier* Q_full() const { return barrier(0); }
    DEVICE MBarrier* K_full(int stage) const { return barrier(1 + stage); }
    DEVICE MBarrier* V_full(int stage) const { return barrier(1 + stages + stage); }
    DEVICE MBarrier* K_free(int stage) const { return barrier(1 + 2 * stages + stage); }
    DEVICE MBarrier* V_free(int stage) const { return barrier(1 + 3 * stages + stage); }

    /// By one thread: a tile is there when its bytes are, and free when a lane of each warp has said so.
    DEVICE void make_barriers() const {
        for (int n = 0; n < Size::barriers; ++n)
            init_barrier(barrier(n), n < 1 + 2 * stages ? 1 : consumer_threads / 32);
        publish_barriers();
    }

private:
    static constexpr int bytes = Size::Keys::bytes;
    DEVICE MBarrier* barrier(int n) const {
        return reinterpret_cast<MBarrier*>(base + Size::barriers_at) + n;
    }
};

/// What a block computes: rows from i0 on, tiles of keys first … first + tiles − 1.
struct Work {
    int batch, head, kv_head, i0, first, tiles;
};

/// One thread fetches Q, and then K and V of each tile as soon as a buffer is free.
template <class Size>
DEVICE void fetch_all(const Shared<Size>& shared, const TensorMap& Q, const TensorMap& K, const TensorMap& V,
                      const Work& work) {
    constexpr int Bc = Size::Bc, bytes = Size::Keys::bytes;
    expect_bytes(shared.Q_full(), Size::Queries::bytes);
    shared.Q().fetch(Q, shared.Q_full(), work.i0, work.head, work.batch);
    NO_UNROLL
    for (int n = 0; n < work.tiles; ++n) {
        const int key = (work.first + n) * Bc;
        const Turn turn(n);
        // Free when the tile before is done with; of a new barrier the phase before has always ended.
        wait_for(shared.K_free(turn.stage), turn.parity ^ 1);
        expect_bytes(shared.K_full(turn.stage), bytes);
        shared.K(turn.stage).fetch(K, shared.K_full(turn.stage), key, work.kv_head, work.batch);
        wait_for(shared.V_free(turn.stage), turn.parity ^ 1);
        expect_bytes(shared.V_full(turn.stage), bytes);
        shared.V(turn.stage).fetch(V, shared.V_full(turn.stage), key, work.kv_head, work.batch);
    }
}

/// One of the groups that compute: its 64 rows while they walk over the keys.
template <class T, class Size, bool traced> struct Consumer {
    static constexpr int d = Size::d, Bc = Size::Bc;
    const Shared<Size>& shared;
    const Arguments& a;
    const Work& work;
    int group, row0;  ///< row0: the first of this warp, within the tile
    Band<T, d, Bc> rows;
    Fragments<Bc> S;
    std::uint32_t P[Bc / 16][4];
    float alpha[2];

    DEVICE Consumer(const Shared<Size>& tiles, const Arguments& arguments, const Work& of_block)
        : shared(tiles), a(arguments), work(of_block), group(thread() / group_threads - 1),
          row0(16 * (warp() - group_threads / 32)) {}

    /// S = Q_i K_jᵀ, in the background                                                          (64 × Bc)
    DEVICE void issue_QK(int n) {
        UNROLL
        for (int k = 0; k < d / 16; ++k)
            multiply_async<T>(S, shared.Q().along_columns(64 * group, k),
                              shared.K(Turn(n).stage).along_columns(0, k), k > 0);
        commit_products();
    }
    /// O ← O + P̃ V_j, in the background                                                         (64 × d)
    DEVICE void issue_PV(int n) {
        UNROLL
        for (int k = 0; k < Bc / 16; ++k)
            multiply_async<T>(rows.O, P[k], shared.V(Turn(n).stage).along_rows(k));
        commit_products();
    }
    /// The tile may be written over, as far as this warp goes.
    DEVICE static void release(MBarrier* free) {
        if (lane() == 0) arrive_at(free);
    }
    /// The same, but not before the weights are there, whose sum is never −1. Where nothing asks for them,
    /// ptxas puts the exponentials off until O has been waited for.
    DEVICE void release_behind_softmax(MBarrier* free) const {
        if (lane() == 0 && rows.l[0] + rows.l[1] != -1) arrive_at(free);
    }
    /// m and ℓ take in the scores of tile n; O waits for its α.
    DEVICE void soften(const Mask& mask, float c, int n) {
        const int i0 = work.i0, i1 = (i0 + Size::Br < a.N_q ? i0 + Size::Br : a.N_q) - 1;
        const int j0 = (work.first + n) * Bc;
        if (!mask.covers(i0, i1, j0, j0 + Bc - 1)) rows.cut(S, mask, i0 + row0, j0);
        Recorder record = recorder(n);
        rows.template soften_with<traced>(S, c, record, row0,
                                          [this](int r, float factor) { alpha[r] = factor; });
    }
    /// P̃ as the next product takes it: the C fragments of S are its A fragments.
    DEVICE void pack_P() {
        UNROLL
        for (int k = 0; k < Bc / 16; ++k) as_A<T>(P[k], S[2 * k], S[2 * k + 1]);
    }
    DEVICE Recorder recorder(int n) const {
        return Recorder(a.trace, work.batch * a.heads + work.head, work.i0 / Size::Br, work.first + n);
    }
    DEVICE void record(int n) { RECORD(Recorder record = recorder(n); record_O<d>(record, rows.O, row0)) }

    /// Named barriers: whose turn it is at the tensor cores. The other group gives it.
    DEVICE void take_turn() const { sync_named(1 + group, consumer_threads); }
    DEVICE void give_turn() const { arrive_named(2 - group, consumer_threads); }

    DEVICE void walk() {
        const Mask mask(a);
        const float c = a.scale * log2_e;

        // S of the first tile, alone
        wait_for(shared.Q_full(), 0);
        wait_for(shared.K_full(0), 0);
        fence_products();
        issue_QK(0);
        wait_products<0>(S);
        release(shared.K_free(0));
        soften(mask, c, 0);
        pack_P();
        if (group == 1) give_turn();

        NO_UNROLL
        for (int n = 1; n < work.tiles; ++n) {
            const Turn now(n), before(n - 1);
            wait_for(shared.K_full(now.stage), now.parity);
            take_turn();
            // S of this tile and O of the one before: this group has the tensor cores
            fence_products();
            issue_QK(n);
            wait_for(shared.V_full(before.stage), before.parity);
            fence_products();
            issue_PV(n - 1);
            give_turn();

            // The softmax, while O is multiplied, and while the other group multiplies
            wait_products<1>(S);
            soften(mask, c, n);
            release_behind_softmax(shared.K_free(now.stage));

            // O ← α ⊙ O, and P̃ for the next turn
            wait_products<0>(rows.O);
            release(shared.V_free(before.stage));
            record(n - 1);
            UNROLL
            for (int r = 0; r < 2; ++r) rows.rescale(r, alpha[r]);
            pack_P();
        }

        // O of the last tile; the turn that nobody took is taken back
        const Turn last(work.tiles - 1);
        wait_for(shared.V_full(last.stage), last.parity);
        fence_products();
        issue_PV(work.tiles - 1);
        wait_products<0>(rows.O);
        record(work.tiles - 1);
        if (group == 0) take_turn();
    }
};

template <class T, class Size, bool traced>
KERNEL void THREADS_ALONE(Size::threads)
    forward(const GRID_CONSTANT TensorMap Q, const GRID_CONSTANT TensorMap K, const GRID_CONSTANT TensorMap V,
            const Arguments a) {
    if constexpr (!hopper) return;  // refused on the host
    const Mask mask(a);
    const int i0 = block_x() * Size::Br, i1 = (i0 + Size::Br < a.N_q ? i0 + Size::Br : a.N_q) - 1;
    const int first = mask.first_block(i0, Size::Bc), tiles = mask.last_block(i1, Size::Bc) - first + 1;
    const int head = block_y();
    const Work work{block_z(), head, head / (a.heads / a.kv_heads), i0, first, tiles};

    const Shared<Size> shared{shared_tiles<unsigned char>()};
    if (thread() == 0) shared.make_barriers();
    sync_block();

    if (thread() < group_threads) {
        shrink_registers<producer_registers>();
        if (thread() == 0 && tiles > 0) fetch_all(shared, Q, K, V, work);
        return;
    }
    grow_registers<consumer_registers>();
    Consumer<T, Size, traced> consumer(shared, a, work);
    if (tiles > 0) consumer.walk();
    consumer.rows.write(a, work.batch, head, i0 + consumer.row0);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_sizes(a.d, [&](auto size) { shared = size.shared_bytes; });
    return first_of({refuse_f32(type), refuse_all_but_hopper(chip), refuse_d<64, 128>(a.d),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

Tile tile(const Arguments& a, DType, const Chip&) {
    Tile t;
    with_sizes(a.d, [&](auto size) { t = {size.Br, size.Bc}; });
    return t;
}

template <class T, class Size, bool traced> void run_in(const Arguments& a, Stream& stream) {
    const auto map = [&](const Tensor& t, int N, int heads, int rows) {
        return tensor_map<T>(stream, t, a.d, N, heads, a.batch, rows);
    };
    const TensorMap Q = map(a.Q, a.N_q, a.heads, Size::Br), K = map(a.K, a.N_kv, a.kv_heads, Size::Bc),
                    V = map(a.V, a.N_kv, a.kv_heads, Size::Bc);
    const Grid grid{blocks_of(a.N_q, Size::Br), a.heads, a.batch, Size::threads, Size::shared_bytes};
    launch(stream, grid, forward<T, Size, traced>, Q, K, V, a);
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_sizes(a.d, [&](auto size) {
            using Size = decltype(size);
            a.trace.tiles_i > 0 ? run_in<T, Size, true>(a, stream) : run_in<T, Size, false>(a, stream);
        });
    });
}

}  // namespace

const Rung& f7_hopper() {
    static const Rung rung{"f7-hopper",
                           "FlashAttention-3, forward",
                           "Tiles that come by themselves, products in the background, two groups in turns",
                           "cuda/kernels/f7_hopper.cu",
                           Direction::forward,
                           false,
                           true,
                           refuse,
                           no_workspace,
                           tile,
                           run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
