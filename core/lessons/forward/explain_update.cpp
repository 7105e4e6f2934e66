// The words and numbers of the ops that update ℓ and O: correction to store, and skip.
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

std::string bracketed(double value, const std::string& text) { return value < 0 ? "(" + text + ")" : text; }

// "2.718 times": by how much sums measured from `low` are too large for those measured from `high`.
std::string factor_text(const Move& move) {
    const double factor = std::exp(move.now - move.old);
    return std::isfinite(factor) ? num_text(factor) + " times" : "more than 10³⁰⁸ times";
}

// A query whose maximum is −∞: it saw no key, or no score that is a number.
std::string nothing_yet(const View& v) {
    return sees_some_key(v.problem, v.row, last_key(v)) ? "has no score above −∞" : "sees no key";
}

}  // namespace

Move move_of(const View& v) {
    const Held m_new = v.trace.live(Slot::m, v.k), m_before = v.trace.live(Slot::m, m_new.step - 1);
    const double old = v.at(*m_before.value, v.row, 0), now = v.at(*m_new.value, v.row, 0);
    const auto [from, to] = format_apart(old, now);
    return {old, now, kind_of(old, now), from, to};
}

std::string broken_rebase(const View& v, const std::string& what) {
    const Move move = move_of(v);
    const Switches& off = v.problem.switches;
    const std::string query = "query " + str(v.row);
    if (off.no_max)
        return "m is 0 in every tile, so the old " + what + " of " + query +
               " is kept and the new weights are added.";
    if (off.no_correction && off.stale_max && move.kind == rises)
        return "Fault: nothing is re-based, and the new weights are measured from the old max " + move.from +
               " instead of " + move.to + ": the " + what + " of " + query +
               " mixes weights of different bases.";
    if (off.no_correction && move.kind == rises)
        return "Fault: the old " + what + " of " + query + " was measured from max " + move.from +
               " and is not re-based to max " + move.to + ": it counts " + factor_text(move) +
               " too much beside the new weights.";
    if (off.no_correction && (move.kind == starts || move.kind == sees_no_key))
        return "The old " + what + " of " + query + " is still empty, so α = 1 does no harm here.";
    if (off.stale_max && move.kind == rises)
        return "Fault: α re-bases the old " + what + " of " + query + " to max " + move.to +
               ", but the new weights are measured from " + move.from + ": they count " + factor_text(move) +
               " too much.";
    return {};
}

namespace {

// What α does to the old sums, told with this row's numbers. `what` is "sum" or "output".
void rebase_sentence(const View& v, const std::string& what) {
    const Move move = move_of(v);
    const std::string query = "query " + str(v.row);
    v.out.kind = move.kind;
    if (std::string fault = broken_rebase(v, what); !fault.empty()) {
        v.out.why = fault;
        v.out.kind |= faulty;
        return;
    }
    switch (move.kind) {
    case sees_no_key:
        v.out.why = "Query " + str(v.row) + " still " + nothing_yet(v) + ": its " + what + " stays 0.";
        break;
    case starts:
        v.out.why = "α = 0 removes the empty start; the " + what + " of " + query + " begins with this tile.";
        break;
    case rises:
        v.out.why = "α = exp(" + move.from + " − " + bracketed(move.now, move.to) + ") re-bases the old " +
                    what + " of " + query + " from max " + move.from + " to max " + move.to +
                    ", so old and new weights share one scale.";
        break;
    case stays:
        v.out.why = "α = 1: the maximum of " + query + " did not rise, so its old " + what +
                    " is kept and the new weights are added.";
        break;
    }
}

// α = 1, whatever the maximum did.
void explain_no_correction(const View& v, double old, double now) {
    const auto [from, to] = format_apart(old, now);
    const std::string query = "query " + str(v.row);
    v.out.formula = join({sym(Slot::alpha), text("  ←  1")});
    set_result(v, v.result());
    const int kind = kind_of(old, now);
    v.out.kind = kind | faulty;
    if (kind == rises)
        v.out.why = "Fault: α should be exp(" + from + " − " + bracketed(now, to) +
                    ") = " + num_text(std::exp(old - now)) + ". The old sums of " + query +
                    " stay measured from " + from + " although its maximum is " + to + " now.";
    else if (kind == stays && std::isfinite(now))
        v.out.why =
            "A fault without effect here: the maximum of " + query + " did not rise, so α is 1 anyway.";
    else if (kind == stays)
        v.out.why =
            "Fault: ∞ − ∞ is not computed, so α = 1 hides that the scores of " + query + " overflowed.";
    else
        v.out.why = "A fault without effect here: α should be 0, but the sums of " + query +
                    " are still empty, and 1 × 0 is 0 too.";
    v.source(Slot::m, v.row, 0);
}

}  // namespace

