// Tiles of 16-bit elements in shared memory, and the fragments that tensor cores take from them.
//
// A warp multiplies C (16 × 8) += A (16 × 16) B (16 × 8). With g = lane / 4 and q = lane % 4, a lane holds of
// C the rows g and g + 8 of the columns 2q and 2q + 1: c[0], c[1] in row g, c[2], c[3] in row g + 8. Two C
// fragments side by side have the shape of an A fragment, and packed to 16 bits they are one: that is why
// P = exp(S − m) can be multiplied with V without leaving the registers.
#pragma once

#include "cuda/device/device.h"
#include "cuda/launch/arguments.h"

namespace tilewalk::gpu::BACKEND {

/// Rows of d elements. The 16-byte chunks of a row are swapped among each other (XOR with the row), so that
/// the eight rows that a fragment reads at once lie in different banks.
template <class T, int d> struct Swizzled {
    static_assert(d % 32 == 0);
    static constexpr int chunks = d / 8;
    unsigned char* base;

    static constexpr int group = d % 64 == 0 ? 8 : 4;  ///< chunks that change places with each other

    DEVICE static int flip(int row) { return !swizzles() ? 0 : d % 64 == 0 ? row & 7 : row >> 1 & 3; }
    DEVICE unsigned char* chunk(int row, int c) const { return base + row * d * 2 + ((c ^ flip(row)) << 4); }
    /// Chunk 2k, or the one after it, of row `first` + `row`; `first` is a multiple of 8. What a lane adds is
    /// the same for all k and first but for two bits: then few addresses are computed.
    DEVICE unsigned char* chunk(int first, int row, int k, int second) const {
        const int of_lane = row * d * 2 + ((second ^ flip(row)) << 4);
        return base + first * d * 2 + (of_lane ^ 2 * k % group << 4) + 2 * k / group * group * 16;
    }
};

/// Rows of d elements, each with 16 bytes behind it that nobody uses: the simple way to different banks.
template <class T, int d> struct Padded {
    static constexpr int chunks = d / 8, row_bytes = 2 * d + 16;
    unsigned char* base;
    DEVICE unsigned char* chunk(int row, int c) const { return base + row * row_bytes + c * 16; }
    DEVICE unsigned char* chunk(int first, int row, int k, int second) const {
        return chunk(first + row, 2 * k + second);
    }
};

/// Starts to copy rows first … first + rows − 1 of a matrix of N rows; zeros beyond it.
template <class T, int d>
DEVICE void copy_rows(Swizzled<T, d> to, const T* matrix, std::int64_t row_stride, int first, int rows,
                      int N) {
    constexpr int chunks = Swizzled<T, d>::chunks;
    NO_UNROLL
    for (int n = thread(); n < rows * chunks; n += threads()) {
        const int row = n / chunks, c = n % chunks, from = first + row;
        const bool inside = from < N;
        copy_async(to.chunk(row, c), matrix + (inside ? from : 0) * row_stride + c * 8, inside);
    }
}

/// The same for a block whose size is known: each of its threads copies one column of chunks, every step-th
/// row.
template <int threads, int rows, class Tile, class T>
DEVICE void copy_rows(Tile to, const T* matrix, std::int64_t row_stride, int first, int N) {
    constexpr int chunks = Tile::chunks;
    constexpr int columns = chunks <= 4 ? 4 : chunks <= 8 ? 8 : chunks <= 16 ? 16 : 32;
    constexpr int step = threads / columns;
    const int c = thread() % columns, row = thread() / columns;
    const T* from = matrix + (first + row) * row_stride + c * 8;
    UNROLL
    for (int r = 0; r < rows; r += step) {
        const bool inside = first + r + row < N;
        if (c < chunks) copy_async(to.chunk(r + row, c), inside ? from : matrix, inside);
        from += step * row_stride;
    }
}

/// The A fragment of rows row … row + 15 and of the k-th 16 columns.
template <class Tile> DEVICE void load_A(std::uint32_t (&a)[4], Tile tile, int row, int k) {
    load_matrices(a, tile.chunk(row, lane() % 16, k, lane() / 16));
}
/// B fragments of Xᵀ: rows row … row + 15 of X are two times eight columns of B, k as above. b[0], b[1] are
/// those of the first eight, b[2], b[3] of the others.
template <class Tile> DEVICE void load_B_transposed(std::uint32_t (&b)[4], Tile tile, int row, int k) {
    load_matrices(b, tile.chunk(row, lane() % 8 + lane() / 16 * 8, k, lane() / 8 % 2));
}
/// B fragments of X itself: rows row … row + 15 are summed over, columns 16n … 16n + 15.
template <class Tile> DEVICE void load_B(std::uint32_t (&b)[4], Tile tile, int row, int n) {
    load_transposed(b, tile.chunk(row, lane() % 16, n, lane() / 16));
}

/// The A fragment of Xᵀ: rows row … row + 15 of X are its columns, columns 16m … 16m + 15 of X its rows.
template <class Tile> DEVICE void load_A_transposed(std::uint32_t (&a)[4], Tile tile, int row, int m) {
    load_transposed(a, tile.chunk(row, lane() % 8 + lane() / 16 * 8, m, lane() / 8 % 2));
}

/// Two C fragments side by side as an A fragment.
template <class T> DEVICE void as_A(std::uint32_t (&a)[4], const float (&left)[4], const float (&right)[4]) {
    a[0] = pack<T>(left[0], left[1]);
    a[1] = pack<T>(left[2], left[3]);
    a[2] = pack<T>(right[0], right[1]);
    a[3] = pack<T>(right[2], right[3]);
}

/// Row and column, within a C fragment, of c[e].
DEVICE int fragment_row(int e) { return lane() / 4 + 8 * (e / 2); }
DEVICE int fragment_column(int e) { return lane() % 4 * 2 + e % 2; }

/// Over the four lanes that share the rows of a C fragment.
DEVICE float sum_of_quad(float x) {
    x += shuffle_xor(x, 1);
    return x + shuffle_xor(x, 2);
}
DEVICE float max_of_quad(float x) {
    x = fmaxf(x, shuffle_xor(x, 1));
    return fmaxf(x, shuffle_xor(x, 2));
}

}  // namespace tilewalk::gpu::BACKEND
