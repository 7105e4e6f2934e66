// The words and numbers of a merge: common maximum (or log-sum-exp), weights, sum and output.
#include "core/lessons/shared/parts.h"

#include "core/base/exactly.h"
#include "core/lessons/shared/explain_faults.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

bool PartAtWork::reads_sink() const {
    return std::ranges::any_of(v.trace.reads(v.k), [](const Access& a) { return a.slot == Slot::sink; });
}

double PartAtWork::best_score() const {
    const double best = row_maximum(S.data.row(row))(0, 0);
    const bool overflows =
        !v.problem.switches.no_max && round_to(v.problem.precision.softmax, best) == minus_infinity;
    return overflows ? minus_infinity : best;
}

double PartAtWork::base_of_weights() const {
    return v.problem.switches.no_max || most == minus_infinity ? 0
                                                               : round_to(v.problem.precision.softmax, most);
}

Expr PartAtWork::score(int key) const {
    return v.number(scores_slot, S.region.row + row, S.region.col + key);
}

Expr PartAtWork::weight_of(const Expr& score) const {
    const Expr exponent = v.problem.switches.no_max ? score : difference(score, num(base, Role::m));
    return rounded(v.problem.precision.softmax, exponential(exponent));
}

template <class Term> Numbers PartAtWork::of_all_keys(const Term& term) const {
    Numbers out;
    for (int key = 0; key < S.region.cols; ++key) out.push_back(term(key));
    return out;
}

Numbers PartAtWork::scores() const {
    Numbers out = of_all_keys([&](int key) { return score(key); });
    if (sink) out.push_back(v.number(Slot::sink, 0, 0));
    return out;
}

Expr PartAtWork::maximum_of_scores() const {
    Numbers all = scores();
    if (std::ranges::all_of(all, [](const Expr& e) { return std::isnan(e.value); }))
        all.push_back(num(minus_infinity));  // where the hardware's max begins
    const Precision& f = v.problem.precision;
    const bool exact = !sink && contains(f.softmax, f.scores);
    return rounded(exact ? Format::fp64 : f.softmax, maximum(std::move(all)));
}

Expr PartAtWork::sum_of_weights() const {
    Numbers weights = of_all_keys([&](int key) { return weight_of(score(key)); });
    if (sink) weights.push_back(weight_of(v.number(Slot::sink, 0, 0)));
    return rounded(v.problem.precision.softmax, sum(std::move(weights)));
}

Expr PartAtWork::weighted_values() const {
    const Format cast = operand_format(v.problem.precision);
    Numbers terms = of_all_keys([&](int key) {
        const Expr w =
            rounded(cast, weight_of(score(key)));  // the order of the factors is that of the sources
        return product({w, v.number(values_slot, S.region.col + key, v.col)});
    });
    if (from_sink()) v.source(Slot::sink, 0, 0);  // all weights are measured from it
    return rounded(v.problem.precision.accumulator, sum(std::move(terms)));
}

void PartAtWork::tell_no_maximum(const std::string& query, const Line& m) const {
    scores();
    v.out.formula = join({m, "  ←  0"});
    v.out.kind = faulty;
    v.out.why = "Fault: m stays 0, although " + query + " has a score of " + num_text(most) +
                " here. Nothing keeps its weights at or below 1.";
    if (most == minus_infinity) v.out.why = "Fault: m stays 0; " + query + " has no score above −∞ here.";
    if (most == 0)
        v.out.why = "A fault without effect here: the largest score of " + query + " is 0, as m is anyway.";
}

namespace {

// Parts that a formula names one by one; of more it has the first and the last.
constexpr std::size_t most_listed = 3, most_added = 4;

// One merge as its explanation sees it; the target's row in each of the parts.
struct MergeView {
    const View& v;
    const MergeWords& words;
    Region target = region_of_target();
    int local = v.row - target.row;

