// The words and numbers of the ops that update ℓ and O: correction to store, and skip.
#include "core/base/exactly.h"
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_proofs.h"
#include "core/problem/mask.h"
#include "core/problem/savings.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

std::string bracketed(double value, const std::string& text) { return value < 0 ? "(" + text + ")" : text; }

// "2.718 times": how many times what they should be sums are that were measured from the old maximum.
std::string factor_text(const Move& move) {
    const double factor = exp_exactly(move.now - move.old);
    return std::isfinite(factor) ? num_text(factor) + " times" : "more than 10³⁰⁸ times";
}

// A query whose maximum is −∞: it saw no key, or no score that is a number.
std::string nothing_yet(const View& v) {
    return sees_some_key(v.problem, v.row, last_key(v)) ? "has no score above −∞" : "sees no key";
}

// A larger score has come in this tile, but lazy rescaling kept m.
bool lags(const View& v, double m) {
    const Held tile = saved_in(v.trace).lazy ? v.trace.live(Slot::m_tile, v.k) : Held{};
    return tile && tile.value->region.contains(v.row, 0) && v.at(*tile.value, v.row, 0) > m;
}

// What α does to the old sums, told with this row's numbers. `what` is "sum" or "output".
void rebase_sentence(const View& v, const std::string& what) {
    const Move move = move_of(v);
    const std::string query = v.query();
    v.out.kind = move.kind;
    if (std::string fault = broken_rebase(v, what); !fault.empty()) {
        v.out.why = fault;
        v.out.kind |= faulty;
        return;
    }
    const OfKinds words{
        .sees_no_key = v.first_query() + " still " + nothing_yet(v) + ": its " + what + " stays 0.",
        .starts = "α = 0 removes the empty start; the " + what + " of " + query + " begins with this tile" +
                  (what == "sum" ? "." : ", and is not divided by ℓ yet: that waits until the last key."),
        .rises = "α = exp(" + move.from + " − " + bracketed(move.now, move.to) + ") brings the old " + what +
                 " of " + query + " from max " + move.from + " to max " + move.to +
                 (what == "sum" ? ", so old and new weights share one scale."
                                : ": it is made of the same exponentials as ℓ, so the same α fits."),
        .stays = what == "sum" ? "α = 1: the maximum of " + query +
                                     " did not rise, so its old sum counts in full beside the new weights."
                               : "α = 1, as for ℓ: the maximum of " + query +
                                     " did not rise, and its old output just takes in the new values.",
    };
    v.out.why = words[move.kind];
    if (lags(v, move.now) && move.kind == stays)
        v.out.why = "α = 1: m of " + query + " was kept, so its old " + what +
                    " counts in full, and the new weights are measured from the same m.";
}

// α = 1, whatever the maximum did.
void explain_no_correction(const View& v, double old, double now) {
    const auto [from, to] = format_apart(old, now);
    const std::string query = v.query();
    v.out.formula = join({sym(Slot::alpha), "  ←  1"});
    const int kind = kind_of(old, now);
    v.out.kind = kind | faulty;
    if (kind == rises)
        v.out.why = "Fault: α should be exp(" + from + " − " + bracketed(now, to) +
                    ") = " + num_text(exp_exactly(old - now)) + ". The old sums of " + query +
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
}

// Without the maximum, or with the one of before this tile; empty where the weight is what it should be.
std::string broken_weight(const View& v, double score, const Move& move) {
    const Switches& off = v.problem.switches;
    const std::string query = v.query();
    const Format format = v.problem.precision.softmax;
    if (off.no_max && v.result() == 0)
        return "Fault: nothing is subtracted, and exp(" + num_text(score) + ") is too small for " +
               name(format) + ": the weight is lost.";
    if (off.no_max)
        return "Fault: nothing is subtracted. The division by ℓ would cancel the missing factor, but in " +
               std::string(name(format)) + " exp overflows beyond a score of " +
               largest_exponent_text(format) + ".";
    if (!off.stale_max) return {};
    if (move.old == minus_infinity)
        return "Fault: before its first keys the old maximum of " + query + " is −∞, and " + num_text(score) +
               " − (−∞) is ∞: the weight is exp(∞) = ∞.";
    if (move.kind == rises)
        return "Fault: this weight of " + query + " is measured from the old maximum " + move.from +
               " instead of " + move.to + ", so it is " + factor_text(move) + " what it should be.";
    return "A fault without effect here: the maximum of " + query + " did not rise in this tile.";
}

