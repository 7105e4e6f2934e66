#include "core/lessons/ring/ring.h"

#include "core/lessons/ring/explain.h"
#include "core/lessons/ring/indices.h"
#include "core/lessons/ring/shard_steps.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/tile_steps.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// ---- The walk

struct Walk {
    Recorder& rec;
    const Problem& p;
    Ring ring{p};
    RingClock clock{ring, RingPass::forward};
    std::int64_t d = p.d();

    void give() {
        const Format format = p.precision.inputs;
        give_shards(rec, Slot::Q, round_to(format, p.Q), ring.queries);
        give_shards(rec, Slot::K, round_to(format, p.K), ring.keys);
        give_shards(rec, Slot::V, round_to(format, p.V), ring.keys);
        give_sink(rec, p);
    }

    void rank(int r) {
        rec.clear_chip();
        rec.phase(r);
        rec.worker(r);
        rec.begin(Op::load_q);
        load_shard(rec, Slot::Q, ring.queries_of(r), Slot::Qi);
        rec.end();
        const std::vector<int> rounds = ring.rounds_of(r);
        int so_far = 0;  // the tile of what was found before
        int nth = 0;     // round with something to see
        for (int t = 0; t < ring.ranks; ++t) {
            rec.wait_until(clock.begin(r, t));
            if (t + 1 < ring.ranks) hand_on_keys(rec, ring, clock, r, t);
            if (ring.scores(r, t) == 0) {
                skip_tile(rec, r, ring.owner(r, t));
                continue;
            }
            const bool first = t == rounds.front(), last = t == rounds.back();
            look(r, t, nth, first && last);
            if (nth++ == 0) continue;
            const int into = 2 - so_far, place = 2 * nth - 2;
            merge_steps(rec, p,
                        {{so_far, fresh_part},
                         into,
                         last,
                         {0, 0, n(r), p.d()},
                         r,
                         ring.owner(r, t),
                         {place - 2, place - 1, place}},
                        PartForm::sums);
            so_far = into;
        }
        finish(r, rounds.empty());
    }

    int n(int r) const { return ring.queries_of(r).rows(); }

    // What the keys of this round give: m, ℓ and O of their own
    void look(int r, int t, int nth, bool whole) {
        const int owner = ring.owner(r, t), rows = n(r), keys = ring.keys_of(owner).rows();
        rec.begin(Op::load_kv, r, owner);
        load_shard(rec, t == 0 ? Slot::K : Slot::K_in, ring.keys_of(owner), Slot::Kj);
        load_shard(rec, t == 0 ? Slot::V : Slot::V_in, ring.keys_of(owner), Slot::Vj);
        rec.end();
        shard_scores(rec, ring, r, t, Capped::dropped);
        rec.begin(Op::part, r, owner);
        const Matrix& S = rec.read(Slot::S);
        const Matrix& V = rec.read(Slot::Vj);
        // The sink is in no shard: every rank counts it once, with the first keys that it looks at.
        const double sink = nth == 0 && p.logits.sink ? rec.fetch(Slot::sink)(0, 0) : minus_infinity;
        keep(nth, whole, find_part(p, S, V, sink));
        rec.takes(ring.scores(r, t));
        rec.end(rows * (4LL * keys - 2 + 2 * keys * d + (nth == 0 && p.logits.sink ? 4 : 0)));
    }

    // In the table of all parts the first one is followed by what each round finds and by what it comes to
    // then.
    void keep(int nth, bool whole, const PartFound& found) {
        const auto write = [&](Slot part, Slot all, const Matrix& A) {
            const int rows = static_cast<int>(A.rows()), cols = static_cast<int>(A.cols());
            if (whole)
                rec.write(all, A, {0, 0, rows, cols});
            else
                rec.write(part, A, part_region(std::max(0, 2 * nth - 1), rows, cols),
                          nth == 0 ? 0 : fresh_part);
        };
        write(Slot::m_part, Slot::m, found.m);
        write(Slot::l_part, Slot::l, found.l);
        write(Slot::O_part, Slot::Oi, found.O);
    }

