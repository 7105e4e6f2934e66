#include "core/walk/lesson.h"

#include "core/base/numbers.h"
#include "core/problem/heads.h"

#include <algorithm>

namespace tilewalk {

std::shared_ptr<const Trace> Lesson::build(const Problem& problem) const {
    Recorder recorder(problem, *this);
    walk(recorder, recorder.walked());
    return recorder.finish();
}

std::string_view without_remark(std::string_view line) {
    const std::size_t gap = line.rfind("  ");
    if (gap == std::string_view::npos) return line;
    const std::string_view end = line.substr(gap + 2);
    if (end != "in HBM" && !end.starts_with('(')) return line;
    return line.substr(0, line.find_last_not_of(' ', gap) + 1);
}

bool breaks(const Lesson& lesson, const Problem& p) {
    const std::span<const Fault> faults = lesson.faults();
    if (faults.empty()) return false;
    return p.precision.any() || (lesson.uses(takes_savings) && p.savings.any()) ||
           std::ranges::any_of(faults, [&](const Fault& fault) { return p.switches.*fault.on; });
}

const Savings& saved_in(const Trace& trace) {
    static const Savings none;
    return trace.lesson().uses(takes_savings) ? trace.problem().savings : none;
}

std::vector<Slot> results_of(const Trace& trace) {
    std::vector<Slot> out(trace.lesson().results.begin(), trace.lesson().results.end());
    if (trace.tiles(Slot::dsink) > 0) out.push_back(Slot::dsink);
    return out;
}

static bool leaves_gradients(const Lesson& lesson) {
    return std::ranges::find(lesson.results, Slot::dQ) != lesson.results.end();
}

// What the lesson would pass over in silence.
static std::optional<std::string> check_logits_known(const Lesson& lesson, const Logits& logits) {
    const std::string title = "The lesson \"" + std::string(lesson.title) + "\" has no ";
    if ((logits.softcap || logits.alibi) && !lesson.uses(takes_logits))
        return title + "softcap and no ALiBi bias; leave them out, or choose another lesson.";
    if (logits.sink && !lesson.uses(takes_sink))
        return title + "sink; leave it out, or choose another lesson, such as flash-forward.";
    return {};
}

std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem) {
    if (auto sentence = validate(problem)) return sentence;
    if (auto sentence = check_logits_known(lesson, problem.logits)) return sentence;
    const std::optional<Problem> group = lesson.uses(packs_heads) ? packed_group(problem) : std::nullopt;
    if (leaves_gradients(lesson))
        if (auto sentence = validate_gradients(group ? *group : problem)) return sentence;
    if (std::ranges::find(lesson.results, Slot::W_Q) != lesson.results.end())
        if (auto sentence = validate_update(group ? *group : problem)) return sentence;
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

int code_line(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const auto lines = trace.lesson().code(trace.problem());
    const bool in_no_block = step.i < 0 && step.j < 0;
    int found = -1;
    for (std::size_t n = 0; n < lines.size(); ++n) {
        const CodeLine& line = lines[n];
        if (line.op != step.op) continue;
        const bool meant = line.phase == step.phase || (line.phase == CodeLine::no_block && in_no_block);
        if (meant) return static_cast<int>(n);
        if (line.phase == CodeLine::any_phase && found < 0) found = static_cast<int>(n);
    }
    return found;
}

std::span<const Fault> no_faults() { return {}; }

std::string says_nothing(const Trace&, int, const Explanation&) { return {}; }

const char* no_card(const Trace&, int) { return nullptr; }

}  // namespace tilewalk
