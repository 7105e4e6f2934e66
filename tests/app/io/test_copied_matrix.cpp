// A matrix that was copied as CSV comes back through the program's own reader, bit by bit.
#include "app/io/matrix_file.h"
#include "core/base/matrix_text.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

using namespace tilewalk;

TEST_CASE("matrix text: copied CSV is read back bit by bit") {
    std::mt19937_64 random(5);
    for (const auto& [rows, cols] : {std::pair{1, 1}, {4, 4}, {7, 3}, {40, 17}}) {
        Matrix A(rows, cols);
        for (Eigen::Index n = 0; n < A.size();) {
            const double value = std::bit_cast<double>(random());
            if (std::isfinite(value)) A.data()[n++] = value;
        }
        A(0, 0) = -0.0;
        const Result<Matrix> back = matrix_from_csv(matrix_as_csv(A), ',', "copied");
        REQUIRE_MESSAGE(back, back.error);
        REQUIRE(back->rows() == rows);
        REQUIRE(back->cols() == cols);
        for (Eigen::Index n = 0; n < A.size(); ++n)
            CHECK(std::bit_cast<std::uint64_t>(back->data()[n]) == std::bit_cast<std::uint64_t>(A.data()[n]));
    }
}
