#include "core/lessons/cascade/cascade.h"

#include "core/lessons/cascade/explain.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"

#include <algorithm>

namespace tilewalk {

namespace {

// ---- The walk

struct Walk {
    Recorder& rec;
    const Problem& p;
    SharedPrefix all{p};
    std::int64_t d = p.d();

    // Q by sequences, K and V by blocks, in the order in which those lie in HBM
    void give() {
        const auto in_hbm = [&](const Matrix& A) { return round_to(p.precision.inputs, A); };
        const Matrix Q = in_hbm(p.Q), K = in_hbm(p.K), V = in_hbm(p.V);
        for (const Sequence& s : all.sequences)
            rec.give(Slot::Q, Q.middleRows(s.first_query, s.queries), s.queries, p.d(), s.first_query);
        for (const auto& [slot, A] : {std::pair(Slot::K, &K), {Slot::V, &V}})
            for (int place = 0; place < std::ssize(all.blocks); ++place) {
                const KeyBlock& block = all.block(all.block_at(place));
                rec.give(slot, A->middleRows(block.first, block.keys), block.keys, p.d(), block.first);
            }
        give_sink(rec, p);
    }

    // m ← −∞, ℓ ← 0, O ← 0 beside the queries. A sink counts once: with the prefix.
    void start(int sequence, const Region& q) {
        rec.begin(Op::init);
        start_values(rec, q, sequence < 0 ? row_start(rec, p) : without_keys(p));
        rec.end();
    }

    // A block of keys, as flash-forward takes it in; one that lies outside every query's window stays in HBM
    void block(int j, const Region& q) {
        if (all.cover(j, q) == TileCover::none) return skip_tile(rec, -1, j);
        const Region k{all.block(j).first, 0, all.block(j).keys, p.d()};
        const StepTile tile{-1, j, q, k, {q.row, k.row, q.rows, k.rows}, {q.row, 0, q.rows, 1}};
        load_keys(rec, -1, j, all.place(j));
        weight_steps(rec, p, tile, scores(tile));
        output_step(rec, p, tile, row_sum_step(rec, p, tile));
    }

    // S with what the problem does to it; positions are those in a sequence
    const Matrix& scores(const StepTile& t) {
        product_step(rec, p, t);
        if (p.logits.softcap) softcap_step(rec, p, -1, t.j, t.S, Capped::dropped);
        if (p.logits.alibi)
            change(Op::bias, t, 2LL * t.S.rows * t.S.cols, [&](double& S, int row, int key) {
                S = round_to(p.precision.scores, S - *p.logits.alibi * all.distance(row, key));
            });
        if (all.cover(t.j, t.q) == TileCover::partial)
            change(Op::mask, t, 0, [&](double& S, int row, int key) {
                if (!all.passes_mask(row, key)) S = minus_infinity;
            });
        return rec.latest(Slot::S);
    }

    // The scores again, each changed by what its query and its key are to each other.
    template <class Change> void change(Op op, const StepTile& t, std::int64_t flops, const Change& each) {
        rec.begin(op, -1, t.j);
        Matrix S = rec.read(Slot::S);
        for (int row = 0; row < t.S.rows; ++row)
            for (int key = 0; key < t.S.cols; ++key) each(S(row, key), t.S.row + row, t.S.col + key);
        rec.write(Slot::S, std::move(S), t.S);
        rec.end(flops);
    }

    // O ⊘ ℓ and L = m + ln ℓ: all that a merge has to know
    void finish(int part, const Region& q) {
        rec.begin(Op::normalize);
        const Matrix& O = rec.read(Slot::Oi);
        const Matrix& m = rec.read(Slot::m);
        const Matrix& l = rec.read(Slot::l);
        const Matrix divided = round_to(p.precision.accumulator, divide_rows(O, divisor_of(l)));
        rec.write(Slot::L_part, log_sum_of(p, m, l), part_region(part, q.rows, 1), part);
        rec.write(Slot::O_part, p.switches.no_division ? O : divided, part_region(part, q.rows, p.d()), part);
        rec.end(q.rows * (d + 2));
    }

    void attend(int sequence, const Region& q) {
        start(sequence, q);
        const SharedPrefix::Range range = all.blocks_of(sequence);
        for (int j = range.first; j < range.end(); ++j) block(j, q);
        finish(sequence < 0 ? shared_part : own_part, q);
    }

