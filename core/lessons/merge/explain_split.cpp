// The words and numbers of the lesson `split-kv`: its own steps; the others are those of flash-forward.
#include "core/lessons/forward/explain.h"
#include "core/lessons/merge/explain.h"
#include "core/lessons/merge/split_kv.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_loads.h"

#include <cmath>

namespace tilewalk {

namespace {

std::string split_name(const View& v) { return "split " + part_letter(split_of(v.trace, v.k)); }

std::string first_split_name(const View& v) { return "Split " + part_letter(split_of(v.trace, v.k)); }

bool several(const View& v) { return v.problem.options.queries > 1; }

// Of the query that a cell is about: in tables of parts its row counts from 0, split after split.
int decoded_row(const View& v) {
    const Region rows = decoded_queries(v.problem);
    return is_of_parts(v.out.target.slot) ? rows.row + v.row % rows.rows : v.row;
}

void explain_query(const View& v) {
    const int splits = static_cast<int>(split_blocks(v.problem).size());
    const std::string who = several(v) ? "queries" : "query";
    std::string why = "The " + who + (several(v) ? " come on chip once." : " comes on chip once.");
    if (splits > 1)
        why = "Each of the " + str(splits) + " splits reads the " + who + " for itself: " + str(splits) +
              " × " + str(v.problem.options.queries * v.problem.d() * v.problem.element_bytes) +
              " bytes in all.";
    if (several(v)) why += " They are the rows of one tile, so every key that is read meets all of them.";
    tell_query_load(v, why);
}

void explain_start(const View& v) {
    if (v.problem.logits.sink && split_of(v.trace, v.k) == 0) {
        tell_sink_start(v, sym(Slot::m), sym(Slot::l), sym(Slot::Oi, v.step.i));
        if (split_blocks(v.problem).size() > 1)
            add_sentence(v, "It is one for all keys, so no other split counts it again.");
        return;
    }
    const bool no_max = v.problem.switches.no_max;
    v.out.formula = join({sym(Slot::m), no_max ? " ← 0,  " : " ← −∞,  ", sym(Slot::l), " ← 0,  ",
                          sym(Slot::Oi, v.step.i), " ← 0"});
    if (no_max)
        v.out.why = "Fault: this kernel keeps no maximum, m is 0 and stays 0 in " + split_name(v) +
                    ". Sum and output start at 0.";
    else
        v.out.why = first_split_name(v) + " begins with nothing: it needs to know nothing of what other "
                                          "splits find, so all of them may run at "
                                          "the same time.";
}

void explain_left_out(const View& v) {
    v.out.formula = text("key block " + str(v.step.j) + " is masked");
    const Region rows = decoded_queries(v.problem);
    v.out.why = "The mask hides every key of block " + str(v.step.j) + " from " +
                range(rows.row, rows.rows, "query", "queries") + ": nothing is loaded, nothing is computed.";
}

// "the query", of several "query 3"
std::string asker(const View& v) { return several(v) ? "query " + str(decoded_row(v)) : "the query"; }

// In the ℓ of the first split the sink counts beside the keys.
std::string words_of_sink(const View& v, double l) {
    const Value& O = v.read(Slot::Oi);
    if (l == 1 && O.data.row(v.row - O.region.row).isZero(0))
        return first_split_name(v) + " has shown " + asker(v) +
               " no key: all of ℓ is the weight of the sink, and the output stays 0.";
    return "In the ℓ of this split, " + num_text(l) +
           ", the sink has its weight beside the keys; it gives no value, so it only makes the average "
           "smaller.";
}

void explain_average(const View& v) {
    const double l = v.at(v.read(Slot::l), v.row, 0);
    const bool sink = v.problem.logits.sink && split_of(v.trace, v.k) == 0;
    explain_normalize(
        v,
        {.why = l == 0 ? first_split_name(v) + " has shown " + asker(v) +
                             " no key: ℓ = 0, and its output stays 0."
                : sink ? words_of_sink(v, l)
                       : "Divided by the ℓ of this split alone: the average of its values, as if there were "
                         "no other keys."});
    v.out.asides.clear();  // they are about all keys of the row
}

void explain_partial_store(const View& v) {
    const int R = decoded_row(v);
    const bool no_log_sum = v.problem.switches.no_log_sum;
    const Line O = part_symbol(Slot::O_parts, part_letter(split_of(v.trace, v.k))),
               L = part_symbol(Slot::L_parts, part_letter(split_of(v.trace, v.k)));
    if (v.out.target.slot == Slot::O_parts) {
        v.number(Slot::Oi, R, v.col);
        v.out.formula = join({O, "  ←  ", sym(Slot::Oi, v.step.i)});
        v.out.why = "The output of this split goes to HBM, where the second kernel finds it.";
        return;
    }
    v.out.formula = join({O, " ← ", sym(Slot::Oi, v.step.i), ",   ", L, " ← ", sym(Slot::m),
                          no_log_sum ? Line{} : join({" + ln ", sym(Slot::l)})});
    const Expr m = v.number(Slot::m, R, 0), l = v.number(Slot::l, R, 0);
    v.out.result = equals(join({L, part_index(v)}), result_text(v));
    v.out.kind = l.value == 0;
    v.out.why = l.value == 0
                    ? "A split without keys leaves O = 0 and L = −∞: it will weigh nothing."
                    : "O and one number leave the chip. L says how much this split weighs: exp(L) is the sum "
                      "of its exponentials.";
    if (!no_log_sum) return set_numbers(v, rounded(v.problem.precision.softmax, sum({m, logarithm(l)})));
    if (l.value != 0 || v.problem.switches.no_max) {
        v.out.why =
            l.value == 0 ? "Fault: L is 0, as m is: nothing says that this split has seen no key, and O = 0 "
                           "will weigh."
            : l.value == 1 ? "A fault without effect here: ℓ is 1, and ln ℓ is 0 anyway."
                           : "Fault: L is the maximum alone, so this split will weigh as if it had one key, "
                             "and not ℓ = " +
                                 num_text(l.value) + " times as much.";
        v.out.kind |= faulty;
    }
    set_numbers(v, m);
}

void explain_parts_load(const View& v) {
    const int splits = static_cast<int>(split_blocks(v.problem).size());
    v.out.title = "Load parts";
    const auto of_splits = [&](Slot slot) {
        const Line first = part_symbol(slot, part_letter(0)),
                   last = part_symbol(slot, part_letter(splits - 1));
        return splits == 1 ? first : join({first, splits == 2 ? ", " : " … ", last});
    };
    v.out.formula =
        join({of_splits(Slot::L_part), ",  ", of_splits(Slot::O_part), "  ←  all splits, from HBM"});
    Numbers size{num(splits), sum({num(v.problem.d()), num(1)}), num(4)};
    if (several(v)) size.insert(size.begin() + 1, num(v.problem.options.queries));
    set_bytes(v, product(std::move(size)), "bytes read");
    v.source(v.out.target.slot == Slot::O_part ? Slot::O_parts : Slot::L_parts, v.row, v.col);
    v.out.why = "A second kernel begins when the last worker is through. What it reads was written a moment "
                "ago: with the "
                "query read again, that is the price of splitting.";
    if (several(v))
        v.out.why =
            "A second kernel begins when the last worker is through. It finds O and L of every query in "
            "every split, and merges them query by query; the keys are not needed any more.";
}

std::string words_of_the_end(const View& v) {
    if (has_fault(v)) return "O and L leave the chip as they are: nothing in the kernels notices a fault.";
    return std::string("O and L leave the chip, the same as flash-forward would give for ") +
           (several(v) ? "these queries" : "this query") +
           std::string(v.problem.precision.any() ? ", up to rounding." : ".");
}

// A mask may hide all that a split has shown so far, although other splits see keys.
void mend_words_of_blind(const View& v) {
    const Held m = v.trace.live(Slot::m, v.k);
    if (has_fault(v) || v.problem.precision.any()) return;  // there −∞ may be what overflowed
    if (!m || v.at(*m.value, v.row, 0) != minus_infinity) return;
    const std::string blind = "The mask hides from query " + str(decoded_row(v)) + " all that " +
                              split_name(v) + " has seen so far: ";
    switch (v.step.op) {
    case Op::new_max: v.out.why = blind + "its maximum stays −∞."; break;
    case Op::correction:
        v.out.why = blind + "−∞ − (−∞) would be NaN, so 0 stands in for m and α is 0.";
        break;
    case Op::row_sum: v.out.why = blind + "its sum stays 0."; break;
    case Op::output: v.out.why = blind + "its output stays 0."; break;
    default: break;
    }
}

}  // namespace

void explain_split_kv(const View& v) {
    const int split = split_of(v.trace, v.k);
    const bool of_query = several(v) && is_merge(v.step.op);
    v.out.place = split < 0       ? of_query ? "combine, " + asker(v) : "combine"
                  : v.step.j >= 0 ? split_name(v) + ", key block " + str(v.step.j)
                                  : split_name(v);
    switch (v.step.op) {
    case Op::load_q: return explain_query(v);
    case Op::init: return explain_start(v);
    case Op::load_kv:
        return tell_key_load(v, "Key block " + str(v.step.j) + " belongs to " + split_name(v) +
                                    " alone, so all splits together read K and V once. K and V");
    case Op::skip: return explain_left_out(v);
    case Op::normalize: return explain_average(v);
    case Op::load: return explain_parts_load(v);
    case Op::store:
        if (split >= 0) return explain_partial_store(v);
        return tell_divided_store(v, words_of_the_end(v));
    default: break;
    }
    if (is_merge(v.step.op)) return explain_merge(v, {.part = "split", .own_kernel = true});
    explain_forward(v);
    mend_words_of_blind(v);
}

}  // namespace tilewalk
