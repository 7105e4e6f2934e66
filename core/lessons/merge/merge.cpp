#include "core/lessons/merge/merge.h"

#include "core/lessons/merge/explain.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/lessons/softmax/softmax.h"
#include "core/problem/precision.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

constexpr int usual_parts = 2;

bool normalised(const Problem& p) { return p.options.parts == PartForm::normalised; }

struct Walk {
    Recorder& rec;
    const Problem& p;
    int R = softmax_row(p);
    std::vector<KeyPart> parts = merge_parts(p);
    std::int64_t d = p.d();
    Region q{R, 0, 1, p.d()};

    // Scores and values of each part that has keys are a tile
    void give() {
        Problem rounded = p;
        for (Matrix Problem::*A : {&Problem::Q, &Problem::K, &Problem::V})
            rounded.*A = round_to(p.precision.inputs, p.*A);
        const Matrix S = round_to(p.precision.scores, softmax_scores(rounded));
        for (const KeyPart& part : parts) {
            if (part.count == 0) continue;
            rec.give(Slot::x, S.middleCols(part.first, part.count), 1, part.count, R, part.first);
            rec.give(Slot::V, rounded.V.middleRows(part.first, part.count), part.count, p.d(), part.first);
        }
        give_sink(rec, p);
    }

    void keep(int n, const PartFound& found) {
        if (normalised(p)) {
            rec.write(Slot::L_part, log_sum_of(p, found.m, found.l), part_region(n, 1, 1), n);
            rec.write(Slot::O_part, divided(found.O, found.l(0, 0)), part_region(n, 1, p.d()), n);
            return;
        }
        rec.write(Slot::m_part, found.m, part_region(n, 1, 1), n);
        rec.write(Slot::l_part, found.l, part_region(n, 1, 1), n);
        rec.write(Slot::O_part, found.O, part_region(n, 1, p.d()), n);
    }

    // O ÷ ℓ, unless a fault leaves it out
    Matrix divided(const Matrix& O, double l) const {
        return p.switches.no_division ? O : round_to(p.precision.accumulator, O / (l == 0 ? 1 : l));
    }

    // A sink counts once: in the first part.
    bool has_sink(int n) const { return n == 0 && p.logits.sink; }

    // No keys: m = −∞, ℓ = 0, O = 0; with the sink m = sink, ℓ = 1
    void empty_part(int n) {
        rec.begin(Op::init);
        const RowStart start = has_sink(n) ? row_start(rec, p) : RowStart{minus_infinity, 0};
        keep(n, {Matrix::Constant(1, 1, start.m), Matrix::Constant(1, 1, start.l), Matrix::Zero(1, p.d())});
        rec.end();
    }

    // m, ℓ and O over the keys of one part, as flash-forward finds them
    void look(int n, int tile) {
        const std::int64_t keys = parts[static_cast<std::size_t>(n)].count;
        rec.begin(Op::part);
        const Matrix& S = rec.fetch(Slot::x, tile);
        const Matrix& V = rec.fetch(Slot::V, tile);
        const double sink = has_sink(n) ? rec.fetch(Slot::sink)(0, 0) : minus_infinity;
        keep(n, find_part(p, S, V, sink));
        rec.end(4 * keys - 2 + 2 * keys * d + (normalised(p) ? 2 + d : 0) + (has_sink(n) ? 4 : 0));
    }

    void all_parts() {
        int tile = 0;
        for (int n = 0; n < std::ssize(parts); ++n) {
            rec.phase(n);
            if (parts[static_cast<std::size_t>(n)].count == 0)
                empty_part(n);
            else
                look(n, tile++);
        }
    }

    void merge_all() {
        const auto plan = merge_plan(static_cast<int>(parts.size()), p.options.merge);
        for (std::size_t n = 0; n < plan.size(); ++n) {
            rec.phase(static_cast<int>(parts.size() + n));
            merge_steps(rec, p, {plan[n].parts, plan[n].into, n + 1 == plan.size(), q}, p.options.parts);
        }
    }

    // O ← O ⊘ ℓ; store O and L = m + ln ℓ. Where parts are normalised, both are there.
    void finish() {
        if (!normalised(p)) {
            rec.begin(Op::normalize);
            const Matrix& O = rec.read(Slot::Oi);
            rec.write(Slot::Oi, divided(O, rec.read(Slot::l)(0, 0)), q);
            rec.end(d);
        }
        rec.begin(Op::store);
        const Matrix& O = rec.read(Slot::Oi);
        Matrix L;
        if (normalised(p)) {
            L = rec.read(Slot::Li);
        } else {
            const Matrix& m = rec.read(Slot::m);
            L = log_sum_of(p, m, rec.read(Slot::l));
        }
        rec.store(Slot::O, 0, round_to(p.precision.output, O), q);
        rec.store(Slot::L, 0, L, {R, 0, 1, 1});
        rec.end(normalised(p) ? 0 : 2);
    }
};

void walk(Recorder& rec, const Problem& p) {
    Walk walk{rec, p};
    walk.give();
    walk.all_parts();
    walk.merge_all();
    walk.finish();
}

// ---- What it costs

// Tiles beside that of the whole.
std::int64_t tiles_of_parts(const Problem& p) {
    const std::int64_t parts = std::ssize(merge_parts(p));
    return p.options.merge == MergeOrder::at_once ? parts : std::max<std::int64_t>(1, 2 * parts - 2);
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t d = p.d(), N = p.N_kv(), tiles = tiles_of_parts(p) + 1;
    const std::int64_t steps = 5 * tiles + 4, values = 8 * tiles + 9, accesses = 20 * tiles + 16;
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16 + 64;
    return 2 * steps * static_cast<std::int64_t>(sizeof(Step)) +
           2 * accesses * static_cast<std::int64_t>(sizeof(Access)) + values * per_value +
           8 * (N + N * d + tiles * (d + 4) + 3 * d + 4);
}

TrafficModel model(const Problem& p) {
    const std::int64_t d = p.d(), N = p.N_kv(), e = p.element_bytes, numbers = normalised(p) ? 2 : 3;
    TrafficModel out;
    out.hbm_read = N * e + N * d * e;  // the scores of the row and V, once
    if (p.logits.sink) out.hbm_read += 4;
    out.hbm_write = d * e + 4;  // O and L
    // On chip: m, w, ℓ and O of every part and of every partial merge, and m, ℓ, O of the whole; or w, L, O.
    out.sram_peak = tiles_of_parts(p) * 4 * (numbers + d) + 4 * (numbers - 1 + d);
    return out;
}

TrafficModel three_passes(const Problem& p) { return softmax_3pass.model(p); }

// ---- Pseudocode

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine sums[] = {
        {0, "for each part i of the keys"},
        {1, "mᵢ, ℓᵢ, Oᵢ ← −∞, 0, 0  without keys", Op::init},
        {1, "mᵢ, ℓᵢ, Oᵢ ← its max, sum, output", Op::part},
        {0, "for each merge of parts i into one"},
        {1, "m  ← max mᵢ", Op::merge_max},
        {1, "wᵢ ← exp(mᵢ − m)", Op::merge_weights},
        {1, "ℓ  ← Σ wᵢ ℓᵢ", Op::merge_sum},
        {1, "O  ← Σ wᵢ Oᵢ", Op::merge_output},
        {0, "O ← O ⊘ ℓ", Op::normalize},
        {0, "store O, L = m + ln ℓ", Op::store},
    };
    static const CodeLine divided[] = {
        {0, "for each part i of the keys"},
        {1, "Lᵢ, Oᵢ ← −∞, 0  without keys", Op::init},
        {1, "Lᵢ, Oᵢ ← its ln Σ exp S, its output", Op::part},
        {0, "for each merge of parts i into one"},
        {1, "L  ← ln Σ exp Lᵢ", Op::merge_lse},
        {1, "wᵢ ← exp(Lᵢ − L)", Op::merge_weights},
        {1, "O  ← Σ wᵢ Oᵢ", Op::merge_output},
        {0, "store O, L", Op::store},
    };
    static const FaultCode of_sums(sums,
                                   {{&Switches::no_max, Op::part, "mᵢ ← 0,  ℓᵢ ← Σ exp(S),  Oᵢ ← Σ exp(S) V"},
                                    {&Switches::no_max, Op::merge_max, "m  ← 0"},
                                    {&Switches::no_weights, Op::merge_weights, "wᵢ ← 1"},
                                    {&Switches::no_weights, Op::merge_sum, "ℓ  ← Σ ℓᵢ"},
                                    {&Switches::no_weights, Op::merge_output, "O  ← Σ Oᵢ"},
                                    {&Switches::no_division, Op::normalize, "O ← O"},
                                    {&Switches::no_log_sum, Op::store, "store O, L = m"}},
                                   {{Op::init, "m, ℓ, O of A ← sink, 1, 0  without keys"},
                                    {Op::part, "mᵢ,ℓᵢ,Oᵢ ← its m, ℓ, O; A + sink"}}),
        of_divided(
            divided,
            {{&Switches::no_max, Op::part, "Lᵢ, Oᵢ ← its ln Σ exp S, its output, m = 0"},
             {&Switches::no_max, Op::merge_lse, "L  ← ln Σ exp Lᵢ, m = 0"},
             {&Switches::no_log_sum, Op::part, "Lᵢ, Oᵢ ← its max S, its output"},
             {&Switches::no_division, Op::part, "Lᵢ, Oᵢ ← its ln Σ exp S, Σ exp(S − m) V"},
             {&Switches::no_weights, Op::merge_weights, "wᵢ ← 1"},
             {&Switches::no_weights, Op::merge_output, "O  ← Σ Oᵢ"}},
            {{Op::init, "L, O of A ← sink, 0  without keys"}, {Op::part, "Lᵢ, Oᵢ ← its L, O;  A + sink"}});
    return (normalised(p) ? of_divided : of_sums).of(p);
}

