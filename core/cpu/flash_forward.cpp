// flash, forward: the loop over key blocks of FlashAttention-2 for one query block.
// Lanes are rows: queries of the heads that share K and V, so that each key block is loaded once for all of
// them. Qᵢ is packed once, transposed, so that Sᵀ = Kⱼ Qᵢᵀ and Oᵀ ← α ⊙ Oᵀ + Vⱼᵀ Pᵀ run through
// one micro-kernel, which reads K and V as they lie in memory, and maximum, exponential and sum of a row
// never cross lanes. Names without ᵀ below all mean these transposed tiles. S and m stay without the scale,
// which the exponential multiplies with: exp(scale · (S − m)) = 2 to the power of scale · log₂e · (S − m).
// K and V of 16 bits are converted a block at a time, once for all rows of the task; Q and O where they are
// transposed.
#include "core/cpu/flash_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/flash_forward.cpp"
#include "core/cpu/lanes.h"
#include <hwy/foreach_target.h>

#include "core/cpu/tile_product-inl.h"
#include "core/cpu/transpose-inl.h"
#include "core/engine/heads.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {
namespace {

// The tiles of a task, in its scratch memory
struct OnChip {
    float* Qi;       // d × Br, a panel of d × `panel` after the other
    float* Oi;       // d × Br, likewise
    float* S;        // Bc × panel; P after it
    float* m;        // Br
    float* l;        // Br
    float *Kj, *Vj;  // Bc × d each, where K and V are converted
};

OnChip on_chip(const ForwardTask& t) {
    const std::int64_t Br = t.tiles.Br, d = t.w.d;
    float *const Qi = t.scratch, *const Oi = Qi + d * Br, *const S = Oi + d * Br,
                 *const m = S + t.tiles.Bc * panel, *const l = m + Br, *const Kj = l + Br;
    return {Qi, Oi, S, m, l, Kj, t.tiles.converted ? Kj + t.tiles.Bc * d : Kj};
}

// Load Qᵢ, transposed. Lanes past the last row hold zeros.
template <class T> void load_queries(const ForwardTask& t, std::int64_t first, std::int64_t rows, float* Qi) {
    const std::int64_t d = t.w.d, panels = (rows + panel - 1) / panel;
    std::fill_n(Qi + (panels - 1) * d * panel, d * panel, 0.0f);
    const GroupRows group(t.w);
    const T* const Q = t.Q.as<T>();
    const auto row_at = [&](std::int64_t r) HWY_ATTR { return Q + group.place(first + r) * d; };
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const LaneRows<const T> from(r, rows, d, row_at);
        rows_to_lanes(from.rows, from.count, d, Qi + from.at);
    }
}

// Cut the tile with the mask: far below every score where a query must not look
void mask_keys(const Workload& w, std::int64_t row, std::int64_t key, std::int64_t keys, float* S) {
    // The keys that each lane sees, counted from the first of the tile
    const GroupRows group(w);
    float from[panel], to[panel];
    for (int r = 0; r < panel; ++r) {
        const std::int64_t i = group.query(std::min(row + r, group.count() - 1));
        from[r] = static_cast<float>(std::clamp<std::int64_t>(w.first_key(i) - key, 0, keys));
        to[r] = static_cast<float>(std::clamp<std::int64_t>(w.last_key(i) - key, -1, keys));
    }
    for (int v = 0; v < panel; v += lanes)
        for (std::int64_t j = 0; j < keys; ++j) {
            const Vector at = all(static_cast<float>(j));
            const auto seen = hn::And(hn::Ge(at, load(from + v)), hn::Le(at, load(to + v)));
            float* const score = S + j * panel + v;
            store(hn::IfThenElse(seen, load(score), all(masked_score)), score);
        }
}

// P = exp(S − m) in the place of S, with the scale in the exponent, and rowsum(P)
HWY_INLINE void weights_of_scores(Vector factor, float* S, std::int64_t keys, const Vector* m,
                                  Vector* rowsum) {
    const Vector m0 = m[0], m1 = m[1];
    Vector rowsum0 = all(0), rowsum1 = all(0);
    for (std::int64_t j = 0; j < keys;) {
        // A few weights at a time: in a long sum of positive numbers every step rounds the whole of it
        Vector some0 = all(0), some1 = all(0);
        for (const std::int64_t end = std::min(j + 16, keys); j < end; ++j) {
            const Vector P0 = exp2(factor, hn::Sub(load(S + j * panel), m0));
            const Vector P1 = exp2(factor, hn::Sub(load(S + j * panel + lanes), m1));
            store(P0, S + j * panel);
            store(P1, S + j * panel + lanes);
            some0 = hn::Add(some0, P0);
            some1 = hn::Add(some1, P1);
        }
        rowsum0 = hn::Add(rowsum0, some0);
        rowsum1 = hn::Add(rowsum1, some1);
    }
    rowsum[0] = rowsum0;
    rowsum[1] = rowsum1;
}

