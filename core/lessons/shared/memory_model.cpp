#include "core/lessons/shared/memory_model.h"

#include "core/lessons/shared/tile_steps.h"
#include "core/problem/mask.h"

#include <algorithm>

namespace tilewalk {

namespace {

struct Blocks {
    int first = 0, last = -1;
    bool any() const { return first <= last; }
    std::int64_t count() const { return std::int64_t{last} - first + 1; }
    void take_in(const Blocks& more) {
        *this = any() ? Blocks{std::min(first, more.first), std::max(last, more.last)} : more;
    }
};

// Rows of K in these blocks.
std::int64_t rows_of(const Problem& p, const Blocks& b) {
    if (!b.any()) return 0;
    const std::int64_t begin = std::int64_t{b.first} * p.Bc;
    return std::min<std::int64_t>(p.N_kv() - begin, b.count() * p.Bc);
}

// The key blocks that some query of block i looks at. The ranges of neighbouring queries touch or overlap, so
// that there is no gap between the first and the last.
Blocks blocks_seen(const Problem& p, int i) {
    Blocks out;
    const Region q = query_rows(p, i);
    for (int r = q.row; r < q.row + q.rows; ++r) {
        const KeyRange keys = visible_keys(p, r);
        if (keys.first <= keys.last) out.take_in({keys.first / p.Bc, keys.last / p.Bc});
    }
    return out;
}

// Sums over the tiles that are not masked whole.
struct Tiles {
    std::int64_t query_rows = 0;                    // Σ rows of the query block, over tiles
    std::int64_t key_rows = 0;                      // Σ rows of the key block, over tiles
    std::int64_t seen_keys = 0;                     // rows of the key blocks that somebody looks at
    std::int64_t seen_queries = 0;                  // rows of the query blocks that look at something
    std::int64_t query_blocks = 0, key_blocks = 0;  // that have a tile at all
};

Tiles tiles_of(const Problem& p) {
    Tiles out;
    Blocks all;
    for (int i = 0; i < p.Tr(); ++i) {
        const Blocks seen = blocks_seen(p, i);
        if (!seen.any()) continue;
        const std::int64_t rows = query_rows(p, i).rows;
        all.take_in(seen);
        out.query_rows += seen.count() * rows;
        out.key_rows += rows_of(p, seen);
        out.seen_queries += rows;
        ++out.query_blocks;
    }
    out.seen_keys = rows_of(p, all);
    out.key_blocks = all.any() ? all.count() : 0;
    return out;
}

// Steps of all tiles; `per_tile` is those of a tile without a mask step.
std::int64_t tile_steps(const Problem& p, int per_tile) {
    std::int64_t out = 0;
    for (int i = 0; i < p.Tr(); ++i)
        for (int j = 0; j < p.Tc(); ++j) {
            const TileCover cover = tile_cover(p, i, j);
            out += cover == TileCover::none ? 1 : per_tile + (cover == TileCover::partial);
        }
    return out;
}

std::int64_t largest_Br(const Problem& p) { return std::min(p.Br, p.N()); }
std::int64_t largest_Bc(const Problem& p) { return std::min(p.Bc, p.N_kv()); }
// The sink, or its gradient: one number in fp32.
std::int64_t sink_bytes(const Problem& p) { return p.logits.sink ? 4 : 0; }
bool keys_outside(const Problem& p) { return p.options.order == BackwardOrder::key_outer; }

}  // namespace

TrafficModel flash_forward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N();
    const Tiles tiles = tiles_of(p);
    const std::int64_t Br = largest_Br(p), Bc = largest_Bc(p);
    TrafficModel model;
    model.hbm_read = N * d * e + 2 * tiles.key_rows * d * e;  // Q once; K, V in every tile
    model.hbm_read += sink_bytes(p) * p.Tr();
    model.hbm_write = N * d * e + 4 * N;                   // O and L once
    model.sram_peak = Br * d * e + 4 * (2 * Br + Br * d);  // Q tile; m, l and the O accumulator
    if (tiles.query_rows > 0)
        model.sram_peak += 2 * Bc * d * e + 4 * (2 * Br * Bc + 2 * Br);  // K, V; S, P; m_tile, alpha
    return model;
}

TrafficModel standard_forward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N(), M = p.N_kv();
    TrafficModel model;
    model.hbm_read = e * (N * d + M * d) + e * N * M + e * (N * M + M * d);  // Q, K; S; P, V
    model.hbm_read += sink_bytes(p);
    model.hbm_write = e * N * M + e * N * M + e * N * d;  // S; P; O
    return model;
}

