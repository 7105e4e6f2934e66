#include "core/lessons/lesson.h"

#include "core/explain_forward.h"
#include "core/lessons/flash_forward.h"
#include "core/numbers.h"

namespace tilewalk {

namespace {

std::string query_block(const Problem&, int phase) { return "Query block " + std::to_string(phase); }

constexpr Slot forward_results[] = {Slot::O, Slot::L};

}  // namespace

std::span<const Lesson> lessons() {
    static const Lesson table[] = {
        {"flash-forward", "Flash forward",
         "The tiled forward pass: online softmax with m, ℓ and the rescaled O, tile by tile "
         "(FlashAttention-2 order).",
         flash_forward, flash_forward_bytes, flash_forward_code, explain_forward, flash_forward_model,
         standard_forward_model, query_block, false, forward_results},
    };
    return table;
}

const Lesson* find_lesson(std::string_view id) {
    for (const Lesson& lesson : lessons())
        if (id == lesson.id) return &lesson;
    return nullptr;
}

const Lesson& default_lesson() { return *find_lesson("flash-forward"); }

const Lesson& lesson_of(const Trace& trace) { return *find_lesson(trace.lesson()); }

std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem) {
    if (auto sentence = validate(problem)) return sentence;
    const std::int64_t need = lesson.estimate(problem);
    if (need <= step_budget_bytes) return {};
    return "Walking through N = " + format_count(problem.N()) + ", N_kv = " + format_count(problem.N_kv()) +
           ", d = " + std::to_string(problem.d()) + " with " + std::to_string(problem.Br) + " × " +
           std::to_string(problem.Bc) + " tiles would record about " + format_size(need) + "; the limit is " +
           format_size(step_budget_bytes) + ". Choose a smaller problem or larger tiles.";
}

Result<std::shared_ptr<const Trace>> build_trace(const Lesson& lesson, const Problem& problem) {
    if (auto sentence = refuse(lesson, problem)) return Failure{*sentence};
    return lesson.build(problem);
}

}  // namespace tilewalk
