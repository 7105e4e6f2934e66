// The rule: a kernel may be so many times as far from fp64 as standard attention in the same type is, plus
// two roundings of the largest element, which covers outputs that the standard happens to get exactly; where
// P comes from L alone, what two roundings of L make of it as well.
#include "core/compare/kernel_compare_parts.h"
#include "core/problem/mask.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tilewalk {

namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Standard = std::map<Slot, Matrix>;  // O, L, dQ, dK, dV

// What a matrix of the kernel's type is when it has been written to HBM
Floats stored(Format format, const Floats& A) {
    return round_to(format, A.cast<double>().eval()).cast<float>();
}

// Sums over columns begin at column `turn` and go round: another order, another rounding.
Floats turned(const Matrix& A, Format format, Eigen::Index turn) {
    Floats out(A.rows(), A.cols());
    for (Eigen::Index c = 0; c < A.cols(); ++c)
        out.col(c) = round_to(format, Matrix(A.col((c + turn) % A.cols()))).cast<float>();
    return out;
}

// A B, A Bᵀ and Aᵀ B, each compiled once
Floats times(const Floats& A, const Floats& B) { return A * B; }
Floats times_transposed(const Floats& A, const Floats& B) { return A * B.transpose(); }
Floats transposed_times(const Floats& A, const Floats& B) { return A.transpose() * B; }

// Standard attention in the kernel's type: every matrix is rounded when it is written, sums are fp32.
struct StandardAttention {
    const Problem& p;
    Format format;
    Eigen::Index turn;
    Floats Q, K, V, P, O;  // columns of Q, K and V turned alike
    Standard out;

    StandardAttention(const KernelTrace& trace, Eigen::Index by)
        : p(trace.problem), format(format_of(trace.dtype)), turn(by), Q(turned(p.Q, format, by)),
          K(turned(p.K, format, by)), V(turned(p.V, format, by)) {
        forward(trace.tiles.empty());
        if (trace.backward) backward();
    }

    // Columns back in their places, as doubles
    Matrix unturned(const Floats& A) const {
        Matrix B(A.rows(), A.cols());
        for (Eigen::Index c = 0; c < A.cols(); ++c) B.col((c + turn) % A.cols()) = A.col(c).cast<double>();
        return B;
    }

    void forward(bool stores_S) {
        // S = scale · Q Kᵀ                                                                  (N × N_kv)
        const auto scale = static_cast<float>(p.softmax_scale());
        P = times_transposed(Q, K) * scale;
        // A kernel with tiles never stores S: its L is held against that of scores in float32.
        if (stores_S) P = stored(format, P);
        out[Slot::L] =
            Matrix::NullaryExpr(P.rows(), 1, [&](Eigen::Index r, Eigen::Index) { return log_sum(r); });
        P = stored(format, P);
        for (Eigen::Index r = 0; r < P.rows(); ++r) softmax_row(r);
        // O = P V                                                                            (N × d)
        O = stored(format, times(P, V));
        out[Slot::O] = unturned(O);
    }

    // L = m + ln ℓ of one row of scores
    double log_sum(Eigen::Index r) const {
        const KeyRange seen = visible_keys(p, static_cast<int>(r));
        if (seen.first > seen.last) return -infinity;
        const auto S = P.row(r).segment(seen.first, seen.last + 1 - seen.first);
        const float m = S.maxCoeff();
        float l = 0;
        for (Eigen::Index c = 0; c < S.size(); ++c) l += std::exp(S[c] - m);
        return static_cast<double>(m + std::log(l));
    }

    // P = softmax(S) of one row, in place; a row that sees no key becomes 0
    void softmax_row(Eigen::Index r) {
        const KeyRange seen = visible_keys(p, static_cast<int>(r));
        for (Eigen::Index c = 0; c < P.cols(); ++c)
            if (c < seen.first || c > seen.last) P(r, c) = -std::numeric_limits<float>::infinity();
        if (seen.first > seen.last) return P.row(r).setZero(), void();
        const float m = P.row(r).maxCoeff();
        float l = 0;
        for (Eigen::Index c = 0; c < P.cols(); ++c) l += P(r, c) = std::exp(P(r, c) - m);
        P.row(r) = stored(format, P.row(r) / l);
    }

    void backward() {
        const auto scale = static_cast<float>(p.softmax_scale());
        const Floats dO = turned(output_gradient(p), format, turn);
        // dP = dO Vᵀ,  D = rowsum(dO ⊙ O),  dS = P ⊙ (dP − D)                                (N × N_kv)
        const Floats dP = stored(format, times_transposed(dO, V));
        const Floats D = (dO.array() * O.array()).rowwise().sum();
        const Floats dS = stored(format, P.array() * (dP.colwise() - D.col(0)).array());
        // dQ = scale · dS K,  dK = scale · dSᵀ Q,  dV = Pᵀ dO
        out[Slot::dQ] = unturned(stored(format, times(dS, K) * scale));
        out[Slot::dK] = unturned(stored(format, transposed_times(dS, Q) * scale));
        out[Slot::dV] = unturned(stored(format, transposed_times(P, dO)));
    }
};