    // O ← O ⊘ ℓ; O and L = m + ln ℓ go to the HBM of this rank
    void finish(int r, bool blind) {
        const Region all{0, 0, n(r), p.d()};
        rec.wait_until(clock.begin(r, ring.ranks));
        if (blind) {
            rec.begin(Op::init);
            Problem with_maximum = p;  // nothing is summed here that could overflow
            with_maximum.switches.no_max = false;
            const RowStart start = row_start(rec, with_maximum);
            keep(0, true,
                 {Matrix::Constant(n(r), 1, start.m), Matrix::Constant(n(r), 1, start.l),
                  Matrix::Zero(n(r), d)});
            rec.end();
        }
        rec.begin(Op::normalize);
        const Matrix& sum = rec.read(Slot::Oi);
        const Matrix divided =
            round_to(p.precision.accumulator, divide_rows(sum, divisor_of(rec.read(Slot::l))));
        const Matrix& O = rec.write(Slot::Oi, p.switches.no_division ? sum : divided, all);
        rec.end(n(r) * d);
        rec.begin(Op::store);
        rec.read(Slot::Oi);
        const Matrix& m = rec.read(Slot::m);
        const Matrix& l = rec.read(Slot::l);
        const Matrix L = round_to(p.precision.softmax, log_sum(m, l));
        store_shard(rec, Slot::O, round_to(p.precision.output, O), ring.queries_of(r));
        store_shard(rec, Slot::L, L, ring.queries_of(r));
        rec.end(2LL * n(r));
    }
};

void walk(Recorder& rec, const Problem& p) {
    Walk walk{rec, p};
    walk.give();
    for (int rank = 0; rank < walk.ring.ranks; ++rank) walk.rank(rank);
}

// ---- What it costs

// The largest that one rank holds on chip: its queries, the shard of a round, and its partial results.
std::int64_t on_chip(const Ring& ring, int rank) {
    const Problem& p = ring.problem;
    const std::int64_t d = p.d(), e = p.element_bytes, n = ring.queries_of(rank).rows(),
                       whole = 4 * n * (2 + d);
    const std::vector<int> rounds = ring.rounds_of(rank);
    std::int64_t held = n * d * e, most = held + whole;
    for (std::size_t nth = 0; nth < rounds.size(); ++nth) {
        const bool first = nth == 0, last = nth + 1 == rounds.size();
        const std::int64_t keys = ring.keys_of(ring.owner(rank, rounds[nth])).rows();
        // The first part has a tile of its own; then come the fresh one with both weights, then a third one.
        if (first || nth == 1) held += first && last ? 0 : whole;
        if (nth == 1) held += 2 * 4 * n;
        if (nth == 2) held += 4 * n;
        if (nth == 1 && !last) held += whole;
        if (last) held += whole;
        most = std::max(most, held + 2 * keys * d * e + 4 * n * keys);
    }
    return most;
}

TrafficModel model(const Problem& p) {
    const Ring ring(p);
    const std::int64_t d = p.d(), e = p.element_bytes;
    TrafficModel out;
    out.hbm_read = p.N() * d * e + (p.logits.sink ? 4LL * ring.ranks : 0);
    out.hbm_write = p.N() * d * e + 4LL * p.N();
    for (int rank = 0; rank < ring.ranks; ++rank) {
        for (const int round : ring.rounds_of(rank))
            out.hbm_read += 2LL * ring.keys_of(ring.owner(rank, round)).rows() * d * e;
        out.sram_peak = std::max(out.sram_peak, on_chip(ring, rank));
    }
    out.sent = ring_bytes(p);
    return out;
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t R = ring_ranks(p), d = p.d(), N = p.N(), M = p.N_kv(), rounds = R * R;
    const bool alone = p.options.shards == ShardKind::striped;
    const std::int64_t pieces = alone ? N + 2 * M : 6 * R,
                       per_value = static_cast<std::int64_t>(sizeof(Value)) + 96;
    const int logits = logit_steps(p, Capped::dropped);
    const std::int64_t steps = (10 + logits) * rounds + 5 * R,
                       values = pieces + 2 * N + 4 * R + (16 + logits) * rounds,
                       accesses = 60 * rounds + 24 * R + 8 * R * (alone ? M + N : 2 * R);
    const std::int64_t doubles =
        3 * (N + M) * d + 2 * R * M * d + (2 + logits) * N * M + 3 * R * N * (d + 4) + 4 * N * (d + 2);
    return 2 * steps * static_cast<std::int64_t>(sizeof(Step)) +
           2 * accesses * static_cast<std::int64_t>(sizeof(Access) + 16) + values * per_value + 8 * doubles;
}

