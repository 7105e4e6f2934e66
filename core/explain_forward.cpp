#include "core/explain_forward.h"

#include "core/formula.h"
#include "core/numbers.h"
#include "core/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

const double minus_infinity = -std::numeric_limits<double>::infinity();

// One step as its explanation sees it: the tile, and the stored values at the target cell.
struct View {
    const Trace& trace;
    int k;
    Explanation& out;
    const Step& step = trace.step(k);
    const Problem& problem = trace.problem();
    int row = out.target.row, col = out.target.col;  // in the whole matrix

    const Value& read(Slot slot, int nth = 0) const {
        for (const Access& a : trace.reads(k))
            if (a.slot == slot && nth-- == 0) return trace.value(a.value);
        std::abort();  // an op was explained that does not read this slot
    }
    const Value& written(Slot slot) const {
        for (const Access& a : trace.writes(k))
            if (a.slot == slot) return trace.value(a.value);
        std::abort();
    }
    double at(const Value& v, int r, int c) const { return v.data(r - v.region.row, c - v.region.col); }
    double result() const { return at(written(out.target.slot), row, col); }

    void source(Slot slot, int r, int c) const { out.sources.push_back({slot, r, c}); }
    void source_row(Slot slot, const Value& v, int r) const {
        for (int c = 0; c < v.region.cols; ++c) source(slot, r, v.region.col + c);
    }
    void source_column(Slot slot, const Value& v, int c) const {
        for (int r = 0; r < v.region.rows; ++r) source(slot, v.region.row + r, c);
    }
};

std::string str(int n) { return std::to_string(n); }
std::string num_text(double v) { return format_number(v); }

std::string count(int n, const char* what) { return str(n) + "\u00A0" + what + (n == 1 ? "" : "s"); }

std::string range(int first, int count, const char* one, const char* many) {
    return count == 1 ? std::string(one) + " " + str(first)
                      : std::string(many) + " " + str(first) + "–" + str(first + count - 1);
}

// "ℓ[0]", "S[0,2]"
std::string index_text(const View& v) {
    const bool column = info(v.out.target.slot).role == Role::m || info(v.out.target.slot).role == Role::l ||
                        info(v.out.target.slot).role == Role::alpha;
    return column ? "[" + str(v.row) + "]" : "[" + str(v.row) + "," + str(v.col) + "]";
}

void set_result(const View& v, double value) {
    Span shown{format_number(value), Role::none, Span::Face::number};
    shown.strong = true;
    v.out.result = {symbol(v.out.target.slot), word(index_text(v)), word(" = "), shown};
}

void set_bytes(const View& v, std::int64_t bytes, const char* what) {
    Span shown{std::to_string(bytes), Role::none, Span::Face::number};
    shown.strong = true;
    v.out.result = {word(what), word(" = "), shown};
}

Line join(std::initializer_list<Line> lines) {
    Line out;
    for (const Line& line : lines) out.insert(out.end(), line.begin(), line.end());
    return out;
}
Line text(std::string s) { return {word(std::move(s))}; }
Line sym(Slot slot, int block = -1) { return slot_symbol(slot, block); }
// m before this tile, as in the tutorial: m_old
Line m_old() {
    Line line = sym(Slot::m);
    line.push_back({"old", Role::m, Span::Face::text, Span::Script::sub});
    return line;
}
Line transposed(Line line) {
    line.push_back({"T", line.front().role, Span::Face::symbol, Span::Script::super});
    return line;
}

void explain_load_q(const View& v) {
    const Region q = v.written(Slot::Qi).region;
    v.out.formula = join({sym(Slot::Qi, v.step.i),
                          text("  ←  " + range(q.row, q.rows, "row", "rows") + " of "), sym(Slot::Q)});
    v.out.numbers = write(product({num(q.rows), num(q.cols), num(v.problem.element_bytes)}),
                          static_cast<double>(q.rows) * q.cols * v.problem.element_bytes);
    set_bytes(v, std::int64_t{q.rows} * q.cols * v.problem.element_bytes, "bytes read");
    v.out.why = range(q.row, q.rows, "Query", "Queries") + (q.rows == 1 ? " comes" : " come") +
                " on chip once and stay" + (q.rows == 1 ? "s" : "") +
                " there while the key blocks stream past: " + count(q.rows, "row") + " × " +
                count(q.cols, "column") + " × " + count(v.problem.element_bytes, "byte") + ".";
    v.source(Slot::Q, v.row, v.col);
    v.out.code_line = 1;
}

void explain_init(const View& v) {
    v.out.formula =
        join({sym(Slot::m), text(" ← −∞,  "), sym(Slot::l), text(" ← 0,  "), sym(Slot::Oi), text(" ← 0")});
    set_result(v, v.result());
    v.out.why = "Nothing has been seen yet: the running maximum is −∞, the running sum and the output are 0.";
    v.out.code_line = 2;
}

