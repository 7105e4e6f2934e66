// Its own steps; a block of keys is taken in as flash-forward does it.
#include "core/lessons/cascade/explain.h"

#include "core/lessons/cascade/cascade.h"
#include "core/lessons/forward/explain.h"
#include "core/lessons/merge/explain.h"
#include "core/lessons/shared/explain_loads.h"

#include <cmath>

namespace tilewalk {

namespace {

// There are several.
std::string all_sequences(int n) { return n == 2 ? "both sequences" : "all " + str(n) + " sequences"; }

// One step of a pass: over the prefix for all sequences, or over the own keys of one.
struct PassView {
    const View& v;
    SharedPrefix all{v.problem};
    int sequence = sequence_of(v.trace, v.k);

    bool shared() const { return sequence < 0; }
    int part() const { return shared() ? shared_part : own_part; }
    const char* part_name() const { return shared() ? "shared" : "own"; }
    std::string name() const { return shared() ? std::string("prefix") : "sequence " + str(sequence); }
    std::string first_name() const { return shared() ? "The prefix" : "Sequence " + str(sequence); }
    bool has_keys() const { return all.blocks_of(sequence).count > 0; }
    // Of a cell in a partial result, whose rows count from 0
    int query_row() const {
        for (const Access& a : v.trace.writes(v.k)) {
            const Region& at = v.trace.value(a.value).region;
            if (a.slot == v.out.target.slot && at.contains(v.row, v.col))
                return v.row - at.row + (shared() ? 0 : all.of(sequence).first_query);
        }
        return v.row;
    }
    std::string query() const {
        const int row = query_row();
        const std::string word = v.problem.query_token(row);
        return "query " + str(row) + (word.empty() ? "" : " (“" + word + "”)");
    }
};

std::string place_of(const PassView& pass) {
    const Op op = pass.v.step.op;
    if (pass.v.step.j >= 0) return pass.name() + ", block " + str(pass.v.step.j);
    const bool merges = is_merge(op) || op == Op::load || (op == Op::store && !pass.shared());
    return pass.name() + (merges ? ", merge" : "");
}

// ---- What is loaded

void explain_queries(const PassView& pass) {
    const int n = pass.all.count();
    if (!pass.shared())
        return tell_query_load(pass.v, pass.first_name() +
                                           " goes on alone, with its own queries and its own keys. They are "
                                           "read once more: a part of the price of sharing.");
    tell_query_load(pass.v, n == 1 ? "There is one sequence: nobody shares its prefix."
                                   : "The queries of " + all_sequences(n) +
                                         " come on chip together: each key of the prefix is read once and "
                                         "meets all of them.");
}

// Where the block lies: the address changes, and nothing else.
std::string page_words(const PassView& pass) {
    const int page = pass.v.step.j;
    if (pass.v.problem.options.pages == 0) return "";
    return "Page " + str(page) + " lies at place " + str(pass.all.place(page)) +
           " of HBM, as the page table says: another address, the same numbers. ";
}

void explain_keys(const PassView& pass) {
    const View& v = pass.v;
    const int n = pass.all.count();
    const std::string block = "Block " + str(v.step.j);
    const std::string who = !pass.shared()
                                ? block + " belongs to " + pass.name() + " alone, and no other query sees it."
                            : n == 1 ? block + " is read once, as there is one sequence."
                                     : block + " is read once for " + all_sequences(n) +
                                           "; each alone would read it again, " + str(n) + " times in all.";
    tell_key_load(v, page_words(pass) + who + " K and V");
}

void explain_what_was_found(const PassView& pass) {
    const View& v = pass.v;
    const int rows = pass.all.of(pass.sequence).queries;
    v.out.title = "Load the shared part";
    v.out.formula = join({part_symbol(Slot::L_part, "shared"), ",  ", part_symbol(Slot::O_part, "shared"),
                          "  ←  what the prefix has given, from HBM"});
    set_bytes(v, product({num(rows), sum({num(v.problem.d()), num(1)}), num(4)}), "bytes read");
    v.out.why = "The prefix was attended to for these queries before, beside those of the other sequences. O "
                "and L of it are all that " +
                pass.name() + " has to know of its keys.";
    v.source(v.out.target.slot == Slot::O_part ? Slot::O_parts : Slot::L_parts, pass.query_row(), v.col);
}

// ---- A pass over keys

void explain_start(const PassView& pass) {
    const View& v = pass.v;
    v.out.formula = join({sym(Slot::m), " ← −∞,  ", sym(Slot::l), " ← 0,  ", sym(Slot::Oi), " ← 0"});
    v.out.kind = !pass.has_keys();
    if (!pass.has_keys())
        v.out.why = pass.first_name() + (pass.shared() ? " is empty" : " has no keys of its own") +
                    ": m = −∞, ℓ = 0 and O = 0 is all that this pass finds.";
    else
        v.out.why = pass.shared()
                        ? "Nothing has been seen yet: one maximum, sum and output for every query of "
                          "every sequence."
                        : "Sequence " + str(pass.sequence) +
                              " begins with nothing again: what its queries found in the prefix "
                              "waits in HBM.";
}

void explain_part(const PassView& pass) {
    const View& v = pass.v;
    const int row = pass.query_row();
    const Line O = part_symbol(Slot::O_part, pass.part_name()),
               L = part_symbol(Slot::L_part, pass.part_name());
    v.out.title = "Partial result";
    const bool log = v.out.target.slot == Slot::L_part;
    v.out.formula = log ? join({L, "  ←  ", sym(Slot::m), " + ln ", sym(Slot::l)})
                        : join({O, "  ←  ", sym(Slot::Oi), " ⊘ ", sym(Slot::l)});
    v.out.result = equals(join({log ? L : O, part_index(v)}), v.result());
    const double l = v.at(v.read(Slot::l), row, 0);
    v.out.kind = l == 0;
    if (log) {
        const Expr m = v.number(Slot::m, row, 0), sum_of_weights = v.number(Slot::l, row, 0);
        v.out.numbers = write(sum({m, logarithm(sum_of_weights)}), v.result());
    } else {
        const Expr total = v.number(Slot::Oi, row, v.col), sum_of_weights = v.number(Slot::l, row, 0);
        if (l != 0) v.out.numbers = write(quotient(total, sum_of_weights), v.result());
    }
    if (l == 0)
        v.out.why = "No key has been seen here: O = 0 and L = −∞, which will weigh nothing.";
    else
        v.out.why = (pass.shared() ? "What the prefix gives " + pass.query() +
                                         ": the average of its values, as if nothing followed."
                                   : "What the own keys of " + pass.name() + " give " + pass.query() +
                                         ", as if there were no prefix.") +
                    " L says how much it weighs: exp(L) is the sum of its exponentials.";
}

void explain_shared_store(const PassView& pass) {
    const View& v = pass.v;
    const bool log = v.out.target.slot == Slot::L_parts;
    const Slot from = log ? Slot::L_part : Slot::O_part;
    v.out.title = "Store the shared part";
    v.out.formula =
        join({part_symbol(Slot::O_part, "shared"), ",  ", part_symbol(Slot::L_part, "shared"), "  →  HBM"});
    v.number(from, v.row, v.col);
    v.out.result = equals(join({part_symbol(from, "shared"), index_text(v)}), v.result());
    v.out.why = "The first kernel is through: O and one number for each row wait in HBM until their sequence "
                "takes them up. The keys of the prefix are never read again.";
}

// ---- The merge of both parts

void tell_weight(const PassView& pass, bool is_shared) {
    const View& v = pass.v;
    const Value& L = v.read(Slot::L_part, is_shared ? 1 : 0);  // the own one is read first
    const double own = L.data(pass.query_row() - pass.all.of(pass.sequence).first_query, 0);
    const std::string what = is_shared ? "the prefix" : "the own keys of " + pass.name();
    if (own == minus_infinity) {
        v.out.why = is_shared ? "The prefix is empty: exp(−∞) = 0."
                              : "Sequence " + str(pass.sequence) + " has no keys of its own: exp(−∞) = 0.";
        v.out.why += " It changes nothing.";
        return;
    }
    v.out.why = "Of all that " + pass.query() + " attends to, " + num_text(v.result()) + " lies with " +
                what + ": the two weights of a row add up to 1.";
}

void tell_merge(const PassView& pass) {
    const View& v = pass.v;
    explain_merge(v, "part");
    const bool blind = !std::isfinite(v.at(*v.trace.live(Slot::Li, v.k).value, pass.query_row(), 0));
    switch (v.step.op) {
    case Op::merge_weights: {
        const bool is_shared = v.row < pass.all.of(pass.sequence).queries;
        if (!blind) tell_weight(pass, is_shared);
        v.out.kind = is_shared ? v.out.kind : v.out.kind + 4;
        return;
    }
    case Op::merge_output:
        if (!blind)
            v.out.why =
                "The average over the prefix and the average over its own keys, each with its share: " +
                pass.query() + " has the output that one pass over both would have given.";
        return;
    default:
        if (!blind)
            v.out.why = "exp(L) is a sum of exponentials, over the prefix and over the own keys of " +
                        pass.name() + ". Both together are that of all keys which " + pass.query() + " sees.";
    }
}

void explain_output_store(const PassView& pass) {
    tell_divided_store(pass.v, pass.first_name() +
                                   " is done: O and L are what one pass over the prefix and its "
                                   "own keys would have left.");
}

}  // namespace

void explain_cascade(const View& v) {
    const PassView pass{v};
    v.out.place = place_of(pass);
    switch (v.step.op) {
    case Op::load_q: return explain_queries(pass);
    case Op::init: return explain_start(pass);
    case Op::load_kv: return explain_keys(pass);
    case Op::normalize: return explain_part(pass);
    case Op::load: return explain_what_was_found(pass);
    case Op::store: return pass.shared() ? explain_shared_store(pass) : explain_output_store(pass);
    default: break;
    }
    if (is_merge(v.step.op)) return tell_merge(pass);
    explain_forward(v);
    // The key that it would tell of may be one of the prefix, which this pass has not seen.
    if (!pass.shared()) v.out.asides.clear();
}

}  // namespace tilewalk
