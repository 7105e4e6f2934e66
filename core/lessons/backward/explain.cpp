// The words and numbers of the tiled backward pass but for the gradients: D, loads, starts, P, stores.
#include "core/lessons/backward/explain.h"

#include "core/base/exactly.h"
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_loads.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

void explain_preprocess(const View& v) {
    if (v.out.target.slot == Slot::dQ) {
        v.out.formula = join({sym(Slot::dQ), "  ←  0   in HBM"});
        v.out.why = "dQ grows in HBM, key block by key block: it must start there as 0.";
        return;
    }
    const Numbers dO = v.numbers_in_row(Slot::dO, v.row), O = v.numbers_in_row(Slot::O, v.row);
    const bool any = std::ranges::any_of(dO, [](const Expr& e) { return e.value != 0; });
    v.out.formula = join({sym(Slot::D), "  ←  rowsum(", sym(Slot::dO), " ⊙ ", sym(Slot::O), ")"});
    const bool blind = v.at(*v.trace.live(Slot::L, v.step.i, v.k).value, v.row, 0) == minus_infinity;
    v.out.kind = blind ? 2 : !any;
    v.out.why = blind  ? v.first_query() + " sees no key, so its output is 0 and so is D."
                : !any ? "No gradient arrives at " + v.query() + ": its D and all its score gradients are 0."
                       : "D is the mean of dP over all keys, weighted with P. It equals dO · O, so " +
                             v.query() + " needs one dot product for it and no pass over the keys.";
    if (any && !blind && v.problem.logits.sink) add_sentence(v, "The sink counts in it with a dP of 0.");
    set_numbers(v, rounded(v.problem.precision.softmax, dot(dO, O)));
}

// What the step read of the row, in whichever block it lies.
Expr row_number(const View& v, Slot slot, int r) {
    for (const Access& a : v.trace.reads(v.k))
        if (a.slot == slot && v.trace.value(a.value).region.contains(r, 0)) {
            v.source(slot, r, 0);
            return num(v.trace, slot, v.at(v.trace.value(a.value), r, 0));
        }
    return num(0);
}

void explain_sink_gradient(const View& v) {
    const int N = v.problem.N();
    const Expr sink = v.number(Slot::sink, 0, 0);
    Numbers terms;
    for (int r = 0; r < N; ++r)
        terms.push_back(
            product({exponential(difference(sink, row_number(v, Slot::L, r))), row_number(v, Slot::D, r)}));
    v.out.formula =
        join({sym(Slot::dsink), "  ←  −Σ exp(", sym(Slot::sink), " − ", sym(Slot::L), ") ", sym(Slot::D)});
    tell_sink_gradient(v, std::move(terms), v.problem.precision.softmax);
}

void explain_load_kv(const View& v) {
    const int j = v.step.j, times = query_blocks_looking(v.problem, j);
    if (v.step.i < 0) v.out.place = "key block " + str(j);
    tell_key_load(v,
                  (keys_outside(v)
                       ? "Key block " + str(j) + " comes on chip once and stays while the query blocks pass."
                   : times == 1 ? "Only this query block looks at key block " + str(j) + ": it is read once."
                                : "Key block " + str(j) + " is read " + str(times) +
                                      " times, once for each query block that looks at it.") +
                      " K and V");
}

void explain_init(const View& v) {
    if (keys_outside(v)) {
        v.out.place = "key block " + str(v.step.j);
        v.out.formula = join({sym(Slot::dKj, v.step.j), " ← 0,  ", sym(Slot::dVj, v.step.j), " ← 0"});
        v.out.why =
            "While the query blocks pass, dK and dV of this key block grow on chip; nobody else writes "
            "to them, so they start here at 0.";
    } else if (v.step.i < 0) {
        v.out.place = "all key blocks";
        v.out.formula = join({sym(Slot::dK), " ← 0,  ", sym(Slot::dV), " ← 0   in HBM"});
        v.out.why = "With query blocks outside, every query block adds to every key it looks at: dK and dV "
                    "grow in HBM and must start there at 0.";
    } else {
        v.out.formula = join({sym(Slot::dQi, v.step.i), " ← 0"});
        v.out.why = "While the key blocks pass, dQ of this query block grows on chip; it starts here at 0.";
    }
}

