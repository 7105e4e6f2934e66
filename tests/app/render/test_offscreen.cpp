#include "app/io/examples.h"
#include "app/render/offscreen.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <doctest/doctest.h>
#include <utility>

using namespace tilewalk;

namespace {

ui::AppState standing_at(int step) {
    ui::AppState state;
    state.lesson = &default_lesson();
    state.examples = examples();
    REQUIRE(ui::set_problem(state, state.examples.front(), false));
    ui::go_to(state, at_step(*state.trace, step));
    return state;
}

}  // namespace

TEST_CASE("the program is drawn at the size that was asked for, the same each time") {
    ui::AppState one = standing_at(16), two = standing_at(16);
    const Image first = render_frame(one, 1280, 720);
    CHECK(first.width == 1280);
    CHECK(first.height == 720);
    CHECK(first.rgba.size() == 1280u * 720u * 4u);
    CHECK(first == render_frame(two, 1280, 720));
    CHECK(first == render_frame(one, 1280, 720));
}

TEST_CASE("sizes that make no picture are refused") {
    ui::AppState state = standing_at(0);
    for (auto [w, h] : {std::pair{0, 0}, {-5, 900}, {1600, 63}, {16385, 900}})
        CHECK(render_frame(state, w, h).rgba.empty());
}

TEST_CASE("a picture is the same in a context that has drawn before, and leaves the state as it was") {
    ui::AppState state = standing_at(16), other = standing_at(3);
    state.step_age = 0;
    state.player.playing = true;
    const Image alone = render_frame(state, 1280, 720);
    CHECK(state.player.playing);
    CHECK(state.settings.motion);
    const HeadlessContext context;
    render_frame(other, 1600, 900);
    CHECK(render_frame(state, 1280, 720) == alone);
}
