// What lies over everything: cards, the value under the mouse, and the notice.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// The matrices show a step before it: on the edge between header and page, where no lesson draws. The head of
// the stage says it beside its title.
void before_pill(const Canvas& c, const AppState& state, float W, float H) {
    if (state.presenter) return;
    const std::string words = "before step " + str(state.cursor.step + 1) + " (B: after it)";
    const Layout layout = layout_for(W, H);
    c.pill(layout.main.x + layout.main.w / 2, layout.header.bottom() + 10, words, size::small, c.theme->t1,
           c.theme->inv, Align::center);
}

// The true value of a broken cell, else the one before the latest edit; empty if it is the same.
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
    // The cell is that of the frame before; meanwhile the pointer may have left the window.
    if (!state.hover || state.edit || !ImGui::IsMousePosValid()) return;
    // Who clicks it reads the panel that the click has opened, and what lies beside the cell.
    if (rests_where_clicked()) return;
    // On a projector nothing pops up because the mouse happens to rest there.
    if (state.presenter && state.mouse_age > presenter_buttons_seconds) return;
    const CellRef cell = *state.hover;
    const Trace& trace = *state.trace;
    const Held held = holding(trace, cell, state.cursor.step);
    if (!held) return;
    const int made = held.step;
    const std::string first =
        cell_text(trace, cell, state.cursor.step) + " = " + format_full(value_at(*held.value, cell));
    std::string second = std::string(info(cell.slot).what);
    if (made >= 0) second += ", step " + str(made + 1);
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
    const float size = state.presenter ? size::far : size::body, line = size * 1.5f;
    const float w = std::max({text_width(Face::mono, size, first), text_width(Face::regular, size, second),
                              text_width(Face::mono, size, third), text_width(Face::regular, size, fourth)}) +
                    28;
    const float h = line * px(2 + !third.empty() + !fourth.empty()) + 14;
    const float W = ImGui::GetIO().DisplaySize.x / main.s, H = ImGui::GetIO().DisplaySize.y / main.s;
    const Point mouse = main.mouse();
    const float x = std::clamp(mouse.x + 16, 4.0f, std::max(4.0f, W - w - 4)),
                y = mouse.y + 20 + h < H ? mouse.y + 20 : mouse.y - h - 12;
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    c.rect(x, y, w, h, c.theme->raised, radius::control);
    c.frame(x + .5f, y + .5f, w - 1, h - 1, c.theme->line2, 1, radius::control);
    c.text(x + 14, y + 7 + line / 2, first, size, 0, Face::mono);
    c.text(x + 14, y + 7 + line * 1.5f, second, size, c.theme->t2);
    if (!third.empty()) c.text(x + 14, y + 7 + line * 2.5f, third, size, 0, Face::mono);
    if (!fourth.empty()) c.text(x + 14, y + h - 7 - line / 2, fourth, size, 0);
}

// A large trace is being built; what is shown is still the problem before.
void busy(const Canvas& main, float W) {
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    c.pill(W / 2, 80, "building the walk …", c.min_text > 20 ? size::far : size::body, c.theme->t1,
           c.theme->inv, Align::center);
}

void notice(const Canvas& main, const AppState& state, float W, float H) {
    constexpr float seconds = 8, fade = 0.4f;
    if (state.notice.empty() || state.notice_age > seconds) return;
    const float size = state.presenter ? size::far : size::lead,
                most = std::min(W - 48, state.presenter ? 1200.0f : 720.0f);
    const float text = std::min(text_width(Face::regular, size, state.notice), most - 32),
                h = paragraph_height(text + 2, state.notice, size, 3) + 20;
    const float x = (W - text - 32) / 2;
    const float y = (state.presenter ? H - 24 : layout_for(W, H).timeline.y - 10) - h;
    Canvas c = main.faded(std::clamp((seconds - state.notice_age) / fade, 0.0f, 1.0f));
    c.dl = ImGui::GetForegroundDrawList();
    c.rect(x, y, text + 32, h, c.theme->raised, radius::panel);
    c.frame(x + .5f, y + .5f, text + 31, h - 1, c.theme->t3, 1, radius::panel);
    c.paragraph(x + 16, y + 10, text + 2, state.notice, size, c.theme->t1, 3);
}

}  // namespace

void overlays(const Canvas& c, AppState& state, float W, float H) {
    if (shows_before(state))
        before_pill(c, state, W, H);
    else if (state.marks)
        state.marks->before_step = -1;  // a step was taken
    draw_cards(c, state, W, H);
    if (state.pending) busy(c, W);
    hover_card(c, state);
    notice(c, state, W, H);
}

}  // namespace tilewalk::ui