void weight_sentence(const View& v, double score, double base, const Move& move, const char* division) {
    const Format format = v.problem.precision.softmax;
    const bool overflows = std::isinf(round_to(format, exp_exactly(score)));
    v.out.kind = score == minus_infinity ? 1 : overflows ? 2 : 0;
    if (score == minus_infinity && !passes_mask(v.problem, v.row, v.col))
        v.out.why =
            "A masked score gives weight exp(−∞) = 0: " + v.key() + " does not count for " + v.query() + ".";
    else if (score == minus_infinity)
        v.out.why = "The score overflowed to −∞, so " + v.key() + " is lost for " + v.query() +
                    " as if it were masked.";
    else if (std::string fault = broken_weight(v, score, move); !fault.empty())
        v.out.why = fault, v.out.kind |= faulty;
    else if (score > base && lags(v, base))
        v.out.why = v.first_key(v.col) + " scores " + num_text(score - base) + " above m of " + v.query() +
                    ", which lazy rescaling kept: its weight exceeds 1, but not 2^τ. " + division,
        v.out.kind = 4;
    else if (score > base)
        v.out.why = "Rounding left m a little below this score, so the exponent is above 0.", v.out.kind = 4;
    else if (overflows)
        v.out.why = "exp(" + num_text(score) +
                    ") alone would overflow; with the maximum subtracted no exponent is above 0.";
    else if (score == base && saved_in(v.trace).lazy)
        v.out.why =
            v.first_key(v.col) + " scores just m of " + v.query() + " and weighs exp(0) = 1. " + division,
        v.out.kind = 3;
    else if (saved_in(v.trace).lazy)
        v.out.why = v.first_key(v.col) + " lies " + num_text(base - score) + " below m of " + v.query() +
                    ". " + division;
    else if (score == base)
        v.out.why = v.first_key(v.col) + " has the best score that " + v.query() +
                    " has met: it weighs exp(0) = 1, and no weight is above 1. " + division,
        v.out.kind = 3;
    else
        v.out.why = v.first_key(v.col) + " lies " + num_text(base - score) + " below the maximum of " +
                    v.query() + ", so no exponent is above 0 and nothing overflows. " + division;
}

// The row that `normalize` has nothing to divide in.
std::string empty_row(const View& v) {
    if (!sees_some_key(v.problem, v.row)) return v.first_query() + " saw no key";
    return "Every weight of " + v.query() + " is 0";
}

void explain_no_division(const View& v, double l) {
    v.out.formula = join({sym(Slot::Oi, v.step.i), "  ←  ", sym(Slot::Oi, v.step.i)});
    v.out.kind = faulty + (l == 0 ? 1 : l == 1 ? 2 : 0);
    v.out.why =
        l == 0 ? empty_row(v) + ": the division is left out, but there is nothing to divide."
        : l == 1
            ? "A fault without effect here: all weights of " + v.query() +
                  " together are 1 already, so without the division nothing is lost."
            : "Fault: all weights of " + v.query() + " together are " + num_text(l) +
                  " instead of 1, for nothing divides them. Its output is as many times what it should be.";
}

// Step k gives the row its start values on chip: what came before belongs to other keys.
bool starts_row(const View& v, int k, int row) {
    return v.trace.step(k).op == Op::init && std::ranges::any_of(v.trace.writes(k), [&](const Access& a) {
               return a.slot == Slot::m && v.trace.value(a.value).region.contains(row, 0);
           });
}

}  // namespace

