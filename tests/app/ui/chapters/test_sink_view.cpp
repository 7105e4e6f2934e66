// A sink is drawn where it acts: in HBM, beside the scores of the part that it counts in, in the line of
// code.
#include "app/ui/parts/pseudocode.h"
#include "app/ui/state/state.h"
#include "core/problem/heads.h"
#include "tests/app/ui/layout_check.h"
#include "tests/core/steps.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

constexpr Screen screens[] = {{1024, 640}, {1280, 720}, {1600, 900}};

Problem with_sink(const char* name) {
    Problem p = example(name);
    p.logits.sink = 1.25;
    return p;
}

bool reads_sink(const Trace& trace, int k) {
    return std::ranges::any_of(trace.reads(k), [](const Access& a) { return a.slot == Slot::sink; });
}

int first_with_sink(const Trace& trace) {
    int k = 0;
    while (!reads_sink(trace, k)) ++k;
    return k;
}

bool shows_in(const Program& program, const char* panel, const char* words) {
    return std::ranges::any_of(program.items(), [&](const Item& item) {
        return item.kind == ItemKind::text && item.panel == panel &&
               item.text.find(words) != std::string::npos;
    });
}

}  // namespace

TEST_SUITE("sink") {
    TEST_CASE("lessons with an HBM panel, and a ring, show the sink in it, and its gradient") {
        for (const Screen screen : screens)
            for (const char* lesson : {"flash-forward", "flash-forward-v1", "flash-backward", "split-kv",
                                       "cascade", "ring", "ring-backward"}) {
                Program program(with_sink("gradients-4x4"), screen);
                program.show_lesson(lesson);
                const Trace& trace = *program.state.trace;
                program.go_to_step(first_with_sink(trace), 2);
                INFO(program.where());
                // Where there is no room for both, the step that makes the gradient has that alone.
                const bool narrow =
                    screen.width < 1600 && trace.step(program.state.cursor.step).op == Op::sink_gradient;
                CHECK(program.look_for(cell_name({narrow ? Slot::dsink : Slot::sink, 0, 0})));
                check_frame(program);
                if (trace.tiles(Slot::dsink) == 0) continue;
                program.go_to_step(steps_of(trace, Op::sink_gradient).back(), 2);
                CHECK(program.look_for(cell_name({Slot::dsink, 0, 0})));
                check_frame(program);
            }
        Program program(example("gradients-4x4"));
        CHECK_FALSE(program.shows("sink"));
    }

    TEST_CASE("in a row that is merged the sink has a place before its keys, in the first part alone") {
        for (const Screen screen : screens)
            for (const PartForm form : {PartForm::sums, PartForm::normalised})
                for (const std::vector<int>& splits : {std::vector{2, 2}, {0, 2, 2}}) {
                    Problem p = with_sink("worked-4x4");
                    p.options.splits = splits, p.options.parts = form;
                    Program program(p, screen);
                    program.show_lesson("merge");
                    for (int k = 0; k < program.state.trace->size(); ++k) {
                        program.go_to_step(k, 2);
                        check_frame(program);
                        CHECK(program.look_for("1.25", "Parts"));
                        CHECK_FALSE(program.shows("A empty"));
                    }
                    program.go_to_step(0, 2);
                    CHECK(shows_in(program, "Lens", "sink"));
                    CHECK_FALSE(program.shows("No keys"));
                    program.go_to_step(1, 2);
                    CHECK_FALSE(shows_in(program, "Lens", "sink"));
                }
    }

    TEST_CASE("on stage a step that reads the sink has it, and a panel that draws its weights") {
        for (const char* lesson :
             {"attention", "flash-forward", "merge", "split-kv", "cascade", "ring", "ring-backward"}) {
            Program program(with_sink("gradients-4x4"), {1600, 900}, true);
            program.show_lesson(lesson);
            program.go_to_step(first_with_sink(*program.state.trace), 2);
            INFO(program.where());
            CHECK((program.look_for(cell_name({Slot::sink, 0, 0})) || program.look_for("1.25")));
            check_frame(program);
        }
    }

    TEST_CASE("the line of code that a sink is in is there to its end") {
        for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}})
            for (const Lesson& lesson : lessons()) {
                if (!lesson.uses(takes_sink)) continue;
                for (const PartForm form : {PartForm::sums, PartForm::normalised}) {
                    Problem p = with_sink("gradients-4x4");
                    p.options.parts = form;
                    Program program(p, screen);
                    program.show_lesson(lesson.id);
                    const Trace& trace = *program.state.trace;
                    for (int k = 0; k < trace.size(); ++k) {
                        if (!reads_sink(trace, k)) continue;
                        program.go_to_step(k, 2);
                        INFO(program.where());
                        for (const ui::ShownCode& code : ui::shown_code(lesson, trace.problem())) {
                            if (code.line != program.state.explanation.code_line) continue;
                            for (const Item& item : program.items())
                                if (item.text.starts_with(code.text.substr(0, 8)) && item.text.ends_with("…"))
                                    FAIL_CHECK(code.text);
                            if (screen.width == 1600) CHECK_MESSAGE(program.look_for(code.text), code.text);
                        }
                    }
                }
            }
    }
}

