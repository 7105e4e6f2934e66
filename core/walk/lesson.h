// The table of lessons: what the program can walk through, and the one way to build a trace.
#pragma once

#include "core/lessons/shared/memory_model.h"
#include "core/walk/trace.h"

#include <span>
#include <string>
#include <string_view>

namespace tilewalk {

struct View;   // core/walk/explain_view.h
struct Fault;  // core/lessons/shared/faults.h

/// One line of pseudocode; `indent` counts levels.
struct CodeLine {
    int indent;
    const char* text;
    bool if_masked = false;  ///< only of interest when the problem has a mask
};

struct Lesson {
    const char* id;       ///< "flash-forward"
    const char* title;    ///< "Flash forward"
    const char* summary;  ///< one sentence
    std::shared_ptr<const Trace> (*build)(const Problem&);
    /// Upper bound of the memory of the trace in bytes, computed without building it.
    std::int64_t (*estimate)(const Problem&);
    std::span<const CodeLine> (*code)(const Problem&);
    /// Fills in what one step means (core/walk/explain.h).
    void (*explain)(const View&);
    /// Closed form of what the walk moves through HBM.
    TrafficModel (*model)(const Problem&);
    /// What standard attention moves for the same result; null where the lesson is standard attention.
    TrafficModel (*standard)(const Problem&);
    /// Name of a lane of the timeline: "Query block 0", "Pass 1".
    std::string (*lane)(const Problem&, int phase);
    bool by_cell = false;                ///< the smallest step computes one cell instead of one row
    std::span<const Slot> results = {};  ///< HBM slots that hold the results at the end
    std::span<const Fault> faults = {};  ///< the switches that this lesson knows; empty: none, nor precision
};

std::span<const Lesson> lessons();
const Lesson* find_lesson(std::string_view id);
const Lesson& default_lesson();  ///< flash-forward

/// Step mode is allowed up to this much memory for one trace.
constexpr std::int64_t step_budget_bytes = 256LL << 20;
/// This lesson's walk on the problem differs from the true one: a fault that it knows is on, or a stage is
/// rounded.
bool breaks(const Lesson& lesson, const Problem& problem);
/// The lesson that made a trace.
const Lesson& lesson_of(const Trace& trace);

/// Validates the problem and holds it against the step budget, then runs the lesson.
Result<std::shared_ptr<const Trace>> build_trace(const Lesson& lesson, const Problem& problem);
/// The two checks of build_trace alone; nothing if the trace can be built.
std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem);

}  // namespace tilewalk
