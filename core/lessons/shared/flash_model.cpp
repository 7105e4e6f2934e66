#include "core/lessons/shared/flash_model.h"

#include <algorithm>

namespace tilewalk {

namespace {

struct Blocks {
    int first = 0, last = -1;
    std::int64_t count() const { return last - first + 1; }
};

std::int64_t rows_in(int blocks, int size, int n, int first) {
    const std::int64_t begin = std::int64_t{first} * size;
    return std::min<std::int64_t>(n - begin, std::int64_t{blocks} * size);
}

std::int64_t query_rows(const Problem& p, int i) { return rows_in(1, p.Br, p.N(), i); }
std::int64_t key_rows(const Problem& p, Blocks b) {
    return b.count() <= 0 ? 0 : rows_in(static_cast<int>(b.count()), p.Bc, p.N_kv(), b.first);
}

// The key blocks that some query of block i looks at. The ranges of neighbouring queries touch or overlap, so
// that there is no gap between the first and the last.
Blocks blocks_seen(const Problem& p, int i) {
    Blocks out;
    const int top = i * p.Br;
    for (int r = top; r < top + static_cast<int>(query_rows(p, i)); ++r) {
        const KeyRange keys = visible_keys(p, r);
        if (keys.first > keys.last) continue;
        const Blocks row{keys.first / p.Bc, keys.last / p.Bc};
        out = out.count() <= 0 ? row : Blocks{std::min(out.first, row.first), std::max(out.last, row.last)};
    }
    return out;
}

// Sums over the tiles that are not masked whole.
struct Tiles {
    std::int64_t query_rows = 0;    // Σ rows of the query block, over tiles
    std::int64_t key_rows = 0;      // Σ rows of the key block, over tiles
    std::int64_t seen_keys = 0;     // rows of the key blocks that somebody looks at
    std::int64_t seen_queries = 0;  // rows of the query blocks that look at something
};

Tiles tiles_of(const Problem& p) {
    Tiles out;
    Blocks all;
    for (int i = 0; i < p.Tr(); ++i) {
        const Blocks seen = blocks_seen(p, i);
        if (seen.count() <= 0) continue;
        all =
            all.count() <= 0 ? seen : Blocks{std::min(all.first, seen.first), std::max(all.last, seen.last)};
        out.query_rows += seen.count() * query_rows(p, i);
        out.key_rows += key_rows(p, seen);
        out.seen_queries += query_rows(p, i);
    }
    out.seen_keys = key_rows(p, all);
    return out;
}

// Steps of all tiles, and how many outer blocks have a tile at all.
struct Steps {
    std::int64_t tiles = 0;
    int query_blocks = 0, key_blocks = 0;
};

// `per_tile`: steps of a tile without a mask step.
Steps steps_of(const Problem& p, int per_tile) {
    Steps out;
    Blocks all;
    for (int i = 0; i < p.Tr(); ++i) {
        const Blocks seen = blocks_seen(p, i);
        out.query_blocks += seen.count() > 0;
        if (seen.count() > 0)
            all = all.count() <= 0 ? seen
                                   : Blocks{std::min(all.first, seen.first), std::max(all.last, seen.last)};
        for (int j = 0; j < p.Tc(); ++j) {
            const TileCover cover = tile_cover(p, i, j);
            out.tiles += cover == TileCover::none ? 1 : per_tile + (cover == TileCover::partial);
        }
    }
    out.key_blocks = static_cast<int>(std::max<std::int64_t>(0, all.count()));
    return out;
}

}  // namespace

TrafficModel flash_forward_v1_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N();
    const Tiles tiles = tiles_of(p);
    TrafficModel model;
    model.hbm_read = 2 * tiles.seen_keys * d * e            // K, V once
                     + tiles.query_rows * (2 * d * e + 8);  // Q, O, m, ℓ for every tile
    model.hbm_write = N * (d * e + 8)                       // O = 0, m = −∞, ℓ = 0
                      + tiles.query_rows * (d * e + 8);     // O, m, ℓ for every tile
    const std::int64_t Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    if (tiles.query_rows > 0)
        model.sram_peak = Br * d * e + 2 * Bc * d * e             // Q; K, V
                          + 4 * (2 * Br * Bc + Br * d + 4 * Br);  // S, P; O; m, l, m_tile, alpha
    return model;
}

std::int64_t flash_forward_v1_steps(const Problem& p) {
    const Steps steps = steps_of(p, 10);
    return 1 + steps.key_blocks + steps.tiles;
}

TrafficModel flash_backward_model(const Problem& p) {
    const std::int64_t e = p.element_bytes, d = p.d(), N = p.N(), M = p.N_kv();
    const bool keys_outside = p.options.order == BackwardOrder::key_outer;
    const Tiles tiles = tiles_of(p);
    const std::int64_t query_bytes = 2 * d * e + 8;  // a row of Q, dO, L, D
    const std::int64_t key_bytes = 2 * d * e;        // a row of K, V
    TrafficModel model;
    model.hbm_read = 2 * N * d * e;  // O, dO for D
    model.hbm_write = 4 * N;         // D
    if (keys_outside) {
        const std::int64_t sums = tiles.query_rows * 4 * d;  // dQ through HBM in every tile
        model.hbm_read += tiles.seen_keys * key_bytes + tiles.query_rows * query_bytes + sums;
        model.hbm_write += N * 4 * d + sums + 2 * M * d * e;  // dQ = 0; dQ; dK, dV
    } else {
        const std::int64_t sums = tiles.key_rows * 8 * d;  // dK and dV through HBM in every tile
        model.hbm_read += tiles.seen_queries * query_bytes + tiles.key_rows * key_bytes + sums;
        model.hbm_write += M * 8 * d + sums + N * d * e;  // dK = dV = 0; dK, dV; dQ
    }
    const std::int64_t Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    if (tiles.query_rows > 0)
        model.sram_peak = 2 * Bc * d * e + Br * query_bytes           // K, V; Q, dO, L, D
                          + 4 * (4 * Br * Bc + 2 * Bc * d + Br * d);  // S, P, dP, dS; dK, dV; dQ
    else
        model.sram_peak = keys_outside ? 8 * Bc * d : 4 * Br * d;
    return model;
}

std::int64_t flash_backward_steps(const Problem& p) {
    const bool keys_outside = p.options.order == BackwardOrder::key_outer;
    const Steps steps = steps_of(p, 8);
    // D per query block; then per outer block: its load if it is of use, the start values, the store.
    if (keys_outside) return p.Tr() + steps.key_blocks + 2LL * p.Tc() + steps.tiles;
    return p.Tr() + 1 + steps.query_blocks + 2LL * p.Tr() + steps.tiles;
}

}  // namespace tilewalk
