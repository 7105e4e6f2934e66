// What lies over everything: cards, go to step, the value under the mouse, and the notice.
#include "app/ui/cards/glossary_card.h"
#include "app/ui/cards/matrix_menu.h"
#include "app/ui/cards/menu.h"
#include "app/ui/cards/save_card.h"
#include "app/ui/cards/settings_card.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/views.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

void go_to_step(const Canvas& main, AppState& state, float W, float H) {
    const float size = state.presenter ? 27 : 15, w = state.presenter ? 560 : 320,
                h = state.presenter ? 150 : 104;
    const float x = (W - w) / 2, y = H * .4f - h / 2;
    main.rect(0, 0, W, H, with_alpha(main.theme->bg, .6f));
    if (begin_card(main, "Go to step", {x, y, w, h})) {
        const Canvas c = main.in_window();
        begin_panel(c, "Go to step", x, y, w, h);
        c.frame(x + 1, y + 1, w - 2, h - 2, c.theme->t3, 1, 9);
        c.text(x + 16, y + (state.presenter ? 34 : 26),
               "Go to step (1 to " + std::to_string(state.trace->size()) + ")", size, 0, Face::medium);
        FieldLook look;
        look.size = size;
        look.face = Face::mono;
        look.focus_now = ImGui::IsWindowAppearing() || state.goto_focus;
        state.goto_focus = false;
        look.flags = ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_AutoSelectAll;
        const FieldResult field =
            text_field(c, "##step", x + 16, y + h - (state.presenter ? 80 : 52), w - 32,
                       state.presenter ? 56 : 36, state.goto_text, sizeof state.goto_text, look);
        if (field.entered)
            state.keys.push_back({Key::enter});  // answered with the keys of the next frame
        else if (field.left && !state.goto_focus)
            state.show_goto = false;
        end_panel(c);
    }
    end_card();
}

// The true value of a broken cell, else the value that it had before the latest edit; empty if it is the
// same.
std::string beside_text(const AppState& state, const CellRef& cell, double value) {
    const int k = state.cursor.step;
    const std::pair<const Trace*, const char*> walks[] = {{state.truth.get(), "true: "},
                                                          {state.before_edit.get(), "before the edit: "}};
    for (const auto& [walk, words] : walks) {
        const std::optional<double> other = walk ? true_value(*walk, cell, k) : std::nullopt;
        if (!other || distance(*other, value) == 0) continue;
        const double far = distance(*other, value);
        return words + format_full(*other) + (std::isfinite(far) ? ", difference " + format_number(far) : "");
    }
    return {};
}

// Full precision of the cell under the mouse, and where it came from.
void hover_card(const Canvas& main, AppState& state) {
    if (!state.hover || state.edit) return;
    // On a projector nothing pops up because the mouse happens to rest there.
    if (state.presenter && state.mouse_age > presenter_buttons_seconds) return;
    const CellRef cell = *state.hover;
    const Trace& trace = *state.trace;
    const Held held = holding(trace, cell, state.cursor.step);
    if (!held) return;
    const int made = held.step;
    const std::string first = cell_name(cell) + " = " + format_full(value_at(*held.value, cell));
    std::string second = std::string(info(cell.slot).what);
    if (made >= 0) second += ", step " + std::to_string(made + 1);
    if (!info(cell.slot).hbm && slot_look(state, cell.slot).state == CellState::discarded)
        second += " (left from an earlier tile)";
    std::string third;
    if (made >= 0) {
        const Explanation e = explain(trace, made, cell);
        third = plain(e.numbers);
        if (letter_count(third) > 60) third = plain(e.formula);
        if (e.target != cell) third.clear();
    }
    const std::string fourth = beside_text(state, cell, value_at(*held.value, cell));
    const float size = state.presenter ? 27 : 14, line = size * 1.5f;
    const float w = std::max({text_width(Face::mono, size, first), text_width(Face::regular, size, second),
                              text_width(Face::mono, size, third), text_width(Face::regular, size, fourth)}) +
                    28;
    const float h = line * static_cast<float>(2 + !third.empty() + !fourth.empty()) + 14;
    const float W = ImGui::GetIO().DisplaySize.x / main.s, H = ImGui::GetIO().DisplaySize.y / main.s;
    const Point mouse = main.mouse();
    const float x = std::clamp(mouse.x + 16, 4.0f, std::max(4.0f, W - w - 4)),
                y = mouse.y + 20 + h < H ? mouse.y + 20 : mouse.y - h - 12;
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    c.rect(x, y, w, h, c.theme->raised, 8);
    c.frame(x + .5f, y + .5f, w - 1, h - 1, c.theme->line2, 1, 8);
    c.text(x + 14, y + 7 + line / 2, first, size, 0, Face::mono);
    c.text(x + 14, y + 7 + line * 1.5f, second, size, c.theme->t2);
    if (!third.empty()) c.text(x + 14, y + 7 + line * 2.5f, third, size, 0, Face::mono);
    if (!fourth.empty()) c.text(x + 14, y + h - 7 - line / 2, fourth, size, 0);
}

// A large trace is being built; what is shown is still the problem before.
void busy(const Canvas& main, float W) {
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    c.pill(W / 2, 80, "building the walk …", c.min_text > 20 ? 27 : 14, c.theme->t1, c.theme->inv,
           Align::center);
}

void notice(const Canvas& main, const AppState& state, float W, float H) {
    constexpr float seconds = 8, fade = 0.4f;
    if (state.notice.empty() || state.notice_age > seconds) return;
    const float size = state.presenter ? 27 : 15, most = std::min(W - 48, state.presenter ? 1200.0f : 720.0f);
    const float text = std::min(text_width(Face::regular, size, state.notice), most - 32),
                h = paragraph_height(text + 2, state.notice, size, 3) + 20;
    const float x = (W - text - 32) / 2;
    const float y = (state.presenter ? H - 24 : layout_for(W, H).timeline.y - 10) - h;
    Canvas c = main.faded(std::clamp((seconds - state.notice_age) / fade, 0.0f, 1.0f));
    c.dl = ImGui::GetForegroundDrawList();
    c.rect(x, y, text + 32, h, c.theme->raised, 10);
    c.frame(x + .5f, y + .5f, text + 31, h - 1, c.theme->t3, 1, 10);
    c.paragraph(x + 16, y + 10, text + 2, state.notice, size, c.theme->t1, 3);
}

}  // namespace

void overlays(const Canvas& c, AppState& state, float W, float H) {
    tour_card(c, state, W, H);
    quiz_card(c, state, W, H);
    marks_card(c, state, W, H);
    settings_card(c, state, W, H);
    glossary_card(c, state, W, H);
    if (state.show_help) help_card(c, state, W, H);
    save_card(c, state, W, H);
    matrix_menu(c, state, W, H);
    menu_card(c, state, W, H);
    if (state.show_goto) go_to_step(c, state, W, H);
    if (state.pending) busy(c, W);
    hover_card(c, state);
    notice(c, state, W, H);
}

}  // namespace tilewalk::ui
