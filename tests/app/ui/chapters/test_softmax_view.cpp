// The softmax lessons on screen: linked algorithms, options, derivation and proof; and the row over the
// tiles.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/layout_check.h"
#include "tests/core/lessons/softmax_problems.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

std::ptrdiff_t reads(const Trace& trace, int k) {
    return std::ranges::count_if(steps_of(trace, Op::load_x), [k](int step) { return step <= k; });
}

// The program in a lesson, at an op of element n.
struct Standing : Program {
    Standing(const char* lesson, Op op, int n) {
        show_lesson(lesson);
        go_to_step(softmax_step(*state.trace, op, n));
    }
};

Options options(const Program& program) { return program.state.problem->options; }

}  // namespace

TEST_SUITE("softmax view") {
    TEST_CASE("the other algorithms stand where they have read x as often") {
        const Problem p = example("worked-4x4");
        const std::shared_ptr<const Trace> traces[] = {softmax_1pass(p), softmax_2pass(p), softmax_3pass(p)};
        for (const auto& here : traces)
            for (const auto& there : traces)
                for (int k = 0; k < here->size(); ++k) {
                    const int linked = linked_step(*here, k, *there);
                    REQUIRE(linked >= 0);
                    REQUIRE(linked < there->size());
                    const std::ptrdiff_t all = reads(*there, there->size() - 1);
                    CHECK(reads(*there, linked) == std::min(reads(*here, k), all));
                    if (reads(*here, k) > all) CHECK(linked == there->size() - 1);
                }
        // The picture: after three reads three passes know m, two know m and d′, one knows all.
        const int k = softmax_step(*traces[0], Op::output, 3);
        CHECK(traces[1]->step(linked_step(*traces[0], k, *traces[1])).op == Op::row_sum);
        CHECK(traces[2]->step(linked_step(*traces[0], k, *traces[2])).op == Op::new_max);
        CHECK(traces[1]->step(linked_step(*traces[0], k - 3, *traces[1])).op == Op::correction);
    }
    TEST_CASE("the figures of the picture, at element 2 of row 0") {
        Standing program("softmax-1pass", Op::output, 3);
        program.check_shows({"Three passes", "Two passes", "One pass", "Known after 3 reads", "1.503",
                             "6.682", "pass 2", "pass 3", "reads of"});
        CHECK(program.look_for("6.682", "One pass") != nullptr);
        CHECK(program.look_for("1.503", "Two passes") != nullptr);
        CHECK(program.look_for("1.503", "Three passes") == nullptr);
        CHECK(program.shows("12 reads of"));
    }
    TEST_CASE("notation, form and row are part of the problem and can be undone") {
        Program program;
        program.show_lesson("softmax-1pass");
        const std::string before = plain(program.state.explanation.formula);
        CHECK(contains(before, "O"));
        program.click("notation/m d′ o′", "Running values");
        CHECK(options(program).notation == Notation::d_o);
        program.click("form/at the end", "One pass");
        CHECK_FALSE(options(program).normalised);
        program.click("softmax row/more", "Row");
        CHECK(options(program).row == 1);
        CHECK(program.state.trace->live(Slot::m, 0).value->region.row == 1);
        for (int n = 0; n < 3; ++n) undo(program.state);
        program.frame(2);
        CHECK(options(program) == Options{});
        CHECK(plain(program.state.explanation.formula) == before);
    }
    TEST_CASE("a click on another algorithm walks on in it, at the place that was shown") {
        Standing program("softmax-1pass", Op::row_sum, 2);
        program.click("softmax-2pass", "Two passes");
        program.settle();
        CHECK(std::string(program.state.lesson->id) == "softmax-2pass");
        CHECK(program.state.trace->step(program.step()).op == Op::row_sum);
        CHECK(program.state.trace->step(program.step()).j == 1);
    }
    TEST_CASE("derivation and proof by keyboard, the cut by mouse") {
        Standing program("softmax-2pass", Op::row_sum, 3);
        program.press(Key::e);
        program.frame();
        program.check_shows({"The sum waits for the maximum", "at element 2"});
        program.press("e e");
        program.frame();
        CHECK(program.state.softmax.line == 2);
        CHECK(program.shows("1.503"));
        program.press(Key::s);
        program.frame();
        CHECK(program.state.softmax.tab == SoftmaxPage::proof);
        CHECK(program.state.softmax.split == 2);
        for (int n = 0; n < 9; ++n) program.press(Key::s);
        program.frame();
        CHECK(program.state.softmax.split == 4);
        for (int n = 0; n < 9; ++n) program.press({Key::s, true});
        program.frame();
        CHECK(program.state.softmax.split == 0);
        const Item cut = program.find("cut", "Running values");
        program.click_at(cut.min.x + (cut.max.x - cut.min.x) * .75f, (cut.min.y + cut.max.y) / 2);
        CHECK(program.state.softmax.split == 3);
    }
    TEST_CASE("the formula and the plots speak of one column") {
        Standing program("softmax-1pass", Op::output, 3);
        program.click("component/more", "Running values");
        CHECK(program.state.softmax.component == 1);
        CHECK(program.state.explanation.target.col == 1);
        program.press("shift+down");
        program.frame(2);
        CHECK(program.state.softmax.component == 2);
        program.press(Key::home);
        program.frame(2);
        CHECK(program.state.softmax.component == 2);
    }
    TEST_CASE("the lens of the forward pass shows the row over the tiles, skipped tiles included") {
        Program program(example("causal-8"));
        program.go_to_step(program.state.trace->size() - 3);
        program.click("lens/Row over tiles", "Lens");
        CHECK(program.state.row_over_tiles);
        CHECK(program.shows("One row over the tiles"));
        program.go_to_step(12);
        CHECK(program.shows("skipped"));
    }
    TEST_CASE("every size, tab and theme keeps its texts in place") {
        for (const Screen screen : {Screen{1024, 640, 1}, Screen{1280, 720, 1}, Screen{1600, 900, 1},
                                    Screen{1920, 1080, 1}, Screen{2560, 1440, 1}})
            for (const char* lesson : {"softmax-3pass", "softmax-2pass", "softmax-1pass"})
                for (const char* name : {"worked-4x4", "causal-8", "fully-masked-row", "large-logits"})
                    for (bool presenter : {false, true}) {
                        if (presenter && screen.width != 1280) continue;
                        Program program(example(name), screen, presenter);
                        program.show_lesson(lesson);
                        const int steps = program.state.trace->size();
                        for (int k : {0, 1, 5, steps / 2, steps - 1})
                            for (int tab = 0; tab < (presenter ? 1 : 3); ++tab) {
                                program.state.softmax.tab = tab;
                                program.go_to_step(std::min(k, steps - 1));
                                check_frame(program, "tab " + std::to_string(tab));
                            }
                    }
    }
    TEST_CASE("on stage a line of the derivation or the proof stands there whole") {
        for (const char* name : {"worked-4x4", "causal-8", "large-logits"}) {
            Program program(example(name), {1280, 720}, true);
            program.show_lesson("softmax-1pass");
            for (const int k : steps_of(*program.state.trace, Op::output))
                for (const int tab : {SoftmaxPage::derivation, SoftmaxPage::proof})
                    for (int line = 0; line < (tab == SoftmaxPage::proof ? 8 : 6); ++line) {
                        program.state.softmax.tab = tab, program.state.softmax.line = line;
                        program.go_to_step(k, 2);
                        const std::string place = std::to_string(line + 1) + " of ";
                        CHECK(program.look_for(place + (tab == SoftmaxPage::proof ? "8" : "6"), "Lens"));
                        check_frame(program, place);
                        for (const std::string& text : shortened_texts(program))
                            FAIL_CHECK(program.where(), ", ", place, ": ", text);
                    }
        }
    }
    TEST_CASE("where all sums are endless the axis has no numbers but 0") {
        Program program(example("large-logits"), {1280, 720}, true);
        program.show_lesson("softmax-dense");
        program.go_to_step(steps_of(*program.state.trace, Op::row_sum)[2], 2);
        CHECK(program.shows("∞"));
        CHECK_FALSE(program.look_for("1.0"));
        CHECK_FALSE(program.look_for("0.5"));
        program.show(example("worked-4x4"));
        program.go_to_step(steps_of(*program.state.trace, Op::row_sum)[2], 2);
        CHECK(program.look_for("0"));
        CHECK_FALSE(program.shows("∞"));
    }

    TEST_CASE("a long row draws in every tab") {
        Program program(random_with_tiles(64, 8, 8, 8));
        for (const char* lesson : {"softmax-3pass", "softmax-1pass"}) {
            program.show_lesson(lesson);
            for (int tab = 0; tab < 3; ++tab) {
                program.state.softmax.tab = tab;
                for (int k : {0, program.state.trace->size() / 2, program.state.trace->size() - 1}) {
                    program.go_to_step(k);
                    check_frame(program, "tab " + std::to_string(tab));
                }
            }
        }
    }
}