    // Kernel 1: all queries, the keys of the prefix
    void prefix() {
        const Region q = all.queries_of(-1);
        rec.phase(0);
        rec.begin(Op::load_q);
        Matrix Q(p.N(), d);
        for (int n = 0; n < all.count(); ++n)
            Q.middleRows(all.of(n).first_query, all.of(n).queries) = rec.fetch(Slot::Q, n);
        rec.write(Slot::Qi, std::move(Q), q);
        rec.end();
        attend(-1, q);
        rec.begin(Op::store);
        const Matrix& O = rec.read(Slot::O_part, shared_part);
        const Matrix& L = rec.read(Slot::L_part, shared_part);
        for (int n = 0; n < all.count(); ++n) {
            const Region rows = all.queries_of(n);
            rec.store(Slot::O_parts, n, O.middleRows(rows.row, rows.rows), rows);
            rec.store(Slot::L_parts, n, L.middleRows(rows.row, rows.rows), {rows.row, 0, rows.rows, 1});
        }
        rec.end();
    }

    // Kernel 2, one sequence: its own keys, then what the prefix has given it
    void suffix(int n) {
        const Region q = all.queries_of(n);
        rec.clear_chip();
        rec.phase(1 + n);
        rec.begin(Op::load_q);
        rec.load(Slot::Q, n, Slot::Qi);
        rec.end();
        attend(n, q);
        rec.begin(Op::load);
        rec.write(Slot::L_part, rec.fetch(Slot::L_parts, n), part_region(shared_part, q.rows, 1),
                  shared_part);
        rec.write(Slot::O_part, rec.fetch(Slot::O_parts, n), part_region(shared_part, q.rows, p.d()),
                  shared_part);
        rec.end();
        merge_steps(rec, p, {.parts = {shared_part, own_part}, .into = 2, .q = q, .own_kernel = true},
                    PartForm::normalised);
        rec.begin(Op::store);
        const Matrix& O = rec.read(Slot::Oi);
        const Matrix& L = rec.read(Slot::Li);
        rec.store(Slot::O, n, round_to(p.precision.output, O), q);
        rec.store(Slot::L, n, L, {q.row, 0, q.rows, 1});
        rec.end();
    }
};

void walk(Recorder& rec, const Problem& p) {
    Walk walk{rec, p};
    walk.give();
    walk.prefix();
    for (int n = 0; n < walk.all.count(); ++n) walk.suffix(n);
}

// ---- What it costs

// The most that one pass of so many queries holds on chip; `merges`: with the part that comes from HBM, both
// weights and L. (The merged O takes the place of the one that was not divided.)
std::int64_t on_chip(const Problem& p, const SharedPrefix& all, int sequence, bool merges) {
    const std::int64_t queries = all.queries_of(sequence).rows, d = p.d(), e = p.element_bytes,
                       part = 4 * queries * (d + 1);
    const std::int64_t start = queries * d * e + 4 * queries * (2 + d);  // Q; m, ℓ, O
    const auto with = [&](const KeyBlock& block) {                       // K, V; S, P̃, m̃, α
        return 2 * block.keys * d * e + 4 * queries * (2LL * block.keys + 2);
    };
    const SharedPrefix::Range range = all.blocks_of(sequence);
    std::int64_t largest = 0, last = 0;
    for (int j = range.first; j < range.end(); ++j)
        if (!all.is_skipped(sequence, j)) last = with(all.block(j)), largest = std::max(largest, last);
    return start + std::max(largest, last + part + (merges ? part + 4 * 3 * queries : 0));
}

// Keys that the pass over the prefix (−1), or over the own keys of one sequence, reads.
std::int64_t keys_read(const SharedPrefix& all, int sequence) {
    std::int64_t keys = 0;
    const SharedPrefix::Range range = all.blocks_of(sequence);
    for (int j = range.first; j < range.end(); ++j)
        if (!all.is_skipped(sequence, j)) keys += all.block(j).keys;
    return keys;
}

// Of the prefix, those that one sequence would read alone.
std::int64_t prefix_keys_of(const SharedPrefix& all, int sequence) {
    std::int64_t keys = 0;
    const SharedPrefix::Range range = all.blocks_of(-1);
    for (int j = range.first; j < range.end(); ++j)
        if (all.cover(j, all.queries_of(sequence)) != TileCover::none) keys += all.block(j).keys;
    return keys;
}

std::int64_t result_bytes(const Problem& p) { return p.N() * (std::int64_t{p.d()} * p.element_bytes + 4); }

TrafficModel model(const Problem& p) {
    const SharedPrefix all(p);
    const std::int64_t d = p.d(), e = p.element_bytes, N = p.N(), partial = 4 * N * (d + 1);
    std::int64_t keys = 0;
    for (int n = -1; n < all.count(); ++n) keys += keys_read(all, n);
    TrafficModel out;
    out.hbm_read = 2 * N * d * e + 2 * keys * d * e + partial;  // Q twice; K, V once
    if (p.logits.sink) out.hbm_read += 4;
    out.hbm_write = partial + result_bytes(p);
    out.sram_peak = on_chip(p, all, -1, false);
    for (int n = 0; n < all.count(); ++n) out.sram_peak = std::max(out.sram_peak, on_chip(p, all, n, true));
    return out;
}

std::int64_t estimate(const Problem& p) {
    const SharedPrefix all(p);
    const std::int64_t d = p.d(), N = p.N(), M = p.N_kv(), tiles = std::ssize(all.blocks),
                       passes = all.count() + 1, shared = all.blocks_of(-1).count,
                       own = ceil_div(static_cast<int>(tiles - shared), all.count()) + 1;
    // A tile leaves m̃, m, α, ℓ and O of its rows, and S and P̃.
    const int logits = logit_steps(p, Capped::dropped);
    const std::int64_t rows = (shared + own) * (N + all.count()), scores = (3 + logits) * N * M;
    return tiled_bytes({.tiles = tiles,
                        .per_tile = 9 + logits,
                        .beside = 9 * passes,
                        .accesses = 6,
                        .doubles = rows * (4 + d) + scores + 2 * (N + M) * d + 12 * N * (d + 4)}) +
           (2 * tiles + 16 * passes) * static_cast<std::int64_t>(sizeof(Value) + 2 * sizeof(Access) + 128);
}

// ---- Pseudocode

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "for i = all sequences, then each of them"},
        {1, "load Qᵢ", Op::load_q},
        {1, "m ← −∞,  ℓ ← 0,  O ← 0", Op::init},
        {1, "for j in the prefix, then its own keys", Op::skip},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S  ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "m̃  ← rowmax(S)", Op::tile_max},
        {2, "m_old ← m,  m ← max(m, m̃)", Op::new_max},
        {2, "α  ← exp(m_old − m)", Op::correction},
        {2, "P̃  ← exp(S − m)", Op::exponentials},
        {2, "ℓ  ← α ⊙ ℓ + rowsum(P̃)", Op::row_sum},
        {2, "O  ← α ⊙ O + P̃ Vⱼ", Op::output},
        {1, "O_part ← O ⊘ ℓ,  L_part ← m + ln ℓ", Op::normalize},
        {0, "after the prefix: store both", Op::store, 0},
        {0, "after its own keys"},
        {1, "load O_shared, L_shared", Op::load},
        {1, "L  ← ln Σ exp Lᵢ", Op::merge_lse},
        {1, "wᵢ ← exp(Lᵢ − L)", Op::merge_weights},
        {1, "O  ← Σ wᵢ Oᵢ", Op::merge_output},
        {1, "store O, L", Op::store},
    };
    static const FaultCode code(
        lines,
        with_tile_faults({{&Switches::no_max, Op::init, "m ← 0,  ℓ ← 0,  O ← 0"},
                          {&Switches::no_division, Op::normalize, "O_part ← O,  L_part ← m + ln ℓ"},
                          {&Switches::no_log_sum, Op::normalize, "O_part ← O ⊘ ℓ,  L_part ← m"},
                          {&Switches::no_weights, Op::merge_weights, "wᵢ ← 1"},
                          {&Switches::no_weights, Op::merge_output, "O  ← Σ Oᵢ"}}),
        {{Op::init, "m,ℓ,O ← −∞,0,0; prefix sink,1,0"},
         {Op::init, "m, ℓ, O ← 0; prefix  ℓ ← exp(sink)", &Switches::no_max}});
    return code.of(p);
}

