#include "core/lessons/merge/explain.h"

#include "core/lessons/forward/explain.h"
#include "core/lessons/merge/merge.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// "part B, keys 2–3", "merge A–B"
std::string place(const View& v) {
    const std::vector<KeyPart> parts = merge_parts(v.problem);
    const int tile = merge_tile(v.trace, v.k);
    if (tile >= static_cast<int>(parts.size())) return "merge " + merge_name(v.problem, tile);
    const KeyPart& part = parts[static_cast<std::size_t>(tile)];
    return "part " + part_letter(tile) + ", " +
           (part.count == 0 ? "no keys" : range(part.first, part.count, "key", "keys"));
}

Line name(const View& v, Slot slot) { return slot_symbol(v.trace, slot, v.k, merge_tile(v.trace, v.k)); }

std::string in_words(const View& v) { return "query " + str(v.problem.options.row); }

void explain_empty(const View& v) {
    for (const Access& a : v.trace.writes(v.k)) {
        const bool below = a.slot == Slot::m_part || a.slot == Slot::L_part;
        const Line start = join({name(v, a.slot), below ? " = −∞" : " = 0"});
        v.out.formula = v.out.formula.empty() ? start : join({v.out.formula, ",   ", start});
    }
    v.out.result = equals(join({name(v, v.out.target.slot), part_index(v)}), v.result());
    v.out.title = "Empty part";
    v.out.why =
        "A part without keys: its maximum is −∞ and its sums are empty. It may be merged anywhere and "
        "changes nothing, as 0 does in a sum.";
}

void explain_maximum(const PartAtWork& part) {
    const View& v = part.v;
    v.out.formula = join({name(v, Slot::m_part), "  ←  max(", name(v, Slot::x), ")"});
    v.out.numbers = write(maximum(part.scores()), v.result());
    v.out.why = part.blind()
                    ? "The mask hides every key of this part from " + in_words(v) + ": m = −∞."
                    : "The largest score of this part. Other parts are measured from maxima of their own, "
                      "which this one need not know.";
}

void explain_sum(const PartAtWork& part) {
    const View& v = part.v;
    v.out.formula =
        join({name(v, Slot::l_part), "  ←  Σ exp(", name(v, Slot::x), " − ", name(v, Slot::m_part), ")"});
    v.out.numbers = write(part.sum_of_weights(), v.result());
    v.out.why = part.blind() ? "Every weight is exp(−∞) = 0: the sum stays empty."
                             : "The weights of this part, measured from its own maximum, added up.";
}

void explain_lse(const PartAtWork& part) {
    const View& v = part.v;
    v.out.formula = join({name(v, Slot::L_part), "  ←  ", sym(Slot::m), " + ln Σ exp(", name(v, Slot::x),
                          " − ", sym(Slot::m), ")"});
    v.out.numbers = write(sum({num(part.base, Role::m), logarithm(part.sum_of_weights())}), v.result());
    v.out.why = part.blind()
                    ? "The mask hides every key of this part: L = −∞, the logarithm of an empty sum."
                    : "The logarithm of the sum of all exponentials of this part: with O it is all that a "
                      "kernel stores.";
}

void explain_part_output(const PartAtWork& part, bool divided) {
    const View& v = part.v;
    const Line below = divided ? name(v, Slot::L_part) : name(v, Slot::m_part);
    v.out.formula =
        join({name(v, Slot::O_part), "  ←  Σ exp(", name(v, Slot::x), " − ", below, ") ", name(v, Slot::V)});
    const Expr total = part.weighted_values();
    if (!divided)
        v.out.numbers = write(total, v.result());
    else if (!part.blind())
        v.out.numbers = write(quotient(total, part.sum_of_weights()), v.result());
    if (part.blind())
        v.out.why = "No key of this part is seen: its output is 0.";
    else
        v.out.why =
            divided
                ? "The average of the values of this part by its own weights, as if there were no other "
                  "keys."
                : "The values of this part, each times its weight exp(S − m); the division by ℓ waits until "
                  "everything is merged.";
}

void explain_part(const View& v) {
    const PartAtWork part{v, Slot::x, Slot::V};
    v.out.result = equals(join({name(v, v.out.target.slot), part_index(v)}), v.result());
    switch (v.out.target.slot) {
    case Slot::m_part: explain_maximum(part); break;
    case Slot::l_part: explain_sum(part); break;
    case Slot::L_part: explain_lse(part); break;
    default: explain_part_output(part, v.problem.options.parts == PartForm::normalised);
    }
    v.out.kind = part.blind();
}

void explain_end(const View& v) {
    v.out.place = in_words(v);
    if (v.step.op == Op::normalize) return explain_normalize(v);
    if (v.problem.options.parts == PartForm::sums) return explain_store(v);
    tell_divided_store(v,
                       "O is divided already, and L is that of the whole row: both can be merged again with "
                       "keys that come later.");
}

}  // namespace

void tell_divided_store(const View& v, std::string why) {
    const bool L = v.out.target.slot == Slot::L;
    v.number(L ? Slot::Li : Slot::Oi);
    v.out.formula = L ? join({sym(Slot::O), " ← ", sym(Slot::Oi), ",   ", sym(Slot::L), " ← ", sym(Slot::Li)})
                      : join({sym(Slot::O), "  ←  ", sym(Slot::Oi)});
    v.out.why = std::move(why);
}

void explain_merge_lesson(const View& v) {
    v.out.place = place(v);
    switch (v.step.op) {
    case Op::init: return explain_empty(v);
    case Op::part: return explain_part(v);
    case Op::normalize:
    case Op::store: return explain_end(v);
    default: return explain_merge(v, "part");
    }
}

}  // namespace tilewalk
