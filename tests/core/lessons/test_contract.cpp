// What every lesson promises, whatever it is about: what a step wrote is what stands there afterwards, the
// bytes are those of the closed form, and no printed number lies. Held for every lesson, with every switch
// and number format that it knows.
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"
#include "core/walk/playback.h"
#include "tests/core/expression.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

std::string where(const Trace& trace, int k, const Explanation& e) {
    return std::string(trace.lesson()) + ", " + describe(trace.problem()) + ", step " +
           std::to_string(k + 1) + " " + name(trace.step(k).op) + ": " + plain(e.numbers) + " | " +
           plain(e.result) + " | " + e.why;
}

// ---- What a step wrote is what stands there

void check_state(const Trace& trace) {
    for (int s = 0; s < slot_count; ++s) {
        const Slot slot = static_cast<Slot>(s);
        for (int tile = 0; tile < trace.tiles(slot); ++tile) {
            Held before = trace.live(slot, tile, -1);
            for (int k = 0; k < trace.size(); ++k) {
                const Value* written = nullptr;
                for (const Access& a : trace.writes(k))
                    if (a.slot == slot && a.tile == tile) written = &trace.value(a.value);
                const Held now = trace.live(slot, tile, k);
                const bool right =
                    written ? now.value == written && now.step == k : now.value == before.value;
                if (!right) FAIL_CHECK(trace.lesson(), ", step ", k + 1, ", slot ", info(slot).name);
                before = now;
            }
        }
    }
}

// ---- Traffic is the closed form, and never runs backwards

void check_traffic(const Trace& trace) {
    const Lesson& lesson = lesson_of(trace);
    Traffic before;
    std::int64_t peak = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const Traffic& now = trace.step(k).traffic;
        CHECK(now.hbm_read >= before.hbm_read);
        CHECK(now.hbm_write >= before.hbm_write);
        CHECK(now.flops >= before.flops);
        peak = std::max(peak, now.sram_live);
        before = now;
    }
    const TrafficModel model = lesson.model(trace.problem());
    CHECK_MESSAGE(before.hbm_read == model.hbm_read, trace.lesson(), ", ", describe(trace.problem()));
    CHECK_MESSAGE(before.hbm_write == model.hbm_write, trace.lesson(), ", ", describe(trace.problem()));
    CHECK_MESSAGE(peak <= model.sram_peak, trace.lesson(), ", ", describe(trace.problem()));
    CHECK_MESSAGE(static_cast<std::int64_t>(trace.bytes()) <= lesson.estimate(trace.problem()),
                  trace.lesson(), ", ", describe(trace.problem()));
}

// ---- No lie on screen

bool agree(const Evaluated& formula, const Printed& shown, double stored) {
    if (std::isnan(shown.value)) return std::isnan(formula.value);
    if (std::isinf(shown.value)) return formula.value == shown.value;
    // A whole number is a claim of exactness; it is shown without decimals.
    const bool whole = stored == std::round(stored) && !shown.power;
    const long double spacing = std::numeric_limits<double>::denorm_min();
    return std::abs(formula.value - shown.value) <=
           (whole ? 0.001L : shown.unit) + 1e-13L * formula.terms + formula.jump + spacing;
}

void check_arithmetic(const Line& numbers, const Line& result, double stored, const std::string& place) {
    if (result.empty()) return;
    const auto shown = read_number(result.back().text);
    if (!shown) FAIL_CHECK("the result is no number: ", place);
    if (!shown) return;
    const bool rounded = std::isfinite(stored) ? rounds(*shown, stored) : true;
    if (!rounded) FAIL_CHECK("the result is not the stored ", stored, ": ", place);
    if (numbers.empty()) return;
    const auto formula = evaluate(plain(numbers));
    if (!formula) FAIL_CHECK("not well formed: ", place);
    if (formula && !agree(*formula, *shown, stored))
        FAIL_CHECK("evaluates to ", static_cast<double>(formula->value), " instead of ", stored, ": ", place);
}

