// The words and numbers of a merge: common maximum (or log-sum-exp), weights, sum and output.
#include "core/lessons/shared/parts.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

bool PartAtWork::reads_sink() const {
    return std::ranges::any_of(v.trace.reads(v.k), [](const Access& a) { return a.slot == Slot::sink; });
}

Expr PartAtWork::score(int key) const {
    return v.number(scores_slot, S.region.row + row, S.region.col + key);
}

Expr PartAtWork::weight(int key) const { return exponential(difference(score(key), num(base, Role::m))); }

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

Expr PartAtWork::sum_of_weights() const {
    Numbers weights = of_all_keys([&](int key) { return weight(key); });
    if (sink) weights.push_back(exponential(difference(v.number(Slot::sink, 0, 0), num(base, Role::m))));
    return sum(std::move(weights));
}

Expr PartAtWork::weighted_values() const {
    Numbers terms = of_all_keys([&](int key) {
        const Expr w = weight(key);  // the order of the factors is that of the sources
        return product({w, v.number(values_slot, S.region.col + key, v.col)});
    });
    if (from_sink()) v.source(Slot::sink, 0, 0);  // all weights are measured from it
    return sum(std::move(terms));
}

namespace {

// Parts that a formula names one by one; of more it has the first and the last.
constexpr std::size_t most_listed = 3, most_added = 4;

// One merge as its explanation sees it; the target's row in each of the parts.
struct MergeView {
    const View& v;
    const char* part;
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
    // w₀ ℓ₀ + w₁ ℓ₁, or w₀ ℓ₀ + … + w₇ ℓ₇
    Line weighted(const std::vector<Access>& w, const std::vector<Access>& x) const {
        const auto product = [&](std::size_t n) { return join({name(w[n]), " ", name(x[n])}); };
        if (w.size() > most_added) return join({product(0), "  +  …  +  ", product(w.size() - 1)});
        Line out;
        for (std::size_t n = 0; n < w.size(); ++n) {
            const Line term = product(n);
            out = out.empty() ? term : join({out, "  +  ", term});
        }
        return out;
    }
    double value(const Access& a, int col = 0) const { return v.trace.value(a.value).data(local, col); }
    std::string number_of(const Access& a) const { return part + (" " + tile_name(a)); }
    std::string tile_name(const Access& a) const {
        const Line symbol = name(a);
        return symbol.size() > 1 ? symbol[1].text : str(a.tile);
    }
    // Of a part the letter says already which; of the whole the row of the query stands behind it.
    void result() const { v.out.result = equals(join({result_name(), part_index(v)}), v.result()); }
};

void explain_max(const MergeView& m) {
    const View& v = m.v;
    const std::vector<Access> parts = m.parts(Slot::m_part);
    Numbers numbers;
    for (const Access& a : parts) numbers.push_back(m.number(a));
    const double now = v.result();
    v.out.formula = join({m.result_name(), "  ←  max(", m.list(parts), ")"});
    v.out.numbers = write(maximum(numbers), now);
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
}

void explain_lse(const MergeView& m) {
    const View& v = m.v;
    const std::vector<Access> parts = m.parts(Slot::L_part);
    double most = minus_infinity;
    for (const Access& a : parts) most = std::max(most, m.value(a));
    const double base = most == minus_infinity ? 0 : most;
    Numbers terms;
    for (const Access& a : parts) terms.push_back(exponential(difference(m.number(a), num(base, Role::m))));
    v.out.formula =
        join({m.result_name(), "  ←  ", sym(Slot::m), " + ln Σ exp(", part_symbol(Slot::L_part, ""), " − ",
              sym(Slot::m), "),   ", sym(Slot::m), " = max(", m.list(parts), ")"});
    v.out.numbers = write(sum({num(base, Role::m), logarithm(sum(terms))}), v.result());
    m.result();
    v.out.kind = most == minus_infinity;
    v.out.why =
        most == minus_infinity
            ? "No part has seen a key: L = −∞, the logarithm of an empty sum."
            : "L says with one number what m and ℓ say with two: exp(Lᵢ) is the sum of the exponentials "
              "of its keys. These sums add up, measured from the largest, so that none overflows.";
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
    const double factor = std::exp(to - from);
    return "Every exponential of " + part + " was measured from " + low + " and is " +
           (std::isfinite(factor) ? num_text(factor) + " times" : "more than 10³⁰⁸ times") +
           " too large beside maximum " + high + ", whatever its keys were: one factor, " + num_text(weight) +
           ", mends all of it.";
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
    v.out.formula = join(
        {weight, "  ←  exp(", m.name(*own), " − ", slot_symbol(v.trace, result.slot, v.k, result.tile), ")"});
    v.out.numbers = write(exponential(difference(from, common)), v.result());
    v.out.result = equals(join({weight, part_index(v)}), v.result());
    v.out.kind = to == minus_infinity ? 3 : from.value == minus_infinity ? 2 : from.value == to ? 1 : 0;
    v.out.why = weight_words(m, from.value, to, m.number_of(*own), normalised);
}

void explain_weighted(const MergeView& m, Slot part, const std::string& why) {
    const View& v = m.v;
    const std::vector<Access> w = m.parts(Slot::w_part), x = m.parts(part);
    const int col = part == Slot::O_part ? v.col : 0;
    Numbers terms;
    for (std::size_t n = 0; n < w.size(); ++n) {
        const Expr weight = m.number(w[n]);
        terms.push_back(product({weight, m.number(x[n], col)}));
    }
    v.out.formula = join({m.result_name(), "  ←  ", m.weighted(w, x)});
    v.out.numbers = write(sum(terms), v.result());
    m.result();
    v.out.kind = std::ranges::all_of(w, [&](const Access& a) { return m.value(a) == 0; });
    v.out.why =
        v.out.kind == 1 ? "No part has seen a key: every weight is 0, and so is what they come to." : why;
}

}  // namespace

std::string part_index(const View& v) {
    if (!is_of_parts(v.out.target.slot)) return index_text(v);
    const Region at = MergeView{v, ""}.target;
    const std::string row = at.rows > 1 ? str(v.row - at.row) : "";
    if (one_column(v.out.target.slot)) return row.empty() ? "" : "[" + row + "]";
    return "[" + (row.empty() ? "" : row + ",") + str(v.col) + "]";
}

void explain_merge(const View& v, const char* part) {
    const MergeView m{v, part};
    const int first = v.trace.reads(v.k).front().tile;
    const bool normalised = static_cast<bool>(v.trace.live(Slot::L_part, first, v.k));
    switch (v.step.op) {
    case Op::merge_max: return explain_max(m);
    case Op::merge_lse: return explain_lse(m);
    case Op::merge_weights: return explain_weights(m);
    case Op::merge_sum:
        return explain_weighted(
            m, Slot::l_part,
            "Brought to one maximum, the sums of the parts are sums of the same exponentials over "
            "different keys. They just add up, in any order.");
    case Op::merge_output:
        return explain_weighted(
            m, Slot::O_part,
            normalised
                ? "Each Oᵢ is an average over its own keys. Their average, each with its share, is the "
                  "output over all keys."
                : "O is made of the same exponentials as ℓ, so the same weights fit: the division by ℓ waits "
                  "until everything is merged.");
    default: return;
    }
}

}  // namespace tilewalk