// ---- Letters, lanes and words

Line symbol_of(const Trace& trace, Slot slot, int step, int tile) {
    if (slot == Slot::x) return {{"S", Role::S, Span::Face::symbol}};
    if (!is_of_parts(slot)) return slot_symbol(slot);
    if (step < 0 && tile < 0) return part_symbol(slot, "");
    // The weights of a merge are written together: without a tile they are those of any part.
    if (tile < 0 && slot == Slot::w_part) return part_symbol(slot, "");
    return part_symbol(slot, merge_name(trace.problem(), tile < 0 ? merge_tile(trace, step) : tile));
}

std::string lane(const Problem& p, int phase) {
    const int parts = static_cast<int>(merge_parts(p).size());
    if (phase < parts) return "Part " + part_letter(phase);
    const auto plan = merge_plan(parts, p.options.merge);
    const MergeNode& node = plan[static_cast<std::size_t>(phase - parts)];
    return "Merge " + merged_letters(node.first, node.last);
}

const char* card(const Trace& trace, int k) {
    return trace.step(k).op == Op::init ? "partial-result" : nullptr;
}

constexpr Slot results[] = {Slot::O, Slot::L};

}  // namespace

std::vector<KeyPart> merge_parts(const Problem& p) { return key_parts(p, usual_parts); }

std::string merge_name(const Problem& p, int tile) {
    const int parts = static_cast<int>(merge_parts(p).size());
    if (tile < parts) return part_letter(tile);
    for (const MergeNode& node : merge_plan(parts, p.options.merge))
        if (node.into == tile) return merged_letters(node.first, node.last);
    return {};
}

int merge_tile(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const int parts = static_cast<int>(merge_parts(trace.problem()).size());
    if (step.phase < parts) return step.phase;
    const auto plan = merge_plan(parts, trace.problem().options.merge);
    return plan[static_cast<std::size_t>(step.phase - parts)].into;
}

constinit const Lesson merge_lesson = {
    .id = "merge",
    .title = "Merge",
    .summary =
        "Partial results of one query over different keys become one: maximum, weights, sum and output, in "
        "any order.",
    .chapter = ChapterId::merge,
    .tab = "rule",
    .picture = Picture::merge,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_merge_lesson,
    .say = says_nothing,
    .symbol = symbol_of,
    .indices = own_indices,
    .step_symbol = op_symbol,
    .lane = lane,
    .card = card,
    .model = model,
    .rival = {"Softmax in three passes", three_passes, "less: three passes would not leave L"},
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = merge_faults,
    .division = Division::at_the_end,
    .choices =
        chooses_row | chooses_splits | chooses_merge_order | chooses_part_form | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = true,
};

}  // namespace tilewalk
