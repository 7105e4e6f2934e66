#include "core/lessons/merge/explain.h"

#include "core/lessons/forward/explain.h"
#include "core/lessons/merge/merge.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_logits.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// "part B, keys 2–3", "merge AB"
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

bool normalised(const View& v) { return v.problem.options.parts == PartForm::normalised; }

// The first part has no keys, but the sink.
void explain_sink_alone(const View& v) {
    const Switches& off = v.problem.switches;
    const Format format = v.problem.precision.softmax;
    v.out.result = equals(join({name(v, v.out.target.slot), part_index(v)}), result_text(v));
    v.out.title = "Sink alone";
    if (!normalised(v)) {
        tell_sink_start(v, name(v, Slot::m_part), name(v, Slot::l_part), name(v, Slot::O_part));
        return add_sentence(v, "This part has no keys, and no other part counts the sink again.");
    }
    const bool nothing = off.no_max && off.no_log_sum;
    v.out.formula = join({name(v, Slot::L_part), " ← ", nothing ? text("0") : sym(Slot::sink), ",  ",
                          name(v, Slot::O_part), " ← 0"});
    v.out.why = nothing ? "Fault: neither the sink nor its weight is in L."
                        : "This part has no keys, but the sink, " + num_text(*v.problem.logits.sink) +
                              ": a logit without a value. L is the sink itself, O is 0, and no other part "
                              "counts it again.";
    if (nothing) v.out.kind = faulty;
    if (v.out.target.slot != Slot::L_part || nothing) return;
    const Expr sink = v.number(Slot::sink, 0, 0);
    set_numbers(v, rounded(format, off.no_max ? logarithm(rounded(format, exponential(sink))) : sink));
}

void explain_empty(const View& v) {
    if (!v.trace.reads(v.k).empty()) return explain_sink_alone(v);
    for (const Access& a : v.trace.writes(v.k)) {
        const bool below = a.slot == Slot::m_part || a.slot == Slot::L_part;
        const Line start = join({name(v, a.slot), below ? " = −∞" : " = 0"});
        v.out.formula = v.out.formula.empty() ? start : join({v.out.formula, ",   ", start});
    }
    v.out.result = equals(join({name(v, v.out.target.slot), part_index(v)}), result_text(v));
    v.out.title = "Empty part";
    v.out.why =
        "A part without keys: its maximum is −∞ and its sums are empty. It may be merged anywhere and "
        "changes nothing, as 0 does in a sum.";
}

// Of the weights of a part, measured from its maximum.
double sum_of(const PartAtWork& part) {
    const std::size_t sources = part.v.out.sources.size();
    const double sum = evaluate(part.sum_of_weights());
    part.v.out.sources.resize(sources);  // it is only said
    return sum;
}

// What a fault does to a part whose m and ℓ stand nowhere but in L and O; empty: nothing.
std::string broken_part(const PartAtWork& part) {
    const Switches& off = part.v.problem.switches;
    if (part.blind() || !off.any()) return {};
    const std::string who = in_words(part.v);
    if (off.no_max)
        return "Fault: nothing is subtracted from the scores of " + who +
               ", so exp overflows as soon as one of them exceeds " +
               largest_exponent_text(part.v.problem.precision.softmax) + ".";
    if (part.v.out.target.slot == Slot::L_part && off.no_log_sum)
        return "Fault: L is the largest score alone. That " + who + " has " + num_text(sum_of(part)) +
               " times its weight in this part, nobody will know.";
    if (part.v.out.target.slot == Slot::O_part && off.no_division)
        return "Fault: the weights of this part together are " + num_text(sum_of(part)) +
               ", and nothing divides by it: O is a sum, and no average.";
    return {};
}

void set_numbers_of(const PartAtWork& part, const Expr& e) {
    if (const std::string fault = broken_part(part); !fault.empty())
        part.v.out.why = fault, part.v.out.kind |= faulty;
    set_numbers(part.v, e);
}

// The scores of the part, and the sink where it is with them
Line logits_of(const PartAtWork& part) {
    const Line S = name(part.v, Slot::x);
    return part.sink ? join({S, ", ", sym(Slot::sink)}) : S;
}

