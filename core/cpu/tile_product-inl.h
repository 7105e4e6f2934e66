// The micro-kernel under all products of flash(): a tile of C, held in registers, grows by A · B. It is what
// limits flash(): for one step along k it loads two vectors of B and `rows` single elements of A, and does
// 2 · rows multiply-adds, enough to keep the multipliers busy while all of it comes from the L1 and L2
// caches.
#if defined(TILEWALK_CORE_CPU_TILE_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWALK_CORE_CPU_TILE_PRODUCT_INL_H
#undef TILEWALK_CORE_CPU_TILE_PRODUCT_INL_H
#else
#define TILEWALK_CORE_CPU_TILE_PRODUCT_INL_H
#endif

#include "core/cpu/lanes-inl.h"

#include <algorithm>

// The loops over a tile must become straight code, or its rows do not stay in registers.
#undef TILEWALK_UNROLL
#define TILEWALK_UNROLL _Pragma("GCC unroll 16")

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {

// rows × 2 registers for C, two for B, one for A: AVX-512 and NEON have 32, the others 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 6;
#endif

enum class Before { zero, keep, scale };  // added to A · B: 0, C, alpha ⊙ C (one factor for each lane)
enum class Order { rows, columns };       // A is stored row by row, or column by column (a transposed matrix)

// A matrix by its first element and the distance between rows (between columns for Order::columns).
struct Strided {
    const float* data;
    std::int64_t stride;
};

template <Order order> HWY_INLINE float element(Strided A, std::int64_t row, std::int64_t column) {
    return order == Order::rows ? A.data[row * A.stride + column] : A.data[column * A.stride + row];
}

// What else becomes of finished rows of C
struct Nothing {
    template <int rows> HWY_INLINE void take(const Vector (&)[rows][2]) {}
};

// The highest of each lane
struct Highest {
    Vector m[2];
    template <int rows> HWY_INLINE void take(const Vector (&c)[rows][2]) {
        TILEWALK_UNROLL for (int r = 0; r < rows; ++r) {
            m[0] = hn::Max(m[0], c[r][0]);
            m[1] = hn::Max(m[1], c[r][1]);
        }
    }
};

// `rows` rows of C, one panel wide. The products are summed on their own before C is added: sums of sums lose
// less to rounding than one long sum.
template <int rows, Before before, Order order, typename Finished>
HWY_INLINE void product_of_rows(float* C, std::int64_t C_stride, Strided A, Strided B, std::int64_t K,
                                const Vector* alpha, Finished& finished) {
    Vector c[rows][2];
    TILEWALK_UNROLL for (int r = 0; r < rows; ++r) c[r][0] = c[r][1] = all(0);
    for (std::int64_t k = 0; k < K; ++k) {
        const Vector b0 = load(B.data + k * B.stride), b1 = load(B.data + k * B.stride + lanes);
        TILEWALK_UNROLL for (int r = 0; r < rows; ++r) {
            const Vector a = all(element<order>(A, r, k));
            c[r][0] = hn::MulAdd(a, b0, c[r][0]);
            c[r][1] = hn::MulAdd(a, b1, c[r][1]);
        }
    }
    TILEWALK_UNROLL for (int r = 0; r < rows; ++r) {
        TILEWALK_UNROLL for (int v = 0; v < 2; ++v) {
            float* const at = C + r * C_stride + v * lanes;
            if constexpr (before == Before::keep) c[r][v] = hn::Add(load(at), c[r][v]);
            if constexpr (before == Before::scale) c[r][v] = hn::MulAdd(alpha[v], load(at), c[r][v]);
            store(c[r][v], at);
        }
    }
    finished.take(c);
}

// The last rows, fewer than a tile has
template <int rows, Before before, Order order, typename Finished>
HWY_INLINE void product_of_rest(std::int64_t rest, float* C, std::int64_t C_stride, Strided A, Strided B,
                                std::int64_t K, const Vector* alpha, Finished& finished) {
    if constexpr (rows > 0) {
        if (rest == rows) return product_of_rows<rows, before, order>(C, C_stride, A, B, K, alpha, finished);
        product_of_rest<rows - 1, before, order>(rest, C, C_stride, A, B, K, alpha, finished);
    }
}

/// C ← [0 | C | alpha ⊙ C] + A · B     C: M × panel, A: M × K, B: K × panel
template <Before before, Order order, typename Finished>
HWY_NOINLINE void product(float* C, std::int64_t C_stride, std::int64_t M, Strided A, Strided B,
                          std::int64_t K, const Vector* alpha, Finished& finished) {
    const std::int64_t step = order == Order::rows ? A.stride : 1;
    std::int64_t row = 0;
    for (; row + tile_rows <= M; row += tile_rows)
        product_of_rows<tile_rows, before, order>(C + row * C_stride, C_stride,
                                                  {A.data + row * step, A.stride}, B, K, alpha, finished);
    product_of_rest<tile_rows - 1, before, order>(M - row, C + row * C_stride, C_stride,
                                                  {A.data + row * step, A.stride}, B, K, alpha, finished);
}
template <Before before, Order order>
HWY_INLINE void product(float* C, std::int64_t C_stride, std::int64_t M, Strided A, Strided B, std::int64_t K,
                        const Vector* alpha = nullptr) {
    Nothing nothing;
    product<before, order>(C, C_stride, M, A, B, K, alpha, nothing);
}

/// C ← A · B as above, with A by rows and K = d: the sum over a long d in parts, for the sake of rounding.
template <typename Finished>
HWY_INLINE void product_over_d(float* C, std::int64_t C_stride, std::int64_t M, Strided A, Strided B,
                               std::int64_t d, Finished& finished) {
    constexpr std::int64_t part = 128;
    if (d <= part) return product<Before::zero, Order::rows>(C, C_stride, M, A, B, d, nullptr, finished);
    product<Before::zero, Order::rows>(C, C_stride, M, A, B, part);
    for (std::int64_t k = part; k < d; k += part) {
        const Strided A_part = {A.data + k, A.stride}, B_part = {B.data + k * B.stride, B.stride};
        if (k + part < d)
            product<Before::keep, Order::rows>(C, C_stride, M, A_part, B_part, part);
        else
            product<Before::keep, Order::rows>(C, C_stride, M, A_part, B_part, d - k, nullptr, finished);
    }
}
HWY_INLINE void product_over_d(float* C, std::int64_t C_stride, std::int64_t M, Strided A, Strided B,
                               std::int64_t d) {
    Nothing nothing;
    product_over_d(C, C_stride, M, A, B, d, nothing);
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
