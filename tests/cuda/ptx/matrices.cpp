// Matrices that a warp holds together: PTX 9.7.14.5. Elements of 16 bits, sums of 32.
#include "tests/cuda/ptx/halves.h"
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

#include <cstring>

namespace tilewalk::ptx {

namespace {

// PTX 9.7.14.5.15: lane 8m + r has the address of row r of matrix m. Lane l receives in register m the
// elements 2 (l % 4) and the next of row l / 4; with .trans those rows of column l / 4.
template <int count, bool transposed> void load_matrices(Warp& warp, const Instruction& in) {
    u16 matrix[count][8][8];
    for (int lane = 0; lane < 8 * count; ++lane) {
        const u64 address = warp.address(in, count, 0, in.wide, lane);
        std::memcpy(matrix[lane / 8][lane % 8], warp.access(Space::shared, address, 16, 16, lane, false, in),
                    16);
    }
    const bool swapped = count == 4 && warp.faulty(Fault::order_of_matrices);
    const bool across = transposed && !warp.faulty(Fault::no_transposition);
    for (int m = 0; m < count; ++m) {
        const auto& from = matrix[swapped && (m == 1 || m == 2) ? 3 - m : m];
        u32* const d = warp.row<u32>(in.at[static_cast<std::size_t>(m)]);
        for (int lane = 0; lane < lanes; ++lane) {
            const int a = lane / 4, b = lane % 4 * 2;
            d[lane] =
                across ? from[b][a] | u32(from[b + 1][a]) << 16 : from[a][b] | u32(from[a][b + 1]) << 16;
        }
    }
}

// The elements of a register, two of each lane, the lower half first. Of A and C those of four lanes are a
// row of eight: element c of row g is the one of lane 4g + c / 2.
using Pairs = float[8][8];
template <Half format> [[gnu::always_inline]] inline void widen_pairs(Pairs& to, const u32* from) {
    std::array<u16, 2 * lanes> halves;
    std::memcpy(halves.data(), from, sizeof halves);
    float* const row = to[0];
    for (std::size_t n = 0; n < halves.size(); ++n) row[n] = widened(format, halves[n]);
}
FOR_EACH_PROCESSOR void widen_f16(Pairs& to, const u32* from) { widen_pairs<Half::f16>(to, from); }
FOR_EACH_PROCESSOR void widen_bf16(Pairs& to, const u32* from) { widen_pairs<Half::bf16>(to, from); }

// C += A B, one product after the other in the order of k. PTX leaves order and rounding of the sums open. In
// double they are as good as exact, and rounded once.
template <class Sum, int depth>
[[gnu::always_inline]] inline void add_products(float (&C)[16][8], const float (&A)[16][depth],
                                                const float (&B_as_float)[depth][8]) {
    Sum B[depth][8];
    for (int k = 0; k < depth; ++k)
        for (int n = 0; n < 8; ++n) B[k][n] = B_as_float[k][n];
    for (int m = 0; m < 16; ++m) {
        Sum sum[8];
        for (int n = 0; n < 8; ++n) sum[n] = C[m][n];
        for (int k = 0; k < depth; ++k)
            for (int n = 0; n < 8; ++n) sum[n] += Sum(A[m][k]) * B[k][n];
        for (int n = 0; n < 8; ++n) C[m][n] = static_cast<float>(sum[n]);
    }
}
// The same with every product and every sum rounded to a float
template <int depth>
void add_rounded(float (&C)[16][8], const float (&A)[16][depth], const float (&B)[depth][8]) {
    for (auto m = std::size_t(0); m < 16; ++m)
        for (int k = 0; k < depth; ++k)
            for (int n = 0; n < 8; ++n) C[m][n] += A[m][k] * B[k][n];
}
FOR_EACH_PROCESSOR void add_in_double(float (&C)[16][8], const float (&A)[16][16], const float (&B)[16][8]) {
    add_products<double, 16>(C, A, B);
}
FOR_EACH_PROCESSOR void add_in_double(float (&C)[16][8], const float (&A)[16][8], const float (&B)[8][8]) {
    add_products<double, 8>(C, A, B);
}

// D = A B + C, of 16 × depth and depth × 8. PTX 9.7.14.5.7 and .8: with g = lane / 4 and t = lane % 4, a lane
// holds
//   of A, in register r: row g + 8 (r % 2), columns 2t and 2t + 1, eight more in the registers from 2 on,
//   of B, in register r: rows 2t and 2t + 1, eight more in register 1, of column g,
//   of C, in register e: row g + 8 (e / 2), column 2t + e % 2.
template <Half format, int depth> void multiply_add(Warp& warp, const Instruction& in) {
    constexpr int registers_A = depth / 4, registers_B = depth / 8;
    const auto row = [&](int n) { return warp.row<u32>(in.at[static_cast<std::size_t>(n)]); };
    const auto widen = format == Half::f16 ? widen_f16 : widen_bf16;
    Pairs pairs;
    float A[16][depth], B[depth][8];
    const bool halves = registers_A == 4 && warp.faulty(Fault::halves_of_A);
    for (int r = 0; r < registers_A; ++r) {
        widen(pairs, row(4 + (halves && (r == 1 || r == 2) ? 3 - r : r)));
        for (int g = 0; g < 8; ++g) std::memcpy(&A[g + 8 * (r % 2)][8 * (r / 2)], pairs[g], sizeof pairs[g]);
    }
    const bool columns = warp.faulty(Fault::columns_of_B);
    for (int r = 0; r < registers_B; ++r) {
        widen(pairs, row(4 + registers_A + r));
        for (int g = 0; g < 8; ++g)
            for (int k = 0; k < 8; ++k) (columns ? B[8 * r + g][k] : B[8 * r + k][g]) = pairs[g][k];
    }
    float C[16][8] = {};
    for (int e = 0; e < 4 && !warp.faulty(Fault::forgets_C); ++e)
        for (int lane = 0; lane < lanes; ++lane)
            C[lane / 4 + 8 * (e / 2)][lane % 4 * 2 + e % 2] =
                std::bit_cast<float>(row(4 + registers_A + registers_B + e)[lane]);
    if (warp.block.machine.plain_arithmetic)
        add_rounded(C, A, B);
    else
        add_in_double(C, A, B);
    const int other = warp.faulty(Fault::rows_of_C) ? 8 : 0;
    for (int e = 0; e < 4; ++e)
        for (int lane = 0; lane < lanes; ++lane)
            row(e)[lane] = std::bit_cast<u32>(C[(lane / 4 + 8 * (e / 2)) ^ other][lane % 4 * 2 + e % 2]);
}

}  // namespace

void add_matrices(InstructionTable& table) {
    const auto loads = [&table](const std::string& number, const std::string& registers, Handler plain,
                                Handler transposed) {
        const std::string begin = "ldmatrix.sync.aligned.m8n8." + number;
        table[begin + ".shared.b16"] = {registers + "a", plain, Flow::warp};
        table[begin + ".trans.shared.b16"] = {registers + "a", transposed, Flow::warp};
    };
    loads("x1", "w", load_matrices<1, false>, load_matrices<1, true>);
    loads("x2", "ww", load_matrices<2, false>, load_matrices<2, true>);
    loads("x4", "wwww", load_matrices<4, false>, load_matrices<4, true>);
    const std::string deep(14, 'w'), shallow(11, 'w');
    table["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"] = {deep, multiply_add<Half::f16, 16>,
                                                                  Flow::warp};
    table["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"] = {deep, multiply_add<Half::bf16, 16>,
                                                                    Flow::warp};
    table["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"] = {shallow, multiply_add<Half::f16, 8>,
                                                                 Flow::warp};
}

}  // namespace tilewalk::ptx
