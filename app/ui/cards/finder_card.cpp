// The palette of commands: type what is wanted, Enter does it.
#include "app/ui/cards/cards.h"
#include "app/ui/cards/commands.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/key_cap.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct Sizes {
    float text, small, row, field, kind_w, w, h;
    bool big;
};
Sizes sizes_for(bool presenter) {
    return presenter ? Sizes{30, size::far, 68, 64, 140, 1040, 520, true}
                     : Sizes{size::lead, size::small, 36, 42, 96, 760, 560, false};
}

std::vector<Command> found_now(AppState& state) { return find_commands(commands(state), state.finder->text); }

// The card is closed first: what is run may open another.
void run(AppState& state, const std::function<void(AppState&)>& action) {
    state.finder.reset();
    action(state);
}

void run_chosen(AppState& state, bool other) {
    const std::vector<Command> found = found_now(state);
    if (found.empty()) return;
    const auto at =
        static_cast<std::size_t>(std::clamp<int>(state.finder->at, 0, static_cast<int>(found.size()) - 1));
    run(state, other && found[at].other ? found[at].other : found[at].run);
}

bool answer_key(AppState& state, const KeyPress& press) {
    Finder& finder = *state.finder;
    if (press.ctrl && press.key == Key::k) return state.finder.reset(), true;
    if (press.ctrl || press.alt) return false;
    switch (press.key) {
    case Key::escape: state.finder.reset(); return true;
    case Key::enter: run_chosen(state, press.shift); return true;
    case Key::up: --finder.at; return true;
    case Key::down: ++finder.at; return true;
    case Key::page_up: finder.at -= 8; return true;
    case Key::page_down: finder.at += 8; return true;
    case Key::home: finder.at = 0; return true;
    case Key::end: finder.at = 1 << 20; return true;
    case Key::left:
    case Key::right:
    case Key::space: return true;  // not for the walk below
    default: break;
    }
    const std::string before = finder.text;
    const bool mine = answer_search_key(finder.text, press);
    if (finder.text != before) finder.at = 0;
    return mine;
}

// What it is, of which kind, and its key.
Hot draw_row(const Canvas& c, const Command& command, const Sizes& s, const Rect& a, bool chosen, int n) {
    const Theme& t = *c.theme;
    const Hot hot = hot_area(c, "##command " + str(n), a.x, a.y, a.w, a.h);
    drop_focus_stop();
    if (chosen) c.rect(a.x, a.y + 1, a.w, a.h - 2, t.raised, 7);
    const float edge = s.big ? 18 : 12, key_w = key_caps_width(command.keys, s.small);
    const ImU32 quiet = chosen ? t.t2 : t.t3;
    c.text_within(a.x + edge, a.middle(), s.kind_w - 10, command.kind, s.small, quiet);
    c.text_within(a.x + edge + s.kind_w, a.middle(), a.w - 2 * edge - s.kind_w - key_w - 12, command.title,
                  s.text, 0, chosen ? Face::medium : Face::regular);
    if (key_w == 0) return hot;
    draw_key_caps(c, a.right() - edge - key_w, a.middle(), command.keys, s.small);
    return hot;
}

void draw_list(const Canvas& c, AppState& state, const std::vector<Command>& found, const Sizes& s,
               const Rect& a) {
    Finder& finder = *state.finder;
    const int count = static_cast<int>(found.size()), fit = std::max(1, static_cast<int>(a.h / s.row));
    finder.at = std::clamp(finder.at, 0, std::max(0, count - 1));
    finder.first = std::clamp(finder.first, finder.at - fit + 1, finder.at);
    finder.first = std::clamp(finder.first, 0, std::max(0, count - fit));
    const int last = std::min(count, finder.first + fit);
    int pressed = -1;
    for (int n = finder.first; n < last; ++n) {
        const Rect row{a.x, a.y + s.row * px(n - finder.first), a.w - 12, s.row};
        const Hot hot = draw_row(c, found[static_cast<std::size_t>(n)], s, row, n == finder.at, n);
        const ImVec2 moved = ImGui::GetIO().MouseDelta;
        if (hot.hovered && (moved.x != 0 || moved.y != 0)) finder.at = n;
        if (hot.clicked) pressed = n;
    }
    if (count > fit) scroll_bar(c, {a.x, a.y, a.w, s.row * px(fit)}, px(finder.first), px(fit), px(count));
    if (pressed >= 0) run(state, found[static_cast<std::size_t>(pressed)].run);
}

