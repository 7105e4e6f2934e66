// The desk at every step of every lesson: nothing is clipped, lies on something else or is too pale. The
// stage is held against the same rules in tests/app/ui/parts/test_stage.cpp. TILEWALK_LAYOUT=all looks at
// desk and stage, in both themes, with every example.
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

void look_at_all(const Screen& screen, ThemeId theme, bool presenter, const Problem& problem) {
    Program program(problem, screen, presenter, theme);
    at_every_step(program, problem, [&] { check_frame(program); });
}

void at_size(const Screen& screen) {
    const std::vector<Problem> examples = Program().state.examples;
    for (const ThemeId theme : {ThemeId::dark, ThemeId::light}) {
        look_at_all(screen, theme, false, example("worked-4x4"));
        if (!looks_at_everything()) continue;
        for (const Problem& problem : examples)
            for (const bool presenter : {false, true}) look_at_all(screen, theme, presenter, problem);
    }
}

}  // namespace

TEST_CASE("every step of every lesson has its place at 1024 × 640") { at_size({1024, 640}); }
TEST_CASE("every step of every lesson has its place at 1280 × 720") { at_size({1280, 720}); }
TEST_CASE("every step of every lesson has its place at 1920 × 1080") { at_size({1920, 1080}); }
TEST_CASE("every step of every lesson has its place at 3840 × 2160") { at_size({3840, 2160}); }
