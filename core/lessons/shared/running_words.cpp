#include "core/lessons/shared/running_words.h"

#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"

#include <tuple>

namespace tilewalk {

namespace {

std::string row_of(const Trace& trace, const Explanation& e) {
    if (trace.lesson().one_row) return "the row";
    const std::string word = trace.problem().query_token(e.target.row);
    return "row " + str(e.target.row) + (word.empty() ? "" : " (“" + word + "”)");
}

// m of the target's row after step k.
double maximum_at(const Trace& trace, int k, int row) {
    const Held held = trace.live(Slot::m, k);
    return held && held.value->region.contains(row, 0) ? value_at(*held.value, {Slot::m, row, 0})
                                                       : minus_infinity;
}

// The row has seen no key: what the formula has in place of its maximum.
bool stands_in(const Trace& trace, int k, const Explanation& e) {
    const Held held = trace.live(Slot::m, k);
    return held && held.value->region.contains(e.target.row, 0) &&
           value_at(*held.value, {Slot::m, e.target.row, 0}) == minus_infinity;
}

// A larger score has come, but m was kept: lazy rescaling.
bool lags(const Trace& trace, int k, int row) {
    const Held held = trace.live(Slot::m_tile, k);
    return saved_in(trace).lazy && held && held.value->region.contains(row, 0) &&
           value_at(*held.value, {Slot::m_tile, row, 0}) > maximum_at(trace, k, row);
}

std::string say_correction(const Trace& trace, int k, const Explanation& e) {
    const std::string alpha = e.result.back().text, row = row_of(trace, e), is = "α is " + alpha;
    const double shown = read_shown(alpha).value;
    const bool whole = value_at(*trace.live(Slot::alpha, k).value, e.target) == shown;
    if (stands_in(trace, k, e)) return "No key for " + row + " yet: 0 stands in for m = −∞, and " + is + ".";
    if (whole && shown == 1 && lags(trace, k, e.target.row))
        return "Nothing to correct in " + row + ": m was kept, and " + is + ".";
    if (whole && shown == 1) return "Nothing to correct in " + row + ": the maximum stayed, and " + is + ".";
    if (whole && shown == 0) return is + ": whatever " + row + " held before, it starts from nothing.";
    return is + ": the old sum of " + row + " keeps that share of its worth.";
}

// "ℓ[0] is 1.639": a sentence has none of the numbers that a sign would stand behind.
std::string told_result(const Explanation& e) {
    std::string out = plain(e.result);
    for (const char* sign : {" = ", " ≈ "})
        if (const std::size_t at = out.find(sign); at != std::string::npos)
            return out.replace(at, std::string(sign).size(), " is ");
    return out;
}

// What the old sum or output is still worth, and what comes to it.
std::string say_growing(const Trace& trace, int k, const Explanation& e, const std::string& what,
                        const std::string& more) {
    const Held alpha = trace.live(Slot::alpha, k);
    const CellRef cell{Slot::alpha, e.target.row, 0};
    const double kept =
        alpha && alpha.value->region.contains(cell.row, 0) ? value_at(*alpha.value, cell) : .5;
    if (kept == 0 && read_shown(e.result.back().text).value == 0)
        return {};  // no key yet: the explanation says why
    const std::string end = more + ": " + told_result(e) + ".";
    if (kept == 0) return "The " + what + " begins with the first " + end;
    if (kept == 1) return "The old " + what + " counts in full, plus the new " + end;
    return "The old " + what + ", times α, plus the new " + end;
}

}  // namespace

std::string say_new_maximum(const Trace& trace, int k, const Explanation& e, bool sum_shrinks) {
    const double old = maximum_at(trace, k - 1, e.target.row), now = maximum_at(trace, k, e.target.row);
    const MatrixDigits& digits = trace.digits(Slot::m);
    std::string from = text_alone(digits, old), to = text_alone(digits, now);
    if (from == to && old != now) std::tie(from, to) = format_apart(old, now);
    if (old == now && lags(trace, k, e.target.row)) {
        const double best = value_at(*trace.live(Slot::m_tile, k).value, {Slot::m_tile, e.target.row, 0});
        std::string larger = text_alone(digits, best);
        if (larger == to) std::tie(larger, to) = format_apart(best, now);
        return "A larger score in " + row_of(trace, e) + ", " + larger +
               ", but not by more than τ: m stays " + to + ", and nothing is rescaled.";
    }
    // With lazy rescaling m may lie below the largest score that the row has shown.
    const std::string maximum = saved_in(trace).lazy ? "m" : "the maximum",
                      its = saved_in(trace).lazy ? "m" : "its maximum";
    const bool one_row = trace.lesson().one_row;
    std::string row = row_of(trace, e);
    row.front() = row.front() == 't' ? 'T' : 'R';
    switch (kind_of(old, now)) {
    case sees_no_key: return row + " has seen no key yet, so there is no maximum.";
    case starts:
        return row + " sees its first score" + (one_row ? "" : "s") + ": the maximum starts at " + to + ".";
    case rises:
        return row + " found a larger score: " +
               (sum_shrinks ? its + " " + from + " becomes " + to + ", so its old sum is multiplied by α."
                            : maximum + " goes from " + from + " to " + to + ".");
    case stays: break;
    }
    return row + " found nothing larger" + (saved_in(trace).lazy ? " than m" : "") + ": " + maximum +
           " stays " + to + ".";
}

bool empty_sum(const Trace& trace, int k, const Explanation& e) {
    const CellRef cell{Slot::l, e.target.row, 0};
    const Held held = trace.live(Slot::l, k);
    return held && held.value->region.contains(cell.row, 0) && value_at(*held.value, cell) == 0;
}

std::string say_weight(const Trace& trace, int k, const Explanation& e) {
    if (trace.step(k).op != Op::exponentials) return {};
    if (stands_in(trace, k, e))
        return "No key for " + row_of(trace, e) + " yet: 0 stands in for m = −∞, and the weight is " +
               e.result.back().text + ".";
    if (lags(trace, k, e.target.row))
        return "A score becomes a weight: " + plain(e.result) + ", measured from an m that lags behind.";
    return "A score becomes a weight: " + plain(e.result) +
           (saved_in(trace).lazy ? ", measured from m." : ", and no weight is above 1.");
}

std::string say_maximum(const Trace& trace, int k, const Explanation& e) {
    switch (trace.step(k).op) {
    case Op::new_max: return say_new_maximum(trace, k, e, true);
    case Op::correction: return say_correction(trace, k, e);
    case Op::tile_max:
        return "The best score of " + row_of(trace, e) + " in this tile is " + e.result.back().text + ".";
    default: return say_weight(trace, k, e);
    }
}

std::string say_running(const Trace& trace, int k, const Explanation& e) {
    const Held P = trace.live(Slot::P, k);
    const bool one = P && P.value->region.cols == 1;
    switch (trace.step(k).op) {
    case Op::row_sum: return say_growing(trace, k, e, "sum", one ? "weight" : "weights");
    case Op::output:
        return say_growing(trace, k, e, "output", one ? "value by its weight" : "values by their weights");
    case Op::normalize:
        if (empty_sum(trace, k, e)) return {};
        if (trace.problem().logits.sink)
            return "One division at the very end: the weights of " + row_of(trace, e) +
                   " and that of the sink sum to 1.";
        return "One division at the very end: now the weights of " + row_of(trace, e) + " sum to 1.";
    default: return say_maximum(trace, k, e);
    }
}

}  // namespace tilewalk
