// flash, backward: the loop over query blocks of FlashAttention-2 for one super-block of keys.
// The forward pass the other way round: the keys stay, and lie in the lanes. Kⱼ and Vⱼ are packed once,
// transposed; dKⱼᵀ and dVⱼᵀ grow beside them; Q and dO are read as they lie in memory. S comes out with the
// bits it had in the forward pass, so that exp(S − m) / ℓ is exactly 1 where a row has one large score.
// Tensors of 16 bits are converted: K and V where they are packed, Q and dO a query block at a time, dK and
// dV where they are stored. dQ is a sum in memory, which stays in float32 until the end (flash.cpp).
#include "core/cpu/flash_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/flash_backward.cpp"
#include "core/cpu/lanes.h"
#include <hwy/foreach_target.h>

#include "core/cpu/tile_product-inl.h"
#include "core/cpu/transpose-inl.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {
namespace {

// The tiles of a task, in its scratch memory. Bs keys stay; Br queries pass by.
struct OnChip {
    float *Kj, *Vj, *dKj, *dVj;  // d × Bs each, a panel of d × `panel` after the other
    float* rows_of_K;            // Bs × padded, times scale, zeros past d: for dQ, whose lanes run along d
    float* dQi;                  // Br × padded
    float *P, *dS;               // Br × Bc; S before P, dP before dS
    float *Qi, *dOi;             // Br × d each, where Q and dO are converted
};

OnChip on_chip(const BackwardTask& t) {
    const BackwardTiles& tiles = t.tiles;
    const std::int64_t d = t.w.d;
    OnChip chip;
    float* at = t.scratch;
    for (float** const tile : {&chip.Kj, &chip.Vj, &chip.dKj, &chip.dVj}) *tile = at, at += tiles.Bs * d;
    chip.rows_of_K = at, at += tiles.Bs * tiles.padded;
    chip.dQi = at, at += tiles.Br * tiles.padded;
    chip.P = at, at += tiles.Br * tiles.Bc;
    chip.dS = at, at += tiles.Br * tiles.Bc;
    chip.Qi = at, chip.dOi = tiles.converted ? at + tiles.Br * d : at;
    return chip;
}

// Rows of a tensor into panels of d × `panel`; lanes past the last row hold zeros
template <class T> void transpose(const T* from, std::int64_t rows, std::int64_t d, float* to) {
    const std::int64_t panels = (rows + panel - 1) / panel;
    std::fill_n(to + (panels - 1) * d * panel, d * panel, 0.0f);
    const auto row_at = [&](std::int64_t r) HWY_ATTR { return from + r * d; };
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const LaneRows<const T> lane(r, rows, d, row_at);
        rows_to_lanes(lane.rows, lane.count, d, to + lane.at);
    }
}
template <class T>
void transpose_back(const float* from, std::int64_t rows, std::int64_t d, float factor, T* to) {
    float factors[lanes];
    std::fill_n(factors, lanes, factor);
    const auto row_at = [&](std::int64_t r) HWY_ATTR { return to + r * d; };
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const LaneRows<T> lane(r, rows, d, row_at);
        lanes_to_rows(from + lane.at, factors, lane.count, d, lane.rows);
    }
}

template <class T>
void load_keys(const BackwardTask& t, const OnChip& chip, std::int64_t key, std::int64_t keys) {
    const std::int64_t d = t.w.d, padded = t.tiles.padded;
    const T* const K = t.K.as<T>() + key * d;
    transpose(K, keys, d, chip.Kj);
    transpose(t.V.as<T>() + key * d, keys, d, chip.Vj);
    const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d)));
    for (std::int64_t j = 0; j < keys; ++j) {
        float* const row = chip.rows_of_K + j * padded;
        const float* const from = as_floats(K + j * d, d, row);
        for (std::int64_t k = 0; k < d; ++k) row[k] = scale * from[k];
        std::fill(row + d, row + padded, 0.0f);
    }
}

// Rows of a tile that meet a panel of keys: first … first + count − 1 of the query block at `row` of all rows
struct Rows {
    std::int64_t row, query;  // in the tensors of the group; in its head
    std::int64_t first, count;
};

// Cut the tile with the mask: far below every score where a query must not look, and past the last key
void mask_keys(const Workload& w, std::int64_t query, std::int64_t rows, std::int64_t key, float* S,
               std::int64_t stride) {
    for (std::int64_t r = 0; r < rows; ++r) {
        // The lanes that this query sees
        const std::int64_t first = std::clamp<std::int64_t>(w.first_key(query + r) - key, 0, panel),
                           last = std::clamp<std::int64_t>(w.last_key(query + r) - key, -1, panel);
        const Vector from = all(static_cast<float>(first)), to = all(static_cast<float>(last));
        for (int v = 0; v < panel; v += lanes) {
            const Vector at = hn::Iota(Floats(), static_cast<float>(v));
            const auto seen = hn::And(hn::Ge(at, from), hn::Le(at, to));
            float* const score = S + r * stride + v;
            store(hn::IfThenElse(seen, load(score), all(masked_score)), score);
        }
    }
}