// The maximum of each row of a tile, and of what it was before
HWY_INLINE void row_maximum(const float* S, std::int64_t keys, Vector* m) {
    for (std::int64_t j = 0; j < keys; ++j)
        for (int v = 0; v < 2; ++v) m[v] = hn::Max(m[v], load(S + j * panel + v * lanes));
}

// The next Kⱼ and Vⱼ come nearer while this block is at work: of both the bytes from `first` to `end` beside
// one panel, a few with each tile of scores. All at once they would hold up what this panel loads.
struct Ahead {
    const char *K, *V;
    std::int64_t first, end, step;
    HWY_INLINE void fetch() {
        if (first >= end) return;
        const std::int64_t count = std::min(step, end - first);
        prefetch(K + first, count);
        prefetch(V + first, count);
        first += count;
    }
};
Ahead share_of_next(const ForwardTask& t, KeyRange next, std::int64_t row, std::int64_t rows) {
    if (next.first >= next.end) return {nullptr, nullptr, 0, 0, 64};
    const std::int64_t d = t.w.d, bytes = (next.end - next.first) * d * t.K.element_bytes(),
                       tiles = t.tiles.Bc / tile_rows, first = bytes * row / rows,
                       end = bytes * std::min(row + panel, rows) / rows;
    const Elements K = t.K + next.first * d, V = t.V + next.first * d;
    return {K.as<char>(), V.as<char>(), first, end, (end - first + tiles - 1) / tiles};
}

// What becomes of finished scores: the highest of each row
struct HighestAndNext {
    Highest highest;
    Ahead ahead;
    template <int rows> HWY_INLINE void take(const Vector (&S)[rows][2]) {
        highest.take(S);
        ahead.fetch();
    }
};

// Kⱼ and Vⱼ, by their first rows
struct KeyBlock {
    KeyRange keys;
    const float *K, *V;
};

// One panel of Qᵢ, `row` rows down, meets Kⱼ and Vⱼ, of which it takes the keys that any of its queries sees.
void walk_tile(const ForwardTask& t, const OnChip& chip, std::int64_t row, const KeyBlock& block,
               const Ahead& ahead) {
    const Workload& w = t.w;
    const GroupRows group(w);
    const std::int64_t d = w.d, at = t.i * t.tiles.Br + row, query = group.query(at),
                       last = group.query(std::min(at + panel, group.count()) - 1);
    const std::int64_t j = std::max(block.keys.first, w.first_key(query)),
                       keys = std::min(block.keys.end, w.last_key(last) + 1) - j,
                       skipped = (j - block.keys.first) * d;
    if (keys <= 0) return;
    float* const S = chip.S;

    // S = Qᵢ Kⱼᵀ and m ← max(m, rowmax(S))                                             (keys × panel, panel)
    float *const m = chip.m + row, *const l = chip.l + row;
    const Vector m_old[2] = {load(m), load(m + lanes)};
    HighestAndNext scores = {{{m_old[0], m_old[1]}}, ahead};
    product_over_d(S, panel, keys, {block.K + skipped, d}, {chip.Qi + row * d, panel}, d, scores);
    Highest& highest = scores.highest;
    if (w.first_key(last) > j || w.last_key(query) < j + keys - 1) {
        mask_keys(w, at, j, keys, S);
        highest = {{m_old[0], m_old[1]}};
        row_maximum(S, keys, highest.m);
    }

    // P = exp(S − m), α = exp(m_old − m), ℓ ← α ⊙ ℓ + rowsum(P)                        (keys × panel, panel)
    const Vector factor = all(exponent_factor(d));
    Vector alpha[2], rowsum[2];
    weights_of_scores(factor, S, keys, highest.m, rowsum);
    for (int v = 0; v < 2; ++v) {
        alpha[v] = exp2(factor, hn::Sub(m_old[v], highest.m[v]));
        store(highest.m[v], m + v * lanes);
        store(hn::MulAdd(alpha[v], load(l + v * lanes), rowsum[v]), l + v * lanes);
    }

    // O ← α ⊙ O + P Vⱼ, still unnormalised                                             (d × panel)
    product<Before::scale, Order::columns>(chip.Oi + row * d, panel, d, {block.V + skipped, d}, {S, panel},
                                           keys, alpha);
}

