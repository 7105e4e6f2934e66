// Its own steps; a block of keys is taken in as flash-forward does it.
#include "core/lessons/cascade/explain.h"

#include "core/lessons/cascade/cascade.h"
#include "core/lessons/forward/explain.h"
#include "core/lessons/merge/explain.h"
#include "core/lessons/shared/explain_faults.h"
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
    const bool alone = pass.all.count() == 1;
    v.out.why = std::string("The prefix was attended to for these queries before") +
                (alone ? "" : ", beside those of the other sequences") + ". O and L of it are all that " +
                pass.name() + " has to know of its keys.";
    v.source(v.out.target.slot == Slot::O_part ? Slot::O_parts : Slot::L_parts, pass.query_row(), v.col);
}

// ---- A pass over keys

void explain_start(const PassView& pass) {
    const View& v = pass.v;
    const bool no_max = v.problem.switches.no_max;
    if (v.problem.logits.sink && pass.shared()) {
        tell_sink_start(v, sym(Slot::m), sym(Slot::l), sym(Slot::Oi));
        return add_sentence(v, "It is one for all keys, so no sequence counts it again.");
    }
    v.out.formula =
        join({sym(Slot::m), no_max ? " ← 0,  " : " ← −∞,  ", sym(Slot::l), " ← 0,  ", sym(Slot::Oi), " ← 0"});
    v.out.kind = !pass.has_keys();
    if (no_max)
        v.out.why = "Fault: this kernel keeps no maximum, m is 0 and stays 0. Sum and output start at 0.";
    else if (!pass.has_keys())
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

// What a fault makes of the part, its numbers being what they are; empty: nothing, or nothing here.
std::string broken_part_of(const PassView& pass, double l) {
    const View& v = pass.v;
    const Switches& off = v.problem.switches;
    const bool log = v.out.target.slot == Slot::L_part;
    if (l == 0 && off.no_max && off.no_log_sum)
        return "Fault: L is 0, as m is: nothing says that no key has been seen here, and O = 0 will weigh.";
    if (l == 0) return {};
    if (!log && off.no_division)
        return l == 1 ? "A fault without effect here: the weights together are 1 already, so nothing is lost."
                      : "Fault: the weights of " + pass.query() + " together are " + num_text(l) +
                            ", and nothing divides by it: O is a sum, and no average.";
    if (log && off.no_log_sum)
        return l == 1
                   ? "A fault without effect here: ℓ is 1, and ln ℓ is 0 anyway."
                   : "Fault: L is the maximum alone, so this part will weigh as if it had one key, and not "
                     "ℓ = " +
                         num_text(l) + " times as much.";
    if (mixes_maxima(v, pass.query_row()))
        return "Fault: ℓ = " + num_text(l) + " of " + pass.query() +
               " adds weights that are measured from different maxima, so their shares are wrong.";
    return {};
}

void explain_part(const PassView& pass) {
    const View& v = pass.v;
    const Switches& off = v.problem.switches;
    const Precision& f = v.problem.precision;
    const int row = pass.query_row();
    const Line O = part_symbol(Slot::O_part, pass.part_name()),
               L = part_symbol(Slot::L_part, pass.part_name());
    v.out.title = "Partial result";
    const bool log = v.out.target.slot == Slot::L_part;
    v.out.formula =
        log ? join({L, "  ←  ", sym(Slot::m), off.no_log_sum ? Line{} : join({" + ln ", sym(Slot::l)})})
            : join({O, "  ←  ", sym(Slot::Oi), off.no_division ? Line{} : join({" ⊘ ", sym(Slot::l)})});
    v.out.result = equals(join({log ? L : O, part_index(v)}), result_text(v));
    const double l = v.at(v.read(Slot::l), row, 0);
    v.out.kind = l == 0;
    if (l == 0)
        v.out.why = "No key has been seen here: O = 0 and L = −∞, which will weigh nothing.";
    else
        v.out.why = (pass.shared() ? "What the prefix gives " + pass.query() +
                                         ": the average of its values, as if nothing followed."
                                   : "What the own keys of " + pass.name() + " give " + pass.query() +
                                         ", as if there were no prefix.") +
                    " L says how much it weighs: exp(L) is the sum of its exponentials.";
    if (l != 0 && pass.shared() && v.problem.logits.sink)
        v.out.why =
            "In the ℓ of the prefix, " + num_text(l) + " for " + pass.query() +
            ", the sink has its weight beside the keys; it gives no value, so it makes the average smaller.";
    if (const std::string fault = broken_part_of(pass, l); !fault.empty())
        v.out.why = fault, v.out.kind |= faulty;
    if (log) {
        const Expr m = v.number(Slot::m, row, 0), sum_of_weights = v.number(Slot::l, row, 0);
        return set_numbers(v, off.no_log_sum ? m : rounded(f.softmax, sum({m, logarithm(sum_of_weights)})));
    }
    const Expr total = v.number(Slot::Oi, row, v.col), sum_of_weights = v.number(Slot::l, row, 0);
    if (off.no_division) return set_numbers(v, total);
    if (l != 0) set_numbers(v, rounded(f.accumulator, quotient(total, sum_of_weights)));
}

void explain_shared_store(const PassView& pass) {
    const View& v = pass.v;
    const bool log = v.out.target.slot == Slot::L_parts;
    const Slot from = log ? Slot::L_part : Slot::O_part;
    v.out.title = "Store the shared part";
    v.out.formula =
        join({part_symbol(Slot::O_part, "shared"), ",  ", part_symbol(Slot::L_part, "shared"), "  →  HBM"});
    v.number(from, v.row, v.col);
    v.out.result = equals(join({part_symbol(from, "shared"), index_text(v)}), result_text(v));
    v.out.why = "The first kernel is through: O and one number for each row wait in HBM until their sequence "
                "takes them up. The keys of the prefix are never read again.";
}

// ---- The merge of both parts

void tell_weight(const PassView& pass, bool is_shared) {
    const View& v = pass.v;
    const Value& L = v.read(Slot::L_part, is_shared ? 1 : 0);  // the own one is read first
    const double own = L.data(pass.query_row() - pass.all.of(pass.sequence).first_query, 0);
    const bool sink_alone = pass.all.prefix == 0;
    const std::string what = !is_shared   ? "the own keys of " + pass.name()
                             : sink_alone ? "the sink"
                                          : "the prefix";
    if (own == minus_infinity) {
        v.out.why = is_shared ? "The prefix is empty: exp(−∞) = 0."
                              : "Sequence " + str(pass.sequence) + " has no keys of its own: exp(−∞) = 0.";
        v.out.why += " It changes nothing.";
        return;
    }
    v.out.why = "Of all that " + pass.query() + " attends to, " + num_text(v.result()) + " lies with " +
                what + ": the two weights of a row add up to 1.";
}

void tell_sound_merge(const PassView& pass) {
    const View& v = pass.v;
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

void tell_merge(const PassView& pass) {
    explain_merge(pass.v, {.part = "part",
                           .own_kernel = true,
                           .name =
                               [&](int tile) {
                                   return tile == shared_part ? std::string("the prefix")
                                                              : "the own keys of " + pass.name();
                               },
                           .tell = [&] { tell_sound_merge(pass); }});
}

void explain_output_store(const PassView& pass) {
    const bool broken = has_fault(pass.v), rounds = pass.v.problem.precision.any();
    tell_divided_store(
        pass.v,
        pass.first_name() + " is done: O and L " +
            (broken   ? "leave the chip as they are, and nothing in the kernels notices a fault."
             : rounds ? "are, up to rounding, what one pass over the prefix and its own keys would have left."
                      : "are what one pass over the prefix and its own keys would have left."));
}

// ---- A causal mask and a window within each sequence

void explain_left_out(const PassView& pass) {
    const View& v = pass.v;
    const Region q = pass.all.queries_of(pass.sequence);
    const KeyBlock& keys = pass.all.block(v.step.j);
    v.out.formula = text("block " + str(v.step.j) + " is masked");
    v.out.why = "The mask hides " + range(keys.first, keys.keys, "key", "keys") + " from " +
                range(q.row, q.rows, "query", "queries") +
                (pass.shared() && pass.all.count() > 1 ? ", whatever the sequence" : "") +
                ": nothing is loaded, nothing is computed.";
}

void explain_hidden_keys(const PassView& pass) {
    const View& v = pass.v;
    const int own = pass.all.position_of_query(v.row), at = pass.all.position_of_key(v.col);
    const bool masked = !pass.all.passes_mask(v.row, v.col);
    const std::string query = v.query(), key = v.key();
    v.out.formula = join({sym(Slot::S), "  ←  −∞  where masked"});
    v.out.kind = masked;
    if (!masked && !pass.all.visible(v.row, v.col)) {
        v.out.kind = faulty;
        v.out.why = "Fault: the edge of the mask lies one key too far right, so " + query +
                    " keeps its score with " + key + ", which it should not see.";
    } else if (!masked) {
        v.out.why = "The mask leaves " + key + " for " + query + " as it is.";
    } else {
        const bool ahead = v.problem.causal && at > own;
        v.out.why = (ahead ? "The causal mask hides " : "The window hides ") + key + " for " + query +
                    ": in its sequence it stands at position " + str(at) + ", and the query " +
                    (own < 0 ? "before every key" : "at " + str(own)) +
                    (ahead ? "." : ", more than " + counted(*v.problem.window, "position") + " away.");
    }
    v.source(Slot::S, v.row, v.col);
}

// Keys up to the last of this step's block, or those of the block alone: the mask hides all of them.
bool hidden(const PassView& pass, bool block_alone) {
    const View& v = pass.v;
    const SharedPrefix::Range range = pass.all.blocks_of(pass.sequence);
    for (int j = block_alone ? v.step.j : range.first; j <= v.step.j; ++j) {
        const KeyBlock& block = pass.all.block(j);
        for (int key = block.first; key < block.first + block.keys; ++key)
            if (pass.all.passes_mask(v.row, key)) return false;
    }
    return true;
}

// Words of flash-forward are about its own mask, which has one sequence.
void mend_words_of_hidden(const PassView& pass) {
    const View& v = pass.v;
    const Op op = v.step.op;
    const double result = v.result();
    const std::string query = v.query();
    if (op == Op::exponentials && result == 0 && !pass.all.passes_mask(v.row, v.col))
        v.out.why =
            "A masked score gives weight exp(−∞) = 0: " + v.key() + " does not count for " + query + ".";
    if (op == Op::tile_max && result == minus_infinity && hidden(pass, true))
        v.out.why = "The mask hides every key of this block from " + query + "; its maximum is −∞.";
    const Held m = v.trace.live(Slot::m, v.k);
    if (!m || has_fault(v) || !hidden(pass, false) || v.at(*m.value, v.row, 0) != minus_infinity) return;
    const std::string blind = "The mask hides from " + query + " all that " + (pass.shared() ? "the " : "") +
                              pass.name() + " has shown so far: ";
    if (op == Op::new_max) v.out.why = blind + "its maximum stays −∞.";
    if (op == Op::correction) v.out.why = blind + "−∞ − (−∞) would be NaN, so 0 stands in for m and α is 0.";
    if (op == Op::row_sum) v.out.why = blind + "its sum stays 0.";
    if (op == Op::output) v.out.why = blind + "its output stays 0.";
}

// The target's score for softcap and bias.
LogitWords logit_words(const PassView& pass) {
    const View& v = pass.v;
    return {.query = v.query(),
            .key = v.key(),
            .format = v.problem.precision.scores,
            .apart = pass.all.distance(v.row, v.col)};
}

}  // namespace

void explain_cascade(const View& v) {
    const PassView pass{v};
    v.out.place = place_of(pass);
    switch (v.step.op) {
    case Op::load_q: return explain_queries(pass);
    case Op::init: return explain_start(pass);
    case Op::load_kv: return explain_keys(pass);
    case Op::skip: return explain_left_out(pass);
    case Op::normalize: return explain_part(pass);
    case Op::softcap: return explain_softcap(v, logit_words(pass));
    case Op::bias: return explain_bias(v, logit_words(pass));
    case Op::mask: return explain_hidden_keys(pass);
    case Op::load: return explain_what_was_found(pass);
    case Op::store: return pass.shared() ? explain_shared_store(pass) : explain_output_store(pass);
    default: break;
    }
    if (is_merge(v.step.op)) return tell_merge(pass);
    explain_forward(v);
    mend_words_of_hidden(pass);
    // The key that it would tell of may be one that this pass has not seen, or that stands elsewhere in its
    // sequence.
    if (!pass.shared() || v.problem.causal || v.problem.window || v.problem.logits.alibi)
        v.out.asides.clear();
}

}  // namespace tilewalk
