// The words and numbers of FlashAttention-1 where it differs from FlashAttention-2: loads, the output,
// stores.
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_loads.h"
#include "core/problem/mask.h"

#include <cmath>

namespace tilewalk {

namespace {

void explain_clear(const View& v) {
    v.out.place = "all query blocks";
    const bool no_max = v.problem.switches.no_max;
    v.out.formula = join({sym(Slot::O), " ← 0,  ", sym(Slot::m_hbm), no_max ? " ← 0,  " : " ← −∞,  ",
                          sym(Slot::l_hbm), " ← 0   in HBM"});
    v.out.why =
        "With key blocks outside, no query block is finished in one go: its O, m and ℓ wait in HBM, so "
        "that is where they start.";
    if (no_max) add_sentence(v, "Fault: m starts at 0 and stays 0.");
    if (!v.problem.logits.sink) return;
    tell_sink_start(v, sym(Slot::m_hbm), sym(Slot::l_hbm), sym(Slot::O));
    v.out.formula.push_back(word("   in HBM"));
}

void explain_load_kv(const View& v) {
    v.out.place = "key block " + str(v.step.j);
    tell_key_load(v, "Key block " + str(v.step.j) +
                         " comes on chip once in the whole walk and stays while the query blocks pass");
}

void explain_load_q(const View& v) {
    const int times = key_blocks_seen(v.problem, v.step.i);
    const std::string size = size_words(v.written(Slot::Qi).region, v.problem.element_bytes);
    v.out.kind = times > 1;
    tell_query_load(v, times > 1 ? "Query block " + str(v.step.i) + " is read " + str(times) +
                                       " times, once for each key block that it sees: " + size + " each."
                                 : "Query block " + str(v.step.i) +
                                       " sees this key block only, so it is read once: " + size + ".");
}

// O in the elements' size, m and ℓ in fp32
Expr state_bytes(const View& v, const Region& O) {
    return sum({product({num(O.rows), num(O.cols), num(v.problem.element_bytes)}),
                product({num(2), num(O.rows), num(4)})});
}

Slot chip_of(Slot hbm) { return hbm == Slot::O ? Slot::Oi : hbm == Slot::m_hbm ? Slot::m : Slot::l; }
Slot hbm_of(Slot chip) { return chip == Slot::Oi ? Slot::O : chip == Slot::m ? Slot::m_hbm : Slot::l_hbm; }

// m and ℓ as they lie there before the first tile
std::string start_text(const View& v) {
    return num_text(v.at(v.read(Slot::m_hbm), v.read(Slot::m_hbm).region.row, 0)) + " and " +
           num_text(v.at(v.read(Slot::l_hbm), v.read(Slot::l_hbm).region.row, 0));
}

void explain_load_state(const View& v) {
    const Region O = v.written(Slot::Oi).region;
    const int i = v.step.i;
    const int before = key_blocks_seen(v.problem, i) - key_blocks_seen(v.problem, i, v.step.j);
    v.out.formula = join({sym(Slot::Oi, i), ", ", sym(Slot::m), ", ", sym(Slot::l), "  ←  ", sym(Slot::O, i),
                          ", ", sym(Slot::m_hbm, i), ", ", sym(Slot::l_hbm, i), " of HBM"});
    set_bytes(v, state_bytes(v, O), "bytes read");
    v.out.kind = before > 0;
    v.out.why = before > 0 ? "The state of query block " + str(i) + ", as " +
                                 (before == 1 ? "the key block before" : count(before, "key block")) +
                                 " left it, comes back from HBM. FlashAttention-2 keeps it on chip and "
                                 "reads nothing here."
                           : "The first key block of query block " + str(i) +
                                 ": what comes from HBM are the start values 0, " + start_text(v) +
                                 ", and even they cost a read.";
    v.source(hbm_of(v.out.target.slot), v.row, v.col);
}

void explain_store_state(const View& v) {
    const int i = v.step.i;
    const int later = key_blocks_seen(v.problem, i, v.step.j + 1);
    v.out.formula = join({sym(Slot::Oi, i), ", ", sym(Slot::m), ", ", sym(Slot::l), "  →  ", sym(Slot::O, i),
                          ", ", sym(Slot::m_hbm, i), ", ", sym(Slot::l_hbm, i), " of HBM"});
    set_bytes(v, state_bytes(v, v.written(Slot::O).region), "bytes written");
    v.out.kind = later > 0;
    v.out.why =
        later > 0 ? "The chip needs room for the next query block, so O, m and ℓ go out to HBM; " +
                        (later == 1 ? "one more key block reads" : count(later, "more key block") + " read") +
                        " them again."
                  : "No key block is left for query block " + str(i) +
                        ": this O is final, and m + ln ℓ is the L that FlashAttention-2 would store.";
    const Slot chip = chip_of(v.out.target.slot);
    tell_copy_rounding(v, v.problem.precision.output, v.at(v.read(chip), v.row, v.col));
    v.source(chip, v.row, v.col);
}

// What a broken kernel makes of the output; empty where the true one's sentence holds.
std::string broken_output(const View& v, double l_old, double l) {
    const std::string query = v.query();
    if (v.problem.switches.no_division && l != 0)
        return "Fault: the division by ℓ = " + num_text(l) +
               " is left out, and yet the old ℓ = " + num_text(l_old) +
               " is multiplied in as if the last tile had divided by it.";
    if (l == 0 && sees_some_key(v.problem, v.row, last_key(v)))
        return "Every weight of " + query + " so far is 0: ℓ = 0 and nothing is divided.";
    if (std::isinf(l)) return "ℓ of " + query + " is ∞: divided by it every finite output becomes 0.";
    return broken_rebase(v, "output");
}

void normalised_sentence(const View& v, double l_old, double l) {
    const Kind kind = move_of(v).kind;
    const std::string query = v.query();
    v.out.kind = kind;
    if (std::string fault = broken_output(v, l_old, l); !fault.empty()) {
        v.out.why = fault;
        v.out.kind |= faulty;
        return;
    }
    const OfKinds words{
        .sees_no_key = v.first_query() + " has seen no key: ℓ = 0, nothing is divided, and O stays 0.",
        .starts = "These are the first keys of " + query + ". Divided by ℓ = " + num_text(l) +
                  " their weights sum to 1, so O is an average already.",
        .rises = "Multiplying by the old ℓ = " + num_text(l_old) +
                 " takes the last division back, α corrects the sum of " + query +
                 ", then ℓ = " + num_text(l) + " divides anew. FlashAttention-2 divides once, at the end.",
        .stays = "The maximum of " + query +
                 " stays (α = 1). Only the division by the old ℓ = " + num_text(l_old) +
                 " is taken back and made again with ℓ = " + num_text(l) + "; FlashAttention-2 divides once.",
    };
    v.out.why = words[kind];
}

void explain_normalised_output(const View& v) {
    const Expr alpha = v.number(Slot::alpha), l_old = v.number(Slot::l), old = v.number(Slot::Oi);
    const double l = v.at(v.read(Slot::l, 1), v.row, 0);
    const bool divides = !v.problem.switches.no_division;
    const Expr total = weighted_values(v, product({alpha, l_old, old}));
    Line before = sym(Slot::l);
    before.push_back({"old", Role::l, Span::Face::text, Span::Script::sub});
    v.out.formula = join({sym(Slot::Oi, v.step.i), "  ←  (", sym(Slot::alpha), " ⊙ ", before, " ⊙ ",
                          sym(Slot::Oi, v.step.i), "  +  ", sym(Slot::P), " ", sym(Slot::Vj, v.step.j),
                          divides ? join({") ⊘ ", sym(Slot::l)}) : text(")")});
    normalised_sentence(v, l_old.value, l);
    tell_operand(v, "The weights enter");
    if (l != 0 || !divides)
        set_numbers(
            v, rounded(v.problem.precision.accumulator, divides ? quotient(total, num(l, Role::l)) : total));
}

}  // namespace

void explain_v1(const View& v) {
    switch (v.step.op) {
    case Op::init: return explain_clear(v);
    case Op::load_kv: return explain_load_kv(v);
    case Op::load_q: return explain_load_q(v);
    case Op::load_state: return explain_load_state(v);
    case Op::exponentials:
        return explain_exponentials(v, "The division by ℓ follows in this very tile. Algorithm 1 of the "
                                       "paper measures from the tile's own m̃ and "
                                       "multiplies by exp(m̃ − m) afterwards: the same number.");
    case Op::output: return explain_normalised_output(v);
    case Op::store_state: return explain_store_state(v);
    default: return explain_forward(v);  // the same as in FlashAttention-2
    }
}

}  // namespace tilewalk
