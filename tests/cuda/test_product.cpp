// The emulator's model of the vendor's products against Eigen.
#include "cuda/device/device.h"

#include <Eigen/Dense>
#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace tilewalk;
using namespace tilewalk::gpu;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
namespace emu = gpu::emulator;

namespace {

/// Elements from row to row, and from one matrix to the next.
constexpr int row_length = 11, matrix_length = 100;

std::vector<emu::f16> random_halves(std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<emu::f16> values(3 * matrix_length);
    for (emu::f16& x : values) x = emu::from_float<emu::f16>(normal(random));
    return values;
}

Matrix matrix_of(const std::vector<emu::f16>& values, int number, int rows, int columns) {
    Matrix m(rows, columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            m(i, j) =
                emu::to_float(values[static_cast<std::size_t>(number * matrix_length + i * row_length + j)]);
    return m;
}

}  // namespace

TEST_SUITE("cuda/product") {
    TEST_CASE("products of many matrices, transposed, scaled, added to what is there") {
        constexpr int m = 4, n = 7, k = 5, count = 3;
        std::mt19937 random(5);
        const std::vector<emu::f16> A = random_halves(random), B = random_halves(random);
        for (const bool transposed_A : {false, true})
            for (const bool transposed_B : {false, true})
                for (const bool shared_B : {false, true}) {
                    std::vector<float> C(count * matrix_length, 2.0f);
                    Product product;
                    product.type = DType::f16;
                    product.m = m, product.n = n, product.k = k, product.count = count;
                    product.alpha = 0.5f, product.beta = 3;
                    product.A = {A.data(), row_length, matrix_length, transposed_A};
                    product.B = {B.data(), row_length, shared_B ? 0 : matrix_length, transposed_B};
                    product.C = C.data();
                    product.C_row = row_length, product.C_next = matrix_length;
                    EmulatedStream stream;
                    on_emulator::multiply_matrices(stream, product);
                    for (int number = 0; number < count; ++number) {
                        const int of_B = shared_B ? 0 : number;
                        const Matrix a = transposed_A ? Matrix(matrix_of(A, number, k, m).transpose())
                                                      : matrix_of(A, number, m, k);
                        const Matrix b = transposed_B ? Matrix(matrix_of(B, of_B, n, k).transpose())
                                                      : matrix_of(B, of_B, k, n);
                        const Matrix expected = 0.5 * a * b + Matrix::Constant(m, n, 6);
                        for (int i = 0; i < m; ++i)
                            for (int j = 0; j < n; ++j)
                                CHECK(C[static_cast<std::size_t>(number * matrix_length + i * row_length +
                                                                 j)] ==
                                      doctest::Approx(expected(i, j)).epsilon(1e-5));
                    }
                    CHECK(C[n] == 2);  // between the rows nothing is written
                }
    }

    TEST_CASE("with beta = 0 the old result is not read, and 16-bit results are rounded") {
        const float nan = std::nanf("");
        std::vector<emu::bf16> C{emu::from_float<emu::bf16>(nan)};
        const std::vector<emu::bf16> A{emu::from_float<emu::bf16>(1), emu::from_float<emu::bf16>(0x1p-9f)};
        Product product;
        product.type = product.result_type = DType::bf16;
        product.m = product.n = 1, product.k = 2;
        product.A = {A.data(), 2, 0};
        product.B = {A.data(), 1, 0};
        product.C = C.data();
        product.C_row = 1;
        EmulatedStream stream;
        on_emulator::multiply_matrices(stream, product);
        CHECK(emu::to_float(C[0]) == 1);
    }
}
