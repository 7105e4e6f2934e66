// The first number that rounding does not explain.
//
// Each step is computed again, in fp64, from the numbers that the kernel itself had before it: then only this
// step's own rounding may lie between the two, and the bounds stay tight all along the walk. Held against the
// CPU's walk instead, one P that falls to the other side of a rounding would move every O after it by more
// than a fault of 10⁻³ does. What a kernel did not record is carried on as it was computed, with how far off
// it may be.
#include "core/compare/kernel_compare_parts.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

using Quantity = KernelFault::Quantity;
using Kind = KernelFinding::Kind;
constexpr double rounding = 0x1p-23;     ///< two of fp32
constexpr double underflow = 0x1p-126;   ///< below it exp2 may give 0
constexpr double of_exp = 0x1p-20;       ///< relative, of the GPU's fast exp2
constexpr double of_argument = 0x1p-22;  ///< S and m times log₂ e, each rounded, and their difference

// What a step may give: anything from lo to hi.
struct Bounds {
    Matrix value, lo, hi;

    void set(Eigen::Index r, Eigen::Index c, double x, double far) {
        value(r, c) = x;
        lo(r, c) = std::isfinite(x) ? x - far : x;
        hi(r, c) = std::isfinite(x) ? x + far : x;
    }
    /// eˣ with x known up to `far`.
    void set_exp(Eigen::Index r, Eigen::Index c, double x, double far) {
        value(r, c) = std::exp(x);
        lo(r, c) = x == -infinity ? 0 : std::exp(x - far) - underflow;
        hi(r, c) = x == -infinity ? 0 : std::exp(x + far) + underflow;
    }
    double far(Eigen::Index r, Eigen::Index c) const {
        return lo(r, c) == hi(r, c) ? 0 : std::max(hi(r, c) - value(r, c), value(r, c) - lo(r, c));
    }
};
Bounds bounds(Eigen::Index rows, Eigen::Index cols) {
    return {Matrix::Zero(rows, cols), Matrix::Zero(rows, cols), Matrix::Zero(rows, cols)};
}

// A number as the kernel has it, and how far off it may be: 0 if it was recorded.
struct Known {
    Matrix value, far;
};

// A B and A Bᵀ, each compiled once
Matrix times(const Matrix& A, const Matrix& B) { return A * B; }
Matrix times_transposed(const Matrix& A, const Matrix& B) { return A * B.transpose(); }

class Walk {
public:
    explicit Walk(const KernelTrace& trace)
        : k(trace), p(k.problem), format(format_of(k.dtype)), Q(round_to(format, p.Q)),
          K(round_to(format, p.K)), V(round_to(format, p.V)) {}

    KernelFinding go() {
        for (i = 0; i < p.Tr() && !found; ++i) walk_query_block();
        return found;
    }

private:
    // What a split left behind
    struct Part {
        Matrix m, l, O_size;
        Known O;
    };

    void walk_query_block() {
        const int rows = tile_rows(p, i), d = p.d();
        std::vector<Part> parts;
        start(rows, d);
        for (j = 0; j < p.Tc() && !found; ++j) {
            if (k.split_blocks > 0 && j > 0 && j % k.split_blocks == 0) {
                parts.push_back({m, l, O_size, O});
                start(rows, d);
            }
            const bool in_the_walk = tile_cover(p, i, j) != TileCover::none;
            tile = find_tile(k, i, j);
            if (tile->visited != in_the_walk)
                found = {.kind = tile->visited ? Kind::extra_tile : Kind::missing_tile, .i = i, .j = j};
            else if (in_the_walk)
                walk_tile();
        }
        if (found) return;
        parts.push_back({m, l, O_size, O});
        if (parts.size() > 1) combine(parts, rows, d);
        finish(rows, d);
    }

    // m ← −∞,  ℓ ← 0,  O ← 0
    void start(int rows, int d) {
        m = Matrix::Constant(rows, 1, -infinity);
        l = of_weights = Matrix::Zero(rows, 1);
        O = {Matrix::Zero(rows, d), Matrix::Zero(rows, d)};
        O_size = Matrix::Zero(rows, d);
    }

    // m = max mₛ, weights exp(mₛ − m), ℓ = Σ weight · ℓₛ, O = Σ weight · Oₛ
    void combine(const std::vector<Part>& parts, int rows, int d) {
        start(rows, d);
        for (const Part& part : parts) m = m.cwiseMax(part.m);
        for (const Part& part : parts)
            for (int r = 0; r < rows; ++r) {
                if (part.m(r, 0) == -infinity) continue;
                const double weight = std::exp(part.m(r, 0) - m(r, 0));
                const double far = of_exp + of_argument * (std::abs(part.m(r, 0)) + std::abs(m(r, 0)));
                of_weights(r, 0) = std::max(of_weights(r, 0), far);
                l(r, 0) += weight * part.l(r, 0);
                O.value.row(r) += weight * part.O.value.row(r);
                O.far.row(r) += weight * (part.O.far.row(r) + far * part.O.value.row(r).cwiseAbs());
                O_size.row(r) += weight * part.O_size.row(r);
            }
    }

