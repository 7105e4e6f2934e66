// split-kv, few rows: one split of the keys meets the few queries of the heads that share it. Lanes are
// elements of a row, so that a single query fills them: a score is the sum over the lanes of q ⊙ k, and O
// grows by a row of V at a time. Everything is small but K and V, which are read as they lie in memory, once;
// while scores are computed V is on its way, and during the rest the next keys. Those of 16 bits become
// floats in the registers, on their way into the multiply-adds.
#include "core/cpu/split_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/split_rows.cpp"
#include "core/cpu/lanes.h"
#include <hwy/foreach_target.h>

#include "core/cpu/tile_product-inl.h"
#include "core/engine/heads.h"

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {
namespace {

// The tiles of a task, in its scratch memory; rows of Q and O are as long as whole panels.
struct OnChip {
    float* Q;     // rows × padded
    float* O;     // rows × padded
    float* P;     // rows × Bc: S, then the weights
    float* m;     // rows
    float* l;     // rows
    float* copy;  // Bc × padded, where rows of K and V are copied
};

OnChip on_chip(const SplitTask& t, std::int64_t rows) {
    float *const Q = t.scratch, *const O = Q + rows * t.tiles.padded, *const P = O + rows * t.tiles.padded,
                 *const m = P + rows * t.tiles.Bc, *const l = m + rows;
    return {Q, O, P, m, l, l + rows};
}

// Lane k of the result: the sum of all lanes of the k-th of `lanes` vectors.
HWY_INLINE Vector sums_of(Vector* v) {
#if HWY_TARGET == HWY_SCALAR
    return v[0];
#else
    const Floats f;
    const hn::Repartition<std::uint64_t, Floats> pairs;
    // Lanes 0 and 2, 1 and 3 of each four, then what is left of them: four vectors become one
    TILEWALK_UNROLL for (int k = 0; k < lanes / 2; ++k) {
        const Vector a = v[2 * k], b = v[2 * k + 1];
        v[k] = hn::Add(hn::InterleaveLower(f, a, b), hn::InterleaveUpper(f, a, b));
    }
    TILEWALK_UNROLL for (int k = 0; k < lanes / 4; ++k) {
        const auto a = hn::BitCast(pairs, v[2 * k]), b = hn::BitCast(pairs, v[2 * k + 1]);
        v[k] = hn::Add(hn::BitCast(f, hn::InterleaveLower(pairs, a, b)),
                       hn::BitCast(f, hn::InterleaveUpper(pairs, a, b)));
    }
    if constexpr (lanes == 8)
        return hn::Add(hn::ConcatLowerLower(f, v[1], v[0]), hn::ConcatUpperUpper(f, v[1], v[0]));
    if constexpr (lanes == 16) {
        const Vector even = hn::Add(hn::ConcatLowerLower(f, v[2], v[0]), hn::ConcatUpperUpper(f, v[2], v[0])),
                     odd = hn::Add(hn::ConcatLowerLower(f, v[3], v[1]), hn::ConcatUpperUpper(f, v[3], v[1]));
        return hn::OddEvenBlocks(hn::Add(odd, hn::SwapAdjacentBlocks(odd)),
                                 hn::Add(even, hn::SwapAdjacentBlocks(even)));
    }
    return v[0];
#endif
}

// Rows of K or V by the first one and the distance between them
template <class T> struct StoredRows {
    const T* data;
    std::int64_t stride;
};

// S of `rows` queries and of lanes / rows keys, the last ones the same key again where there are fewer: as
// many sums as lanes, which become one vector. Of one query the keys come one after the other, as they lie in
// memory; of several queries each piece of a key serves all.
template <int rows, class T>
HWY_INLINE void add_scores(const float* Q, StoredRows<T> K, std::int64_t keys, std::int64_t padded, float* S,
                           std::int64_t S_stride) {
    constexpr int at_once = lanes / rows;
    Vector sum[lanes];
    TILEWALK_UNROLL for (int k = 0; k < lanes; ++k) sum[k] = all(0);
    if constexpr (rows == 1) {
        TILEWALK_UNROLL for (int k = 0; k < at_once; ++k) {
            const T* const key = K.data + std::min<std::int64_t>(k, keys - 1) * K.stride;
            for (std::int64_t c = 0; c < padded; c += lanes)
                sum[k] = hn::MulAdd(load(Q + c), load(key + c), sum[k]);
        }
    } else {
        const T* key[at_once];
        TILEWALK_UNROLL for (int k = 0; k < at_once; ++k) key[k] =
            K.data + std::min<std::int64_t>(k, keys - 1) * K.stride;
        for (std::int64_t c = 0; c < padded; c += lanes) {
            Vector q[rows];
            TILEWALK_UNROLL for (int r = 0; r < rows; ++r) q[r] = load(Q + r * padded + c);
            TILEWALK_UNROLL for (int k = 0; k < at_once; ++k) {
                const Vector part = load(key[k] + c);
                TILEWALK_UNROLL for (int r = 0; r < rows; ++r) sum[r * at_once + k] =
                    hn::MulAdd(q[r], part, sum[r * at_once + k]);
            }
        }
    }
    float scores[lanes];
    store(sums_of(sum), scores);
    TILEWALK_UNROLL for (int r = 0; r < rows; ++r)
        std::copy_n(scores + r * at_once, at_once, S + r * S_stride);
}

// The same for `lanes` keys
template <int rows, class T>
HWY_INLINE void scores_of(const float* Q, StoredRows<T> K, std::int64_t keys, std::int64_t padded, float* S,
                          std::int64_t S_stride) {
    for (std::int64_t j = 0; j < std::min<std::int64_t>(lanes, keys); j += lanes / rows)
        add_scores<rows, T>(Q, {K.data + j * K.stride, K.stride}, keys - j, padded, S + j, S_stride);
}

// Rows that share what is loaded of V, and vectors of each: as many as there are registers for the sums. One
// row alone takes more of V at a time, for two multipliers of four cycles want eight sums.
constexpr int most_rows = tile_rows == 8 ? 4 : 2;
template <int rows> constexpr int most_vectors = rows == 1 ? 8 : 4;

// O ← O + P V for some rows and `vectors` vectors of each
template <int rows, int vectors, class T>
HWY_INLINE void add_values(float* O, std::int64_t O_stride, Strided P, StoredRows<T> V, std::int64_t keys) {
    Vector sum[rows][vectors];
    TILEWALK_UNROLL for (int r = 0; r < rows; ++r) TILEWALK_UNROLL for (int c = 0; c < vectors; ++c)
        sum[r][c] = all(0);
    for (std::int64_t j = 0; j < keys; ++j) {
        Vector v[vectors];
        TILEWALK_UNROLL for (int c = 0; c < vectors; ++c) v[c] = load(V.data + j * V.stride + c * lanes);
        TILEWALK_UNROLL for (int r = 0; r < rows; ++r) {
            const Vector p = all(P.data[r * P.stride + j]);
            TILEWALK_UNROLL for (int c = 0; c < vectors; ++c) sum[r][c] = hn::MulAdd(p, v[c], sum[r][c]);
        }
    }
    TILEWALK_UNROLL for (int r = 0; r < rows; ++r) TILEWALK_UNROLL for (int c = 0; c < vectors; ++c) {
        float* const at = O + r * O_stride + c * lanes;
        store(hn::Add(load(at), sum[r][c]), at);
    }
}

// The same for up to most_rows rows, as long as they are: whole panels
template <int rows, class T>
HWY_INLINE void add_values_of(std::int64_t count, float* O, std::int64_t padded, Strided P, StoredRows<T> V,
                              std::int64_t keys) {
    if constexpr (rows > 1)
        if (count < rows) return add_values_of<rows - 1, T>(count, O, padded, P, V, keys);
    std::int64_t c = 0;
    const auto add = [&](auto vectors) HWY_ATTR {
        for (; c + vectors * lanes <= padded; c += vectors * lanes)
            add_values<rows, vectors, T>(O + c, padded, P, {V.data + c, V.stride}, keys);
    };
    add(std::integral_constant<int, most_vectors<rows>>());
    add(std::integral_constant<int, 4>());
    add(std::integral_constant<int, 2>());
}

// P ← the weights exp(S − m) of one query, with m ← max(m, rowmax(S)), ℓ ← α ℓ + rowsum(P), O ← α O
HWY_INLINE void softmax_row(Vector factor, float* P, std::int64_t keys, float& m, float& l, float* O,
                            std::int64_t padded) {
    Vector largest = all(m);
    for (std::int64_t j = 0; j < keys; j += lanes) largest = hn::Max(largest, load(P + j));
    largest = hn::MaxOfLanes(Floats(), largest);
    const float m_new = hn::GetLane(largest);
    if (m_new > m) {
        const Vector alpha = exp2(factor, all(m - m_new));
        for (std::int64_t c = 0; c < padded; c += lanes) store(hn::Mul(alpha, load(O + c)), O + c);
        l *= hn::GetLane(alpha);
        m = m_new;
    }
    Vector sum = all(0);
    for (std::int64_t j = 0; j < keys; j += lanes) {
        const Vector weight = exp2(factor, hn::Sub(load(P + j), largest));
        store(weight, P + j);
        sum = hn::Add(sum, weight);
    }
    l += hn::GetLane(hn::SumOfLanes(Floats(), sum));
}

// Rows of K or V copied: in float32, as long as whole panels, with zeros behind each
template <class T>
StoredRows<float> copied(const SplitTask& t, const OnChip& chip, const T* X, std::int64_t keys) {
    const std::int64_t d = t.w.d, padded = t.tiles.padded;
    for (std::int64_t j = 0; j < keys; ++j) {
        float* const row = chip.copy + j * padded;
        read_floats(X + j * d, d, row);
        std::fill(row + d, row + padded, 0.0f);
    }
    return {chip.copy, padded};
}

// Far below every score where query i must not look
void cut(const Workload& w, std::int64_t i, KeyRange tile, float* S) {
    const std::int64_t keys = tile.end - tile.first,
                       from = std::clamp<std::int64_t>(w.first_key(i) - tile.first, 0, keys),
                       to = std::clamp<std::int64_t>(w.last_key(i) + 1 - tile.first, from, keys);
    std::fill(S, S + from, masked_score);
    std::fill(S + to, S + keys, masked_score);
}

// S = Q Kⱼᵀ, with V on its way                                                         (rows × keys)
template <class T, class Stored>
void scores_of_tile(const SplitTask& t, const OnChip& chip, std::int64_t rows, std::int64_t keys,
                    StoredRows<T> Kj, const Stored* V) {
    const std::int64_t d = t.w.d, Bc = t.tiles.Bc, padded = t.tiles.padded;
    for (std::int64_t j = 0; j < keys; j += lanes) {
        prefetch(V + j * d, std::min<std::int64_t>(lanes, keys - j) * d);
        const StoredRows<T> these{Kj.data + j * Kj.stride, Kj.stride};
        constexpr int several = lanes >= 4 && std::is_same_v<T, float> ? 4 : 1;
        std::int64_t r = 0;
        for (; r + several <= rows; r += several)
            scores_of<several, T>(chip.Q + r * padded, these, keys - j, padded, chip.P + r * Bc + j, Bc);
        if constexpr (several > 1)
            for (; r < rows; ++r)
                scores_of<1, T>(chip.Q + r * padded, these, keys - j, padded, chip.P + r * Bc + j, Bc);
    }
}

// O ← O + P Vⱼ, with the next keys on their way, a few at a time                       (rows × d)
template <class T, class Stored>
void values_of_tile(const SplitTask& t, const OnChip& chip, std::int64_t rows, std::int64_t keys,
                    StoredRows<T> Vj, const Stored* next, std::int64_t next_keys) {
    const std::int64_t d = t.w.d, Bc = t.tiles.Bc, padded = t.tiles.padded;
    constexpr std::int64_t some = 16;
    constexpr int together = std::is_same_v<T, float> ? most_rows : 1;
    for (std::int64_t j = 0; j < keys; j += some) {
        const std::int64_t these = std::min(some, keys - j);
        prefetch(next + j * d, std::clamp<std::int64_t>(next_keys - j, 0, these) * d);
        for (std::int64_t r = 0; r < rows; r += together)
            add_values_of<together, T>(rows - r, chip.O + r * padded, padded, {chip.P + r * Bc + j, Bc},
                                       {Vj.data + j * Vj.stride, Vj.stride}, these);
    }
}

// The queries of all rows meet the keys from `first` to before `end`.
template <class T> void walk_keys(const SplitTask& t, const OnChip& chip, std::int64_t rows, KeyRange tile) {
    const Workload& w = t.w;
    const GroupRows group(w);
    const std::int64_t d = w.d, Bc = t.tiles.Bc, padded = t.tiles.padded, keys = tile.end - tile.first,
                       whole = (keys + lanes - 1) / lanes * lanes;
    const T *const K = t.K.as<T>() + tile.first * d, *const V = t.V.as<T>() + tile.first * d;

    if (t.tiles.copied)
        scores_of_tile(t, chip, rows, keys, copied(t, chip, K, keys), V);
    else
        scores_of_tile(t, chip, rows, keys, StoredRows<T>{K, d}, V);

    // m, α, P, ℓ, without the keys that the mask removes
    const bool covered = w.first_key(w.N_q - 1) <= tile.first && w.last_key(0) >= tile.end - 1;
    const Vector factor = all(exponent_factor(d));
    for (std::int64_t r = 0; r < rows; ++r) {
        float* const S = chip.P + r * Bc;
        if (!covered) cut(w, group.query(r), tile, S);
        for (std::int64_t j = keys; j < whole; ++j) S[j] = masked_score;
        softmax_row(factor, S, whole, chip.m[r], chip.l[r], chip.O + r * padded, padded);
    }

    const T* const next = K + keys * d;
    const std::int64_t next_keys = t.keys.end - tile.end;
    if (t.tiles.copied)
        values_of_tile(t, chip, rows, keys, copied(t, chip, V, keys), next, next_keys);
    else
        values_of_tile(t, chip, rows, keys, StoredRows<T>{V, d}, next, next_keys);
}

template <class T> void walk_stored(const SplitTask& t, const std::stop_token& stop) {
    const GroupRows group(t.w);
    const std::int64_t rows = group.count(), d = t.w.d, padded = t.tiles.padded;
    const OnChip chip = on_chip(t, rows);

    // Load Q;  m ← −∞, ℓ ← 0, O ← 0
    for (std::int64_t r = 0; r < rows; ++r) {
        float* const row = chip.Q + r * padded;
        read_floats(t.Q.as<T>() + group.place(r) * d, d, row);
        std::fill(row + d, row + padded, 0.0f);
    }
    std::fill_n(chip.O, rows * padded, 0.0f);
    std::fill_n(chip.m, rows, lowest_score);
    std::fill_n(chip.l, rows, 0.0f);

    for (std::int64_t j = t.keys.first; j < t.keys.end; j += t.tiles.Bc) {
        if (stop.stop_requested()) return;
        walk_keys<T>(t, chip, rows, {j, std::min(j + t.tiles.Bc, t.keys.end)});
    }

    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(chip.O + r * padded, d, t.part.O + r * d);
    std::copy_n(chip.m, rows, t.part.m);
    std::copy_n(chip.l, rows, t.part.l);
}

void walk_split(const SplitTask& t, const std::stop_token& stop) {
    with_type(t.K.type(), [&](auto x) HWY_ATTR { walk_stored<decltype(x)>(t, stop); });
}

}  // namespace
}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewalk::cpu {

HWY_EXPORT(walk_split);

RowTiles row_tiles(const Workload& w) {
    // Kⱼ and Vⱼ stay in the L1 cache from when they come until they have met every query
    const std::int64_t panel = panel_width(), lanes = panel / 2, padded = (w.d + panel - 1) / panel * panel;
    const bool converted_often = w.dtype != DType::f32 && GroupRows(w).count() > 1;
    return {padded, std::max(lanes, std::min<std::int64_t>(64, 2048 / padded) / lanes * lanes),
            padded != w.d || converted_often};
}

void split_rows(const SplitTask& task, const std::stop_token& stop) {
    HWY_DYNAMIC_DISPATCH(walk_split)(task, stop);
}

}  // namespace tilewalk::cpu
#endif
