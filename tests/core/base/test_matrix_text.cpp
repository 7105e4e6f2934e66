// A copied matrix is the matrix: what other programs read back are the same doubles.
#include "core/base/matrix_text.h"

#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/folder.h"
#include "tests/skip.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <vector>

using namespace tilewalk::test;

namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Doubles of every size, with the ones that texts get wrong first.
Matrix awkward(int rows, int cols) {
    Random random(11);
    Matrix A = any_doubles(random, rows, cols);
    const std::vector<double> first{-0.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e22, -2, 123456789};
    for (std::size_t n = 0; n < first.size() && static_cast<Eigen::Index>(n) < A.size(); ++n)
        A.data()[n] = first[n];
    return A;
}

// What python3 makes of it: "np" is a stand-in, the bits of every element come back, row by row.
std::vector<std::uint64_t> through_python(const std::string& text) {
    const Folder folder;
    const std::string script =
        folder.file("read.py", "import struct\n"
                               "class np:\n"
                               "    inf = float('inf'); nan = float('nan')\n"
                               "    @staticmethod\n"
                               "    def array(rows):\n"
                               "        assert all(type(v) is float for row in rows for v in row)\n"
                               "        assert len({len(row) for row in rows}) == 1\n"
                               "        return rows\n"
                               "A = " +
                                   text +
                                   "for row in A:\n    for v in row:\n"
                                   "        print(struct.unpack('<Q', struct.pack('<d', v))[0])\n");
    std::vector<std::uint64_t> values;
    if (FILE* pipe = ::popen(("python3 '" + script + "' 2>&1").c_str(), "r")) {
        unsigned long long value = 0;
        while (std::fscanf(pipe, "%llu", &value) == 1) values.push_back(value);
        ::pclose(pipe);
    }
    return values;
}

}  // namespace

TEST_CASE("CSV keeps every bit") {
    const Matrix A = awkward(40, 17);
    std::istringstream text(matrix_as_csv(A));
    Eigen::Index n = 0;
    for (std::string line; std::getline(text, line);) {
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ','); ++n)
            CHECK(bits(std::strtod(field.c_str(), nullptr)) == bits(A.data()[n]));
        CHECK(n % A.cols() == 0);
    }
    CHECK(n == A.size());
    Matrix lost(1, 3);
    lost << infinity, -infinity, NAN;
    CHECK(matrix_as_csv(lost) == "inf,-inf,nan\n");
}

TEST_CASE("NumPy's text is an array of the same floats") {
    Matrix small(2, 2);
    small << 1, -infinity, 0.5, infinity;
    CHECK(matrix_as_numpy(small) == "np.array([[1.0, -np.inf],\n          [0.5, np.inf]])\n");
    small(0, 0) = NAN;
    CHECK(matrix_as_numpy(small).starts_with("np.array([[np.nan, "));
}

TEST_CASE("Python reads NumPy's text as the same floats") {
    if (std::system("command -v python3 >/dev/null 2>&1") != 0) return skip("there is no python3");
    Matrix A = awkward(9, 5);
    A(2, 3) = infinity;
    A(2, 4) = -infinity;
    const std::vector<std::uint64_t> back = through_python(matrix_as_numpy(A));
    REQUIRE(back.size() == static_cast<std::size_t>(A.size()));
    for (std::size_t n = 0; n < back.size(); ++n) CHECK(back[n] == bits(A.data()[n]));
}

TEST_CASE("LaTeX has the numbers as they are shown, and only what math mode knows") {
    Matrix A(2, 2);
    A << -1.5, 0.36787944117144233, -infinity, 3.2e-5;
    CHECK(matrix_as_latex(A) ==
          "\\begin{bmatrix}\n-1.500 & 0.368 \\\\\n-\\infty & 0.000 \\\\\n\\end{bmatrix}\n");
    CHECK(contains(matrix_as_latex(1e-4 * Matrix::Ones(1, 1) / 3), "3.333\\times 10^{-5}"));
    for (const char c : matrix_as_latex(awkward(6, 14))) CHECK(static_cast<unsigned char>(c) < 0x80);
    CHECK(matrix_as_latex(awkward(2, 11)).starts_with("\\setcounter{MaxMatrixCols}{11}\n"));
    CHECK(latex_number("NaN") == "\\mathrm{NaN}");
    CHECK(latex_number("(−9.98×10⁻⁴)") == "(-9.98\\times 10^{-4})");
}
