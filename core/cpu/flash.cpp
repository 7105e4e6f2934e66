// flash: FlashAttention-2 on the CPU, with vectors.
// What it does: the loops of the lessons on tiles that fit the caches. No N × N matrix is ever in memory:
// each task keeps its tiles in some hundred kilobytes, and the threads share the tasks through one counter.
//   forward   a task is a query block of the heads that share K and V; the keys stream past it, each block
//             once for all of these heads                                     (flash_forward.cpp)
//   backward  a task is a super-block of keys; the queries stream past it      (flash_backward.cpp)
// What limits it: the multiply-adds of the micro-kernel (tile_product-inl.h); beside them stand the
// exponentials, some 15 instructions for d (forward 2 d) multiply-adds, and the sums that go in and out of
// registers. Backward recomputes S, a quarter more arithmetic than standard attention does.
// Tensors of 16 bits are converted into the tiles, and back from them; the arithmetic is the same.
// What it reached: docs/performance.md.
#include "core/cpu/flash_tasks.h"
#include "core/cpu/kernel.h"
#include "core/cpu/lanes.h"
#include "core/engine/heads.h"

#include <algorithm>
#include <new>

namespace tilewalk::cpu {

namespace {

// The counters of all super-blocks, in counted memory
class Turns {
public:
    Turns() = default;
    Turns(CountedMemory& memory, std::int64_t count) : floats(memory, count), size(count) {
        static_assert(sizeof(std::atomic<std::int32_t>) == sizeof(float));
        counters = new (floats.data()) std::atomic<std::int32_t>[static_cast<std::size_t>(count)];
        reset();
    }
    void reset() {
        for (std::int64_t k = 0; k < size; ++k) counters[k].store(0, std::memory_order_relaxed);
    }
    std::atomic<std::int32_t>& operator[](std::int64_t k) { return counters[k]; }

private:
    Buffer floats;
    std::int64_t size = 0;
    std::atomic<std::int32_t>* counters = nullptr;
};

std::int64_t scratch_floats(const Workload& w, int threads) {
    const std::int64_t forward = forward_tiles(w, threads).scratch_floats(w.d);
    return w.direction == Direction::forward ? forward
                                             : std::max(forward, backward_tiles(w).scratch_floats(w.d));
}
std::int64_t super_blocks(const Workload& w) { return w.batch * w.kv_heads * backward_tiles(w).blocks; }

class Flash final : public Kernel {
public:
    Flash(const Workload& workload, ThreadPool& threads, CountedMemory& memory)
        : w(workload), pool(threads), query_tiles(forward_tiles(w, pool.threads())),
          key_tiles(backward_tiles(w)) {
        for (int thread = 0; thread < pool.threads(); ++thread)
            scratch.emplace_back(memory, scratch_floats(w, pool.threads()));
        if (w.direction == Direction::forward) return;
        for (Buffer* const row : {&m, &over_l, &D}) *row = Buffer(memory, w.q_rows());
        if (key_tiles.converted) dQ_sum = Buffer(memory, w.q_rows() * w.d);
        turns = Turns(memory, super_blocks(w));
    }

    void forward(const Views& views, std::stop_token stop) override {
        // The last query blocks first: with a causal mask they have the most keys
        const std::int64_t groups = w.batch * w.kv_heads;
        pool.run(
            groups * query_tiles.blocks,
            [&](std::int64_t task, int thread) {
                const std::int64_t kv = task % groups, row = first_head_of(w, kv) * w.N_q, q = row * w.d,
                                   k = kv * w.N_kv * w.d;
                flash_forward({w, query_tiles, views.Q + q, views.K + k, views.V + k, views.O + q,
                               views.L + row, m.data() ? m.data() + row : nullptr,
                               m.data() ? over_l.data() + row : nullptr,
                               query_tiles.blocks - 1 - task / groups, scratch_of(thread)},
                              stop);
            },
            stop);
    }

    void backward(const Views& views, std::stop_token stop) override {
        // Dᵢ = rowsum(dOᵢ ⊙ Oᵢ), dQ ← 0
        const std::int64_t rows = w.q_rows(), panel = key_tiles.panel;
        float* const dQ = key_tiles.converted ? dQ_sum.data() : views.dQ.as<float>();
        pool.run((rows + panel - 1) / panel,
                 [&](std::int64_t task, int thread) {
                     const std::int64_t row = task * panel, q = row * w.d;
                     flash_preprocess({views.dO + q, views.O + q, D.data() + row, dQ + q,
                                       std::min(panel, rows - row), w.d, scratch_of(thread)});
                 },
                 stop);

        // The first super-blocks of all heads first: with a causal mask they have the most queries, and the
        // later ones of their head wait for them
        turns.reset();
        const std::int64_t heads = w.batch * w.kv_heads;
        pool.run(
            heads * key_tiles.blocks,
            [&](std::int64_t task, int thread) {
                const std::int64_t kv = task % heads, s = task / heads;
                const std::int64_t row = first_head_of(w, kv) * w.N_q, q = row * w.d, k = kv * w.N_kv * w.d;
                Turn turn(s == 0 ? nullptr : &turns[task - heads], turns[task]);
                flash_backward({w, key_tiles, views.Q + q, views.K + k, views.V + k, views.dO + q,
                                m.data() + row, over_l.data() + row, D.data() + row, dQ + q, views.dK + k,
                                views.dV + k, s, scratch_of(thread)},
                               turn, stop);
            },
            stop);
        if (key_tiles.converted) store_dQ(views, stop);
    }

private:
    // The sum of all super-blocks, rounded once
    void store_dQ(const Views& views, const std::stop_token& stop) {
        const std::int64_t all = w.q_rows() * w.d, some = 1 << 16;
        pool.run(
            ceil_div(all, some),
            [&](std::int64_t task, int) {
                const std::int64_t from = task * some;
                from_floats(dQ_sum.data() + from, std::min(some, all - from), views.dQ + from);
            },
            stop);
    }
    float* scratch_of(int thread) { return scratch[static_cast<std::size_t>(thread)].data(); }

    const Workload w;
    ThreadPool& pool;
    const ForwardTiles query_tiles;
    const BackwardTiles key_tiles;
    std::vector<Buffer> scratch;  // of each thread
    // For the backward pass, from rows of Q. L alone would not do: where scores are 10⁴, its last digit is
    // worth 10⁻³ of every weight.
    Buffer m, over_l, D;
    Buffer dQ_sum;  // of tensors of 16 bits
    Turns turns;
};

std::int64_t workspace(const Workload& w, int threads) {
    std::int64_t floats = threads * scratch_floats(w, threads);
    if (w.direction == Direction::backward) {
        floats += 3 * w.q_rows() + super_blocks(w);
        if (w.dtype != DType::f32) floats += w.q_rows() * w.d;
    }
    return floats * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

const Rung& flash() {
    static const Rung rung = {
        {"flash", "Flash: SIMD tiles", "tiles in the caches, vectors in the registers", "core/cpu/flash.cpp"},
        workspace,
        make_kernel<Flash>};
    return rung;
}

}  // namespace tilewalk::cpu
