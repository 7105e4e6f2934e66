// Rows of a tensor, of whatever type, into the lanes of panels and back, a square of lanes × lanes at a time
// in registers.
#if defined(TILEWALK_CORE_CPU_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWALK_CORE_CPU_TRANSPOSE_INL_H
#undef TILEWALK_CORE_CPU_TRANSPOSE_INL_H
#else
#define TILEWALK_CORE_CPU_TRANSPOSE_INL_H
#endif

#include "core/cpu/lanes-inl.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
constexpr bool squares = false;
HWY_INLINE void transpose_square(Vector*) {}
#else
constexpr bool squares = true;

// Two rows, `step` apart in their square, change places in every other group of `step` lanes: a gets the
// lower groups of b into its upper ones, b the upper ones of a into its lower ones.
template <int step> HWY_INLINE void exchange(Vector& a, Vector& b) {
    const hn::RebindToSigned<Floats> integers;
    const hn::RepartitionToWide<decltype(integers)> pairs;
    const Vector a_old = a;
    if constexpr (step == 1) {
        a = hn::OddEven(hn::Shuffle2301(b), a);
        b = hn::OddEven(b, hn::Shuffle2301(a_old));
    } else if constexpr (step == 2) {
        const auto a_pairs = hn::BitCast(pairs, a), b_pairs = hn::BitCast(pairs, b);
        a = hn::BitCast(Floats(), hn::OddEven(hn::Shuffle01(b_pairs), a_pairs));
        b = hn::BitCast(Floats(), hn::OddEven(b_pairs, hn::Shuffle01(a_pairs)));
    } else if constexpr (step == 4) {
        a = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        b = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a_old));
    } else {
        static_assert(step == 8);
        a = hn::ConcatLowerLower(Floats(), b, a);
        b = hn::ConcatUpperUpper(Floats(), b, a_old);
    }
}

template <int step = 1> HWY_INLINE void transpose_square(Vector* rows) {
    if constexpr (step < lanes) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r)
            if ((r & step) == 0) exchange<step>(rows[r], rows[r + step]);
        transpose_square<2 * step>(rows);
    }
}
#endif

/// The lanes of a block from row r on, up to a vector: their rows of a tensor, row_at(r) and those behind it,
/// and where their lanes begin in panels of d × `panel`.
template <typename T> struct LaneRows {
    T* rows[lanes];
    std::int64_t count, at;

    template <class RowAt>
    HWY_INLINE LaneRows(std::int64_t r, std::int64_t end, std::int64_t d, const RowAt& row_at)
        : count(std::min<std::int64_t>(lanes, end - r)), at(r / panel * d * panel + r % panel) {
        for (std::int64_t k = 0; k < count; ++k) rows[k] = row_at(r + k);
    }
};

/// The lanes of one vector of a panel: to[k · panel + r] = rows[r][k] for r < count, k < d.
template <class T>
HWY_INLINE void rows_to_lanes(const T* const* rows, std::int64_t count, std::int64_t d, float* to) {
    std::int64_t k = 0;
    for (; squares && count == lanes && k + lanes <= d; k += lanes) {
        Vector square[lanes];
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) square[r] = load(rows[r] + k);
        transpose_square(square);
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) store(square[r], to + (k + r) * panel);
    }
    for (; k < d; ++k)
        for (std::int64_t r = 0; r < count; ++r) to[k * panel + r] = to_float(rows[r][k]);
}

/// And back, each row times its factor: rows[r][k] = factor[r] · from[k · panel + r].
template <class T>
HWY_INLINE void lanes_to_rows(const float* from, const float* factor, std::int64_t count, std::int64_t d,
                              T* const* rows) {
    std::int64_t k = 0;
    for (; squares && count == lanes && k + lanes <= d; k += lanes) {
        const Vector factors = load(factor);
        Vector square[lanes];
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) square[r] = hn::Mul(factors, load(from + (k + r) * panel));
        transpose_square(square);
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) store(square[r], rows[r] + k);
    }
    for (; k < d; ++k)
        for (std::int64_t r = 0; r < count; ++r) rows[r][k] = from_float<T>(factor[r] * from[k * panel + r]);
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
