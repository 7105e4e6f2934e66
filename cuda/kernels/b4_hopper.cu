// b4-hopper: FlashAttention-3's way of using Hopper in the backward pass (Shah et al. 2024, arXiv:2407.08608,
// appendix B.1).
//
// What changed since b3: one warp asks for tiles, which come by themselves (TMA), and two groups of four
// warps compute with products in the background (wgmma), as in f7. While a group takes its exponentials the
// tensor cores multiply dP, and while it computes dS they multiply dV, or the products of the other group. Pᵀ
// and dSᵀ do not go through shared memory any more: as they lie in registers they are left factors, and of a
// tile in shared memory wgmma sums over the rows as well as over the columns. What should limit it: the
// tensor cores. Where it should fall short: seven products for each tile instead of five, and at d = 128 the
// registers are full.
//
// dQ: FlashAttention-3 multiplies it in the same pass, from dS in shared memory, and one more warp adds it to
// HBM. Here a second launch of the same code owns the rows of dQ, as in b3. So dS stays in registers, nothing
// but the barriers of tiles orders anything, and all bits are the same in every run.
//
// Left out of FlashAttention-3 besides: blocks that stay and take one tile of keys after the other, outputs
// by way of shared memory, clusters, 128 queries at a time at d = 64.
#include "cuda/kernels/backward_parts.h"
#include "cuda/kernels/bands.h"
#include "cuda/kernels/hopper_parts.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

/// X and Y stay in a block, 64 rows of them for each group of warps; U and W pass by, as many at a time:
/// S = X Uᵀ, dP = Y Wᵀ, and the gradient of X grows by dS U, that of Y by P W.
template <int dim> struct Sizes {
    static constexpr int d = dim, side = 64, staying = side * consumers, passing = side;
    static constexpr int threads = group_threads + consumer_threads;
    using Stays = Panels<staying, d>;
    using Passes = Panels<passing, d>;
    static constexpr int barriers = 1 + 4 * stages;
    /// L and D of the queries that pass by, in each buffer
    static constexpr int numbers_at = 2 * (Stays::bytes + stages * Passes::bytes);
    static constexpr int barriers_at = numbers_at + 2 * stages * passing * int(sizeof(float));
    static constexpr std::int64_t shared_bytes = barriers_at + barriers * std::int64_t(sizeof(MBarrier));
};
/// X, Y = K, V; U, W = Q, dO. All is transposed: dK grows by dSᵀ Q, dV by Pᵀ dO.
template <int dim> struct KeysStay : Sizes<dim> {
    static constexpr bool keys = true;
    static constexpr int fetching = 32;  ///< threads
};
/// X, Y = Q, dO; U, W = K, V. dQ grows by dS K; P V would be O, which is there already.
template <int dim> struct QueriesStay : Sizes<dim> {
    static constexpr bool keys = false;
    static constexpr int fetching = 1;
};

/// Tiles in shared memory, and the barriers that say who may touch them. `full`: it has come; `free`: every
/// warp that computes is done with it.
template <class Size> struct Shared {
    using Stays = typename Size::Stays;
    using Passes = typename Size::Passes;
    unsigned char* base;

    DEVICE Stays X() const { return {base}; }
    DEVICE Stays Y() const { return {base + Stays::bytes}; }
    DEVICE Passes U(int stage) const { return {base + 2 * Stays::bytes + stage * Passes::bytes}; }
    DEVICE Passes W(int stage) const { return U(stages + stage); }
    DEVICE float* L(int stage) const {
        return reinterpret_cast<float*>(base + Size::numbers_at) + 2 * stage * Size::passing;
    }
    DEVICE float* D(int stage) const { return L(stage) + Size::passing; }
    DEVICE MBarrier* X_Y_full() const { return barrier(0); }
    DEVICE MBarrier* U_full(int stage) const { return barrier(1 + stage); }
    DEVICE MBarrier* W_full(int stage) const { return barrier(1 + stages + stage); }
    DEVICE MBarrier* U_free(int stage) const { return barrier(1 + 2 * stages + stage); }
    DEVICE MBarrier* W_free(int stage) const { return barrier(1 + 3 * stages + stage); }

    /// By one thread: a tile is there when its bytes are, where queries pass by also its L and D; free when a
    /// lane of each warp has said so.
    DEVICE void make_barriers() const {
        init_barrier(X_Y_full(), 1);
        for (int stage = 0; stage < stages; ++stage) {
            init_barrier(U_full(stage), Size::keys ? 2 : 1);
            init_barrier(W_full(stage), 1);
            init_barrier(U_free(stage), consumer_threads / 32);
            init_barrier(W_free(stage), consumer_threads / 32);
        }
        publish_barriers();
    }

private:
    DEVICE MBarrier* barrier(int n) const {
        return reinterpret_cast<MBarrier*>(base + Size::barriers_at) + n;
    }
};