// P = exp(scale · (S − m)) / ℓ and dS = P ⊙ (dP − D), in the places of S and dP
HWY_INLINE void weights_and_dS(const BackwardTask& t, std::int64_t row, std::int64_t rows, float* P,
                               float* dS) {
    const std::int64_t stride = t.tiles.Bc;
    const Vector factor = all(exponent_factor(t.w.d));
    for (std::int64_t r = 0; r < rows; ++r) {
        const Vector m = all(t.m[row + r]), over_l = all(t.over_l[row + r]), D = all(t.D[row + r]);
        for (int v = 0; v < panel; v += lanes) {
            float *const S_P = P + r * stride + v, *const dP_dS = dS + r * stride + v;
            const Vector weight = hn::Mul(exp2(factor, hn::Sub(load(S_P), m)), over_l);
            store(weight, S_P);
            store(hn::Mul(weight, hn::Sub(load(dP_dS), D)), dP_dS);
        }
    }
}

// Qᵢ and dOᵢ, by their first rows
struct Queries {
    const float *Q, *dO;
};

// One panel of Kⱼ meets Qᵢ: all but dQᵢ. `at` is the panel's first key in the super-block, `column` in the
// tile.
void walk_panel(const BackwardTask& t, const OnChip& chip, const Queries& i, const Rows& rows,
                std::int64_t at, std::int64_t column) {
    const Workload& w = t.w;
    const std::int64_t d = w.d, Bc = t.tiles.Bc, key = t.s * t.tiles.Bs + at;
    const std::int64_t first = rows.query + rows.first, last = first + rows.count - 1,
                       row = rows.row + rows.first;
    float *const P = chip.P + rows.first * Bc + column, *const dS = chip.dS + rows.first * Bc + column;
    const Strided Q = {i.Q + rows.first * d, d}, dO = {i.dO + rows.first * d, d};

    // S = Qᵢ Kⱼᵀ                                                                       (rows × panel)
    product_over_d(P, Bc, rows.count, Q, {chip.Kj + at * d, panel}, d);
    if (w.first_key(last) > key || w.last_key(first) < key + panel - 1)
        mask_keys(w, first, rows.count, key, P, Bc);

    // dP = dOᵢ Vⱼᵀ, then P and dS = P ⊙ (dP − Dᵢ)                                      (rows × panel)
    product_over_d(dS, Bc, rows.count, dO, {chip.Vj + at * d, panel}, d);
    weights_and_dS(t, row, rows.count, P, dS);

    // dVⱼ ← dVⱼ + Pᵀ dOᵢ,  dKⱼ ← dKⱼ + dSᵀ Qᵢ, both transposed                         (d × panel)
    product<Before::keep, Order::columns>(chip.dVj + at * d, panel, d, dO, {P, Bc}, rows.count);
    product<Before::keep, Order::columns>(chip.dKj + at * d, panel, d, Q, {dS, Bc}, rows.count);
}

// The queries of this block that see any key of a panel
Rows rows_that_see(const Workload& w, Rows block, std::int64_t key) {
    std::int64_t first = 0, end = block.count;
    while (first < end && w.last_key(block.query + first) < key) ++first;
    while (end > first && w.first_key(block.query + end - 1) > key + panel - 1) --end;
    return {block.row, block.query, first, end - first};
}

// Qᵢ meets one key block: `keys` keys from `at` in the super-block on
void walk_tile(const BackwardTask& t, const OnChip& chip, const Queries& i, const Rows& block,
               std::int64_t at, std::int64_t keys) {
    const std::int64_t Bc = t.tiles.Bc, padded = t.tiles.padded;
    std::int64_t first = block.count, end = 0;
    for (std::int64_t column = 0; column < keys; column += panel) {
        const Rows rows = rows_that_see(t.w, block, t.s * t.tiles.Bs + at + column);
        // Where no query sees the panel, dS is 0
        for (std::int64_t r = 0; r < block.count; ++r)
            if (r < rows.first || r >= rows.first + rows.count)
                std::fill_n(chip.dS + r * Bc + column, panel, 0.0f);
        if (rows.count == 0) continue;
        walk_panel(t, chip, i, rows, at + column, column);
        first = std::min(first, rows.first), end = std::max(end, rows.first + rows.count);
    }
    if (first >= end) return;

    // dQᵢ ← dQᵢ + scale · dS Kⱼ, with the scale in Kⱼ                                  (Br × d)
    for (std::int64_t k = 0; k < padded; k += panel)
        product<Before::keep, Order::rows>(chip.dQi + first * padded + k, padded, end - first,
                                           {chip.dS + first * Bc, Bc},
                                           {chip.rows_of_K + at * padded + k, padded}, keys);
}