// O ← O ⊘ ℓ, once, and L = m + ln ℓ, both back to the rows of the tensors. A row that saw no key has ℓ = 0
// and keeps O = 0.
template <class T>
void store_queries(const ForwardTask& t, const OnChip& chip, std::int64_t first, std::int64_t rows) {
    const GroupRows group(t.w);
    const std::int64_t d = t.w.d;
    T* const O = t.O.as<T>();
    const auto row_at = [&](std::int64_t r) HWY_ATTR { return O + group.place(first + r) * d; };
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const LaneRows<T> to(r, rows, d, row_at);
        float over_l[lanes];
        for (std::int64_t k = 0; k < to.count; ++k) {
            const std::int64_t at = group.place(first + r + k);
            const float m = chip.m[r + k], l = chip.l[r + k];
            over_l[k] = l == 0 ? 0 : 1 / l;
            t.L[at] = log_sum_exp(m, l, d);
            if (!t.m) continue;
            t.m[at] = m;
            t.over_l[at] = over_l[k];
        }
        lanes_to_rows(chip.Oi + to.at, over_l, to.count, d, to.rows);
    }
}

// The same of some keys: O, m and ℓ as they are
void store_partial(const ForwardTask& t, const OnChip& chip, std::int64_t first, std::int64_t rows,
                   const Partial& part) {
    const std::int64_t d = t.w.d;
    float ones[lanes];
    std::fill_n(ones, lanes, 1.0f);
    const auto row_at = [&](std::int64_t r) HWY_ATTR { return part.O + (first + r) * d; };
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const LaneRows<float> to(r, rows, d, row_at);
        lanes_to_rows(chip.Oi + to.at, ones, to.count, d, to.rows);
    }
    std::copy_n(chip.m, rows, part.m + first);
    std::copy_n(chip.l, rows, part.l + first);
}

template <class T>
void walk_stored(const ForwardTask& t, KeyRange keys, const Partial* part, const std::stop_token& stop) {
    const GroupRows group(t.w);
    const std::int64_t first = t.i * t.tiles.Br, rows = std::min(t.tiles.Br, group.count() - first),
                       Bc = t.tiles.Bc, d = t.w.d;
    const OnChip chip = on_chip(t);

    // Load Qᵢ;  m ← −∞, ℓ ← 0, O ← 0
    load_queries<T>(t, first, rows, chip.Qi);
    std::fill_n(chip.m, t.tiles.Br, lowest_score);
    std::fill_n(chip.l, t.tiles.Br, 0.0f);
    std::fill_n(chip.Oi, t.tiles.Br * d, 0.0f);

    // Stream the key blocks past it, without those that the mask removes whole
    const std::int64_t begin = std::max(keys.first, t.w.first_key(group.query(first))),
                       end = std::min(keys.end, t.w.last_key(group.query(first + rows - 1)) + 1);
    for (std::int64_t j = keys.first + (begin - keys.first) / Bc * Bc; j < end; j += Bc) {
        if (stop.stop_requested()) return;
        const KeyRange these = {j, std::min(j + Bc, end)};
        const std::int64_t from = j * d, count = (these.end - j) * d;
        const KeyBlock block = {these, as_floats(t.K.as<T>() + from, count, chip.Kj),
                                as_floats(t.V.as<T>() + from, count, chip.Vj)};
        for (std::int64_t row = 0; row < rows; row += panel) {
            walk_tile(t, chip, row, block, share_of_next(t, {j + Bc, std::min(j + 2 * Bc, end)}, row, rows));
        }
    }
    if (part)
        store_partial(t, chip, first, rows, *part);
    else
        store_queries<T>(t, chip, first, rows);
}

void walk_query_block(const ForwardTask& t, KeyRange keys, const Partial* part, const std::stop_token& stop) {
    with_type(t.K.type(), [&](auto x) HWY_ATTR { walk_stored<decltype(x)>(t, keys, part, stop); });
}

}  // namespace
}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewalk::cpu {

HWY_EXPORT(walk_query_block);

void flash_forward(const ForwardTask& task, const std::stop_token& stop) {
    HWY_DYNAMIC_DISPATCH(walk_query_block)(task, {0, task.w.N_kv}, nullptr, stop);
}

void flash_partial(const ForwardTask& task, KeyRange keys, const Partial& part, const std::stop_token& stop) {
    HWY_DYNAMIC_DISPATCH(walk_query_block)(task, keys, &part, stop);
}

}  // namespace tilewalk::cpu
#endif