/// What a block computes: rows of X from row0 on, of one head; and what passes by, `blocks` tiles of each
/// head: where keys stay, of all heads that read them.
struct Work {
    int batch, head, row0, first_head, first, blocks, tiles;

    DEVICE int head_at(int n) const { return first_head + n / blocks; }
    template <class Size> DEVICE int column_at(int n) const { return (first + n % blocks) * Size::passing; }
};

template <class Size> DEVICE Work work_of_block(const Arguments& a) {
    const Mask mask(a);
    const int row0 = block_x() * Size::staying, head = block_y(), group = a.heads / a.kv_heads;
    const int rows = Size::keys ? a.N_kv : a.N_q;
    const int row1 = (row0 + Size::staying < rows ? row0 + Size::staying : rows) - 1;
    Work work{block_z(), head, row0, 0, 0, 0, 0};
    if (Size::keys) {
        const int last_query = mask.last_query(row1, a.N_q);
        work.first_head = head * group;
        work.first = mask.first_query(row0) / Size::passing;
        work.blocks = (last_query < 0 ? -1 : last_query / Size::passing) - work.first + 1;
        work.tiles = group * work.blocks;
    } else {
        work.first_head = head / group;
        work.first = mask.first_block(row0, Size::passing);
        work.blocks = work.tiles = mask.last_block(row1, Size::passing) - work.first + 1;
    }
    return work;
}

/// L, in powers of two, and D of the queries of tile n, by one warp.
template <class Size>
DEVICE void copy_L_and_D(const Shared<Size>& shared, const Arguments& a, const Work& work, int n) {
    const std::int64_t head_row = (std::int64_t(work.batch) * a.heads + work.head_at(n)) * a.N_q;
    const int stage = Turn(n).stage;
    UNROLL
    for (int column = 0; column < Size::passing; column += 32) {
        const int at = column + lane(), row = work.column_at<Size>(n) + at;
        shared.L(stage)[at] = row < a.N_q ? a.L[head_row + row] * log2_e : 0;
        shared.D(stage)[at] = row < a.N_q ? BackwardSums(a).D[head_row + row] : 0;
    }
}

/// Fetches X and Y, and then U and W of each tile as soon as a buffer is free. By one thread; by a warp where
/// L and D are copied, whose lanes meet in each tile: one that fell two phases behind would wait forever.
template <class Size>
DEVICE void fetch_all(const Shared<Size>& shared, const TensorMap& X, const TensorMap& Y, const TensorMap& U,
                      const TensorMap& W, const Arguments& a, const Work& work) {
    if (lane() == 0) {
        expect_bytes(shared.X_Y_full(), 2 * Size::Stays::bytes);
        shared.X().fetch(X, shared.X_Y_full(), work.row0, work.head, work.batch);
        shared.Y().fetch(Y, shared.X_Y_full(), work.row0, work.head, work.batch);
    }
    NO_UNROLL
    for (int n = 0; n < work.tiles; ++n) {
        const int head = work.head_at(n), column = work.column_at<Size>(n);
        const Turn turn(n);
        // Free when the tile before is done with, W first; of a new barrier the phase before has always
        // ended.
        wait_for(shared.W_free(turn.stage), turn.parity ^ 1);  // W of this stage was read: it may go
        if (lane() == 0) {
            expect_bytes(shared.W_full(turn.stage), Size::Passes::bytes);
            shared.W(turn.stage).fetch(W, shared.W_full(turn.stage), column, head, work.batch);
        }
        wait_for(shared.U_free(turn.stage), turn.parity ^ 1);  // U of this stage was read: it may go
        if (lane() == 0) {
            expect_bytes(shared.U_full(turn.stage), Size::Passes::bytes);
            shared.U(turn.stage).fetch(U, shared.U_full(turn.stage), column, head, work.batch);
        }
        if constexpr (Size::keys) {
            copy_L_and_D(shared, a, work, n);
            sync_warp();  // all lanes have copied L and D
            if (lane() == 0) arrive_at(shared.U_full(turn.stage));
        }
    }
}