    void walk_tile() {
        const Known S = scores();
        const Matrix m_old = m;
        if (found) return;
        m = maximum(S, m_old);
        if (found) return;
        const Matrix base = (m.array() == -infinity).select(0.0, m);
        const Matrix alpha = correction(m_old, base);
        if (found) return;
        // exp(S − m) as it is before it is rounded, which is what ℓ sums; P̃ as it is multiplied
        const Bounds E = exponentials(S, base);
        const Known P = weights(E);
        if (found) return;
        l = row_sum(alpha, E);
        if (found) return;
        O = output(alpha, P);
    }

    // S = scale · Qᵢ Kⱼᵀ: products are exact, sums of d may be cut off instead of rounded
    Known scores() {
        const int rows = tile_rows(p, i), columns = tile_columns(p, j);
        const Matrix Qi = Q.middleRows(i * p.Br, rows), Kj = K.middleRows(j * p.Bc, columns);
        const double scale = p.softmax_scale(), factor = (2 * p.d() + 8) * rounding * std::abs(scale);
        const Matrix value = times_transposed(scale * Qi, Kj),
                     size = times_transposed(Qi.cwiseAbs(), Kj.cwiseAbs());
        Bounds S = bounds(rows, columns);
        for (int r = 0; r < rows; ++r) {
            const KeyRange seen = visible_keys(p, i * p.Br + r);
            for (int col = 0; col < columns; ++col) {
                const int key = j * p.Bc + col;
                const bool sees = key >= seen.first && key <= seen.last;
                S.set(r, col, sees ? value(r, col) : -infinity, factor * size(r, col) + underflow);
            }
        }
        return check(Quantity::S, S);
    }

    // m ← max(m, rowmax(S)): exact, but for the scale
    Matrix maximum(const Known& S, const Matrix& m_old) {
        Bounds m_new = bounds(m_old.rows(), 1);
        for (Eigen::Index r = 0; r < m_old.rows(); ++r) {
            const double value = std::max(m_old(r, 0), S.value.row(r).maxCoeff());
            m_new.set(r, 0, value, 2 * rounding * std::abs(value) + S.far.row(r).maxCoeff());
        }
        return check(Quantity::m, m_new).value;
    }

    // α = exp(m_old − m): what it is before the row has seen a key does not matter, it multiplies 0
    Matrix correction(const Matrix& m_old, const Matrix& base) {
        Bounds alpha = bounds(m_old.rows(), 1);
        for (Eigen::Index r = 0; r < m_old.rows(); ++r) {
            const double far = of_exp + of_argument * (std::abs(m_old(r, 0)) + std::abs(base(r, 0)));
            alpha.set_exp(r, 0, m_old(r, 0) - base(r, 0), far);
            if (m_old(r, 0) == -infinity) alpha.hi(r, 0) = std::numeric_limits<double>::max();
        }
        Matrix value = check(Quantity::alpha, alpha).value;
        return (m_old.array() == -infinity).select(0.0, value);
    }

    // exp(S − m)                                                                             (Br × Bc)
    static Bounds exponentials(const Known& S, const Matrix& base) {
        Bounds E = bounds(S.value.rows(), S.value.cols());
        for (Eigen::Index r = 0; r < E.value.rows(); ++r)
            for (Eigen::Index col = 0; col < E.value.cols(); ++col) {
                const double s = S.value(r, col);
                const double far = of_exp + of_argument * (std::abs(s) + std::abs(base(r, 0)));
                E.set_exp(r, col, s - base(r, 0), far + S.far(r, col));
            }
        return E;
    }

    // P̃: what lies between the two roundings of lo and hi
    Known weights(const Bounds& E) {
        return check(Quantity::P,
                     {round_to(format, E.value), round_to(format, E.lo.cwiseMax(0)), round_to(format, E.hi)});
    }

    // ℓ ← α ⊙ ℓ + rowsum(exp(S − m))
    Matrix row_sum(const Matrix& alpha, const Bounds& E) {
        Bounds sum = bounds(l.rows(), 1);
        for (Eigen::Index r = 0; r < l.rows(); ++r) {
            const double value = alpha(r, 0) * l(r, 0) + E.value.row(r).sum();
            double far = (static_cast<double>(E.value.cols()) + 8) * rounding * value;
            for (Eigen::Index col = 0; col < E.value.cols(); ++col) far += E.far(r, col);
            sum.set(r, 0, value, far);
        }
        return check(Quantity::l, sum).value;
    }