Slot hbm_of(Slot chip) {
    return chip == Slot::Qi ? Slot::Q : chip == Slot::dOi ? Slot::dO : chip == Slot::Li ? Slot::L : Slot::D;
}

void explain_load_q(const View& v) {
    const Region q = v.written(Slot::Qi).region;
    const int e = v.problem.element_bytes, i = v.step.i;
    v.out.formula = join({sym(Slot::Qi, i), ", ", sym(Slot::dOi, i), ", ", sym(Slot::Li, i), ", ",
                          sym(Slot::Di, i), "  ←  " + range(q.row, q.rows, "row", "rows")});
    const Expr rows = product({num(2), num(q.rows), num(q.cols), num(e)});
    set_bytes(v, sum({rows, product({num(2), num(q.rows), num(4)})}), "bytes read");
    const int times = key_blocks_seen(v.problem, i);
    const std::string what = " L and D are one number per query: all that P and dS need of the whole row.";
    v.out.why = (!keys_outside(v)
                     ? "Query block " + str(i) + " comes on chip once and stays while the key blocks pass."
                 : times == 1 ? "Query block " + str(i) + " sees this key block only: it is read once."
                              : "Query block " + str(i) + " is read " + str(times) +
                                    " times, once for each key block that it sees.") +
                what;
    const Slot slot = v.out.target.slot;
    if (v.problem.precision.inputs != Format::fp64 && (slot == Slot::Qi || slot == Slot::dOi))
        tell_input_rounding(v, slot == Slot::Qi ? v.problem.Q : output_gradient(v.problem));
    v.source(hbm_of(slot), v.row, v.col);
}

void explain_scores(const View& v) {
    explain_score(v, "The forward pass kept no S, so this score of " + v.query() + " and " + v.key() +
                         " is computed again: arithmetic on chip costs less than reading an N × N matrix.");
}

// P from m and ℓ, which some programs store in place of L.
Aside from_m_and_l(const View& v, double score) {
    const double m = v.at(*v.trace.live(Slot::m_hbm, v.step.i, v.k).value, v.row, 0),
                 l = v.at(*v.trace.live(Slot::l_hbm, v.step.i, v.k).value, v.row, 0);
    const double weight = exp_exactly(score - m) / l;
    Aside out;
    const bool same = !v.problem.broken();
    out.label = same ? "the same from m and ℓ" : "as the forward pass had it, from m and ℓ";
    out.formula =
        join({sym(Slot::Prob), "  =  exp(", sym(Slot::S), " − ", sym(Slot::m_hbm), ") ⊘ ", sym(Slot::l_hbm)});
    out.numbers =
        write(quotient(exponential(difference(num(v.trace, Slot::S, score), num(v.trace, Slot::m_hbm, m))),
                       num(v.trace, Slot::l_hbm, l)),
              weight);
    out.result =
        equals({symbol(Slot::Prob), word(index_text(v))}, text_alone(v.trace.digits(Slot::Prob), weight));
    return out;
}

// Without L, or for a key that the mask should hide; empty where the weight is what it should be.
std::string broken_weight(const View& v, double score, double L) {
    const std::string query = v.query(), key = v.key();
    if (!visible(v.problem, v.row, v.col) && std::isfinite(score))
        return "Fault: the mask should hide " + key + " from " + query +
               ". The forward pass did, so L does not "
               "count it, and the weights of this row sum to more than 1.";
    if (score == minus_infinity && passes_mask(v.problem, v.row, v.col))
        return "The score overflowed to −∞, so " + key + " has no weight with " + query + ".";
    if (v.problem.switches.no_lse && std::isfinite(L) && score != minus_infinity)
        return "Fault: without L the weight is exp(S), not divided by the sum of its row; it should be " +
               num_text(exp_exactly(score - L)) + ".";
    return {};
}

