// The words and numbers of the dense backward pass: dV, dP, D, dS, dQ, dK.
#include "core/lessons/dense/explain_parts.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::dense {

namespace {

// A sum of products, one for each query (or key, or column), and which of them says most.
struct Products {
    std::vector<Expr> terms;
    std::vector<double> values;
    void add(double a, Role role_a, double b, Role role_b) {
        terms.push_back(product({num(a, role_a), num(b, role_b)}));
        values.push_back(a * b);
    }
    bool all_zero() const {
        return std::ranges::all_of(values, [](double x) { return x == 0; });
    }
    std::vector<int> strongest() const {
        std::vector<double> sizes;
        for (double x : values) sizes.push_back(std::abs(x));
        return largest(sizes);
    }
};

bool row_is_zero(const Value& A, int local_row) { return A.data.row(local_row).isZero(0); }

Line scaled(const View& v) { return v.problem.softmax_scale() == 1.0 ? Line{} : text("scale · "); }

}  // namespace

// The tutorial computes by hand and goes on with rounded numbers.
void tutorial_note(const View& v) {
    if (v.problem.name != "worked-4x4") return;
    const auto is = [&](Slot slot, int r, int c) { return v.out.target == CellRef{slot, r, c}; };
    const char* printed = is(Slot::Di, 0, 0)   ? "34.83"
                          : is(Slot::dQ, 0, 1) ? "1.18"
                          : is(Slot::dQ, 2, 0) ? "−3.14"
                          : is(Slot::dQ, 2, 1) ? "3.14"
                                               : nullptr;
    if (printed)
        v.out.why += std::string(" The tutorial prints ") + printed + ": it went on with rounded numbers.";
    if (v.out.target.slot == Slot::dS_hbm && v.row == 0)
        v.out.why += " The tutorial reads the sign the other way round.";
}

void dv(const View& v) {
    const Value &P = v.read(Slot::P_hbm), &dO = v.read(Slot::dO);
    Products sum_over_queries;
    double received = 0;  // what queries with a gradient look at this key
    for (int r = 0; r < P.region.rows; ++r) {
        sum_over_queries.add(v.at(P, r, v.row), Role::S, v.at(dO, r, v.col), Role::O);
        if (!row_is_zero(dO, r)) received += v.at(P, r, v.row);
    }
    v.out.formula =
        join({sym(Slot::dV), text("  ←  "), transposed(sym(Slot::Prob)), text(" "), sym(Slot::dO)});
    const std::vector<int> most = sum_over_queries.strongest();
    const bool silent = sum_over_queries.all_zero();
    set_sum(v, std::move(sum_over_queries.terms));
    set_result(v);
    const std::string k = key_name(v, v.row);
    v.out.kind = silent ? 2 : received == 0 ? 2 : most.size() > 1;
    if (silent)
        v.out.why = "No query sends a gradient here: each either has dO = 0 in this column or gives " + k +
                    " no weight.";
    else
        v.out.why = "A value answers for every output that it went into, by its share. The largest part here "
                    "comes from " +
                    (most.size() == 1 ? query_name(v, most[0]) + ", which attends " +
                                            percent(v.at(P, most[0], v.row)) + " to " + k + "."
                                      : names(v, most, query_name) + ".");
    v.source_column(Slot::P_hbm, P, v.row);
    v.source_column(Slot::dO, dO, v.col);
}

