#include "core/base/exactly.h"
#include "core/lessons/ring/explain.h"
#include "core/lessons/ring/indices.h"
#include "core/lessons/ring/ring.h"
#include "core/lessons/ring/shard_steps.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/problem/logits.h"

#include <algorithm>

namespace tilewalk {

namespace {

// ---- The walk
//
// First all that the ranks compute, rank after rank: what one of them adds to dK and dV of a shard needs
// nothing of the others. Then the way of each shard's gradients, in lanes of their own: they need shares of
// ranks that are recorded before and behind each other, and the clock says when they meet.

struct Walk {
    Recorder& rec;
    const Problem& p;
    Ring ring{p};
    RingClock clock{ring, RingPass::backward};
    std::int64_t d = p.d();

    int n(int r) const { return ring.queries_of(r).rows(); }
    int keys(int owner) const { return ring.keys_of(owner).rows(); }
    Region queries(int r, int cols) const { return {0, 0, n(r), cols}; }
    Region shard(int owner) const { return {0, 0, keys(owner), p.d()}; }
    bool alone() const { return ring.ranks == 1; }

    void give() {
        Problem whole = p;  // the switches break the backward kernel alone
        whole.switches = {};
        const auto forward = ring_attention.build(whole);
        const Format format = p.precision.inputs;
        give_shards(rec, Slot::Q, round_to(format, p.Q), ring.queries);
        give_shards(rec, Slot::K, round_to(format, p.K), ring.keys);
        give_shards(rec, Slot::V, round_to(format, p.V), ring.keys);
        give_shards(rec, Slot::dO, round_to(format, output_gradient(p)), ring.queries);
        give_sink(rec, p);
        give_shards(rec, Slot::O, forward->result(Slot::O), ring.queries);
        give_shards(rec, Slot::L, forward->result(Slot::L), ring.queries);
        rec.count_as_fp32(Slot::dK);
        rec.count_as_fp32(Slot::dV);
    }

    void rank(int r) {
        rec.clear_chip();
        rec.phase(r);
        rec.worker(r);
        start(r);
        for (int t = 0; t < ring.ranks; ++t) {
            rec.wait_until(clock.begin(r, t));
            if (t + 1 < ring.ranks) hand_on_keys(rec, ring, clock, r, t);
            ring.scores(r, t) > 0 ? look(r, t) : pass_over(r, t);
        }
        rec.wait_until(clock.begin(r, ring.ranks));
        rec.begin(Op::store);
        const Matrix& dQ = rec.read(Slot::dQi);
        store_shard(rec, Slot::dQ, round_to(p.precision.output, dQ), ring.queries_of(r));
        rec.end();
        if (p.logits.sink) add_to_sink(r);
    }

    // dsink = −Σ exp(sink − L) D is a sum over the queries of all ranks. Each has L and D of its own on chip,
    // adds what they give to the number that comes from the rank before, and the last one has the whole.
    void add_to_sink(int r) {
        const bool last = r + 1 == ring.ranks;
        if (r > 0) {
            const int sent = rec.free_at(r - 1), there = sent + 1;
            rec.begin(Op::exchange_gradients, r);
            rec.receive(Slot::dsink_in, r - 1, Slot::dsink_in, r, {r, 0, 1, 1});
            rec.runs_beneath(sent, there);
            rec.end();
            rec.wait_until(there);
        }
        rec.begin(Op::sink_gradient, r);
        const double sink = rec.fetch(Slot::sink)(0, 0);
        const double came = r > 0 ? rec.fetch(Slot::dsink_in, r)(0, 0) : 0;
        const Matrix weight = rec.read(Slot::Li).unaryExpr([=](double L) { return exp_exactly(sink - L); });
        const double sum =
            round_to(p.precision.softmax, came - weight.cwiseProduct(rec.read(Slot::Di)).sum());
        rec.store(last ? Slot::dsink : Slot::dsink_in, last ? 0 : r, Matrix::Constant(1, 1, sum),
                  {last ? 0 : r, 0, 1, 1});
        rec.end(4LL * n(r) + (r > 0));
    }

