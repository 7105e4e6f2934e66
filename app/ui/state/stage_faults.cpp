// What can be broken on the stage of presenter mode, and with which keys.
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "core/problem/precision.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void set_faults(AppState& state, const Switches& switches, const Precision& precision) {
    Problem changed = latest_problem(state);
    changed.switches = switches;
    changed.precision = precision;
    set_problem(state, std::move(changed));
}

constexpr Key key_at(Key first, int n) { return static_cast<Key>(static_cast<int>(first) + n); }

}  // namespace
std::vector<StageFault> stage_faults(const Lesson& lesson) {
    std::vector<StageFault> out;
    for (const Fault& fault : lesson.faults()) {
        out.push_back({key_at(Key::one, static_cast<int>(out.size())), fault.title, fault.what});
        out.back().switches.*fault.on = true;
    }
    if (out.empty()) return out;  // nor does it round
    Key letter = Key::a;
    for (const Preset& preset : presets()) {
        if (!preset.precision.any()) continue;
        out.push_back({letter, preset.name, "", {}, preset.precision});
        letter = key_at(letter, 1);
    }
    return out;
}

bool is_on(const Problem& problem, const StageFault& fault) {
    return problem.switches == fault.switches && problem.precision == fault.precision;
}

void choose_fault(AppState& state, const StageFault& fault) {
    state.lists.faults = false;
    if (is_on(latest_problem(state), fault)) return break_or_repair(state);
    state.lists.switches = fault.switches, state.lists.precision = fault.precision;
    set_faults(state, fault.switches, fault.precision);
}

void break_or_repair(AppState& state) {
    StageLists& lists = state.lists;
    const Problem& now = latest_problem(state);
    const bool was_open = std::exchange(lists.faults, false);
    if (breaks(*state.lesson, now)) {
        lists.switches = now.switches, lists.precision = now.precision;
        return set_faults(state, {}, {});
    }
    if (!was_open)
        lists.faults = true;
    else if (!broken_last(state).empty())
        set_faults(state, lists.switches, lists.precision);
}

std::string broken_last(const AppState& state) {
    Problem last;
    last.switches = state.lists.switches, last.precision = state.lists.precision;
    return breaks(*state.lesson, last) ? fault_title(*state.lesson, last) : "";
}

bool only_rounded(const Problem& problem) { return problem.switches == Switches{}; }

// "fp16 kernel", or the one format of all stages
static std::string name_of_formats(const Precision& precision) {
    const auto known = std::ranges::find(presets(), precision, &Preset::precision);
    if (known != presets().end()) return known->name;
    const auto same = [&](const Stage& stage) { return precision.*stage.format == precision.inputs; };
    return std::ranges::all_of(stages(), same) ? name(precision.inputs) : "own formats";
}

std::string fault_title(const Lesson& lesson, const Problem& problem) {
    std::string out;
    int count = 0;
    for (const Fault& fault : lesson.faults())
        if (problem.switches.*fault.on && ++count == 1) out = fault.title;
    if (count > 1) out = str(count) + " faults";
    if (!problem.precision.any()) return out;
    const std::string formats = name_of_formats(problem.precision);
    return out.empty() ? formats : out + ", " + formats;
}

}  // namespace tilewalk::ui
