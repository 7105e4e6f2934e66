// The timeline: what it marks, zoom, overview, and the looped range.
#include "app/io/tour_file.h"
#include "app/ui/kit/vector_picture.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "tests/app/ui/layout_check.h"
#include "tests/good.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

// 544 steps: 8 key blocks, each with 8 query blocks.
void show_large_backward(Program& program) {
    program.show_lesson("flash-backward");
    program.show(random_with_tiles(64, 64, 8, 8));
    REQUIRE(program.state.trace->size() > 500);
}

bool loops(const Program& program, int first, int last) {
    return program.state.timeline.loop == StepRange{first, last};
}

// In the cells of presenter mode.
int symbols_on_stage(const Program& program) {
    int out = 0;
    for (const Item& item : program.items())
        out += item.kind == ItemKind::text && item.min.y > 630 && item.max.y < 695 && item.font_px >= 20;
    return out;
}

// Where a text stands over the cells of presenter mode; −1: nowhere.
float over_the_cells(const Program& program, const std::string& name) {
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && item.min.y > 570 && item.max.y < 645 && item.text == name)
            return item.min.x;
    return -1;
}

}  // namespace

TEST_SUITE("timeline") {

    TEST_CASE("playing goes round in the range, at every level, and comes into it from outside") {
        Program program;
        const Trace& trace = *program.state.trace;
        const StepRange loop{12, 19};
        Player player;
        player.playing = true;
        for (const Level level : {Level::micro, Level::step, Level::tile, Level::block}) {
            player.level = level;
            for (const int start : {0, 12, 19, 30, trace.size() - 1}) {
                Cursor at = at_step(trace, start);
                for (int n = 0; n < 60; ++n) {
                    at = advance(player, trace, at, 1, loop);
                    CHECK(loop.holds(at.step));
                }
                CHECK(player.playing);
            }
        }
        player.level = Level::step;
        CHECK(advance(player, trace, at_step(trace, 19), 1, loop) == at_step(trace, 12));
        CHECK(advance(player, trace, at_step(trace, 12), 1, loop) == at_step(trace, 13));
        // To the very end of the walk, and only one step.
        const int last = trace.size() - 1;
        CHECK(advance(player, trace, at_step(trace, last), 1, {30, last}).step == 30);
        CHECK(advance(player, trace, at_step(trace, 5), 1, {5, 5}).step == 5);
        const double odd[] = {0, -1, 1e-300, 1e300, INFINITY, NAN};
        for (const double speed : odd) {
            for (const double dt : odd) {
                Player strange{true, Level::step, speed, 0};
                CHECK(advance(strange, trace, at_step(trace, 12), dt, loop).step >= 0);  // and comes back
            }
        }
        CHECK(player.playing);
    }

    TEST_CASE("J marks the range, its label says it, a click on the label ends it") {
        Program program;
        program.go_to_step(19);
        program.press(Key::j);
        CHECK(program.shows("loop 20–…"));
        program.go_to_step(11);
        program.press(Key::j);
        CHECK(loops(program, 11, 19));
        CHECK(program.shows("loop 12–20"));
        program.press(Key::space);
        for (int n = 0; n < 12; ++n) {
            program.frame(1, 1.01f);
            CHECK(program.step() >= 11);
            CHECK(program.step() <= 19);
        }
        program.press(Key::space);
        program.click("loop");
        CHECK_FALSE(program.state.timeline.loop.set());
        CHECK_FALSE(program.shows("loop 12–20"));
        program.press(Key::j), program.press(Key::j), program.press(Key::j);
        CHECK(program.state.timeline.loop.first == -1);
    }

    TEST_CASE("its ends can be dragged, and never cross") {
        Program program;
        program.state.timeline.loop = {4, 9};
        program.frame(2);
        const ImVec2 end = middle(program.find("loop ends")), begin = middle(program.find("loop begins"));
        const float cell = (end.x - begin.x) / 6;
        program.drag({end.x, end.y}, {end.x + cell * 2, end.y});
        CHECK(program.state.timeline.loop.last > 9);
        CHECK(program.step() == 0);  // the handle moved, not the walk
        program.drag({begin.x, begin.y}, {begin.x + cell * 15, begin.y});
        CHECK(program.state.timeline.loop.set());
        CHECK(program.state.timeline.loop.first == program.state.timeline.loop.last);
    }

    TEST_CASE("a range that no longer lies in the walk is dropped") {
        Program program;
        program.state.timeline.loop = {30, 39};
        program.show(random_with_tiles(1, 1, 1, 1));
        program.frame();
        CHECK(program.state.timeline.loop == StepRange{});
    }

    TEST_CASE("the bracket holds the tile or the block of the current step") {
        Program program;
        const Trace& trace = *program.state.trace;
        CHECK(range_of_level(trace, 5, Level::tile) == StepRange{2, 9});
        CHECK(range_of_level(trace, 5, Level::step) == StepRange{2, 9});
        CHECK(range_of_level(trace, 5, Level::block) == StepRange{0, 19});
        CHECK(range_of_level(trace, 39, Level::block) == StepRange{20, 39});
        for (int k = 0; k < trace.size(); ++k) CHECK(range_of_level(trace, k, Level::tile).holds(k));
    }

    TEST_CASE("what fits is shown whole, without overview or zoom") {
        Program program;
        CHECK_FALSE(program.look_for("overview"));
        program.mouse_to(program.find("timeline"));
        program.wheel(-3);
        CHECK(program.state.timeline.zoom == 1);
    }

    TEST_CASE("phases without blocks follow each other in one lane, each under its name") {
        for (const char* name : {"attention", "backward", "training-step"}) {
            CAPTURE(name);
            Program program(example("worked-4x4"), {1024, 640});
            program.show_lesson(name);
            const TimelineGrid& grid = program.state.look.grid;
            const Trace& trace = *program.state.trace;
            REQUIRE(grid.phases.size() > 2);
            CHECK(grid.count() == 1);
            CHECK(grid.columns == trace.size());
            for (std::size_t n = 0; n + 1 < grid.phases.size(); ++n) {
                const std::string phase =
                    program.state.lesson->lane(*program.state.problem, static_cast<int>(n));
                CHECK_MESSAGE(program.look_for(phase, "Timeline"), phase);
                for (int k = grid.phases[n]; k < grid.phases[n + 1]; ++k)
                    CHECK(trace.step(k).phase == static_cast<int>(n));
            }
        }
        Program tiled;
        CHECK(tiled.state.look.grid.phases.empty());
        CHECK(tiled.state.look.grid.count() == 2);
    }

    TEST_CASE("the wheel zooms round the mouse, the overview moves the view, a step brings it back") {
        Program program;
        show_large_backward(program);
        TimelineView& view = program.state.timeline;
        const Item rail = program.find("timeline");
        const float x = rail.min.x + (rail.max.x - rail.min.x) * .75f, y = rail.min.y + 5;
        program.mouse_to(x, y);
        program.wheel(4);
        CHECK(view.zoom > 2);
        CHECK(view.offset > 10);  // what lay under the mouse, on the right, is still there
        const Item strip = program.find("overview");
        const ImVec2 at = middle(strip);
        const float before = view.offset;
        program.mouse_to(strip.min.x + 2, at.y);
        program.mouse_down();
        CHECK(view.offset == 0);
        program.mouse_to(strip.max.x - 2, at.y);
        program.mouse_up();
        CHECK(view.offset > before);
        CHECK(program.step() == 0);  // the overview moves the view, not the walk
        program.frame(1, .2f);
        program.press(Key::right);
        CHECK(view.offset == -1);  // the step is in sight again
        program.mouse_to(x, y);
        program.wheel(-30);
        CHECK(view.zoom == 1);
    }

    TEST_CASE("plus and minus zoom by key") {
        Program program;
        show_large_backward(program);
        program.press(Key::plus);
        CHECK(program.state.timeline.zoom > 1);
        CHECK(program.look_for("overview"));
        program.press(Key::minus);
        CHECK(program.state.timeline.zoom == 1);
    }

    TEST_CASE("the legend names skipped tiles where there are some") {
        Program plain;
        CHECK_FALSE(plain.shows("skipped"));
        Program program(example("causal-8"), {1920, 1080});
        CHECK(program.shows("skipped"));
    }

    TEST_CASE("the legend says what both signs of a maximum mean wherever the cells have them") {
        for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}}) {
            Program program(example("worked-4x4"), screen);
            program.go_to_step(13);
            INFO(program.where());
            const auto stands = [&](std::string_view words) {  // by itself: in the legend
                return std::ranges::any_of(program.items(), [&](const Item& item) {
                    return item.kind == ItemKind::text && item.text == words;
                });
            };
            CHECK((stands("maximum rises") || stands("rises")));
            CHECK((stands("may rise")));
        }
    }

    TEST_CASE("the steps of the three weights are told apart by their index") {
        for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}}) {
            Program program(example("worked-4x4"), screen);
            program.show_lesson("training-step");
            INFO(program.where());
            for (const char* name : {"dWQ", "dWK", "dWV", "WQ", "WK", "WV"})
                CHECK_MESSAGE(program.look_for(name, "Timeline"), name);
        }
    }

    TEST_CASE("the gradients of the weights have their letters in the narrowest window, too") {
        Program program(example("worked-4x4"), {1024, 640});
        program.show_lesson("training-step");
        program.go_to_step(0);
        program.frame();
        CHECK(std::ranges::count_if(program.items(), [](const Item& item) {
                  return item.panel == "Timeline" && item.text.starts_with("dW");
              }) == 3);
    }

    TEST_CASE("on stage no cell is without its symbol, in any lesson, and the lane has its name") {
        for (const Lesson& lesson : lessons()) {
            Program program(example("worked-4x4"), {1280, 720}, true);
            program.show_lesson(lesson.id);
            const TimelineGrid& grid = program.state.look.grid;
            for (int k = 0; k < program.state.trace->size(); ++k) {
                program.go_to_step(k, 2);
                // At least those of half the lane have room, each in letters that the back row reads.
                const int steps = grid.end(grid.lane_of(k)) - grid.begin(grid.lane_of(k));
                CAPTURE(lesson.id);
                CAPTURE(k);
                // A lane of a ring shares its height with messages, and is too low for symbols there.
                if (!lesson.uses(chooses_ranks)) CHECK(symbols_on_stage(program) >= std::min(10, steps));
                // In one place, whatever the step is.
                const std::string lane = lesson.lane(*program.state.problem, grid.lane_of(k));
                if (grid.count() > 1) CHECK(over_the_cells(program, lane) == doctest::Approx(24).epsilon(.1));
            }
        }
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson("training-step");
        program.go_to_step(16);
        program.check_shows({"dWQ", "dWK", "dWV", "Gradient of WQ"});
        show_large_backward(program);
        program.go_to_step(200, 2);
        CHECK(symbols_on_stage(program) >= 10);
    }

    TEST_CASE("on stage the names of blocks keep their places from step to step") {
        for (const char* lesson : {"flash-forward", "softmax-2pass"}) {
            Program program(example("worked-4x4"), {1280, 720}, true);
            program.show_lesson(lesson);
            const TimelineGrid& grid = program.state.look.grid;
            std::map<std::pair<int, std::string>, std::set<float>> places;
            for (int k = 0; k < program.state.trace->size(); ++k) {
                program.go_to_step(k, 2);
                for (const Item& item : program.items())
                    if (item.kind == ItemKind::text && item.min.y > 640 &&
                        (contains(item.text, " block ") || item.text.starts_with("element ")))
                        places[{grid.lane_of(k), item.text}].insert(std::round(item.min.x));
            }
            CHECK(places.size() >= 4);
            for (const auto& [name, at] : places) CHECK_MESSAGE(at.size() == 1, lesson, " ", name.second);
        }
    }

    TEST_CASE("on stage every group that has room has its name, whole, also before the walk comes there") {
        const std::pair<const char*, std::vector<const char*>> named[] = {
            {"flash-forward", {"start", "key block 0", "key block 1", "finish"}},
            {"ring", {"round 0", "round 1"}},
            {"split-kv", {"key block 0"}},
            {"cascade", {"key block 0"}},
            {"softmax-1pass", {"element 0", "element 1"}}};
        for (const auto& [lesson, names] : named) {
            Program program(example("worked-4x4"), {1280, 720}, true);
            program.show_lesson(lesson);
            program.frame(2);
            for (const char* name : names) {
                const auto below = [&](const Item& item) {
                    return item.kind == ItemKind::text && item.min.y > 640 && item.text == name;
                };
                CHECK_MESSAGE(std::ranges::any_of(program.items(), below), lesson, " ", name);
            }
        }
        for (const Lesson& lesson : lessons()) {
            Program program(example("gradients-4x4"), {1280, 720}, true);
            program.show_lesson(lesson.id);
            for (int k = 0; k < program.state.trace->size(); ++k) {
                program.go_to_step(k, 2);
                for (const Item& item : program.items())
                    if (item.kind == ItemKind::text && item.min.y > 640 && item.text.ends_with("…"))
                        FAIL_CHECK(program.where(), ": cut: ", item.text);
            }
        }
    }

    TEST_CASE("on stage a step has its name once: in the head, or over its cell where that is not there") {
        Program program(example("worked-4x4"), {1280, 720}, true);
        const auto named = [&] {
            std::string title = program.state.explanation.title;
            std::erase(title, '_');  // what follows is an index
            return std::ranges::count_if(program.items(),
                                         [&](const Item& item) {
                                             return item.kind == ItemKind::text && item.text == title &&
                                                    item.min.y < 60;
                                         }) +
                   10 * (over_the_cells(program, title) >= 0);
        };
        for (const int k : {3, 4, 8, 14}) {
            program.go_to_step(k, 2);
            INFO(program.where());
            REQUIRE(info(program.state.trace->step(k).op).kind == OpKind::compute);
            CHECK(named() == 1);
        }
        // A tour that speaks of the timeline has its words where the head was.
        Tour tour;
        tour.script =
            good(parse_tour("# T\n## A\n- problem: worked-4x4\n- step: 9\n- highlight: panel Timeline\n\nx\n",
                            "test.md", tour_names()));
        start_tour(program.state, std::move(tour));
        program.frame(2);
        CHECK(named() == 10);
    }

    TEST_CASE("on stage what comes and goes is marked over its cell in every lane, however wide that is") {
        for (const char* lesson : {"attention", "flash-forward", "flash-backward", "softmax-1pass", "ring"}) {
            Program program(example("worked-4x4"), {1280, 720}, true);
            program.show_lesson(lesson);
            program.go_to_step(0, 2);
            int marks = 0;
            for (const Item& item : program.items()) {
                if (item.text != "way mark") continue;
                INFO(lesson);
                CHECK(item.max.y < 642);
                CHECK(item.min.y > 615);
                ++marks;
            }
            CHECK_MESSAGE(marks >= 2, lesson);
        }
    }

    TEST_CASE("which lanes are shown stands there whole in the narrowest window") {
        Program program(example("causal-8"), {1024, 640});
        program.frame(2);
        CHECK(program.look_for("0–1/4", "Timeline"));
    }

    TEST_CASE("on stage a lane has no holes where only other lanes have a step") {
        const auto widest_gap = [](const Program& program) {
            std::vector<float> places;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::text && item.min.y > 630 && item.max.y < 695 && item.font_px >= 20)
                    places.push_back(middle(item).x);
            std::ranges::sort(places);
            std::vector<float> gaps;
            for (std::size_t n = 1; n < places.size(); ++n) gaps.push_back(places[n] - places[n - 1]);
            std::ranges::sort(gaps);
            return gaps.back() / gaps[gaps.size() / 2];
        };
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson("softmax-2pass");
        program.go_to_step(34, 2);  // the second pass does less than the first
        CHECK(widest_gap(program) < 1.7f);
        Program window(example("window-12"), {1280, 720}, true);
        window.go_to_step(59, 2);  // not every tile is masked
        CHECK(widest_gap(window) < 1.7f);
    }

    TEST_CASE("nothing of it is cut or overlaps, zoomed or looped") {
        for (const Screen screen : {Screen{1280, 720}, Screen{1920, 1080}}) {
            Program program(example("worked-4x4"), screen);
            show_large_backward(program);
            program.state.timeline.loop = {300, 420};
            for (const float zoom : {1.0f, 2.0f, 5.0f}) {
                program.state.timeline.zoom = zoom;
                program.go_to_step(400);
                check_frame(program, "zoom " + std::to_string(zoom), {.panel = "Timeline"});
            }
        }
    }

}  // TEST_SUITE
