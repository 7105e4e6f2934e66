#include "tests/core/class/question_reference.h"

#include "core/lessons/merge/merge.h"
#include "core/lessons/merge/split_kv.h"
#include "core/walk/lesson.h"

#include "tests/core/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <regex>

namespace tilewalk::test {

namespace {

const long double minus_infinity = -std::numeric_limits<long double>::infinity();
std::string without_unbreakable(const std::string& text) {
    return std::regex_replace(text, std::regex("\u00A0"), " ");
}

}  // namespace

QuestionReference::QuestionReference(const Problem& problem)
    : p_(problem), dO_(output_gradient(problem)), dense_(dense_attention(problem)),
      gradients_(dense_gradients(problem, dO_)) {}

long double QuestionReference::raw_score(int r, int c) const {
    return p_.Q.row(r).cast<long double>().dot(p_.K.row(c).cast<long double>());
}

long double QuestionReference::score_at(Op op, const CellRef& cell) const {
    const int r = cell.row, c = cell.col;
    if (op == Op::cap_gradient) return gradients_.dS(r, c);
    const long double capped = dense_.capped(r, c);
    const int apart = std::abs((c - p_.N_kv()) - (r - p_.N()));
    return op == Op::softcap ? capped
                             : capped - p_.logits.alibi.value_or(0) * static_cast<long double>(apart);
}

long double QuestionReference::maximum(int r, int first, int end) const {
    long double most = minus_infinity;
    for (int c = first; c < std::min(end, p_.N_kv()); ++c) most = std::max(most, dense_.S(r, c));
    return most;
}

long double QuestionReference::weight(int r, int c, long double m) const {
    const long double S = dense_.S(r, c);
    return S == minus_infinity ? 0 : std::exp(S - m);
}

long double QuestionReference::sum(int r, int end, long double m) const {
    long double out = 0;
    for (int c = 0; c < std::min(end, p_.N_kv()); ++c) out += weight(r, c, m);
    return out;
}

long double QuestionReference::output(int r, int end, int x, long double m) const {
    long double out = 0;
    for (int c = 0; c < std::min(end, p_.N_kv()); ++c) out += weight(r, c, m) * p_.V(c, x);
    return out;
}

// α where the maximum goes from `old` to `now`; 0 where nothing has been seen.
static long double correction(long double old, long double now) {
    return old == minus_infinity ? 0 : std::exp(old - now);
}

long double QuestionReference::tiled(const Step& step, bool first_version, const CellRef& cell) const {
    const int r = cell.row, x = cell.col, N = p_.N_kv();
    const int begin = std::max(0, step.j) * p_.Bc, end = step.j < 0 ? N : begin + p_.Bc;
    const long double m = maximum(r, 0, end);
    switch (step.op) {
    case Op::scores: return p_.softmax_scale() * raw_score(r, x);
    case Op::tile_max: return maximum(r, begin, end);
    case Op::new_max: return m;
    case Op::correction: return correction(maximum(r, 0, begin), m);
    case Op::exponentials: return weight(r, x, m);
    case Op::row_sum: return sum(r, end, m);
    case Op::output: return output(r, end, x, m) / (first_version ? sum(r, end, m) : 1);
    case Op::normalize: return dense_.O(r, x);
    case Op::store: return dense_.L(r);
    default: return std::nanl("");
    }
}

// dV, dK and dQ grow: up to this query block, or up to this key block.
long double QuestionReference::tiled_backward(const Trace& trace, const Step& step,
                                              const CellRef& cell) const {
    const int r = cell.row, x = cell.col, rows = std::min(p_.N(), (step.i + 1) * p_.Br),
              keys = std::min(p_.N_kv(), (step.j + 1) * p_.Bc);
    const long double scale = p_.softmax_scale();
    switch (step.op) {
    case Op::dv: return dense_.P.col(r).head(rows).dot(dO_.col(x).head(rows).cast<long double>());
    case Op::dk:
        return scale * gradients_.dS.col(r).head(rows).dot(p_.Q.col(x).head(rows).cast<long double>());
    case Op::dq:
        return scale *
               gradients_.dS.row(r).head(keys).transpose().dot(p_.K.col(x).head(keys).cast<long double>());
    default: return dense(trace, step, cell);
    }
}

namespace {

// Of a softmax lesson; 0: the textbook's.
int passes_of(const std::string& lesson) { return lesson == "softmax-dense" ? 0 : lesson[8] - '0'; }

}  // namespace

long double QuestionReference::one_row(const Step& step, int passes, const CellRef& cell) const {
    const int r = p_.options.row, n = step.j + 1, N = p_.N_kv(), x = cell.col;
    const bool textbook = passes == 0;  // nothing is subtracted
    const long double so_far = textbook ? 0 : maximum(r, 0, n), whole = textbook ? 0 : maximum(r, 0, N),
                      all = sum(r, N, whole),
                      total = maximum(r, 0, N) == minus_infinity ? 1 : all;  // no key: nothing to divide
    const bool final_max = passes == 3 && step.phase > 0;
    const long double m = final_max || (passes == 2 && step.phase == 1) ? whole : so_far;
    switch (step.op) {
    case Op::new_max: return so_far;
    case Op::correction: return correction(maximum(r, 0, n - 1), so_far);
    case Op::exponentials: return weight(r, n - 1, m);
    case Op::row_sum: return sum(r, n, m);
    case Op::divide: return weight(r, n - 1, whole) / total;
    case Op::output:
        if (passes != 1) return output(r, n, x, whole) / total;
        return output(r, n, x, so_far) / (p_.options.normalised ? sum(r, n, so_far) : 1);
    case Op::normalize: return output(r, N, x, whole) / total;
    default: return std::nanl("");
    }
}

long double QuestionReference::dense(const Trace& trace, const Step& step, const CellRef& cell) const {
    const int r = cell.row, x = cell.col, N = p_.N_kv();
    const long double m = step.op == Op::load ? 0 : r < p_.N() ? maximum(r, 0, N) : 0;
    const bool attention = std::string(trace.lesson().id) == "attention";
    switch (step.op) {
    case Op::scores: return raw_score(r, x) * (attention ? 1 : static_cast<long double>(p_.softmax_scale()));
    case Op::scale: return raw_score(r, x) * p_.softmax_scale();
    case Op::row_max: return m;
    case Op::exponentials: return weight(r, x, m);
    case Op::row_sum: return sum(r, N, m);
    case Op::divide:
    case Op::recompute: return dense_.P(r, x);
    case Op::output: return dense_.O(r, x);
    case Op::dv: return gradients_.dV(r, x);
    case Op::dp: return gradients_.dP(r, x);
    case Op::row_dot:
    case Op::preprocess: return gradients_.D(r);
    case Op::ds: return gradients_.dS_capped(r, x);
    case Op::dq: return gradients_.dQ(r, x);
    case Op::dk: return gradients_.dK(r, x);
    default: return training(step, cell);
    }
}

// Q = X W_Q and so on; without a projection X is the identity.
long double QuestionReference::training(const Step& step, const CellRef& cell) const {
    const int r = cell.row, x = cell.col;
    if (step.op == Op::loss) return dense_.O.cwiseProduct(dO_.cast<long double>()).sum();
    const bool of_Q = cell.slot == Slot::Q || cell.slot == Slot::W_Q || cell.slot == Slot::dW_Q;
    const bool of_K = cell.slot == Slot::K || cell.slot == Slot::W_K || cell.slot == Slot::dW_K;
    const Matrix& A = of_Q ? p_.Q : of_K ? p_.K : p_.V;
    if (step.op == Op::project) return A(r, x);
    const Dense::Table& gradient = of_Q ? gradients_.dQ : of_K ? gradients_.dK : gradients_.dV;
    long double dW = 0;
    for (int n = 0; n < A.rows(); ++n)
        dW += (p_.projection ? p_.projection->X(n, r) : n == r ? 1.0L : 0.0L) * gradient(n, x);
    if (step.op == Op::weight_gradient) return dW;
    if (step.op != Op::update) return std::nanl("");
    const Matrix& W = !p_.projection ? A
                      : of_Q         ? p_.projection->W_Q
                      : of_K         ? p_.projection->W_K
                                     : p_.projection->W_V;
    return W(r, x) - p_.options.learning_rate * dW;
}

// The keys of a tile of parts: of one part, or of all parts that a merge has taken in by then.
struct KeysOfTile {
    int first, second;
    bool first_part;
};
static KeysOfTile keys_of_tile(const Problem& p, int tile) {
    const auto parts = merge_parts(p);
    const auto keys = [&](int first, int last) {
        const KeyPart &a = parts[static_cast<std::size_t>(first)], &b = parts[static_cast<std::size_t>(last)];
        return KeysOfTile{a.first, b.first + b.count, first == 0};
    };
    if (tile < std::ssize(parts)) return keys(tile, tile);
    for (const MergeNode& node : merge_plan(static_cast<int>(parts.size()), p.options.merge))
        if (node.into == tile) return keys(node.first, node.last);
    return {0, p.N_kv(), true};
}

// Of a tile of parts, or of the whole row; weights by what they are measured from.
long double QuestionReference::merged(const Trace& trace, int k, const CellRef& cell) const {
    const int r = p_.options.row;
    const KeysOfTile whole{0, p_.N_kv(), true};
    const auto of = [&](KeysOfTile keys, int column) {
        // The sink counts in the first part, whether it has keys or not.
        const bool sink = p_.logits.sink && keys.first_part;
        const long double most = maximum(r, keys.first, keys.second),
                          m = sink ? std::max<long double>(most, *p_.logits.sink) : most;
        long double l = sink ? std::exp(*p_.logits.sink - m) : 0, O = 0;
        for (int c = keys.first; c < keys.second; ++c) {
            l += weight(r, c, m);
            O += column < 0 ? 0 : weight(r, c, m) * p_.V(c, column);
        }
        return std::array<long double, 3>{m, l, O};
    };
    const bool divided = p_.options.parts == PartForm::normalised;
    const auto keys = info(cell.slot).hbm || cell.slot < Slot::m_part ? whole : keys_of_tile(p_, cell.row);
    const auto [m, l, O] = of(keys, one_column(cell.slot) ? -1 : cell.col);
    switch (cell.slot) {
    case Slot::m_part:
    case Slot::m: return m;
    case Slot::l_part:
    case Slot::l: return l;
    case Slot::L_part:
    case Slot::Li:
    case Slot::L: return m + std::log(l);
    case Slot::w_part: break;
    default:
        return O / (l > 0 && (divided || trace.step(k).op == Op::normalize || cell.slot == Slot::O) ? l : 1);
    }
    const Access& to = trace.reads(k).front();
    const auto [m_all, l_all, none] =
        of(to.slot == Slot::m || to.slot == Slot::Li ? whole : keys_of_tile(p_, to.tile), -1);
    if (m == minus_infinity) return 0;
    return std::exp(m - m_all) * (divided ? l / l_all : 1);
}

// Of one split, from its first key block on; or of all of them.
long double QuestionReference::of_split(const Trace& trace, int k, const CellRef& cell) const {
    const bool in_table = cell.slot >= Slot::m_part && cell.slot <= Slot::L_parts;
    const int n = p_.options.queries, r = in_table ? p_.options.row + cell.row % n : cell.row, x = cell.col,
              split = split_of(trace, k);
    const Step& step = trace.step(k);
    const std::vector<SplitBlocks> all = split_blocks(p_);
    const auto keys = [&](int s) {
        const SplitBlocks& blocks = all[static_cast<std::size_t>(s)];
        return std::pair(blocks.first * p_.Bc, std::min(p_.N_kv(), (blocks.first + blocks.count) * p_.Bc));
    };
    struct Found {
        long double m, l, O;
    };
    const auto look = [&](int from, int to, bool with_sink) {
        const long double sink = with_sink && p_.logits.sink ? *p_.logits.sink : minus_infinity;
        Found out{std::max(maximum(r, from, to), sink), 0, 0};
        if (sink != minus_infinity) out.l = std::exp(sink - out.m);
        for (int c = from; c < std::min(to, p_.N_kv()); ++c) {
            out.l += weight(r, c, out.m);
            out.O += x < p_.d() ? weight(r, c, out.m) * p_.V(c, x) : 0;
        }
        return out;
    };
    if (split < 0) {
        const Found whole = look(0, p_.N_kv(), true);
        if (cell.slot != Slot::w_part)
            return one_column(cell.slot) ? whole.m + std::log(whole.l) : dense_.O(r, x);
        const int of = cell.row / n;
        const auto [from, to] = keys(of);
        const Found part = look(from, to, of == 0);
        return part.l == 0 ? 0 : std::exp(part.m - whole.m) * part.l / whole.l;
    }
    const auto [first, end] = keys(split);
    const int begin = std::max(0, step.j) * p_.Bc, now = step.j < 0 ? end : begin + p_.Bc;
    const Found so_far = look(first, now, split == 0), before = look(first, begin, split == 0);
    switch (step.op) {
    case Op::scores: return p_.softmax_scale() * raw_score(r, x);
    case Op::tile_max: return maximum(r, begin, now);
    case Op::new_max: return so_far.m;
    case Op::correction: return correction(before.m, so_far.m);
    case Op::exponentials: return weight(r, x, so_far.m);
    case Op::row_sum: return so_far.l;
    case Op::output: return so_far.O;
    case Op::normalize: return so_far.O / (so_far.l > 0 ? so_far.l : 1);
    case Op::store: return so_far.m + std::log(so_far.l);
    default: return std::nanl("");
    }
}

// Of the prefix, of the own keys of one sequence, or, where it merges, of both.
long double QuestionReference::of_cascade(const Step& step, const CellRef& cell) const {
    const auto [first_query, queries] = queries_of_pass(p_, step.phase);
    const auto [first, count] = keys_of_pass(p_, step.phase);
    const bool in_part = cell.slot >= Slot::m_part && cell.slot <= Slot::L_part;
    const int r = in_part ? first_query + cell.row % queries : cell.row, x = cell.col;
    struct Found {
        long double m, l, O;
        long double lse() const { return m + std::log(l); }
        long double average() const { return l > 0 ? O / l : 0; }
    };
    const auto look = [&](int from, int to) {
        Found out{maximum(r, from, to), 0, 0};
        for (int c = from; c < to; ++c) {
            out.l += weight(r, c, out.m);
            out.O += x < p_.d() ? weight(r, c, out.m) * p_.V(c, x) : 0;
        }
        return out;
    };
    const auto [begin, keys] =
        step.j < 0 ? std::pair(first, count) : blocks_of_sequences(p_)[static_cast<std::size_t>(step.j)];
    const Found so_far = look(first, begin + keys), shared = look(0, keys_of_pass(p_, 0).second);
    const long double m = std::max(shared.m, so_far.m);
    const auto brought = [&](const Found& found, long double what) {
        return found.l > 0 ? std::exp(found.m - m) * what : 0;
    };
    const Found both{m, brought(shared, shared.l) + brought(so_far, so_far.l),
                     brought(shared, shared.O) + brought(so_far, so_far.O)};
    switch (step.op) {
    case Op::scores: return p_.softmax_scale() * raw_score(r, x);
    case Op::tile_max: return maximum(r, begin, begin + keys);
    case Op::new_max: return so_far.m;
    case Op::correction: return correction(maximum(r, first, begin), so_far.m);
    case Op::exponentials: return weight(r, x, so_far.m);
    case Op::row_sum: return so_far.l;
    case Op::output: return so_far.O;
    case Op::normalize: return one_column(cell.slot) ? so_far.lse() : so_far.average();
    case Op::merge_weights: {
        const Found& part = cell.row < queries ? shared : so_far;
        return both.l > 0 ? brought(part, part.l) / both.l : 0;  // −∞ − (−∞) weighs nothing
    }
    case Op::merge_lse: return both.lse();
    case Op::merge_output: return both.average();
    case Op::store: {
        const Found& found = step.phase == 0 ? shared : both;
        return one_column(cell.slot) ? found.lse() : found.average();
    }
    default: return std::nanl("");
    }
}

// Of the shard of one rank, from its first round to that of the step.
long double QuestionReference::of_ring(const Trace& trace, int k, const CellRef& cell) const {
    const Step& step = trace.step(k);
    const int ranks = trace.workers(), rank = step.when.worker, x = cell.col;
    const std::vector<int> own = positions_of_rank(p_, p_.N(), ranks, rank);
    const int n = static_cast<int>(own.size()), place = cell.row / n;
    const int r = info(cell.slot).hbm ? cell.row : own[static_cast<std::size_t>(cell.row % n)];
    struct Found {
        long double m = minus_infinity, l = 0, O = 0;
    };
    // The keys of so many ranks, counted back from one
    const auto keys_of_ranks = [&](int first, int count) {
        std::vector<int> keys;
        for (int t = 0; t < count; ++t)
            for (const int key :
                 positions_of_rank(p_, p_.N_kv(), ranks, ((first - t) % ranks + ranks) % ranks))
                keys.push_back(key);
        return keys;
    };
    const auto look = [&](int first, int count, bool with_sink) {
        const std::vector<int> keys = keys_of_ranks(first, count);
        Found out;
        if (with_sink && p_.logits.sink) out.m = *p_.logits.sink;
        for (const int key : keys) out.m = std::max(out.m, dense_.S(r, key));
        if (with_sink && p_.logits.sink) out.l = std::exp(*p_.logits.sink - out.m);
        for (const int key : keys) {
            out.l += weight(r, key, out.m);
            out.O += x < p_.d() ? weight(r, key, out.m) * p_.V(key, x) : 0;
        }
        return out;
    };
    const int round = step.j < 0 ? ranks : ((rank - step.j) % ranks + ranks) % ranks;
    const auto of = [&](const Found& found) {
        return one_column(cell.slot) ? info(cell.slot).role == Role::m ? found.m : found.l : found.O;
    };
    switch (step.op) {
    case Op::scores:
        return p_.softmax_scale() *
               raw_score(r, positions_of_rank(p_, p_.N_kv(), ranks, step.j)[static_cast<std::size_t>(x)]);
    case Op::part: {
        // The sink counts with the first keys of which some query of the rank sees one.
        const std::vector<int> earlier = keys_of_ranks(rank, round);
        const bool first = std::ranges::all_of(earlier, [&](int key) {
            return std::ranges::all_of(own, [&](int q) { return dense_.S(q, key) == minus_infinity; });
        });
        return of(look(step.j, 1, first));
    }
    case Op::merge_weights: {
        const bool fresh = place % 2 == 1;
        const Found from = fresh ? look(step.j, 1, false) : look(rank, round, true),
                    now = look(rank, round + 1, true);
        return from.m == minus_infinity ? 0 : std::exp(from.m - now.m);
    }
    case Op::merge_max:
    case Op::merge_sum:
    case Op::merge_output: return of(look(rank, round + 1, true));
    case Op::normalize: return dense_.O(r, x);
    case Op::store: return cell.slot == Slot::O ? dense_.O(r, x) : dense_.L(r);
    default: return std::nanl("");
    }
}

// What the queries of one rank do to the keys of another, and what has been added up by then.
long double QuestionReference::of_ring_backward(const Trace& trace, int k, const CellRef& cell) const {
    const Step& step = trace.step(k);
    const int ranks = trace.workers(), rank = step.when.worker, x = cell.col;
    const auto queries = [&](int r) { return positions_of_rank(p_, p_.N(), ranks, r); };
    const auto keys = [&](int r) { return positions_of_rank(p_, p_.N_kv(), ranks, r); };
    const auto at = [](const std::vector<int>& all, int row) { return all[static_cast<std::size_t>(row)]; };
    const long double scale = p_.softmax_scale();
    const auto value_share = [&](int r, int key) {
        long double sum = 0;
        for (const int q : queries(r)) sum += dense_.P(q, key) * dO_(q, x);
        return sum;
    };
    const auto key_share = [&](int r, int key) {
        long double sum = 0;
        for (const int q : queries(r)) sum += gradients_.dS(q, key) * p_.Q(q, x);
        return scale * sum;
    };
    const int rounds = step.j < 0 ? 0 : ((rank - step.j) % ranks + ranks) % ranks;
    switch (step.op) {
    case Op::preprocess: return gradients_.D(at(queries(rank), cell.row));
    case Op::scores: return scale * raw_score(at(queries(rank), cell.row), at(keys(step.j), x));
    case Op::recompute: return dense_.P(at(queries(rank), cell.row), at(keys(step.j), x));
    case Op::dp: return gradients_.dP(at(queries(rank), cell.row), at(keys(step.j), x));
    case Op::ds: return gradients_.dS_capped(at(queries(rank), cell.row), at(keys(step.j), x));
    case Op::dv: return value_share(rank, at(keys(step.j), cell.row));
    case Op::dk: return key_share(rank, at(keys(step.j), cell.row));
    case Op::dq: {
        long double sum = 0;
        for (int t = 0; t <= rounds; ++t)
            for (const int key : keys(((rank - t) % ranks + ranks) % ranks))
                sum += gradients_.dS(at(queries(rank), cell.row), key) * p_.K(key, x);
        return scale * sum;
    }
    case Op::add_share: {
        long double sum = 0;
        for (int t = 0; t <= rounds; ++t) {
            const int r = (step.j + t) % ranks;
            sum += info(cell.slot).role == Role::V ? value_share(r, cell.row) : key_share(r, cell.row);
        }
        return sum;
    }
    default: return std::nanl("");
    }
}

Problem QuestionReference::updated() const {
    Problem out = p_;
    const auto update = [&](Matrix& A, const Matrix* W, const Dense::Table& gradient) {
        const Matrix X = p_.projection ? p_.projection->X : Matrix::Identity(A.rows(), A.rows());
        const Matrix old = W ? *W : A;
        A = X * (old - p_.options.learning_rate * X.transpose() * gradient.cast<double>());
    };
    const Projection* from = p_.projection ? &*p_.projection : nullptr;
    update(out.Q, from ? &from->W_Q : nullptr, gradients_.dQ);
    update(out.K, from ? &from->W_K : nullptr, gradients_.dK);
    update(out.V, from ? &from->W_V : nullptr, gradients_.dV);
    return out;
}

long double QuestionReference::value(const Trace& trace, int k, const CellRef& cell) const {
    const std::string lesson = trace.lesson().id;
    const Step& step = trace.step(k);
    const bool of_scores = step.op == Op::softcap || step.op == Op::bias || step.op == Op::cap_gradient;
    if (lesson == "cascade") {
        if (step.op == Op::bias)
            return dense_.capped(cell.row, cell.col) -
                   p_.logits.alibi.value_or(0) *
                       static_cast<long double>(std::llabs(ahead_in_sequence(p_, cell.row, cell.col)));
        if (of_scores) return score_at(step.op, cell);
        QuestionReference in_sequences = *this;
        in_sequences.dense_ = dense_attention(p_, sees_in_sequence, ahead_in_sequence);
        return in_sequences.of_cascade(step, cell);
    }
    if (of_scores && lesson.starts_with("ring")) {
        const auto position = [&](int N, int rank, int row) {
            return positions_of_rank(p_, N, trace.workers(), rank)[static_cast<std::size_t>(row)];
        };
        return score_at(
            step.op, {cell.slot, position(p_.N(), step.i, cell.row), position(p_.N_kv(), step.j, cell.col)});
    }
    if (of_scores && !(lesson == "training-step" && step.phase == 3)) return score_at(step.op, cell);
    if (of_scores) return QuestionReference(updated()).score_at(step.op, cell);
    if (lesson == "flash-forward" || lesson == "flash-forward-v1")
        return tiled(step, lesson != "flash-forward", cell);
    if (lesson == "flash-backward") return tiled_backward(trace, step, cell);
    if (lesson.starts_with("softmax")) return one_row(step, passes_of(lesson), cell);
    if (lesson == "merge") return merged(trace, k, cell);
    if (lesson == "split-kv") return of_split(trace, k, cell);
    if (lesson == "ring") return of_ring(trace, k, cell);
    if (lesson == "ring-backward") return of_ring_backward(trace, k, cell);
    if (lesson == "training-step" && step.phase == 3)
        return QuestionReference(updated()).dense(trace, step, cell);
    return dense(trace, step, cell);
}

double worked_out_from(const std::string& printed) {
    const std::string text = without_unbreakable(printed);
    std::smatch m;
    if (std::regex_search(
            text, m,
            std::regex("Each of the (\\d+) × (\\d+) numbers takes (\\d+)[^0-9]+(\\d+)[^0-9]+addition"))) {
        const double each =
            std::stod(m[3]) + std::stod(m[4]) + (text.find("by the scale") != std::string::npos);
        return std::stod(m[1]) * std::stod(m[2]) * each;
    }
    double bytes = 0, each = 4;
    if (std::regex_search(text, m, std::regex("HBM has given (\\d+) bytes"))) bytes = std::stod(m[1]);
    if (std::regex_search(text, m, std::regex(", (\\d+)[^0-9]{1,3}bytes? a number"))) each = std::stod(m[1]);
    std::string fours;
    if (const std::size_t but = text.find("but 4 for those of "); but != std::string::npos)
        fours = text.substr(but + 19);
    const std::regex tile("([^ ]+) \\((\\d+) × (\\d+)\\)");
    for (std::sregex_iterator n(text.begin(), text.end(), tile), end; n != end; ++n) {
        const bool four = fours.find((*n)[1].str()) != std::string::npos;
        bytes += std::stod((*n)[2]) * std::stod((*n)[3]) * (four ? 4 : each);
    }
    if (std::regex_search(text, m, std::regex("would (\\d+) sequences read"))) bytes *= std::stod(m[1]);
    return bytes;
}

namespace {

// "(1; 0.1353)" or "1"
std::vector<std::string> values_in(const std::string& text) {
    std::vector<std::string> out;
    const std::regex value("[^ ;()]+");
    for (std::sregex_iterator n(text.begin(), text.end(), value), end; n != end; ++n) out.push_back(n->str());
    return out;
}

using Numbers = std::vector<double>;

Numbers read_all(const std::vector<std::string>& texts) {
    Numbers out;
    for (const std::string& text : texts) out.push_back(static_cast<double>(read_number(text).value().value));
    return out;
}

double total(const Numbers& a) { return std::accumulate(a.begin(), a.end(), 0.0); }
double dot(const Numbers& a, const Numbers& b) {
    return a.size() == b.size() ? std::inner_product(a.begin(), a.end(), b.begin(), 0.0) : std::nan("");
}
double weight_of(double score, double m) { return std::isinf(score) ? 0 : std::exp(score - m); }
double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

// What a step makes of its numbers, which stand in the order of its formula.
struct Worked {
    std::vector<Numbers> g;
    Numbers now;  // of the number that has two values
    double scale = 1, rate = 0, cap = 0, slope = 0, distance = 0;
    int passes = 0;