// ---- Pseudocode

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "on each rank i, at the same time"},
        {1, "load Qᵢ   (its queries)", Op::load_q},
        {1, "for t in 0 … R−1:  j = (i − t) mod R", Op::skip},
        {2, "meanwhile hand on K, V to i + 1", Op::exchange},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S  ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "mⱼ, ℓⱼ, Oⱼ ← its max, sum, output", Op::part},
        {2, "m  ← max(m_old, mⱼ)", Op::merge_max},
        {2, "wⱼ ← exp(mⱼ − m),  w ← exp(m_old − m)", Op::merge_weights},
        {2, "ℓ  ← w ℓ_old + wⱼ ℓⱼ", Op::merge_sum},
        {2, "O  ← w O_old + wⱼ Oⱼ", Op::merge_output},
        {1, "m, ℓ, O ← −∞, 0, 0  if it saw no key", Op::init},
        {1, "O ← O ⊘ ℓ", Op::normalize},
        {1, "store O, L = m + ln ℓ", Op::store},
    };
    static const FaultCode code(lines,
                                {{&Switches::no_max, Op::part, "mⱼ ← 0,  ℓⱼ, Oⱼ of exp(S)"},
                                 {&Switches::no_max, Op::merge_max, "m  ← 0"},
                                 {&Switches::wrong_mask_edge, Op::mask, "S  ← −∞ where masked, edge + 1"},
                                 {&Switches::no_weights, Op::merge_weights, "wⱼ ← 1,  w ← 1"},
                                 {&Switches::no_weights, Op::merge_sum, "ℓ  ← ℓ_old + ℓⱼ"},
                                 {&Switches::no_weights, Op::merge_output, "O  ← O_old + Oⱼ"},
                                 {&Switches::no_division, Op::normalize, "O ← O"}},
                                {{Op::part, "mⱼ,ℓⱼ,Oⱼ ← its m, ℓ, O, + sink"},
                                 {Op::init, "m, ℓ, O ← sink, 1, 0  if it saw no key"},
                                 {Op::part, "mⱼ ← 0,  ℓⱼ, Oⱼ of exp(S), + sink", &Switches::no_max}});
    return code.of(p);
}

// ---- Letters, lanes and words

// What this merge makes, not what it reads.
bool is_made(const Trace& trace, int step, int tile) {
    if (trace.step(step).op == Op::merge_weights) {
        const Access& to = trace.reads(step).front();
        return to.slot == Slot::m_part && to.tile == tile;
    }
    return std::ranges::any_of(trace.writes(step),
                               [&](const Access& a) { return is_of_parts(a.slot) && a.tile == tile; });
}

// What was found before this round: by one shard, which gives it its name, or by more.
Line symbol_of_before(const Trace& trace, Slot slot, int step) {
    int first = -1, parts = 0;
    for (int k = step; k >= 0 && trace.step(k).phase == trace.step(step).phase; --k)
        if (trace.step(k).op == Op::part) first = k, ++parts;
    if (parts == 2) return part_symbol(slot, str(trace.step(first).j));
    Line out{{info(slot).symbol, info(slot).role, Span::Face::symbol}};
    if (slot != Slot::w_part) out.push_back({"old", info(slot).role, Span::Face::text, Span::Script::sub});
    return out;
}

Line symbol_of_part(const Trace& trace, Slot slot, int step, int tile) {
    if (step < 0) return part_symbol(slot, "");
    const Step& now = trace.step(step);
    if (tile < 0) {
        const auto writes = trace.writes(step);
        const auto own = std::ranges::find(writes, slot, &Access::slot);
        if (own == writes.end() || slot == Slot::w_part) return part_symbol(slot, "");
        tile = own->tile;
    }
    if (tile == fresh_part || now.op == Op::part) return part_symbol(slot, str(now.j));
    if (is_made(trace, step, tile)) return {{info(slot).symbol, info(slot).role, Span::Face::symbol}};
    return symbol_of_before(trace, slot, step);
}

Line symbol_of(const Trace& trace, Slot slot, int step, int tile) {
    if (is_of_parts(slot)) return symbol_of_part(trace, slot, step, tile);
    const SlotInfo& about = info(slot);
    const bool keys = about.role == Role::K || about.role == Role::V;
    int rank = -1;
    if (keys && about.hbm && tile >= 0) rank = Ring(trace.problem()).owner_of_tile(tile);
    if (keys && !about.hbm && step >= 0) rank = trace.step(step).j;
    if (slot == Slot::Qi && step >= 0) rank = trace.step(step).when.worker;
    return slot_symbol(slot, rank);
}

std::string lane(const Problem&, int phase) { return "Rank " + str(phase); }

constexpr Slot results[] = {Slot::O, Slot::L};

}  // namespace

constinit const Lesson ring_attention = {
    .id = "ring",
    .title = "Ring attention",
    .summary =
        "Every rank holds a shard of the sequence; queries stay, keys and values go round, and each round's "
        "partial result is merged.",
    .chapter = ChapterId::merge,
    .tab = "ring",
    .picture = Picture::ring,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_ring,
    .say = says_nothing,
    .symbol = symbol_of,
    .indices = ring_indices,
    .step_symbol = op_symbol,
    .lane = lane,
    .card = no_card,
    .model = model,
    .rival = standard_attention(standard_forward_model),
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = ring_faults,
    .division = Division::at_the_end,
    .choices = chooses_ranks | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk
