#include "core/lessons/merge/split_kv.h"

#include "core/lessons/merge/explain.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/problem/heads.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

constexpr int launch_ticks = 1;

struct Walk {
    Recorder& rec;
    const Problem& p;
    Region q = decoded_queries(p), column{q.row, 0, q.rows, 1};
    int i = q.row / p.Br;
    std::int64_t n = q.rows, d = p.d();
    std::vector<SplitBlocks> splits = split_blocks(p);
    int workers = busy_workers(p);

    void give() {
        const Format format = p.precision.inputs;
        rec.give(Slot::Q, round_to(format, p.Q.middleRows(q.row, q.rows)), q.rows, p.d(), q.row);
        rec.give(Slot::K, round_to(format, p.K), p.Bc);
        rec.give(Slot::V, round_to(format, p.V), p.Bc);
        give_sink(rec, p);
    }

    // m ← −∞, ℓ ← 0, O ← 0 for a split of its own, beside the queries. A sink counts once: in the first
    // split.
    void start(int s) {
        rec.begin(Op::load_q, i);
        rec.load(Slot::Q, 0, Slot::Qi);
        rec.end();
        rec.begin(Op::init, i);
        start_values(rec, q, s == 0 ? row_start(rec, p) : without_keys(p));
        rec.end();
    }

    // A key block, as flash-forward takes it in
    void block(int j) {
        const Region k = key_rows(p, j);
        if (cover_of(p, q, k) == TileCover::none) return skip_tile(rec, i, j);
        const StepTile tile{i, j, q, k, {q.row, k.row, q.rows, k.rows}, column};
        load_keys(rec, i, j);
        weight_steps(rec, p, tile, score_steps(rec, p, tile));
        output_step(rec, p, tile, row_sum_step(rec, p, tile));
    }

    // O ⊘ ℓ and L = m + ln ℓ of the split go to HBM
    void leave(int s) {
        rec.begin(Op::normalize, i);
        const Matrix& sum = rec.read(Slot::Oi);
        const Matrix divided =
            round_to(p.precision.accumulator, divide_rows(sum, divisor_of(rec.read(Slot::l))));
        const Matrix& O = rec.write(Slot::Oi, p.switches.no_division ? sum : divided, q);
        rec.end(n * d);
        rec.begin(Op::store, i);
        rec.read(Slot::Oi);
        const Matrix& m = rec.read(Slot::m);
        const Matrix& l = rec.read(Slot::l);
        rec.store(Slot::O_parts, s, O, part_region(s, q.rows, p.d()));
        rec.store(Slot::L_parts, s, log_sum_of(p, m, l), part_region(s, q.rows, 1));
        rec.end(2 * n);
    }

    // Kernel 1: the splits of one worker after those of another; their clocks run side by side
    void attend() {
        for (int w = 0; w < workers; ++w) {
            rec.clear_chip();  // each worker has an SRAM of its own
            rec.phase(w);
            rec.worker(w);
            for (int s = w; s < std::ssize(splits); s += p.options.workers) {
                const SplitBlocks& split = splits[static_cast<std::size_t>(s)];
                start(s);
                for (int j = split.first; j < split.first + split.count; ++j) block(j);
                leave(s);
            }
        }
    }

    // Kernel 2 begins when the last worker is through
    void combine() {
        int through = 0;
        for (int w = 0; w < workers; ++w) through = std::max(through, rec.free_at(w));
        rec.clear_chip();
        rec.phase(workers);
        rec.worker(0);
        rec.wait_until(through + launch_ticks);
        const int parts = static_cast<int>(splits.size());
        Merge all{.parts = {}, .into = parts, .q = q, .own_kernel = true};
        rec.begin(Op::load);
        for (int s = 0; s < parts; ++s) {
            rec.load(Slot::L_parts, s, Slot::L_part, s);
            rec.load(Slot::O_parts, s, Slot::O_part, s);
            all.parts.push_back(s);
        }
        rec.end();
        merge_steps(rec, p, all, PartForm::normalised);
        rec.begin(Op::store);
        const Matrix& O = rec.read(Slot::Oi);
        const Matrix& L = rec.read(Slot::Li);
        rec.store(Slot::O, 0, round_to(p.precision.output, O), q);
        rec.store(Slot::L, 0, L, column);
        rec.end();
    }
};

void walk(Recorder& rec, const Problem& p) {
    Walk walk{rec, p};
    walk.give();
    walk.attend();
    walk.combine();
}