/// One of the groups that compute: its 64 rows of X and Y while U and W pass by.
template <class T, class Size> struct Consumer {
    static constexpr int d = Size::d, columns = Size::passing;
    using Left = std::uint32_t[columns / 16][4];
    const Shared<Size>& shared;
    const Arguments& a;
    const Work& work;
    int group, row0;           ///< row0: the first of this warp
    float L[2], D[2];          ///< of this lane's rows, where queries stay
    Fragments<columns> P, dS;  ///< before that S and dP
    Left packed_P, packed_dS;
    Fragments<d> of_X, of_Y;  ///< the gradients: dK, dV; or dQ and nothing

    DEVICE Consumer(const Shared<Size>& tiles, const Arguments& arguments, const Work& of_block)
        : shared(tiles), a(arguments), work(of_block), group(thread() / group_threads - 1),
          row0(work.row0 + 16 * (warp() - group_threads / 32)) {
        UNROLL
        for (int n = 0; n < d / 8; ++n) UNROLL
        for (int e = 0; e < 4; ++e) of_X[n][e] = of_Y[n][e] = 0;
        if constexpr (!Size::keys) {
            const std::int64_t head_row = (std::int64_t(work.batch) * a.heads + work.head) * a.N_q;
            UNROLL
            for (int r = 0; r < 2; ++r) {
                const int row = row0 + fragment_row(2 * r);
                L[r] = row < a.N_q ? a.L[head_row + row] * log2_e : 0;
                D[r] = row < a.N_q ? BackwardSums(a).D[head_row + row] : 0;
            }
        }
    }

    /// C = A Bᵀ, in the background: of this group's rows                                       (64 × 64)
    DEVICE void issue_scores(Fragments<columns>& C, const typename Size::Stays& A,
                             const typename Size::Passes& B) {
        UNROLL
        for (int k = 0; k < d / 16; ++k)
            multiply_async<T>(C, A.along_columns(Size::side * group, k), B.along_columns(0, k), k > 0);
        commit_products();
    }
    /// C ← C + A B, in the background                                                           (64 × d)
    DEVICE void issue_gradient(Fragments<d>& C, const Left& A, const typename Size::Passes& B) {
        UNROLL
        for (int k = 0; k < columns / 16; ++k) multiply_async<T>(C, A[k], B.along_rows(k));
        commit_products();
    }
    /// As the next product takes it: the C fragments are its A fragments.
    DEVICE static void pack_left(Left& to, const Fragments<columns>& from) {
        UNROLL
        for (int k = 0; k < columns / 16; ++k) as_A<T>(to[k], from[2 * k], from[2 * k + 1]);
    }
    /// The tile may be written over, as far as this warp goes.
    DEVICE static void release(MBarrier* free) {
        if (lane() == 0) arrive_at(free);
    }

    /// L and D of the query that a column is, or a row
    DEVICE float L_of(int stage, int n, int e) const {
        return Size::keys ? shared.L(stage)[8 * n + fragment_column(e)] : L[e / 2];
    }
    DEVICE float D_of(int stage, int n, int e) const {
        return Size::keys ? shared.D(stage)[8 * n + fragment_column(e)] : D[e / 2];
    }
    /// P = exp(S − L), 0 where the mask cuts
    DEVICE void soften(const Mask& mask, float c, int n) {
        const int column0 = work.column_at<Size>(n);
        UNROLL
        for (int k = 0; k < columns / 8; ++k) UNROLL
        for (int e = 0; e < 4; ++e) P[k][e] = exp2_of(P[k][e] * c - L_of(Turn(n).stage, k, e));
        if (!sees_all(mask, column0)) cut(mask, column0);
    }
    /// Whether nothing is to be cut of this group's rows and the columns from column0 on.
    DEVICE bool sees_all(const Mask& mask, int column0) const {
        const int i0 = Size::keys ? column0 : work.row0 + Size::side * group;
        const int j0 = Size::keys ? work.row0 + Size::side * group : column0;
        const int i1 = (i0 + Size::side < a.N_q ? i0 + Size::side : a.N_q) - 1;
        return mask.covers(i0, i1, j0, j0 + Size::side - 1);
    }
    DEVICE void cut(const Mask& mask, int column0) {
        UNROLL
        for (int r = 0; r < 2; ++r) {
            // Counted from this lane's first column
            const int row = row0 + fragment_row(2 * r), from = column0 + fragment_column(0);
            const int first = (Size::keys ? mask.first_query(row) : mask.first(row)) - from;
            const int last = (!Size::keys       ? mask.last(row)
                              : row < mask.N_kv ? mask.last_query(row, a.N_q)
                                                : -1) -
                             from;
            UNROLL
            for (int k = 0; k < columns / 8; ++k) UNROLL
            for (int e = 0; e < 2; ++e)
                if (8 * k + e < first || 8 * k + e > last) P[k][2 * r + e] = 0;
        }
    }

    DEVICE void walk() {
        const Mask mask(a);
        const float c = a.scale * log2_e;
        wait_for(shared.X_Y_full(), 0);  // X and Y are there
        NO_UNROLL
        for (int n = 0; n < work.tiles; ++n) {
            // S = X Uᵀ and dP = Y Wᵀ
            const Turn now(n);
            wait_for(shared.U_full(now.stage), now.parity);  // U is there, with L and D
            fence_products();
            issue_scores(P, shared.X(), shared.U(now.stage));
            wait_for(shared.W_full(now.stage), now.parity);  // W is there
            fence_products();
            issue_scores(dS, shared.Y(), shared.W(now.stage));

            // P, while dP is multiplied
            wait_products<1>(P);  // S is there, dP not yet
            soften(mask, c, n);
            if constexpr (Size::keys) {
                pack_left(packed_P, P);
                fence_products();
                issue_gradient(of_Y, packed_P, shared.W(now.stage));
            }

            // dS = P ⊙ (dP − D), while the gradient of Y is multiplied
            wait_products<Size::keys ? 1 : 0>(dS);  // dP is there
            UNROLL
            for (int k = 0; k < columns / 8; ++k) UNROLL
            for (int e = 0; e < 4; ++e) dS[k][e] = P[k][e] * (dS[k][e] - D_of(now.stage, k, e));
            pack_left(packed_dS, dS);
            fence_products();
            issue_gradient(of_X, packed_dS, shared.U(now.stage));

            // The gradient of Y ends, and then that of X
            if constexpr (Size::keys) wait_products<1>(of_Y);  // the gradient of Y is there: W may go
            release(shared.W_free(now.stage));
            wait_products<0>(of_X);                 // the gradient of X is there: U may go
            if constexpr (Size::keys) sync_warp();  // all lanes have read L and D
            release(shared.U_free(now.stage));
        }
    }

    /// This warp's rows of a gradient to HBM, times `factor`.
    DEVICE void write(const Tensor& gradient, int N, const Fragments<d>& sums, float factor) const {
        T* const out = head_of<T>(gradient, work.batch, work.head);
        UNROLL
        for (int r = 0; r < 2; ++r) {
            const int row = row0 + fragment_row(2 * r);
            if (row >= N) continue;
            std::uint32_t* const to = reinterpret_cast<std::uint32_t*>(out + row * gradient.row);
            UNROLL
            for (int n = 0; n < d / 8; ++n)
                to[4 * n + lane() % 4] = pack<T>(sums[n][2 * r] * factor, sums[n][2 * r + 1] * factor);
        }
    }
};

