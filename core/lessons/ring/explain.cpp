#include "core/lessons/ring/explain.h"

#include "core/lessons/forward/explain.h"
#include "core/lessons/ring/clock.h"
#include "core/lessons/ring/explain_parts.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/parts.h"
#include "core/problem/logits.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

std::string named(const char* kind, int position, const std::string& word) {
    return kind + str(position) + (word.empty() ? "" : " (“" + word + "”)");
}

}  // namespace

std::string rank_name(int rank) { return "rank " + str(rank); }

std::string rows_text(const std::vector<int>& positions) {
    return (positions.size() == 1 ? "position " : "positions ") + positions_text(positions);
}

std::string RingView::query_words(const char* kind, int position) const {
    return named(kind, position, v.problem.query_token(position));
}

std::string RingView::key_words(const char* kind, int col) const {
    return named(kind, key_at(col), v.problem.key_token(key_at(col)));
}

std::string RingView::owners_keys() const {
    return owner == rank ? "its own keys" : "the keys of " + rank_name(owner);
}

std::string place_on_ring(const RingView& r) {
    if (r.round < 0) return rank_name(r.rank);
    const bool keys_travel = r.v.step.op == Op::exchange;  // for the round after this one
    return rank_name(r.rank) + ", round " + str(r.round - (keys_travel ? 1 : 0));
}

// ---- What both passes do

void explain_keys_handed_on(const RingView& r, const RingClock& clock) {
    const View& v = r.v;
    const Ring& ring = r.ring;
    const int t = r.round - 1, from = ring.before(r.rank), to = ring.behind(r.rank),
              now = ring.owner(r.rank, t), through = clock.begin(r.rank, t) + clock.computing(r.rank, t);
    const Line K = slot_symbol(Slot::K, r.owner), V = slot_symbol(Slot::V, r.owner);
    v.out.formula = join({K, ", ", V, "  ←  from " + rank_name(from) + ",   ", slot_symbol(Slot::K, now),
                          ", ", slot_symbol(Slot::V, now), "  →  to " + rank_name(to)});
    const int keys = ring.keys_of(r.owner).rows();
    set_bytes(v, product({num(2), num(keys), num(v.problem.d()), num(v.problem.element_bytes)}),
              "bytes received");
    const int sending = v.step.when.end - v.step.when.start, waits = v.step.when.end - through;
    const std::string hides =
        " On this clock (a row sent takes a tick, a score one for each product that it is in) that takes " +
        counted(sending, "tick") +
        (waits <= 0 ? ", no more than the work: no time is lost. On real machines it takes many rows a rank "
                      "for that."
                    : ", and ends " + counted(waits, "tick") +
                          " after the work of this round: " + rank_name(r.rank) + " waits for it.");
    v.out.why = capitalised(rank_name(r.rank)) + " hands on " +
                (now == r.rank ? "its keys and values" : "the keys and values of " + rank_name(now)) +
                " to " + rank_name(to) + " and receives those of " + rank_name(r.owner) +
                ", beside its own work." + hides;
    const bool value = v.out.target.slot == Slot::V_in;
    v.source(value ? Slot::V : Slot::K, v.row, v.col);
}

void explain_shard(const RingView& r) {
    const View& v = r.v;
    const Region k = v.written(Slot::Kj).region;
    const bool value = v.out.target.slot == Slot::Vj, own = r.round == 0;
    v.out.formula = join({sym(Slot::Kj, r.owner), ", ", sym(Slot::Vj, r.owner),
                          "  ←  " + rows_text(r.ring.keys_of(r.owner).positions) + " of ", sym(Slot::K), ", ",
                          sym(Slot::V)});
    set_bytes(v, product({num(2), num(k.rows), num(k.cols), num(v.problem.element_bytes)}), "bytes read");
    v.out.why = own ? "The first round needs no message: every rank begins with its own keys. K and V: 2 × "
                    : "In round " + str(r.round) + " " + rank_name(r.rank) + " has the keys of rank (" +
                          str(r.rank) + " − " + str(r.round) + ") mod " + str(r.ring.ranks) + " = " +
                          str(r.owner) + "; they lie in its own HBM by now. K and V: 2 × ";
    v.out.why += size_words(k, v.problem.element_bytes) + ".";
    const Slot from = own ? (value ? Slot::V : Slot::K) : value ? Slot::V_in : Slot::K_in;
    v.source(from, r.key_at(v.row), v.col);
    tell_copy_rounding(v, v.problem.precision.inputs,
                       (value ? v.problem.V : v.problem.K)(r.key_at(v.row), v.col));
}

