
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

void explain_clear(const View& v) {
    v.out.place = "all query blocks";
    const bool no_max = v.problem.switches.no_max;
    v.out.formula = join({sym(Slot::O), text(" ← 0,  "), sym(Slot::m_hbm),
                          text(no_max ? " ← 0,  " : " ← −∞,  "), sym(Slot::l_hbm), text(" ← 0   in HBM")});
    set_result(v, v.result());
    v.out.why =
        "With key blocks outside, no query block is finished in one go: its O, m and ℓ wait in HBM, so "
        "that is where they start.";
    if (no_max) add_sentence(v, "Fault: m starts at 0 and stays 0.");
}

void explain_load_kv(const View& v) {
    const Region k = v.written(Slot::Kj).region;
    const int e = v.problem.element_bytes, j = v.step.j;
    const std::int64_t bytes = std::int64_t{2} * k.rows * k.cols * e;
    v.out.place = "key block " + str(j);
    v.out.formula = join({sym(Slot::Kj, j), text(", "), sym(Slot::Vj, j),
                          text("  ←  " + range(k.row, k.rows, "row", "rows") + " of "), sym(Slot::K),
                          text(", "), sym(Slot::V)});
    v.out.numbers = write(product({num(2), num(k.rows), num(k.cols), num(e)}), static_cast<double>(bytes));
    set_bytes(v, bytes, "bytes read");
    v.out.why = "Key block " + str(j) +
                " comes on chip once in the whole walk and stays while the query blocks pass: 2 × " +
                size_words(k.rows, k.cols, e) + ".";
    const bool value = v.out.target.slot == Slot::Vj;
    tell_input_rounding(v, value ? v.problem.V : v.problem.K);
    v.source(value ? Slot::V : Slot::K, v.row, v.col);
}

void explain_load_q(const View& v) {
    const Region q = v.written(Slot::Qi).region;
    const int e = v.problem.element_bytes, times = key_blocks_seen(v.problem, v.step.i);
    v.out.formula = join({sym(Slot::Qi, v.step.i),
                          text("  ←  " + range(q.row, q.rows, "row", "rows") + " of "), sym(Slot::Q)});
    v.out.numbers =
        write(product({num(q.rows), num(q.cols), num(e)}), static_cast<double>(q.rows) * q.cols * e);
    set_bytes(v, std::int64_t{q.rows} * q.cols * e, "bytes read");
    v.out.kind = times > 1;
    v.out.why =
        times > 1
            ? "Query block " + str(v.step.i) + " is read " + str(times) +
                  " times, once for each key block that it sees: " + size_words(q.rows, q.cols, e) + " each."
            : "Query block " + str(v.step.i) +
                  " sees this key block only, so it is read once: " + size_words(q.rows, q.cols, e) + ".";
    tell_input_rounding(v, v.problem.Q);
    v.source(Slot::Q, v.row, v.col);
}

Expr state_bytes(const Region& O, int e) {
    return sum({product({num(O.rows), num(O.cols), num(e)}), product({num(2), num(O.rows), num(4)})});
}
std::int64_t bytes_of(const Region& O, int e) { return std::int64_t{O.rows} * (O.cols * e + 8); }

Slot chip_of(Slot hbm) { return hbm == Slot::O ? Slot::Oi : hbm == Slot::m_hbm ? Slot::m : Slot::l; }
Slot hbm_of(Slot chip) { return chip == Slot::Oi ? Slot::O : chip == Slot::m ? Slot::m_hbm : Slot::l_hbm; }

void explain_load_state(const View& v) {
    const Region O = v.written(Slot::Oi).region;
    const int e = v.problem.element_bytes, i = v.step.i;
    const int before = key_blocks_seen(v.problem, i) - key_blocks_seen(v.problem, i, v.step.j);
    v.out.formula = join({sym(Slot::Oi, i), text(", "), sym(Slot::m), text(", "), sym(Slot::l),
                          text("  ←  " + range(O.row, O.rows, "row", "rows") + " of "), sym(Slot::O),
                          text(", "), sym(Slot::m_hbm), text(", "), sym(Slot::l_hbm)});
    v.out.numbers = write(state_bytes(O, e), static_cast<double>(bytes_of(O, e)));
    set_bytes(v, bytes_of(O, e), "bytes read");
    v.out.kind = before > 0;
    v.out.why = before > 0
                    ? "What " + count(before, "key block") + " left of query block " + str(i) +
                          " comes back from HBM. FlashAttention-2 keeps it on chip and reads nothing "
                          "here."
                    : "The first key block of query block " + str(i) +
                          ": what comes from HBM are the start values 0, " +
                          (v.problem.switches.no_max ? "0" : "−∞") + " and 0, and even they cost a read.";
    v.source(hbm_of(v.out.target.slot), v.row, v.col);
}