// ---- Letters, lanes and words

Line symbol_of(const Trace& trace, Slot slot, int step, int tile) {
    const SlotInfo& about = info(slot);
    if (is_of_parts(slot)) {
        if (slot == Slot::O_parts || slot == Slot::L_parts) return part_symbol(slot, "shared");
        if (tile < 0 && slot != Slot::w_part && step >= 0 && trace.step(step).op == Op::normalize)
            tile = sequence_of(trace, step) < 0 ? shared_part : own_part;
        if (tile < 0 && slot != Slot::w_part && step >= 0 && trace.step(step).op == Op::load)
            tile = shared_part;
        return part_symbol(slot, tile < 0 ? "" : tile == shared_part ? "shared" : "own");
    }
    const bool keys = about.role == Role::K || about.role == Role::V;
    if (keys && about.hbm && tile >= 0)
        return slot_symbol(slot, SharedPrefix(trace.problem()).block_at(tile));
    if (keys && !about.hbm && step >= 0) return slot_symbol(slot, trace.step(step).j);
    return slot_symbol(slot, slot == Slot::Q ? tile : -1);  // those of a sequence
}

std::string lane(const Problem&, int phase) {
    return phase == 0 ? std::string("Prefix") : "Sequence " + str(phase - 1);
}

std::string say(const Trace& trace, int k, const Explanation& e) {
    return trace.step(k).op == Op::normalize ? std::string() : say_running(trace, k, e);
}

