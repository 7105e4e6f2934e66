// split-kv: decoding, a few queries against many keys. FlashAttention's tasks are query blocks, of which
// there is one here, or one for each group of heads: the other threads would have nothing to do. So the keys
// are cut into splits. Each task is a split of the keys and all rows of a group, which gives a partial m, ℓ
// and O; a second round combines them, by the rule that every step of the online softmax follows.
//
// Which splits there are follows from the number of keys alone, not from the threads or the heads: the
// results have the same bits for any number of threads.
//
// What limits it: memory. K and V are read once, 8 d bytes of them for 4 d operations of each row (4 d bytes
// where they are stored in 16 bits, which become floats in the registers), and nothing else is large. The
// yardstick is read_kv(). Where a group has many rows (16 queries of 8 heads) it is the multiply-adds, as in
// flash(), whose tiles it takes then. What it reached: docs/performance.md.
#include "core/cpu/kernel.h"
#include "core/cpu/lanes.h"
#include "core/cpu/split_tasks.h"
#include "core/engine/heads.h"

#include <algorithm>

namespace tilewalk::cpu {

namespace {

constexpr std::int64_t most_queries = 16;

/// The splits of the keys that any query sees.
struct Splits {
    explicit Splits(const Workload& w)
        : seen{std::max<std::int64_t>(0, w.first_key(0)), w.last_key(w.N_q - 1) + 1} {
        // Some 64 of them, so that many threads have work and all end together; none so short that beginning
        // it costs more than a small part of it, none so long that a stop is answered late
        const std::int64_t all = std::max<std::int64_t>(0, seen.end - seen.first);
        keys = std::clamp(ceil_div(all, 64), std::int64_t{256}, std::int64_t{4096});
        count = ceil_div(all, keys);
    }
    KeyRange operator[](std::int64_t s) const {
        const std::int64_t first = seen.first + s * keys;
        return {first, std::min(first + keys, seen.end)};
    }

    KeyRange seen;
    std::int64_t keys, count;
};

// Below this many rows most lanes of a panel would be empty, and dot products are faster. They cost one more
// addition and shuffle for each lane, which is why it is not a whole panel.
bool few_rows(std::int64_t rows) { return rows <= 3 * panel_width() / 4; }

std::int64_t scratch_floats(const Workload& w) {
    const std::int64_t rows = GroupRows(w).count();
    return few_rows(rows) ? row_tiles(w).scratch_floats(rows) : decode_tiles(w).scratch_floats(w.d);
}
std::int64_t partial_floats(const Workload& w) { return GroupRows(w).count() * (w.d + 2); }
std::int64_t all_partials(const Workload& w) {
    return w.batch * w.kv_heads * Splits(w).count * partial_floats(w);
}

class SplitKv final : public Kernel {
public:
    SplitKv(const Workload& workload, ThreadPool& threads, CountedMemory& memory)
        : w(workload), pool(threads), splits(w), rows(GroupRows(w).count()), row_wise(row_tiles(w)),
          panels(decode_tiles(w)), blocks(few_rows(rows) ? 1 : panels.blocks),
          partials(memory, all_partials(w)) {
        for (int thread = 0; thread < pool.threads(); ++thread)
            scratch.emplace_back(memory, scratch_floats(w));
    }

    void forward(const Views& t, std::stop_token stop) override {
        const std::int64_t groups = w.batch * w.kv_heads;
        const auto walk = [&](std::int64_t task, int thread) {
            const std::int64_t split = task / blocks % splits.count, kv = task / blocks / splits.count;
            walk_split(t, kv, split, task % blocks, scratch[static_cast<std::size_t>(thread)].data(), stop);
        };
        pool.run(groups * splits.count * blocks, walk, stop);
        if (stop.stop_requested()) return;
        pool.run(
            groups * rows, [&](std::int64_t task, int) { combine(t, task / rows, task % rows); }, stop);
    }
    void backward(const Views&, std::stop_token) override {}  // the engine refuses it

private:
    Partial partial(std::int64_t kv, std::int64_t split) {
        float* const O = partials.data() + (kv * splits.count + split) * partial_floats(w);
        return {O, O + rows * w.d, O + rows * w.d + rows};
    }