    // O ← α ⊙ O + P̃ Vⱼ
    Known output(const Matrix& alpha, const Known& P) {
        const Matrix Vj = V.middleRows(j * p.Bc, tile_columns(p, j)), Vj_size = Vj.cwiseAbs();
        const auto A = alpha.col(0).asDiagonal();
        const Matrix size = A * O.value.cwiseAbs() + times(P.value.cwiseAbs(), Vj_size);
        const Matrix value = A * O.value + times(P.value, Vj);
        const Matrix carried = A * O.far + times(P.far, Vj_size);
        const double factor = static_cast<double>(2 * P.value.cols() + 8) * rounding;
        Bounds next = bounds(value.rows(), value.cols());
        for (Eigen::Index r = 0; r < value.rows(); ++r)
            for (Eigen::Index col = 0; col < value.cols(); ++col)
                next.set(r, col, value(r, col), factor * size(r, col) + carried(r, col) + underflow);
        O_size = size;
        return check(Quantity::O, next);
    }

    // O ← O ⊘ ℓ and L = m + ln ℓ, as they lie in HBM. The kernel as it is timed may add in another order than
    // its twin, and a P̃ may have fallen to the other side there.
    void finish(int rows, int d) {
        const double narrow = std::ldexp(1.0, -info(format).fraction_bits);
        Bounds out = bounds(rows, d), L = bounds(rows, 1);
        for (int r = 0; r < rows; ++r) {
            const double sum = l(r, 0), log = std::log(sum);
            L.set(r, 0, sum == 0 ? -infinity : m(r, 0) + log,
                  8 * rounding * (std::abs(m(r, 0)) + std::abs(log) + 1) + of_weights(r, 0));
            for (int col = 0; col < d; ++col) {
                const double x = sum == 0 ? 0 : O.value(r, col) / sum;
                const double far = sum == 0 ? 0 : (narrow * O_size(r, col) + O.far(r, col)) / sum + underflow;
                out.set(r, col, round_to(format, x), far + (narrow + of_weights(r, 0)) * std::abs(x));
            }
        }
        look({.kind = Kind::output, .i = i}, out, as_matrix(k.O, p.N(), d).middleRows(i * p.Br, rows));
        if (found) return;
        look({.kind = Kind::log_sum, .i = i}, L, as_matrix(k.L, p.N(), 1).middleRows(i * p.Br, rows));
    }

    Known check(Quantity quantity, const Bounds& may) {
        const Matrix kernel = as_matrix(values_of(*tile, quantity), static_cast<int>(may.value.rows()),
                                        static_cast<int>(may.value.cols()));
        if (kernel.size() > 0) {
            look({.kind = Kind::value, .quantity = quantity, .i = i, .j = j}, may, kernel);
            return {kernel, Matrix::Zero(kernel.rows(), kernel.cols())};
        }
        const auto far = [&may](Eigen::Index r, Eigen::Index col) { return may.far(r, col); };
        return {may.value, Matrix::NullaryExpr(may.value.rows(), may.value.cols(), far)};
    }

    // The cell that lies furthest outside, in relation to what is allowed
    void look(KernelFinding at, const Bounds& may, const Matrix& kernel) {
        double most = 0;
        for (Eigen::Index r = 0; r < kernel.rows(); ++r)
            for (Eigen::Index col = 0; col < kernel.cols(); ++col) {
                const double x = kernel(r, col), lo = may.lo(r, col), hi = may.hi(r, col);
                if (x >= lo && x <= hi) continue;
                const double over = std::isfinite(x) ? std::max(lo - x, x - hi) : infinity;
                const double part = over / (hi - lo + underflow);
                if (part < most || (most > 0 && part == most)) continue;
                most = part > 0 ? part : underflow;
                at.row = static_cast<int>(r), at.column = static_cast<int>(col);
                at.expected = may.value(r, col), at.found = x;
                found = at;
            }
    }

    const KernelTrace& k;
    const Problem& p;
    Format format;
    Matrix Q, K, V;  // as the kernel reads them
    int i = 0, j = 0;
    const KernelTile* tile = nullptr;
    Matrix m, l, O_size;  // O_size: what was added up for O, without signs
    Matrix of_weights;    // relative, of the weights that combined the splits; 0 where there is one
    Known O;
    KernelFinding found;
};

// The step of the CPU's walk that the finding is about
int step_for(const Trace& walk, const KernelFinding& found) {
    if (found.kind == Kind::value) return step_of(walk, found.quantity, found.i, found.j);
    const bool tile = found.kind == Kind::extra_tile || found.kind == Kind::missing_tile;
    const Op at_the_end = found.kind == Kind::output ? Op::normalize : Op::store;
    for (int k = 0; k < walk.size(); ++k) {
        const Step& step = walk.step(k);
        if (step.i == found.i && (tile ? step.j == found.j : step.op == at_the_end)) return k;
    }
    return -1;
}

}  // namespace

KernelFinding locate(const KernelComparison& c) {
    if (c.kernel->tiles.empty()) return {};
    KernelFinding found = Walk(*c.kernel).go();
    if (!found) return found;
    if (found.kind == Kind::output || found.kind == Kind::log_sum)
        found.row += found.i * c.kernel->problem.Br;
    found.step = step_for(*c.cpu, found);
    return found;
}

}  // namespace tilewalk
