#include "core/class/spoken.h"

#include "core/lessons/softmax/letters.h"
#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

struct Speech {
    const Trace& trace;
    int k;
    const Explanation& e;
    const Step& step = trace.step(k);
    bool one_row = softmax_passes(trace) > 0;
    std::string row = one_row ? "the row" : "row " + str(e.target.row);
    std::string Row = one_row ? "The row" : "Row " + str(e.target.row);
    std::string result = e.result.empty() ? "" : e.result.back().text;

    // m of the target's row after step n.
    double maximum(int n) const {
        const Held held = trace.live(Slot::m, n);
        const CellRef cell{Slot::m, e.target.row, 0};
        return held && held.value->region.contains(cell.row, 0) ? value_at(*held.value, cell)
                                                                : minus_infinity;
    }
};

std::string new_maximum(const Speech& s) {
    const double old = s.maximum(s.k - 1), now = s.maximum(s.k);
    const auto [from, to] = format_apart(old, now);
    switch (kind_of(old, now)) {
    case sees_no_key: return s.Row + " has seen no key yet, so there is no maximum.";
    case starts:
        return s.Row + " sees its first score" + (s.one_row ? "" : "s") + ": the maximum starts at " + to +
               ".";
    case rises:
        if (s.trace.step(s.k).phase == 0 && softmax_passes(s.trace) == 3)
            return s.Row + " found a larger score: the maximum goes from " + from + " to " + to + ".";
        return s.Row + " found a larger score: " + from + " becomes " + to + ", so its old sum shrinks by α.";
    case stays: break;
    }
    return s.Row + " found nothing larger: the maximum stays " + to + ".";
}

std::string correction(const Speech& s) {
    if (s.result == "1") return "Nothing to correct in " + s.row + ": the maximum stayed, and α is 1.";
    if (s.result == "0") return "α is 0: whatever " + s.row + " held before, it starts from nothing.";
    return "α is " + s.result + ": that is what the old sum of " + s.row + " is still worth.";
}

std::string of_target(const Speech& s) {
    return plain(Line(s.e.result.begin(), s.e.result.end() - 1)) + s.result;
}

// Nothing is divided where every weight is 0; the explanation says why.
bool empty_sum(const Speech& s) {
    const CellRef cell{Slot::l, s.e.target.row, 0};
    const Held held = s.trace.live(Slot::l, s.k);
    return held && held.value->region.contains(cell.row, 0) && value_at(*held.value, cell) == 0;
}

std::string new_output(const Speech& s) {
    if (s.trace.problem().options.normalised && softmax_passes(s.trace) == 1)
        return empty_sum(s)
                   ? std::string()
                   : "The old average and the new value, each by its share of the new sum: " + of_target(s) +
                         ".";
    return "The old output, brought to the new maximum, plus the new values by their weights: " +
           of_target(s) + ".";
}

// Ops that the tiled forward passes and the softmax lessons have in common; empty for the others.
std::string of_forward(const Speech& s) {
    switch (s.step.op) {
    case Op::new_max: return new_maximum(s);
    case Op::correction: return correction(s);
    case Op::exponentials: return "A score becomes a weight: " + of_target(s) + ", and no weight is above 1.";
    case Op::row_sum:
        return "The old sum, brought to the new maximum, plus the new weights: " + of_target(s) + ".";
    case Op::output: return new_output(s);
    case Op::normalize:
        return empty_sum(s) ? std::string()
                            : "One division at the very end: now the weights of " + s.row + " sum to 1.";
    case Op::tile_max: return "The best score of " + s.row + " in this tile is " + s.result + ".";
    default: return {};
    }
}

// The first sentence; a point between digits ends none.
std::string first_sentence(const std::string& text) {
    const std::size_t end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

int letters(const std::string& text) {
    return static_cast<int>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

bool has_running_state(const Trace& trace) {
    const std::string lesson = trace.lesson();
    return lesson == "flash-forward" || lesson == "softmax-1pass" || lesson == "softmax-2pass";
}

}  // namespace

std::string spoken(const Trace& trace, int k, const Explanation& e) {
    const Op op = trace.step(k).op;
    // A broken walk, and what is not rebased, is told in the explanation's own words.
    const bool own_words = breaks(lesson_of(trace), trace.problem()) || e.result.empty();
    const bool rebased = op == Op::row_sum || op == Op::output;
    std::string out;
    if (!own_words && (has_running_state(trace) || !rebased)) out = of_forward({trace, k, e});
    // The second pass of two divides, and adds up what is final already.
    if (trace.step(k).phase > 0 && softmax_passes(trace) == 2) out.clear();
    if (out.empty()) out = first_sentence(e.why);
    if (letters(out) > spoken_letters) out = e.title + ": " + plain(e.result) + ".";
    return out;
}

}  // namespace tilewalk