void explain_load_kv(const View& v) {
    const Region k = v.written(Slot::Kj).region;
    const int e = v.problem.element_bytes;
    v.out.formula = join({sym(Slot::Kj, v.step.j), text(", "), sym(Slot::Vj, v.step.j),
                          text("  ←  " + range(k.row, k.rows, "row", "rows") + " of "), sym(Slot::K),
                          text(", "), sym(Slot::V)});
    const std::int64_t bytes = std::int64_t{2} * k.rows * k.cols * e;
    v.out.numbers = write(product({num(2), num(k.rows), num(k.cols), num(e)}), static_cast<double>(bytes));
    set_bytes(v, bytes, "bytes read");
    v.out.why = "Only one key block is on chip at a time; every query block that needs it reads it again. K "
                "and V: 2 × " +
                count(k.rows, "row") + " × " + count(k.cols, "column") + " × " + count(e, "byte") + ".";
    v.source(v.out.target.slot == Slot::Vj ? Slot::V : Slot::K, v.row, v.col);
    v.out.code_line = 4;
}

void explain_scores(const View& v) {
    const Value &Q = v.read(Slot::Qi), &K = v.read(Slot::Kj);
    const double scale = v.problem.softmax_scale();
    std::vector<Expr> terms;
    for (int c = 0; c < v.problem.d(); ++c)
        terms.push_back(product({num(v.at(Q, v.row, c), Role::Q), num(v.at(K, v.col, c), Role::K)}));
    const Expr dot = terms.size() == 1 ? terms[0] : sum(std::move(terms));
    const bool scaled = v.problem.scale.kind != Scale::Kind::none;
    v.out.formula = join({sym(Slot::S), text("  ←  "), scaled ? text("scale · ") : Line{},
                          sym(Slot::Qi, v.step.i), text(" "), transposed(sym(Slot::Kj, v.step.j))});
    v.out.numbers = write(scaled ? product({num(scale), dot}) : dot, v.result());
    set_result(v, v.result());
    v.out.why = "How well does query " + str(v.row) + " match key " + str(v.col) + "? The " +
                str(Q.region.rows) + "\u00A0×\u00A0" + str(K.region.rows) +
                " tile of scores exists only in SRAM.";
    v.source_row(Slot::Qi, Q, v.row);
    v.source_row(Slot::Kj, K, v.col);
    v.out.code_line = 5;
}

void explain_mask(const View& v) {
    const int own = v.row + v.problem.N_kv() - v.problem.N();  // the key at this query's own position
    const bool masked = !visible(v.problem, v.row, v.col);
    v.out.formula = join({sym(Slot::S), text("  ←  −∞  where masked")});
    set_result(v, v.result());
    const std::string pair = "key " + str(v.col) + " for query " + str(v.row);
    if (!masked)
        v.out.why = "The mask leaves " + pair + " as it is.";
    else if (v.col > own && v.problem.causal)
        v.out.why = "The causal mask hides " + pair + ": it lies in the future (the last visible key is " +
                    str(own) + ").";
    else
        v.out.why =
            "The window hides " + pair + ": it is more than " + str(*v.problem.window) + " positions away.";
    if (own < 0 && masked && v.problem.causal)
        v.out.why = "Query " + str(v.row) + " comes before every key, so the mask hides all of them.";
    v.source(Slot::S, v.row, v.col);
    v.out.code_line = 6;
}

void explain_tile_max(const View& v) {
    const Value& S = v.read(Slot::S);
    std::vector<Expr> scores;
    int best = 0;
    for (int c = 0; c < S.region.cols; ++c) {
        scores.push_back(num(v.at(S, v.row, S.region.col + c), Role::S));
        if (scores.back().value > scores[static_cast<std::size_t>(best)].value) best = c;
    }
    v.out.formula = join({sym(Slot::m_tile), text("  ←  rowmax("), sym(Slot::S), text(")")});
    v.out.numbers = write(maximum(scores), v.result());
    set_result(v, v.result());
    v.out.why =
        v.result() == minus_infinity
            ? "The mask hides every key of this tile from query " + str(v.row) + "; its maximum is −∞."
            : "In this tile query " + str(v.row) + " scores highest with key " + str(S.region.col + best) +
                  ".";
    v.source_row(Slot::S, S, v.row);
    v.out.code_line = 7;
}

