// The list of what a kernel can be run without, over the page: a digit, or arrow keys and Enter.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/key_cap.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct FaultRows {
    float text, title, row, w, pad;
};
FaultRows fault_rows(const AppState& state) {
    return state.presenter ? FaultRows{size::far, 36, 46, 1200, 28} : FaultRows{size::body, 20, 30, 760, 18};
}

constexpr const char* nothing_recorded = "Nothing is recorded yet: the kernel runs.";

// A row: its key, what it is called, what the kernel's comment says of it. True when clicked.
bool inside_fault_row(const Canvas& c, AppState& state, const InsideFault& fault, int n, const Rect& a,
                      const FaultRows& s, float words_x) {
    const Theme& t = *c.theme;
    const bool on = state.inside.fault == fault.name, at = state.lists.fault_at == n;
    const Hot hot = hot_area(c, "##" + fault.title, a.x, a.y, a.w, a.h);
    if ((hot.hovered && state.mouse_age == 0) || hot.focused) state.lists.fault_at = n;
    if (on || at) c.rect(a.x, a.y + 1, a.w, a.h - 2, t.raised, 7);
    if (on) c.rect(a.x, a.y + 1, 5, a.h - 2, t.danger, 2);
    const float x = a.x + 14, y = a.middle(), cap = key_cap_width("9", s.text);
    if (n < 9 && fault.offered) draw_key_cap(c, x, y, str(n + 1), s.text);
    c.text_within(x + cap + 16, y, words_x - x - cap - 24, fault.title, s.text, fault.offered ? t.t1 : t.t3,
                  Face::medium);
    c.text_within(words_x, y, a.right() - words_x - 12, fault.words, s.text, fault.offered ? t.t2 : t.t3);
    if (hot.hovered && fault.offered) tooltip(c, fault.name + ": " + fault.words);
    return hot.clicked && fault.offered;
}

std::string foot_words(const AppState& state) {
    if (!state.inside.fault.empty()) return "X puts it back. Esc closes.";
    const std::string& last = state.kernel_walk->broken_last;
    return last.empty() ? "X or Esc closes." : "X breaks again: " + last + ". Esc closes.";
}

}  // namespace

void draw_inside_faults(const Canvas& main, AppState& state, float W, float H) {
    inside_page(state);
    const FaultRows s = fault_rows(state);
    const std::vector<InsideFault> all = inside_faults(state);
    const float w = std::min(W - 2 * space::window, s.w), head = s.title * 2, foot = s.text * 2.6f;
    const float row =
        std::min(s.row, (H - 2 * space::window - head - foot) / px(std::max<std::size_t>(1, all.size())));
    const float h = head + row * px(std::max<std::size_t>(1, all.size())) + foot;
    const Rect area = centred(w, h, W, H);
    const auto rows = [&](const Canvas& c) {
        const Theme& t = *c.theme;
        const float x = area.x + s.pad, inner = w - 2 * s.pad;
        c.frame(area.x + 1, area.y + 1, w - 2, h - 2, t.line2, 1, 9);
        c.text_within(x, area.y + head * .55f, inner - 60, "Run " + state.inside.kernel + " without …",
                      s.title, t.t1, Face::semibold);
        if (icon_button(c, "##close faults", area.right() - s.row - 8, area.y + 8, s.row - 4, s.row - 4,
                        Icon::close, {.tooltip = "Close (Esc)"}))
            state.lists.faults = false;
        float y = area.y + head, words_x = 0;
        if (all.empty()) c.text_within(x, y + row / 2, inner, nothing_recorded, s.text, t.t2);
        for (const InsideFault& f : all)
            words_x = std::max(words_x, text_width(Face::medium, s.text, f.title));
        words_x = std::min(words_x, inner * .5f) + x + row + 36;
        std::string chosen;
        for (std::size_t n = 0; n < all.size(); ++n, y += row)
            if (inside_fault_row(c, state, all[n], static_cast<int>(n), {x - 8, y, inner + 16, row}, s,
                                 words_x))
                chosen = all[n].name;
        c.text_within(x, area.bottom() - s.text * 1.3f, inner, foot_words(state), s.text, t.t2);
        if (!chosen.empty()) choose_inside_fault(state, chosen);
        if (clicked_beside()) state.lists.faults = false;
    };
    show_card(main, "Faults", area, rows, Below::dimmed);
}

bool answer_inside_faults(AppState& state, const KeyPress& press) {
    const std::vector<InsideFault> all = inside_faults(state);
    const int last = std::max(0, static_cast<int>(all.size()) - 1);
    const auto choose = [&](int n) {
        if (n >= 0 && n < static_cast<int>(all.size()) && all[static_cast<std::size_t>(n)].offered)
            choose_inside_fault(state, all[static_cast<std::size_t>(n)].name);
    };
    int& at = state.lists.fault_at;
    const int digit = press.ctrl || press.alt ? 0 : digit_of(press.key);
    if (digit > 0) return choose(digit - 1), true;
    switch (press.key) {
    case Key::x: return break_or_repair_inside(state), true;
    case Key::escape: return state.lists.faults = false, true;
    case Key::up: return at = std::max(0, at - 1), true;
    case Key::down: return at = std::min(last, at + 1), true;
    case Key::home: return at = 0, true;
    case Key::end: return at = last, true;
    case Key::enter: return choose(at), true;
    default: return false;
    }
}

}  // namespace tilewalk::ui