double largest_off(const Matrix& x, const Matrix& exact) {
    double most = 0;
    for (Eigen::Index n = 0; n < exact.size(); ++n)
        most = std::max(most, distance(x.data()[n], exact.data()[n]));
    return most;
}

double largest_finite(const Matrix& A) {
    double most = 0;
    for (Eigen::Index n = 0; n < A.size(); ++n)
        if (std::isfinite(A.data()[n])) most = std::max(most, std::abs(A.data()[n]));
    return most;
}

// What two roundings of L in fp32 come to in gradients whose P is exp(S − L): a weight is off by the part
// 2⁻²³ |L| of itself, and dS = P ⊙ (dP − D) with it.
Standard rounding_of_L(const KernelComparison& c) {
    const Problem p = rounded_problem(*c.kernel);
    const double scale = p.softmax_scale();
    const Matrix dO = output_gradient(p), S = scale * p.Q * p.K.transpose(), dP = dO * p.V.transpose();
    Matrix P = Matrix::Zero(p.N(), p.N_kv()), dS = P;  // times 2⁻²³ |L| of their row
    for (int r = 0; r < p.N(); ++r) {
        const KeyRange seen = visible_keys(p, r);
        const int keys = seen.last + 1 - seen.first;
        if (keys <= 0) continue;
        const auto row = S.row(r).segment(seen.first, keys);
        const double m = row.maxCoeff(), L = m + std::log((row.array() - m).exp().sum());
        const Matrix weights = (row.array() - L).exp();
        const double D = weights.cwiseProduct(dP.row(r).segment(seen.first, keys)).sum(),
                     off = std::ldexp(std::abs(L), -23);
        P.row(r).segment(seen.first, keys) = off * weights;
        dS.row(r).segment(seen.first, keys) =
            off * (weights.array() * (dP.row(r).segment(seen.first, keys).array() - D).abs());
    }
    return {{Slot::dQ, scale * dS * p.K.cwiseAbs()},
            {Slot::dK, scale * dS.transpose() * p.Q.cwiseAbs()},
            {Slot::dV, P.transpose() * dO.cwiseAbs()}};
}

// `from_L`: what that of L comes to in gradients; empty of other kernels.
OutputVerdict judge(const KernelComparison& c, Slot slot, const std::vector<Standard>& standards,
                    const Standard& from_L) {
    const ThreeWays values = output_values(c, slot);
    const Format format = format_of(*c.kernel, slot);
    OutputVerdict out;
    out.slot = slot;
    out.factor = slot == Slot::O || slot == Slot::L ? 2 : 3;
    out.floor = std::ldexp(largest_finite(values.exact), -info(format).fraction_bits);
    // Tensor cores cut their sums off instead of rounding them (core/bench/verify.h).
    if (slot == Slot::L && c.kernel->dtype != DType::f32) out.floor *= 8;
    if (const auto of_L = from_L.find(slot); of_L != from_L.end()) out.floor += of_L->second.maxCoeff();
    for (const Standard& standard : standards)
        out.standard = std::max(out.standard, largest_off(standard.at(slot), values.exact));
    out.worst = values.cell(0, 0);
    for (int r = 0; r < values.kernel.rows(); ++r)
        for (int col = 0; col < values.kernel.cols(); ++col) {
            const double far = distance(values.kernel(r, col), values.exact(r, col));
            if (far > out.error) out.error = far, out.worst = values.cell(r, col);
        }
    out.apart = distance_of(values, format);
    return out;
}

}  // namespace

double OutputVerdict::part() const { return error == 0 ? 0 : limit() == 0 ? infinity : error / limit(); }
double OutputVerdict::ratio() const { return error == 0 ? 0 : standard == 0 ? infinity : error / standard; }

std::vector<OutputVerdict> judge_outputs(const KernelComparison& c) {
    // The largest error of a few elements is chance, and so is the order in which a library adds: four
    // orders.
    const Eigen::Index d = c.kernel->problem.d();
    std::vector<Standard> standards;
    for (Eigen::Index turn : {Eigen::Index{0}, d / 4, d / 2, 3 * d / 4})
        if (turn > 0 || standards.empty()) standards.push_back(StandardAttention(*c.kernel, turn).out);
    const Standard rounding = c.kernel->P_from_L ? rounding_of_L(c) : Standard{};
    std::vector<OutputVerdict> out;
    const std::initializer_list<Slot> forward = {Slot::O, Slot::L}, backward = {Slot::dQ, Slot::dK, Slot::dV};
    for (Slot slot : c.kernel->backward ? backward : forward)
        out.push_back(judge(c, slot, standards, rounding));
    return out;
}

}  // namespace tilewalk
