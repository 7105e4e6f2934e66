// From lesson to lesson: tabs, keys, what is kept, and what a saved file brings back.
#include "app/ui/state/chapters.h"
#include "app/ui/state/inputs.h"
#include "app/ui/state/state.h"
#include "core/lessons/dense/dense.h"
#include "tests/app/ui/harness.h"
#include "tests/part.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tilewalk::test;

TEST_CASE("every lesson has its place in one chapter") {
    std::set<std::string> seen;
    for (const Chapter& chapter : chapters())
        for (const Lesson* lesson : chapter.lessons) {
            CHECK(find_lesson(lesson->id) == lesson);
            CHECK(seen.insert(lesson->id).second);
        }
    CHECK(seen.size() == lessons().size());
}

TEST_CASE("N goes through all lessons and the pages without a walk, Shift N back") {
    Program program;
    const Lesson* start = program.state.lesson;
    std::set<std::string> seen;
    for (std::size_t n = 0; n < lessons().size() + 4; ++n) {
        const Page page = program.state.page;
        seen.insert(page == Page::walk ? program.state.lesson->id : std::to_string(static_cast<int>(page)));
        program.state.keys.push_back({Key::tab, false, true});
        program.frame(2);
    }
    CHECK(seen.size() == lessons().size() + 4);
    CHECK(program.state.lesson == start);
    program.state.keys.push_back({Key::tab, true, true});
    program.frame(2);
    CHECK(program.state.lesson->id == std::string("softmax-1pass"));
}

TEST_CASE("who comes to gradients with the worked example as it is finds a dO without rows of zeros") {
    for (const char* key : {"4", "5", "0 4"}) {
        Program program;
        program.press(key);
        program.settle();
        const Problem& shown = *program.state.problem;
        CHECK(shown.name == "gradients-4x4");
        CHECK(shown.Q == example("worked-4x4").Q);
        REQUIRE(shown.dO);
        for (int r = 0; r < shown.N(); ++r) CHECK(shown.dO->row(r).cwiseAbs().maxCoeff() > 0);
        // The other one is chosen there like any example.
        for (std::size_t n = 0; n < program.state.examples.size(); ++n)
            if (program.state.examples[n].name == ui::worked_example)
                choose_example(program.state, static_cast<int>(n));
        program.settle();
        program.press(key);
        CHECK(program.state.problem->name == ui::worked_example);
    }
    const Problem own = random_with_tiles(6, 4, 2, 2),
                  broken = with(example("worked-4x4"), &Switches::no_lse);
    for (const Problem& problem : {own, broken}) {
        Program program(problem);
        program.press("4");
        program.settle();
        CHECK(program.state.problem->name == problem.name);
        CHECK(program.state.problem->switches == problem.switches);
    }
}

TEST_CASE("chapters beside the current one keep their names where not all have room") {
    Program program(example("worked-4x4"), {1600, 900});
    program.show_lesson("softmax-1pass");
    program.frame(2);
    program.check_shows({"1  Attention", "2  Online softmax", "3  Forward", program.state.problem->title});
}

TEST_CASE("a lesson is found at the step where it was left") {
    Program program;
    go_to(program.state, at_step(*program.state.trace, 16));
    set_lesson(program.state, *find_lesson("backward"));
    CHECK(program.state.cursor.step == 0);
    go_to(program.state, at_step(*program.state.trace, 3));
    set_lesson(program.state, *find_lesson("flash-forward"));
    CHECK(program.state.cursor.step == 16);
    set_lesson(program.state, *find_lesson("backward"));
    CHECK(program.state.cursor.step == 3);
}

TEST_CASE("every lesson draws every step, in every form") {
    Part part("TILEWALK_LAYOUT", 3);
    for (const Lesson& lesson : lessons())
        for (const char* name : {"worked-4x4", "ragged-7x5", "fully-masked-row"}) {
            if (refuse(lesson, example(name))) continue;
            Program program(example(name), {1280, 720});
            set_lesson(program.state, lesson);
            for (int k = 0; k < program.state.trace->size(); k += 3) {
                if (!part.takes()) continue;
                go_to(program.state, at_step(*program.state.trace, k));
                program.state.presenter = k % 2 == 1;
                program.frame_unlisted();
            }
            CHECK(program.state.lesson == &lesson);
        }
}