// Keys that some worker loads, and the rows of the largest block among them.
struct Loaded {
    std::int64_t keys = 0, blocks = 0;
};
Loaded loaded_of(const Problem& p) {
    Loaded out;
    for (int j = 0; j < p.Tc(); ++j) {
        const Region k = key_rows(p, j);
        if (cover_of(p, decoded_queries(p), k) == TileCover::none) continue;
        out.keys += k.rows;
        ++out.blocks;
    }
    return out;
}

std::int64_t on_chip_of_one_worker(const Problem& p, const Loaded& loaded) {
    const std::int64_t n = p.options.queries, d = p.d(), e = p.element_bytes, Bc = std::min(p.Bc, p.N_kv());
    const std::int64_t start = n * (d * e + 4 * (2 + d));                               // Q; m, ℓ, O
    return loaded.blocks == 0 ? start : start + 2 * Bc * d * e + 4 * n * (2 * Bc + 2);  // K, V; S, P̃, m̃, α
}

TrafficModel model(const Problem& p) {
    const std::int64_t n = p.options.queries, d = p.d(), e = p.element_bytes,
                       splits = std::ssize(split_blocks(p));
    const Loaded loaded = loaded_of(p);
    const std::int64_t partial = splits * 4 * n * (d + 1);  // O and L of every split
    TrafficModel out;
    out.hbm_read = splits * n * d * e + 2 * loaded.keys * d * e + partial;  // Q for each split; K, V once
    if (p.logits.sink) out.hbm_read += 4;
    out.hbm_write = partial + n * (d * e + 4);
    const std::int64_t combine = partial + 4 * n * splits + 4 * n * (d + 1);  // O, L, w of every split; O, L
    out.sram_peak = std::max(on_chip_of_one_worker(p, loaded), combine);
    return out;
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t splits = std::ssize(split_blocks(p)), n = p.options.queries, d = p.d(), M = p.N_kv(),
                       tiles = p.Tc();
    const std::int64_t beside = 6 * splits + 8, accesses = 12 * splits + 64;
    return tiled_bytes({.tiles = tiles,
                        .per_tile = 9 + logit_steps(p, Capped::dropped),
                        .beside = beside,
                        .accesses = 6,
                        .doubles = 2 * M * d + n * (d + (3 + logit_steps(p, Capped::dropped)) * M +
                                                    tiles * (4 + d) + splits * (5 * d + 12) + 4 * d + 8)}) +
           4 * accesses * static_cast<std::int64_t>(sizeof(Access)) +
           (6 * splits + 8) * static_cast<std::int64_t>(sizeof(Value) + 128);
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "on each worker, for each of its splits i"},
        {1, "load Qᵢ", Op::load_q},
        {1, "m ← −∞,  ℓ ← 0,  O ← 0", Op::init},
        {1, "for j in the key blocks of the split", Op::skip},
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
        {1, "O ← O ⊘ ℓ", Op::normalize},
        {1, "store Oᵢ ← O, Lᵢ ← m + ln ℓ", Op::store},
        {0, "then one worker"},
        {1, "load all Lᵢ, Oᵢ", Op::load},
        {1, "L  ← ln Σ exp Lᵢ", Op::merge_lse},
        {1, "wᵢ ← exp(Lᵢ − L)", Op::merge_weights},
        {1, "O  ← Σ wᵢ Oᵢ", Op::merge_output},
        {1, "store O, L", Op::store, CodeLine::no_block},
    };
    static const FaultCode code(lines,
                                with_tile_faults({{&Switches::no_max, Op::init, "m ← 0,  ℓ ← 0,  O ← 0"},
                                                  {&Switches::no_division, Op::normalize, "O ← O"},
                                                  {&Switches::no_log_sum, Op::store, "store Oᵢ ← O, Lᵢ ← m"},
                                                  {&Switches::no_weights, Op::merge_weights, "wᵢ ← 1"},
                                                  {&Switches::no_weights, Op::merge_output, "O  ← Σ Oᵢ"}}),
                                {{Op::init, "m, ℓ, O ← −∞,0,0; A: sink,1,0"},
                                 {Op::init, "m, ℓ, O ← 0; split A  ℓ ← exp(sink)", &Switches::no_max}});
    return code.of(p);
}

