#include "core/problem.h"

#include "core/numbers.h"

#include <cmath>
#include <random>

namespace tilewalk {

double Scale::value(int d) const {
    if (kind == Kind::sqrt) return 1.0 / std::sqrt(static_cast<double>(d));
    return kind == Kind::number ? number : 1.0;
}

namespace {

using Sentence = std::optional<std::string>;

std::string shape(const Matrix& A) { return std::to_string(A.rows()) + " × " + std::to_string(A.cols()); }

Sentence check_finite(const char* name, const Matrix& A) {
    for (int r = 0; r < A.rows(); ++r)
        for (int c = 0; c < A.cols(); ++c)
            if (!std::isfinite(A(r, c)))
                return std::string(name) + "[" + std::to_string(r) + "," + std::to_string(c) + "] is " +
                       format_number(A(r, c)) + "; every input must be a finite number.";
    return {};
}

Sentence check_shapes(const Problem& p) {
    if (p.Q.size() == 0) return "Q is empty; it needs at least one row and one column.";
    if (p.K.size() == 0) return "K is empty; it needs at least one row and one column.";
    if (p.K.cols() != p.Q.cols())
        return "Q is " + shape(p.Q) + " and K is " + shape(p.K) +
               "; both must have the same number of columns d.";
    if (p.V.rows() != p.K.rows() || p.V.cols() != p.K.cols())
        return "K is " + shape(p.K) + " and V is " + shape(p.V) + "; both must be N_kv × d.";
    if (p.dO && (p.dO->rows() != p.Q.rows() || p.dO->cols() != p.Q.cols()))
        return "dO is " + shape(*p.dO) + " and Q is " + shape(p.Q) + "; both must be N × d.";
    return {};
}

Sentence check_options(const Problem& p) {
    if (p.Br < 1) return "Br is " + std::to_string(p.Br) + "; a tile needs at least one query row.";
    if (p.Bc < 1) return "Bc is " + std::to_string(p.Bc) + "; a tile needs at least one key row.";
    if (p.window && *p.window < 0)
        return "The window is " + std::to_string(*p.window) + "; it must be 0 or more positions.";
    if (p.scale.kind == Scale::Kind::number && !std::isfinite(p.scale.number))
        return "The scale is " + format_number(p.scale.number) + "; it must be a finite number.";
    if (p.element_bytes != 1 && p.element_bytes != 2 && p.element_bytes != 4 && p.element_bytes != 8)
        return "An element has " + std::to_string(p.element_bytes) + " bytes; expected 1, 2, 4 or 8.";
    return {};
}

// Finite inputs may still overflow on the way. These bounds keep every score and every sum of V finite.
Sentence check_range(const Problem& p) {
    const double q = p.Q.cwiseAbs().maxCoeff(), k = p.K.cwiseAbs().maxCoeff(), v = p.V.cwiseAbs().maxCoeff();
    const double score = std::max(1.0, std::abs(p.softmax_scale())) * p.d() * q * k;
    if (!(score < 1e300))
        return "The largest |Q| is " + format_number(q) + ", the largest |K| is " + format_number(k) +
               " and the scale is " + format_number(p.softmax_scale()) +
               "; their products would overflow double precision.";
    if (!(v * p.N_kv() < 1e300))
        return "The largest |V| is " + format_number(v) + "; its sums would overflow double precision.";
    return {};
}

Matrix random_matrix(std::mt19937_64& generator, int rows, int cols) {
    Matrix A(rows, cols);
    for (Eigen::Index n = 0; n < A.size(); ++n)
        A.data()[n] = static_cast<double>(static_cast<int>(generator() % 401) - 200) / 100.0;
    return A;
}

}  // namespace

void mark_changed(Problem& p) {
    if (!p.name.empty()) p.title += " (changed)";
    p.name.clear();
    p.watch.clear();
}

std::optional<std::string> validate(const Problem& p) {
    if (auto s = check_shapes(p)) return s;
    if (auto s = check_options(p)) return s;
    if (auto s = check_finite("Q", p.Q)) return s;
    if (auto s = check_finite("K", p.K)) return s;
    if (auto s = check_finite("V", p.V)) return s;
    if (p.dO)
        if (auto s = check_finite("dO", *p.dO)) return s;
    return check_range(p);
}

Result<Problem> random_problem(int N, int d, std::uint64_t seed) {
    if (N < 1 || N > 4096)
        return Failure{"N is " + std::to_string(N) + "; a random problem has 1 to 4096 rows."};
    if (d < 1 || d > 1024)
        return Failure{"d is " + std::to_string(d) + "; a random problem has 1 to 1024 columns."};
    // The engine's output is fixed by the standard; its distributions are not, so we take the remainder.
    std::mt19937_64 generator(seed);
    Problem p;
    p.title = "Random " + std::to_string(N) + " × " + std::to_string(d) + ", seed " + std::to_string(seed);
    p.watch = "Random numbers between −2 and 2: every seed is another problem.";
    p.Q = random_matrix(generator, N, d);
    p.K = random_matrix(generator, N, d);
    p.V = random_matrix(generator, N, d);
    p.dO = random_matrix(generator, N, d);
    p.scale.kind = Scale::Kind::sqrt;
    p.Br = p.Bc = N <= 8 ? std::min(N, 2) : N <= 32 ? 4 : N <= 128 ? 8 : 32;
    return p;
}

}  // namespace tilewalk
