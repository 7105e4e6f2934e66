// What can be broken on the stage of presenter mode, and with which keys.
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "core/base/words.h"
#include "core/problem/precision.h"
#include "core/problem/savings.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void set_faults(AppState& state, const Switches& switches, const Precision& precision,
                const Savings& savings) {
    Problem changed = latest_problem(state);
    changed.switches = switches;
    changed.precision = precision;
    changed.savings = savings;
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
    if (!lesson.uses(takes_savings)) return out;
    // What newer kernels save; the last with the weights that 8 bits do not hold
    const Precision fp8 =
        std::ranges::find(presets(), std::string_view("fp8 kernel"), &Preset::name)->precision;
    const StageFault savings[] = {
        {Key::a, "Lazy τ = 8", "", {}, {}, {.lazy = published_lazy, .cubic = false}},
        {Key::a, "Cubic exp2", "", {}, {}, {.lazy = {}, .cubic = true}},
        {Key::a, "fp8, lazy τ = 12", "", {}, fp8, {.lazy = 12, .cubic = false}},
    };
    for (const StageFault& saving : savings) {
        out.push_back(saving);
        out.back().key = letter;
        letter = key_at(letter, 1);
    }
    return out;
}

bool is_on(const Problem& problem, const StageFault& fault) {
    return problem.switches == fault.switches && problem.precision == fault.precision &&
           problem.savings == fault.savings;
}

void choose_fault(AppState& state, const StageFault& fault) {
    state.lists.faults = false;
    if (is_on(latest_problem(state), fault)) return break_or_repair(state);
    state.lists.switches = fault.switches, state.lists.precision = fault.precision;
    state.lists.savings = fault.savings;
    set_faults(state, fault.switches, fault.precision, fault.savings);
}

void break_or_repair(AppState& state) {
    StageLists& lists = state.lists;
    const Problem& now = latest_problem(state);
    const bool was_open = std::exchange(lists.faults, false);
    if (breaks(*state.lesson, now)) {
        lists.switches = now.switches, lists.precision = now.precision, lists.savings = now.savings;
        return set_faults(state, {}, {}, {});
    }
    if (!was_open)
        lists.faults = true;
    else if (!broken_last(state).empty())
        set_faults(state, lists.switches, lists.precision, lists.savings);
}

std::string broken_last(const AppState& state) {
    Problem last;
    last.switches = state.lists.switches, last.precision = state.lists.precision;
    last.savings = state.lists.savings;
    return breaks(*state.lesson, last) ? fault_title(*state.lesson, last) : "";
}

bool only_rounded(const Problem& problem) { return problem.switches == Switches{}; }

// What is called "Leave the correction out" in the list of what can be done: "correction left out".
static std::string done(std::string title) {
    constexpr std::string_view leave = "Leave ", out = " out", use = "Use ", the = "the ";
    if (const std::size_t end = title.rfind(out); title.starts_with(leave) && end != std::string::npos) {
        title.insert(end, " left");
        title.erase(0, leave.size());
    } else if (title.starts_with(use)) {
        title = title.substr(use.size()) + " used";
    } else {
        title = lower_case(title.substr(0, 1)) + title.substr(1);
    }
    return title.starts_with(the) ? title.substr(the.size()) : title;
}

std::string named_fault(const AppState& state) {
    if (only_rounded(*state.problem))
        return kind_of_walk(state) + (": " + fault_title(*state.lesson, *state.problem));
    std::vector<std::string> names;
    for (const Fault& fault : state.lesson->faults())
        if (state.problem->switches.*fault.on) names.push_back(done(fault.title));
    return (names.size() == 1 ? "Fault: " : "Faults: ") + joined(names);
}

const char* kind_of_walk(const AppState& state) {
    if (!only_rounded(*state.problem)) return "Broken";
    return state.lesson->uses(takes_savings) && state.problem->savings.any() ? "Saving" : "Rounded";
}

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
    const auto add = [&](const std::string& title) {
        if (!title.empty()) out += (out.empty() ? "" : ", ") + title;
    };
    if (problem.precision.any()) add(name_of_formats(problem.precision));
    if (lesson.uses(takes_savings)) add(brief_savings_title(problem.savings));
    return out;
}

}  // namespace tilewalk::ui