void explain_new_max(const View& v) {
    const double old = v.at(v.read(Slot::m), v.row, 0), tile = v.at(v.read(Slot::m_tile), v.row, 0),
                 now = v.result();
    v.out.formula =
        join({sym(Slot::m), text("  ←  max("), m_old(), text(", "), sym(Slot::m_tile), text(")")});
    v.out.numbers = write(maximum({num(old, Role::m), num(tile, Role::m)}), now);
    set_result(v, now);
    const auto [from, to] = format_apart(old, now);
    if (now == minus_infinity)
        v.out.why = "Query " + str(v.row) + " has not seen a single key yet, so the maximum stays −∞.";
    else if (old == minus_infinity)
        v.out.why = "These are the first keys that query " + str(v.row) + " sees: the maximum starts at " +
                    num_text(now) + ".";
    else if (now > old)
        v.out.why = "The maximum rises from " + from + " to " + to +
                    ": all that was summed so far was measured from " + from + " and must be corrected.";
    else
        v.out.why = "The maximum stays " + num_text(now) + ": what was summed so far needs no correction.";
    v.source(Slot::m, v.row, 0);
    v.source(Slot::m_tile, v.row, 0);
    v.out.code_line = 8;
}

void explain_correction(const View& v) {
    const double old = v.at(v.read(Slot::m, 0), v.row, 0), now = v.at(v.read(Slot::m, 1), v.row, 0);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula =
        join({sym(Slot::alpha), text("  ←  exp("), m_old(), text(" − "), sym(Slot::m), text(")")});
    v.out.numbers = write(exponential(difference(num(old, Role::m), num(base, Role::m))), v.result());
    set_result(v, v.result());
    const auto [from, to] = format_apart(old, now);
    if (now == minus_infinity)
        v.out.why = "No key seen yet: −∞ − (−∞) would be NaN, so 0 stands in for m and α becomes 0.";
    else if (old == minus_infinity)
        v.out.why = "exp(−∞) = 0: the empty start values of ℓ and O are multiplied away.";
    else if (now > old)
        v.out.why = "Multiplying by α re-bases old sums from maximum " + from + " to maximum " + to + ".";
    else
        v.out.why = "The maximum did not change: α = 1, and old sums stay as they are.";
    v.source(Slot::m, v.row, 0);
    v.out.code_line = 9;
}

void explain_exponentials(const View& v) {
    const double score = v.at(v.read(Slot::S), v.row, v.col), now = v.at(v.read(Slot::m), v.row, 0);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula =
        join({sym(Slot::P), text("  ←  exp("), sym(Slot::S), text(" − "), sym(Slot::m), text(")")});
    v.out.numbers = write(exponential(difference(num(score, Role::S), num(base, Role::m))), v.result());
    set_result(v, v.result());
    if (score == minus_infinity)
        v.out.why = "A masked score gives weight exp(−∞) = 0: key " + str(v.col) +
                    " does not count for query " + str(v.row) + ".";
    else if (score > 709.78)
        v.out.why = "exp(" + num_text(score) +
                    ") alone would overflow; with the maximum subtracted no exponent is above 0.";
    else
        v.out.why = "With the maximum subtracted no exponent is above 0, so nothing overflows. The division "
                    "by ℓ comes at the end.";
    v.source(Slot::S, v.row, v.col);
    v.source(Slot::m, v.row, 0);
    v.out.code_line = 10;
}

// What α does to the old sums, told with this row's numbers. `what` is "sum" or "output".
std::string rebase_sentence(const View& v, const char* what) {
    const Held m_old = v.trace.live(Slot::m, v.trace.live(Slot::m, v.k).step - 1),
               m_new = v.trace.live(Slot::m, v.k);
    const double old = v.at(*m_old.value, v.row, 0), now = v.at(*m_new.value, v.row, 0);
    const auto [from, to] = format_apart(old, now);
    if (now == minus_infinity) return "Query " + str(v.row) + " still sees no key: its " + what + " stays 0.";
    if (old == minus_infinity)
        return std::string("α = 0 removes the empty start; the ") + what + " begins with this tile.";
    if (now == old)
        return std::string("α = 1: the maximum did not rise, so the old ") + what +
               " is kept and the new weights are added.";
    return "α = exp(" + from + " − " + (now < 0 ? "(" + to + ")" : to) + ") re-bases the old " + what +
           " from max " + from + " to max " + to + ", so old and new weights share one scale.";
}

void explain_row_sum(const View& v) {
    const Value& P = v.read(Slot::P);
    const double alpha = v.at(v.read(Slot::alpha), v.row, 0), old = v.at(v.read(Slot::l), v.row, 0);
    std::vector<Expr> weights;
    for (int c = 0; c < P.region.cols; ++c) weights.push_back(num(v.at(P, v.row, P.region.col + c), Role::S));
    const Expr rowsum = weights.size() == 1 ? weights[0] : sum(std::move(weights));
    v.out.formula = join({sym(Slot::l), text("  ←  "), sym(Slot::alpha), text(" ⊙ "), sym(Slot::l),
                          text("  +  rowsum("), sym(Slot::P), text(")")});
    v.out.numbers = write(sum({product({num(alpha, Role::alpha), num(old, Role::l)}), rowsum}), v.result());
    set_result(v, v.result());
    v.out.why = rebase_sentence(v, "sum");
    v.source(Slot::alpha, v.row, 0);
    v.source(Slot::l, v.row, 0);
    v.source_row(Slot::P, P, v.row);
    v.out.code_line = 11;
}