bool mixes_maxima(const View& v, int row) {
    if (v.problem.switches.no_max || !v.problem.switches.no_correction) return false;
    for (int k = v.k - 1; k >= 0 && !starts_row(v, k, row); --k) {
        if (v.trace.step(k).op != Op::new_max) continue;
        const Value &before = v.trace.value(v.trace.reads(k)[0].value),
                    &now = v.trace.value(v.trace.writes(k).back().value);
        if (now.region.contains(row, 0) && kind_of(v.at(before, row, 0), v.at(now, row, 0)) == rises)
            return true;
    }
    return false;
}

Move move_of(const View& v) {
    const Held m_new = v.trace.live(Slot::m, v.k), m_before = v.trace.live(Slot::m, m_new.step - 1);
    const double old = v.at(*m_before.value, v.row, 0), now = v.at(*m_new.value, v.row, 0);
    const auto [from, to] = format_apart(old, now);
    return {old, now, kind_of(old, now), from, to};
}

std::string broken_rebase(const View& v, const std::string& what) {
    const Move move = move_of(v);
    const Switches& off = v.problem.switches;
    const std::string query = v.query();
    if (off.no_max)
        return "m is 0 in every tile, so the old " + what + " of " + query +
               " is kept and the new weights are added.";
    if (off.no_correction && off.stale_max && move.kind == rises)
        return "Fault: nothing is corrected, and the new weights are measured from the old max " + move.from +
               " instead of " + move.to + ": the " + what + " of " + query +
               " mixes weights of different bases.";
    if (off.no_correction && move.kind == rises)
        return "Fault: the old " + what + " of " + query + " was measured from max " + move.from +
               " and is not brought to max " + move.to + ": it is " + factor_text(move) +
               " what it should be beside the new weights.";
    if (off.no_correction && (move.kind == starts || move.kind == sees_no_key))
        return "The old " + what + " of " + query + " is still empty, so α = 1 does no harm here.";
    if (off.stale_max && move.kind == rises)
        return "Fault: α brings the old " + what + " of " + query + " to max " + move.to +
               ", but the new weights are measured from " + move.from + ": they are " + factor_text(move) +
               " what they should be.";
    return {};
}

// The maximum as its matrix has it, or 0 that stands in for it.
static Expr in_place_of(const Expr& m, double base) { return m.value == base ? m : num(base, Role::m); }

void explain_correction(const View& v) {
    const Expr m_before = v.number(Slot::m);
    const double old = m_before.value, now = v.at(v.read(Slot::m, 1), v.row, 0);
    if (v.problem.switches.no_correction) return explain_no_correction(v, old, now);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula = join({sym(Slot::alpha), "  ←  exp(", m_old(), " − ", sym(Slot::m), ")"});
    const auto [from, to] = format_apart(old, now);
    const std::string query = v.first_query();
    const OfKinds words{
        .sees_no_key = query + (nothing_yet(v) == "sees no key" ? " has seen no key" : " " + nothing_yet(v)) +
                       ": −∞ − (−∞) would be NaN, so 0 stands in for m and α becomes 0.",
        .starts = query + " starts here: exp(−∞) = 0 multiplies the empty start values of ℓ and O away.",
        .rises = query + ": what it summed from maximum " + from + " is " +
                 factor_text({old, now, rises, from, to}) + " what it should be beside maximum " + to +
                 ", whatever the scores were; α takes that back.",
        .stays = query + ": its maximum did not change, so α = 1 and its old sums stay as they are.",
    };
    const Kind kind = kind_of(old, now);
    v.out.kind = kind;
    v.out.why = words[kind];
    if (kind == stays && lags(v, now))
        v.out.why = query +
                    ": a larger score came, but m was kept, so α = 1 and its old sums stay as they are: "
                    "nothing has to be multiplied.";
    if (v.problem.switches.no_max)
        v.out.why = "Fault: m of " + v.query() +
                    " stays 0, so α is exp(0 − 0) = 1 in every tile. With one base for all of them nothing "
                    "has to be corrected.";
    if (kind == rises && !v.problem.broken()) tell_why_alpha(v, old, now);
    set_numbers(v, rounded(v.problem.precision.softmax,
                           exponential(difference(m_before, in_place_of(num(v.trace, Slot::m, now), base)))));
}