    Region region_of_target() const {
        for (const Access& a : v.trace.writes(v.k))
            if (a.slot == v.out.target.slot && v.trace.value(a.value).region.contains(v.row, v.col))
                return v.trace.value(a.value).region;
        return {};
    }
    // What the step read of this slot, part by part.
    std::vector<Access> parts(Slot slot) const {
        std::vector<Access> out;
        for (const Access& a : v.trace.reads(v.k))
            if (a.slot == slot && !is_result(a)) out.push_back(a);
        return out;
    }
    // The weights read what they are measured from, too; that of a partial merge lies in the same slot.
    bool is_result(const Access& a) const {
        return v.step.op == Op::merge_weights && &a == &v.trace.reads(v.k).front();
    }
    Expr number(const Access& a, int col = 0) const {
        const Region& at = v.trace.value(a.value).region;
        v.source(a.slot, at.row + local, col);
        return num(v.trace, a.slot, v.trace.value(a.value).data(local, col));
    }
    Line name(const Access& a) const { return slot_symbol(v.trace, a.slot, v.k, a.tile); }
    Line result_name() const {
        const Slot slot = v.out.target.slot;
        const Access& written = v.trace.writes(v.k).front();
        return slot_symbol(v.trace, slot, v.k, written.tile);
    }
    // m₀, m₁ or, of many, m₀ … m₇
    Line list(const std::vector<Access>& all) const {
        if (all.size() > most_listed) return join({name(all.front()), " … ", name(all.back())});
        Line out;
        for (const Access& a : all) out = out.empty() ? name(a) : join({out, ", ", name(a)});
        return out;
    }
    // w₀ ℓ₀ + w₁ ℓ₁, or w₀ ℓ₀ + … + w₇ ℓ₇; where a fault leaves the weights out, ℓ₀ + ℓ₁
    Line weighted(const std::vector<Access>& w, const std::vector<Access>& x) const {
        const bool bare = v.problem.switches.no_weights;
        const auto product = [&](std::size_t n) {
            return bare ? name(x[n]) : join({name(w[n]), " ", name(x[n])});
        };
        if (w.size() > most_added) return join({product(0), "  +  …  +  ", product(w.size() - 1)});
        Line out;
        for (std::size_t n = 0; n < w.size(); ++n) {
            const Line term = product(n);
            out = out.empty() ? term : join({out, "  +  ", term});
        }
        return out;
    }
    double value(const Access& a, int col = 0) const { return v.trace.value(a.value).data(local, col); }
    bool no_max() const { return v.problem.switches.no_max && !words.own_kernel; }
    std::string number_of(const Access& a) const {
        return words.name ? words.name(a.tile) : words.part + (" " + tile_name(a));
    }
    std::string tile_name(const Access& a) const {
        const Line symbol = name(a);
        return symbol.size() > 1 ? symbol[1].text : str(a.tile);
    }
    // Of a part the letter says already which; of the whole the row of the query stands behind it.
    // The lesson's own words come before those of a fault, and what rounding did behind all of them.
    void finish(const Expr& numbers, const std::string& fault = {}) const {
        if (words.tell) words.tell();
        if (!fault.empty()) v.out.why = fault, v.out.kind = faulty;
        set_numbers(v, numbers);
    }
    void result() const { v.out.result = equals(join({result_name(), part_index(v)}), result_text(v)); }
};

// The maximum is left out: m stays what it was, 0.
void explain_no_max(const MergeView& m, double most) {
    m.v.out.formula = join({m.result_name(), "  ←  0"});
    if (m.words.tell) m.words.tell();
    m.v.out.kind = faulty;
    m.v.out.why = most == 0
                      ? "Fault: m stays 0, as those of all parts did: with one base for all of them parts "
                        "are plain sums, until exp overflows."
                      : "Fault: m stays 0; no part has seen a key.";
    m.result();
}

void explain_max(const MergeView& m) {
    const View& v = m.v;
    const std::vector<Access> parts = m.parts(Slot::m_part);
    Numbers numbers;
    for (const Access& a : parts) numbers.push_back(m.number(a));
    const double now = v.result();
    if (m.no_max()) return explain_no_max(m, evaluate(maximum(numbers)));
    v.out.formula = join({m.result_name(), "  ←  max(", m.list(parts), ")"});
    m.result();
    const auto most = std::ranges::find_if(parts, [&](const Access& a) { return m.value(a) == now; });
    const auto apart = std::ranges::find_if(
        parts, [&](const Access& a) { return std::isfinite(m.value(a)) && m.value(a) != now; });
    v.out.kind = now == minus_infinity ? 2 : apart == parts.end() ? 1 : 0;
    if (now == minus_infinity)
        v.out.why = "No part has seen a key: there is no maximum yet.";
    else if (parts.size() == 1)
        v.out.why = "There is only one part: its maximum is that of the whole row.";
    else if (apart == parts.end())
        v.out.why = "All parts with keys are measured from the same maximum, " + num_text(now) +
                    ": they can be added as they are.";
    else
        v.out.why = "Sums can only be added when they are measured from one maximum. The larger is that of " +
                    m.number_of(*most) + ", " + num_text(now) + "; " + m.number_of(*apart) +
                    " was measured from " + num_text(m.value(*apart)) + ".";
    if (parts.size() > 2 && v.out.kind == 0)
        v.out.why =
            "Sums can only be added when they are measured from one maximum. The largest is that of " +
            m.number_of(*most) + ", " + num_text(now) + ".";
    m.finish(maximum(numbers));
}

void explain_lse(const MergeView& m) {
    const View& v = m.v;
    const std::vector<Access> parts = m.parts(Slot::L_part);
    double most = minus_infinity;
    for (const Access& a : parts) most = std::fmax(most, m.value(a));
    const bool no_max = m.no_max();
    const double base = most == minus_infinity || no_max ? 0 : most;
    Numbers terms;
    for (const Access& a : parts) {
        const Expr L = m.number(a);
        terms.push_back(exponential(no_max ? L : difference(L, num(base, Role::m))));
    }
    v.out.formula =
        no_max ? join({m.result_name(), "  ←  ln Σ exp(", part_symbol(Slot::L_part, ""), ")"})
               : join({m.result_name(), "  ←  ", sym(Slot::m), " + ln Σ exp(", part_symbol(Slot::L_part, ""),
                       " − ", sym(Slot::m), "),   ", sym(Slot::m), " = max(", m.list(parts), ")"});
    const Expr log = logarithm(sum(terms)), whole = no_max ? log : sum({num(base, Role::m), log});
    m.result();
    v.out.kind = most == minus_infinity;
    v.out.why =
        most == minus_infinity
            ? "No part has seen a key: L = −∞, the logarithm of an empty sum."
            : "L says with one number what m and ℓ say with two: exp(Lᵢ) is the sum of the exponentials "
              "of its keys. These sums add up, measured from the largest, so that none overflows.";
    const Switches& off = v.problem.switches;
    const std::string fault =
        most == minus_infinity ? ""
        : no_max ? "Fault: nothing is subtracted, so exp(Lᵢ) overflows as soon as some L exceeds " +
                       largest_exponent_text(v.problem.precision.softmax) + "."
        : off.no_log_sum
            ? "Fault: each Lᵢ is only the largest score of its part, so the sum counts one key of each."
            : "";
    m.finish(rounded(v.problem.precision.softmax, whole), fault);
}

std::string weight_words(const MergeView& m, double from, double to, const std::string& part,
                         bool normalised) {
    if (to == minus_infinity)
        return "No part has seen a key: −∞ − (−∞) would be NaN, so 0 stands in, and every weight is 0.";
    if (from == minus_infinity)
        return capitalised(part) +
               " has seen no key: exp(−∞) = 0, and it changes nothing wherever it is merged.";
    const auto [low, high] = format_apart(from, to);
    const double weight = m.v.result();
    if (normalised)
        return "The share of " + part +
               " in all exponentials of the row: the weights of all parts add up to 1, a "
               "softmax over parts.";
    if (from == to)
        return capitalised(part) +
               " is measured from the common maximum already: its weight is 1, and it stays as it is.";
    const double factor = exp_exactly(to - from);
    return "Every exponential of " + part + " was measured from " + low + " and is " +
           (std::isfinite(factor) ? num_text(factor) + " times" : "more than 10³⁰⁸ times") +
           " too large beside maximum " + high + ", whatever its keys were: one factor, " + num_text(weight) +
           ", mends all of it.";
}

// w = 1, whatever the part was measured from.
void explain_no_weights(const MergeView& m, double from, double to, const std::string& part,
                        bool normalised) {
    const View& v = m.v;
    if (m.words.tell) m.words.tell();
    v.out.kind = faulty;
    const auto [low, high] = format_apart(from, to);
    const double should = exp_exactly(from - (to == minus_infinity ? 0 : to));
    if (from == minus_infinity)
        v.out.why = "A fault without effect here: " + part + " has seen no key, and 1 × 0 is 0, too.";
    else if (should == 1)
        v.out.why = "A fault without effect here: " + part +
                    (normalised ? " is all that there is" : " is measured from the common maximum already") +
                    ", so its weight is 1 anyway.";
    else if (normalised)
        v.out.why = "Fault: " + part + " counts in full, in place of its share exp(" + low + " − " +
                    (to < 0 ? "(" + high + ")" : high) + ") = " + num_text(should) +
                    ": averages are added up, and not averaged.";
    else
        v.out.why = "Fault: the weight of " + part + " should be exp(" + low + " − " +
                    (to < 0 ? "(" + high + ")" : high) + ") = " + num_text(should) +
                    ". Its sums stay measured from " + low + " although the common maximum is " + high + ".";
}

void explain_weights(const MergeView& m) {
    const View& v = m.v;
    const Access& result = v.trace.reads(v.k).front();
    const bool normalised = result.slot == Slot::Li || result.slot == Slot::L_part;
    const std::vector<Access> parts = m.parts(normalised ? Slot::L_part : Slot::m_part);
    const auto own = std::ranges::find_if(
        parts, [&](const Access& a) { return v.trace.value(a.value).region.contains(v.row, 0); });
    const double to = m.value(result);
    const Expr from = m.number(*own);
    const Expr common = to == minus_infinity ? num(0, Role::m) : m.number(result);
    if (to == minus_infinity) m.number(result);
    const Line weight = slot_symbol(v.trace, Slot::w_part, v.k, own->tile);
    v.out.result = equals(join({weight, part_index(v)}), result_text(v));
    if (v.problem.switches.no_weights) {
        v.out.formula = join({weight, "  ←  1"});
        return explain_no_weights(m, from.value, to, m.number_of(*own), normalised);
    }
    v.out.formula = join(
        {weight, "  ←  exp(", m.name(*own), " − ", slot_symbol(v.trace, result.slot, v.k, result.tile), ")"});
    v.out.kind = to == minus_infinity ? 3 : from.value == minus_infinity ? 2 : from.value == to ? 1 : 0;
    v.out.why = weight_words(m, from.value, to, m.number_of(*own), normalised);
    m.finish(rounded(v.problem.precision.softmax, exponential(difference(from, common))));
}

// Of a sum or output of the parts; empty where it is as it should be.
std::string broken_sum(const MergeView& m, bool normalised) {
    const Switches& off = m.v.problem.switches;
    if (merged_without_weights(m.v, m.local))
        return normalised
                   ? "Fault: the averages of the parts are added as they are, so their shares add up to "
                     "more than 1."
                   : "Fault: what is added here is measured from different maxima, and no weight brings "
                     "it to one.";
    if (normalised && off.no_division && !off.no_weights)
        return "Fault: nothing divided what the parts have summed, so their shares weigh sums in place of "
               "averages.";
    if (normalised && off.no_log_sum && !off.no_weights)
        return "Fault: these are the shares of the maxima of the parts, whatever else they have summed.";
    return {};
}

void explain_weighted(const MergeView& m, Slot part, bool normalised, const std::string& why) {
    const View& v = m.v;
    const std::vector<Access> w = m.parts(Slot::w_part), x = m.parts(part);
    const int col = part == Slot::O_part ? v.col : 0;
    Numbers terms;
    for (std::size_t n = 0; n < w.size(); ++n) {
        const Expr weight = m.number(w[n]);
        terms.push_back(product({weight, m.number(x[n], col)}));
    }
    v.out.formula = join({m.result_name(), "  ←  ", m.weighted(w, x)});
    m.result();
    v.out.kind = std::ranges::all_of(w, [&](const Access& a) { return m.value(a) == 0; });
    v.out.why =
        v.out.kind == 1 ? "No part has seen a key: every weight is 0, and so is what they come to." : why;
    const Precision& f = v.problem.precision;
    m.finish(rounded(part == Slot::O_part ? f.accumulator : f.softmax, sum(terms)),
             v.out.kind == 1 ? "" : broken_sum(m, normalised));
}

// In row `row` a part of this step's merge has keys, and its weight should not be 1.
bool leaves_out_a_weight(const Trace& trace, int k, int row) {
    const auto reads = trace.reads(k);
    const auto at = [&](const Access& a) { return trace.value(a.value).data(row, 0); };
    for (std::size_t n = 1; n < reads.size(); ++n)
        if (at(reads[n]) != minus_infinity && at(reads[n]) != at(reads.front())) return true;
    return false;
}

}  // namespace