    double one(std::size_t n) const { return g.at(n).at(0); }
    bool grows() const { return g.size() == 3; }  // the first is the sum so far
    double output(bool first_version) const {
        if (passes > 1) return one(0) + one(2) * one(1);
        if (passes == 1 && g.size() == 4) return one(2) * one(0) + one(3) * one(1);
        if (passes == 1) return one(0) * ratio(one(3), now[0]) * one(2) + ratio(one(4), now[0]) * one(1);
        if (g.size() == 2) return dot(g[0], g[1]);
        if (first_version) return ratio(one(0) * one(1) * one(2) + dot(g[3], g[4]), now[0]);
        return one(0) * one(1) + dot(g[2], g[3]);
    }
    double result(Op op, bool first_version) const {
        switch (op) {
        case Op::scale: return scale * one(0);
        case Op::softcap: return cap * std::tanh(one(0) / cap);
        case Op::bias: return one(0) - slope * distance;
        case Op::cap_gradient: return one(0) * (1 - one(1) / cap * (one(1) / cap));
        case Op::scores: return scale * dot(g.at(0), g.at(1));
        case Op::row_max:
        case Op::tile_max: return *std::ranges::max_element(g.at(0));
        case Op::new_max: return std::max(one(0), one(1));
        case Op::correction: return weight_of(one(0), now.at(0));
        case Op::exponentials:
        case Op::recompute: return weight_of(one(0), g.size() == 1 ? 0 : one(1));
        case Op::row_sum:
            if (g.size() == 1) return total(g[0]);
            return g.size() == 2 ? one(0) + one(1) : one(0) * one(1) + total(g[2]);
        case Op::divide:
            if (passes && g.size() == 2) return ratio(weight_of(one(0), 0), one(1));
            return passes ? ratio(weight_of(one(0), one(1)), one(2)) : ratio(one(0), one(1));
        case Op::normalize: return ratio(one(0), one(1));
        case Op::output: return output(first_version);
        case Op::store: return one(0) + std::log(one(1));
        case Op::ds: return one(0) * (one(1) - one(2));
        case Op::dv:
        case Op::dk:
        case Op::dq: return grows() ? one(0) + scale * dot(g[1], g[2]) : scale * dot(g.at(0), g.at(1));
        case Op::update: return one(0) - rate * one(1);
        case Op::add_share: return one(0) + one(1);
        case Op::loss:
            return g.size() == 2 ? dot(g[0], g[1]) : std::nan("");  // of several rows nobody is asked
        default: return dot(g.at(0), g.at(1));
        }
    }
};

}  // namespace

std::vector<GivenNumber> given_by(const std::string& question) {
    const std::string text = without_unbreakable(question);
    const std::size_t from = text.find(" With "), to = text.find(", what will ");
    if (from == std::string::npos || to == std::string::npos) return {};
    const std::string part = text.substr(from, to - from);
    const std::regex entry("([^ ]+) = (\\([^)]*\\)|[^ ,]+)( before and (\\([^)]*\\)|[^ ,]+) now)?");
    std::vector<GivenNumber> out;
    for (std::sregex_iterator n(part.begin(), part.end(), entry), end; n != end; ++n)
        out.push_back({(*n)[1], values_in((*n)[2]), values_in((*n)[4])});
    return out;
}

namespace {

// A part, or a merge of parts; its numbers stand slot after slot, part after part.
double merged_from_given(const Trace& trace, const Question& q, const std::vector<GivenNumber>& given) {
    std::vector<Numbers> of(2);  // of the first slot, and of the others
    for (const GivenNumber& one : given) {
        const bool first = one.name.substr(0, 1) == given.front().name.substr(0, 1);
        for (const double v : read_all(one.before)) of[first ? 0 : 1].push_back(v);
    }
    const Numbers &a = of[0], &b = of[1];
    const double most = a.empty() ? 0 : *std::ranges::max_element(a);
    double sum = 0, values = 0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        sum += weight_of(a[n], most);
        values += n < b.size() ? weight_of(a[n], most) * b[n] : 0;
    }
    const Slot about = q.explanation.target.slot;
    switch (trace.step(q.step).op) {
    case Op::merge_max: return most;
    case Op::merge_lse: return most + std::log(sum);
    case Op::merge_weights: return weight_of(a.at(0), a.size() > 1 ? a[1] : b.at(0));
    case Op::part:
        if (about == Slot::m_part || about == Slot::m) return most;
        if (about == Slot::l_part || about == Slot::l) return sum;
        if (about == Slot::L_part) return most + std::log(sum);
        return values / (trace.problem().options.parts == PartForm::normalised ? sum : 1);
    default: return dot(a, b);
    }
}

bool is_of_parts(Op op) { return op >= Op::part && op <= Op::merge_output; }

}  // namespace