// 2^whole × (1 + part × (p₁ + part × (p₂ + p₃ × part)))
static Expr cubic_expr(const Exp2Parts& e) {
    const auto p = cubic_coefficients();
    const Expr part = num(e.part);
    const Expr inner = sum({num(p[2]), product({num(p[3]), part})});
    const Expr middle = sum({num(p[1]), product({part, inner})});
    return product({num(std::exp2(e.whole)), sum({num(p[0]), product({part, middle})})});
}

// The polynomial in place of exp, with its numbers and what it is off by.
static void explain_cubic(const View& v, double exponent, Expr exact) {
    const Exp2Parts e = cubic_exp(exponent);
    const bool stale = v.problem.switches.stale_max;
    v.out.formula = join({sym(Slot::P), "  ←  cubic exp2((", sym(Slot::S), " − ",
                          stale ? m_old() : sym(Slot::m), ") log₂ e)"});
    const Format format = v.problem.precision.softmax;
    if (!std::isfinite(e.value)) return set_numbers(v, rounded(format, std::move(exact)));
    if (e.value == 0) {
        if (std::isfinite(exponent)) add_sentence(v, "Below 2⁻¹²⁷ the cubic has 0.");
        return set_numbers(v, num(0));
    }
    if (e.part == 0) {
        add_sentence(v,
                     "That is a whole power of two, 2^" + num_text(e.whole) + ": the cubic has it exactly.");
        return set_numbers(v, rounded(format, num(e.value)));
    }
    const double right = std::exp2(e.part), off = std::abs(e.polynomial - right) / right;
    const auto [is, should] = format_apart(e.polynomial, right);
    add_sentence(
        v, "As a power of two: 2^" + num_text(e.x) + " = 2^" + num_text(e.whole) + " × 2^" +
               num_text(e.part) + ". The cubic has " + is + " for 2^" + num_text(e.part) +
               (off == 0 ? ", which is exact." : " = " + should + ": off by " + num_text(100 * off) + " %."));
    set_numbers(v, rounded(format, cubic_expr(e)));
}

void explain_exponentials(const View& v, const char* division) {
    const bool stale = v.problem.switches.stale_max;
    const Expr score = v.number(Slot::S), m = v.number(Slot::m);
    const double base = m.value == minus_infinity && !stale ? 0 : m.value;
    v.out.formula =
        join({sym(Slot::P), "  ←  exp(", sym(Slot::S), " − ", stale ? m_old() : sym(Slot::m), ")"});
    weight_sentence(v, score.value, base, move_of(v), division);
    const std::string why = v.out.why;
    Expr exact = exponential(difference(score, in_place_of(m, base)));
    if (saved_in(v.trace).cubic)
        explain_cubic(v, score.value - base, std::move(exact));
    else
        set_numbers(v, rounded(v.problem.precision.softmax, std::move(exact)));
    // The start value −∞ is no accident of this row's numbers: the fault says more.
    if (stale && base == minus_infinity && std::isinf(v.result())) v.out.why = why;
}

void explain_row_sum(const View& v) {
    const Expr alpha = v.number(Slot::alpha), old = v.number(Slot::l);
    const Expr rowsum = sum(v.numbers_in_row(Slot::P, v.row));
    v.out.formula = join(
        {sym(Slot::l), "  ←  ", sym(Slot::alpha), " ⊙ ", sym(Slot::l), "  +  rowsum(", sym(Slot::P), ")"});
    rebase_sentence(v, "sum");
    set_numbers(v, rounded(v.problem.precision.softmax, sum({product({alpha, old}), rowsum})));
}