void explain_correction(const View& v) {
    const double old = v.at(v.read(Slot::m, 0), v.row, 0), now = v.at(v.read(Slot::m, 1), v.row, 0);
    if (v.problem.switches.no_correction) return explain_no_correction(v, old, now);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula =
        join({sym(Slot::alpha), text("  ←  exp("), m_old(), text(" − "), sym(Slot::m), text(")")});
    set_result(v, v.result());
    const auto [from, to] = format_apart(old, now);
    const std::string query = "Query " + str(v.row);
    v.out.kind = kind_of(old, now);
    switch (kind_of(old, now)) {
    case sees_no_key:
        v.out.why = query + (nothing_yet(v) == "sees no key" ? " has seen no key" : " " + nothing_yet(v)) +
                    ": −∞ − (−∞) would be NaN, so 0 stands in for m and α becomes 0.";
        break;
    case starts:
        v.out.why = query + " starts here: exp(−∞) = 0 multiplies the empty start values of ℓ and O away.";
        break;
    case rises:
        v.out.why = query + ": multiplying by α re-bases its old sums from maximum " + from + " to maximum " +
                    to + ".";
        break;
    case stays:
        v.out.why = query + ": its maximum did not change, so α = 1 and its old sums stay as they are.";
        break;
    }
    if (v.problem.switches.no_max)
        v.out.why = query +
                    ": m is 0 before and after, so α = 1. With one base for every tile nothing has to "
                    "be re-based.";
    v.source(Slot::m, v.row, 0);
    set_numbers(v, rounded(v.problem.precision.softmax,
                           exponential(difference(num(old, Role::m), num(base, Role::m)))));
}

namespace {

// Without the maximum, or with the one of before this tile; empty where the weight is what it should be.
std::string broken_weight(const View& v, double score, const Move& move) {
    const Switches& off = v.problem.switches;
    const std::string query = "query " + str(v.row);
    const Format format = v.problem.precision.softmax;
    if (off.no_max && v.result() == 0)
        return "Fault: nothing is subtracted, and exp(" + num_text(score) + ") is too small for " +
               name(format) + ": the weight is lost.";
    if (off.no_max)
        return "Fault: nothing is subtracted. The division by ℓ would cancel the missing factor, but in " +
               std::string(name(format)) + " exp overflows beyond a score of " +
               num_text(std::log(info(format).largest)) + ".";
    if (!off.stale_max) return {};
    if (move.old == minus_infinity)
        return "Fault: before its first keys the old maximum of " + query + " is −∞, and " + num_text(score) +
               " − (−∞) is ∞: the weight is exp(∞) = ∞.";
    if (move.kind == rises)
        return "Fault: this weight of " + query + " is measured from the old maximum " + move.from +
               " instead of " + move.to + ", so it is " + factor_text(move) + " too large.";
    return "A fault without effect here: the maximum of " + query + " did not rise in this tile.";
}

void weight_sentence(const View& v, double score, double base, const Move& move) {
    const Format format = v.problem.precision.softmax;
    const bool overflows = std::isinf(round_to(format, std::exp(score)));
    v.out.kind = score == minus_infinity ? 1 : overflows ? 2 : 0;
    if (score == minus_infinity && !passes_mask(v.problem, v.row, v.col))
        v.out.why = "A masked score gives weight exp(−∞) = 0: key " + str(v.col) +
                    " does not count for query " + str(v.row) + ".";
    else if (score == minus_infinity)
        v.out.why = "The score overflowed to −∞, so key " + str(v.col) + " is lost for query " + str(v.row) +
                    " as if it were masked.";
    else if (std::string fault = broken_weight(v, score, move); !fault.empty())
        v.out.why = fault, v.out.kind |= faulty;
    else if (score > base)
        v.out.why = "Rounding left m a little below this score, so the exponent is above 0.", v.out.kind = 4;
    else if (overflows)
        v.out.why = "exp(" + num_text(score) +
                    ") alone would overflow; with the maximum subtracted no exponent is above 0.";
    else
        v.out.why = "With the maximum subtracted no exponent is above 0, so nothing overflows. The division "
                    "by ℓ comes at the end.";
}

}  // namespace

