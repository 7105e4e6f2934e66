#include "tests/core/lessons/no_lie.h"

#include "core/walk/explain.h"
#include "core/walk/lesson.h"
#include "tests/core/expression.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::test {

namespace {

struct Seen {
    const Trace& trace;
    int k;
    CellRef cell;
    double stored;
    Explanation told = explain(trace, k, cell);

    std::string where() const {
        return describe(trace.problem()) + ", " + trace.lesson() + " step " + std::to_string(k) + " " +
               name(trace.step(k).op) + " " + info(cell.slot).name + "[" + std::to_string(cell.row) + "," +
               std::to_string(cell.col) + "]: " + plain(told.numbers) + " | " + plain(told.result) + " | " +
               told.why;
    }
};

// "bytes read = 32" speaks of the step, everything else of the cell.
double meant(const Seen& s) {
    const std::string what = s.told.result.front().text;
    const Traffic now = s.trace.step(s.k).traffic, before = s.k ? s.trace.step(s.k - 1).traffic : Traffic{};
    if (what == "bytes read") return static_cast<double>(now.hbm_read - before.hbm_read);
    if (what == "bytes written") return static_cast<double>(now.hbm_write - before.hbm_write);
    return s.stored;
}

// What is printed as arithmetic comes to what is printed as its result, within the last digit of that.
bool check_arithmetic(const Seen& s, const Line& numbers, const Printed& shown, bool exact) {
    const std::string fault = fault_of(plain(numbers), shown, exact, true);
    if (!fault.empty()) FAIL_CHECK(fault, ": ", s.where());
    return fault != "not well formed";
}

int check_result(const Seen& s) {
    if (s.told.result.empty()) FAIL_CHECK("no result: ", s.where());
    if (s.told.result.empty()) return 0;
    const auto shown = read_number(s.told.result.back().text);
    const bool nan = shown && std::isnan(shown->value) && std::isnan(meant(s));
    if (!shown || (!nan && !rounds(*shown, meant(s))))
        FAIL_CHECK("the result is not the stored ", meant(s), ": ", s.where());
    if (!shown || s.told.numbers.empty()) return 0;
    int checked = check_arithmetic(s, s.told.numbers, *shown, meant(s) == std::round(meant(s)));
    for (const Aside& aside : s.told.asides) {
        const auto beside = read_number(aside.result.back().text);
        if (aside.label.empty() || aside.formula.empty() || !beside) FAIL_CHECK("half an aside: ", s.where());
        if (beside) checked += check_arithmetic(s, aside.numbers, *beside, false);
    }
    return checked;
}

void check_words(const Seen& s) {
    const Explanation& e = s.told;
    if (e.title.empty() || e.place.empty() || e.formula.empty() || e.why.empty() || e.why.back() != '.')
        if (!e.why.ends_with('?')) FAIL_CHECK("a part is missing: ", s.where());
    if (!(e.target == s.cell)) FAIL_CHECK("speaks of another cell: ", s.where());
    const auto code = lesson_of(s.trace).code(s.trace.problem());
    if (e.code_line < 0 || e.code_line >= static_cast<int>(code.size()))
        FAIL_CHECK("no such line: ", s.where());
    for (const std::string& text : {e.place, e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", "inf", "-0", "−0 ", "−−", "-1"})
            if (text.find(bad) != std::string::npos) FAIL_CHECK("'", bad, "' in: ", s.where());
}

void check_sources(const Seen& s) {
    for (const CellRef& source : s.told.sources) {
        const auto reads = s.trace.reads(s.k);
        const bool known = std::ranges::any_of(reads, [&](const Access& a) {
            return a.slot == source.slot && s.trace.value(a.value).region.contains(source.row, source.col);
        });
        if (!known) FAIL_CHECK("a source that the step did not read: ", s.where());
    }
}

}  // namespace

int check_no_lie(const Trace& trace) {
    int formulas = 0;
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const Value& value = trace.value(a.value);
            const Region at = value.region;
            for (int r = 0; r < at.rows; ++r)
                for (int c = 0; c < at.cols; ++c) {
                    const Seen seen{trace, k, {a.slot, at.row + r, at.col + c}, value.data(r, c)};
                    formulas += check_result(seen);
                    check_words(seen);
                    check_sources(seen);
                }
        }
    return formulas;
}

}  // namespace tilewalk::test
