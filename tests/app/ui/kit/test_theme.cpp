#include "app/ui/kit/theme.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

constexpr ThemeId theme_ids[] = {ThemeId::dark, ThemeId::light, ThemeId::contrast};

// Each theme with each palette.
std::vector<const Theme*> all_themes() {
    std::vector<const Theme*> out;
    for (const ThemeId id : theme_ids)
        for (const Palette palette : {Palette::usual, Palette::safe}) out.push_back(&theme(id, palette));
    return out;
}

float lowest_contrast(std::initializer_list<ImU32> inks, std::initializer_list<ImU32> surfaces) {
    float lowest = 21;
    for (ImU32 ink : inks)
        for (ImU32 surface : surfaces) lowest = std::min(lowest, contrast(ink, surface));
    return lowest;
}

}  // namespace

TEST_CASE("contrast ratio has its known values") {
    CHECK(contrast(IM_COL32_WHITE, IM_COL32_BLACK) == doctest::Approx(21));
    CHECK(contrast(IM_COL32_BLACK, IM_COL32_WHITE) == doctest::Approx(21));
    CHECK(contrast(IM_COL32(119, 119, 119, 255), IM_COL32_WHITE) == doctest::Approx(4.48).epsilon(.002));
}

TEST_CASE("text tokens are legible on every surface of their theme") {
    for (const Theme* shown : all_themes()) {
        const Theme& t = *shown;
        CAPTURE(std::string(t.name));
        CHECK(lowest_contrast({t.t1, t.t2, t.t3, t.danger}, {t.bg, t.panel, t.well, t.raised}) >=
              t.text_contrast);
        CHECK(contrast(t.inv, t.t1) >= t.text_contrast);
        CHECK(contrast(t.inv, t.danger) >= t.text_contrast);
    }
    CHECK(theme(ThemeId::contrast).text_contrast == 7);
}

TEST_CASE("the hue of every role is legible on panel and well") {
    for (const Theme* shown : all_themes())
        for (int role = 0; role < role_count; ++role) {
            const Theme& t = *shown;
            CAPTURE(std::string(t.name));
            CAPTURE(role);
            CHECK(lowest_contrast({hue(t, static_cast<Role>(role))}, {t.panel, t.well}) >= t.text_contrast);
        }
}

TEST_CASE("numbers are legible on every fill of the ramps") {
    for (const Theme* shown : all_themes()) {
        const Theme& t = *shown;
        CAPTURE(std::string(t.name));
        float lowest = 21;
        for (int role = 0; role < role_count; ++role)
            for (int k = -20; k <= 20; ++k)
                for (bool dim : {false, true})
                    for (bool quiet : {false, true}) {
                        const auto part = static_cast<float>(k) / 20;
                        const ImU32 one = ramp(t, static_cast<Role>(role), std::abs(part), dim);
                        const ImU32 two = signed_ramp(t, static_cast<Role>(role), part, dim);
                        lowest = std::min({lowest, contrast(one, ink_on(t, one, quiet)),
                                           contrast(two, ink_on(t, two, quiet))});
                    }
        CHECK(lowest >= t.text_contrast);
    }
}

TEST_CASE("ramps run from the panel towards the hue and stand hostile values") {
    const Theme& t = theme(ThemeId::dark);
    CHECK(ramp(t, Role::Q, 0) == mix(t.panel, hue(t, Role::Q), .05f));
    CHECK(ramp(t, Role::Q, 1) == mix(t.panel, hue(t, Role::Q), .46f));
    CHECK(ramp(t, Role::m, 1) == mix(t.panel, hue(t, Role::m), .38f));
    CHECK(ramp(t, Role::Q, 7) == ramp(t, Role::Q, 1));
    CHECK(ramp(t, Role::Q, std::nanf("")) == ramp(t, Role::Q, 0));
    CHECK(signed_ramp(t, Role::Q, .5f) == ramp(t, Role::Q, .5f));
    CHECK(signed_ramp(t, Role::Q, -1) != signed_ramp(t, Role::Q, 1));
    CHECK(hue(t, static_cast<Role>(200)) == t.t2);
}

TEST_CASE("a palette changes the hues of quantities and nothing else") {
    for (const ThemeId id : theme_ids) {
        const Theme &usual = theme(id), &safe = theme(id, Palette::safe);
        CHECK(&usual == &theme(id, Palette::usual));
        CHECK(hue(usual, Role::none) == hue(safe, Role::none));
        for (int role = 1; role < role_count; ++role)
            CHECK(hue(usual, static_cast<Role>(role)) != hue(safe, static_cast<Role>(role)));
        CHECK(usual.bg == safe.bg);
        CHECK(usual.t2 == safe.t2);
        CHECK(usual.text_contrast == safe.text_contrast);
    }
}

TEST_CASE("cividis ends in its first and last stop") {
    CHECK(cividis(0) == IM_COL32(0x00, 0x20, 0x4D, 255));
    CHECK(cividis(1) == IM_COL32(0xFF, 0xEA, 0x46, 255));
    CHECK(cividis(-3) == cividis(0));
    CHECK(cividis(std::numeric_limits<float>::infinity()) == cividis(1));
    CHECK(cividis(5.0f / 11) == IM_COL32(0x72, 0x73, 0x74, 255));
}

TEST_CASE("mixing and alpha keep the other channels") {
    CHECK(mix(IM_COL32(0, 100, 200, 255), IM_COL32(100, 0, 200, 255), .5f) == IM_COL32(50, 50, 200, 255));
    CHECK(with_alpha(IM_COL32(1, 2, 3, 255), .5f) == IM_COL32(1, 2, 3, 128));
    CHECK(with_alpha(IM_COL32(1, 2, 3, 255), 9) == IM_COL32(1, 2, 3, 255));
}