void explain_shard_score(const RingView& r) {
    explain_score(
        r.v,
        capitalised(r.query()) + " of " + rank_name(r.rank) + " is held against " + r.key(r.v.col) +
            (r.owner == r.rank ? ", of the same rank." : ", which came from " + rank_name(r.owner) + "."));
}

void explain_shard_mask(const RingView& r) {
    const View& v = r.v;
    const Problem& p = v.problem;
    const int q = r.query_at(v.row), k = r.key_at(v.col), own = q + p.N_kv() - p.N();
    const bool masked = !passes_mask(p, q, k);
    v.out.formula = join({sym(Slot::S), "  ←  −∞  where masked"});
    v.out.kind = masked;
    const std::string pair = r.key(v.col) + " for " + r.query();
    if (!masked && !visible(p, q, k)) {
        v.out.kind = faulty;
        v.out.why = "Fault: the edge of the mask lies one key too far right, so " + r.query() +
                    " keeps its score with " + r.key(v.col) + ", which it should not see.";
    } else if (!masked)
        v.out.why = "The mask leaves " + pair + " as it is.";
    else if (k > own && p.causal)
        v.out.why = "The causal mask hides " + pair + ": it lies in the future, wherever the ranks keep it.";
    else
        v.out.why = "The window hides " + pair + ": it is more than " + str(*p.window) +
                    (*p.window == 1 ? " position" : " positions") + " away.";
    v.source(Slot::S, v.row, v.col);
}

LogitWords shard_words(const RingView& r, Slot scores) {
    const int apart = distance(r.v.problem, r.query_at(r.v.row), r.key_at(r.v.col));
    const Precision& f = r.v.problem.precision;
    return {.query = r.query(),
            .key = r.key(r.v.col),
            .scores = scores,
            .format = scores == Slot::S ? f.scores : f.softmax,  // of a gradient that of dS
            .apart = apart};
}

void explain_nothing_to_see(const RingView& r) {
    const View& v = r.v;
    v.out.title = "Nothing to see";
    v.out.formula = text("no query of " + rank_name(r.rank) + " sees a key of " + rank_name(r.owner));
    v.out.why = "The mask hides every key of " + rank_name(r.owner) + " from every query of " +
                rank_name(r.rank) + ": in this round it has nothing to compute, and waits.";
}

// ---- The forward pass