Line symbol_of(const Trace& trace, Slot slot, int step, int tile) {
    if (!is_of_parts(slot)) return block_symbol(trace, slot, step, slot == Slot::Q ? -1 : tile);
    if (tile < 0 && step >= 0 && trace.step(step).op == Op::store) tile = split_of(trace, step);
    return part_symbol(slot, tile < 0 ? "" : part_letter(tile));
}

std::string lane(const Problem& p, int phase) {
    return phase < busy_workers(p) ? "Worker " + str(phase) : "Combine";
}

const char* card(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    return op == Op::load ? "partial-result" : op == Op::init ? "split-kv" : nullptr;
}

constexpr Slot results[] = {Slot::O, Slot::L};

}  // namespace

double wave_efficiency(int tasks, int workers) {
    return static_cast<double>(tasks) / workers / ceil_div(tasks, workers);
}

int num_splits(int rows_of_work, int workers, int key_blocks, int most) {
    if (rows_of_work >= .8 * workers) return 1;
    most = std::min({most, workers, key_blocks});
    // Numbers that only leave the last split without keys are none of their own.
    const auto eligible = [&](int n) {
        return n == 1 || ceil_div(key_blocks, n) != ceil_div(key_blocks, n - 1);
    };
    double best = 0;
    for (int n = 1; n <= most; ++n)
        if (eligible(n)) best = std::max(best, wave_efficiency(rows_of_work * n, workers));
    for (int n = 1; n <= most; ++n)
        if (eligible(n) && wave_efficiency(rows_of_work * n, workers) >= .85 * best) return n;
    return 1;
}

std::vector<SplitBlocks> split_blocks(const Problem& p) {
    std::vector<SplitBlocks> out;
    if (!p.options.splits.empty()) {
        int key = 0;
        for (const int keys : p.options.splits) {
            const int first = ceil_div(key, p.Bc), end = ceil_div(key + keys, p.Bc);
            out.push_back({first, end - first});
            key += keys;
        }
        return out;
    }
    const int blocks = p.Tc(), n = num_splits(tiles_of_work(p), p.options.workers, blocks),
              each = ceil_div(blocks, n);
    for (int first = 0; first < blocks; first += each) out.push_back({first, std::min(each, blocks - first)});
    return out;
}

// A few queries of one head are rows of one tile, and so are the heads of a group, where K and V are loaded
// once for it. One tile is the work of one worker.
int tiles_of_work(const Problem& p) { return p.heads && p.heads->once ? key_heads(p) : query_heads(p); }

int busy_workers(const Problem& p) {
    return std::min(p.options.workers, static_cast<int>(split_blocks(p).size()));
}

Region decoded_queries(const Problem& p) { return {p.options.row, 0, p.options.queries, p.d()}; }

std::string queries_in_words(const Problem& p) {
    return p.options.queries == 1 ? "one query" : str(p.options.queries) + " queries";
}

TrafficModel flash_of_these_queries(const Problem& p) {
    const std::int64_t n = p.options.queries, d = p.d(), e = p.element_bytes;
    const Loaded loaded = loaded_of(p);
    const std::int64_t sink = p.logits.sink ? 4 : 0;
    return {n * d * e + 2 * loaded.keys * d * e + sink, n * (d * e + 4), on_chip_of_one_worker(p, loaded)};
}

int split_of(const Trace& trace, int k) {
    const int workers = busy_workers(trace.problem()), phase = trace.step(k).phase;
    if (phase >= workers) return -1;
    int split = phase;
    for (int before = k - 1; before >= 0 && trace.step(before).phase == phase; --before)
        if (trace.step(before).op == Op::store) split += trace.problem().options.workers;
    return split;
}

constinit const Lesson split_kv = {
    .id = "split-kv",
    .title = "Split keys",
    .summary = "Decoding one query or a few: their keys are split over workers that run side by side, and a "
               "second kernel merges what they found.",
    .chapter = ChapterId::merge,
    .tab = "split-KV",
    .picture = Picture::split_kv,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_split_kv,
    .say = say_running,
    .symbol = symbol_of,
    .indices = own_indices,
    .step_symbol = op_symbol,
    .lane = lane,
    .card = card,
    .model = model,
    .rival = {"FlashAttention-2", flash_of_these_queries,
              "less: no partial results, and the query read once"},
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = split_faults,
    .division = Division::at_the_end,
    .choices = chooses_row | chooses_queries | chooses_splits | chooses_workers | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = true,
};

}  // namespace tilewalk
