// The words and numbers of the backward pass of a ring.
#include "core/base/exactly.h"
#include "core/lessons/ring/clock.h"
#include "core/lessons/ring/explain.h"
#include "core/lessons/ring/explain_parts.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_proofs.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

struct BackwardView : RingView {
    // What the step read of a matrix in HBM, in whichever piece it lies.
    Expr number_at(Slot slot, int r, int c) const {
        for (const Access& a : v.trace.reads(v.k))
            if (a.slot == slot && v.trace.value(a.value).region.contains(r, c)) {
                v.source(slot, r, c);
                return num(v.at(v.trace.value(a.value), r, c), info(slot).role);
            }
        return num(0);
    }
    bool values() const {
        const Slot slot = v.out.target.slot;
        return info(slot).role == Role::V;
    }
    /// The row of the table of shares where those of this key and this rank are; the position of a row there.
    int share_row(int rank_of_share, int position) const {
        return rank_of_share * v.problem.N_kv() + position;
    }
    int position_of_share() const { return v.row % v.problem.N_kv(); }
    Line gradients(const char* between = ", ") const {
        return join({sym(Slot::dK_in, owner), between, sym(Slot::dV_in, owner)});
    }
    Line shares() const { return join({sym(Slot::dK_part, owner), ", ", sym(Slot::dV_part, owner)}); }
    /// ΔK[2,0] of what on chip has the slot of dK.
    void name_result(Slot slot) const {
        v.out.result = equals(join({sym(slot), index_text(v)}), result_text(v));
    }
};

int local_row(const std::vector<int>& positions, int position) {
    return static_cast<int>(std::ranges::find(positions, position) - positions.begin());
}

// ---- What stays with the rank

void explain_queries(const BackwardView& r) {
    const View& v = r.v;
    const Region q = v.written(Slot::Qi).region;
    const Slot slot = v.out.target.slot;
    v.out.formula = join({sym(Slot::Qi, r.rank), ", ", sym(Slot::dOi, r.rank), ", ", sym(Slot::Li, r.rank),
                          "  ←  " + rows_text(r.ring.queries_of(r.rank).positions)});
    set_bytes(v,
              sum({product({num(2), num(q.rows), num(q.cols), num(v.problem.element_bytes)}),
                   product({num(q.rows), num(4)})}),
              "bytes read");
    v.out.why =
        capitalised(rank_name(r.rank)) +
        " keeps its queries, the gradient dO that arrives at them, and one number L for each: all that "
        "is needed of its own rows. The keys come to them.";
    const int position = r.query_at(v.row);
    v.source(slot == Slot::Qi ? Slot::Q : slot == Slot::dOi ? Slot::dO : Slot::L, position, v.col);
    if (slot == Slot::Li || v.problem.precision.inputs == Format::fp64) return;
    const Matrix given = slot == Slot::Qi ? v.problem.Q : output_gradient(v.problem);
    tell_copy_rounding(v, v.problem.precision.inputs, given(position, v.col));
}

void explain_mean(const BackwardView& r) {
    const View& v = r.v;
    const int position = r.query_at(v.row);
    Numbers dO = v.numbers_in_row(Slot::dOi, v.row), O;
    for (int c = 0; c < v.problem.d(); ++c) O.push_back(r.number_at(Slot::O, position, c));
    const bool any = std::ranges::any_of(dO, [](const Expr& e) { return e.value != 0; });
    v.out.formula =
        join({sym(Slot::Di, r.rank), "  ←  rowsum(", sym(Slot::dOi, r.rank), " ⊙ ", sym(Slot::O), ")"});
    const bool blind = v.at(*v.trace.live(Slot::Li, v.k).value, v.row, 0) == minus_infinity;
    v.out.kind = blind ? 2 : !any;
    v.out.why =
        blind ? r.first_query() + " sees no key, so its output is 0 and so is D."
        : any ? "D is the mean of dP over the keys of all ranks, weighted with P. It equals dO · O, so " +
                    r.query() + " needs none of them for it: " + rank_name(r.rank) +
                    " has both, and no message is sent."
              : "No gradient arrives at " + r.query() + ": its D and all its score gradients are 0.";
    set_numbers(v, rounded(v.problem.precision.softmax, dot(dO, O)));
}

