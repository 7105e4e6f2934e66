// The words and numbers of the ops that update ℓ and O: correction to store, and skip.
#include "core/explain_view.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// What α does to the old sums, told with this row's numbers. `what` is "sum" or "output".
void rebase_sentence(const View& v, const std::string& what) {
    const Held m_new = v.trace.live(Slot::m, v.k), m_before = v.trace.live(Slot::m, m_new.step - 1);
    const double old = v.at(*m_before.value, v.row, 0), now = v.at(*m_new.value, v.row, 0);
    const auto [from, to] = format_apart(old, now);
    const std::string query = "query " + str(v.row), bracketed = now < 0 ? "(" + to + ")" : to;
    v.out.kind = kind_of(old, now);
    switch (kind_of(old, now)) {
    case sees_no_key:
        v.out.why = "Query " + str(v.row) + " still sees no key: its " + what + " stays 0.";
        break;
    case starts:
        v.out.why = "α = 0 removes the empty start; the " + what + " of " + query + " begins with this tile.";
        break;
    case rises:
        v.out.why = "α = exp(" + from + " − " + bracketed + ") re-bases the old " + what + " of " + query +
                    " from max " + from + " to max " + to + ", so old and new weights share one scale.";
        break;
    case stays:
        v.out.why = "α = 1: the maximum of " + query + " did not rise, so its old " + what +
                    " is kept and the new weights are added.";
        break;
    }
}

}  // namespace

void explain_correction(const View& v) {
    const double old = v.at(v.read(Slot::m, 0), v.row, 0), now = v.at(v.read(Slot::m, 1), v.row, 0);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula =
        join({sym(Slot::alpha), text("  ←  exp("), m_old(), text(" − "), sym(Slot::m), text(")")});
    v.out.numbers = write(exponential(difference(num(old, Role::m), num(base, Role::m))), v.result());
    set_result(v, v.result());
    const auto [from, to] = format_apart(old, now);
    const std::string query = "Query " + str(v.row);
    v.out.kind = kind_of(old, now);
    switch (kind_of(old, now)) {
    case sees_no_key:
        v.out.why = query + " has seen no key: −∞ − (−∞) would be NaN, so 0 stands in for m and α becomes 0.";
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
    v.out.kind = score == minus_infinity ? 1 : score > 709.78 ? 2 : 0;
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
    rebase_sentence(v, "sum");
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
    rebase_sentence(v, "output");
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
    v.out.kind = l == 0;
    v.out.why = l == 0 ? "Query " + str(v.row) +
                             " saw no key: ℓ = 0, there is nothing to divide, and O is defined as 0."
                       : "The only division of query " + str(v.row) + ": all its weights together are " +
                             num_text(l) + ", after this they sum to 1.";
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
    v.out.kind = l == 0;
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

}  // namespace tilewalk
