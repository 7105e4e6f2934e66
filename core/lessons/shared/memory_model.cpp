#include "core/lessons/shared/memory_model.h"

#include <algorithm>

namespace tilewalk {

KeyRange visible_keys(const Problem& p, int r) {
    const std::int64_t diagonal = static_cast<std::int64_t>(r) + p.N_kv() - p.N();
    std::int64_t first = 0, last = p.N_kv() - 1;
    if (p.causal) last = std::min(last, diagonal);
    if (p.window) first = std::max(first, diagonal - *p.window);
    if (p.window && !p.causal) last = std::min(last, diagonal + *p.window);
    if (first > last) return {0, -1};
    return {static_cast<int>(first), static_cast<int>(last)};
}

namespace {

struct Rows {
    int first, count;
};

Rows query_rows(const Problem& p, int i) { return {i * p.Br, std::min(p.Br, p.N() - i * p.Br)}; }
Rows key_rows(const Problem& p, int j) { return {j * p.Bc, std::min(p.Bc, p.N_kv() - j * p.Bc)}; }

// Both ends of a row's key range never fall as the row grows, so a block of rows sees the keys from the first
// row's first to the last row's last, as far as those rows see any.
KeyRange block_keys(const Problem& p, int i) {
    const Rows q = query_rows(p, i);
    KeyRange all{0, -1};
    for (int r = q.first; r < q.first + q.count; ++r) {
        const KeyRange k = visible_keys(p, r);
        if (k.first > k.last) continue;
        if (all.first > all.last) all = k;
        all = {std::min(all.first, k.first), std::max(all.last, k.last)};
    }
    return all;
}

}  // namespace

TileCover tile_cover(const Problem& p, int i, int j) {
    const Rows q = query_rows(p, i), k = key_rows(p, j);
    bool any = false, every = true;
    for (int r = q.first; r < q.first + q.count; ++r) {
        const KeyRange seen = visible_keys(p, r);
        any |= std::max(seen.first, k.first) <= std::min(seen.last, k.first + k.count - 1);
        every &= seen.first <= k.first && seen.last >= k.first + k.count - 1;
    }
    return every ? TileCover::full : any ? TileCover::partial : TileCover::none;
}

TrafficModel flash_forward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N();
    TrafficModel model;
    model.hbm_read = N * d * e;           // Q once
    model.hbm_write = N * d * e + 4 * N;  // O and L once
    bool any_tile = false;
    for (int i = 0; i < p.Tr(); ++i) {
        const KeyRange keys = block_keys(p, i);
        if (keys.first > keys.last) continue;
        // K and V in whole key blocks, from the first to the last that the query block sees.
        const std::int64_t begin = keys.first / p.Bc * p.Bc;
        const std::int64_t end =
            std::min<std::int64_t>(p.N_kv(), (keys.last / p.Bc + 1) * static_cast<std::int64_t>(p.Bc));
        model.hbm_read += 2 * (end - begin) * d * e;
        any_tile = true;
    }
    const std::int64_t Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    model.sram_peak = Br * d * e + 4 * (2 * Br + Br * d);  // Q tile; m, l and the O accumulator
    if (any_tile)
        model.sram_peak += 2 * Bc * d * e + 4 * (2 * Br * Bc + 2 * Br);  // K, V; S, P; m_tile, alpha
    return model;
}

TrafficModel standard_forward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N(), M = p.N_kv();
    TrafficModel model;
    model.hbm_read = e * (N * d + M * d) + e * N * M + e * (N * M + M * d);  // Q, K; S; P, V
    model.hbm_write = e * N * M + e * N * M + e * N * d;                     // S; P; O
    return model;
}

std::int64_t flash_forward_steps(const Problem& p) {
    std::int64_t steps = 0;
    for (int i = 0; i < p.Tr(); ++i) {
        steps += 4;  // load_q, init, normalize, store
        for (int j = 0; j < p.Tc(); ++j) {
            const TileCover cover = tile_cover(p, i, j);
            steps += cover == TileCover::none ? 1 : cover == TileCover::partial ? 9 : 8;
        }
    }
    return steps;
}

}  // namespace tilewalk
