// The words and numbers of the gradients of one tile: dV, dP, dS, dQ, dK.
#include "core/lessons/backward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_proofs.h"

namespace tilewalk {

namespace {

// What grows by scale · Σ aᵢ bᵢ, where it stood before.
void set_sum(const View& v, const Expr& old, double scale, const Numbers& a, const Numbers& b) {
    const Expr total = scale == 1.0 ? dot(a, b, old) : sum({old, product({num(scale), dot(a, b)})});
    set_numbers(v, rounded(v.problem.precision.accumulator, total));
}

Line formula_of(const View& v, const Line& target, const Line& more) {
    const bool scaled = v.problem.softmax_scale() != 1.0;
    return join({target, "  ←  ", target, "  +  ", scaled ? text("scale · ") : Line{}, more});
}

}  // namespace

void explain_dv(const View& v) {
    const Region queries = v.read(Slot::Prob).region;
    const Expr old = v.number(keys_outside(v) ? Slot::dVj : Slot::dV);
    const Numbers P = v.numbers_in_column(Slot::Prob, v.row), dO = v.numbers_in_column(Slot::dOi, v.col);
    const bool any = std::ranges::any_of(P, [](const Expr& e) { return e.value != 0; });
    const Line target = sym(Slot::dVj, v.step.j);
    v.out.formula =
        join({target, "  ←  ", target, "  +  ", transposed(sym(Slot::Prob)), " ", sym(Slot::dOi, v.step.i)});
    v.out.kind = !any;
    v.out.why = any ? "In the forward pass " + range(queries.row, queries.rows, "query", "queries") +
                          " took value " + str(v.row) +
                          " with the weights P; the gradient comes back along the same weights."
                    : "No query of this block gave key " + str(v.row) +
                          " any weight, so its value gets no gradient from them.";
    tell_operand(v, "P enters");
    set_sum(v, old, 1, operands(v, P), dO);
}

void explain_dp(const View& v) {
    const Numbers dO = v.numbers_in_row(Slot::dOi, v.row), V = v.numbers_in_row(Slot::Vj, v.col);
    v.out.formula =
        join({sym(Slot::dP), "  ←  ", sym(Slot::dOi, v.step.i), " ", transposed(sym(Slot::Vj, v.step.j))});
    v.out.why = "How fast would the loss grow if " + v.query() + " put more weight on " + v.key() +
                "? As much as value " + str(v.col) + " points along dO.";
    set_numbers(v, rounded(v.problem.precision.scores, dot(dO, V)));
}

void explain_ds(const View& v) {
    const Expr weight = v.number(Slot::Prob), slope = v.number(Slot::dP), row_mean = v.number(Slot::Di);
    const double P = weight.value, dP = slope.value, D = row_mean.value;
    v.out.formula = join({score_gradient(v.trace, v.k), "  ←  ", sym(Slot::Prob), " ⊙ (", sym(Slot::dP),
                          " − ", sym(Slot::Di, v.step.i), ")"});
    const std::string key = v.key();
    const auto [value, mean] = format_apart(dP, D);
    v.out.kind = P == 0 ? 3 : dP == D ? 2 : dP < D;
    v.out.why = P == 0 ? v.first_key(v.col) + " has no weight with " + v.query() +
                             ", and a small change of its score would not give it any: no gradient."
                : dP == D ? "dP is exactly the mean of its row: shifting weight to " + key +
                                " would change nothing, so its score is left alone."
                : dP > D ? "The weights of a row compete. dP = " + value +
                               " is above the row's weighted mean D = " + mean + ", so a larger score for " +
                               key + " would raise the loss."
                         : "The weights of a row compete. dP = " + value +
                               " is below the row's weighted mean D = " + mean + ", so a larger score for " +
                               key + " would lower the loss.";
    if (!v.problem.broken()) tell_competition(v, P, dP, D);
    const Format format = v.problem.precision.softmax;
    set_numbers(v, rounded(format, product({weight, difference(slope, row_mean)})));
    write_score_gradient(v, Slot::Prob, Slot::dP, Slot::Di, format);
}

void explain_dq(const View& v) {
    const Expr old = v.number(keys_outside(v) ? Slot::dQ : Slot::dQi);
    const Numbers dS = v.numbers_in_row(Slot::dS, v.row), K = v.numbers_in_column(Slot::Kj, v.col);
    v.out.formula =
        formula_of(v, sym(Slot::dQi, v.step.i), join({sym(Slot::dS), " ", sym(Slot::Kj, v.step.j)}));
    v.out.why = keys_outside(v)
                    ? v.first_query() +
                          " hears from every key block, and the key blocks are outside: its dQ is read from "
                          "HBM, increased and written back, in 4 bytes per element."
                    : v.first_query() + " stays on chip while the key blocks pass, so its dQ grows "
                                        "there and moves no bytes.";
    tell_operand(v, "dS enters");
    set_sum(v, old, v.problem.softmax_scale(), operands(v, dS), K);
}

void explain_dk(const View& v) {
    const Region queries = v.read(Slot::dS).region;
    const Expr old = v.number(keys_outside(v) ? Slot::dKj : Slot::dK);
    const Numbers dS = v.numbers_in_column(Slot::dS, v.row), Q = v.numbers_in_column(Slot::Qi, v.col);
    v.out.formula = formula_of(v, sym(Slot::dKj, v.step.j),
                               join({transposed(sym(Slot::dS)), " ", sym(Slot::Qi, v.step.i)}));
    v.out.why =
        keys_outside(v)
            ? v.first_key(v.row) + " stays on chip while the query blocks pass, so its dK grows there: " +
                  range(queries.row, queries.rows, "query", "queries") +
                  (queries.rows == 1 ? " adds its" : " add their") + " share, and no dK goes to HBM yet."
            : v.first_key(v.row) +
                  " hears from every query block, and they are outside: its dK is read from HBM, "
                  "increased and written back, in 4 bytes per element.";
    tell_operand(v, "dS enters");
    set_sum(v, old, v.problem.softmax_scale(), operands(v, dS), Q);
}

}  // namespace tilewalk