void dp(const View& v) {
    const Value &dO = v.read(Slot::dO), &V = v.read(Slot::V);
    Products products;
    for (int c = 0; c < v.problem.d(); ++c)
        products.add(v.at(dO, v.row, c), Role::O, v.at(V, v.col, c), Role::V);
    v.out.formula = join({sym(Slot::dP), text("  ←  "), sym(Slot::dO), text(" "), transposed(sym(Slot::V))});
    set_sum(v, std::move(products.terms));
    set_result(v);
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    v.out.kind = row_is_zero(dO, v.row) ? 1 : visible(v.problem, v.row, v.col) ? 0 : 2;
    if (v.out.kind == 1)
        v.out.why = "The loss does not depend on the output of " + q +
                    " (its row of dO is 0), so none of its "
                    "weights matters.";
    else if (v.out.kind == 2)
        v.out.why = "Computed like every other entry, but " + q + " must not look at " + k +
                    ": its weight of 0 will cancel it.";
    else
        v.out.why = "How fast would the loss change if " + q + " paid more attention to " + k +
                    "? As fast as that value agrees with what the output row is asked for.";
    v.source_row(Slot::dO, dO, v.row);
    v.source_row(Slot::V, V, v.col);
}

void row_dot(const View& v) {
    const Value &P = v.read(Slot::P_hbm), &dP = v.read(Slot::dP_hbm);
    Products products;
    for (int c = 0; c < P.region.cols; ++c)
        products.add(v.at(P, v.row, c), Role::S, v.at(dP, v.row, c), Role::S);
    v.out.formula =
        join({sym(Slot::Di), text("  ←  rowsum("), sym(Slot::Prob), text(" ⊙ "), sym(Slot::dP), text(")")});
    set_sum(v, std::move(products.terms));
    set_result(v);
    const std::string q = query_name(v, v.row);
    v.out.kind = row_is_zero(P, v.row) ? 1 : row_is_zero(dP, v.row) ? 2 : 0;
    if (v.out.kind == 1)
        v.out.why = capital(q) + " sees no key, so there is nothing to average.";
    else if (v.out.kind == 2)
        v.out.why = "The whole row of dP is 0, and so is its mean.";
    else
        v.out.why = "The weights of " + q +
                    " sum to 1, so this is the mean of its dP. Raising one weight "
                    "lowers the others; what counts is how far a key lies from this mean.";
    v.source_row(Slot::P_hbm, P, v.row);
    v.source_row(Slot::dP_hbm, dP, v.row);
    tutorial_note(v);

    // D without P and dP: what makes the tiled backward pass possible
    const Held O = v.trace.live(Slot::O, v.k), dO = v.trace.live(Slot::dO, v.k);
    if (!O || !dO || v.problem.d() > most_terms) return;
    std::vector<Expr> terms;
    double total = 0;
    for (int c = 0; c < v.problem.d(); ++c) {
        terms.push_back(
            product({num(v.at(*dO.value, v.row, c), Role::O), num(v.at(*O.value, v.row, c), Role::O)}));
        total += v.at(*dO.value, v.row, c) * v.at(*O.value, v.row, c);
    }
    Aside aside;
    aside.label = "the same from dO and O, as FlashAttention does it";
    aside.formula =
        join({sym(Slot::Di), text("  =  rowsum("), sym(Slot::dO), text(" ⊙ "), sym(Slot::O), text(")")});
    aside.numbers = write(terms.size() == 1 ? terms[0] : sum(std::move(terms)), total);
    aside.result = join({sym(Slot::Di), text(index_text(v) + " = "), {strong_number(num_text(total))}});
    v.out.asides.push_back(std::move(aside));
}

