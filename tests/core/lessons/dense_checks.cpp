#include "tests/core/lessons/dense_checks.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

namespace tilewalk::test {

namespace {

Matrix small_numbers(Random& random, int rows, int cols) {
    Matrix A(rows, cols);
    for (Eigen::Index n = 0; n < A.size(); ++n) A.data()[n] = pick(random, -1500, 1500) / 1000.0;
    return A;
}

}  // namespace

DenseGradients dense_gradients(const Problem& p, const Matrix& output_gradient) {
    const auto wide = [](const Matrix& A) { return Dense::Table(A.cast<long double>()); };
    const Dense::Table Q = wide(p.Q), K = wide(p.K), V = wide(p.V), dO = wide(output_gradient);
    const Dense dense = dense_attention(p);
    const Dense::Table& P = dense.P;
    const long double scale = p.softmax_scale(), steepness = std::abs(scale);
    DenseGradients g;
    g.dP = dO * V.transpose();
    g.dV = P.transpose() * dO;
    g.D = P.cwiseProduct(g.dP).rowwise().sum();
    g.dS_capped = g.dS = P.cwiseProduct(g.dP.colwise() - g.D);
    if (p.logits.softcap) {
        const long double cap = *p.logits.softcap;
        for (Eigen::Index n = 0; n < g.dS.size(); ++n)
            g.dS.data()[n] *= 1 - std::pow(dense.capped.data()[n] / cap, 2);
    }
    g.dQ = scale * g.dS * K;
    g.dK = scale * g.dS.transpose() * Q;
    const Dense::Table size_dP = dO.cwiseAbs() * V.cwiseAbs().transpose();
    const Eigen::VectorX<long double> size_D = P.cwiseProduct(size_dP).rowwise().sum();
    g.size_dV = P.transpose() * dO.cwiseAbs();
    g.size_dS = P.cwiseProduct(size_dP.colwise() + size_D);
    g.size_dQ = steepness * g.size_dS * K.cwiseAbs();
    g.size_dK = steepness * g.size_dS.transpose() * Q.cwiseAbs();
    if (p.logits.sink)
        for (int r = 0; r < p.N(); ++r) {
            g.dsink -= std::exp(*p.logits.sink - dense.L(r)) * g.D(r);
            g.size_dsink += size_D(r);
        }
    const long double cap = p.logits.softcap.value_or(1e300);
    g.precision = 16 * std::numeric_limits<double>::epsilon() * dense.size.maxCoeff() * (1 + 1 / cap);
    return g;
}

bool close_to(const Matrix& got, const Dense::Table& expected, const Dense::Table& size,
              long double precision) {
    return far_off(got, expected, (1e-12L + precision) * size.array() + 1e-290L).empty();
}

Problem gradient_problem(Random& random, int largest) {
    Problem p = any_problem(random, largest);
    const int N = p.N(), M = p.N_kv(), d = p.d();
    if (pick(random, 0, 3) > 0) {
        p.Q = small_numbers(random, N, d);
        p.K = small_numbers(random, M, d);
        p.V = small_numbers(random, M, d);
    } else {  // keeps the ties of integers
        p.Q /= std::max(1.0, p.Q.cwiseAbs().maxCoeff() / 2);
        p.K /= std::max(1.0, p.K.cwiseAbs().maxCoeff() / 2);
        p.V /= std::max(1.0, p.V.cwiseAbs().maxCoeff() / 2);
    }
    p.dO = small_numbers(random, N, d);
    if (pick(random, 0, 2) == 0) p.dO->row(pick(random, 0, N - 1)).setZero();
    return p;
}

Problem projected_problem(Random& random, int largest) {
    Problem p = gradient_problem(random, largest);
    const int N = p.N(), d = p.d(), model = pick(random, 1, 4);
    p.projection = Projection{small_numbers(random, N, model), small_numbers(random, model, d),
                              small_numbers(random, model, d), small_numbers(random, model, d)};
    project(p);
    return p;
}

double loss_of(const Problem& p, const Matrix& dO) {
    return dO.cwiseProduct(matrix_of(dense_attention(p).O)).sum();
}

void check_differences(const Problem& p, Matrix Problem::*input, const Matrix& gradient) {
    const Matrix dO = output_gradient(p);
    const double h = 1e-5;
    REQUIRE(gradient.size() == (p.*input).size());
    for (Eigen::Index n = 0; n < gradient.size(); ++n) {
        Problem up = p, down = p;
        (up.*input).data()[n] += h;
        (down.*input).data()[n] -= h;
        const double slope = (loss_of(up, dO) - loss_of(down, dO)) / (2 * h);
        CHECK_MESSAGE(std::abs(gradient.data()[n] - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p),
                      ", element ", n);
    }
}

void check_figures(const Matrix& got, std::initializer_list<double> printed, double unit) {
    REQUIRE(got.size() == static_cast<Eigen::Index>(printed.size()));
    for (Eigen::Index n = 0; n < got.size(); ++n)
        CHECK_MESSAGE(std::abs(got.data()[n] - printed.begin()[n]) <= unit * 1.0001, "figure ", n, ": ",
                      got.data()[n], " against ", printed.begin()[n]);
}

}  // namespace tilewalk::test
