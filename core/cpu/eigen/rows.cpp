// Products of matrices and the steps of standard attention that go row by row.
#include "core/cpu/eigen/level.h"

#include <cmath>

namespace tilewalk::cpu::TILEWALK_LEVEL {

namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
using Vector = Eigen::Map<Eigen::ArrayXf>;
using ConstVector = Eigen::Map<const Eigen::ArrayXf>;

Eigen::Map<const Rows, 0, Stride> view(const Operand& X, std::int64_t rows, std::int64_t columns) {
    return {X.data, rows, columns, Stride(X.stride)};
}

template <class A, class B> void assign(const Product& p, const A& left, const B& right) {
    Eigen::Map<Rows, 0, Stride> C(p.C, p.rows, p.columns, Stride(p.stride));
    if (p.add)
        C.noalias() += p.factor * left * right;
    else
        C.noalias() = p.factor * left * right;
}

template <class A> void with_right(const Product& p, const A& left) {
    if (p.B.transposed)
        assign(p, left, view(p.B, p.columns, p.depth).transpose());
    else
        assign(p, left, view(p.B, p.depth, p.columns));
}

}  // namespace

void multiply(const Product& p) {
    if (p.A.transposed)
        with_right(p, view(p.A, p.depth, p.rows).transpose());
    else
        with_right(p, view(p.A, p.rows, p.depth));
}

float softmax_row(const float* scores, float* weights, std::int64_t count) {
    const ConstVector S(scores, count);
    Vector P(weights, count);
    const float m = S.maxCoeff();
    P = (S - m).exp();
    const float l = P.sum();
    P *= 1 / l;
    return m + std::log(l);
}

float dot(const float* x, const float* y, std::int64_t count) {
    return (ConstVector(x, count) * ConstVector(y, count)).sum();
}

void score_gradient_row(const float* P, float* dP, float D, std::int64_t count) {
    Vector dS(dP, count);
    dS = ConstVector(P, count) * (dS - D);
}

}  // namespace tilewalk::cpu::TILEWALK_LEVEL
