// The words and numbers of the gradients of one tile: dV, dP, dS, dQ, dK.
#include "core/lessons/backward/explain.h"
#include "core/lessons/shared/explain_faults.h"

#include <algorithm>

namespace tilewalk {

namespace {

// A sum before this step: from the chip, or from HBM where it grows there.
struct Old {
    Slot slot;
    double value;
};
Old old_of(const View& v, Slot chip, Slot hbm, bool in_hbm) {
    const Slot slot = in_hbm ? hbm : chip;
    return {slot, v.at(v.read(slot), v.row, v.col)};
}

Expr total(const Old& old, Role role, double scale, std::vector<Expr> terms) {
    if (scale == 1.0) {
        terms.insert(terms.begin(), num(old.value, role));
        return sum(std::move(terms));
    }
    const Expr more = terms.size() == 1 ? terms[0] : sum(std::move(terms));
    return sum({num(old.value, role), product({num(scale), more})});
}

// P or dS as it enters a product.
Expr operand(const View& v, double value) {
    return rounded(operand_format(v.problem.precision), num(value, Role::S));
}

Line formula_of(const View& v, const Line& target, const Line& more) {
    const bool scaled = v.problem.softmax_scale() != 1.0;
    return join({target, text("  ←  "), target, text("  +  "), scaled ? text("scale · ") : Line{}, more});
}

// The step shows a cell of the tile on chip or of the one in HBM; both hold the same numbers.
void show(const View& v, const Old& old) {
    set_result(v, v.result());
    v.source(old.slot, v.row, v.col);
}

}  // namespace

void explain_dv(const View& v) {
    const Value &P = v.read(Slot::Prob), &dO = v.read(Slot::dOi);
    const Old old = old_of(v, Slot::dVj, Slot::dV, !keys_outside(v));
    std::vector<Expr> terms;
    bool any = false;
    for (int r = P.region.row; r < P.region.row + P.region.rows; ++r) {
        any |= v.at(P, r, v.row) != 0;
        terms.push_back(product({operand(v, v.at(P, r, v.row)), num(v.at(dO, r, v.col), Role::O)}));
    }
    const Line target = sym(Slot::dVj, v.step.j);
    v.out.formula = join({target, text("  ←  "), target, text("  +  "), transposed(sym(Slot::Prob)),
                          text(" "), sym(Slot::dOi, v.step.i)});
    show(v, old);
    v.out.kind = !any;
    v.out.why = any ? "In the forward pass " + range(P.region.row, P.region.rows, "query", "queries") +
                          " took value " + str(v.row) +
                          " with the weights P; the gradient comes back along the same weights."
                    : "No query of this block gave key " + str(v.row) +
                          " any weight, so its value gets no gradient from them.";
    v.source_column(Slot::Prob, P, v.row);
    v.source_column(Slot::dOi, dO, v.col);
    tell_operand(v, "P enters");
    set_numbers(v, rounded(v.problem.precision.accumulator, total(old, Role::V, 1, std::move(terms))));
}

void explain_dp(const View& v) {
    const Value &dO = v.read(Slot::dOi), &V = v.read(Slot::Vj);
    std::vector<Expr> terms;
    for (int c = 0; c < dO.region.cols; ++c)
        terms.push_back(product({num(v.at(dO, v.row, c), Role::O), num(v.at(V, v.col, c), Role::V)}));
    v.out.formula = join({sym(Slot::dP), text("  ←  "), sym(Slot::dOi, v.step.i), text(" "),
                          transposed(sym(Slot::Vj, v.step.j))});
    const Expr dot = terms.size() == 1 ? terms[0] : sum(std::move(terms));
    set_result(v, v.result());
    v.out.why = "How fast would the loss grow if query " + str(v.row) + " put more weight on key " +
                str(v.col) + "? As much as value " + str(v.col) + " points along dO.";
    v.source_row(Slot::dOi, dO, v.row);
    v.source_row(Slot::Vj, V, v.col);
    set_numbers(v, rounded(v.problem.precision.scores, dot));
}

void explain_ds(const View& v) {
    const double P = v.at(v.read(Slot::Prob), v.row, v.col), dP = v.at(v.read(Slot::dP), v.row, v.col),
                 D = v.at(v.read(Slot::Di), v.row, 0);
    v.out.formula = join({sym(Slot::dS), text("  ←  "), sym(Slot::Prob), text(" ⊙ ("), sym(Slot::dP),
                          text(" − "), sym(Slot::Di, v.step.i), text(")")});
    set_result(v, v.result());
    const std::string key = "key " + str(v.col), query = "query " + str(v.row);
    const auto [value, mean] = format_apart(dP, D);
    v.out.kind = P == 0 ? 3 : dP == D ? 2 : dP < D;
    v.out.why = P == 0 ? "Key " + str(v.col) + " has no weight with " + query +
                             ", and a small change of its score would not give it any: no gradient."
                : dP == D ? "dP is exactly the mean of its row: shifting weight to " + key +
                                " would change nothing, so its score is left alone."
                : dP > D
                    ? "The weights of a row compete. dP = " + value + " is above the row's mean D = " + mean +
                          ", so a larger score for " + key + " would raise the loss."
                    : "The weights of a row compete. dP = " + value + " is below the row's mean D = " + mean +
                          ", so a larger score for " + key + " would lower the loss.";
    v.source(Slot::Prob, v.row, v.col);
    v.source(Slot::dP, v.row, v.col);
    v.source(Slot::Di, v.row, 0);
    set_numbers(v, rounded(v.problem.precision.softmax,
                           product({num(P, Role::S), difference(num(dP, Role::S), num(D, Role::alpha))})));
}

void explain_dq(const View& v) {
    const Value &dS = v.read(Slot::dS), &K = v.read(Slot::Kj);
    const Old old = old_of(v, Slot::dQi, Slot::dQ, keys_outside(v));
    std::vector<Expr> terms;
    for (int c = dS.region.col; c < dS.region.col + dS.region.cols; ++c)
        terms.push_back(product({operand(v, v.at(dS, v.row, c)), num(v.at(K, c, v.col), Role::K)}));
    v.out.formula =
        formula_of(v, sym(Slot::dQi, v.step.i), join({sym(Slot::dS), text(" "), sym(Slot::Kj, v.step.j)}));
    show(v, old);
    v.out.why = keys_outside(v)
                    ? "Query " + str(v.row) +
                          " hears from every key block, and the key blocks are outside: its dQ is read from "
                          "HBM, increased and written back, in 4 bytes per element."
                    : "Query " + str(v.row) +
                          " stays on chip while the key blocks pass, so its dQ grows "
                          "there and moves no bytes.";
    v.source_row(Slot::dS, dS, v.row);
    v.source_column(Slot::Kj, K, v.col);
    tell_operand(v, "dS enters");
    set_numbers(v, rounded(v.problem.precision.accumulator,
                           total(old, Role::Q, v.problem.softmax_scale(), std::move(terms))));
}

void explain_dk(const View& v) {
    const Value &dS = v.read(Slot::dS), &Q = v.read(Slot::Qi);
    const Old old = old_of(v, Slot::dKj, Slot::dK, !keys_outside(v));
    std::vector<Expr> terms;
    for (int r = dS.region.row; r < dS.region.row + dS.region.rows; ++r)
        terms.push_back(product({operand(v, v.at(dS, r, v.row)), num(v.at(Q, r, v.col), Role::Q)}));
    v.out.formula = formula_of(v, sym(Slot::dKj, v.step.j),
                               join({transposed(sym(Slot::dS)), text(" "), sym(Slot::Qi, v.step.i)}));
    show(v, old);
    v.out.why = keys_outside(v)
                    ? "Key " + str(v.row) + " is on chip for all query blocks, so its dK grows there: " +
                          range(dS.region.row, dS.region.rows, "query", "queries") +
                          (dS.region.rows == 1 ? " adds its" : " add their") +
                          " share without a byte of traffic."
                    : "Key " + str(v.row) +
                          " hears from every query block, and they are outside: its dK is read from HBM, "
                          "increased and written back, in 4 bytes per element.";
    v.source_column(Slot::dS, dS, v.row);
    v.source_column(Slot::Qi, Q, v.col);
    tell_operand(v, "dS enters");
    set_numbers(v, rounded(v.problem.precision.accumulator,
                           total(old, Role::K, v.problem.softmax_scale(), std::move(terms))));
}

}  // namespace tilewalk