TEST_CASE("every step of a lane has a column of its own, and the lanes are as wide as their steps need") {
    for (const Lesson& lesson : lessons())
        for (const char* name : {"worked-4x4", "causal-8", "window-12"}) {
            if (refuse(lesson, example(name))) continue;
            const auto trace = walk_of(lesson, example(name));
            const TimelineGrid grid = timeline_grid(*trace);
            int longest = 0, end = 0;  // the most columns that a lane takes, and where the last one ends
            for (int lane = 0; lane < grid.count(); ++lane) {
                std::set<int> taken, beneath;  // a message runs beside the work of its lane
                for (int k = grid.begin(lane); k < grid.end(lane); ++k) {
                    end = std::max(end, grid.column_of(k) + grid.width_of(k));
                    const bool message = grid.timed && grid.beneath[static_cast<std::size_t>(k)];
                    for (int column = 0; column < grid.width_of(k); ++column) {
                        CHECK(grid.column_of(k) + column < grid.columns);
                        CHECK_MESSAGE((message ? beneath : taken).insert(grid.column_of(k) + column).second,
                                      lesson.id, ", step ", k);
                    }
                }
                longest = std::max(longest, static_cast<int>(taken.size()));
            }
            // The grid is no wider than its longest lane, with what comes last in any lane. Where columns are
            // ticks, lanes wait for each other, and the last step of all ends it. Sequences have keys of
            // their own, in columns of their own.
            if (name == std::string("worked-4x4") && !lesson.uses(chooses_sequences))
                CHECK_MESSAGE(grid.columns <= (grid.timed ? end : longest + grid.finish), lesson.id);
        }
}

TEST_CASE("a saved walk comes back where it stood") {
    Program program;
    set_lesson(program.state, *find_lesson("flash-backward"));
    go_to(program.state, at_step(*program.state.trace, 28));
    choose_row(program.state, 1);
    show_side(program.state, true, false);
    const SavedView view = view_of(program.state);
    CHECK(view == SavedView{"flash-backward", 29, 1, false, "problem"});
    Program other;
    restore_view(other.state, view);
    CHECK(other.state.lesson->id == std::string("flash-backward"));
    CHECK(other.state.cursor.step == 28);
    CHECK(other.state.row == 1);
    CHECK(other.state.show_problem);
    restore_view(other.state, {"flash-backward", 9999, 77, false, ""});
    CHECK(other.state.cursor.step == other.state.trace->size() - 1);
    const int rows = step_region(*other.state.trace, other.state.cursor.step).rows;
    CHECK(rows < other.state.problem->N());
    CHECK(other.state.row == rows - 1);
    other.frame();
    restore_view(other.state, {"no-such-lesson", 1, 0, false, ""});
    CHECK(contains(other.state.notice, "no-such-lesson"));
    CHECK(other.state.lesson->id == std::string("flash-backward"));
}

TEST_CASE("dO, X and the weights change what is made from them") {
    Problem p = example("worked-4x4");
    CHECK(set_input(training_step, p, {Slot::dO, 1, 2}, 5));
    CHECK((*p.dO)(1, 2) == 5);
    CHECK(set_input(training_step, p, {Slot::W_Q, 0, 0}, 7));
    CHECK(p.Q(0, 0) == 7);
    CHECK_FALSE(p.projection);
    CHECK(set_input(training_step, p, {Slot::X, 0, 1}, 2));
    REQUIRE(p.projection);
    CHECK(p.Q == p.projection->X * p.projection->W_Q);
    CHECK(p.Q(0, 0) == 7 + 2 * p.projection->W_Q(1, 0));
    const auto refused = set_input(training_step, p, {Slot::K, 0, 0}, 1);
    CHECK_FALSE(refused);
    CHECK(refused.error.find("W_K") != std::string::npos);
    CHECK(set_input(training_step, p, {Slot::W_K, 2, 2}, -1));
    CHECK(p.K == p.projection->X * p.projection->W_K);
    CHECK_FALSE(validate(p));
}

TEST_CASE("where queries and keys are different tokens there is no X to change") {
    Problem p = example("ragged-7x5");
    if (p.N() != p.N_kv()) {
        const Problem before = p;
        CHECK_FALSE(set_input(training_step, p, {Slot::X, 0, 0}, 2));
        CHECK(p.Q == before.Q);
    }
    CHECK(input(training_step, p, Slot::W_V) == p.V);
    CHECK_FALSE(input_of(Slot::S));
    CHECK(input_of(Slot::dOi) == Slot::dO);
}

TEST_CASE("an edit of dO in the backward lesson is one step of undo") {
    Program program;
    set_lesson(program.state, *find_lesson("backward"));
    const double before = program.state.trace->result(Slot::dV)(0, 0);
    set_element(program.state, {Slot::dO, 0, 0}, 3);
    CHECK(program.state.trace->result(Slot::dV)(0, 0) != before);
    undo(program.state);
    CHECK(program.state.trace->result(Slot::dV)(0, 0) == before);
    redo(program.state);
    CHECK(program.state.trace->result(Slot::dV)(0, 0) != before);
}

TEST_CASE("a chapter that begins with an example of its own says so, and Ctrl Z has the one that was left") {
    for (const Key key : {Key::four, Key::five}) {
        Program program;
        program.go_to_step(2);
        program.press(key);
        CHECK(program.state.problem->name == "gradients-4x4");
        CHECK(program.shows("4 × 4, every gradient"));
        CHECK(program.shows("Ctrl Z leads back"));
        program.press("ctrl+z");
        CHECK(program.state.problem->name == "worked-4x4");
        CHECK(program.state.lesson == find_lesson("flash-forward"));
        CHECK(program.step() == 2);
    }
}
