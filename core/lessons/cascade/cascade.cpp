#include "core/lessons/cascade/cascade.h"

#include "core/lessons/cascade/explain.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"

#include <algorithm>

namespace tilewalk {

namespace {

Region rows_of(const Problem& p, const Sequence& s) { return {s.first_query, 0, s.queries, p.d()}; }

// ---- The walk

struct Walk {
    Recorder& rec;
    const Problem& p;
    SharedPrefix all{p};
    std::int64_t d = p.d();

    // Q by sequences, K and V by blocks, in the order in which those lie in HBM
    void give() {
        for (const Sequence& s : all.sequences)
            rec.give(Slot::Q, p.Q.middleRows(s.first_query, s.queries), s.queries, p.d(), s.first_query);
        for (const auto& [slot, A] : {std::pair(Slot::K, &p.K), {Slot::V, &p.V}})
            for (int place = 0; place < std::ssize(all.blocks); ++place) {
                const KeyBlock& block = all.block(all.block_at(place));
                rec.give(slot, A->middleRows(block.first, block.keys), block.keys, p.d(), block.first);
            }
    }

    // m ← −∞, ℓ ← 0, O ← 0 beside the queries
    void start(const Region& q) {
        rec.begin(Op::init);
        start_values(rec, q, {minus_infinity, 0});
        rec.end();
    }

    // A block of keys, as flash-forward takes it in
    void block(int j, const Region& q) {
        const Region k{all.block(j).first, 0, all.block(j).keys, p.d()};
        const StepTile tile{-1, j, q, k, {q.row, k.row, q.rows, k.rows}, {q.row, 0, q.rows, 1}};
        load_keys(rec, -1, j, all.place(j));
        // Nothing is masked: a block holds keys that every query of the pass sees.
        weight_steps(rec, p, tile, product_step(rec, p, tile));
        output_step(rec, p, tile, row_sum_step(rec, p, tile));
    }

    // O ⊘ ℓ and L = m + ln ℓ: all that a merge has to know
    void finish(int part, const Region& q) {
        rec.begin(Op::normalize);
        const Matrix& O = rec.read(Slot::Oi);
        const Matrix& m = rec.read(Slot::m);
        const Matrix& l = rec.read(Slot::l);
        rec.write(Slot::L_part, Matrix(m.array() + l.array().log()), part_region(part, q.rows, 1), part);
        rec.write(Slot::O_part, divide_rows(O, divisor_of(l)), part_region(part, q.rows, p.d()), part);
        rec.end(q.rows * (d + 2));
    }

    void attend(int sequence, const Region& q) {
        start(q);
        const SharedPrefix::Range range = all.blocks_of(sequence);
        for (int j = range.first; j < range.end(); ++j) block(j, q);
        finish(sequence < 0 ? shared_part : own_part, q);
    }

    // Kernel 1: all queries, the keys of the prefix
    void prefix() {
        const Region q{0, 0, p.N(), p.d()};
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
            const Region rows = rows_of(p, all.of(n));
            rec.store(Slot::O_parts, n, O.middleRows(rows.row, rows.rows), rows);
            rec.store(Slot::L_parts, n, L.middleRows(rows.row, rows.rows), {rows.row, 0, rows.rows, 1});
        }
        rec.end();
    }

    // Kernel 2, one sequence: its own keys, then what the prefix has given it
    void suffix(int n) {
        const Region q = rows_of(p, all.of(n));
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
        merge_steps(rec, {{shared_part, own_part}, 2, true, q}, PartForm::normalised);
        rec.begin(Op::store);
        const Matrix& O = rec.read(Slot::Oi);
        const Matrix& L = rec.read(Slot::Li);
        rec.store(Slot::O, n, O, q);
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
std::int64_t on_chip(const Problem& p, const SharedPrefix& all, int sequence, std::int64_t queries,
                     bool merges) {
    const std::int64_t d = p.d(), e = p.element_bytes, part = 4 * queries * (d + 1);
    const std::int64_t start = queries * d * e + 4 * queries * (2 + d);  // Q; m, ℓ, O
    const auto with = [&](const KeyBlock& block) {                       // K, V; S, P̃, m̃, α
        return 2 * block.keys * d * e + 4 * queries * (2LL * block.keys + 2);
    };
    const SharedPrefix::Range range = all.blocks_of(sequence);
    const std::int64_t largest = range.count == 0 ? 0 : with(all.block(range.first)),
                       last = range.count == 0 ? 0 : with(all.block(range.end() - 1)),
                       end = part + (merges ? part + 4 * 3 * queries : 0);
    return start + std::max(largest, last + end);
}

std::int64_t result_bytes(const Problem& p) { return p.N() * (std::int64_t{p.d()} * p.element_bytes + 4); }

TrafficModel model(const Problem& p) {
    const SharedPrefix all(p);
    const std::int64_t d = p.d(), e = p.element_bytes, N = p.N(), partial = 4 * N * (d + 1);
    TrafficModel out;
    out.hbm_read = 2 * N * d * e + 2 * p.N_kv() * d * e + partial;  // Q twice; K, V once
    out.hbm_write = partial + result_bytes(p);
    out.sram_peak = on_chip(p, all, -1, N, false);
    for (int n = 0; n < all.count(); ++n)
        out.sram_peak = std::max(out.sram_peak, on_chip(p, all, n, all.of(n).queries, true));
    return out;
}

std::int64_t estimate(const Problem& p) {
    const SharedPrefix all(p);
    const std::int64_t d = p.d(), N = p.N(), M = p.N_kv(), tiles = std::ssize(all.blocks),
                       passes = all.count() + 1, shared = all.blocks_of(-1).count,
                       own = ceil_div(static_cast<int>(tiles - shared), all.count()) + 1;
    // A tile leaves m̃, m, α, ℓ and O of its rows, and S and P̃.
    const std::int64_t rows = (shared + own) * (N + all.count()), scores = 2 * N * M;
    return tiled_bytes({.tiles = tiles,
                        .per_tile = 8,
                        .beside = 9 * passes,
                        .accesses = 6,
                        .doubles = rows * (4 + d) + scores + 2 * (N + M) * d + 12 * N * (d + 4)}) +
           (2 * tiles + 16 * passes) * static_cast<std::int64_t>(sizeof(Value) + 2 * sizeof(Access) + 128);
}

// ---- Pseudocode

std::span<const CodeLine> code_of(const Problem&) {
    static const CodeLine lines[] = {
        {0, "for i = all sequences, then for each of them"},
        {1, "load Qᵢ", Op::load_q},
        {1, "m ← −∞,  ℓ ← 0,  O ← 0", Op::init},
        {1, "for j in the prefix, then in its own keys"},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
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
    return lines;
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
    return slot_symbol(slot);
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
    const std::int64_t d = p.d(), e = p.element_bytes,
                       keys = std::int64_t{all.count()} * all.prefix + p.N_kv() - all.prefix;
    TrafficModel out;
    out.hbm_read = p.N() * d * e + 2 * keys * d * e;
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
    return 2LL * (all.count() - 1) * all.prefix * p.d() * p.element_bytes;
}

std::int64_t price_of_sharing(const Problem& p) {
    const std::int64_t d = p.d();
    return p.N() * (d * p.element_bytes + 2 * 4 * (d + 1));
}

std::int64_t prefix_that_pays(const Problem& p) {
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
    .step_symbol = op_symbol,
    .lane = lane,
    .card = card,
    .model = model,
    .rival = {"Each sequence alone", each_sequence_alone, "less: so short a prefix costs more than it saves"},
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = no_faults,
    .division = Division::at_the_end,
    .choices = chooses_sequences,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk
