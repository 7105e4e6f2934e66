// Broken on purpose, on screen: the panel, its keys, the marks, the way through the differences, and back.
#include "app/ui/state/state.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"
#include "core/walk/compare.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem broken_example(bool Switches::*fault) { return with(example("worked-4x4"), fault); }

// Pixels of the picture that differ between two states of the program.
int changed_pixels(const Image& a, const Image& b) {
    int count = 0;
    for (std::size_t n = 0; n + 3 < a.rgba.size(); n += 4)
        count += a.rgba[n] != b.rgba[n] || a.rgba[n + 1] != b.rgba[n + 1] || a.rgba[n + 2] != b.rgba[n + 2];
    return count;
}

}  // namespace

TEST_CASE("X opens the panel, X and Escape close it") {
    Program program;
    CHECK_FALSE(program.shows("Leave the maximum out"));
    program.press(Key::x);
    program.check_shows({"Leave the maximum out", "Nothing is broken."});
    program.press(Key::i);  // the problem takes its place
    CHECK_FALSE(program.state.show_break);
    program.press("x x");
    CHECK_FALSE(program.state.show_break);
    program.press("x escape");
    CHECK_FALSE(program.state.show_break);
}

TEST_CASE("a toggle breaks the walk, can be undone, and Reset mends it") {
    Program program;
    const auto whole = program.state.trace;
    program.go_to_step(16);
    program.press(Key::x);
    program.click("no_correction");
    CHECK(program.state.problem->switches.no_correction);
    CHECK(program.step() == 16);
    REQUIRE(program.state.truth);
    CHECK(program.state.truth->result(Slot::O) == whole->result(Slot::O));
    CHECK_FALSE(program.state.trace->result(Slot::O) == whole->result(Slot::O));
    program.check_shows({"Fault: correction left out", "ℓ[0] is 2.503"});
    program.press("ctrl+z");
    CHECK_FALSE(program.state.problem->broken());
    CHECK_FALSE(program.state.truth);
    CHECK_FALSE(program.shows("Fault: correction left out"));
    program.press("ctrl+y");
    CHECK(program.state.truth);
    program.click("reset faults");
    CHECK_FALSE(program.state.problem->broken());
    CHECK(program.state.trace->result(Slot::O) == whole->result(Slot::O));
}

TEST_CASE("the name of the fault stands in the panel of the tiles, not across its edge") {
    for (const Screen screen : all_screens) {
        Program program(broken_example(&Switches::no_correction), screen);
        program.go_to_step(16);
        const Item* const name = program.look_for("Fault: correction left out");
        const Item* const title = program.look_for("SRAM", "SRAM");
        REQUIRE((name && title));
        CHECK(std::abs(middle(*name).y - middle(*title).y) < 3);
        CHECK(name->min.x > title->max.x);
    }
}

TEST_CASE("it stands there beside the order of the loops, too") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}}) {
        Program program(broken_example(&Switches::no_lse), screen);
        program.show_lesson("flash-backward");
        program.go_to_step(11);
        const Item* const name = program.look_for("Fault: L left out");
        const Item* const title = program.look_for("SRAM", "SRAM");
        REQUIRE((name && title));
        CHECK(std::abs(middle(*name).y - middle(*title).y) < 3);
        check_frame(program, "a fault beside the order of the loops");
    }
}

TEST_CASE("the page names the fault and says what the number would be without it") {
    Program program(broken_example(&Switches::no_correction), {1280, 720});
    program.go_to_step(16);
    program.check_shows({"Fault: correction left out", "without the fault"});
    const double truth = *true_value(*program.state.truth, program.state.explanation.target, 16);
    program.check_shows({format_short(truth)});
    program.go_to_step(3);  // as in the true walk
    CHECK_FALSE(program.shows("without the fault"));
}

