#include "tests/core/lies.h"

#include "tests/core/expression.h"
#include "tests/core/problems.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::test {

namespace {

bool loads_bytes(const Explanation& e) { return plain(e.result).starts_with("bytes"); }

double stored_result(const Trace& trace, int k, const CellRef& cell, const Explanation& e) {
    if (!loads_bytes(e)) return value_at(*holding(trace, cell, k).value, cell);
    return static_cast<double>(trace.step(k).traffic.hbm_read - (k ? trace.step(k - 1).traffic.hbm_read : 0));
}

bool same(long double a, long double b, long double tolerance) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) <= tolerance : a == b;
}

std::string wrong_number(const Explanation& e, double stored) {
    const auto shown = read_number(e.result.back().text);
    if (!shown) return "unreadable result";
    const bool nan = std::isnan(stored) && std::isnan(shown->value);
    if (!nan && !rounds(*shown, stored)) return "the result is not the stored " + std::to_string(stored);
    if (e.numbers.empty()) return {};
    const auto formula = evaluate(plain(e.numbers));
    if (!formula) return "not well formed";
    const long double spacing = std::numeric_limits<double>::denorm_min();
    const bool whole = stored == std::round(stored) && !shown->power;
    const long double tolerance = (whole ? 0.001L : shown->unit) + 1e-13L * formula->terms + formula->jump + spacing;
    if (same(formula->value, shown->value, tolerance)) return {};
    return "evaluates to " + std::to_string(static_cast<double>(formula->value));
}

std::string wrong_words(const Explanation& e) {
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty())
        return "a part is missing";
    if (e.why.back() != '.') return "not a sentence";
    for (const std::string& text : {e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", "inf", "-0", "−0 ", "−−", "  .", ".."})
            if (text.find(bad) != std::string::npos) return std::string("'") + bad + "'";
    return {};
}

}  // namespace

void every_written_cell(const Trace& trace, const std::function<void(int, const CellRef&)>& look) {
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const Region at = trace.value(a.value).region;
            for (int r = at.row; r < at.row + at.rows; ++r)
                for (int c = at.col; c < at.col + at.cols; ++c) look(k, {a.slot, r, c});
        }
}

std::string lie_in(const Trace& trace, int k, const CellRef& cell) {
    const Explanation e = explain(trace, k, cell);
    std::string wrong = e.target != cell ? "speaks of another cell" : "";
    if (wrong.empty()) wrong = wrong_number(e, stored_result(trace, k, cell, e));
    if (wrong.empty()) wrong = wrong_words(e);
    if (wrong.empty()) return {};
    return wrong + ": " + describe(trace.problem()) + ", step " + std::to_string(k) + " " +
           name(trace.step(k).op) + " " + info(cell.slot).name + "[" + std::to_string(cell.row) + "," +
           std::to_string(cell.col) + "]: " + plain(e.numbers) + " | " + plain(e.result) + " | " + e.why;
}

}  // namespace tilewalk::test