double worked_out_from_given(const Trace& trace, const Question& q) {
    if (is_of_parts(trace.step(q.step).op)) return merged_from_given(trace, q, given_by(q.text));
    const std::string lesson = trace.lesson().id;
    Worked work;
    if (lesson.starts_with("softmax")) work.passes = lesson == "softmax-dense" ? 2 : passes_of(lesson);
    for (const GivenNumber& given : given_by(q.text)) {
        const Numbers values = read_all(given.before);
        if (given.name == "scale")
            work.scale = values.at(0);
        else if (given.name == "η")
            work.rate = values.at(0);
        else if (given.name == "cap")
            work.cap = values.at(0);
        else if (given.name == "slope")
            work.slope = values.at(0);
        else if (given.name == "distance")
            work.distance = values.at(0);
        else
            work.g.push_back(values);
        if (!given.now.empty()) work.now = read_all(given.now);
    }
    return work.result(trace.step(q.step).op, lesson == "flash-forward-v1");
}

namespace {

using Names = std::set<std::string>;

Names read_by_row(int passes, int phase) { return phase + 1 == passes ? Names{"x", "V"} : Names{"x"}; }

Names read_by_tiles(const std::string& lesson, const Step& step) {
    switch (step.op) {
    case Op::load_kv: return {"K", "V"};
    case Op::load_q: return lesson == "flash-backward" ? Names{"Q", "dO", "L", "D"} : Names{"Q"};
    case Op::load_state: return {"O", "m", "ℓ"};
    case Op::preprocess: return {"O", "dO"};
    case Op::dq: return {"dQ"};
    case Op::dk: return {"dK"};
    case Op::dv: return {"dV"};
    default: return {};
    }
}

Names read_by_kernels(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const std::string target = info(explain(trace, k).target.slot).name,
                      which = target.substr(target.size() - 1);
    const bool two_inputs = which != "Q" && trace.problem().N() != trace.problem().N_kv();
    const std::string X = two_inputs ? "X_kv" : "X";
    switch (step.op) {
    case Op::load: return step.phase == 0 ? Names{"Q", "K"} : step.phase == 1 ? Names{"S"} : Names{"P", "V"};
    case Op::project: return {X, "W_" + which};
    case Op::scores: return {"Q", "K"};
    case Op::bias:
    case Op::mask:
    case Op::cap_gradient:
    case Op::row_max: return {"S"};
    case Op::output: return {"P", "V"};
    case Op::loss: return {"dO", "O"};
    case Op::dv: return {"P", "dO"};
    case Op::dp: return {"dO", "V"};
    case Op::row_dot: return {"P", "dP"};
    case Op::dq: return {"dS", "K"};
    case Op::dk: return {"dS", "Q"};
    case Op::weight_gradient: return {X, "d" + which};
    case Op::update: return {"W_" + which, "dW_" + which};
    default: return {};
    }
}

}  // namespace

