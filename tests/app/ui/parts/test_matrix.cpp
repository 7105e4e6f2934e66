// Matrices on screen: what a heat map tells apart, which cells have numbers, and how clear these are of
// frames.
#include "app/ui/kit/theme.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::ui;

TEST_CASE("heat maps: numbers far below the largest are told from 0 and from each other") {
    SlotLook range;
    range.hi = 3, range.lo = -3;
    for (const ThemeId id : {ThemeId::dark, ThemeId::light, ThemeId::contrast}) {
        const Theme& t = theme(id);
        const auto colour = [&](double value, bool dim) {
            return heat_colour(t, Slot::Q, range, value, dim);
        };
        for (const bool dim : {false, true}) {
            CHECK(contrast(colour(.3, dim), colour(0, dim)) > (dim ? 1.08f : 1.15f));
            CHECK(contrast(colour(3, dim), colour(.3, dim)) > 1.08f);
            CHECK(colour(.3, dim) != colour(-.3, dim));
        }
        CHECK(contrast(colour(3, false), colour(0, false)) > contrast(colour(3, true), colour(0, true)));
        CHECK(heat_colour(t, Slot::Q, range, 3) == signed_ramp(t, Role::Q, 1));
    }
}

namespace {

// The number in a cell of that name in the panel; null without one.
const Item* number_in(const test::Program& program, const CellRef& ref, std::string_view panel) {
    const Item* const cell = program.look_for(cell_name(ref), panel);
    if (!cell) return nullptr;
    const auto inside = [&](const Item& item) {
        const ImVec2 at = test::middle(item);
        return item.kind == ItemKind::text && at.x > cell->min.x && at.x < cell->max.x &&
               at.y > cell->min.y && at.y < cell->max.y;
    };
    const auto found = std::ranges::find_if(program.items(), inside);
    return found == program.items().end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the output has its numbers while it is made, in the narrowest window, too") {
    test::Program program(test::example("worked-4x4"), {1024, 640});
    for (const Op op : {Op::output, Op::normalize})
        for (const int k : test::steps_of(*program.state.trace, op)) {
            program.go_to_step(k, 2);
            const Region tile = program.state.trace->value(program.state.trace->writes(k)[0].value).region;
            for (int r = tile.row; r < tile.row + tile.rows; ++r)
                for (int c = 0; c < tile.cols; ++c)
                    CHECK_MESSAGE(number_in(program, {Slot::Oi, r, c}, "SRAM"), program.where());
        }
}

TEST_CASE("no number reaches the frame round the cell beside it") {
    constexpr float frame = 4;  // of a chosen cell, over its neighbours
    test::Program program(test::example("worked-4x4"));
    const auto check = [&](const char* lesson, Op op, Slot slot, const char* panel) {
        program.show_lesson(lesson);
        const int k = test::steps_of(*program.state.trace, op)[0];
        program.go_to_step(k, 2);
        const Region tile = program.state.trace->value(program.state.trace->writes(k)[0].value).region;
        for (int r = tile.row; r < tile.row + tile.rows; ++r)
            for (int c = 0; c < tile.cols; ++c) {
                const Item* const text = number_in(program, {slot, r, c}, panel);
                REQUIRE(text);
                const Item* const cell = program.look_for(cell_name({slot, r, c}), panel);
                CHECK_MESSAGE(text->min.x - cell->min.x > frame, program.where(), ": ", text->text);
                CHECK_MESSAGE(cell->max.x - text->max.x > frame, program.where(), ": ", text->text);
            }
    };
    check("flash-backward", Op::ds, Slot::dS, "SRAM");
    check("training-step", Op::update, Slot::W_Q, "Matrices");
}
