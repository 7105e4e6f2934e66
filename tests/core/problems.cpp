#include "tests/core/problems.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace tilewalk::test {

namespace {

const long double minus_infinity = -std::numeric_limits<long double>::infinity();
const long double epsilon = std::numeric_limits<double>::epsilon();

Matrix random_numbers(Random& random, int rows, int cols, double magnitude, bool integers) {
    Matrix A(rows, cols);
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
            A(r, c) =
                integers ? pick(random, -2, 2) : magnitude * pick(random, -1000003, 1000003) / 1000003.0;
    return A;
}

int any_block(Random& random, int n) {
    switch (pick(random, 0, 5)) {
    case 0: return 1;
    case 1: return n;
    case 2: return n + pick(random, 1, 5);
    default: return pick(random, 1, n);
    }
}

Scale any_scale(Random& random) {
    switch (pick(random, 0, 4)) {
    case 0: return {Scale::Kind::number, choose(random, {0.125, -0.5, 3.0, 0.0, 0.3})};
    case 1:
    case 2: return {Scale::Kind::sqrt, 1.0};
    default: return {};
    }
}

}  // namespace

int pick(Random& random, int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

double choose(Random& random, std::initializer_list<double> numbers) {
    return numbers.begin()[pick(random, 0, static_cast<int>(numbers.size()) - 1)];
}

Problem worked_example() {
    Problem p;
    p.Q.resize(4, 4);
    p.Q << 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0;
    p.K.resize(4, 4);
    p.K << 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1;
    p.V.resize(4, 4);
    p.V << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16;
    return p;
}

Problem tutorial_backward() {
    Problem p = worked_example();
    p.dO = Matrix::Zero(4, 4);
    p.dO->row(0).setOnes();
    p.dO->row(2).setOnes();
    return p;
}

Problem any_problem(Random& random, int largest) {
    Problem p;
    const int n = pick(random, 1, largest), n_kv = pick(random, 0, 2) ? pick(random, 1, largest) : n;
    const int d = pick(random, 1, 5);
    const bool integers = pick(random, 0, 3) == 0;
    const double magnitude = choose(random, {1, 1, 30, 1000});
    p.Q = random_numbers(random, n, d, magnitude, integers);
    p.K = random_numbers(random, n_kv, d, magnitude, integers);
    p.V = random_numbers(random, n_kv, d, choose(random, {1, 1000, 0.001}), integers);
    p.Br = any_block(random, n);
    p.Bc = any_block(random, n_kv);
    p.causal = pick(random, 0, 1) == 1;
    if (pick(random, 0, 2) == 0) p.window = pick(random, 0, 1) ? pick(random, 0, 2) : pick(random, 0, 20);
    p.scale = any_scale(random);
    p.element_bytes = static_cast<int>(choose(random, {1, 2, 4, 8}));
    return p;
}

std::string describe(const Problem& p) {
    std::ostringstream out;
    out << "N " << p.N() << ", N_kv " << p.N_kv() << ", d " << p.d() << ", Br " << p.Br << ", Bc " << p.Bc
        << (p.causal ? ", causal" : "") << ", window " << (p.window ? std::to_string(*p.window) : "none")
        << ", scale " << p.softmax_scale() << ", element bytes " << p.element_bytes << ", largest |Q| "
        << p.Q.cwiseAbs().maxCoeff();
    return out.str();
}

bool sees(const Problem& p, int r, int c) {
    // Both sequences end at the same position; a key ahead of the query has a positive distance.
    const long long ahead = (static_cast<long long>(c) - p.N_kv()) - (static_cast<long long>(r) - p.N());
    if (p.causal && ahead > 0) return false;
    return !p.window || std::llabs(ahead) <= *p.window;
}

int rows_of(const Problem& p, int i) {
    int rows = 0;
    for (long long r = static_cast<long long>(i) * p.Br; r < p.N() && rows < p.Br; ++r) ++rows;
    return rows;
}

int keys_of(const Problem& p, int j) {
    int keys = 0;
    for (long long c = static_cast<long long>(j) * p.Bc; c < p.N_kv() && keys < p.Bc; ++c) ++keys;
    return keys;
}

bool tile_is_needed(const Problem& p, int i, int j) {
    for (int r = 0; r < p.N(); ++r)
        for (int c = 0; c < p.N_kv(); ++c)
            if (r / p.Br == i && c / p.Bc == j && sees(p, r, c)) return true;
    return false;
}

Dense dense_attention(const Problem& p) {
    const int N = p.N(), M = p.N_kv(), d = p.d();
    const long double scale = p.softmax_scale();
    auto at = [](int n) { return static_cast<std::size_t>(n); };
    auto table = [&](int cols) { return Dense::Table(at(N), std::vector<long double>(at(cols), 0)); };
    Dense out{table(M),
              table(M),
              table(d),
              std::vector<long double>(at(N), minus_infinity),
              std::vector<long double>(at(N), 0),
              table(d)};
    for (int r = 0; r < N; ++r) {
        auto &S = out.S[at(r)], &P = out.P[at(r)];
        long double most = minus_infinity, total = 0;
        for (int c = 0; c < M; ++c) {
            long double dot = 0, size = 0;
            for (int x = 0; x < d; ++x) {
                const long double term = scale * p.Q(r, x) * p.K(c, x);
                dot += term;
                size += std::abs(term);
            }
            S[at(c)] = sees(p, r, c) ? dot : minus_infinity;
            out.size[at(r)] = std::max(out.size[at(r)], size);
            most = std::max(most, S[at(c)]);
        }
        if (most == minus_infinity) continue;
        for (int c = 0; c < M; ++c) total += P[at(c)] = std::exp(S[at(c)] - most);
        out.L[at(r)] = most + std::log(total);
        for (int c = 0; c < M; ++c) {
            P[at(c)] /= total;
            for (int x = 0; x < d; ++x) {
                out.O[at(r)][at(x)] += P[at(c)] * p.V(c, x);
                out.weight[at(r)][at(x)] += P[at(c)] * std::abs(static_cast<long double>(p.V(c, x)));
            }
        }
    }
    return out;
}

double tolerance_O(const Dense& dense, int r, int c) {
    const auto row = static_cast<std::size_t>(r), col = static_cast<std::size_t>(c);
    return static_cast<double>((1e-12L + 8 * epsilon * dense.size[row]) * dense.weight[row][col]);
}

double tolerance_L(const Dense& dense, int r) {
    const auto row = static_cast<std::size_t>(r);
    return static_cast<double>(1e-12L * std::max(1.0L, std::abs(dense.L[row])) +
                               8 * epsilon * dense.size[row]);
}

}  // namespace tilewalk::test
