// The words and numbers of the dense backward pass: dV, dP, D, dS, dQ, dK.
#include "core/lessons/dense/explain_parts.h"
#include "core/lessons/shared/explain_logits.h"
#include "core/lessons/shared/explain_proofs.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::dense {

namespace {

// The products aᵢ bᵢ that say most in their sum.
std::vector<int> strongest(const Numbers& a, const Numbers& b) {
    Numbers sizes;
    for (std::size_t n = 0; n < a.size(); ++n) sizes.push_back(num(std::abs(a[n].value * b[n].value)));
    return largest(sizes);
}
bool all_zero(const Numbers& a, const Numbers& b) {
    return std::ranges::equal(a, b, [](const Expr& x, const Expr& y) { return x.value * y.value == 0; });
}

bool row_is_zero(const View& v, Slot slot, int r) { return v.read(slot).data.row(r).isZero(0); }

Line scaled(const View& v) { return v.problem.softmax_scale() == 1.0 ? Line{} : text("scale · "); }

}  // namespace

void dv(const View& v) {
    const Numbers P = v.numbers_in_column(Slot::P_hbm, v.row), dO = v.numbers_in_column(Slot::dO, v.col);
    double received = 0;  // what queries with a gradient look at this key
    for (int r = 0; r < v.problem.N(); ++r)
        if (!row_is_zero(v, Slot::dO, r)) received += P[static_cast<std::size_t>(r)].value;
    v.out.formula = join({sym(Slot::dV), "  ←  ", transposed(sym(Slot::Prob)), " ", sym(Slot::dO)});
    set_sum(v, dot(P, dO));
    const std::vector<int> most = strongest(P, dO);
    const bool silent = all_zero(P, dO);
    const std::string k = key_name(v, v.row);
    v.out.kind = silent ? 2 : received == 0 ? 2 : most.size() > 1;
    if (silent)
        v.out.why = "No query sends a gradient here: each either has dO = 0 in this column or gives " + k +
                    " no weight.";
    else
        v.out.why =
            "A value answers for every output that it went into, by its share. The largest part here "
            "comes from " +
            (most.size() == 1 ? query_name(v, most[0]) + ", which attends " +
                                    percent(P[static_cast<std::size_t>(most[0])].value) + " to " + k + "."
                              : names(v, most, query_name) + ".");
}

void dp(const View& v) {
    const Numbers dO = v.numbers_in_row(Slot::dO, v.row), V = v.numbers_in_row(Slot::V, v.col);
    v.out.formula = join({sym(Slot::dP), "  ←  ", sym(Slot::dO), " ", transposed(sym(Slot::V))});
    set_sum(v, dot(dO, V));
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    v.out.kind = row_is_zero(v, Slot::dO, v.row) ? 1 : visible(v.problem, v.row, v.col) ? 0 : 2;
    if (v.out.kind == 1)
        v.out.why = "The loss does not depend on the output of " + q +
                    " (its row of dO is 0), so none of its "
                    "weights matters.";
    else if (v.out.kind == 2)
        v.out.why = "Computed like every other entry, but " + q + " must not look at " + k +
                    ": its weight of 0 will cancel it.";
    else
        v.out.why = "Each unit of attention of " + q + " to " + k + " changes the loss by its value · dO.";
}

void row_dot(const View& v) {
    const Numbers P = v.numbers_in_row(Slot::P_hbm, v.row), dP = v.numbers_in_row(Slot::dP_hbm, v.row);
    v.out.formula = join({sym(Slot::Di), "  ←  rowsum(", sym(Slot::Prob), " ⊙ ", sym(Slot::dP), ")"});
    set_sum(v, dot(P, dP));
    const std::string q = query_name(v, v.row);
    v.out.kind = row_is_zero(v, Slot::P_hbm, v.row) ? 1 : row_is_zero(v, Slot::dP_hbm, v.row) ? 2 : 0;
    if (v.out.kind == 1)
        v.out.why = capitalised(q) + " sees no key, so there is nothing to average.";
    else if (v.out.kind == 2)
        v.out.why = "The whole row of dP is 0, and so is its mean.";
    else
        v.out.why = "The weights of " + q +
                    " sum to 1, so this is the weighted mean of its dP. As weights compete, only the "
                    "distance to it counts.";
    if (v.out.kind == 0 && v.problem.logits.sink)
        v.out.why = "The weights of " + q +
                    " and that of the sink sum to 1, and the sink's dP is 0, so this is the weighted mean of "
                    "its dP; what counts is how far a key lies from it.";

    // D without P and dP: what makes the tiled backward pass possible
    const Held O = v.trace.live(Slot::O, v.k), dO = v.trace.live(Slot::dO, v.k);
    if (!O || !dO || v.problem.d() > most_terms) return;
    Numbers products;
    for (int c = 0; c < v.problem.d(); ++c)
        products.push_back(product({num(v.trace, Slot::dO, v.at(*dO.value, v.row, c)),
                                    num(v.trace, Slot::O, v.at(*O.value, v.row, c))}));
    const Expr all = sum(std::move(products));
    Aside aside;
    aside.label = "the same from dO and O, as FlashAttention does it";
    aside.formula = join({sym(Slot::Di), "  =  rowsum(", sym(Slot::dO), " ⊙ ", sym(Slot::O), ")"});
    aside.numbers = write(all, evaluate(all));
    aside.result = result_line(v, Slot::Di, evaluate(all));
    v.out.asides.push_back(std::move(aside));
}