TEST_CASE("why the tree matters is on the page of merging at the usual sizes, in both forms") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}})
        for (const PartForm form : {PartForm::sums, PartForm::normalised}) {
            Problem p = example("worked-4x4");
            p.options.parts = form;
            Program program(p, screen);
            program.show_lesson("merge");
            program.frame(2);
            CHECK(program.shows("batch"));
            check_frame(program);
        }
}

TEST_CASE("two trees of normalised parts hold and compare L and O") {
    Problem p = example("worked-4x4");
    p.options.parts = PartForm::normalised;
    Program program(p, {1920, 1080});
    program.show_lesson("merge");
    program.frame(2);
    CHECK(program.look_for("2.494", "Trees"));  // L of the whole
    CHECK(program.look_for("7.204", "Trees"));  // O, divided
    CHECK_FALSE(program.look_for("1.639", "Trees"));
    p.options.parts = PartForm::sums;
    Program sums(p, {1920, 1080});
    sums.show_lesson("merge");
    sums.frame(2);
    CHECK(sums.look_for("1.639", "Trees"));
}

TEST_CASE("all lanes of a ring of four are on the timeline at the usual sizes") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}}) {
        Problem p = example("causal-8");
        p.options.ranks = 4;
        Program program(p, screen);
        program.show_lesson("ring");
        program.go_to_step(20, 2);
        for (const char* lane : {"Rank 0", "Rank 1", "Rank 2", "Rank 3"})
            CHECK_MESSAGE((program.look_for(lane, "Timeline") ||
                           program.look_for("R" + std::string(lane).substr(5), "Timeline")),
                          lane);
        check_frame(program);
    }
}

TEST_CASE("with other heads at work no worker is called idle") {
    Problem p = random_with_tiles(16, 4, 2, 2);
    p.options.workers = 4;
    for (const int heads : {1, 8}) {
        if (heads > 1) give_heads(p, heads, 2);
        Program program(p);
        program.show_lesson("split-kv");
        program.frame(2);
        CHECK(program.shows("one row of work") == (heads == 1));
        CHECK(program.shows("busy with other heads") == (heads == 8));
    }
}

TEST_CASE("a part that is NaN among sound ones has its numbers on the page") {
    Problem p = example("worked-4x4");
    p.scale = {Scale::Kind::number, 400};
    p.switches.no_max = true, p.options.parts = PartForm::normalised;
    for (const bool presenter : {false, true}) {
        Program program(p, {1600, 900}, presenter);
        program.show_lesson("merge");
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            check_frame(program);
        }
        CHECK(program.shows("NaN"));
    }
}
