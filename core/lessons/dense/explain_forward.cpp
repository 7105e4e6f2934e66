// The words and numbers of dense attention up to the row sums: loads, stores, S, the mask, m, P̃, ℓ.
#include "core/base/exactly.h"
#include "core/lessons/dense/explain_parts.h"
#include "core/lessons/dense/steps.h"
#include "core/problem/mask.h"

#include <cmath>

namespace tilewalk::dense {

namespace {

Expr bytes_expr(const View& v, const Region& of) {
    return product({num(of.rows), num(of.cols), num(v.problem.element_bytes)});
}

std::string size_text(int rows, int cols) { return str(rows) + "\u00A0×\u00A0" + str(cols); }

// What every kernel of standard attention pays for a matrix that has an entry for each pair.
std::string pairs_text(const View& v) { return size_text(v.problem.N(), v.problem.N_kv()); }

}  // namespace

void load(const View& v) {
    const Problem& p = v.problem;
    Numbers parts;
    for (const Access& a : v.trace.reads(v.k)) parts.push_back(bytes_expr(v, v.trace.value(a.value).region));
    set_bytes(v, sum(std::move(parts)), "bytes read");
    if (reads(v, Slot::Q)) {
        v.out.formula = join({sym(Slot::Q), ", ", sym(Slot::K), "  from HBM"});
        v.out.why = "The first kernel needs every query and every key: " + size_text(p.N(), p.d()) + " and " +
                    size_text(p.N_kv(), p.d()) + " numbers of " + count(p.element_bytes, "byte") + ".";
    } else if (reads(v, Slot::S_hbm)) {
        v.out.formula = join({sym(Slot::S), "  from HBM"});
        v.out.why = "A second kernel starts with an empty chip: the " + pairs_text(v) +
                    " scores that the first one has just written come back.";
        v.source(Slot::S_hbm, v.row, v.col);
    } else {
        v.out.formula = join({sym(Slot::Prob), ", ", sym(Slot::V), "  from HBM"});
        v.out.why = "The third kernel fetches the " + pairs_text(v) +
                    " weights again, and for the first time the values.";
        v.source(Slot::P_hbm, v.row, v.col);
    }
}

void store(const View& v) {
    const CellRef at = v.out.target;
    v.out.formula = join({sym(at.slot), "  to HBM"});
    set_bytes(v, bytes_expr(v, v.written(at.slot).region), "bytes written");
    if (at.slot == Slot::S_hbm) {
        v.out.why = "All " + pairs_text(v) +
                    " scores leave the chip, only to be read again by the next kernel: the traffic that "
                    "FlashAttention removes.";
    } else if (at.slot == Slot::P_hbm) {
        v.out.why =
            "The weights leave the chip as well. Training keeps them there, because the backward pass "
            "needs them.";
    } else {
        v.out.why = "Of all that was written only this is the result: one row of " +
                    count(v.problem.d(), "number") + " for each query.";
    }
    const Slot from = at.slot == Slot::S_hbm ? Slot::S : at.slot == Slot::P_hbm ? Slot::Prob : Slot::Oi;
    v.source(from, v.row, v.col);
}

void scores(const View& v) {
    const Numbers Q = v.numbers_in_row(Slot::Q, v.row), K = v.numbers_in_row(Slot::K, v.col);
    const double factor = scales_apart(v.trace) ? 1.0 : v.problem.softmax_scale();
    bool meet = false;
    for (std::size_t c = 0; c < Q.size(); ++c) meet |= Q[c].value != 0 && K[c].value != 0;
    v.out.formula = join({sym(Slot::S), "  ←  ", factor != 1.0 ? text("scale · ") : Line{}, sym(Slot::Q), " ",
                          transposed(sym(Slot::K))});
    set_sum(v, dot(Q, K), factor);
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    v.out.kind = !meet;
    v.out.why = meet ? "How well does " + q + " match " + k + "? Each of the " + pairs_text(v) +
                           " pairs gets one score."
                     : "What " + q + " looks for and what " + k +
                           " contains have no component in common: the score is 0.";
}

void scale(const View& v) {
    const double factor = v.problem.softmax_scale();
    v.out.formula = join({sym(Slot::S), "  ←  scale · ", sym(Slot::S)});
    v.out.numbers = write(product({num(factor), v.number(Slot::S)}), v.result());
    const std::string s = num_text(factor);
    if (v.problem.scale.kind == Scale::Kind::sqrt)
        v.out.why = "A sum of " + count(v.problem.d(), "product") +
                    " grows with the square root of their number; dividing by that keeps the softmax from "
                    "putting all weight on one key.";
    else if (factor == 0)
        v.out.why = "With the scale 0 all scores become equal: the softmax will treat all keys alike.";
    else if (factor < 0)
        v.out.why = "The scale " + s + " is negative: the worst match will get the largest weight.";
    else
        v.out.why = "The scale " + s +
                    (factor < 1 ? " moves the scores together: the weights will be more even."
                                : " drives the scores apart: the weights will be more uneven.");
}

void mask(const View& v) {
    // the key at this query's own position
    const int rows = v.problem.rows_of_head(), own = v.row % rows + v.problem.N_kv() - rows;
    v.out.formula = join({sym(Slot::S), "  ←  −∞  where masked"});
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    v.out.kind = visible(v.problem, v.row, v.col) ? 0 : 1;
    if (v.out.kind == 0)
        v.out.why = capitalised(q) + " may look at " + k + ": the score stays.";
    else if (v.problem.causal && own < 0)
        v.out.why = capitalised(q) + " comes before every key, so the mask hides all of them.";
    else if (v.problem.causal && v.col > own)
        v.out.why = "For " + q + ", " + k + " lies in the future: the causal mask hides it.";
    else
        v.out.why = "For " + q + ", " + k + " lies outside the window of " +
                    count(*v.problem.window, "position") + ".";
    v.source(read_one_of(v, Slot::S, Slot::S_hbm), v.row, v.col);
}

void row_max(const View& v) {
    const auto sink = v.problem.logits.sink;
    Numbers S = v.numbers_in_row(read_one_of(v, Slot::S, Slot::S_hbm), v.row);
    v.out.formula = sink ? join({sym(Slot::m), "  ←  max(rowmax(", sym(Slot::S), "), ", sym(Slot::sink), ")"})
                         : join({sym(Slot::m), "  ←  rowmax(", sym(Slot::S), ")"});
    if (sink) S.push_back(v.number(Slot::sink, 0, 0));
    if (static_cast<int>(S.size()) <= most_terms) v.out.numbers = write(maximum(S), v.result());
    if (sink) S.pop_back();
    const std::string q = query_name(v, v.row);
    const std::vector<int> best = largest(S);
    v.out.kind = v.result() == minus_infinity ? 2 : best.size() > 1;
    if (sink && v.result() > evaluate(maximum(S)))
        v.out.kind = 3, v.out.why = "No key scores as high with " + q +
                                    " as the sink, which every query sees: its " +
                                    "weight is measured from itself.";
    else if (v.out.kind == 2)
        v.out.why = "The mask hides every key from " + q + ".";
    else if (best.size() == 1)
        v.out.why = capitalised(q) + " scores highest with " + key_name(v, best[0]) +
                    ". Measured from there, no exponent will be above 0.";
    else
        v.out.why = capitalised(names(v, best, key_name)) + " tie for the highest score of " + q +
                    ". Measured from there, no exponent will be above 0.";
}

void exponentials(const View& v) {
    const Expr exponent = v.number(read_one_of(v, Slot::S, Slot::S_hbm)), m = v.number(Slot::m);
    const double score = exponent.value, most = m.value;
    const double base = most == minus_infinity ? 0 : most;
    v.out.formula = join({sym(Slot::E), "  ←  exp(", sym(Slot::S), " − ", sym(Slot::m), ")"});
    v.out.numbers =
        write(exponential(difference(exponent, base == most ? m : num(base, Role::m))), v.result());
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    v.out.kind = score == minus_infinity          ? 1
                 : std::isinf(exp_exactly(score)) ? 2
                 : score == most                  ? 3
                 : v.result() == 0                ? 4
                                                  : 0;
    if (v.out.kind == 1)
        v.out.why = "A masked score gives weight exp(−∞) = 0: " + k + " does not count for " + q + ".";
    else if (v.out.kind == 2)
        v.out.why = "exp(" + num_text(score) +
                    ") alone would overflow; with the maximum subtracted no exponent is above 0.";
    else if (v.out.kind == 3)
        v.out.why = "The highest score of " + q +
                    " always becomes 1; the others become what part of it they are worth.";
    else if (v.out.kind == 4)
        v.out.why = "So far below the maximum that a double cannot tell the weight of " + k + " from 0.";
    else if (v.problem.logits.sink)
        v.out.why = "Every score becomes a positive weight; for " + q + ", " + k + " counts " +
                    num_text(v.result()) + " times as much as the largest logit, the sink's among them.";
    else
        v.out.why = "Every score becomes a positive weight; for " + q + ", " + k + " counts " +
                    num_text(v.result()) + " times as much as its best key.";
}

static void row_sum_with_sink(const View& v, const std::string& q) {
    Numbers weights = v.numbers_in_row(Slot::E, v.row);
    const Expr sink = exponential(difference(v.number(Slot::sink, 0, 0), v.number(Slot::m)));
    weights.push_back(sink);
    v.out.formula = join(
        {sym(Slot::l), "  ←  rowsum(", sym(Slot::E), ") + exp(", sym(Slot::sink), " − ", sym(Slot::m), ")"});
    set_sum(v, sum(std::move(weights)));
    const bool blind = keys_seen(v) == 0;
    v.out.kind = blind;
    v.out.why = blind ? capitalised(q) + " sees no key: the whole sum is the sink's weight."
                      : "The sink's weight, " + num_text(evaluate(sink)) + ", counts in the sum of " + q +
                            ": what it takes of the softmax, no key gets.";
}

void row_sum(const View& v) {
    const std::string q = query_name(v, v.row);
    if (v.problem.logits.sink) return row_sum_with_sink(v, q);
    v.out.formula = join({sym(Slot::l), "  ←  rowsum(", sym(Slot::E), ")"});
    set_sum(v, sum(v.numbers_in_row(Slot::E, v.row)));
    const int seen = keys_seen(v);
    v.out.kind = seen == 0;
    v.out.why = seen == 0   ? capitalised(q) + " sees no key: there is nothing to add up."
                : seen == 1 ? capitalised(q) + " sees one key, so its sum is 1."
                            : "Between 1, if one key takes everything, and " + str(seen) + ", if all " +
                                  str(seen) + " visible keys count the same.";
}

}  // namespace tilewalk::dense