void draw_foot(const Canvas& c, const Command* chosen, const Sizes& s, float x, float y, float w) {
    std::string words = "↑ ↓ choose   Enter does it   Esc closes";
    if (chosen && chosen->other) words += "   Shift Enter: the second";
    c.text_within(x, y, w, words, s.small, c.theme->t3);
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const std::shared_ptr<Finder> open = state.finder;  // it may be closed while it is drawn
    Finder& finder = *open;
    const Sizes s = sizes_for(state.presenter);
    if (++finder.frames > 2 && type_into(finder.text)) finder.at = 0;
    if (ImGui::GetIO().MouseWheel != 0)
        finder.at -= static_cast<int>(std::lround(ImGui::GetIO().MouseWheel * 3));
    const std::vector<Command> found = found_now(state);
    // As high as what was found, from the same place on.
    const float most = std::min(H - 2 * space::window, s.h), around = s.field + (s.big ? 112.0f : 80.0f);
    const float w = std::min(W - 2 * space::window, s.w),
                rows = px(std::clamp<std::size_t>(found.size(), 3, 100));
    const Rect a{(W - w) / 2, std::max(16.0f, (H - most) * .38f), w, std::min(most, around + rows * s.row)};
    show_card(
        main, "Commands", a,
        [&](const Canvas& c) {
            c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, c.theme->line2, 1, radius::panel);
            const float pad = s.big ? 20 : 16, foot = s.big ? 56 : 38, close = 48;
            draw_search(c, "find command", a.x + pad, a.y + pad, a.w - 2 * pad - close, s.field, finder.text,
                        "An action, lesson, example, fault or term");
            if (icon_button(c, "##close commands", a.right() - pad - 36, a.y + pad + (s.field - 36) / 2, 36,
                            36, Icon::close, {.tooltip = "Close (Esc)"}))
                return state.finder.reset();
            const float top = a.y + pad + s.field + 10, bottom = a.bottom() - foot;
            const Command* chosen = found.empty() ? nullptr
                                                  : &found[static_cast<std::size_t>(std::clamp<int>(
                                                        finder.at, 0, static_cast<int>(found.size()) - 1))];
            draw_foot(c, chosen, s, a.x + pad + 4, bottom + foot / 2, a.w - 2 * pad - 8);
            c.line({a.x + pad, bottom + .5f}, {a.right() - pad, bottom + .5f}, c.theme->line);
            if (found.empty())
                c.paragraph(
                    a.x + pad + 4, top + 10, a.w - 2 * pad - 8,
                    "Nothing is called that. Try one word of it: an action, a lesson, an example, a fault, "
                    "a symbol or a term.",
                    s.text, c.theme->t2, 4);
            else
                draw_list(c, state, found, s, {a.x + pad, top, a.w - 2 * pad + 6, bottom - 6 - top});
        },
        Below::dimmed);
}

}  // namespace

const Card finder_card{.name = "Commands",
                       .keys_shown = "Ctrl K  :",
                       .action = "find and do anything",
                       .shortcut = {Key::k, false, true},
                       .before_focus = true,
                       .modal = true,
                       .is_open = [](const AppState& s) { return s.finder != nullptr; },
                       .open = [](AppState& s) { s.finder = std::make_shared<Finder>(); },
                       .answer_key = answer_key,
                       .draw = draw};

}  // namespace tilewalk::ui
