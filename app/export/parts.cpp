#include "app/export/parts.h"

#include "core/base/words.h"

#include <algorithm>

namespace tilewalk {
namespace {

// The latest step up to k that wrote this value there, from 1; 0 if it was given.
int made_at(const Trace& trace, int k, const Access& access) {
    Held held = trace.live(access.slot, access.tile, k);
    while (held && held.value != &trace.value(access.value))
        held = trace.live(access.slot, access.tile, held.step - 1);
    return held ? held.step + 1 : 0;
}

// "before" and "after" where a step has two values of one place that are written alike.
std::string note_of(const Trace& trace, int k, const Access& access, int made) {
    const std::string symbol = plain(symbol_of(trace, k, access));
    int oldest = made, newest = made;
    const auto look = [&](std::span<const Access> accesses) {
        for (const Access& a : accesses)
            if (a.slot == access.slot && a.tile == access.tile && a.value != access.value &&
                plain(symbol_of(trace, k, a)) == symbol) {
                const int other = made_at(trace, k, a);
                oldest = std::min(oldest, other), newest = std::max(newest, other);
            }
    };
    look(trace.reads(k));
    look(trace.writes(k));
    std::string note = info(access.slot).hbm ? "in HBM" : "";
    if (oldest != newest)
        note += std::string(note.empty() ? "" : ", ") + (made == newest ? "after" : "before");
    return note;
}

StepMatrix matrix_of(const Trace& trace, int k, const Access& access, bool written) {
    const int made = made_at(trace, k, access);
    return {access.slot,
            &trace.value(access.value),
            symbol_of(trace, k, access),
            note_of(trace, k, access, made),
            written,
            made};
}

WholeMatrix whole(Slot slot, Matrix A) {
    const Region region{0, 0, static_cast<int>(A.rows()), static_cast<int>(A.cols())};
    return {slot, {std::move(A), region}};
}

}  // namespace

Line symbol_of(const Trace& trace, int k, const Access& access) {
    return slot_symbol(trace, access.slot, made_at(trace, k, access) - 1, access.tile);
}

bool writes_value(const Trace& trace, int k, std::int32_t value) {
    return std::ranges::any_of(trace.writes(k), [value](const Access& a) { return a.value == value; });
}

std::vector<StepMatrix> step_matrices(const Trace& trace, int k) {
    std::vector<StepMatrix> matrices;
    for (const Access& access : trace.reads(k))
        if (!writes_value(trace, k, access.value)) matrices.push_back(matrix_of(trace, k, access, false));
    for (const Access& access : trace.writes(k)) matrices.push_back(matrix_of(trace, k, access, true));
    return matrices;
}

std::vector<WholeMatrix> given_matrices(const Trace& trace) {
    std::vector<WholeMatrix> matrices;
    for (int s = 0; s < slot_count; ++s)
        if (const Slot slot = static_cast<Slot>(s); trace.live(slot, -1))
            matrices.push_back(whole(slot, trace.given(slot)));
    return matrices;
}

std::vector<WholeMatrix> result_matrices_of(const Trace& trace) {
    std::vector<WholeMatrix> matrices;
    for (const Slot slot : results_of(trace))
        if (Matrix A = trace.result(slot); A.size() > 0) matrices.push_back(whole(slot, std::move(A)));
    return matrices;
}

std::string lane_at(const Trace& trace, int k) {
    const int phase = trace.step(k).phase;
    if (k > 0 && trace.step(k - 1).phase == phase) return {};
    return trace.lesson().lane(trace.problem(), phase);
}

std::string lane_at(const Trace& trace, const std::vector<int>& steps, std::size_t n) {
    const int phase = trace.step(steps[n]).phase;
    if (n > 0 && trace.step(steps[n - 1]).phase == phase) return {};
    return trace.lesson().lane(trace.problem(), phase);
}

std::string which_steps(const std::vector<int>& steps, int count) {
    const int chosen = static_cast<int>(steps.size());
    if (chosen == count) return "All " + counted(count, "step");
    const bool range = steps.back() - steps.front() == chosen - 1 && std::ranges::is_sorted(steps);
    if (!range || chosen == 1)
        return chosen == 1 ? "Step " + str(steps[0] + 1) + " of " + str(count)
                           : str(chosen) + " of " + str(count) + " steps";
    return "Steps " + str(steps.front() + 1) + "–" + str(steps.back() + 1) + " of " + str(count);
}

std::string step_number(const Trace& trace, int k) {
    return "Step " + str(k + 1) + " of " + str(trace.size());
}

std::string markdown_text(const std::string& text, std::string_view marks) {
    std::string out;
    for (const char c : text) {
        if (marks.find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out;
}

}  // namespace tilewalk
