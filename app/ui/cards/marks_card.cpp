// The card of breakpoints: a field for a condition, and what there is already.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/marks.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tilewalk::ui {

namespace {

struct Sizes {
    float text, row, w, field;
};
Sizes sizes_of(const AppState& state) {
    return state.presenter ? Sizes{size::far, 52, 900, 56} : Sizes{size::body, 34, 460, 36};
}

// The names that a condition can use here: slots that this walk writes.
std::string names_of(const Trace& trace) {
    std::set<std::string> names;
    for (int s = 0; s < slot_count; ++s) {
        const Slot slot = static_cast<Slot>(s);
        for (int tile = 0; tile < trace.tiles(slot); ++tile)
            if (trace.live(slot, tile, trace.size()).step >= 0) names.insert(info(slot).name);
    }
    std::string out = "Names: i, j, step, op";
    for (const std::string& name : names) out += ", " + name;
    return out;
}

void field(const Canvas& c, AppState& state, const Sizes& s, float x, float y, float w) {
    Marks& marks = *state.marks;
    const float add_w = button_width("Add", s.text);
    const FieldLook look{.hint = "alpha < 1 && i == 1",
                         .focus_now = ImGui::IsWindowAppearing() || marks.focus,
                         .invalid = !marks.error.empty(),
                         .face = Face::mono,
                         .size = s.text};
    marks.focus = false;
    const FieldResult typed =
        text_field(c, "##condition", x, y, w - add_w - 10, s.field, marks.text, sizeof marks.text, look);
    if (typed.changed) marks.error.clear();
    if (typed.active) marks.chosen = -1;
    const ButtonLook add{.primary = true, .size = s.text};
    const bool clicked = button(c, "##add condition", x + w - add_w, y, add_w, s.field, "Add", add);
    if ((typed.entered || clicked) && !add_condition(state, marks.text)) marks.focus = true;
}

void list(const Canvas& c, AppState& state, const Sizes& s, float x, float y, float w, int shown) {
    const Marks& marks = *state.marks;
    const int count = static_cast<int>(marks.breakpoints.size()),
              first = std::clamp(marks.chosen - shown + 1, 0, std::max(0, count - shown));
    int removed = -1;
    for (int n = first; n < std::min(count, first + shown); ++n) {
        const float Y = y + s.row * px(n - first), middle = Y + s.row / 2;
        if (n == marks.chosen) c.frame(x - 4, Y + 1, w + 8, s.row - 2, c.theme->focus, 1.6f, 6);
        c.disc(x + 8, middle, s.text * .3f, c.theme->danger);
        c.text_within(x + 24, middle, w - 24 - s.row, marks.breakpoints[static_cast<std::size_t>(n)].text(),
                      s.text, 0, Face::mono);
        if (icon_button(c, "##remove " + str(n), x + w - s.row + 4, Y + 2, s.row - 4, s.row - 4, Icon::close,
                        {.quiet = true, .tooltip = "Remove (Delete)"}))
            removed = n;
    }
    if (removed >= 0) remove_breakpoint(state, removed);
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    Marks& marks = *state.marks;
    const Sizes s = sizes_of(state);
    const float w = std::min(s.w, W - 2 * space::window), inner = w - 40, line = s.text * 1.45f;
    const std::string words = marks.error.empty() ? names_of(*state.trace) : marks.error;
    const int word_lines = state.presenter ? 4 : 3;
    const float words_h = paragraph_height(inner, words, s.text, word_lines);
    const float top = s.text * 2.6f + line + 8 + s.field + 10;
    const int count = static_cast<int>(marks.breakpoints.size());
    const float list_room = H - 60 - top - words_h - 30;
    const int shown = std::min(count, std::max(1, static_cast<int>(list_room / s.row)));
    const float h = std::ceil(top + words_h + 18 + px(shown) * s.row + (count ? 8.0f : 0.0f));
    const Rect area{(W - w) / 2, std::max(16.0f, (H - h) * .4f), w, h};
    show_card(main, "Breakpoints", area, [&](const Canvas& c) {
        c.frame(area.x + 1, area.y + 1, w - 2, h - 2, c.theme->t3, 1, 9);
        const float x = area.x + 20;
        float y = area.y + s.text * 1.6f;
        c.text(x, y, "Breakpoints", s.text * 1.2f, 0, Face::semibold);
        if (icon_button(c, "##close breakpoints", area.right() - s.row - 10, area.y + 8, s.row, s.row,
                        Icon::close))
            marks.card = false;
        y = area.y + s.text * 2.6f;
        c.text_within(x, y + line / 2, inner,
                      "Playing stops where this holds (Enter adds, Delete removes):", s.text, c.theme->t2);
        y += line + 8;
        field(c, state, s, x, y, inner);
        y += s.field + 10;
        c.paragraph(x, y, inner, words, s.text, marks.error.empty() ? c.theme->t2 : c.theme->t1, word_lines,
                    marks.error.empty() ? Face::regular : Face::medium);
        list(c, state, s, x, y + words_h + 10, inner, shown);
    });
}

// The card's own keys; the text field keeps letters and the caret's.
bool answer_key(AppState& state, const KeyPress& press) {
    Marks& marks = *state.marks;
    const int last = static_cast<int>(marks.breakpoints.size()) - 1;
    switch (press.key) {
    case Key::escape: marks.card = false; return true;
    case Key::up: marks.chosen = std::max(-1, marks.chosen - 1); return true;
    case Key::down: marks.chosen = std::min(last, marks.chosen + 1); return true;
    case Key::del:
        if (marks.chosen >= 0) remove_breakpoint(state, marks.chosen);
        return true;
    case Key::enter: marks.focus = true; return true;  // back to the field
    default: return false;
    }
}

}  // namespace

const Card marks_card{
    .name = "Breakpoints",
    .keys_shown = "Shift F9",
    .action = "breakpoints, also on a condition",
    .shortcut = {Key::f9, true},
    .of_walk = true,
    .is_open = [](const AppState& s) { return s.marks && s.marks->card && s.page == Page::walk; },
    .open = toggle_marks_card,
    .answer_key = answer_key,
    .draw = draw};

}  // namespace tilewalk::ui