namespace {

// Of a partial result the row of the table of all parts.
struct ForwardView : RingView {
    int row() const {
        for (const Access& a : v.trace.writes(v.k)) {
            const Region& at = v.trace.value(a.value).region;
            if (a.slot == v.out.target.slot && at.contains(v.row, v.col)) return v.row - at.row;
        }
        return v.row;
    }
    std::string query() const { return query_words("query ", query_at(row())); }
    std::string first_query() const { return query_words("Query ", query_at(row())); }
};

void explain_queries(const ForwardView& r) {
    const View& v = r.v;
    const std::vector<int>& positions = r.ring.queries_of(r.rank).positions;
    const Region q = v.written(Slot::Qi).region;
    v.out.formula = join({sym(Slot::Qi, r.rank), "  ←  " + rows_text(positions) + " of ", sym(Slot::Q)});
    set_bytes(v, product({num(q.rows), num(q.cols), num(v.problem.element_bytes)}), "bytes read");
    v.out.why = "The queries of rank " + str(r.rank) + " stay here: " + rows_text(positions) + ". " +
                (r.ring.ranks == 1 ? "So do its keys, as it is the only rank."
                                   : "Keys and values will come to them, shard by shard.");
    v.source(Slot::Q, r.query_at(v.row), v.col);
    tell_copy_rounding(v, v.problem.precision.inputs, v.problem.Q(r.query_at(v.row), v.col));
}

// ---- What the keys of one round give

Line name_of(const View& v, Slot part, Slot whole) {
    const Access& own = v.trace.writes(v.k).front();  // m
    return own.slot == Slot::m ? slot_symbol(whole) : slot_symbol(v.trace, part, v.k, own.tile);
}

// Where the sink is counted: at the first look, and never with a value.
void tell_sink(const ForwardView& r, const PartAtWork& part) {
    const View& v = r.v;
    const std::string sink = num_text(*v.problem.logits.sink);
    switch (v.out.target.slot) {
    case Slot::m:
    case Slot::m_part:
        if (part.blind())
            v.out.why = "The mask hides from " + r.query() + " all keys of this round: the sink, " + sink +
                        ", is its largest logit so far.";
        else
            v.out.why = "The largest of the scores of " + r.query() + " with " + r.owners_keys() +
                        " and the sink, " + sink + ". Every rank counts the sink once, with its first keys.";
        break;
    case Slot::l:
    case Slot::l_part:
        v.out.why = part.blind() ? "No key of this round for " + r.query() + ": the sum is the sink's weight."
                                 : "The weights of " + r.query() + " for " + r.owners_keys() +
                                       " and that of the sink, measured from the largest of them.";
        break;
    default:
        if (part.blind())
            v.out.why = "No key of this round for " + r.query() + ", and the sink has no value: O = 0.";
        else
            add_sentence(v, "The sink, " + sink +
                                ", is in m and in ℓ, but has no value: O does not know of it.");
    }
}

// "exp(S − m)", without the maximum "exp(S)"
Line weight_of_score(const View& v, const Line& m) {
    if (v.problem.switches.no_max) return join({"exp(", sym(Slot::S), ")"});
    return join({"exp(", sym(Slot::S), " − ", m, ")"});
}

// Formula and words of m, ℓ and O of a sound round; what they come to.
Expr explain_part_maximum(const ForwardView& r, const PartAtWork& part, const Line& m) {
    const View& v = r.v;
    v.out.formula = part.sink ? join({m, "  ←  max(rowmax(", sym(Slot::S), "), ", sym(Slot::sink), ")"})
                              : join({m, "  ←  rowmax(", sym(Slot::S), ")"});
    v.out.result = equals(join({m, part_index(v)}), result_text(v));
    v.out.why = "The largest score of " + r.query() + " with " + r.owners_keys() +
                ". What other rounds find need not be known for it.";
    return part.maximum_of_scores();
}

Expr explain_part_sum(const ForwardView& r, const PartAtWork& part, const Line& m) {
    const View& v = r.v;
    const Line l = name_of(v, Slot::l_part, Slot::l), sink = sym(Slot::sink);
    v.out.formula = join({l, "  ←  rowsum(", weight_of_score(v, m), ")"});
    if (part.sink)
        v.out.formula = v.problem.switches.no_max ? join({v.out.formula, "  +  exp(", sink, ")"})
                                                  : join({v.out.formula, "  +  exp(", sink, " − ", m, ")"});
    v.out.result = equals(join({l, part_index(v)}), result_text(v));
    v.out.why = "The weights of " + r.query() + " for " + r.owners_keys() +
                ", measured from the maximum of these keys alone.";
    return part.sum_of_weights();
}

Expr explain_part_output(const ForwardView& r, const PartAtWork& part, const Line& m) {
    const View& v = r.v;
    const Line O = name_of(v, Slot::O_part, Slot::Oi);
    v.out.formula = join({O, "  ←  ", weight_of_score(v, m), " ", sym(Slot::Vj, r.owner)});
    if (part.from_sink())
        v.out.formula =
            join({v.out.formula, ",   ", m, " = max(rowmax(", sym(Slot::S), "), ", sym(Slot::sink), ")"});
    v.out.result = equals(join({O, part_index(v)}), result_text(v));
    v.out.why = "The values of " + (r.owner == r.rank ? "its own shard" : rank_name(r.owner)) +
                ", each times exp(S − m). The division by ℓ waits until all keys have come by.";
    return part.weighted_values();
}

void explain_part(const ForwardView& r) {
    const View& v = r.v;
    const PartAtWork part{v, Slot::S, Slot::Vj, r.row()};
    const Line m = name_of(v, Slot::m_part, Slot::m);
    const Slot slot = v.out.target.slot;
    const bool of_max = slot == Slot::m || slot == Slot::m_part,
               of_sum = slot == Slot::l || slot == Slot::l_part;
    if (of_max && v.problem.switches.no_max) {
        v.out.result = equals(join({m, part_index(v)}), result_text(v));
        return part.tell_no_maximum(r.query(), m);
    }
    const Expr numbers = of_max   ? explain_part_maximum(r, part, m)
                         : of_sum ? explain_part_sum(r, part, m)
                                  : explain_part_output(r, part, m);
    v.out.kind = part.blind();
    if (part.sink)
        tell_sink(r, part);
    else if (part.blind())
        v.out.why = "The mask hides from " + r.query() +
                    " all keys of this round: m = −∞, ℓ = 0 and O = 0. Where m is −∞, 0 is subtracted.";
    if (v.problem.switches.no_max && !part.blind()) {
        v.out.why = "Fault: nothing is subtracted from the scores of " + r.query() +
                    ", so exp overflows as soon as one of them exceeds " +
                    largest_exponent_text(v.problem.precision.softmax) + ".";
        v.out.kind |= faulty;
    }
    set_numbers(v, numbers);
}

// ---- The merge of a round: what was found before, and what these keys have given

double maximum_of(const ForwardView& r, bool fresh) {
    const View& v = r.v;
    const auto reads = v.trace.reads(v.k);
    double out = 0;
    for (std::size_t n = v.step.op == Op::merge_weights ? 1 : 0; n < reads.size();
         ++n)  // behind the common one
        if (reads[n].slot == Slot::m_part && (reads[n].tile == fresh_part) == fresh)
            out = v.trace.value(reads[n].value).data(r.row(), 0);
    return out;
}

void tell_common_maximum(const ForwardView& r) {
    const View& v = r.v;
    const double old = maximum_of(r, false), found = maximum_of(r, true);
    const auto [from, to] = format_apart(old, found);
    const std::string whose = capitalised(r.owners_keys());
    if (old == minus_infinity && found == minus_infinity)
        v.out.why = r.first_query() + " has seen no key yet: its maximum stays −∞.";
    else if (found == minus_infinity)
        v.out.why =
            "The mask hides this round's keys from " + r.query() + ": the maximum stays " + from + ".";
    else if (old == minus_infinity)
        v.out.why =
            "These are the first keys that " + r.query() + " sees: the maximum is theirs, " + to + ".";
    else if (found > old)
        v.out.why = whose + " score up to " + to + ", more than " + from +
                    " so far: sums can only be added when they are measured from one maximum.";
    else
        v.out.why = whose + " score no higher than " + from + ": the maximum stays.";
    v.out.kind = old == minus_infinity && found == minus_infinity ? 4
                 : found == minus_infinity                        ? 3
                 : old == minus_infinity                          ? 2
                                                                  : found > old;
}

void tell_weight(const ForwardView& r) {
    const View& v = r.v;
    int tile = -1;
    for (const Access& a : v.trace.writes(v.k))
        if (v.trace.value(a.value).region.contains(v.row, v.col)) tile = a.tile;
    const bool old = tile != fresh_part;
    const std::string what = old ? "what " + rank_name(r.rank) + " has found so far"
                                 : "what the keys of " + rank_name(r.owner) + " have given";
    const double own = maximum_of(r, !old), weight = v.result();
    if (own == minus_infinity)
        v.out.why = capitalised(what) + " holds no key for " + r.query() + ": it weighs exp(−∞) = 0.";
    else if (weight == 1)
        v.out.why = capitalised(what) + " is measured from the common maximum already: its weight is 1.";
    else
        v.out.why = capitalised(what) + " was measured from another maximum. One factor, " +
                    num_text(weight) +
                    ", brings all of it to the common one. An index is the rank whose keys they are.";
    v.out.kind = (own == minus_infinity ? 2 : weight == 1) + (old ? 4 : 0);
}

void tell_sound_merge(const ForwardView& r) {
    const View& v = r.v;
    const bool whole = v.out.target.slot < Slot::m_part;
    switch (v.step.op) {
    case Op::merge_max: return tell_common_maximum(r);
    case Op::merge_weights: return tell_weight(r);
    case Op::merge_sum:
        v.out.why =
            "Brought to one maximum, both sums are sums of the same exponentials over different keys: they "
            "add up. In which order the keys come by does not matter.";
        break;
    default:
        v.out.why =
            whole ? "Every key that " + r.query() +
                        " may see has come by once, in an order that no other rank has. The sum is the same."
                  : "O takes the same weights as ℓ. The division waits until all keys have come by.";
    }
}

void tell_merge(const ForwardView& r) {
    explain_merge(r.v, {.part = "shard",
                        .name =
                            [&](int tile) {
                                return tile == fresh_part
                                           ? "what the keys of " + rank_name(r.owner) + " have given"
                                           : "what " + rank_name(r.rank) + " has found so far";
                            },
                        .tell = [&] { tell_sound_merge(r); }});
}

// ---- The end

void explain_blind_rank(const ForwardView& r) {
    const View& v = r.v;
    if (v.problem.logits.sink) {
        tell_sink_start(v, sym(Slot::m), sym(Slot::l), sym(Slot::Oi));
        v.out.why = "The mask hides every key from every query of " + rank_name(r.rank) +
                    ": only the sink is left, " + num_text(*v.problem.logits.sink) +
                    ". It has weight exp(0) = 1 and no value.";
        return;
    }
    v.out.formula = join({sym(Slot::m), " ← −∞,  ", sym(Slot::l), " ← 0,  ", sym(Slot::Oi), " ← 0"});
    v.out.why = "The mask hides every key from every query of " + rank_name(r.rank) +
                ": there is nothing to divide, and O is defined as 0.";
}

std::string words_of_division(const ForwardView& r, double l) {
    const View& v = r.v;
    const std::string only = "The only division of " + r.query() + ": ";
    if (!v.problem.logits.sink)
        return l == 0 ? "No key was to be seen for " + r.query() + ": ℓ = 0, and O is defined as 0."
                      : only + "the weights of all rounds together are " + num_text(l) +
                            ", after this they sum to " + (v.problem.precision.any() ? "about 1." : "1.");
    if (!sees_some_key(v.problem, r.query_at(v.row)))
        return "No key was to be seen for " + r.query() +
               ": ℓ is the weight of the sink alone, and O stays 0.";
    const double m = v.at(*v.trace.live(Slot::m, v.k).value, v.row, 0);
    return only + "the weights of all rounds and the sink's are " + num_text(l) + " together. The sink has " +
           num_text(sink_share(v, m, l)) + " of it, and the keys share the rest.";
}

void explain_division(const ForwardView& r) {
    const View& v = r.v;
    const Expr total = v.number(Slot::Oi), l = v.number(Slot::l);
    v.out.kind = l.value == 0;
    if (v.problem.switches.no_division) {
        v.out.formula = join({sym(Slot::Oi), "  ←  ", sym(Slot::Oi)});
        v.out.kind |= faulty;
        v.out.why =
            l.value == 0 ? "The division is left out, but " + r.query() + " has nothing to divide."
            : l.value == 1
                ? "A fault without effect here: all weights of " + r.query() + " together are 1 already."
                : "Fault: the weights of all rounds together are " + num_text(l.value) + " for " + r.query() +
                      ", and nothing divides by it. Its output is as "
                      "many times what it should be.";
        return;
    }
    v.out.formula = join({sym(Slot::Oi), "  ←  ", sym(Slot::Oi), " ⊘ ", sym(Slot::l)});
    v.out.why = words_of_division(r, l.value);
    if (l.value != 0 && merged_without_weights(v, v.row)) {
        v.out.why =
            "Fault: ℓ = " + num_text(l.value) + " of " + r.query() +
            " adds what rounds have found from different maxima. Divided by it the weights sum to 1, but "
            "their shares are wrong.";
        v.out.kind |= faulty;
    }
    if (l.value != 0) set_numbers(v, rounded(v.problem.precision.accumulator, quotient(total, l)));
}

void explain_leaving(const ForwardView& r) {
    const View& v = r.v;
    const auto& positions = r.ring.queries_of(r.rank).positions;
    const int row = static_cast<int>(std::ranges::find(positions, v.row) - positions.begin());
    const Precision& f = v.problem.precision;
    const bool mixed = merged_without_weights(v, row);
    if (v.out.target.slot == Slot::O) {
        const Expr O = v.number(Slot::Oi, row, v.col);
        v.out.formula = join({sym(Slot::Oi), ", ", sym(Slot::L), "  →  HBM"});
        v.out.why = mixed || v.problem.switches.no_division
                        ? "The output stays with " + rank_name(r.rank) +
                              " as wrong as it is: nothing in the kernel notices."
                        : "The output stays where its queries are, with " + rank_name(r.rank) +
                              ": no rank ever has all of O.";
        if (!contains(f.output, f.accumulator)) return set_numbers(v, rounded(f.output, O));
        return tell_stored_bytes(v, static_cast<int>(positions.size()));
    }
    v.out.formula =
        join({sym(Slot::Oi), " → HBM,   ", sym(Slot::L), " ← ", sym(Slot::m), " + ln ", sym(Slot::l)});
    const Expr m = v.number(Slot::m, row, 0), l = v.number(Slot::l, row, 0);
    v.out.kind = l.value == 0;
    v.out.why = l.value == 0 ? "Nothing was seen: O = 0 and L = −∞ are stored."
                             : "O and one number per row stay with " + rank_name(r.rank) +
                                   ". Nothing but keys and values ever went from rank to rank.";
    if (mixed) {
        v.out.why =
            "Fault: the ℓ in L adds sums of different maxima. What the backward pass makes of it, exp(S − "
            "L), will not sum to 1.";
        v.out.kind |= faulty;
    }
    set_numbers(v, rounded(f.softmax, sum({m, logarithm(l)})));
}

}  // namespace

void explain_ring(const View& v) {
    const ForwardView r{{v}};
    v.out.place = place_on_ring(r);
    switch (v.step.op) {
    case Op::load_q: return explain_queries(r);
    case Op::exchange: return explain_keys_handed_on(r, RingClock(r.ring, RingPass::forward));
    case Op::load_kv: return explain_shard(r);
    case Op::scores: return explain_shard_score(r);
    case Op::softcap: return explain_softcap(v, shard_words(r));
    case Op::bias: return explain_bias(v, shard_words(r));
    case Op::mask: return explain_shard_mask(r);
    case Op::part: return explain_part(r);
    case Op::init: return explain_blind_rank(r);
    case Op::normalize: return explain_division(r);
    case Op::store: return explain_leaving(r);
    case Op::skip: return explain_nothing_to_see(r);
    default: return tell_merge(r);
    }
}

}  // namespace tilewalk
