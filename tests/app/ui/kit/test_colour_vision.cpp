// Hues stay apart for people without a kind of cone, and no state of a cell is told by its colour alone.
// TILEWALK_COLOURS=1 prints what is measured; docs/accessibility.md states it.
#include "app/render/offscreen.h"
#include "app/ui/kit/theme.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/presenter.h"
#include "core/base/numbers.h"
#include "tests/app/ui/harness.h"
#include "tests/app/ui/kit/colour_vision.h"
#include "tests/folder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

using test::all_themes;
constexpr Role hues[] = {Role::Q, Role::K, Role::V, Role::S, Role::m, Role::l, Role::alpha, Role::O, Role::D};

// All of them stand side by side in a tiled lesson, so each pair counts; but D belongs to the backward pass,
// whose steps have no α. They have L, in the hue of m.
bool meet(Role a, Role b) {
    return !(a == Role::D && b == Role::alpha) && !(b == Role::D && a == Role::alpha);
}

double least_difference(const Theme& t, Vision vision) {
    double least = 1e9;
    for (const Role a : hues)
        for (const Role b : hues)
            if (a < b && meet(a, b)) least = std::min(least, colour_difference(hue(t, a), hue(t, b), vision));
    return least;
}

ImU32 rgb(unsigned hex) { return IM_COL32(hex >> 16 & 255u, hex >> 8 & 255u, hex & 255u, 255); }

constexpr int side = 48;  // of a drawn cell

/// The states that a cell can be in, each drawn with a fill that the test chooses.
using Drawing = std::function<void(const Canvas&, CellLook)>;
std::map<std::string, Drawing> states() {
    const auto with = [](auto change) {
        return [change](const Canvas& c, CellLook look) {
            change(look);
            cell(c, 8, 8, side, side, look);
        };
    };
    std::map<std::string, Drawing> out;
    out["idle"] = with([](CellLook&) {});
    out["read"] = with([](CellLook& l) { l.state = CellState::read; });
    out["written"] = with([](CellLook& l) { l.state = CellState::written; });
    out["left over"] = with([](CellLook& l) { l.state = CellState::discarded; });
    out["pending"] = with([](CellLook& l) { l.state = CellState::pending; });
    out["masked"] = with([](CellLook& l) { l.masked = true; });
    out["NaN"] = with([](CellLook& l) { l.nan = true; });
    out["differs from the true walk"] = [](const Canvas& c, const CellLook& look) {
        cell(c, 8, 8, side, side, look);
        wrong_mark(c, 8, 8, side, side);
    };
    out["differs from before the edit"] = [](const Canvas& c, const CellLook& look) {
        cell(c, 8, 8, side, side, look);
        edit_mark(c, 8, 8, side, side);
    };
    return out;
}

double grey(const Image& image, int x, int y) {
    const std::uint8_t* p = &image.rgba[4 * static_cast<std::size_t>(y * image.width + x)];
    return .2126 * p[0] + .7152 * p[1] + .0722 * p[2];
}

// Where the drawing differs from its own most frequent grey, inside the cell, and from the page outside: its
// shape, whatever it is filled with.
std::vector<bool> shape_of(const Image& image) {
    std::map<int, int> often;
    for (int y = 12; y < side + 4; ++y)
        for (int x = 12; x < side + 4; ++x) ++often[static_cast<int>(std::lround(grey(image, x, y)))];
    const int fill = std::max_element(often.begin(), often.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                     })->first;
    const double page = grey(image, 0, 0);
    std::vector<bool> out;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const bool inside = x >= 9 && y >= 9 && x < side + 7 && y < side + 7;
            out.push_back(std::abs(grey(image, x, y) - (inside ? fill : page)) > 10);
        }
    return out;
}

}  // namespace