    // What stays with the rank: Q, dO, L; D = rowsum(dO ⊙ O); dQ, which grows on chip
    void start(int r) {
        const RingRows& rows = ring.queries_of(r);
        rec.begin(Op::load_q);
        load_shard(rec, Slot::Q, rows, Slot::Qi);
        load_shard(rec, Slot::dO, rows, Slot::dOi);
        load_shard(rec, Slot::L, rows, Slot::Li);
        rec.end();
        rec.begin(Op::preprocess);
        const Matrix O = fetch_shard(rec, Slot::O, rows);
        const Matrix& dO = rec.read(Slot::dOi);
        const Matrix D = dO.cwiseProduct(O).rowwise().sum();
        rec.write(Slot::Di, round_to(p.precision.softmax, D), queries(r, 1));
        rec.end(2 * n(r) * d);
        rec.begin(Op::init);
        rec.write(Slot::dQi, Matrix::Zero(n(r), p.d()), queries(r, p.d()));
        rec.end();
    }

    // One round: P from L, and the gradients of what this rank's queries see of the shard
    void look(int r, int t) {
        const int owner = ring.owner(r, t);
        rec.begin(Op::load_kv, r, owner);
        load_shard(rec, t == 0 ? Slot::K : Slot::K_in, ring.keys_of(owner), Slot::Kj);
        load_shard(rec, t == 0 ? Slot::V : Slot::V_in, ring.keys_of(owner), Slot::Vj);
        rec.end();
        shard_scores(rec, ring, r, t, Capped::kept);
        weights(r, owner);
        const int left = ring.scores(r, t);
        score_gradients(r, owner, left);
        input_gradients(r, owner, left);
        rec.begin(Op::store, r, owner);
        const Matrix& dK = rec.read(Slot::dKj);
        const Matrix& dV = rec.read(Slot::dVj);
        leave(r, owner, dK, dV);
        rec.end();
    }

    // P = exp(S − Lᵢ). A row that sees no key has L = −∞ and weights of 0.                   (n × keys)
    void weights(int r, int owner) {
        rec.begin(Op::recompute, r, owner);
        const Matrix& S = rec.read(Slot::S);
        const Matrix zeros = Matrix::Zero(n(r), 1), L = rec.read(Slot::Li),
                     base = p.switches.no_lse ? zeros : base_of(L);
        rec.write(Slot::Prob, round_to(p.precision.softmax, exp_exactly(S.colwise() - base.col(0))),
                  queries(r, keys(owner)));
        rec.end(2LL * n(r) * keys(owner));
    }

    // ΔV = Pᵀ dO, dP = dO Vᵀ, dS = P ⊙ (dP − D)
    void score_gradients(int r, int owner, int left) {
        const std::int64_t cells = std::int64_t{n(r)} * keys(owner);
        rec.begin(Op::dv, r, owner);
        const Matrix& P = rec.read(Slot::Prob);
        const Matrix& dO = rec.read(Slot::dOi);
        const Matrix weights = round_to(p.precision.weights, P);
        rec.write(Slot::dVj, round_to(p.precision.accumulator, weights.transpose() * dO), shard(owner));
        rec.takes(left);
        rec.end(2 * cells * d);

        rec.begin(Op::dp, r, owner);
        rec.read(Slot::dOi);
        const Matrix& V = rec.read(Slot::Vj);
        const Matrix& dP =
            rec.write(Slot::dP, round_to(p.precision.scores, dO * V.transpose()), queries(r, keys(owner)));
        rec.takes(left);
        rec.end(2 * cells * d);

        rec.begin(Op::ds, r, owner);
        rec.read(Slot::Prob);
        rec.read(Slot::dP);
        const Matrix& D = rec.read(Slot::Di);
        rec.write(Slot::dS, round_to(p.precision.softmax, P.cwiseProduct(dP.colwise() - D.col(0))),
                  queries(r, keys(owner)));
        rec.end(2 * cells);
        if (!p.logits.softcap) return;

        rec.begin(Op::cap_gradient, r, owner);
        const Matrix& dS = rec.read(Slot::dS);
        const Matrix slope = cap_slope(p, rec.read(Slot::S_cap));
        rec.write(Slot::dS, round_to(p.precision.softmax, dS.cwiseProduct(slope)), queries(r, keys(owner)));
        rec.end(4 * cells);
    }