void explain_start(const BackwardView& r) {
    const View& v = r.v;
    if (r.owner < 0) {
        v.out.formula = join({sym(Slot::dQi, r.rank), " ← 0"});
        v.out.why = "dQ of " + rank_name(r.rank) +
                    " grows on chip while the keys come by. It never travels: nobody else has these queries.";
        return;
    }
    v.out.formula = join({sym(Slot::dK_part, r.owner), " ← 0,  ", sym(Slot::dV_part, r.owner), " ← 0"});
    r.name_result(r.values() ? Slot::dV_part : Slot::dK_part);
    v.out.why = "No query of " + rank_name(r.rank) +
                " sees a key of its own shard, so its gradients set out as 0: the others will add to them.";
}

// ---- One round

// Without L, or for a key that the mask should hide; empty where the weight is what it should be.
std::string broken_weight_on_ring(const BackwardView& r, double score, double L) {
    const Problem& p = r.v.problem;
    const int q = r.query_at(r.v.row), k = r.key_at(r.v.col);
    if (!visible(p, q, k) && std::isfinite(score))
        return "Fault: the mask should hide " + r.key(r.v.col) + " from " + r.query() +
               ". The forward pass did, so L does not count it, and the weights of this row sum to more than "
               "1.";
    if (score == minus_infinity && passes_mask(p, q, k))
        return "The score overflowed to −∞, so " + r.key(r.v.col) + " has no weight with " + r.query() + ".";
    if (p.switches.no_lse && std::isfinite(L) && score != minus_infinity)
        return "Fault: without L the weight is exp(S), not divided by the sum of its row; it should be " +
               num_text(exp_exactly(score - L)) + ".";
    return {};
}

void explain_weight(const BackwardView& r) {
    const View& v = r.v;
    const bool no_lse = v.problem.switches.no_lse;
    const Expr score = v.number(Slot::S);
    const double L = v.at(v.read(Slot::Li), v.row, 0);
    if (!no_lse) v.source(Slot::Li, v.row, 0);
    const bool blind = L == minus_infinity, masked = score.value == minus_infinity;
    v.out.formula = join({sym(Slot::Prob), "  ←  exp(", sym(Slot::S),
                          no_lse ? Line{} : join({" − ", sym(Slot::Li, r.rank)}), ")"});
    v.out.kind = blind ? 2 : masked;
    v.out.why = blind ? r.first_query() + " saw no key: L = −∞, 0 stands in for it, and its weights are 0."
                : masked
                    ? "A masked score gives weight 0 again: no gradient will pass between " + r.query() +
                          " and " + r.key(v.col) + "."
                    : "One exp gives the final weight of " + r.query() + " on " + r.key(v.col) +
                          ". L has the maximum and the sum over the keys of all ranks in it, so nothing is "
                          "merged on the way back.";
    if (std::string fault = broken_weight_on_ring(r, score.value, L); !fault.empty())
        v.out.why = fault, v.out.kind = faulty;
    const Expr base = blind ? num(0, info(Slot::Li).role) : num(v.trace, Slot::Li, L);
    set_numbers(v,
                rounded(v.problem.precision.softmax, exponential(no_lse ? score : difference(score, base))));
}

void explain_value_share(const BackwardView& r) {
    const View& v = r.v;
    const Numbers P = v.numbers_in_column(Slot::Prob, v.row), dO = v.numbers_in_column(Slot::dOi, v.col);
    const bool any = std::ranges::any_of(P, [](const Expr& e) { return e.value != 0; });
    v.out.formula = join(
        {sym(Slot::dV_part, r.owner), "  ←  ", transposed(sym(Slot::Prob)), " ", sym(Slot::dOi, r.rank)});
    r.name_result(Slot::dV_part);
    v.out.title = "Share of the value gradient";
    v.out.kind = !any;
    v.out.why = any ? "What the queries of " + rank_name(r.rank) + " add to the gradient of the value of " +
                          r.key(v.row) + ": a share of dV, as other ranks have queries that took it, too."
                    : "No query of " + rank_name(r.rank) + " gave " + r.key(v.row) +
                          " any weight, so it adds nothing to the gradient of its value.";
    tell_operand(v, "P enters");
    set_numbers(v, rounded(v.problem.precision.accumulator, dot(operands(v, P), dO)));
}

