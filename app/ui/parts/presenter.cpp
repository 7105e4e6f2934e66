#include "app/ui/parts/presenter.h"

#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <ranges>

namespace tilewalk::ui {

namespace {

// What lies in the dark can still be read, but does not draw the eye: in each theme at another pace.
float in_the_dark(const AppState& state) {
    switch (state.settings.theme) {
    case ThemeId::dark: return .5f;
    case ThemeId::light: return .65f;
    case ThemeId::contrast: return .75f;
    }
    return 1;
}
constexpr float wanted_contrast = 7.1f;
constexpr ImU32 black = IM_COL32(0, 0, 0, 255);

// As little darker as it takes to be read on each of the surfaces.
ImU32 darker(ImU32 colour, std::initializer_list<ImU32> surfaces) {
    for (float t = 0; t < 1; t += .02f) {
        const ImU32 now = mix(colour, black, t);
        const bool enough = std::ranges::all_of(
            surfaces, [&](ImU32 below) { return contrast(now, below) >= wanted_contrast; });
        if (enough) return now;
    }
    return black;
}

}  // namespace

void draw_mark(const Canvas& c, float x, float y, const MarkLook& look) {
    const float side = look.tile;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const float X = x + look.pitch * px(j), Y = y + look.pitch * px(i);
            if (i == 0 && j == 1)
                c.rect(X, Y, side, side, c.theme->t1, look.radius);
            else
                c.frame(X + .5f, Y + .5f, side - 1, side - 1, c.theme->t3, look.stroke, look.radius);
        }
}

float presenter_title(const Canvas& c, std::string_view title) {
    draw_mark(c, 28, 24, {13, 15, 1.6f, 3});
    return c.text(72, 38, title, size::far_title, c.theme->t1, Face::semibold);
}

float light_of(const AppState& state, bool now, bool before) {
    // A question is about numbers that this step may leave alone.
    if (!state.settings.spotlight || quiz_waits(state)) return 1;
    const float dark = in_the_dark(state), to = now ? 1 : dark, from = before ? 1 : dark;
    return from + (to - from) * transition(state);
}

float light_on(const AppState& state, Slot slot) {
    const int k = state.cursor.step;
    return light_of(state, touched_at(*state.trace, k, slot), k > 0 && touched_at(*state.trace, k - 1, slot));
}

float readable_light(float light, ImU32 text, ImU32 surface, ImU32 page) {
    constexpr float enough = 4.7f;
    while (light < 1 && contrast(mix(page, text, light), mix(page, surface, light)) < enough) light += .02f;
    return std::min(light, 1.0f);
}

float caption_width(float w, std::string_view text, float size, int max_lines) {
    constexpr float least_last = .2f, least = .85f;
    const float beyond = std::fmod(text_width(Face::regular, size, text), w) / w;
    return beyond < least_last ? std::max(even_width(w, text, size, max_lines), least * w) : w;
}

Theme bright_room(const Theme& theme) {
    Theme out = theme;
    if (!theme.light) return out;
    out.text_contrast = 7;
    for (ImU32* text : {&out.t2, &out.t3, &out.danger})
        *text = darker(*text, {out.panel, out.well, out.bg, out.raised});
    for (ImU32& role : out.roles) role = darker(role, {out.panel, out.well, out.bg});
    out.line = mix(out.line, black, .25f);
    out.line2 = mix(out.line2, black, .35f);
    const auto legible = [&](float hi) {
        return std::ranges::all_of(out.roles, [&](ImU32 role) {
            return contrast(out.t1, mix(out.panel, role, hi)) >= wanted_contrast;
        });
    };
    while (out.hi > .1f && !legible(out.hi)) out.hi -= .01f;
    out.hi_pale = std::min(out.hi_pale, out.hi);
    return out;
}

PresenterPage::PresenterPage(const Canvas& canvas, AppState& of, float W_of, float H, const char* title,
                             float buttons_of)
    : theme(bright_room(*canvas.theme)), c(canvas), part(c, "Presenter", {0, 0, W_of, H}), state(of), W(W_of),
      buttons(buttons_of) {
    c.theme = &theme;
    title_w = presenter_title(c, title);
}

PresenterPage::~PresenterPage() {
    if (state.mouse_age > presenter_buttons_seconds) return;
    IconRow icon{c, buttons, 14, space::far_icon, 6};
    if (icon("##back", Icon::back, {.tooltip = back})) move(-1);
    if (icon("##forward", Icon::forward, {.tooltip = forward})) move(1);
    if (icon("##theme", Icon::theme, {.tooltip = "Theme (T)"})) next_theme(state);
    if (icon("##leave", Icon::close, {.tooltip = "Leave presenter mode (Esc)"})) state.presenter = false;
}

void PresenterPage::subject(const std::string& words, float reserved) const {
    const float right = W - space::far_edge;
    c.text_within(right, 36, right - 72 - title_w - reserved, words, size::far, c.theme->t2, Face::medium,
                  Align::right);
}

}  // namespace tilewalk::ui