bool merged_without_weights(const View& v, int row) {
    if (!v.problem.switches.no_weights) return false;
    const bool all_lanes = v.trace.lesson().one_row;
    for (int k = 0; k <= v.k; ++k) {
        const bool here = all_lanes || v.trace.step(k).phase == v.step.phase;
        if (here && v.trace.step(k).op == Op::merge_weights && leaves_out_a_weight(v.trace, k, row))
            return true;
    }
    return false;
}

std::string part_index(const View& v) {
    if (!is_of_parts(v.out.target.slot)) return index_text(v);
    return part_index(v.trace, v.out.target, MergeView{v, {}}.target, v.k);
}

std::string part_index(const Trace& trace, const CellRef& cell, const Region& part, int made) {
    if (trace.lesson().uses(chooses_ranks))
        return index_text(trace, cell.slot, {cell.row, cell.col, 1, 1}, made);
    const std::string row = part.rows > 1 ? str(cell.row - part.row) : "";
    if (one_column(cell.slot)) return row.empty() ? "" : "[" + row + "]";
    return "[" + (row.empty() ? "" : row + ",") + str(cell.col) + "]";
}

void explain_merge(const View& v, const MergeWords& words) {
    const MergeView m{v, words};
    const int first = v.trace.reads(v.k).front().tile;
    const bool normalised = static_cast<bool>(v.trace.live(Slot::L_part, first, v.k));
    switch (v.step.op) {
    case Op::merge_max: return explain_max(m);
    case Op::merge_lse: return explain_lse(m);
    case Op::merge_weights: return explain_weights(m);
    case Op::merge_sum:
        return explain_weighted(
            m, Slot::l_part, normalised,
            "Brought to one maximum, the sums of the parts are sums of the same exponentials over "
            "different keys. They just add up, in any order.");
    case Op::merge_output:
        return explain_weighted(
            m, Slot::O_part, normalised,
            normalised
                ? "Each Oᵢ is an average over its own keys. Their average, each with its share, is the "
                  "output over all keys."
                : "O holds the same exponentials as ℓ, so the same weights fit; the division by ℓ waits.");
    default: return;
    }
}

}  // namespace tilewalk
