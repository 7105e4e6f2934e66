// Rung 2: FlashAttention-2 tile by tile in plain Eigen expressions, the loops of the lessons on large
// problems. The steps of a tile are in core/cpu/eigen/flash_tiles.cpp; here is which tiles there are and who
// walks them.
//
// Nothing of the size N × N is ever held: each thread has one tile of S (backward also of dS) and reads and
// writes the tensors themselves, or those in float32 that tensors of 16 bits are converted to and from. Eigen
// packs the operands of its products once more, on the stack.
//
// What limits it: each product packs both of its operands anew and, on tiles of this size, reaches about 4/5
// of the multiply-adds; the softmax passes over S four times, which has left the first cache by then. flash()
// packs once and keeps S near. What it reached: docs/performance.md.
#include "core/cpu/by_conversion.h"
#include "core/cpu/eigen/functions.h"
#include "core/engine/heads.h"

namespace tilewalk::cpu {

namespace {

// The same both ways: Eigen gives S the same bits in tiles of the same size alone.
constexpr std::int64_t Br = 256, Bc = 256;

class FlashEigen : public FloatKernel {
public:
    FlashEigen(const Workload& workload, ThreadPool& threads, CountedMemory& memory);
    void forward(const FloatViews& views, std::stop_token stop) override;
    void backward(const FloatViews& views, std::stop_token stop) override;

private:
    FlashTile tile_of(const FloatViews& t, std::int64_t head, int thread);
    void walk_query_block(const FloatViews& t, const RowBlocks::Rows& q, int thread,
                          const std::stop_token& stop);
    void walk_tiles(const FloatViews& t, const RowBlocks::Rows& k, std::int64_t i, int thread);
    void preprocess(const FloatViews& t, std::stop_token stop);