void explain_output(const View& v) {
    const Value &P = v.read(Slot::P), &V = v.read(Slot::Vj);
    const double alpha = v.at(v.read(Slot::alpha), v.row, 0), old = v.at(v.read(Slot::Oi), v.row, v.col);
    std::vector<Expr> terms{product({num(alpha, Role::alpha), num(old, Role::O)})};
    for (int c = 0; c < P.region.cols; ++c)
        terms.push_back(product({num(v.at(P, v.row, P.region.col + c), Role::S),
                                 num(v.at(V, V.region.row + c, v.col), Role::V)}));
    v.out.formula = join({sym(Slot::Oi), text("  ←  "), sym(Slot::alpha), text(" ⊙ "), sym(Slot::Oi),
                          text("  +  "), sym(Slot::P), text(" "), sym(Slot::Vj, v.step.j)});
    v.out.numbers = write(sum(std::move(terms)), v.result());
    set_result(v, v.result());
    v.out.why = rebase_sentence(v, "output");
    v.source(Slot::alpha, v.row, 0);
    v.source(Slot::Oi, v.row, v.col);
    v.source_row(Slot::P, P, v.row);
    v.source_column(Slot::Vj, V, v.col);
    v.out.code_line = 12;
}

void explain_normalize(const View& v) {
    const double total = v.at(v.read(Slot::Oi), v.row, v.col), l = v.at(v.read(Slot::l), v.row, 0);
    v.out.formula = join({sym(Slot::Oi), text("  ←  "), sym(Slot::Oi), text(" ⊘ "), sym(Slot::l)});
    if (l != 0) v.out.numbers = write(quotient(num(total, Role::O), num(l, Role::l)), v.result());
    set_result(v, v.result());
    v.out.why = l == 0 ? "Query " + str(v.row) +
                             " saw no key: ℓ = 0, there is nothing to divide, and O is defined as 0."
                       : "The only division of the row: all its weights together are " + num_text(l) +
                             ", after this they sum to 1.";
    v.source(Slot::Oi, v.row, v.col);
    v.source(Slot::l, v.row, 0);
    v.out.code_line = 13;
}

void explain_store(const View& v) {
    const double m = v.at(v.read(Slot::m), v.row, 0), l = v.at(v.read(Slot::l), v.row, 0);
    v.out.code_line = 14;
    set_result(v, v.result());
    if (v.out.target.slot == Slot::O) {
        v.out.formula = join({sym(Slot::O), text("  ←  "), sym(Slot::Oi, v.step.i)});
        v.out.why = "The finished output row leaves the chip: the only write of O to HBM.";
        v.source(Slot::Oi, v.row, v.col);
        return;
    }
    v.out.formula = join({sym(Slot::O), text(" ← "), sym(Slot::Oi, v.step.i), text(",   "), sym(Slot::L),
                          text(" ← "), sym(Slot::m), text(" + ln "), sym(Slot::l)});
    v.out.numbers = write(sum({num(m, Role::m), logarithm(num(l, Role::l))}), v.result());
    v.out.why = l == 0 ? "Query " + str(v.row) + " saw no key: O = 0 and L = −∞ are stored."
                       : "O and one number per row leave the chip. From L the backward pass recomputes every "
                         "weight as exp(S − L).";
    v.source(Slot::m, v.row, 0);
    v.source(Slot::l, v.row, 0);
}

void explain_skip(const View& v) {
    const Problem& p = v.problem;
    const int q = v.step.i * p.Br, k = v.step.j * p.Bc;
    const int queries = std::min(p.Br, p.N() - q), keys = std::min(p.Bc, p.N_kv() - k);
    v.out.formula = text("tile (" + str(v.step.i) + ", " + str(v.step.j) + ") is masked");
    v.out.why = "No query of " + range(q, queries, "row", "rows") + " may look at " +
                range(k, keys, "key", "keys") + ": nothing is loaded, nothing is computed.";
    v.out.code_line = 3;
}

}  // namespace

void explain_forward(const Trace& trace, int k, Explanation& out) {
    static void (*const table[static_cast<int>(Op::count)])(const View&) = {
        explain_load_q,   explain_init,      explain_load_kv,    explain_scores,       explain_mask,
        explain_tile_max, explain_new_max,   explain_correction, explain_exponentials, explain_row_sum,
        explain_output,   explain_normalize, explain_store,      explain_skip};
    table[static_cast<int>(trace.step(k).op)]({trace, k, out});
}

}  // namespace tilewalk