Expr weighted_values(const View& v, Expr first) {
    const Numbers P = operands(v, v.numbers_in_row(Slot::P, v.row)), V = v.numbers_in_column(Slot::Vj, v.col);
    return dot(P, V, std::move(first));
}

// A weight beyond the largest number of the product's format: ℓ has it whole, the product does not.
static void tell_saturation(const View& v) {
    const FormatInfo& cast = info(operand_format(v.problem.precision));
    const Value& P = *v.trace.live(Slot::P, v.k).value;
    int most = P.region.col;
    for (int c = P.region.col; c < P.region.col + P.region.cols; ++c)
        if (v.at(P, v.row, c) > v.at(P, v.row, most)) most = c;
    const double weight = v.at(P, v.row, most);
    if (!cast.saturates || !(weight > cast.largest) || !std::isfinite(weight)) return;
    add_sentence(v, "There the weight " + num_text(weight) + " of " + "key " + str(most) + " saturates at " +
                        num_text(cast.largest) + ": " + num_text(100 * (1 - cast.largest / weight)) +
                        " % of it is lost, while ℓ has it whole.");
}

void explain_output(const View& v) {
    const Expr alpha = v.number(Slot::alpha), old = v.number(Slot::Oi);
    const Expr total = weighted_values(v, product({alpha, old}));
    v.out.formula = join({sym(Slot::Oi, v.step.i), "  ←  ", sym(Slot::alpha), " ⊙ ", sym(Slot::Oi, v.step.i),
                          "  +  ", sym(Slot::P), " ", sym(Slot::Vj, v.step.j)});
    rebase_sentence(v, "output");
    tell_operand(v, "The weights enter");
    tell_saturation(v);
    set_numbers(v, rounded(v.problem.precision.accumulator, total));
}

void explain_normalize(const View& v, const DivisionWords& words) {
    const Expr total = v.number(Slot::Oi), row_sum = v.number(Slot::l);
    const double l = row_sum.value;
    if (v.problem.switches.no_division) return explain_no_division(v, l);
    v.out.formula = join({sym(Slot::Oi, v.step.i), "  ←  ", sym(Slot::Oi, v.step.i), " ⊘ ", sym(Slot::l)});
    v.out.kind = l == 0 ? 1 : std::isinf(l) ? 2 : 0;
    const char* one = v.problem.precision.any() ? "about 1" : "1";
    v.out.why = l == 0 ? empty_row(v) + ": ℓ = 0, there is nothing to divide, and O is " +
                             (sees_some_key(v.problem, v.row) ? "left as it is." : "defined as 0.")
                       : "The only division of " + v.query() + ": all its weights together are " +
                             num_text(l) + ", after this they sum to " + one + ".";
    if (v.problem.logits.sink) {
        const double share = sink_share(v, v.at(*v.trace.live(Slot::m, v.k).value, v.row, 0), l);
        v.out.why = "The only division of " + v.query() + ": its weights and the sink's together are " +
                    num_text(l) + ". After it the sink has " + num_text(share) +
                    " of the whole, and the keys share the rest.";
        if (!sees_some_key(v.problem, v.row))
            v.out.why = v.first_query() + " saw no key: ℓ is the weight of the sink alone, and O stays 0.";
    }
    if (!words.why.empty()) v.out.why = words.why;
    if (l != 0 && !words.fault.empty()) v.out.why = words.fault, v.out.kind |= faulty;
    if (std::isinf(l))
        v.out.why = "ℓ of " + v.query() + " is ∞: divided by it every finite output becomes 0.";
    else if (l != 0 && mixes_maxima(v, v.row)) {
        v.out.why = "Fault: ℓ = " + num_text(l) + " of " + v.query() +
                    " adds weights that are measured from different maxima. Divided by it they sum to 1, but "
                    "their shares are wrong.";
        v.out.kind |= faulty;
    }
    if (l != 0 && !v.problem.broken()) tell_sum_in_one_go(v);
    if (l != 0) set_numbers(v, rounded(v.problem.precision.accumulator, quotient(total, row_sum)));
}