void explain_exponentials(const View& v) {
    const bool stale = v.problem.switches.stale_max;
    const double score = v.at(v.read(Slot::S), v.row, v.col), m = v.at(v.read(Slot::m), v.row, 0);
    const double base = m == minus_infinity && !stale ? 0 : m;
    v.out.formula = join({sym(Slot::P), text("  ←  exp("), sym(Slot::S), text(" − "),
                          stale ? m_old() : sym(Slot::m), text(")")});
    set_result(v, v.result());
    weight_sentence(v, score, base, move_of(v));
    v.source(Slot::S, v.row, v.col);
    v.source(Slot::m, v.row, 0);
    const std::string why = v.out.why;
    set_numbers(v, rounded(v.problem.precision.softmax,
                           exponential(difference(num(score, Role::S), num(base, Role::m)))));
    // The start value −∞ is no accident of this row's numbers: the fault says more.
    if (stale && base == minus_infinity && std::isinf(v.result())) v.out.why = why;
}

void explain_row_sum(const View& v) {
    const Value& P = v.read(Slot::P);
    const double alpha = v.at(v.read(Slot::alpha), v.row, 0), old = v.at(v.read(Slot::l), v.row, 0);
    std::vector<Expr> weights;
    for (int c = 0; c < P.region.cols; ++c) weights.push_back(num(v.at(P, v.row, P.region.col + c), Role::S));
    const Expr rowsum = weights.size() == 1 ? weights[0] : sum(std::move(weights));
    v.out.formula = join({sym(Slot::l), text("  ←  "), sym(Slot::alpha), text(" ⊙ "), sym(Slot::l),
                          text("  +  rowsum("), sym(Slot::P), text(")")});
    set_result(v, v.result());
    rebase_sentence(v, "sum");
    v.source(Slot::alpha, v.row, 0);
    v.source(Slot::l, v.row, 0);
    v.source_row(Slot::P, P, v.row);
    set_numbers(v, rounded(v.problem.precision.softmax,
                           sum({product({num(alpha, Role::alpha), num(old, Role::l)}), rowsum})));
}

Expr weighted_values(const View& v, Expr first) {
    const Value &P = v.read(Slot::P), &V = v.read(Slot::Vj);
    const Format cast = operand_format(v.problem.precision);
    std::vector<Expr> terms{std::move(first)};
    for (int c = 0; c < P.region.cols; ++c)
        terms.push_back(product({rounded(cast, num(v.at(P, v.row, P.region.col + c), Role::S)),
                                 num(v.at(V, V.region.row + c, v.col), Role::V)}));
    return sum(std::move(terms));
}

void explain_output(const View& v) {
    const Value &P = v.read(Slot::P), &V = v.read(Slot::Vj);
    const double alpha = v.at(v.read(Slot::alpha), v.row, 0), old = v.at(v.read(Slot::Oi), v.row, v.col);
    const Expr total = weighted_values(v, product({num(alpha, Role::alpha), num(old, Role::O)}));
    v.out.formula =
        join({sym(Slot::Oi, v.step.i), text("  ←  "), sym(Slot::alpha), text(" ⊙ "), sym(Slot::Oi, v.step.i),
              text("  +  "), sym(Slot::P), text(" "), sym(Slot::Vj, v.step.j)});
    set_result(v, v.result());
    rebase_sentence(v, "output");
    v.source(Slot::alpha, v.row, 0);
    v.source(Slot::Oi, v.row, v.col);
    v.source_row(Slot::P, P, v.row);
    v.source_column(Slot::Vj, V, v.col);
    tell_operand(v, "The weights enter");
    set_numbers(v, rounded(v.problem.precision.accumulator, total));
}

