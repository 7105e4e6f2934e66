#include "core/distributed/shard_attention.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ring {

namespace {

// The whole problem as one rank sees it: so many queries and keys. Tiles are cut for that.
Workload on_a_rank(Workload w, std::int64_t rows) {
    w.N_q = w.N_kv = rows;
    return w;
}
Workload of_one_head(Workload w) {
    w.batch = w.heads = w.kv_heads = 1;
    return w;
}

cpu::ForwardTiles one_block(cpu::ForwardTiles tiles) {
    tiles.blocks = 1;
    return tiles;
}
cpu::BackwardTiles one_block(cpu::BackwardTiles tiles) {
    tiles.blocks = 1;
    return tiles;
}

// Beside the tiles of a task: O, m and ℓ of a part, or dK and dV of one
std::int64_t scratch_floats(const Workload& w, const cpu::ForwardTiles& forward,
                            const cpu::BackwardTiles& backward) {
    const std::int64_t there = forward.scratch_floats(w.d) + forward.Br * (w.d + 2);
    if (w.direction == Direction::forward) return there;
    const std::int64_t back = backward.scratch_floats(w.d) + 2 * backward.Bs * w.d;
    const std::int64_t before = (w.d + backward.panel) * backward.panel;
    return std::max({there, back, before});
}

// m ← max(m, m′), ℓ ← e^(m_old − m) ℓ + e^(m′ − m) ℓ′, O likewise. As in the tiles, m is without the scale.
// In double, as these are few: one row against d · keys products.
void merge_rows(const cpu::Partial& part, std::int64_t rows, std::int64_t d, float* O, float* m, float* l) {
    const double factor = cpu::exponent_factor(d);
    for (std::int64_t r = 0; r < rows; ++r) {
        if (part.l[r] == 0) continue;
        const double m_new = std::max(m[r], part.m[r]), before = std::exp2(factor * (m[r] - m_new)),
                     now = std::exp2(factor * (part.m[r] - m_new));
        const auto alpha = static_cast<float>(before), beta = static_cast<float>(now);
        for (std::int64_t k = 0; k < d; ++k) O[r * d + k] = alpha * O[r * d + k] + beta * part.O[r * d + k];
        l[r] = static_cast<float>(before * l[r] + now * part.l[r]);
        m[r] = static_cast<float>(m_new);
    }
}

}  // namespace

ShardAttention::ShardAttention(const Workload& whole, std::vector<Run> own, cpu::ThreadPool& threads,
                               cpu::CountedMemory& memory)
    : w(of_one_head(whole)), heads(whole.batch * whole.heads), kv_heads(whole.batch * whole.kv_heads),
      rows([&] {
          std::int64_t sum = 0;
          for (const Run& run : own) sum += run.count;
          return sum;
      }()),
      runs(std::move(own)), pool(threads),
      query_tiles(one_block(cpu::forward_tiles(on_a_rank(whole, rows), pool.threads()))),
      key_tiles(one_block(cpu::backward_tiles(on_a_rank(whole, rows)))) {
    for (int thread = 0; thread < pool.threads(); ++thread)
        scratch.emplace_back(memory, scratch_floats(w, query_tiles, key_tiles));
}

std::int64_t ShardAttention::model_bytes(const Workload& w, std::int64_t rows, int threads) {
    const Workload local = on_a_rank(w, rows);
    return threads * scratch_floats(w, cpu::forward_tiles(local, threads), cpu::backward_tiles(local)) *
           static_cast<std::int64_t>(sizeof(float));
}

std::vector<ShardAttention::Block> ShardAttention::blocks_of(const std::vector<Run>& runs,
                                                             std::int64_t height) {
    std::vector<Block> blocks;
    std::int64_t row = 0;
    for (const Run& run : runs) {
        for (std::int64_t at = 0; at < run.count; at += height)
            blocks.push_back({row + at, run.part(at, std::min(height, run.count - at))});
        row += run.count;
    }
    return blocks;
}

// ---- Forward

void ShardAttention::begin(const QueryShard& q) {
    std::fill_n(q.O, heads * rows * w.d, 0.0f);
    std::fill_n(q.m, heads * rows, cpu::lowest_score);
    std::fill_n(q.l, heads * rows, 0.0f);
}

// A task is a query block of a head: who merges into its rows is one thread, in the order of the keys.
void ShardAttention::merge(const QueryShard& q, const KeyShard& keys, std::stop_token stop) {
    const std::vector<Block> blocks = blocks_of(runs, query_tiles.Br);
    const auto task = [&](std::int64_t index, int thread) {
        const Block& block = blocks[blocks.size() - 1 - static_cast<std::size_t>(index / heads)];
        merge_block(q, keys, index % heads, block, scratch[static_cast<std::size_t>(thread)].data(), stop);
    };
    pool.run(heads * static_cast<std::int64_t>(blocks.size()), task, stop);
}