void tell_stored_bytes(const View& v, int rows) {
    const auto of_rows = [&](Numbers each) {
        if (rows > 1) each.insert(each.begin(), num(rows));
        return each.size() > 1 ? product(std::move(each)) : each.front();
    };
    set_bytes(v, sum({of_rows({num(v.problem.d()), num(v.problem.element_bytes)}), of_rows({num(4)})}),
              "bytes written");
}

void explain_store(const View& v, const std::string& fault) {
    const Precision& format = v.problem.precision;
    const bool mixed = mixes_maxima(v, v.row);
    if (v.out.target.slot == Slot::O) {
        const double sum = v.at(v.read(Slot::l), v.row, 0);
        const bool undivided = v.problem.switches.no_division && sum != 0 && sum != 1;
        v.out.formula = v.step.i < 0 ? join({sym(Slot::Oi), ", ", sym(Slot::L), "  →  HBM"})
                                     : join({sym(Slot::O), "  ←  ", sym(Slot::Oi, v.step.i)});
        v.out.why = mixed || undivided
                        ? "The output row leaves the chip as wrong as it is: nothing in the kernel notices."
                        : "The finished output row leaves the chip: the only write of O to HBM.";
        if (!fault.empty()) v.out.why = fault;
        v.out.kind = mixed || undivided || !fault.empty() ? faulty : 0;
        const Expr O = v.number(Slot::Oi);
        if (!contains(format.output, format.accumulator)) return set_numbers(v, rounded(format.output, O));
        if (v.step.i < 0) tell_stored_bytes(v, v.written(Slot::O).region.rows);
        return;
    }
    const Line O =
        v.step.i < 0 ? join({sym(Slot::Oi), " → HBM"}) : join({sym(Slot::O), " ← ", sym(Slot::Oi, v.step.i)});
    v.out.formula = join({O, ",   ", sym(Slot::L), " ← ", sym(Slot::m), " + ln ", sym(Slot::l)});
    const Expr m = v.number(Slot::m), l = v.number(Slot::l);
    v.out.kind = l.value == 0;
    v.out.why =
        l.value == 0
            ? empty_row(v) + ": O = 0 and L = −∞ are stored."
            : "O and one number per row leave the chip. With this L the backward pass makes every weight "
              "of " +
                  v.query() + " again, as exp(S − L).";
    if (l.value != 0 && v.step.i > 0 && v.step.i + 1 == v.problem.Tr())
        v.out.why = "The last O and L leave the chip: all of both is in HBM now, and S and P have never been "
                    "there.";
    if (l.value != 0 && mixed) {
        v.out.why = "Fault: the ℓ in L adds weights of different maxima. What the backward pass makes of it, "
                    "exp(S − L), will not sum to 1 for " +
                    v.query() + ".";
        v.out.kind |= faulty;
    }
    if (!fault.empty()) v.out.why = fault, v.out.kind |= faulty;
    set_numbers(v, rounded(format.softmax, sum({m, logarithm(l)})));
}

void explain_skip(const View& v) {
    const Problem& p = v.problem;
    const Region q = query_rows(p, v.step.i), k = key_rows(p, v.step.j);
    v.out.formula = text(tile_text(v.step.i, v.step.j) + " is masked");
    v.out.why = "No query of " + range(q.row, q.rows, "row", "rows") + " may look at " +
                range(k.row, k.rows, "key", "keys") + ": nothing is loaded, nothing is computed.";
}

}  // namespace tilewalk