TEST_CASE("CIEDE2000 has the published values") {
    // Pairs of Sharma, Wu and Dalal 2005, table 1: near blue, grey, hue angles across 0, large differences.
    const struct {
        Lab a, b;
        double difference;
    } pairs[] = {{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
                 {{50, -1.3802, -84.2814}, {50, 0, -82.7485}, 1.0000},
                 {{50, 0, 0}, {50, -1, 2}, 2.3669},
                 {{50, 2.49, -.001}, {50, -2.49, .0009}, 7.1792},
                 {{50, 2.49, -.001}, {50, -2.49, .0011}, 7.2195},
                 {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
                 {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
                 {{22.7233, 20.0904, -46.694}, {23.0331, 14.973, -42.5619}, 2.0373},
                 {{90.8027, -2.0831, 1.441}, {91.1528, -1.6435, .0447}, 1.4441}};
    for (const auto& pair : pairs) {
        CHECK(colour_difference(pair.a, pair.b) == doctest::Approx(pair.difference).epsilon(1e-4));
        CHECK(colour_difference(pair.b, pair.a) == doctest::Approx(pair.difference).epsilon(1e-4));
    }
    CHECK(lab_of(IM_COL32_WHITE).L == doctest::Approx(100));
    CHECK(colour_difference(IM_COL32_WHITE, IM_COL32_BLACK) == doctest::Approx(100));
}

TEST_CASE("letters that look alike, or stand side by side as factors, have hues of their own") {
    CHECK(info(Slot::L).role != info(Slot::l).role);
    CHECK(info(Slot::L_part).role != info(Slot::l_part).role);
    CHECK(info(Slot::w_part).role != info(Slot::alpha).role);
    // In a step that makes L of m and ℓ the three letters and O, and in a merge w, L or ℓ, and O.
    for (const Slot w : {Slot::w_part})
        for (const Slot other : {Slot::L_part, Slot::l_part, Slot::m_part, Slot::O_part})
            CHECK(info(w).role != info(other).role);
}

TEST_CASE("what is seen without a kind of cone") {
    for (const Vision vision : all_visions) {
        CAPTURE(name(vision));
        for (const ImU32 grey : {IM_COL32_WHITE, IM_COL32_BLACK, rgb(0x808080)})
            CHECK(colour_difference(seen_by(vision, grey), grey) < .5);
    }
    CHECK(seen_by(Vision::full, rgb(0x123456)) == rgb(0x123456));
    // Red against green is hard for protan and deutan, blue against green for tritan.
    const ImU32 red = rgb(0xD55E00), green = rgb(0x6B8E23), blue = rgb(0x3B82A0), teal = rgb(0x3B8A78);
    for (const Vision vision : {Vision::protan, Vision::deutan})
        CHECK(colour_difference(red, green, vision) < .6 * colour_difference(red, green));
    CHECK(colour_difference(blue, teal, Vision::tritan) < .6 * colour_difference(blue, teal));
}

TEST_CASE("the hues of every theme stay apart, whatever cone is missing") {
    // The usual hues were chosen for full vision first; the safe ones keep 14 under all four.
    const std::map<ThemeId, double> usual_bound = {
        {ThemeId::dark, 7.4}, {ThemeId::light, 5.9}, {ThemeId::contrast, 2.8}};
    for (const ThemeId id : all_themes)
        for (const Palette palette : {Palette::usual, Palette::safe}) {
            const Theme& t = theme(id, palette);
            for (const Vision vision : all_visions) {
                const double least = least_difference(t, vision);
                const bool safe = palette == Palette::safe;
                const double bound = safe ? 14.0 : vision == Vision::full ? 17.0 : usual_bound.at(id);
                CAPTURE(std::string(t.name));
                CAPTURE(name(vision));
                CAPTURE(safe);
                CHECK(least >= bound);
                if (std::getenv("TILEWALK_COLOURS"))
                    MESSAGE((std::string(t.name) + (safe ? " safe " : " usual ") + name(vision)), " ", least);
            }
        }
}

TEST_CASE("docs/accessibility.md states how far the hues are apart, to a decimal") {
    const std::string stated = test::contents(TILEWALK_SOURCE_DIR "/docs/accessibility.md");
    for (const ThemeId id : all_themes)
        for (const Palette palette : {Palette::usual, Palette::safe}) {
            std::string row =
                id == ThemeId::contrast ? "| high contrast |" : "| " + std::string(theme(id).name) + " |";
            row += palette == Palette::safe ? " safe |" : " usual |";
            for (const Vision vision : all_visions)
                row += " " + format_fixed(least_difference(theme(id, palette), vision), 1) + " |";
            CHECK_MESSAGE(stated.find(row) != std::string::npos, row);
        }
    const Theme light = bright_room(theme(ThemeId::light));
    CHECK(stated.find("at least " + format_fixed(least_difference(light, Vision::full), 1) + " there") !=
          std::string::npos);
}

// The light theme is darker there, and what is dark already comes close to what was not.
TEST_CASE("the usual hues stay apart on stage, too") {
    for (const ThemeId id : all_themes) CHECK(least_difference(bright_room(theme(id)), Vision::full) >= 16);
}

TEST_CASE("the hue of a fault is that of no quantity, on stage neither") {
    for (const ThemeId id : all_themes)
        for (const bool stage : {false, true}) {
            const Theme t = stage ? bright_room(theme(id)) : theme(id);
            for (const Role role : hues) {
                const double apart = colour_difference(t.danger, hue(t, role));
                CHECK_MESSAGE(apart >= 16, t.name, stage ? " on stage, " : ", ", static_cast<int>(role), " ",
                              apart);
            }
        }
}

TEST_CASE("every state of a cell has a shape of its own") {
    const HeadlessContext context;
    load_fonts(1, false);
    for (const ThemeId id : all_themes)
        for (const float t : {0.0f, 1.0f}) {
            std::map<std::string, std::vector<bool>> shapes;
            for (const auto& [name, draw] : states()) {
                run_frame(side + 16, side + 16, 0, [&, &draw = draw] {
                    const Canvas c = test::canvas_on(ImGui::GetBackgroundDrawList(), id);
                    c.rect(0, 0, side + 16, side + 16, c.theme->panel);
                    CellLook look;
                    look.role = Role::S;
                    look.t = t;
                    draw(c, look);
                });
                shapes[name] = shape_of(picture_of_frame(side + 16, side + 16, theme(id).panel));
            }
            for (const auto& [a, one] : shapes)
                for (const auto& [b, other] : shapes) {
                    if (a >= b) continue;
                    // An empty place and a cell without a mark are told apart by the number in one of them.
                    if (a == "idle" && b == "pending") continue;
                    int apart = 0;
                    for (std::size_t n = 0; n < one.size(); ++n) apart += one[n] != other[n];
                    CHECK_MESSAGE(apart >= 30, a, " and ", b, " in ", theme(id).name);
                }
        }
}