double three_digits(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3g", value);
    return std::atof(text);
}

std::set<std::string> read_by_code(const Trace& trace, int k) {
    const std::string lesson = trace.lesson().id;
    if (lesson.starts_with("softmax"))
        return read_by_row(lesson == "softmax-dense" ? 2 : passes_of(lesson), trace.step(k).phase);
    if (lesson.starts_with("flash")) return read_by_tiles(lesson, trace.step(k));
    if (lesson == "split-kv") {
        const Op op = trace.step(k).op;
        return op == Op::load_q    ? Names{"Q"}
               : op == Op::load_kv ? Names{"K", "V"}
               : op == Op::load    ? Names{"O_i", "L_i"}
                                   : Names{};
    }
    if (lesson == "cascade") {
        const Op op = trace.step(k).op;
        return op == Op::load_q    ? Names{"Q"}
               : op == Op::load_kv ? Names{"K", "V"}
               : op == Op::load    ? Names{"O_shared", "L_shared"}
                                   : Names{};
    }
    if (lesson == "ring") {
        const Op op = trace.step(k).op;
        return op == Op::load_q ? Names{"Q"} : op == Op::load_kv ? Names{"K", "V"} : Names{};
    }
    if (lesson == "ring-backward") {
        switch (trace.step(k).op) {
        case Op::load_q: return {"Q", "dO", "L"};
        case Op::preprocess: return {"O"};
        case Op::load_kv: return {"K", "V"};
        case Op::add_share: return {"dK", "dV", "ΔK", "ΔV"};
        default: return {};
        }
    }
    if (lesson == "merge") return trace.step(k).op == Op::part ? Names{"S", "V"} : Names{};
    return read_by_kernels(trace, k);
}

}  // namespace tilewalk::test