void explain_weight_gradient(const BackwardView& r) {
    const View& v = r.v;
    const Numbers dO = v.numbers_in_row(Slot::dOi, v.row), V = v.numbers_in_row(Slot::Vj, v.col);
    v.out.formula =
        join({sym(Slot::dP), "  ←  ", sym(Slot::dOi, r.rank), " ", transposed(sym(Slot::Vj, r.owner))});
    v.out.why = "How fast would the loss grow if " + r.query() + " put more weight on " + r.key(v.col) +
                "? As much as its value points along dO.";
    set_numbers(v, rounded(v.problem.precision.scores, dot(dO, V)));
}

void explain_score_gradient(const BackwardView& r) {
    const View& v = r.v;
    const Expr P = v.number(Slot::Prob), dP = v.number(Slot::dP), D = v.number(Slot::Di);
    v.out.formula = join({score_gradient(v.trace, v.k), "  ←  ", sym(Slot::Prob), " ⊙ (", sym(Slot::dP),
                          " − ", sym(Slot::Di, r.rank), ")"});
    const auto [value, mean] = format_apart(dP.value, D.value);
    v.out.kind = P.value == 0 ? 3 : dP.value == D.value ? 2 : dP.value < D.value;
    v.out.why = P.value == 0 ? r.first_key(v.col) + " has no weight with " + r.query() +
                                   ", and a small change of its score would not give it any: no gradient."
                : dP.value == D.value
                    ? "dP is exactly the mean of its row: shifting weight to " + r.key(v.col) +
                          " would change nothing, so its score is left alone."
                    : "The weights of a row compete, also with those of keys on other ranks. dP = " + value +
                          " is " + (dP.value > D.value ? "above" : "below") + " the mean D = " + mean +
                          " of the whole row, so a larger score for " + r.key(v.col) + " would " +
                          (dP.value > D.value ? "raise" : "lower") + " the loss.";
    set_numbers(v, rounded(v.problem.precision.softmax, product({P, difference(dP, D)})));
    write_score_gradient(v, Slot::Prob, Slot::dP, Slot::Di, v.problem.precision.softmax);
}

Expr scaled_dot(double scale, const Numbers& a, const Numbers& b) {
    return scale == 1 ? dot(a, b) : product({num(scale), dot(a, b)});
}

Line scale_letter(const View& v) { return v.problem.softmax_scale() == 1 ? Line{} : text("scale · "); }

void explain_query_gradient(const BackwardView& r) {
    const View& v = r.v;
    const Expr old = v.number(Slot::dQi);
    const Numbers dS = v.numbers_in_row(Slot::dS, v.row), K = v.numbers_in_column(Slot::Kj, v.col);
    const double scale = v.problem.softmax_scale();
    const Line target = sym(Slot::dQi, r.rank);
    v.out.formula =
        join({target, "  ←  ", target, "  +  ", scale_letter(v), sym(Slot::dS), " ", sym(Slot::Kj, r.owner)});
    v.out.why = capitalised(r.query()) + " stays with " + rank_name(r.rank) +
                " while the keys come by, so its dQ grows here and moves no bytes.";
    tell_operand(v, "dS enters");
    const Numbers cast = operands(v, dS);
    set_numbers(v, rounded(v.problem.precision.accumulator,
                           scale == 1 ? dot(cast, K, old) : sum({old, scaled_dot(scale, cast, K)})));
}

void explain_key_share(const BackwardView& r) {
    const View& v = r.v;
    const Numbers dS = v.numbers_in_column(Slot::dS, v.row), Q = v.numbers_in_column(Slot::Qi, v.col);
    v.out.formula = join({sym(Slot::dK_part, r.owner), "  ←  ", scale_letter(v), transposed(sym(Slot::dS)),
                          " ", sym(Slot::Qi, r.rank)});
    r.name_result(Slot::dK_part);
    v.out.title = "Share of the key gradient";
    v.out.why = "What the queries of " + rank_name(r.rank) + " add to the gradient of " + r.key(v.row) +
                ". It is a share: the queries of other ranks see this key on its way, too.";
    tell_operand(v, "dS enters");
    set_numbers(v, rounded(v.problem.precision.accumulator,
                           scaled_dot(v.problem.softmax_scale(), operands(v, dS), Q)));
}