/// dK and dV of 128 keys, or dQ of 128 queries.
template <class T, class Size>
KERNEL void THREADS_ALONE(Size::threads)
    gradients(const GRID_CONSTANT TensorMap X, const GRID_CONSTANT TensorMap Y,
              const GRID_CONSTANT TensorMap U, const GRID_CONSTANT TensorMap W, const Arguments a) {
    if constexpr (!hopper) return;  // refused on the host
    const Work work = work_of_block<Size>(a);
    const Shared<Size> shared{shared_tiles<unsigned char>()};
    if (thread() == 0) shared.make_barriers();
    sync_block();  // all barriers are made

    if (thread() < group_threads) {
        shrink_registers<producer_registers>();
        if (thread() < Size::fetching && work.tiles > 0) fetch_all(shared, X, Y, U, W, a, work);
        return;
    }
    grow_registers<consumer_registers>();
    Consumer<T, Size> consumer(shared, a, work);
    if (work.tiles > 0) consumer.walk();
    if constexpr (Size::keys) {
        consumer.write(a.dK, a.N_kv, consumer.of_X, a.scale);
        consumer.write(a.dV, a.N_kv, consumer.of_Y, 1);
    } else {
        consumer.write(a.dQ, a.N_q, consumer.of_X, a.scale);
    }
}