void sink_gradient(const View& v) {
    const Expr sink = v.number(Slot::sink, 0, 0);
    Numbers terms;
    for (int r = 0; r < v.problem.N(); ++r) {
        const Expr L = v.number(Slot::L, r, 0), D = v.number(Slot::Di, r, 0);
        terms.push_back(product({exponential(difference(sink, L)), D}));
    }
    v.out.formula =
        join({sym(Slot::dsink), "  ←  −Σ exp(", sym(Slot::sink), " − ", sym(Slot::L), ") ", sym(Slot::Di)});
    tell_sink_gradient(v, std::move(terms));
}

void ds(const View& v) {
    const Expr weight = v.number(Slot::P_hbm), slope = v.number(Slot::dP_hbm), mean = v.number(Slot::Di);
    const double P = weight.value, dP = slope.value, D = mean.value;
    v.out.formula = join({score_gradient(v.trace, v.k), "  ←  ", sym(Slot::Prob), " ⊙ (", sym(Slot::dP),
                          " − ", sym(Slot::Di), ")"});
    v.out.numbers = write(product({weight, difference(slope, mean)}), v.result());
    tell_competition(v, P, dP, D);
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    const auto [shown_dP, shown_D] = format_apart(dP, D);
    v.out.kind = P == 0 ? 0 : dP == D ? 1 : dP > D ? 2 : 3;
    if (v.out.kind == 0)
        v.out.why = visible(v.problem, v.row, v.col)
                        ? capitalised(q) + " gives " + k +
                              " weight 0, so a small change of this score changes nothing."
                        : capitalised(q) + " must not look at " + k + ": weight 0, and no gradient.";
    else if (v.out.kind == 1)
        v.out.why =
            "dP equals the mean of its row: moving weight between " + k + " and the rest changes nothing.";
    else if (v.out.kind == 2)
        v.out.why = "dP = " + shown_dP + " lies above the weighted mean " + shown_D + ": more attention to " +
                    k + " would raise the loss. So descent will lower this score.";
    else
        v.out.why = "dP = " + shown_dP + " lies below the weighted mean " + shown_D + ": more attention to " +
                    k + " would lower the loss. So descent will raise this score.";
}

void dq(const View& v) {
    const Numbers dS = v.numbers_in_row(Slot::dS_hbm, v.row), K = v.numbers_in_column(Slot::K, v.col);
    v.out.formula = join({sym(Slot::dQ), "  ←  ", scaled(v), sym(Slot::dS), " ", sym(Slot::K)});
    set_sum(v, dot(dS, K), v.problem.softmax_scale());
    const std::vector<int> most = strongest(dS, K);
    const bool silent = all_zero(dS, K);
    const std::string q = query_name(v, v.row);
    v.out.kind = row_is_zero(v, Slot::dS_hbm, v.row) ? 2 : silent ? 3 : most.size() > 1;
    if (v.out.kind == 2)
        v.out.why = "No score of " + q + " has a gradient, so neither has the query.";
    else if (silent)
        v.out.why = "Wherever a score of " + q + " has a gradient, its key has a 0 in this column.";
    else
        v.out.why = "The query moves along the keys, each pulling or pushing by its dS. In this column " +
                    names(v, most, key_name) + (most.size() == 1 ? " has" : " have") + " the strongest say.";
}

void dk(const View& v) {
    const Numbers dS = v.numbers_in_column(Slot::dS_hbm, v.row), Q = v.numbers_in_column(Slot::Q, v.col);
    v.out.formula = join({sym(Slot::dK), "  ←  ", scaled(v), transposed(sym(Slot::dS)), " ", sym(Slot::Q)});
    set_sum(v, dot(dS, Q), v.problem.softmax_scale());
    const std::vector<int> most = strongest(dS, Q);
    const bool silent = all_zero(dS, Q);
    const std::string k = key_name(v, v.row);
    v.out.kind = silent ? 2 : most.size() > 1;
    if (silent)
        v.out.why =
            "Nothing moves " + k + " in this column: each query has a 0 there, or its score no gradient.";
    else
        v.out.why = "The key hears from every query that looked at it. In this column " +
                    names(v, most, query_name) + (most.size() == 1 ? " has" : " have") +
                    " the strongest say.";
    v.out.why += " The order matters: Q dSᵀ would be another matrix, if it exists at all.";
}

}  // namespace tilewalk::dense
