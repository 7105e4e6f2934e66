#include "tests/core/problems.h"

#include <bit>
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

Matrix any_doubles(Random& random, int rows, int cols) {
    Matrix A(rows, cols);
    for (Eigen::Index n = 0; n < A.size();) {
        const double value = std::bit_cast<double>(random());
        if (std::isfinite(value)) A.data()[n++] = value;
    }
    return A;
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

void keep_keys(Problem& p, int count) {
    p.K = p.K.topRows(count).eval();
    p.V = p.V.topRows(count).eval();
}

Problem causal(Problem p) {
    p.causal = true;
    return p;
}

Problem with(Problem p, bool Switches::*fault) {
    p.switches.*fault = true;
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

void choose_rows(Random& random, Problem& p) {
    p.options.row = pick(random, 0, p.N() - 1);
    p.options.queries =
        pick(random, 0, 1) ? 1 : pick(random, 1, std::min(most_queries, p.N() - p.options.row));
}

Logits any_logits(Random& random) {
    Logits out;
    if (pick(random, 0, 3) > 0) out.softcap = choose(random, {0.5, 1, 2, 5, 30});
    if (pick(random, 0, 3) > 0) out.alibi = choose(random, {0, 0.0625, 0.5, 1, 3});
    if (pick(random, 0, 1)) out.sink = choose(random, {0, 1, -2.5, 0.3, 6});
    return out;
}

std::string describe(const Problem& p) {
    std::ostringstream out;
    out << "N " << p.N() << ", N_kv " << p.N_kv() << ", d " << p.d() << ", Br " << p.Br << ", Bc " << p.Bc
        << (p.causal ? ", causal" : "") << ", window " << (p.window ? std::to_string(*p.window) : "none")
        << ", scale " << p.softmax_scale() << ", element bytes " << p.element_bytes << ", largest |Q| "
        << p.Q.cwiseAbs().maxCoeff();
    if (p.logits.softcap) out << ", softcap " << *p.logits.softcap;
    if (p.logits.alibi) out << ", slope " << *p.logits.alibi;
    if (p.logits.sink) out << ", sink " << *p.logits.sink;
    return out.str();
}

// Both sequences end at the same position; a key ahead of the query has a positive distance.
static long long positions_ahead(const Problem& p, int r, int c) {
    return (static_cast<long long>(c) - p.N_kv()) - (static_cast<long long>(r) - p.N());
}

bool sees(const Problem& p, int r, int c) {
    const long long ahead = positions_ahead(p, r, c);
    if (p.causal && ahead > 0) return false;
    return !p.window || std::llabs(ahead) <= *p.window;
}

std::vector<int> positions_of_rank(const Problem& p, int N, int ranks, int rank) {
    const ShardKind kind = p.options.shards;
    const int pieces = kind == ShardKind::zigzag ? 2 * ranks : ranks;
    std::vector<int> out;
    for (int at = 0; at < N; ++at) {
        int piece = 0;
        while ((piece + 1) * N / pieces <= at) ++piece;
        const int owner = kind == ShardKind::striped                    ? at % ranks
                          : kind == ShardKind::zigzag && piece >= ranks ? pieces - 1 - piece
                                                                        : piece;
        if (owner == rank) out.push_back(at);
    }
    return out;
}

namespace {

// What the options leave open is half of the keys, and two sequences.
int keys_of_prefix(const Problem& p) { return p.options.prefix ? *p.options.prefix : p.N_kv() / 2; }
int sequences_of(const Problem& p) {
    if (p.options.sequences > 0) return p.options.sequences;
    return p.N() == 1 ? 1 : 2;
}

// Rows dealt out in turn: how many of them each gets.
std::vector<int> dealt(int rows, int among) {
    std::vector<int> out(static_cast<std::size_t>(among));
    for (int n = 0; n < rows; ++n) ++out[static_cast<std::size_t>(n % among)];
    return out;
}

// Whose row this is, if each has as many as it was dealt, one behind the other.
int owner_of(int row, const std::vector<int>& each) {
    int owner = 0;
    for (std::size_t n = 0; n < each.size() && row >= each[n]; ++n) row -= each[n], ++owner;
    return owner;
}

}  // namespace

void choose_sequences(Random& random, Problem& p) {
    Options& o = p.options;
    o.prefix.reset();
    if (pick(random, 0, 3) > 0) o.prefix = pick(random, 0, p.N_kv());
    o.sequences = pick(random, 0, std::min(p.N(), 4));
    o.pages = pick(random, 0, 1) * pick(random, 1, 4);
    o.page_table.clear();
    if (o.pages == 0 || pick(random, 0, 1) == 0) return;
    const int pages = static_cast<int>(blocks_of_sequences(p).size());
    for (int n = 0; n < pages; ++n) o.page_table.insert(o.page_table.begin() + pick(random, 0, n), n);
}

long long ahead_in_sequence(const Problem& p, int r, int c) {
    const int prefix = keys_of_prefix(p), among = sequences_of(p);
    const std::vector<int> queries = dealt(p.N(), among), keys = dealt(p.N_kv() - prefix, among);
    const int sequence = owner_of(r, queries);
    int key = std::min(c, prefix), behind = 0;
    for (int other = prefix; other < c; ++other)
        key += owner_of(other - prefix, keys) == owner_of(c - prefix, keys);
    for (int other = r + 1; other < p.N(); ++other) behind += owner_of(other, queries) == sequence;
    const int last = prefix + keys[static_cast<std::size_t>(sequence)] - 1;
    return key - (last - behind);
}

bool sees_in_sequence(const Problem& p, int r, int c) {
    const int prefix = keys_of_prefix(p), among = sequences_of(p);
    const bool has = c < prefix || owner_of(c - prefix, dealt(p.N_kv() - prefix, among)) ==
                                       owner_of(r, dealt(p.N(), among));
    const long long ahead = ahead_in_sequence(p, r, c);
    const bool in_window = !p.window || (ahead >= -*p.window && ahead <= *p.window);
    return has && in_window && (!p.causal || ahead <= 0);
}

namespace {

std::pair<int, int> share_of(const std::vector<int>& each, int nth) {
    int first = 0;
    for (int n = 0; n < nth; ++n) first += each[static_cast<std::size_t>(n)];
    return {first, each[static_cast<std::size_t>(nth)]};
}

}  // namespace

std::pair<int, int> queries_of_pass(const Problem& p, int pass) {
    return pass == 0 ? std::pair(0, p.N()) : share_of(dealt(p.N(), sequences_of(p)), pass - 1);
}

std::pair<int, int> keys_of_pass(const Problem& p, int pass) {
    const int prefix = keys_of_prefix(p);
    if (pass == 0) return {0, prefix};
    const auto [first, count] = share_of(dealt(p.N_kv() - prefix, sequences_of(p)), pass - 1);
    return {prefix + first, count};
}

std::vector<std::pair<int, int>> blocks_of_sequences(const Problem& p) {
    const int prefix = keys_of_prefix(p);
    std::vector<int> shares = dealt(p.N_kv() - prefix, sequences_of(p));
    shares.insert(shares.begin(), prefix);
    std::vector<std::pair<int, int>> out;
    int key = 0;
    for (const int share : shares)
        for (int n = 0; n < share; ++n, ++key) {
            const bool full = n % (p.options.pages > 0 ? p.options.pages : p.Bc) == 0;
            if (full) out.emplace_back(key, 0);
            ++out.back().second;
        }
    return out;
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

Dense dense_attention(const Problem& p, bool (*seen)(const Problem&, int r, int c),
                      long long (*ahead)(const Problem&, int r, int c)) {
    if (!seen) seen = sees;
    if (!ahead) ahead = positions_ahead;
    const auto wide = [](const Matrix& A) { return Dense::Table(A.cast<long double>()); };
    const Dense::Table Q = wide(p.Q) * static_cast<long double>(p.softmax_scale()), K = wide(p.K),
                       V = wide(p.V);
    Dense out;
    out.S = Q * K.transpose();
    Dense::Table size = Q.cwiseAbs() * K.cwiseAbs().transpose();
    if (p.logits.softcap) {
        const long double cap = *p.logits.softcap;
        out.S = out.S.unaryExpr([=](long double s) { return cap * std::tanh(s / cap); });
    }
    out.capped = out.S;
    for (int r = 0; p.logits.alibi && r < p.N(); ++r)
        for (int c = 0; c < p.N_kv(); ++c) {
            const long double bias = static_cast<long double>(*p.logits.alibi) * std::llabs(ahead(p, r, c));
            out.S(r, c) -= bias, size(r, c) += bias;
        }
    out.size = size.rowwise().maxCoeff();
    out.P.setZero(p.N(), p.N_kv());
    out.L.setConstant(p.N(), minus_infinity);
    for (int r = 0; r < p.N(); ++r) {
        for (int c = 0; c < p.N_kv(); ++c)
            if (!seen(p, r, c)) out.S(r, c) = minus_infinity;
        long double most = out.S.row(r).maxCoeff();
        if (p.logits.sink) most = std::max(most, static_cast<long double>(*p.logits.sink));
        if (most == minus_infinity) continue;
        for (int c = 0; c < p.N_kv(); ++c) out.P(r, c) = std::exp(out.S(r, c) - most);
        long double total = out.P.row(r).sum();
        if (p.logits.sink) total += std::exp(*p.logits.sink - most);
        out.L(r) = most + std::log(total);
        out.P.row(r) /= total;
    }
    out.O = out.P * V;
    out.weight = out.P * V.cwiseAbs();
    return out;
}

Dense::Table tolerance_O(const Dense& dense) {
    return dense.weight.array().colwise() * (1e-12L + 8 * epsilon * dense.size.array());
}

Dense::Table tolerance_L(const Dense& dense) {
    return 1e-12L * dense.L.array().abs().max(1.0L) + 8 * epsilon * dense.size.array();
}

std::string far_off(const Matrix& got, const Dense::Table& expected, const Dense::Table& slack) {
    if (got.rows() != expected.rows() || got.cols() != expected.cols()) return "other rows or columns";
    std::ostringstream out;
    for (int r = 0; r < got.rows(); ++r)
        for (int c = 0; c < got.cols(); ++c) {
            const long double off = std::abs(got(r, c) - expected(r, c));
            if (got(r, c) == expected(r, c) || (std::isfinite(off) && off <= slack(r, c))) continue;
            out << "[" << r << "," << c << "] is " << got(r, c) << ", not " << expected(r, c);
            return out.str();
        }
    return {};
}

}  // namespace tilewalk::test