void check_words(const Trace& trace, const Explanation& e, const std::string& place) {
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty())
        FAIL_CHECK("a part is missing: ", place);
    if (!e.why.empty() && e.why.back() != '.') FAIL_CHECK("not a sentence: ", place);
    const auto code = lesson_of(trace).code(trace.problem());
    if (e.code_line < 0 || e.code_line >= static_cast<int>(code.size()))
        FAIL_CHECK("no such line of pseudocode: ", place);
    for (const std::string& text : {e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", " inf", "-0", "−0 ", "−−", "+ −", "  ."})
            if (text.find(bad) != std::string::npos) FAIL_CHECK("'", bad, "' in: ", place);
}

void check_sources(const Trace& trace, int k, const Explanation& e, const std::string& place) {
    std::set<Slot> read;
    for (const Access& a : trace.reads(k)) read.insert(a.slot);
    for (const CellRef& source : e.sources)
        if (!read.count(source.slot) || !holding(trace, source, k))
            FAIL_CHECK("a source that the step did not read, ", info(source.slot).name, ": ", place);
}

bool moves_only(Op op) {
    return op == Op::load_q || op == Op::load_kv || op == Op::load_state || op == Op::load ||
           op == Op::load_x;
}

void check_cell(const Trace& trace, int k, std::optional<CellRef> cell) {
    const Explanation e = explain(trace, k, cell);
    const std::string place = where(trace, k, e);
    if (cell && e.target != *cell) FAIL_CHECK("it speaks of another cell: ", place);
    check_words(trace, e, place);
    check_sources(trace, k, e, place);
    if (trace.writes(k).empty() || moves_only(trace.step(k).op) || e.result.empty()) return;
    double stored = NAN;
    for (const Access& a : trace.writes(k))
        if (a.slot == e.target.slot && trace.value(a.value).region.contains(e.target.row, e.target.col))
            stored = value_at(trace.value(a.value), e.target);
    // A store speaks of the bytes that leave, not of a cell.
    if (e.result.front().text.starts_with("bytes")) stored = std::stod(e.result.back().text);
    check_arithmetic(e.numbers, e.result, stored, place);
    // What stands beside the step is in no slot; its numbers must give what it shows.
    for (const Aside& aside : e.asides)
        if (!aside.result.empty() && read_number(aside.result.back().text))
            check_arithmetic(aside.numbers, aside.result, NAN, place);
}

void check_explanations(const Trace& trace) {
    for (int k = 0; k < trace.size(); ++k) {
        check_cell(trace, k, {});
        for (const Access& a : trace.writes(k)) {
            const Region& region = trace.value(a.value).region;
            for (int r = region.row; r < region.row + region.rows; ++r)
                for (int c = region.col; c < region.col + region.cols; ++c)
                    check_cell(trace, k, CellRef{a.slot, r, c});
        }
    }
}

// ---- Any way to step k shows the same state: a cursor is all there is, so its moves must be each other's
// inverse.

void check_moves(const Trace& trace) {
    for (Level level : {Level::micro, Level::step, Level::tile, Level::block}) {
        Cursor at = first(trace);
        int presses = 0;
        while (!at_end(trace, at)) {
            const Cursor next = forward(trace, at, level);
            if (next == at || ++presses > 1000000) {
                FAIL_CHECK(trace.lesson(), " does not reach its end");
                break;
            }
            at = next;
        }
        while (at != first(trace) && presses-- > -10) at = backward(trace, at, level);
        CHECK(at.step == 0);
    }
}

void check_everything(const Lesson& lesson, const Problem& p, bool explanations = true) {
    REQUIRE_MESSAGE(!refuse(lesson, p), *refuse(lesson, p));
    const auto trace = lesson.build(p);
    REQUIRE(trace->lesson() == std::string(lesson.id));
    check_state(*trace);
    check_traffic(*trace);
    check_moves(*trace);
    if (explanations) check_explanations(*trace);
}

// A problem with everything that a lesson may look at.
Problem drawn(Random& random, int largest) {
    Problem p;
    do {
        p = any_problem(random, largest);
        p.options.row = pick(random, 0, p.N() - 1);
        p.options.notation = static_cast<Notation>(pick(random, 0, 2));
        p.options.normalised = pick(random, 0, 1) == 0;
        p.options.order = static_cast<BackwardOrder>(pick(random, 0, 1));
        p.options.learning_rate = choose(random, {0.1, 0.01, 1, -0.5, 0});
        if (pick(random, 0, 2) == 0)
            for (int n = 0; n < std::max(p.N(), p.N_kv()); ++n) p.tokens.push_back("w" + std::to_string(n));
    } while (validate(p) || validate_gradients(p) || validate_update(p));
    return p;
}

}  // namespace

TEST_SUITE_BEGIN("every lesson keeps the contract");

TEST_CASE("worked example and its masks") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.id);
        for (int mask = 0; mask < 3; ++mask) {
            Problem p = worked_example();
            p.causal = mask > 0;
            if (mask == 2) p.window = 1;
            check_everything(lesson, p);
        }
    }
}

TEST_CASE("random problems") {
    Random random(20);
    for (int n = 0; n < 60; ++n) {
        const Problem p = drawn(random, 6);
        for (const Lesson& lesson : lessons()) check_everything(lesson, p);
    }
}

TEST_CASE("many random problems, without their explanations") {
    Random random(21);
    for (int n = 0; n < 500; ++n) {
        const Problem p = drawn(random, 9);
        for (const Lesson& lesson : lessons()) check_everything(lesson, p, false);
    }
}

TEST_CASE("with every switch and number format") {
    Random random(22);
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.id);
        for (const Fault& fault : lesson.faults)
            for (int n = 0; n < 8; ++n) {
                Problem p = drawn(random, 5);
                if (n < 2) p = worked_example(), p.causal = n == 1;
                p.switches.*fault.on = true;
                if (n > 5)
                    p.switches.*lesson.faults[static_cast<std::size_t>(n) % lesson.faults.size()].on = true;
                check_everything(lesson, p);
            }
        if (lesson.faults.empty()) continue;
        int walked = 0;
        for (const Format format : formats())
            for (int n = 0; n < 5; ++n) {
                Problem p = n == 0 ? worked_example() : drawn(random, 4);
                p.precision = {format, format, format, format, format, format};
                if (n % 2 == 1)
                    p.precision.scores = p.precision.softmax = p.precision.accumulator = Format::fp32;
                if (refuse(lesson, p)) continue;  // scores without ∞ cannot be masked
                ++walked;
                check_everything(lesson, p);
            }
        CHECK(walked > 20);
    }
}

TEST_SUITE_END();