namespace {

// The row that `normalize` has nothing to divide in.
std::string empty_row(const View& v) {
    if (!sees_some_key(v.problem, v.row)) return "Query " + str(v.row) + " saw no key";
    return "Every weight of query " + str(v.row) + " is 0";
}

void explain_no_division(const View& v, double l) {
    v.out.formula = join({sym(Slot::Oi, v.step.i), text("  ←  "), sym(Slot::Oi, v.step.i)});
    set_result(v, v.result());
    v.out.kind = faulty + (l == 0);
    v.out.why = l == 0 ? empty_row(v) + ": the division is left out, but there is nothing to divide."
                       : "Fault: the division is left out. All weights of query " + str(v.row) +
                             " together are " + num_text(l) +
                             " instead of 1, and so much too large is its output.";
    v.source(Slot::Oi, v.row, v.col);
    v.source(Slot::l, v.row, 0);
}

}  // namespace

void explain_normalize(const View& v) {
    const double total = v.at(v.read(Slot::Oi), v.row, v.col), l = v.at(v.read(Slot::l), v.row, 0);
    if (v.problem.switches.no_division) return explain_no_division(v, l);
    v.out.formula =
        join({sym(Slot::Oi, v.step.i), text("  ←  "), sym(Slot::Oi, v.step.i), text(" ⊘ "), sym(Slot::l)});
    set_result(v, v.result());
    v.out.kind = l == 0 ? 1 : std::isinf(l) ? 2 : 0;
    const char* one = v.problem.precision.any() ? "about 1" : "1";
    v.out.why = l == 0 ? empty_row(v) + ": ℓ = 0, there is nothing to divide, and O is " +
                             (sees_some_key(v.problem, v.row) ? "left as it is." : "defined as 0.")
                       : "The only division of query " + str(v.row) + ": all its weights together are " +
                             num_text(l) + ", after this they sum to " + one + ".";
    if (std::isinf(l))
        v.out.why = "ℓ of query " + str(v.row) + " is ∞: divided by it every finite output becomes 0.";
    v.source(Slot::Oi, v.row, v.col);
    v.source(Slot::l, v.row, 0);
    if (l != 0)
        set_numbers(v,
                    rounded(v.problem.precision.accumulator, quotient(num(total, Role::O), num(l, Role::l))));
}

void explain_store(const View& v) {
    const double m = v.at(v.read(Slot::m), v.row, 0), l = v.at(v.read(Slot::l), v.row, 0);
    const Precision& format = v.problem.precision;
    set_result(v, v.result());
    if (v.out.target.slot == Slot::O) {
        v.out.formula = join({sym(Slot::O), text("  ←  "), sym(Slot::Oi, v.step.i)});
        v.out.why = "The finished output row leaves the chip: the only write of O to HBM.";
        v.source(Slot::Oi, v.row, v.col);
        if (!contains(format.output, format.accumulator))
            set_numbers(v, rounded(format.output, num(v.at(v.read(Slot::Oi), v.row, v.col), Role::O)));
        return;
    }
    v.out.formula = join({sym(Slot::O), text(" ← "), sym(Slot::Oi, v.step.i), text(",   "), sym(Slot::L),
                          text(" ← "), sym(Slot::m), text(" + ln "), sym(Slot::l)});
    v.out.kind = l == 0;
    v.out.why = l == 0 ? empty_row(v) + ": O = 0 and L = −∞ are stored."
                       : "O and one number per row leave the chip. From L the backward pass recomputes every "
                         "weight as exp(S − L).";
    v.source(Slot::m, v.row, 0);
    v.source(Slot::l, v.row, 0);
    set_numbers(v, rounded(format.softmax, sum({num(m, Role::m), logarithm(num(l, Role::l))})));
}

void explain_skip(const View& v) {
    const Problem& p = v.problem;
    const int q = v.step.i * p.Br, k = v.step.j * p.Bc;
    const int queries = std::min(p.Br, p.N() - q), keys = std::min(p.Bc, p.N_kv() - k);
    v.out.formula = text("tile (" + str(v.step.i) + ", " + str(v.step.j) + ") is masked");
    v.out.why = "No query of " + range(q, queries, "row", "rows") + " may look at " +
                range(k, keys, "key", "keys") + ": nothing is loaded, nothing is computed.";
}

}  // namespace tilewalk