    // dQ ← dQ + scale · dS K, ΔK = scale · dSᵀ Q
    void input_gradients(int r, int owner, int left) {
        const double scale = p.softmax_scale();
        const std::int64_t cells = std::int64_t{n(r)} * keys(owner), flops = cells * (2 * d + (scale != 1));
        rec.begin(Op::dq, r, owner);
        const Matrix dS = round_to(p.precision.weights, rec.read(Slot::dS));
        const Matrix& K = rec.read(Slot::Kj);
        const Matrix& dQ = rec.read(Slot::dQi);
        rec.write(Slot::dQi, round_to(p.precision.accumulator, dQ + scale * dS * K), queries(r, p.d()));
        rec.takes(left);
        rec.end(flops);

        rec.begin(Op::dk, r, owner);
        rec.read(Slot::dS);
        const Matrix& Q = rec.read(Slot::Qi);
        rec.write(Slot::dKj, round_to(p.precision.accumulator, scale * dS.transpose() * Q), shard(owner));
        rec.takes(left);
        rec.end(flops);
    }

    // The share of this rank waits in its HBM for what the others have added. A rank alone has all of it.
    void leave(int r, int owner, const Matrix& dK, const Matrix& dV) {
        const int tile = alone() ? 0 : r * ring.key_tiles(), row = alone() ? 0 : r * p.N_kv();
        store_shard(rec, alone() ? Slot::dK : Slot::dK_part, dK, ring.keys_of(owner), tile, row);
        store_shard(rec, alone() ? Slot::dV : Slot::dV_part, dV, ring.keys_of(owner), tile, row);
    }

    // Nothing to see. Where it is the own shard, its gradients set out as 0.
    void pass_over(int r, int t) {
        skip_tile(rec, r, ring.owner(r, t));
        if (t > 0) return;
        const Matrix zero = Matrix::Zero(keys(r), p.d());
        rec.begin(Op::init, r, r);
        leave(r, r, zero, zero);
        rec.end();
    }

    // ---- The way of dK and dV of one shard: from rank to rank behind its keys, and home

    void way_of_gradients(int owner) {
        rec.phase(ring.ranks + owner);
        for (int t = 1; t <= ring.ranks; ++t) {
            const int r = (owner + t) % ring.ranks;
            rec.clear_chip();
            rec.worker(r);
            hand_on(r, owner, t);
            if (t < ring.ranks && ring.scores(r, t) > 0) add_share(r, owner, t);
        }
    }

    void hand_on(int r, int owner, int t) {
        const RingRows& rows = ring.keys_of(owner);
        const RingClock::Time time = clock.gradients(ring.before(r), t);
        const bool home = t == ring.ranks;
        rec.begin(Op::exchange_gradients, r, owner);
        for (const auto& [part, on_way, end] : {std::tuple(Slot::dK_part, Slot::dK_in, Slot::dK),
                                                std::tuple(Slot::dV_part, Slot::dV_in, Slot::dV)})
            for (int n = 0; n < rows.tiles(); ++n) {
                const ring::Run& piece = rows.pieces[static_cast<std::size_t>(n)];
                const Region at{static_cast<int>(piece.first), 0, static_cast<int>(piece.count), p.d()};
                const int tile = rows.first_tile + n, share = owner * ring.key_tiles() + tile;
                rec.receive(t == 1 ? part : on_way, t == 1 ? share : tile, home ? end : on_way, tile, at);
            }
        rec.runs_beneath(time.start, time.end);
        rec.end();
    }