TrafficModel backward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N(), M = p.N_kv();
    TrafficModel model;
    // P, dO; dO, V; P, dP; dS, K; dS, Q; and where there is a softcap the capped S
    model.hbm_read = e * ((N * M + N * d) + (N * d + M * d) + 2 * N * M + (N * M + M * d) + (N * M + N * d));
    if (p.logits.softcap) model.hbm_read += e * N * M;
    model.hbm_write = e * (M * d + N * M + N * M + N * d + M * d);  // dV; dP; dS; dQ; dK
    model.hbm_write += sink_bytes(p);
    if (p.logits.sink) model.hbm_read += sink_bytes(p) + 4 * N;  // the sink, L
    return model;
}

TrafficModel flash_forward_v1_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N();
    const Tiles tiles = tiles_of(p);
    const std::int64_t Br = largest_Br(p), Bc = largest_Bc(p);
    TrafficModel model;
    model.hbm_read = 2 * tiles.seen_keys * d * e            // K, V once
                     + tiles.query_rows * (2 * d * e + 8);  // Q, O, m, ℓ for every tile
    model.hbm_read += sink_bytes(p);
    model.hbm_write = N * (d * e + 8)                    // O = 0, m = −∞, ℓ = 0
                      + tiles.query_rows * (d * e + 8);  // O, m, ℓ for every tile
    if (tiles.query_rows > 0)
        model.sram_peak = Br * d * e + 2 * Bc * d * e             // Q; K, V
                          + 4 * (2 * Br * Bc + Br * d + 4 * Br);  // S, P; O; m, l, m_tile, alpha
    return model;
}

TrafficModel flash_backward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N(), M = p.N_kv();
    const Tiles tiles = tiles_of(p);
    const std::int64_t Br = largest_Br(p), Bc = largest_Bc(p);
    const std::int64_t query_bytes = 2 * d * e + 8;  // a row of Q, dO, L, D
    const std::int64_t key_bytes = 2 * d * e;        // a row of K, V
    TrafficModel model;
    model.hbm_read = 2 * N * d * e;  // O, dO for D
    model.hbm_write = 4 * N;         // D
    if (p.logits.sink)
        model.hbm_read += 8 * N + sink_bytes(p), model.hbm_write += sink_bytes(p);  // L, D; dsink
    if (keys_outside(p)) {
        const std::int64_t sums = tiles.query_rows * 4 * d;  // dQ through HBM in every tile
        model.hbm_read += tiles.seen_keys * key_bytes + tiles.query_rows * query_bytes + sums;
        model.hbm_write += N * 4 * d + sums + 2 * M * d * e;  // dQ = 0; dQ; dK, dV
    } else {
        const std::int64_t sums = tiles.key_rows * 8 * d;  // dK and dV through HBM in every tile
        model.hbm_read += tiles.seen_queries * query_bytes + tiles.key_rows * key_bytes + sums;
        model.hbm_write += M * 8 * d + sums + N * d * e;  // dK = dV = 0; dK, dV; dQ
    }
    if (tiles.query_rows > 0)
        model.sram_peak = 2 * Bc * d * e + Br * query_bytes          // K, V; Q, dO, L, D
                          + 4 * (4 * Br * Bc + 2 * Bc * d + Br * d)  // S, P, dP, dS; dK, dV; dQ
                          + (p.logits.softcap ? 4 * Br * Bc : 0);    // the capped scores
    else
        model.sram_peak = keys_outside(p) ? 8 * Bc * d : 4 * Br * d;
    return model;
}

std::int64_t flash_forward_steps(const Problem& p) {
    return tile_steps(p, 8 + logit_steps(p, Capped::dropped)) +
           4LL * p.Tr();  // load_q, init, normalize, store of every query block
}

std::int64_t flash_forward_v1_steps(const Problem& p) {
    return tile_steps(p, 10 + logit_steps(p, Capped::dropped)) + 1 + tiles_of(p).key_blocks;
}

std::int64_t flash_backward_steps(const Problem& p) {
    const Tiles tiles = tiles_of(p);
    const int per_tile = 8 + logit_steps(p, Capped::kept);
    // D per query block; then per outer block: its load if it is of use, the start values, the store.
    const int sink = p.logits.sink ? 1 : 0;
    if (keys_outside(p)) return sink + p.Tr() + tiles.key_blocks + 2LL * p.Tc() + tile_steps(p, per_tile);
    return sink + p.Tr() + 1 + tiles.query_blocks + 2LL * p.Tr() + tile_steps(p, per_tile);
}

}  // namespace tilewalk