/// D before them. Under a name of its own, for it is compiled for sm_90a alone and b3's is not.
template <class T> KERNEL void THREADS(128) row_dots_before(const Arguments a) {
    write_row_dots<T, false>(a);
}

template <int d> constexpr std::int64_t shared_bytes = Sizes<d>::shared_bytes;

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 128>(a.d, [&](auto d) { shared = shared_bytes<d>; });
    return first_of({refuse_f32(type), refuse_all_but_hopper(chip), refuse_d<64, 128>(a.d),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

std::int64_t workspace(const Arguments& a, DType) { return BackwardSums::bytes(a, false); }

/// Of dK and dV
Tile tile(const Arguments& a, DType, const Chip&) {
    Tile t;
    with_d<64, 128>(a.d, [&](auto d) { t = {Sizes<d>::passing, Sizes<d>::staying}; });
    return t;
}

template <class T, int d> void run_in(const Arguments& a, Stream& stream) {
    const auto of_queries = [&](const Tensor& t, int rows) {
        return tensor_map<T>(stream, t, d, a.N_q, a.heads, a.batch, rows);
    };
    const auto of_keys = [&](const Tensor& t, int rows) {
        return tensor_map<T>(stream, t, d, a.N_kv, a.kv_heads, a.batch, rows);
    };
    constexpr int stays = Sizes<d>::staying, passes = Sizes<d>::passing, threads = Sizes<d>::threads;
    launch(stream, rows_grid(a), row_dots_before<T>, a);
    const Grid keys{blocks_of(a.N_kv, stays), a.kv_heads, a.batch, threads, shared_bytes<d>};
    launch(stream, keys, gradients<T, KeysStay<d>>, of_keys(a.K, stays), of_keys(a.V, stays),
           of_queries(a.Q, passes), of_queries(a.dO, passes), a);
    const Grid queries{blocks_of(a.N_q, stays), a.heads, a.batch, threads, shared_bytes<d>};
    launch(stream, queries, gradients<T, QueriesStay<d>>, of_queries(a.Q, stays), of_queries(a.dO, stays),
           of_keys(a.K, passes), of_keys(a.V, passes), a);
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 128>(a.d, [&](auto d) { run_in<T, d>(a, stream); });
    });
}

}  // namespace

const Rung& b4_hopper() {
    static const Rung rung{
        "b4-hopper",
        "FlashAttention-3, backward",
        "Tiles that come by themselves; dP and dV are multiplied while P and dS are computed",
        "cuda/kernels/b4_hopper.cu",
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