void ShardAttention::merge_block(const QueryShard& q, const KeyShard& keys, std::int64_t head,
                                 const Block& block, float* tiles, const std::stop_token& stop) {
    const std::int64_t d = w.d, Br = query_tiles.Br;
    float* const O = tiles + query_tiles.scratch_floats(d);
    const cpu::Partial part = {O, O + Br * d, O + Br * (d + 1)};
    std::int64_t key = head / (heads / kv_heads) * keys.rows;
    for (const Run& run : keys.runs) {
        for (const Piece& piece : pieces(block.run, run, w.causal)) {
            Workload seen = w;
            seen.N_q = piece.queries, seen.N_kv = piece.keys, seen.causal = piece.causal;
            const std::int64_t row = head * rows + block.row + piece.query;
            cpu::flash_partial({.w = seen,
                                .tiles = query_tiles,
                                .Q = q.Q + row * d,
                                .K = keys.K + key * d,
                                .V = keys.V + key * d,
                                .O = nullptr,
                                .L = nullptr,
                                .m = nullptr,
                                .over_l = nullptr,
                                .i = 0,
                                .scratch = tiles},
                               {0, piece.keys}, part, stop);
            if (stop.stop_requested()) return;
            merge_rows(part, piece.queries, d, q.O + row * d, q.m + row, q.l + row);
        }
        key += run.count;
    }
}

// O ← O ⊘ ℓ, L = m + ln ℓ
void ShardAttention::finish(const QueryShard& q) {
    for (std::int64_t r = 0; r < heads * rows; ++r) {
        const float l = q.l[r], over_l = l == 0 ? 0 : 1 / l;
        for (std::int64_t k = 0; k < w.d; ++k) q.O[r * w.d + k] *= over_l;
        q.L[r] = cpu::log_sum_exp(q.m[r], l, w.d);
        q.l[r] = over_l;
    }
}

// ---- Backward

void ShardAttention::begin_backward(const QueryShard& q) {
    const std::int64_t all = heads * rows, panel = key_tiles.panel;
    pool.run((all + panel - 1) / panel, [&](std::int64_t task, int thread) {
        const std::int64_t row = task * panel, at = row * w.d;
        cpu::flash_preprocess({q.dO + at, q.O + at, q.D + row, q.dQ + at, std::min(panel, all - row), w.d,
                               scratch[static_cast<std::size_t>(thread)].data()});
    });
}

// A task is a key head, so that the rows of dQ have one writer and their sums one order.
void ShardAttention::gradients(const QueryShard& q, const KeyShard& keys, float* dK, float* dV,
                               std::stop_token stop) {
    const std::vector<Block> blocks = blocks_of(keys.runs, key_tiles.Bs);
    const std::int64_t floats = keys.rows * w.d;
    const auto task = [&](std::int64_t kv_head, int thread) {
        std::fill_n(dK + kv_head * floats, floats, 0.0f);
        std::fill_n(dV + kv_head * floats, floats, 0.0f);
        for (const Block& block : blocks)
            key_gradients(q, keys, kv_head, block, dK, dV, scratch[static_cast<std::size_t>(thread)].data(),
                          stop);
    };
    pool.run(kv_heads, task, stop);
}

// dK and dV of a block of keys grow by what each piece of queries gives.
void ShardAttention::key_gradients(const QueryShard& q, const KeyShard& keys, std::int64_t kv_head,
                                   const Block& block, float* dK, float* dV, float* tiles,
                                   const std::stop_token& stop) {
    const std::int64_t d = w.d, key = (kv_head * keys.rows + block.row) * d, group = heads / kv_heads;
    float *const dK_part = tiles + key_tiles.scratch_floats(d), *const dV_part = dK_part + key_tiles.Bs * d;
    std::atomic<std::int32_t> nobody_waits{0};
    for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        std::int64_t first = head * rows;
        for (const Run& run : runs) {
            for (const Piece& piece : pieces(run, block.run, w.causal)) {
                Workload seen = w;
                seen.N_q = piece.queries, seen.N_kv = piece.keys, seen.causal = piece.causal;
                const std::int64_t row = first + piece.query, at = row * d;
                cpu::Turn turn(nullptr, nobody_waits);
                cpu::flash_backward({seen, key_tiles, q.Q + at, keys.K + key, keys.V + key, q.dO + at,
                                     q.m + row, q.l + row, q.D + row, q.dQ + at, dK_part, dV_part, 0, tiles},
                                    turn, stop);
                if (stop.stop_requested()) return;
                for (std::int64_t k = 0; k < piece.keys * d; ++k)
                    dK[key + k] += dK_part[k], dV[key + k] += dV_part[k];
            }
            first += run.count;
        }
    }
}

}  // namespace tilewalk::ring