void explain_store_state(const View& v) {
    const Region O = v.written(Slot::O).region;
    const int e = v.problem.element_bytes, i = v.step.i;
    const int later = key_blocks_seen(v.problem, i, v.step.j + 1);
    v.out.formula =
        join({sym(Slot::O), text(", "), sym(Slot::m_hbm), text(", "), sym(Slot::l_hbm), text("  ←  "),
              sym(Slot::Oi, i), text(", "), sym(Slot::m), text(", "), sym(Slot::l)});
    v.out.numbers = write(state_bytes(O, e), static_cast<double>(bytes_of(O, e)));
    set_bytes(v, bytes_of(O, e), "bytes written");
    v.out.kind = later > 0;
    v.out.why = later > 0 ? "The chip must make room for the next query block: O, m and ℓ go out, and " +
                                count(later, "key block") + " will ask for them again."
                          : "No key block is left for query block " + str(i) +
                                ": this O is final, and m + ln ℓ is the L that FlashAttention-2 would store.";
    const Slot chip = chip_of(v.out.target.slot);
    tell_copy_rounding(v, v.problem.precision.output, v.at(v.read(chip), v.row, v.col));
    v.source(chip, v.row, v.col);
}

void explain_exponential(const View& v) {
    explain_exponentials(v);
    replace_sentence(
        v, "The division by ℓ comes at the end.",
        "With the maximum subtracted no exponent is above 0, so nothing overflows. The division by "
        "ℓ follows in this very tile.");
}

// What a broken kernel makes of the output; empty where the true one's sentence holds.
std::string broken_output(const View& v, double l_old, double l) {
    const std::string query = "query " + str(v.row);
    if (v.problem.switches.no_division && l != 0)
        return "Fault: the division by ℓ = " + num_text(l) +
               " is left out, and yet ℓ_old = " + num_text(l_old) +
               " is multiplied in as if the last tile had divided by it.";
    if (l == 0 && sees_some_key(v.problem, v.row, last_key(v)))
        return "Every weight of " + query + " so far is 0: ℓ = 0 and nothing is divided.";
    if (std::isinf(l)) return "ℓ of " + query + " is ∞: divided by it every finite output becomes 0.";
    return broken_rebase(v, "output");
}

void normalised_sentence(const View& v, double l_old, double l) {
    const Kind kind = move_of(v).kind;
    const std::string query = "query " + str(v.row);
    v.out.kind = kind;
    if (std::string fault = broken_output(v, l_old, l); !fault.empty()) {
        v.out.why = fault;
        v.out.kind |= faulty;
        return;
    }
    switch (kind) {
    case sees_no_key:
        v.out.why = "Query " + str(v.row) + " has seen no key: ℓ = 0, nothing is divided, and O stays 0.";
        break;
    case starts:
        v.out.why = "These are the first keys of " + query + ". Divided by ℓ = " + num_text(l) +
                    " their weights sum to 1, so O is an average already.";
        break;
    case rises:
        v.out.why = "Times ℓ_old = " + num_text(l_old) +
                    " takes the last division back, α re-bases the sum "
                    "of " +
                    query + ", then ℓ = " + num_text(l) +
                    " divides anew. FlashAttention-2 divides once, at the end.";
        break;
    case stays:
        v.out.why =
            "The maximum of " + query + " stays (α = 1). Only the division by ℓ_old = " + num_text(l_old) +
            " is taken back and made again with ℓ = " + num_text(l) + "; FlashAttention-2 divides once.";
        break;
    }
}

void explain_normalised_output(const View& v) {
    const Value &P = v.read(Slot::P), &V = v.read(Slot::Vj);
    const double alpha = v.at(v.read(Slot::alpha), v.row, 0), old = v.at(v.read(Slot::Oi), v.row, v.col);
    const double l_old = v.at(v.read(Slot::l, 0), v.row, 0), l = v.at(v.read(Slot::l, 1), v.row, 0);
    const bool divides = !v.problem.switches.no_division;
    const Expr total =
        weighted_values(v, product({num(alpha, Role::alpha), num(l_old, Role::l), num(old, Role::O)}));
    Line before = sym(Slot::l);
    before.push_back({"old", Role::l, Span::Face::text, Span::Script::sub});
    v.out.formula = join({sym(Slot::Oi, v.step.i), text("  ←  ("), sym(Slot::alpha), text(" ⊙ "), before,
                          text(" ⊙ "), sym(Slot::Oi, v.step.i), text("  +  "), sym(Slot::P), text(" "),
                          sym(Slot::Vj, v.step.j), divides ? join({text(") ⊘ "), sym(Slot::l)}) : text(")")});
    set_result(v, v.result());
    normalised_sentence(v, l_old, l);
    v.source(Slot::alpha, v.row, 0);
    v.source(Slot::l, v.row, 0);
    v.source(Slot::Oi, v.row, v.col);
    v.source_row(Slot::P, P, v.row);
    v.source_column(Slot::Vj, V, v.col);
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
    case Op::exponentials: return explain_exponential(v);
    case Op::output: return explain_normalised_output(v);
    case Op::store_state: return explain_store_state(v);
    default: return explain_forward(v);  // the same as in FlashAttention-2
    }
}

}  // namespace tilewalk