// dQᵢ of this super-block goes to what the super-blocks before it have left in HBM
void add_to_dQ(const BackwardTask& t, const OnChip& chip, const Rows& block) {
    const std::int64_t d = t.w.d;
    for (std::int64_t r = 0; r < block.count; ++r)
        for (std::int64_t k = 0; k < d; ++k)
            t.dQ[(block.row + r) * d + k] += chip.dQi[r * t.tiles.padded + k];
}

template <class T> void walk_stored(const BackwardTask& t, Turn& turn, const std::stop_token& stop) {
    const Workload& w = t.w;
    const std::int64_t Br = t.tiles.Br, Bc = t.tiles.Bc, d = w.d, key = t.s * t.tiles.Bs,
                       keys = std::min(t.tiles.Bs, w.N_kv - key), blocks = (w.N_q + Br - 1) / Br;
    const OnChip chip = on_chip(t);

    // Load Kⱼ, Vⱼ;  dKⱼ ← 0, dVⱼ ← 0
    load_keys<T>(t, chip, key, keys);
    std::fill_n(chip.dKj, t.tiles.Bs * d, 0.0f);
    std::fill_n(chip.dVj, t.tiles.Bs * d, 0.0f);

    // Stream the query blocks past it, of all heads that share these keys. The last comes first: all
    // super-blocks of a causal head see that one, and so they can follow each other closely.
    for (std::int64_t step = 0; step < w.heads / w.kv_heads * blocks; ++step) {
        if (stop.stop_requested()) return;
        const std::int64_t i = (blocks - 1 - step % blocks) * Br;
        const Rows block = {step / blocks * w.N_q + i, i, 0, std::min(Br, w.N_q - i)};
        if (w.last_key(i + block.count - 1) < key || w.first_key(i) >= key + keys) continue;
        std::fill_n(chip.dQi, block.count * t.tiles.padded, 0.0f);
        const std::int64_t from = block.row * d, count = block.count * d;
        const Queries these = {as_floats(t.Q.as<T>() + from, count, chip.Qi),
                               as_floats(t.dO.as<T>() + from, count, chip.dOi)};
        for (std::int64_t j = 0; j < keys; j += Bc)
            walk_tile(t, chip, these, block, j, std::min(Bc, keys - j));
        turn.wait_for(step);
        add_to_dQ(t, chip, block);
        turn.done(step);
    }

    // Store dKⱼ, dVⱼ
    const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d)));
    transpose_back(chip.dKj, keys, d, scale, t.dK.as<T>() + key * d);
    transpose_back(chip.dVj, keys, d, 1, t.dV.as<T>() + key * d);
}

void walk_super_block(const BackwardTask& t, Turn& turn, const std::stop_token& stop) {
    with_type(t.K.type(), [&](auto x) HWY_ATTR { walk_stored<decltype(x)>(t, turn, stop); });
}

// Dᵢ = rowsum(dOᵢ ⊙ Oᵢ), dQᵢ ← 0. As the diagonal of dOᵢ Oᵢᵀ, through the micro-kernel: where one weight is
// 1, O is a row of V, and D then has the bits of that dP, so that dP − D is exactly 0.
template <class T> void preprocess_stored(const PreprocessTask& t) {
    const std::int64_t d = t.d, rows = t.rows;
    float *const Oi = t.scratch, *const dP = Oi + d * panel, *const dOi = dP + panel * panel;
    transpose(t.O.as<T>(), rows, d, Oi);
    product_over_d(dP, panel, rows, {as_floats(t.dO.as<T>(), rows * d, dOi), d}, {Oi, panel}, d);
    for (std::int64_t r = 0; r < rows; ++r) t.D[r] = dP[r * panel + r];
    std::fill_n(t.dQ, rows * d, 0.0f);
}

void preprocess_panel(const PreprocessTask& t) {
    with_type(t.O.type(), [&](auto x) HWY_ATTR { preprocess_stored<decltype(x)>(t); });
}

}  // namespace
}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewalk::cpu {

HWY_EXPORT(walk_super_block);
HWY_EXPORT(preprocess_panel);

void flash_backward(const BackwardTask& task, Turn& turn, const std::stop_token& stop) {
    HWY_DYNAMIC_DISPATCH(walk_super_block)(task, turn, stop);
}

void flash_preprocess(const PreprocessTask& task) { HWY_DYNAMIC_DISPATCH(preprocess_panel)(task); }

}  // namespace tilewalk::cpu
#endif