    void add_share(int r, int owner, int t) {
        const RingRows& rows = ring.keys_of(owner);
        const RingClock::Time time = clock.adds(r, t);
        RingRows shares = rows;
        shares.first_tile += r * ring.key_tiles();
        rec.begin(Op::add_share, r, owner);
        for (const auto& [on_way, part] :
             {std::pair(Slot::dK_in, Slot::dK_part), std::pair(Slot::dV_in, Slot::dV_part)}) {
            const Matrix came = fetch_shard(rec, on_way, rows), share = fetch_shard(rec, part, shares);
            const Matrix sum = round_to(p.precision.accumulator, came + share);
            store_shard(rec, on_way, p.switches.no_share ? came : sum, rows);
        }
        rec.runs(time.start, time.end);
        rec.end(2 * keys(owner) * d);
    }
};

void walk(Recorder& rec, const Problem& p) {
    Walk walk{rec, p};
    walk.give();
    for (int rank = 0; rank < walk.ring.ranks; ++rank) walk.rank(rank);
    for (int owner = 0; owner < walk.ring.ranks && !walk.alone(); ++owner) walk.way_of_gradients(owner);
}

// ---- What it costs

// The largest that one rank holds on chip: what stays, and the shard of a round with its scores and
// gradients.
std::int64_t on_chip(const Ring& ring, int rank) {
    const Problem& p = ring.problem;
    const std::int64_t d = p.d(), e = p.element_bytes, n = ring.queries_of(rank).rows();
    const std::int64_t stays = 2 * n * d * e + 4 * n * (2 + d);
    std::int64_t most = 0;
    for (const int round : ring.rounds_of(rank)) {
        const std::int64_t keys = ring.keys_of(ring.owner(rank, round)).rows();
        most = std::max(most, 2 * keys * d * (e + 4) + 4 * (p.logits.softcap ? 5 : 4) * n * keys);
    }
    return stays + most;
}

TrafficModel model(const Problem& p) {
    const Ring ring(p);
    const std::int64_t d = p.d(), e = p.element_bytes;
    TrafficModel out;
    out.hbm_read = 3 * p.N() * d * e + 4LL * p.N();  // Q, dO, O; L
    out.hbm_write = p.N() * d * e;                   // dQ
    if (p.logits.sink) {
        out.hbm_read += 4 * (2 * ring.ranks - 1);  // the sink, and what came from the rank before
        out.hbm_write += 4 * ring.ranks;
    }
    for (int rank = 0; rank < ring.ranks; ++rank) {
        for (int round = 0; round < ring.ranks; ++round) {
            const std::int64_t pair = 2LL * ring.keys_of(ring.owner(rank, round)).rows() * d;
            const bool sees = ring.scores(rank, round) > 0;
            if (sees) out.hbm_read += pair * e;
            if (sees || round == 0) out.hbm_write += pair * 4;  // the share
            if (!sees || round == 0) continue;
            out.hbm_read += 2 * pair * 4;  // what came, and the share again
            out.hbm_write += pair * 4;
        }
        out.sram_peak = std::max(out.sram_peak, on_chip(ring, rank));
    }
    out.sent = ring_backward_bytes(p);
    return out;
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t R = ring_ranks(p), d = p.d(), N = p.N(), M = p.N_kv(), rounds = R * R;
    const bool apart = p.options.shards == ShardKind::striped;
    const std::int64_t of_queries = apart ? N : 2 * R, of_keys = apart ? M : 2 * R,
                       per_value = static_cast<std::int64_t>(sizeof(Value)) + 96;
    const int logits = logit_steps(p, Capped::kept) + (p.logits.softcap ? 1 : 0);
    const std::int64_t steps = (16 + logits) * rounds + 10 * R,
                       values = 6 * of_queries + 3 * of_keys + 6 * R * of_keys + (12 + logits) * rounds +
                                10 * R + 2,
                       accesses = 40 * rounds + 10 * of_queries + 24 * R * of_keys + 8 * R;
    const std::int64_t doubles =
        6 * N * d + 3 * N + 2 * M * d + R * (12 * M * d + N * d) + (5 + logits) * N * M + 3 * N * d;
    return 2 * steps * static_cast<std::int64_t>(sizeof(Step)) +
           2 * accesses * static_cast<std::int64_t>(sizeof(Access) + 16) + values * per_value + 8 * doubles +
           48 * R * of_keys + ring_attention.estimate(p);
}

// ---- Pseudocode

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "on each rank i, at the same time"},
        {1, "load Qᵢ, dOᵢ, Lᵢ   (its queries)", Op::load_q},
        {1, "Dᵢ ← rowsum(dOᵢ ⊙ Oᵢ)", Op::preprocess},
        {1, "dQᵢ ← 0", Op::init, CodeLine::no_block},
        {1, "for t in 0 … R−1:  j = (i − t) mod R", Op::skip},
        {2, "meanwhile hand on K, V to i + 1", Op::exchange},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S, S_cap ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "P  ← exp(S − Lᵢ)", Op::recompute},
        {2, "ΔVⱼ ← Pᵀ dOᵢ", Op::dv},
        {2, "dP ← dOᵢ Vⱼᵀ", Op::dp},
        {2, "dS ← P ⊙ (dP − Dᵢ)", Op::ds},
        {2, "dS ← dS_cap ⊙ (1 − (S_cap ÷ cap)²)", Op::cap_gradient},
        {2, "dQᵢ ← dQᵢ + scale · dS Kⱼ", Op::dq},
        {2, "ΔKⱼ ← scale · dSᵀ Qᵢ", Op::dk},
        {2, "store ΔKⱼ, ΔVⱼ", Op::store},
        {2, "ΔKᵢ, ΔVᵢ ← 0  if no own key is seen", Op::init},
        {1, "store dQᵢ", Op::store, CodeLine::no_block},
        {1, "dsink ← dsink − Σ exp(sink − Lᵢ)Dᵢ", Op::sink_gradient},
        {0, "beside it, for each rank j"},
        {1, "hand on dKⱼ, dVⱼ, at the end home", Op::exchange_gradients},
        {1, "dKⱼ, dVⱼ ← dKⱼ + ΔKⱼ, dVⱼ + ΔVⱼ  there", Op::add_share},
    };
    static const FaultCode code(lines,
                                {{&Switches::no_lse, Op::recompute, "P  ← exp(S)"},
                                 {&Switches::wrong_mask_edge, Op::mask, "S  ← −∞ where masked, edge + 1"},
                                 {&Switches::no_share, Op::add_share, "dKⱼ, dVⱼ go on as they came"}},
                                {{Op::exchange_gradients, "hand on dKⱼ, dVⱼ, home; dsink to i + 1"}});
    return code.of(p);
}