void explain_recompute(const View& v) {
    const bool no_lse = v.problem.switches.no_lse;
    const Expr exponent = v.number(Slot::S);
    const double score = exponent.value, L = v.at(v.read(Slot::Li), v.row, 0);
    const double base = L == minus_infinity ? 0 : L;
    v.out.formula = join({sym(Slot::Prob), "  ←  exp(", sym(Slot::S),
                          no_lse ? Line{} : join({" − ", sym(Slot::Li, v.step.i)}), ")"});
    v.out.kind = L == minus_infinity ? 2 : score == minus_infinity ? 1 : 0;
    v.out.why =
        L == minus_infinity
            ? v.first_query() + " saw no key: L = −∞, 0 stands in for it, and its weights are 0."
        : score == minus_infinity
            ? "A masked score gives weight 0 again: no gradient will pass between " + v.query() + " and " +
                  v.key() + "."
            : "One exp gives the final weight of " + v.query() + " on " + v.key() +
                  ": L = m + ln ℓ holds maximum and sum of the whole row, so no other key block is needed.";
    if (std::string fault = broken_weight(v, score, L); !fault.empty())
        v.out.why = fault, v.out.kind = faulty;
    if (std::isfinite(L)) v.out.asides.push_back(from_m_and_l(v, score));
    if (!no_lse) v.source(Slot::Li, v.row, 0);
    set_numbers(
        v, rounded(v.problem.precision.softmax,
                   exponential(no_lse ? exponent : difference(exponent, num(base, info(Slot::Li).role)))));
}

void explain_gradient_store(const View& v) {
    const bool keys = keys_outside(v);
    if (keys) v.out.place = "key block " + str(v.step.j);
    const Slot chip = !keys ? Slot::dQi : v.out.target.slot == Slot::dK ? Slot::dKj : Slot::dVj;
    v.out.formula = keys ? join({sym(Slot::dK), " ← ", sym(Slot::dKj, v.step.j), ",   ", sym(Slot::dV), " ← ",
                                 sym(Slot::dVj, v.step.j)})
                         : join({sym(Slot::dQ), "  ←  ", sym(Slot::dQi, v.step.i)});
    const bool none =
        keys ? query_blocks_looking(v.problem, v.step.j) == 0 : key_blocks_seen(v.problem, v.step.i) == 0;
    v.out.kind = none;
    v.out.why = none && keys ? "No query looks at these keys, so their gradients leave the chip as 0."
                : none       ? "These queries see no key, so their gradient leaves the chip as 0."
                : keys ? "Every query block has added its share: dK and dV of this key block are final, "
                         "and this is their only write."
                       : "Every key block has added its share: dQ of this query block is final, and this "
                         "is its only write.";
    v.source(chip, v.row, v.col);
    tell_copy_rounding(v, v.problem.precision.output, v.at(v.read(chip), v.row, v.col));
}

}  // namespace

void explain_flash_backward(const View& v) {
    switch (v.step.op) {
    case Op::preprocess: return explain_preprocess(v);
    case Op::sink_gradient: return explain_sink_gradient(v);
    case Op::load_kv: return explain_load_kv(v);
    case Op::init: return explain_init(v);
    case Op::load_q: return explain_load_q(v);
    case Op::scores: return explain_scores(v);
    case Op::softcap:
    case Op::bias:
    case Op::mask:
    case Op::skip: return explain_forward(v);
    case Op::recompute: return explain_recompute(v);
    case Op::dv: return explain_dv(v);
    case Op::dp: return explain_dp(v);
    case Op::ds: return explain_ds(v);
    case Op::cap_gradient:
        return explain_cap_gradient(v, {v.query(), v.key(), Slot::S_cap, v.problem.precision.softmax});
    case Op::dq: return explain_dq(v);
    case Op::dk: return explain_dk(v);
    case Op::store: return explain_gradient_store(v);
    default: return;
    }
}

std::string say_gradient(const Trace& trace, int k, const Explanation& e) {
    constexpr std::string_view compete = "The weights of a row compete. ";
    if (trace.step(k).op == Op::ds && e.why.starts_with(compete)) {
        const std::string rest = e.why.substr(compete.size());
        return rest.substr(0, rest.find(". ") == rest.npos ? rest.size() : rest.find(". ") + 1);
    }
    if (trace.step(k).op == Op::preprocess && e.why.starts_with("D is the mean"))
        return "rowsum(dO ⊙ O) is also rowsum(P ⊙ dP), the mean of dP weighted with P: no pass over the "
               "keys.";
    return {};
}

}  // namespace tilewalk
