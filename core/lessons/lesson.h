// The table of lessons: what the program can walk through, and the one way to build a trace.
#pragma once

#include "core/trace.h"

#include <span>
#include <string_view>

namespace tilewalk {

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
    std::span<const CodeLine> code;
};

std::span<const Lesson> lessons();
const Lesson* find_lesson(std::string_view id);

/// Step mode is allowed up to this much memory for one trace.
constexpr std::int64_t step_budget_bytes = 256LL << 20;

/// Validates the problem and holds it against the step budget, then runs the lesson.
Result<std::shared_ptr<const Trace>> build_trace(const Lesson& lesson, const Problem& problem);
/// The two checks of build_trace alone; nothing if the trace can be built.
std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem);

}  // namespace tilewalk