// ---- Letters and lanes

// What a rank adds is a share of dK and dV as soon as it is computed.
Slot share_of(Slot slot) {
    return slot == Slot::dKj ? Slot::dK_part : slot == Slot::dVj ? Slot::dV_part : slot;
}

Line symbol_of(const Trace& trace, Slot slot, int step, int tile) {
    const SlotInfo& about = info(slot);
    const bool of_keys = about.role == Role::K || about.role == Role::V;
    int rank = -1;
    if (of_keys && about.hbm && tile >= 0) {
        const Ring ring(trace.problem());
        rank = ring.owner_of_tile(tile % ring.key_tiles());
    }
    if (of_keys && !about.hbm && step >= 0) rank = trace.step(step).j;
    const bool of_rank =
        slot == Slot::Qi || slot == Slot::dOi || slot == Slot::Li || slot == Slot::Di || slot == Slot::dQi;
    if (of_rank && step >= 0) rank = trace.step(step).when.worker;
    return slot_symbol(share_of(slot), rank);
}

Line step_symbol_of(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const bool of_shard = step.j >= 0;
    switch (step.op) {
    case Op::load_q: return {symbol(Slot::Qi), word(" "), symbol(Slot::dOi)};
    case Op::exchange_gradients: return of_shard ? step_symbol(step.op) : Line{symbol(Slot::dsink)};
    case Op::dv: return {symbol(Slot::dV_part)};
    case Op::dk: return {symbol(Slot::dK_part)};
    case Op::store:
        if (!of_shard) return {symbol(Slot::dQ)};
        return {symbol(Slot::dK_part), word(" "), symbol(Slot::dV_part)};
    default: return step_symbol(step.op);
    }
}

std::string lane(const Problem& p, int phase) {
    const int ranks = ring_ranks(p);
    return phase < ranks ? "Rank " + str(phase) : "Gradients " + str(phase - ranks);
}

constexpr Slot results[] = {Slot::dQ, Slot::dK, Slot::dV};

}  // namespace

std::int64_t ring_backward_bytes(const Problem& p) {
    const std::int64_t ranks = ring_ranks(p), of_sink = p.logits.sink ? 4 * (ranks - 1) : 0;
    return ranks == 1 ? 0 : ring_bytes(p) + ranks * 2 * p.N_kv() * p.d() * 4 + of_sink;
}

constinit const Lesson ring_backward = {
    .id = "ring-backward",
    .title = "Ring attention, backward",
    .summary =
        "Keys, values and their gradients go round a ring: every rank adds its share to the dK and dV that "
        "visit it, and after one more hand-over they are home.",
    .chapter = ChapterId::merge,
    .tab = "ring, back",
    .picture = Picture::ring,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_ring_backward,
    .say = says_nothing,
    .symbol = symbol_of,
    .indices = ring_indices,
    .step_symbol = step_symbol_of,
    .lane = lane,
    .card = no_card,
    .model = model,
    .rival = standard_attention(backward_model),
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = ring_backward_faults,
    .division = Division::none,
    .choices = chooses_ranks | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk
