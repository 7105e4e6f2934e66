#include "core/problem/problem.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/problem/heads.h"
#include "core/problem/logits.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace tilewalk {

// Of core/problem/shared_prefix.cpp, whose header would close a circle here: nothing, or what is wrong with
// the prefix, the sequences or the page table.
std::optional<std::string> check_shared_prefix(const Problem& problem);
// The same of core/problem/savings.cpp: what is wrong with a threshold.
std::optional<std::string> check_savings(const Savings& savings);

double Scale::value(int d) const {
    if (kind == Kind::sqrt) return 1.0 / std::sqrt(static_cast<double>(d));
    return kind == Kind::number ? number : 1.0;
}

namespace {

using Sentence = std::optional<std::string>;

std::string shape(const Matrix& A) { return str(A.rows()) + " × " + str(A.cols()); }

Sentence check_finite(const char* name, const Matrix& A) {
    for (int r = 0; r < A.rows(); ++r)
        for (int c = 0; c < A.cols(); ++c)
            if (!std::isfinite(A(r, c)))
                return std::string(name) + "[" + str(r) + "," + str(c) + "] is " + format_number(A(r, c)) +
                       "; every input must be a finite number.";
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

Sentence check_projection(const Problem& p) {
    const Projection& w = *p.projection;
    if (p.N() != p.N_kv())
        return "With an input X queries and keys are the same tokens, but Q has " + counted(p.N(), "row") +
               " and K has " + str(p.N_kv()) + ".";
    if (w.X.rows() != p.N() || w.X.cols() < 1)
        return "X is " + shape(w.X) + " and Q is " + shape(p.Q) + "; X must have a row for each row of Q.";
    const std::pair<const char*, const Matrix*> weights[] = {
        {"W_Q", &w.W_Q}, {"W_K", &w.W_K}, {"W_V", &w.W_V}};
    for (const auto& [name, W] : weights)
        if (W->rows() != w.X.cols() || W->cols() != p.d())
            return std::string(name) + " is " + shape(*W) + "; with X " + shape(w.X) +
                   " and d = " + str(p.d()) + " it must be " + str(w.X.cols()) + " × " + str(p.d()) + ".";
    if (auto s = check_finite("X", w.X)) return s;
    for (const auto& [name, W] : weights)
        if (auto s = check_finite(name, *W)) return s;
    return {};
}

constexpr int most_parts = 64, most_workers = 64, most_ranks = 16;

// Parts without keys are allowed; keys without a part are not.
Sentence check_splits(const Options& options, int keys) {
    const auto parts = static_cast<int>(options.splits.size());
    if (parts > most_parts)
        return "The keys are split into " + str(parts) + " parts; at most " + str(most_parts) +
               " are merged.";
    std::int64_t sum = 0;
    for (const int n : options.splits) {
        if (n < 0) return "A part of the split has " + str(n) + " keys; it must have 0 or more.";
        sum += n;
    }
    if (parts > 0 && sum != keys)
        return "The parts of the split have " + counted(sum, "key") + " together, but K has " + str(keys) +
               ".";
    if (options.workers < 1 || options.workers > most_workers)
        return "There are " + str(options.workers) + " workers; expected 1 to " + str(most_workers) + ".";
    return {};
}

// Every rank has queries and keys, with zig-zag shards of both ends.
Sentence check_ranks(const Options& options, int queries, int keys) {
    if (options.ranks < 0 || options.ranks > most_ranks)
        return "There are " + str(options.ranks) + " ranks; expected 1 to " + str(most_ranks) + ".";
    const bool zigzag = options.shards == ShardKind::zigzag;
    const int needed = options.ranks * (zigzag ? 2 : 1), rows = std::min(queries, keys);
    if (rows >= needed) return {};
    return "A ring of " + str(options.ranks) + (options.ranks == 1 ? " rank" : " ranks") +
           (zigzag ? " with zig-zag shards" : "") + " needs " + str(needed) + " queries and keys or more; " +
           (rows == 1         ? std::string("there is one ") + (rows == queries ? "query." : "key.")
            : rows == queries ? "there are " + str(rows) + " queries."
                              : "there are " + str(rows) + " keys.");
}

// Those that are decoded together follow each other from the row on.
Sentence check_queries(const Options& options, int queries) {
    if (options.queries < 1 || options.queries > most_queries)
        return "There are " + str(options.queries) + " queries to decode together; expected 1 to " +
               str(most_queries) + ".";
    if (options.row + options.queries > queries)
        return "From row " + str(options.row) + " on Q has " + counted(queries - options.row, "row") + "; " +
               str(options.queries) + " queries cannot be decoded together.";
    return {};
}

Sentence check_lesson_options(const Problem& p) {
    const int positions = std::max(p.N(), p.N_kv());
    if (p.options.row < 0 || p.options.row >= p.N())
        return "The row is " + str(p.options.row) + "; Q has the rows 0 to " + str(p.N() - 1) + ".";
    if (auto s = check_queries(p.options, p.N())) return s;
    if (!std::isfinite(p.options.learning_rate) || std::abs(p.options.learning_rate) > 1e6)
        return "The learning rate is " + format_number(p.options.learning_rate) +
               "; it must be a number between −1,000,000 and 1,000,000.";
    if (!p.tokens.empty() && static_cast<int>(p.tokens.size()) != positions)
        return (p.tokens.size() == 1 ? "There is 1 token label"
                                     : "There are " + str(p.tokens.size()) + " token labels") +
               "; expected " +
               (positions == 1 ? "one" : "one for each of the " + str(positions) + " positions") +
               ", or none.";
    if (auto s = check_splits(p.options, p.N_kv())) return s;
    if (auto s = check_ranks(p.options, p.N(), p.N_kv())) return s;
    if (auto s = check_shared_prefix(p)) return s;
    return p.projection ? check_projection(p) : std::nullopt;
}

Sentence check_options(const Problem& p) {
    if (p.Br < 1) return "Br is " + str(p.Br) + "; a tile needs at least one query row.";
    if (p.Bc < 1) return "Bc is " + str(p.Bc) + "; a tile needs at least one key row.";
    if (p.window && *p.window < 0)
        return "The window is " + str(*p.window) + "; it must be 0 or more positions.";
    if (p.scale.kind == Scale::Kind::number && !std::isfinite(p.scale.number))
        return "The scale is " + format_number(p.scale.number) + "; it must be a finite number.";
    if (auto s = check_logits(p)) return s;
    if (p.element_bytes != 1 && p.element_bytes != 2 && p.element_bytes != 4 && p.element_bytes != 8)
        return "An element has " + str(p.element_bytes) + " bytes; expected 1, 2, 4 or 8.";
    return {};
}

// Masked scores and the first maximum are −∞: what holds them needs it.
Sentence check_precision(const Precision& f) {
    const std::pair<const char*, Format> stages[] = {
        {"scores", f.scores}, {"softmax", f.softmax}, {"accumulators", f.accumulator}};
    for (const auto& [stage, format] : stages)
        if (format == Format::e4m3)
            return std::string("The ") + stage +
                   " cannot be e4m3, which has no ∞; choose fp16 or a wider format.";
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
    if (!(v * p.N_kv() * std::exp2(p.savings.lazy.value_or(0)) < 1e300))
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

std::string Problem::query_token(int r) const {
    const int at = r % rows_of_head() + std::max(0, N_kv() - rows_of_head());
    return tokens.empty() ? "" : tokens[static_cast<std::size_t>(at)];
}

std::string Problem::key_token(int c) const {
    const int at = c + std::max(0, rows_of_head() - N_kv());
    return tokens.empty() ? "" : tokens[static_cast<std::size_t>(at)];
}

Matrix output_gradient(const Problem& p) { return p.dO ? *p.dO : Matrix::Ones(p.N(), p.d()); }

Problem without_faults(Problem p) {
    p.switches = {};
    p.precision = {};
    p.savings = {};
    return p;
}

void project(Problem& p) {
    if (!p.projection) return;
    p.Q = p.projection->X * p.projection->W_Q;
    p.K = p.projection->X * p.projection->W_K;
    p.V = p.projection->X * p.projection->W_V;
}

void choose_row(Options& options, int row, int of_rows) {
    options.row = std::clamp(row, 0, std::max(0, of_rows - 1));
    options.queries = std::clamp(options.queries, 1, std::max(1, of_rows - options.row));
}

void mark_changed(Problem& p) {
    if (!p.name.empty()) p.title += " (changed)";
    p.name.clear();
    p.watch.clear();
}

std::optional<std::string> validate(const Problem& p) {
    if (auto s = check_shapes(p)) return s;
    if (auto s = check_heads(p)) return s;
    if (auto s = check_options(p)) return s;
    if (auto s = check_finite("Q", p.Q)) return s;
    if (auto s = check_finite("K", p.K)) return s;
    if (auto s = check_finite("V", p.V)) return s;
    if (p.dO)
        if (auto s = check_finite("dO", *p.dO)) return s;
    if (auto s = check_lesson_options(p)) return s;
    if (auto s = check_precision(p.precision)) return s;
    if (auto s = check_savings(p.savings)) return s;
    return check_range(p);
}

std::optional<std::string> validate_gradients(const Problem& p) {
    const double q = p.Q.cwiseAbs().maxCoeff(), k = p.K.cwiseAbs().maxCoeff(), v = p.V.cwiseAbs().maxCoeff();
    const double gradient = p.dO ? p.dO->cwiseAbs().maxCoeff() : 1;
    const double dS = 2.0 * p.d() * gradient * v;  // bounds |dP − D|
    if (!(dS * (p.N() + p.N_kv()) * std::max({1.0, q, k}) * std::max(1.0, std::abs(p.softmax_scale())) <
          1e300))
        return "The largest |dO| is " + format_number(gradient) + " and the largest |V| is " +
               format_number(v) + "; the gradients would overflow double precision.";
    return {};
}

std::optional<std::string> validate_update(const Problem& p) {
    const auto largest = [](const Matrix& A) { return std::max(1.0, A.cwiseAbs().maxCoeff()); };
    const double q = largest(p.Q), k = largest(p.K), v = largest(p.V), scale = std::abs(p.softmax_scale());
    const double x = p.projection ? largest(p.projection->X) : 1, dO = p.dO ? largest(*p.dO) : 1;
    const double terms = std::max({p.N(), p.N_kv(), p.d()});
    const double dS = 2 * p.d() * dO * v, gradient = dS * terms * std::max({q, k, dO}) * std::max(1.0, scale);
    // Each weight moves by at most η Σ |x| |gradient|, each element of Q, K, V by that times Σ |x|.
    const double moved = std::abs(p.options.learning_rate) * terms * x * gradient * terms * x;
    const double score = std::max(1.0, scale) * p.d() * (q + moved) * (k + moved);
    const double sink = std::abs(p.logits.sink.value_or(0)) + moved * p.N();
    if (!(score < 1e300) || !(sink < 1e300) || !((v + moved) * terms * dO * p.d() < 1e300))
        return "With the learning rate " + format_number(p.options.learning_rate) +
               " the new weights could overflow double precision in the second forward pass; choose a "
               "smaller one.";
    return {};
}

Result<Problem> random_problem(int N, int d, std::uint64_t seed) {
    if (N < 1 || N > 4096) return Failure{"N is " + str(N) + "; a random problem has 1 to 4096 rows."};
    if (d < 1 || d > 1024) return Failure{"d is " + str(d) + "; a random problem has 1 to 1024 columns."};
    // The engine's output is fixed by the standard; its distributions are not, so we take the remainder.
    std::mt19937_64 generator(seed);
    Problem p;
    p.title = "Random " + str(N) + " × " + str(d) + ", seed " + str(seed);
    p.watch = "Random numbers between −2 and 2: every seed is another problem.";
    p.seed = seed;
    p.Q = random_matrix(generator, N, d);
    p.K = random_matrix(generator, N, d);
    p.V = random_matrix(generator, N, d);
    p.dO = random_matrix(generator, N, d);
    p.scale.kind = Scale::Kind::sqrt;
    p.Br = p.Bc = N <= 8 ? std::min(N, 2) : N <= 32 ? 4 : N <= 128 ? 8 : 32;
    return p;
}

}  // namespace tilewalk
