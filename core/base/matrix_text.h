// A matrix as text for other programs: a spreadsheet, Python, a paper.
#pragma once

#include "core/base/matrix.h"
#include "core/base/numbers.h"

#include <string>

namespace tilewalk {

/// The fewest characters that read back as the same double: "0.1", "-0.0", "1e+300"; "inf", "-inf", "nan".
std::string exact_text(double value);

/// One row per line, numbers that read back exactly.
std::string matrix_as_csv(const Matrix& matrix);
/// `np.array([[0.5, -np.inf], …])`, an array of floats with the same doubles.
std::string matrix_as_numpy(const Matrix& matrix);
/// `bmatrix` with the numbers as they are shown, for amsmath.
std::string matrix_as_latex(const Matrix& matrix, int digits = 4);

/// By the rule of MatrixDigits, for this matrix alone.
MatrixDigits matrix_digits(const Matrix& matrix);
/// A number as it is shown (format_short, format_number, format_fixed) in math mode: 3.20\times 10^{-5},
/// -\infty.
std::string latex_number(const std::string& shown);

}  // namespace tilewalk