void explain_maximum(const PartAtWork& part) {
    const View& v = part.v;
    if (v.problem.switches.no_max) return part.tell_no_maximum(in_words(v), name(v, Slot::m_part));
    v.out.formula = join({name(v, Slot::m_part), "  ←  max(", logits_of(part), ")"});
    v.out.why = part.blind()
                    ? "The mask hides every key of this part from " + in_words(v) + ": m = −∞."
                    : "The largest score of this part. Other parts are measured from maxima of their own, "
                      "which this one need not know.";
    v.out.kind = part.blind();
    if (part.sink)
        v.out.why =
            (part.blind() ? "The mask hides every key of this part from " + in_words(v) + ": its maximum is "
                          : std::string("The largest of the scores of this part and ")) +
            "the sink, " + num_text(*v.problem.logits.sink) + ", which counts once: in the first part.";
    set_numbers(v, part.maximum_of_scores());
}

// "exp(S − m)", without the maximum "exp(S)"
Line weight_formula(const View& v, const Line& below) {
    if (v.problem.switches.no_max) return join({"exp(", name(v, Slot::x), ")"});
    return join({"exp(", name(v, Slot::x), " − ", below, ")"});
}

// " + exp(sink − m)" behind the weights of the keys, where the sink is with them
Line weight_of_sink(const PartAtWork& part, const Line& below) {
    if (!part.sink) return {};
    if (part.v.problem.switches.no_max) return join({"  +  exp(", sym(Slot::sink), ")"});
    return join({"  +  exp(", sym(Slot::sink), " − ", below, ")"});
}

void explain_sum(const PartAtWork& part) {
    const View& v = part.v;
    const Line m = name(v, Slot::m_part);
    v.out.formula = join({name(v, Slot::l_part), "  ←  Σ ", weight_formula(v, m), weight_of_sink(part, m)});
    v.out.why =
        part.sink && part.blind() ? "Every weight of a key is exp(−∞) = 0: the sum is that of the sink alone."
        : part.sink    ? "The weights of this part and that of the sink, measured from the largest of them, "
                         "added up."
        : part.blind() ? "Every weight is exp(−∞) = 0: the sum stays empty."
                       : "The weights of this part, measured from its own maximum, added up.";
    set_numbers_of(part, part.sum_of_weights());
}

void explain_lse(const PartAtWork& part) {
    const View& v = part.v;
    const Switches& off = v.problem.switches;
    v.out.formula =
        off.no_log_sum && off.no_max ? join({name(v, Slot::L_part), "  ←  0"})
        : off.no_log_sum
            ? join({name(v, Slot::L_part), "  ←  max(", logits_of(part), ")"})
            : join({name(v, Slot::L_part), "  ←  ", off.no_max ? Line{} : join({sym(Slot::m), " + "}),
                    part.sink ? "ln(Σ " : "ln Σ ", weight_formula(v, sym(Slot::m)),
                    weight_of_sink(part, sym(Slot::m)), part.sink ? ")" : ""});
    v.out.why =
        part.sink && part.blind() ? "The mask hides every key of this part: L is the sink."
        : part.sink    ? "The logarithm of the sum of all exponentials of this part, that of the sink among "
                         "them."
        : part.blind() ? "The mask hides every key of this part: L = −∞, the logarithm of an empty sum."
                       : "The logarithm of the sum of all exponentials of this part: with O it is all that a "
                         "kernel stores.";
    if (off.no_log_sum && off.no_max) {
        part.scores();
        v.out.why = "Fault: neither the maximum nor the sum is in L.";
        v.out.kind = faulty;
        return;
    }
    const Expr log = logarithm(part.sum_of_weights());
    set_numbers_of(part, off.no_log_sum ? part.maximum_of_scores()
                                        : rounded(v.problem.precision.softmax,
                                                  off.no_max ? log : sum({num(part.base, Role::m), log})));
}