void ds(const View& v) {
    const double P = v.at(v.read(Slot::P_hbm), v.row, v.col), dP = v.at(v.read(Slot::dP_hbm), v.row, v.col),
                 D = v.at(v.read(Slot::Di), v.row, 0);
    v.out.formula = join({sym(Slot::dS), text("  ←  "), sym(Slot::Prob), text(" ⊙ ("), sym(Slot::dP),
                          text(" − "), sym(Slot::Di), text(")")});
    v.out.numbers =
        write(product({num(P, Role::S), difference(num(dP, Role::S), num(D, Role::alpha))}), v.result());
    set_result(v);
    const std::string q = query_name(v, v.row), k = key_name(v, v.col);
    const auto [shown_dP, shown_D] = format_apart(dP, D);
    v.out.kind = P == 0 ? 0 : dP == D ? 1 : dP > D ? 2 : 3;
    if (v.out.kind == 0)
        v.out.why =
            visible(v.problem, v.row, v.col)
                ? capital(q) + " gives " + k + " weight 0, so a small change of this score changes nothing."
                : capital(q) + " must not look at " + k + ": weight 0, and no gradient.";
    else if (v.out.kind == 1)
        v.out.why =
            "dP equals the mean of its row: moving weight between " + k + " and the rest changes nothing.";
    else if (v.out.kind == 2)
        v.out.why = "dP = " + shown_dP + " lies above the row's mean " + shown_D + ": more attention to " +
                    k + " would raise the loss, so descent will lower this score.";
    else
        v.out.why = "dP = " + shown_dP + " lies below the row's mean " + shown_D + ": more attention to " +
                    k + " would lower the loss, so descent will raise this score.";
    v.source(Slot::P_hbm, v.row, v.col);
    v.source(Slot::dP_hbm, v.row, v.col);
    v.source(Slot::Di, v.row, 0);
    tutorial_note(v);
}

void dq(const View& v) {
    const Value &dS = v.read(Slot::dS_hbm), &K = v.read(Slot::K);
    Products products;
    for (int c = 0; c < dS.region.cols; ++c)
        products.add(v.at(dS, v.row, c), Role::S, v.at(K, c, v.col), Role::K);
    v.out.formula = join({sym(Slot::dQ), text("  ←  "), scaled(v), sym(Slot::dS), text(" "), sym(Slot::K)});
    const std::vector<int> most = products.strongest();
    const bool silent = products.all_zero();
    set_sum(v, std::move(products.terms), v.problem.softmax_scale());
    set_result(v);
    const std::string q = query_name(v, v.row);
    v.out.kind = row_is_zero(dS, v.row) ? 2 : silent ? 3 : most.size() > 1;
    if (v.out.kind == 2)
        v.out.why = "No score of " + q + " has a gradient, so neither has the query.";
    else if (silent)
        v.out.why = "Wherever a score of " + q + " has a gradient, its key has a 0 in this column.";
    else
        v.out.why = "The query moves along the keys, each pulling or pushing by its dS; in this column " +
                    names(v, most, key_name) + (most.size() == 1 ? " has" : " have") + " the strongest say.";
    v.source_row(Slot::dS_hbm, dS, v.row);
    v.source_column(Slot::K, K, v.col);
    tutorial_note(v);
}

void dk(const View& v) {
    const Value &dS = v.read(Slot::dS_hbm), &Q = v.read(Slot::Q);
    Products products;
    for (int r = 0; r < dS.region.rows; ++r)
        products.add(v.at(dS, r, v.row), Role::S, v.at(Q, r, v.col), Role::Q);
    v.out.formula =
        join({sym(Slot::dK), text("  ←  "), scaled(v), transposed(sym(Slot::dS)), text(" "), sym(Slot::Q)});
    const std::vector<int> most = products.strongest();
    const bool silent = products.all_zero();
    set_sum(v, std::move(products.terms), v.problem.softmax_scale());
    set_result(v);
    const std::string k = key_name(v, v.row);
    v.out.kind = silent ? 2 : most.size() > 1;
    if (silent)
        v.out.why =
            "Nothing moves " + k + " in this column: each query has a 0 there, or its score no gradient.";
    else
        v.out.why = "The key hears from every query that looked at it; in this column " +
                    names(v, most, query_name) + (most.size() == 1 ? " has" : " have") +
                    " the strongest say.";
    v.out.why += " The order matters: some notes print Q dSᵀ, which is another matrix, if it exists at all.";
    v.source_column(Slot::dS_hbm, dS, v.row);
    v.source_column(Slot::Q, Q, v.col);
}

}  // namespace tilewalk::dense