// The share to HBM, or at the end dQ
void explain_leaving(const BackwardView& r) {
    const View& v = r.v;
    const Slot slot = v.out.target.slot;
    if (slot == Slot::dQ) {
        const int row = local_row(r.ring.queries_of(r.rank).positions, v.row);
        v.source(Slot::dQi, row, v.col);
        v.out.formula = join({sym(Slot::dQ), "  ←  ", sym(Slot::dQi, r.rank)});
        v.out.why = "All keys have come by: dQ of " + rank_name(r.rank) +
                    " is complete and stays where its queries are.";
        const Precision& f = v.problem.precision;
        if (!contains(f.output, f.accumulator))
            set_numbers(v, rounded(f.output, num(v.trace, Slot::dQi, v.at(v.read(Slot::dQi), row, v.col))));
        return;
    }
    const int position = r.position_of_share();
    v.source(r.values() ? Slot::dVj : Slot::dKj, local_row(r.ring.keys_of(r.owner).positions, position),
             v.col);
    v.out.formula = join({r.shares(), "  →  HBM of " + rank_name(r.rank)});
    r.name_result(r.values() ? Slot::dV_part : Slot::dK_part);
    v.out.why =
        r.ring.ranks == 1 ? "One rank alone has every query: its share is all of dK and dV."
        : r.owner == r.rank
            ? "The share of the owner itself is the first one. With it dK and dV of its keys set out, one "
              "round behind the keys."
            : "The share of " + rank_name(r.rank) +
                  " waits in its HBM for what the ranks before it have "
                  "found: that is still on its way.";
}

// ---- On the way

// So many ranks have had the keys of this shard when its gradients reach the rank.
std::string ranks_so_far(const BackwardView& r, int rounds) {
    return rounds == 1 ? "the share of " + rank_name(r.owner) + " alone"
                       : "the shares of " + counted(rounds, "rank");
}

void explain_gradients_handed_on(const BackwardView& r) {
    const View& v = r.v;
    const bool home = r.rank == r.owner, first = r.round == 1;
    const int round = home ? r.ring.ranks : r.round, keys = r.ring.keys_of(r.owner).rows();
    if (home) v.out.place = rank_name(r.rank) + ", home";
    v.out.formula = join({r.gradients(), "  ←  ", first ? r.shares() : r.gradients(),
                          "  of " + rank_name(r.ring.before(r.rank))});
    set_bytes(v, product({num(2), num(keys), num(v.problem.d()), num(4)}), "bytes received");
    if (home)
        v.out.why =
            "Every rank has added its share, " + rank_name(r.ring.before(r.rank)) +
            ", the one before it on the ring, as the last: one more hand-over brings dK and dV home to " +
            rank_name(r.owner) + ". Nothing is computed beside it.";
    else
        v.out.why = "The gradients follow their keys one round behind, from " +
                    rank_name(r.ring.before(r.rank)) + " to " + rank_name(r.rank) +
                    ", beside its own work: " + ranks_so_far(r, round) +
                    ". They are sums, in 4 bytes a number whatever K and V have.";
    const Slot from =
        first ? (r.values() ? Slot::dV_part : Slot::dK_part) : (r.values() ? Slot::dV_in : Slot::dK_in);
    v.source(from, first ? r.share_row(r.owner, v.row) : v.row, v.col);
}

void explain_added(const BackwardView& r) {
    const View& v = r.v;
    const bool values = r.values();
    const Slot on_way = values ? Slot::dV_in : Slot::dK_in, part = values ? Slot::dV_part : Slot::dK_part;
    const Expr came = r.number_at(on_way, v.row, v.col),
               share = r.number_at(part, r.share_row(r.rank, v.row), v.col);
    const Line target = sym(on_way, r.owner);
    if (v.problem.switches.no_share) {
        v.out.formula = join({target, "  ←  ", target});
        v.out.kind = faulty;
        v.out.why = share.value == 0
                        ? "A fault without effect here: the share of " + rank_name(r.rank) + " is 0."
                        : "Fault: the share of " + rank_name(r.rank) + ", " + num_text(share.value) +
                              ", is not added: what its queries say of " +
                              r.key(local_row(r.ring.keys_of(r.owner).positions, v.row)) + " is lost.";
        return set_numbers(v, came);
    }
    v.out.formula = join({target, "  ←  ", target, "  +  ", sym(part, r.owner)});
    v.out.why = capitalised(rank_name(r.rank)) + " adds what its own queries give to the keys of " +
                rank_name(r.owner) +
                " to what has come with them. Sums may be added in any order, so each shard "
                "may go its own way round.";
    set_numbers(v, rounded(v.problem.precision.accumulator, sum({came, share})));
}

