// What can be broken on purpose, each with its key: the list of faults that lies over the stage.
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/key_cap.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct ListSizes {
    float text, title, row, w, pad;
};
ListSizes list_sizes(const AppState& state) {
    return state.presenter ? ListSizes{size::far, 36, 50, 1160, 28} : ListSizes{size::body, 20, 32, 640, 18};
}

constexpr const char* no_faults_words = "Nothing in this lesson can be left out. The tiled lessons, forward "
                                        "and backward, and those that merge can be "
                                        "broken.";

std::string key_name(Key key) {
    const char printed = printed_by(key);
    return {printed >= 'a' ? static_cast<char>(printed - 'a' + 'A') : printed};
}

// "exp(S − m_old)" with its subscript
Line with_subscript(const std::string& words) {
    const std::size_t at = words.find("_old");
    if (at == std::string::npos) return pieces(words);
    return pieces(words.substr(0, at), sub("old"), words.substr(at + 4));
}

// A row of the list: its key, what it is called, what it does. True when clicked.
bool fault_row(const Canvas& c, AppState& state, const StageFault& fault, int n, const Rect& a,
               const ListSizes& s, float what_x) {
    const Theme& t = *c.theme;
    const bool on = is_on(*state.problem, fault), at = state.lists.fault_at == n;
    const Hot hot = hot_area(c, std::string("##") + fault.title, a.x, a.y, a.w, a.h);
    if ((hot.hovered && state.mouse_age == 0) || hot.focused) state.lists.fault_at = n;
    if (on || at) c.rect(a.x, a.y + 1, a.w, a.h - 2, t.raised, 7);
    if (on) c.rect(a.x, a.y + 1, 5, a.h - 2, fault.rounds() ? t.t1 : t.danger, 2);
    const float x = a.x + 14, y = a.middle(), cap = draw_key_cap(c, x, y, key_name(fault.key), s.text);
    c.text_within(x + cap + 16, y, (what_x > 0 ? what_x : a.right()) - x - cap - 24, fault.title, s.text,
                  t.t1, Face::medium);
    if (what_x > 0) c.rich(what_x, y, with_subscript(fault.what), s.text);
    return hot.clicked;
}

std::string x_words(const AppState& state) {
    if (state.problem->broken()) return "X repairs.";
    const std::string last = broken_last(state);
    return last.empty() ? "X or Esc closes." : "X breaks again: " + last + ".";
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    if (state.page == Page::inside) return draw_inside_faults(main, state, W, H);
    const ListSizes s = list_sizes(state);
    const std::vector<StageFault> all = stage_faults(*state.lesson);
    const auto faults =
        static_cast<int>(std::ranges::count_if(all, [](const StageFault& f) { return !f.rounds(); }));
    const int formats = static_cast<int>(all.size()) - faults, format_rows = (formats + 2) / 3;
    const float w = std::min(W - 2 * space::window, s.w), inner = w - 2 * s.pad, head = s.title * 2;
    const float none = paragraph_height(inner, no_faults_words, s.text, 4);
    const float h =
        head + (all.empty() ? none + 10 : s.row * px(faults + format_rows) + s.text * 2.4f) + s.text * 2.4f;
    const Rect area = centred(w, h, W, H);
    const auto inside = [&](const Canvas& c) {
        const Theme& t = *c.theme;
        const float x = area.x + s.pad;
        c.frame(area.x + 1, area.y + 1, w - 2, h - 2, t.line2, 1, 9);
        c.text(x, area.y + head * .55f, "Break it on purpose", s.title, 0, Face::semibold);
        if (icon_button(c, "##close faults", area.right() - s.row - 8, area.y + 8, s.row - 6, s.row - 6,
                        Icon::close, {.tooltip = "Close (Esc)"}))
            state.lists.faults = false;
        float y = area.y + head;
        if (all.empty()) c.paragraph(x, y, inner, no_faults_words, s.text, t.t2, 4);
        const StageFault* chosen = nullptr;
        float what_x = 0;
        for (const StageFault& f : all)
            if (!f.rounds()) what_x = std::max(what_x, text_width(Face::medium, s.text, f.title));
        what_x += x + s.row + 44;
        for (int n = 0; n < faults; ++n, y += s.row)
            if (fault_row(c, state, all[static_cast<std::size_t>(n)], n, {x - 8, y, inner + 16, s.row}, s,
                          what_x))
                chosen = &all[static_cast<std::size_t>(n)];
        if (formats > 0) {
            const char* const words = state.lesson->uses(takes_savings)
                                          ? "Not broken: the formats of a kernel, and what newer ones save"
                                          : "Rounded, not broken: the formats of a kernel";
            c.text_within(x, y + s.text * 1.2f, inner, words, s.text, t.t2);
            y += s.text * 2.4f;
        }
        for (int n = 0; n < formats; ++n) {
            const float third = (inner + 16) / 3;
            const Rect a{x - 8 + third * px(n % 3), y + s.row * px(n / 3), third - 8, s.row};
            const auto at = static_cast<std::size_t>(faults + n);
            if (fault_row(c, state, all[at], faults + n, a, s, 0)) chosen = &all[at];
        }
        c.text_within(x, area.bottom() - s.text * 1.25f, inner, x_words(state), s.text, t.t2);
        if (chosen) choose_fault(state, *chosen);
        if (clicked_beside()) state.lists.faults = false;
    };
    show_card(main, "Faults", area, inside, Below::dimmed);
}

bool answer_key(AppState& state, const KeyPress& press) {
    if (state.page == Page::inside) return answer_inside_faults(state, press);
    const std::vector<StageFault> all = stage_faults(*state.lesson);
    const int last = static_cast<int>(all.size()) - 1;
    int& at = state.lists.fault_at;
    const auto named = std::ranges::find(all, press.key, &StageFault::key);
    if (!press.ctrl && !press.alt && named != all.end()) return choose_fault(state, *named), true;
    switch (press.key) {
    case Key::x: break_or_repair(state); return true;
    case Key::escape: state.lists.faults = false; return true;
    case Key::up: at = std::max(0, at - 1); return true;
    case Key::down: at = std::min(last, at + 1); return true;
    case Key::home: at = 0; return true;
    case Key::end: at = std::max(0, last); return true;
    case Key::enter:
        if (at >= 0 && at <= last) choose_fault(state, all[static_cast<std::size_t>(at)]);
        return true;
    default: break;
    }
    if (digit_of(press.key) > 0 && !press.ctrl && !press.alt) return true;  // no chapter by a slip
    // Who goes from step to step may keep it in sight; whatever else is asked for comes in its place.
    if (!is_direction(press.key) && press.key != Key::space) state.lists.faults = false;
    return false;
}

}  // namespace

const Card fault_card{
    .name = "Faults",
    .keys_shown = "Shift X",
    .action = "list of faults, each with its key",
    .shortcut = {Key::x, true},
    .of_walk = true,
    .before_focus = true,
    .is_open =
        [](const AppState& s) { return s.lists.faults && (s.page == Page::walk || s.page == Page::inside); },
    .open =
        [](AppState& s) {
            s.lists.faults = !s.lists.faults;
            s.lists.fault_at = 0;
        },
    .answer_key = answer_key,
    .draw = draw};

}  // namespace tilewalk::ui
