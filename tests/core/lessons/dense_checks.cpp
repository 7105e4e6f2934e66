#include "tests/core/lessons/dense_checks.h"

#include "tests/core/matrix_of.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

namespace tilewalk::test {

namespace {

std::size_t at(int n) { return static_cast<std::size_t>(n); }

Dense::Table table(int rows, int cols) {
    return Dense::Table(at(rows), std::vector<long double>(at(cols), 0));
}

Matrix small_numbers(Random& random, int rows, int cols) {
    Matrix A(rows, cols);
    for (Eigen::Index n = 0; n < A.size(); ++n) A.data()[n] = pick(random, -1500, 1500) / 1000.0;
    return A;
}

}  // namespace

DenseGradients dense_gradients(const Problem& p, const Matrix& dO) {
    const Dense dense = dense_attention(p);
    const int N = p.N(), M = p.N_kv(), d = p.d();
    const long double scale = p.softmax_scale();
    DenseGradients g{table(N, M),
                     table(N, M),
                     table(N, d),
                     table(M, d),
                     table(M, d),
                     std::vector<long double>(at(N)),
                     table(N, M),
                     table(N, d),
                     table(M, d),
                     table(M, d),
                     std::vector<long double>(at(N)),
                     0};
    long double size = 0;
    for (long double s : dense.size) size = std::max(size, s);
    g.precision = static_cast<double>(16 * std::numeric_limits<double>::epsilon() * size);
    for (int r = 0; r < N; ++r) {
        std::vector<long double> size_dP(at(M));
        for (int c = 0; c < M; ++c) {
            const long double P = dense.P[at(r)][at(c)];
            for (int x = 0; x < d; ++x) {
                const long double term = static_cast<long double>(dO(r, x)) * p.V(c, x);
                g.dP[at(r)][at(c)] += term;
                size_dP[at(c)] += std::abs(term);
                g.dV[at(c)][at(x)] += P * dO(r, x);
                g.size_dV[at(c)][at(x)] += P * std::abs(dO(r, x));
            }
            g.D[at(r)] += P * g.dP[at(r)][at(c)];
            g.size_D[at(r)] += P * size_dP[at(c)];
        }
        for (int c = 0; c < M; ++c) {
            const long double P = dense.P[at(r)][at(c)];
            const long double dS = g.dS[at(r)][at(c)] = P * (g.dP[at(r)][at(c)] - g.D[at(r)]);
            const long double size_dS = g.size_dS[at(r)][at(c)] = P * (size_dP[at(c)] + g.size_D[at(r)]);
            for (int x = 0; x < d; ++x) {
                g.dQ[at(r)][at(x)] += scale * dS * p.K(c, x);
                g.dK[at(c)][at(x)] += scale * dS * p.Q(r, x);
                g.size_dQ[at(r)][at(x)] += std::abs(scale) * size_dS * std::abs(p.K(c, x));
                g.size_dK[at(c)][at(x)] += std::abs(scale) * size_dS * std::abs(p.Q(r, x));
            }
        }
    }
    return g;
}

bool close_to(const Matrix& got, const Dense::Table& expected, const Dense::Table& size, double precision) {
    if (got.rows() != static_cast<Eigen::Index>(expected.size())) return false;
    for (int r = 0; r < got.rows(); ++r)
        for (int c = 0; c < got.cols(); ++c)
            if (!(std::abs(got(r, c) - expected[at(r)][at(c)]) <=
                  (1e-12L + precision) * size[at(r)][at(c)] + 1e-290L))
                return false;
    return true;
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

void check_figures(const Matrix& got, std::initializer_list<double> printed, double unit) {
    REQUIRE(got.size() == static_cast<Eigen::Index>(printed.size()));
    for (Eigen::Index n = 0; n < got.size(); ++n)
        CHECK_MESSAGE(std::abs(got.data()[n] - printed.begin()[n]) <= unit * 1.0001, "figure ", n, ": ",
                      got.data()[n], " against ", printed.begin()[n]);
}

int nth_step(const Trace& trace, Op op, int n) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && n-- == 0) return k;
    FAIL("no such step: ", name(op));
    return 0;
}

}  // namespace tilewalk::test