TEST_CASE("every fault of every lesson can be switched on by its toggle") {
    Program program;
    for (const Lesson& lesson : lessons()) {
        program.show_lesson(lesson.id);
        program.state.show_break = true;
        program.frame(2);
        if (lesson.faults().empty()) {
            CHECK(program.shows("This lesson has no switches"));
            continue;
        }
        for (const Fault& fault : lesson.faults()) {
            program.click(fault.name);
            CHECK(program.state.problem->switches.*fault.on);
            program.click(fault.name);
            CHECK_FALSE(program.state.problem->broken());
        }
    }
}

TEST_CASE("formats: a kernel's choice at once, or stage by stage") {
    Program program;
    program.press(Key::x);
    program.click("break tab/Formats");
    program.click("preset");
    program.click("fp16 kernel");
    CHECK(program.state.problem->precision.inputs == Format::fp16);
    CHECK(program.state.problem->precision.softmax == Format::fp32);
    program.check_shows({"fp16 kernel", "Rounded: "});
    CHECK_FALSE(program.shows("Fault: correction left out"));
    program.click("softmax");
    CHECK_FALSE(program.look_for("e4m3"));  // the maximum begins at −∞, which e4m3 does not have
    program.click("bf16");
    CHECK(program.state.problem->precision.softmax == Format::bf16);
    CHECK(program.shows("own choice"));
}

TEST_CASE("savings: lazy rescaling with its threshold, and the cubic") {
    Program program;
    program.press(Key::x);
    program.click("break tab/Savings");
    program.click("lazy");
    REQUIRE(program.state.problem->savings.lazy);
    CHECK(*program.state.problem->savings.lazy == 8);
    const auto told = [&](const char* words) { return contains(program.state.comparison->sentence, words); };
    program.check_shows({"Saving: lazy τ = 8"});
    CHECK(told("Of 2 rescalings of a row none is done"));
    program.click("lazy threshold");
    program.retype("0.5");
    program.press(Key::enter);
    program.settle();
    CHECK(program.state.problem->savings.lazy == 0.5);
    CHECK(told("Of 2 rescalings of a row 2 are done"));
    program.click("cubic");
    CHECK(program.state.problem->savings.cubic);
    program.check_shows({"Saving: lazy τ = 0.5, cubic"});
    CHECK(told("The cubic misses a weight by at most"));
    program.click("reset faults");
    CHECK_FALSE(program.state.problem->broken());
    // A lesson without them has no such tab, and opens the first one in its place.
    program.show_lesson("flash-backward");
    CHECK_FALSE(program.look_for("Savings", "Break it"));
}

TEST_CASE("D goes from difference to difference and chooses the cell; Shift D from NaN to NaN") {
    Program program(broken_example(&Switches::no_correction));
    program.press(Key::d);
    CHECK(program.state.trace->step(program.step()).op == Op::correction);
    CHECK(program.step() == 6);  // α of tile (0, 0), 1 instead of 0
    program.press(Key::d);
    CHECK(program.step() == 14);
    int last = 0;
    for (int n = 0; n < 60 && program.step() != last; ++n) {
        last = program.step();
        program.press(Key::d);
        CHECK(program.state.comparison->largest[static_cast<std::size_t>(program.step())] > 0);
    }
    CHECK(program.state.notice == "No later step differs from the true walk.");
    program.press("shift+d");
    CHECK(program.state.notice == "No later step makes NaN or ∞ of a number.");

    Program stale(broken_example(&Switches::stale_max));
    stale.press("shift+d");
    CHECK(stale.state.trace->step(stale.step()).op == Op::exponentials);
    CHECK(stale.state.explanation.target == CellRef{Slot::P, 0, 0});
    Program whole;
    whole.press(Key::d);
    CHECK(whole.state.notice == "Nothing is broken: every number of this walk is true.");
}

TEST_CASE("the panel tells the chosen cell, broken and true") {
    Program program(broken_example(&Switches::no_correction));
    program.state.show_break = true;
    program.go_to_step(16);
    CHECK(program.shows("ℓ[0] = 2.503, true 1.639, off by 0.865."));
    program.go_to_step(3);
    CHECK(program.shows("S[0,0] = 1, as in the true walk."));
}