void explain_part_output(const PartAtWork& part) {
    const View& v = part.v;
    const bool divided = normalised(v), divides = divided && !v.problem.switches.no_division;
    const Line below = divides ? name(v, Slot::L_part) : divided ? sym(Slot::m) : name(v, Slot::m_part);
    v.out.formula = join({name(v, Slot::O_part), "  ←  ", weight_formula(v, below), " ", name(v, Slot::V)});
    if (divides && part.sink)
        v.out.formula = join({v.out.formula, ",   ", below, " = ln(Σ exp(", name(v, Slot::x), ") + exp(",
                              sym(Slot::sink), "))"});
    else if (part.from_sink())
        v.out.formula = join({v.out.formula, ",   ", below, " = max(", logits_of(part), ")"});
    if (part.blind())
        v.out.why = "No key of this part is seen: its output is 0.";
    else
        v.out.why =
            divides
                ? "The average of the values of this part by its own weights, as if there were no other "
                  "keys."
                : "The values of this part, each times its weight exp(S − m); the division by ℓ waits until "
                  "everything is merged.";
    if (part.sink && !divides)
        add_sentence(v, "The sink, " + num_text(*v.problem.logits.sink) +
                            ", is in m and in ℓ, but has no value: O does not know of it.");
    if (divides && part.sink && !part.blind())
        v.out.why =
            "The average of the values of this part. The sink has its weight beside those of the keys and "
            "no value, so it makes the average smaller.";
    const Expr total = part.weighted_values();
    if (!divides)
        set_numbers_of(part, total);
    else if (!part.blind() || part.sink)
        set_numbers_of(part,
                       rounded(v.problem.precision.accumulator, quotient(total, part.sum_of_weights())));
}

void explain_part(const View& v) {
    const PartAtWork part{v, Slot::x, Slot::V};
    v.out.result = equals(join({name(v, v.out.target.slot), part_index(v)}), result_text(v));
    v.out.kind = part.blind();
    switch (v.out.target.slot) {
    case Slot::m_part: return explain_maximum(part);
    case Slot::l_part: return explain_sum(part);
    case Slot::L_part: return explain_lse(part);
    default: return explain_part_output(part);
    }
}

// Parts were merged as they are, or L leaves out what they have summed; empty: neither.
std::string broken_end(const View& v) {
    const bool L = v.out.target.slot == Slot::L;
    if (merged_without_weights(v, 0)) {
        if (v.step.op == Op::normalize)
            return "Fault: ℓ adds sums of parts that are measured from different maxima. Divided by it the "
                   "weights "
                   "sum to 1, but their shares are wrong.";
        return L ? "Fault: the ℓ in L adds sums of different maxima, and whoever takes it up goes on with "
                   "that."
                 : "The output row leaves the chip as wrong as it is: nothing in the kernel notices.";
    }
    return {};
}

// L ← m: what has been summed is left out.
void explain_short_store(const View& v) {
    const Expr m = v.number(Slot::m);
    const double l = v.number(Slot::l).value;
    v.out.formula = join({sym(Slot::Oi), " → HBM,   ", sym(Slot::L), " ← ", sym(Slot::m)});
    v.out.kind = faulty;
    v.out.why = l == 0 || l == 1
                    ? "A fault without effect here: ℓ is " + num_text(l) + ", and L is what it should be."
                    : "Fault: L is the maximum alone. Whoever merges this row again, or goes back "
                      "through it, does not know that ℓ is " +
                          num_text(l) + ".";
    set_numbers(v, m);
}

void explain_end(const View& v) {
    v.out.place = in_words(v);
    const bool sum_left_out = v.problem.switches.no_log_sum && v.out.target.slot == Slot::L;
    if (sum_left_out && !normalised(v)) return explain_short_store(v);
    if (v.step.op == Op::normalize) return explain_normalize(v, {.fault = broken_end(v)});
    if (!normalised(v)) return explain_store(v, broken_end(v));
    tell_divided_store(
        v, has_fault(v) ? "O and L leave the chip as they are: nothing in the kernel notices a fault."
                        : "O is divided already, and L is that of the whole row: both can be merged again "
                          "with keys that come later.");
}

}  // namespace

void tell_divided_store(const View& v, std::string why) {
    const bool L = v.out.target.slot == Slot::L;
    const Expr copied = v.number(L ? Slot::Li : Slot::Oi);
    v.out.formula = join({sym(Slot::Oi), ", ", sym(Slot::Li), "  →  HBM"});
    v.out.why = std::move(why);
    const Precision& f = v.problem.precision;
    if (!L && !contains(f.output, f.accumulator)) return set_numbers(v, rounded(f.output, copied));
    tell_stored_bytes(v, v.written(Slot::O).region.rows);
}

void explain_merge_lesson(const View& v) {
    v.out.place = place(v);
    switch (v.step.op) {
    case Op::init: return explain_empty(v);
    case Op::part: return explain_part(v);
    case Op::normalize:
    case Op::store: return explain_end(v);
    default: return explain_merge(v, {.part = "part"});
    }
}

}  // namespace tilewalk
