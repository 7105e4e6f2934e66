// Breakpoints, bookmarks, noteworthy steps, and the matrices before a step.
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

std::vector<int> rises(const Trace& trace) {
    std::vector<int> out = steps_of(trace, Op::new_max);
    std::erase_if(out, [&](int k) { return !maximum_rises(trace, k); });
    return out;
}

// Plays until it stops by itself.
void play(Program& program) {
    program.press(Key::space);
    for (int n = 0; n < 4000 && program.state.player.playing; ++n) program.frame(1, .2f);
    CHECK_FALSE(program.state.player.playing);
}

}  // namespace

TEST_SUITE("marks") {
    TEST_CASE("N stops where a maximum rises and says so, Shift N goes back") {
        Program program(example("max-rises-late"));
        const Trace& trace = *program.state.trace;
        std::vector<int> seen;
        for (int n = 0; n < 100; ++n) {
            const int before = program.step();
            program.press(Key::n);
            if (program.step() == before) break;
            seen.push_back(program.step());
            CHECK(program.state.notice.starts_with("Step " + std::to_string(program.step() + 1) +
                                                   ": the maximum of row "));
            // The row that the sentence names is the one whose formula is shown.
            const Explanation& e = program.state.explanation;
            CHECK(contains(program.state.notice, "row " + std::to_string(e.target.row) + " rises"));
        }
        CHECK(seen == rises(trace));
        CHECK(program.shows("Nothing noteworthy happens after this step."));
        program.press("shift+n");
        CHECK(program.step() == seen[seen.size() - 2]);
        program.press("home shift+n");
        CHECK(program.step() == 0);
    }

    TEST_CASE("the sentence has the numbers of the walk") {
        Program program(example("max-rises-late"));
        const Trace& trace = *program.state.trace;
        REQUIRE_FALSE(rises(trace).empty());
        for (int k : rises(trace)) {
            const Value &before = *trace.live(Slot::m, k - 1).value, &now = *trace.live(Slot::m, k).value;
            for (int r = 0; r < now.region.rows; ++r) {
                if (before.data(r, 0) == now.data(r, 0)) continue;
                const auto [from, to] = format_apart(before.data(r, 0), now.data(r, 0));
                CHECK(contains(noteworthy(program.state, k), "row " + std::to_string(now.region.row + r) +
                                                                 " rises from " + from + " to " + to));
                break;
            }
        }
    }

    TEST_CASE("in a broken walk the steps where it goes wrong are noteworthy, not all that follow") {
        Problem p = with(example("worked-4x4"), &Switches::no_correction);
        Program program(p);
        REQUIRE(program.state.comparison);
        int wrong = 0, noted = 0;
        for (int k = 0; k < program.state.trace->size(); ++k) {
            const bool differs = program.state.comparison->largest[static_cast<std::size_t>(k)] > 0;
            wrong += differs;
            const bool told = contains(noteworthy(program.state, k), " instead of ");
            noted += told;
            if (told) CHECK(differs);
        }
        CHECK(noted > 0);
        CHECK(noted < wrong);
        p.switches = {};
        p.switches.no_max = true;
        p.precision.softmax = Format::fp16;
        p.Q *= 40;
        program.show(p);
        bool lost = false;
        for (int k = 0; k < program.state.trace->size(); ++k)
            lost |= contains(noteworthy(program.state, k), " becomes ");
        CHECK(lost);
    }

    TEST_CASE("playing stops at a breakpoint on an op and says which, however fast") {
        for (const double speed : {4.0, 40.0}) {
            Program program;
            program.state.settings.speed = speed;
            program.go_to_step(3);
            const Op op = program.state.trace->step(3).op;
            program.press("f9 home");
            for (int stop = 0; stop < 4; ++stop) {
                const int before = program.step();
                play(program);
                int next = before + 1;
                while (program.state.trace->step(next).op != op) ++next;
                CHECK(program.step() == next);
                CHECK(program.state.notice ==
                      "Step " + std::to_string(next + 1) + ": breakpoint op == " + name(op) + ".");
            }
            play(program);
            CHECK(program.step() == program.state.trace->size() - 1);
            program.press(Key::f9);  // now on `store`
            CHECK(program.state.marks->breakpoints.size() == 2);
            program.press(Key::f9);
            CHECK(program.state.marks->breakpoints.size() == 1);
        }
    }

    TEST_CASE("a condition is typed into the card; a bad one is explained there") {
        Program program(example("max-rises-late"));
        program.press("shift+f9");
        program.frame(2);
        CHECK(program.shows("Names: i, j, step, op"));
        program.enter("alpha < <");
        CHECK(program.shows("column 9: expected a number or a name, found '<'"));
        CHECK(program.state.marks->breakpoints.empty());
        program.frame(2);  // the field has the caret again
        program.retype("alpha < 1 && i == 0");
        program.press(Key::enter);
        REQUIRE(program.state.marks->breakpoints.size() == 1);
        CHECK(program.shows("alpha < 1 && i == 0"));
        check_frame(program);
        program.press(Key::escape);  // leaves the field
        program.press(Key::escape);
        CHECK_FALSE(program.state.marks->card);
        const Trace& trace = *program.state.trace;
        const auto condition = parse_condition("alpha < 1 && i == 0");
        for (int k = 0; k < trace.size(); ++k) {
            CHECK(stops_at(program.state, k) == condition->holds(trace, k));
            CHECK(marks_of_step(program.state, k).breakpoint == condition->holds(trace, k));
        }
        program.press("shift+f9");
        program.frame(2);
        program.press("escape down");
        CHECK(program.state.marks->chosen == 0);
        program.press(Key::enter);  // back to the field
        program.frame(2);
        CHECK(program.state.marks->breakpoints.size() == 1);
        CHECK(program.state.marks->chosen == -1);
        program.press("escape down delete");
        CHECK(program.state.marks->breakpoints.empty());
    }

    TEST_CASE("a saved view brings breakpoints and bookmarks back, for its walk alone") {
        Program before;
        before.go_to_step(13);
        before.press("down shift+ctrl+4 f9");
        REQUIRE(add_condition(before.state, "P > 0.5"));
        const SavedView view = view_of(before.state);
        CHECK(view.breakpoints == std::vector<std::string>{"op == new_max", "P > 0.5"});
        CHECK(view.bookmarks == std::vector<SavedView::Bookmark>{{4, 14, 1}});

        Program after;
        restore_view(after.state, view);
        for (int k = 0; k < after.state.trace->size(); ++k)
            CHECK(stops_at(after.state, k) == stops_at(before.state, k));
        after.go_to_step(2);
        after.press("ctrl+4");
        CHECK(after.step() == 13);
        CHECK(after.state.row == 1);
        CHECK(view_of(after.state) == view);
        // Those of before are replaced, not added to.
        restore_view(after.state, view);
        CHECK(after.state.marks->breakpoints.size() == 2);
        after.show(example("causal-8"));
        CHECK(view_of(after.state).bookmarks.empty());
    }

    TEST_CASE("bookmarks belong to lesson and problem") {
        Program program;
        program.go_to_step(11);
        program.press(Key::down);
        const int row = program.state.row;
        program.press("shift+ctrl+3");
        CHECK(program.shows("Bookmark 3 is at step 12"));
        CHECK(marks_of_step(program.state, 11).bookmark == 3);
        CHECK(marks_of_step(program.state, 10).bookmark == 0);
        program.press("home ctrl+3");
        CHECK(program.step() == 11);
        CHECK(program.state.row == row);
        program.show_lesson("attention");
        CHECK(marks_of_step(program.state, 11).bookmark == 0);
        program.press("ctrl+3");
        CHECK(program.shows("There is no bookmark 3 in this walk"));
        program.show_lesson("flash-forward");
        CHECK(marks_of_step(program.state, 11).bookmark == 3);
        set_element(program.state, {Slot::Q, 0, 0}, .5);  // the same steps
        program.settle();
        CHECK(marks_of_step(program.state, 11).bookmark == 3);
        program.show(example("causal-8"));
        CHECK(marks_of_step(program.state, 11).bookmark == 0);
    }

    TEST_CASE("B shows what the slots held before the step, and the next step is seen as it is") {
        Program program;
        const Trace& trace = *program.state.trace;
        const int k = steps_of(trace, Op::output).back();
        program.go_to_step(k);
        const Value &before = *trace.live(Slot::Oi, k - 1).value, &after = *trace.live(Slot::Oi, k).value;
        const MatrixDigits& all = program.state.look[Slot::Oi].digits;
        const auto cell_says = [&](double v) { return program.shows(all.text(v)); };
        REQUIRE(before.data(0, 1) != after.data(0, 1));
        program.press(Key::b);
        CHECK(shows_before(program.state));
        CHECK(program.shows("before step " + std::to_string(k + 1)));
        CHECK(cell_says(before.data(0, 1)));
        check_frame(program);
        program.press(Key::b);
        CHECK_FALSE(shows_before(program.state));
        CHECK(cell_says(after.data(0, 1)));
        program.press("b left");
        CHECK_FALSE(shows_before(program.state));
        program.press(Key::right);
        CHECK(shows_before(program.state) == false);
    }
}
