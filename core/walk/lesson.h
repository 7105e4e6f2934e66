// What the program knows of a lesson. Each lesson fills this in next to its walk (core/lessons); everything
// else asks the Lesson, never its id.
#pragma once

#include "core/walk/trace.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

struct View;         // core/walk/explain_view.h
struct Explanation;  // core/walk/explain.h
struct Span;
struct Indices;
struct Walks;  // core/walk/compare.h

/// One line of pseudocode; `indent` counts levels. Steps find their line by its op.
struct CodeLine {
    /// Any lane, or only steps that belong to no block.
    static constexpr int any_phase = -1, no_block = -2;
    int indent;
    const char* text;
    Op op = Op::count;      ///< the step that it stands for; count: none
    int phase = any_phase;  ///< where several lines stand for one op: the lane that this one belongs to
    /// Only of interest when the problem has a mask.
    bool if_masked() const { return op == Op::mask; }
};
/// A line of pseudocode without the remark at its end, which stands behind two spaces: "in HBM", or in
/// parentheses.
std::string_view without_remark(std::string_view line);

/// What a fault makes of a step, in a few words above its drawing.
struct FaultCaption {
    Op op = Op::count;
    const char* words = "";
};

/// Kernels that have their faults in common, as bits.
enum FaultyKernels : std::uint8_t {
    tiled_forward = 1,
    tiled_backward = 2,
    parts_of_a_row = 4,  ///< merge: a part is found in one step
    parts_by_tiles = 8,  ///< split-kv, cascade: as the tiled forward pass finds them
    ring_forward = 16,
    ring_back = 32
};

/// One deliberate fault of a kernel: all that is known of it beside what the kernels then compute.
struct Fault {
    bool Switches::*on;
    unsigned known_to;  ///< FaultyKernels that have what it leaves out
    const char* name;   ///< in files: "no_max"
    const char* title;  ///< "Leave the maximum out"
    const char* what;   ///< what the kernel computes instead
    std::array<FaultCaption, 2> captions;
    std::string (*told)(const Walks&);  ///< what came of it, with the numbers of a broken walk
};

/// The tabs at the top.
enum class ChapterId : std::uint8_t { attention, softmax, forward, backward, training, merge };

/// Which drawing shows its matrices.
enum class Picture : std::uint8_t {
    attention,
    dense_backward,
    training,
    softmax,
    forward,
    forward_v1,
    flash_backward,
    merge,
    split_kv,
    ring,
    cascade,
    count
};

/// Where a tiled forward pass divides its output by ℓ.
enum class Division : std::uint8_t { none, at_the_end, in_every_tile };

/// The options of a problem that single lessons read.
enum Choices : std::uint16_t {
    no_choices = 0,
    chooses_row = 1,
    chooses_notation = 2,
    chooses_form = 4,
    chooses_order = 8,
    chooses_learning_rate = 16,
    takes_logits = 32,  ///< softcap and ALiBi slope; without it a problem that has them is refused
    takes_sink = 64,
    chooses_splits = 128,
    chooses_merge_order = 256,
    chooses_part_form = 512,
    chooses_workers = 1024,
    chooses_ranks = 2048,      ///< and their shards
    chooses_sequences = 4096,  ///< that share a prefix, and pages: they decide who sees what
    chooses_queries = 8192,    ///< how many are decoded together, from the row on
    packs_heads = 16384,       ///< the walk is that of the shown head's group: packed_group
    takes_savings = 32768,     ///< lazy rescaling and a cubic in place of exp; others pass over them
    /// Partial results of several queries, whose rows on chip count from 0.
    parts_of_rows = chooses_ranks | chooses_sequences
};