    // m, ℓ and O of one split, for the rows of a query block
    void walk_split(const Views& t, std::int64_t kv, std::int64_t split, std::int64_t block, float* memory,
                    const std::stop_token& stop) {
        const Elements Q = t.Q + first_head_of(w, kv) * w.N_q * w.d, K = t.K + kv * w.N_kv * w.d,
                       V = t.V + kv * w.N_kv * w.d;
        if (few_rows(rows))
            return split_rows({w, row_wise, Q, K, V, splits[split], partial(kv, split), memory}, stop);
        flash_partial({w, panels, Q, K, V, nullptr, nullptr, nullptr, nullptr, block, memory}, splits[split],
                      partial(kv, split), stop);
    }

    // m = max mₛ, weights wₛ = exp(mₛ − m), ℓ = Σ wₛ ℓₛ, O = Σ wₛ Oₛ ⊘ ℓ, L = m + ln ℓ. A split in which a
    // row sees nothing has the weight 0 or ℓₛ = 0; a row that sees nothing at all has O = 0 and L = −∞.
    void combine(const Views& t, std::int64_t kv, std::int64_t row) {
        float m = lowest_score;
        for (std::int64_t s = 0; s < splits.count; ++s) m = std::max(m, partial(kv, s).m[row]);
        const double factor = exponent_factor(w.d);
        double l = 0;
        for (std::int64_t s = 0; s < splits.count; ++s) {
            const Partial part = partial(kv, s);
            const double weight = std::exp2(factor * (static_cast<double>(part.m[row]) - m));
            l += weight * part.l[row];
            part.m[row] = static_cast<float>(weight);  // it has served
        }
        const std::int64_t at = first_head_of(w, kv) * w.N_q + GroupRows(w).place(row);
        t.L[at] = log_sum_exp(m, l, w.d);
        sum_of_parts(t.O + at * w.d, kv, row, l == 0 ? 0 : 1 / l);
    }

    // O = over_l · Σ wₛ Oₛ, some elements at a time, in double
    void sum_of_parts(WritableElements O, std::int64_t kv, std::int64_t row, double over_l) {
        constexpr std::int64_t some = 64;
        for (std::int64_t k = 0; k < w.d; k += some) {
            const std::int64_t count = std::min(some, w.d - k);
            double sum[some] = {};
            for (std::int64_t s = 0; s < splits.count; ++s) {
                const Partial part = partial(kv, s);
                const double weight = part.m[row];
                const float* const from = part.O + row * w.d + k;
                for (std::int64_t c = 0; c < count; ++c) sum[c] += weight * static_cast<double>(from[c]);
            }
            float part_of_O[some];
            for (std::int64_t c = 0; c < count; ++c) part_of_O[c] = static_cast<float>(sum[c] * over_l);
            from_floats(part_of_O, count, O + k);
        }
    }

    const Workload w;
    ThreadPool& pool;
    const Splits splits;
    const std::int64_t rows;  // of a group
    const RowTiles row_wise;
    const ForwardTiles panels;
    const std::int64_t blocks;  // of its rows
    Buffer partials;            // of each group and split: O, m, ℓ
    std::vector<Buffer> scratch;
};

std::int64_t workspace(const Workload& w, int threads) {
    return (all_partials(w) + threads * scratch_floats(w)) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

const Rung& split_kv() {
    static const Rung rung{{.name = "split-kv",
                            .title = "Split K and V, then combine",
                            .teaches = "Decoding: keys shared out over the threads, partial m, ℓ, O combined",
                            .file = "core/cpu/split_kv.cpp",
                            .materialises = false,
                            .direction = Direction::forward,
                            .P_from_L = false,
                            .most_queries = most_queries},
                           workspace,
                           make_kernel<SplitKv>};
    return rung;
}

}  // namespace tilewalk::cpu