// ---- The gradient of the sink, a number that each rank adds to

std::string ranks_up_to(int rank) { return rank == 0 ? rank_name(0) : "ranks 0–" + str(rank); }

void explain_sink_handed_on(const BackwardView& r) {
    const View& v = r.v;
    v.out.title = "Hand on dsink";
    v.out.formula = join({sym(Slot::dsink_in), "  ←  from " + rank_name(r.rank - 1)});
    set_bytes(v, num(4), "bytes received");
    v.out.why =
        "One number travels: what the queries of " + ranks_up_to(r.rank - 1) +
        " say of the sink. It is a parameter of all of them, so its gradient is a sum over the ranks.";
    v.source(Slot::dsink_in, r.rank - 1, 0);
}

void explain_sink_share(const BackwardView& r) {
    const View& v = r.v;
    const bool last = r.rank + 1 == r.ring.ranks;
    const Expr sink = v.number(Slot::sink, 0, 0);
    const Expr came = r.rank == 0 ? num(0) : r.number_at(Slot::dsink_in, r.rank, 0);
    Numbers terms;
    for (int row = 0; row < r.ring.queries_of(r.rank).rows(); ++row)
        terms.push_back(
            product({exponential(difference(sink, v.number(Slot::Li, row, 0))), v.number(Slot::Di, row, 0)}));
    v.out.formula = join({sym(Slot::dsink), r.rank == 0 ? "  ←  −Σ exp(" : "  ←  ",
                          r.rank == 0 ? Line{} : join({sym(Slot::dsink_in), " − Σ exp("}), sym(Slot::sink),
                          " − ", sym(Slot::Li, r.rank), ") ", sym(Slot::Di, r.rank)});
    v.out.result = join({sym(Slot::dsink), " = ", Line{strong_number(result_text(v))}});
    v.out.why =
        "The sink has no value, so its dP is 0 and its dS is −P D in every row, with P = exp(sink − L). " +
        (last ? "With the queries of " + rank_name(r.rank) + " the sum over all ranks is whole."
              : capitalised(rank_name(r.rank)) + " has L and D of its own rows on chip, and adds them up.");
    set_numbers(v, rounded(v.problem.precision.softmax, difference(came, sum(std::move(terms)))));
}

}  // namespace

void explain_ring_backward(const View& v) {
    const BackwardView r{{v}};
    v.out.place = place_on_ring(r);
    switch (v.step.op) {
    case Op::load_q: return explain_queries(r);
    case Op::preprocess: return explain_mean(r);
    case Op::init: return explain_start(r);
    case Op::exchange: return explain_keys_handed_on(r, RingClock(r.ring, RingPass::backward));
    case Op::exchange_gradients:
        return r.owner < 0 ? explain_sink_handed_on(r) : explain_gradients_handed_on(r);
    case Op::sink_gradient: return explain_sink_share(r);
    case Op::load_kv: return explain_shard(r);
    case Op::scores: return explain_shard_score(r);
    case Op::softcap: return explain_softcap(v, shard_words(r));
    case Op::bias: return explain_bias(v, shard_words(r));
    case Op::mask: return explain_shard_mask(r);
    case Op::skip: return explain_nothing_to_see(r);
    case Op::recompute: return explain_weight(r);
    case Op::dv: return explain_value_share(r);
    case Op::dp: return explain_weight_gradient(r);
    case Op::ds: return explain_score_gradient(r);
    case Op::cap_gradient: return explain_cap_gradient(v, shard_words(r, Slot::S_cap));
    case Op::dq: return explain_query_gradient(r);
    case Op::dk: return explain_key_share(r);
    case Op::store: return explain_leaving(r);
    case Op::add_share: return explain_added(r);
    default: return;
    }
}

}  // namespace tilewalk