const char* card(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    return op == Op::init ? "cascade" : op == Op::normalize || op == Op::load ? "partial-result" : nullptr;
}

constexpr Slot results[] = {Slot::O, Slot::L};

}  // namespace

TrafficModel each_sequence_alone(const Problem& p) {
    const SharedPrefix all(p);
    const std::int64_t d = p.d(), e = p.element_bytes;
    std::int64_t keys = 0;
    for (int n = 0; n < all.count(); ++n) keys += prefix_keys_of(all, n) + keys_read(all, n);
    TrafficModel out;
    out.hbm_read = p.N() * d * e + 2 * keys * d * e;
    if (p.logits.sink) out.hbm_read += 4LL * all.count();
    out.hbm_write = result_bytes(p);
    for (const Sequence& s : all.sequences) {
        const std::int64_t largest =
            std::min(p.options.pages > 0 ? p.options.pages : p.Bc, std::max(all.prefix, s.keys));
        out.sram_peak = std::max(out.sram_peak, s.queries * (d * e + 4 * (2 + d)) + 2 * largest * d * e +
                                                    4 * s.queries * (2 * largest + 2));
    }
    return out;
}

std::int64_t saved_by_sharing(const Problem& p) {
    const SharedPrefix all(p);
    std::int64_t again = -keys_read(all, -1);
    for (int n = 0; n < all.count(); ++n) again += prefix_keys_of(all, n);
    return 2 * again * p.d() * p.element_bytes;
}

std::int64_t price_of_sharing(const Problem& p) {
    const std::int64_t d = p.d();
    return p.N() * (d * p.element_bytes + 2 * 4 * (d + 1));
}

std::int64_t prefix_that_pays(const Problem& p) {
    if (p.window) return 0;  // however long it is, only what lies in the window is read
    const std::int64_t of_one_key = 2LL * (SharedPrefix(p).count() - 1) * p.d() * p.element_bytes;
    return of_one_key == 0 ? 0 : price_of_sharing(p) / of_one_key + 1;
}

int sequence_of(const Trace& trace, int k) { return trace.step(k).phase - 1; }

constinit const Lesson cascade = {
    .id = "cascade",
    .title = "Shared prefix",
    .summary = "Keys that several sequences begin with are read once for all of them, the rest of each for "
               "itself, and both partial results of a row are merged.",
    .chapter = ChapterId::merge,
    .tab = "prefix",
    .picture = Picture::cascade,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_cascade,
    .say = say,
    .symbol = symbol_of,
    .indices = own_indices,
    .step_symbol = op_symbol,
    .lane = lane,
    .card = card,
    .model = model,
    .rival = {"Each sequence alone", each_sequence_alone, "less: sharing so little costs more than it saves"},
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = split_faults,
    .division = Division::at_the_end,
    .choices = chooses_sequences | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk
