#include "core/base/matrix_text.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace tilewalk {
namespace {

// Python takes a number without point and exponent for an integer.
std::string numpy_number(double value) {
    if (std::isnan(value)) return "np.nan";
    if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
    const std::string text = exact_text(value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// Rows from top to bottom: `cell` writes one number, `between` and `after` stand between and behind them.
template <class Cell>
std::string rows_of(const Matrix& matrix, Cell cell, const char* between, const char* after) {
    std::string text;
    for (Eigen::Index r = 0; r < matrix.rows(); ++r)
        for (Eigen::Index c = 0; c < matrix.cols(); ++c)
            text += cell(matrix(r, c)) + (c + 1 < matrix.cols() ? between : after);
    return text;
}

}  // namespace

std::string exact_text(double value) {
    if (std::isnan(value)) return "nan";
    // Readers of integers lose the sign of "-0"; the point keeps it.
    if (value == 0 && std::signbit(value)) return "-0.0";
    char buffer[40];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string matrix_as_csv(const Matrix& matrix) { return rows_of(matrix, exact_text, ",", "\n"); }

std::string matrix_as_numpy(const Matrix& matrix) {
    std::string text = "np.array([";
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
        text += r == 0 ? "[" : ",\n          [";
        text += rows_of(matrix.row(r), numpy_number, ", ", "]");
    }
    return text + "])\n";
}

std::string matrix_as_latex(const Matrix& matrix, int digits) {
    const PlainNumbers as_in_every_file;
    // amsmath stops at ten columns unless it is told otherwise.
    const std::string columns =
        matrix.cols() > 10 ? "\\setcounter{MaxMatrixCols}{" + std::to_string(matrix.cols()) + "}\n" : "";
    const MatrixDigits all = matrix_digits(matrix);
    const auto number = [&](double value) { return latex_number(all.text(value, digits)); };
    return columns + "\\begin{bmatrix}\n" + rows_of(matrix, number, " & ", " \\\\\n") + "\\end{bmatrix}\n";
}

MatrixDigits matrix_digits(const Matrix& matrix) {
    MatrixDigits all;
    all.take({matrix.data(), static_cast<std::size_t>(matrix.size())});
    return all;
}

std::string latex_number(const std::string& shown) {
    if (shown.empty() || shown == "NaN") return shown.empty() ? "" : "\\mathrm{NaN}";
    static constexpr std::pair<const char*, const char*> replaced[] = {
        {"−", "-"}, {"∞", "\\infty"}, {"×10", "\\times 10^{"},
        {"⁻", "-"}, {"⁰", "0"},       {"¹", "1"},
        {"²", "2"}, {"³", "3"},       {"⁴", "4"},
        {"⁵", "5"}, {"⁶", "6"},       {"⁷", "7"},
        {"⁸", "8"}, {"⁹", "9"},       {"\u2009", ""}};
    std::string text = shown;
    for (const auto& [from, to] : replaced)
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
            text.replace(at, std::char_traits<char>::length(from), to);
    // Negative numbers stand in brackets inside a formula: (-9.98\times 10^{-4}).
    if (text.find("^{") != std::string::npos) text.insert(text.size() - (text.back() == ')'), "}");
    return text;
}

}  // namespace tilewalk
