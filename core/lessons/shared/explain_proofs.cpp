#include "core/lessons/shared/explain_proofs.h"
#include "core/walk/formula.h"
#include "core/walk/printed_table.h"

#include "core/problem/logits.h"
#include "core/problem/mask.h"

#include <cmath>

namespace tilewalk {

namespace {

constexpr int most_keys = 6;

Expr weight(double score, double m) { return exponential(difference(num(score, Role::S), num(m, Role::m))); }
Line weight_formula(const Line& m) { return join({"exp(", sym(Slot::S), " − ", m, ")"}); }

void add(const View& v, std::string label, Line formula, const Expr& numbers, Line result) {
    Aside aside;
    aside.label = std::move(label);
    aside.formula = std::move(formula);
    aside.numbers = write(numbers, evaluate(numbers));
    aside.result = equals(std::move(result), evaluate(numbers));
    v.out.asides.push_back(std::move(aside));
}

// Of the keys before this tile one that does not hold the maximum, so that its numbers differ from it.
std::optional<int> telling_key(const View& v, double old) {
    const int first = v.trace.live(Slot::Kj, v.k).value->region.row;
    std::optional<int> best;
    for (int key = first; key-- > 0;) {
        if (!visible(v.problem, v.row, key)) continue;
        if (!best || score_before_mask(v.problem, v.row, key) < old) best = key;
        if (score_before_mask(v.problem, v.row, *best) < old) break;
    }
    return best;
}

}  // namespace

void tell_why_alpha(const View& v, double old, double now) {
    const auto key = telling_key(v, old);
    if (!key) return;
    const double S = score_before_mask(v.problem, v.row, *key);
    const Expr alpha = exponential(difference(num(old, Role::m), num(now, Role::m)));
    add(v, "why this factor: the old weight of key " + str(*key) + ", times α",
        join({weight_formula(m_old()), " × exp(", m_old(), " − ", sym(Slot::m),
              ")  =  ", weight_formula(sym(Slot::m))}),
        product({weight(S, old), alpha}), weight_formula(sym(Slot::m)));
}

void tell_sum_in_one_go(const View& v) {
    const Held m = v.trace.live(Slot::m, v.k);
    if (!m || !m.value->region.contains(v.row, 0)) return;
    Numbers terms;
    if (const auto sink = v.problem.logits.sink) terms.push_back(weight(*sink, v.at(*m.value, v.row, 0)));
    for (int key = 0; key < v.problem.N_kv(); ++key)
        if (visible(v.problem, v.row, key))
            terms.push_back(weight(score_before_mask(v.problem, v.row, key), v.at(*m.value, v.row, 0)));
    if (terms.empty() || static_cast<int>(terms.size()) > most_keys) return;
    add(v, "the same ℓ over the whole row at once",
        join({sym(Slot::l), "  =  ",
              v.problem.logits.sink ? join({"exp(", sym(Slot::sink), " − ", sym(Slot::m), ") + "}) : Line{},
              "Σ ", weight_formula(sym(Slot::m))}),
        sum(std::move(terms)), sym(Slot::l));
}

void tell_competition(const View& v, double P, double dP, double D) {
    if (P <= 0 || P >= 1 || !std::isfinite(dP) || !std::isfinite(D)) return;
    const Expr weight = num(v.trace, Slot::Prob, P), slope = num(v.trace, Slot::dP, dP),
               mean = num(v.trace, Slot::D, D);
    const Line p = sym(Slot::Prob), dp = sym(Slot::dP), dS = score_gradient(v.trace, v.k);
    add(v, "it gains, and all weights give up for it",
        join({dS, "  =  ", p, " ", dp, " − ", p, " ", sym(Slot::Di)}),
        difference(product({weight, slope}), product({weight, mean})), dS);
}

void write_score_gradient(const View& v, Slot P, Slot dP, Slot D, Format format) {
    constexpr int most_cells = 256;  // a larger tile has no numbers on screen
    const auto cell = [&](int row, int col) {
        const auto of = [&](Slot slot, int c) { return num(v.trace, slot, v.at(v.read(slot), row, c)); };
        return rounded(format, product({of(P, col), difference(of(dP, col), of(D, 0))}));
    };
    const Value& tile = v.written(v.out.target.slot);
    std::vector<Computed> beside;
    for (int n = 0; n < tile.region.rows * tile.region.cols && tile.data.size() <= most_cells; ++n) {
        const int row = tile.region.row + n / tile.region.cols, col = tile.region.col + n % tile.region.cols;
        if (const double dS = v.at(tile, row, col); std::isfinite(dS)) beside.push_back({cell(row, col), dS});
    }
    v.out.numbers = write_beside({cell(v.row, v.col), v.result()}, beside);
}

}  // namespace tilewalk