    Workload w;
    ThreadPool& pool;
    const EigenFunctions& eigen = eigen_functions();
    std::vector<Buffer> scratch;  // for each thread
    Buffer m, l, D;               // heads × N_q, for the backward pass
};

// S, m, ℓ; backward S, dS
std::int64_t scratch_floats(const Workload& w) {
    return w.direction == Direction::forward ? Br * Bc + 2 * Br : 2 * Br * Bc;
}

FlashEigen::FlashEigen(const Workload& workload, ThreadPool& threads, CountedMemory& memory)
    : w(workload), pool(threads) {
    for (int thread = 0; thread < pool.threads(); ++thread) scratch.emplace_back(memory, scratch_floats(w));
    if (w.direction == Direction::forward) return;
    for (Buffer* const row : {&m, &l, &D}) *row = Buffer(memory, w.q_rows());
}

// The tensors of one query head and of the key head that it reads, with the memory of one thread; no tile
// yet.
FlashTile FlashEigen::tile_of(const FloatViews& t, std::int64_t head, int thread) {
    const std::int64_t row = head * w.N_q, q = row * w.d, k = kv_head_of(w, head) * w.N_kv * w.d;
    const auto from = [](auto* tensor, std::int64_t first) { return tensor ? tensor + first : nullptr; };
    float* const S = scratch[static_cast<std::size_t>(thread)].data();
    return {.w = w,
            .row = 0,
            .rows = 0,
            .key = 0,
            .keys = 0,
            .Q = t.Q + q,
            .K = t.K + k,
            .V = t.V + k,
            .dO = from(t.dO, q),
            .O = t.O + q,
            .L = t.L + row,
            .dQ = from(t.dQ, q),
            .dK = from(t.dK, k),
            .dV = from(t.dV, k),
            .D = from(D.data(), row),
            .m = nullptr,
            .l = nullptr,
            .S = S,
            .dS = S + Br * Bc};
}

void FlashEigen::forward(const FloatViews& t, std::stop_token stop) {
    // The last query blocks first: with a causal mask they have the most keys
    const RowBlocks blocks{w.batch * w.heads, w.N_q, Br};
    const auto walk = [&](std::int64_t task, int thread) {
        const std::int64_t head = task % blocks.heads, i = blocks.per_head() - 1 - task / blocks.heads;
        walk_query_block(t, blocks[head * blocks.per_head() + i], thread, stop);
    };
    pool.run(blocks.count(), walk, stop);
}

void FlashEigen::walk_query_block(const FloatViews& t, const RowBlocks::Rows& q, int thread,
                                  const std::stop_token& stop) {
    FlashTile tile = tile_of(t, q.head, thread);
    tile.row = q.first, tile.rows = q.count;
    const bool kept = w.direction == Direction::backward;
    tile.m = kept ? m.data() + q.head * w.N_q + q.first : tile.S + Br * Bc;
    tile.l = kept ? l.data() + q.head * w.N_q + q.first : tile.m + Br;
    eigen.flash_begin(tile);

    // Stream the key blocks past it; a tile that the mask removes whole is neither loaded nor computed
    const std::int64_t end = w.last_key(q.first + q.count - 1) + 1;
    for (tile.key = w.first_key(q.first) / Bc * Bc; tile.key < end; tile.key += Bc) {
        if (stop.stop_requested()) return;
        tile.keys = std::min(Bc, w.N_kv - tile.key);
        eigen.flash_forward(tile);
    }
    eigen.flash_end(tile);
}

// Every key block adds to dQ of every query block. In round r key block j meets query block (j + r) mod R: so
// no two threads ever add to the same rows, and each sum has the same order and the same bits every time.
void FlashEigen::backward(const FloatViews& t, std::stop_token stop) {
    preprocess(t, stop);
    const RowBlocks blocks{w.batch * w.kv_heads, w.N_kv, Bc};
    const std::int64_t Tr = ceil_div(w.N_q, Br), R = std::max(Tr, blocks.per_head());
    for (std::int64_t round = 0; round < R && !stop.stop_requested(); ++round) {
        const auto walk = [&](std::int64_t task, int thread) {
            const std::int64_t i = (task % blocks.per_head() + round) % R;
            if (i < Tr) walk_tiles(t, blocks[task], i, thread);
        };
        pool.run(blocks.count(), walk, stop);
    }
}

// D = rowsum(dO ⊙ O), dQ ← 0, dK ← 0, dV ← 0
void FlashEigen::preprocess(const FloatViews& t, std::stop_token stop) {
    const auto zero = [&](float* tensor, std::int64_t rows) { std::fill_n(tensor, rows * w.d, 0.0f); };
    const RowBlocks queries{w.batch * w.heads, w.N_q, Br}, keys{w.batch * w.kv_heads, w.N_kv, Bc};
    const auto begin_queries = [&](std::int64_t task, int) {
        const auto [head, first, count] = queries[task];
        for (std::int64_t i = head * w.N_q + first; i < head * w.N_q + first + count; ++i)
            D.data()[i] = eigen.dot(t.dO + i * w.d, t.O + i * w.d, w.d);
        zero(t.dQ + (head * w.N_q + first) * w.d, count);
    };
    const auto begin_keys = [&](std::int64_t task, int) {
        const auto [head, first, count] = keys[task];
        zero(t.dK + (head * w.N_kv + first) * w.d, count);
        zero(t.dV + (head * w.N_kv + first) * w.d, count);
    };
    pool.run(queries.count(), begin_queries, stop);
    pool.run(keys.count(), begin_keys, stop);
}

// Query block i of all query heads that read these keys meets them.
void FlashEigen::walk_tiles(const FloatViews& t, const RowBlocks::Rows& k, std::int64_t i, int thread) {
    const std::int64_t row = i * Br, rows = std::min(Br, w.N_q - row);
    if (w.last_key(row + rows - 1) < k.first || w.first_key(row) >= k.first + k.count) return;
    const std::int64_t first = first_head_of(w, k.head), group = w.heads / w.kv_heads;
    for (std::int64_t head = first; head < first + group; ++head) {
        FlashTile tile = tile_of(t, head, thread);
        tile.row = row, tile.rows = rows, tile.key = k.first, tile.keys = k.count;
        tile.m = m.data() + head * w.N_q + row, tile.l = l.data() + head * w.N_q + row;
        eigen.flash_backward(tile);
    }
}

std::int64_t workspace(const Workload& w, int threads) {
    const std::int64_t scratch = 4 * threads * scratch_floats(w) + conversion_bytes(w);
    return w.direction == Direction::forward ? scratch : scratch + 12 * w.q_rows();  // m, ℓ, D
}

}  // namespace

const Rung& flash_eigen() {
    static const Rung rung{
        {.name = "flash-eigen",
         .title = "Flash, simple: Eigen tiles",
         .teaches = "The lesson's loops in plain Eigen expressions, no N × N matrix in memory",
         .file = "core/cpu/flash_eigen.cpp",
         .materialises = false},
        workspace,
        make_by_conversion<FlashEigen>};
    return rung;
}

}  // namespace tilewalk::cpu