TEST_CASE("cells that differ from the true walk are marked, and only those") {
    Program broken(broken_example(&Switches::no_correction));
    broken.mouse_away();
    for (int k : {3, 16}) {  // scores are right, ℓ is not
        broken.go_to_step(k);
        const Image marked = broken.picture();
        const auto truth = broken.state.truth;
        const auto comparison = broken.state.comparison;
        broken.state.truth = broken.state.trace;  // nothing differs from itself; the pill stays
        broken.frame(2);
        const int changed = changed_pixels(marked, broken.picture());
        CHECK_MESSAGE((changed > 0) == (k == 16), k, ": ", changed);
        broken.state.truth = truth;
    }
}

TEST_CASE("after an edit the cells that changed are outlined, until Escape or another problem") {
    Program program;
    program.go_to_step(16);
    program.edit_cell("Q[0,0]", "HBM", "3");
    REQUIRE(program.state.before_edit);
    CHECK(program.state.before_edit->problem().Q(0, 0) == 1);
    CHECK(program.shows("of 40 steps write other numbers than before the edit"));
    program.mouse_away();
    program.frame(2);
    const Image outlined = program.picture();
    program.press(Key::escape);
    CHECK_FALSE(program.state.before_edit);
    program.frame(2);
    CHECK(changed_pixels(outlined, program.picture()) > 100);
    const auto before = program.state.trace;
    set_element(program.state, {Slot::V, 2, 1}, -4);
    CHECK(program.state.before_edit == before);
    undo(program.state);
    CHECK_FALSE(program.state.before_edit);
    set_element(program.state, {Slot::V, 2, 1}, -4);
    choose_example(program.state, 1);
    CHECK_FALSE(program.state.before_edit);
    set_element(program.state, {Slot::V, 0, 0}, -4);
    set_lesson(program.state, *find_lesson("flash-forward-v1"));
    CHECK_FALSE(program.state.before_edit);
}

TEST_CASE("the hover card shows the true value beside the broken one") {
    Program program(broken_example(&Switches::no_division));
    program.go_to_step(18);
    program.hover("O[0,0]", "SRAM");
    program.frame(40);
    program.check_shows({"true: 7.2", "difference"});
}

TEST_CASE("a large walk is compared in the background as well") {
    Program program;
    program.show(with(random_with_tiles(64, 32, 8, 8), &Switches::no_max));
    REQUIRE(program.state.truth);
    REQUIRE(program.state.comparison);
    CHECK(program.state.comparison->differs());
    CHECK(program.shows("Fault: maximum left out"));
}

TEST_CASE("presenter mode names the fault, and the help explains the marks") {
    Program program(broken_example(&Switches::no_max), {1280, 720}, true);
    CHECK(program.shows("Fault from step"));  // it does not act yet
    CHECK_FALSE(program.shows("Fault: maximum left out"));
    program.go_to_step(18);
    CHECK(program.shows("Fault: maximum left out"));
    program.state.presenter = false;
    program.state.show_help = true;
    program.frame(2);
    program.check_shows({"differs from the true walk", "differs from before the edit"});
}

TEST_CASE("the panel fits at every size, whatever is broken") {
    for (const Screen& screen : all_screens)
        for (auto fault : {&Switches::no_max, &Switches::no_correction, &Switches::stale_max,
                           &Switches::wrong_mask_edge}) {
            Problem p = broken_example(fault);
            p.causal = fault == &Switches::wrong_mask_edge;
            Program program(p, screen);
            program.state.show_break = true;
            for (int tab = 0; tab < 4; ++tab)
                for (int k : {0, 7, 16}) {
                    program.state.break_tab = tab;
                    program.go_to_step(k);
                    check_frame(program, "tab " + std::to_string(tab));
                }
        }
}