constexpr Choices operator|(Choices a, Choices b) {
    return static_cast<Choices>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// What the meters hold a walk against.
struct Rival {
    const char* name = nullptr;  ///< null: nothing
    TrafficModel (*model)(const Problem&) = nullptr;
    const char* why_less = "";  ///< where the rival moves fewer bytes: why
    bool standard = false;      ///< it is standard attention with the same result
};

/// Nothing here has a default: a part that is not said does not compile (core/CMakeLists.txt).
struct Lesson {
    const char* id;       ///< "flash-forward"
    const char* title;    ///< "Flash forward"
    const char* summary;  ///< one sentence
    ChapterId chapter;
    const char* tab;  ///< "FlashAttention-2", "-1": short, beside its siblings
    Picture picture;

    void (*walk)(Recorder&, const Problem&);
    /// Upper bound of the memory of the trace in bytes, computed without building it.
    std::int64_t (*estimate)(const Problem&);
    std::span<const CodeLine> (*code)(const Problem&);
    /// Fills in what one step means (core/walk/explain.h).
    void (*explain)(const View&);
    /// What a lecturer would say at the step; empty where the explanation's own words serve.
    std::string (*say)(const Trace&, int k, const Explanation&);
    /// What step `step` put into the slot, as the lesson's formulas write it: see slot_symbol.
    std::vector<Span> (*symbol)(const Trace&, Slot slot, int step, int tile);
    /// By which rows and columns people call cells of the slot that step `made` put there: see `indices`.
    Indices (*indices)(const Trace&, Slot slot, const Region& cells, int made);
    /// The symbol of a step on the timeline.
    std::vector<Span> (*step_symbol)(const Trace&, int k);
    /// Name of a lane of the timeline: "Query block 0", "Pass 1".
    std::string (*lane)(const Problem&, int phase);
    /// The card of the glossary that a step is about, where the lesson has one of its own; else null.
    const char* (*card)(const Trace&, int k);

    /// Closed form of what the walk moves through HBM.
    TrafficModel (*model)(const Problem&);
    Rival rival;
    const Lesson* beside;                ///< the lesson whose walk stands beside this one; mostly null
    std::span<const Slot> results;       ///< HBM slots that hold the results at the end
    std::span<const Slot> inputs;        ///< what one edits; empty: what the problem itself says
    std::span<const Fault> (*faults)();  ///< the switches that it knows; none: nor precision
    Division division;
    Choices choices;
    bool by_cell;  ///< the smallest step computes one cell instead of one row
    bool one_row;  ///< it walks through one row, number by number

    /// The walk through a problem that refuse() lets pass.
    std::shared_ptr<const Trace> build(const Problem& problem) const;
    std::shared_ptr<const Trace> operator()(const Problem& problem) const { return build(problem); }
    bool uses(Choices choice) const { return (choices & choice) != 0; }
};

/// Step mode is allowed up to this much memory for one trace.
constexpr std::int64_t step_budget_bytes = 256LL << 20;
/// This lesson's walk on the problem differs from the true one: a fault or a saving that it knows is on, or a
/// stage is rounded.
bool breaks(const Lesson& lesson, const Problem& problem);

/// What the walk saves: nothing in a lesson that passes over it.
const Savings& saved_in(const Trace& trace);

/// Validates the problem and holds it against the step budget, then runs the lesson.
Result<std::shared_ptr<const Trace>> build_trace(const Lesson& lesson, const Problem& problem);
/// The results of a walk: those of its lesson, and the gradient of a sink where the problem has one.
std::vector<Slot> results_of(const Trace& trace);
/// The two checks of build_trace alone; nothing if the trace can be built.
std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem);

/// The line of the lesson's pseudocode that step k stands for; −1 if it has none.
int code_line(const Trace& trace, int k);

// For lessons that have nothing of their own to say
std::span<const Fault> no_faults();
std::string says_nothing(const Trace& trace, int k, const Explanation& explanation);
const char* no_card(const Trace& trace, int k);
Indices own_indices(const Trace& trace, Slot slot, const Region& cells, int made);

}  // namespace tilewalk
