// The list of keys, by what they are for; what is typed leaves those that it fits.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/key_cap.h"
#include "app/ui/parts/matrix.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct Entry {
    const char* heading = nullptr;  // a group; null: a shortcut
    const Shortcut* key = nullptr;
};

// Every word that was typed stands somewhere in the keys, the action or the group.
bool fits(const Shortcut& s, const std::string& typed) {
    const std::string all = lower_case(std::string(s.keys) + " " + s.action + " " + s.group);
    const std::string words = lower_case(typed) + " ";
    for (std::size_t at = 0, end; (end = words.find(' ', at)) != std::string::npos; at = end + 1)
        if (all.find(words.substr(at, end - at)) == std::string::npos) return false;
    return true;
}

using Column = std::vector<Entry>;

// The groups one after the other, each whole, in the column that is shortest so far.
std::vector<Column> columns(const std::string& typed, int count) {
    std::vector<Column> groups, out(static_cast<std::size_t>(count));
    const char* last = "";
    for (const Shortcut& s : shortcuts()) {
        if (!fits(s, typed)) continue;
        if (std::string_view(last) != s.group) groups.push_back({{last = s.group, nullptr}});
        groups.back().push_back({nullptr, &s});
    }
    for (const Column& group : groups) {
        const auto shorter = [](const Column& a, const Column& b) { return a.size() < b.size(); };
        Column& column = *std::ranges::min_element(out, shorter);
        column.insert(column.end(), group.begin(), group.end());
    }
    return out;
}

struct Sizes {
    float text, row;
    int columns;
    float card_w, card_h;  // at most
};
// On a projector one column, in its large type, and of the marks nothing: their panels say what they mean.
Sizes sizes_for(bool presenter, float W) {
    if (presenter) return {size::far, 52, 1, 1240, 696};
    return W < 1440 ? Sizes{size::body, 29, 2, 980, 1060} : Sizes{size::body, 29, 3, 1400, 1060};
}

void draw_column(const Canvas& c, const std::vector<Entry>& lines, const Sizes& s, float x, float y, float w,
                 const Rect& window) {
    const Theme& t = *c.theme;
    const float cap = s.row < 40 ? size::small : s.text;
    float keys_w = 0;
    for (const Entry& line : lines)
        if (line.key) keys_w = std::max(keys_w, key_caps_width(line.key->keys, cap) + 14);
    for (const Entry& line : lines) {
        const float middle = y + s.row / 2;
        y += s.row;
        // Rows that reach beyond the card are not drawn at all, instead of cut in two.
        if (middle - s.row / 2 < window.y - 1 || middle + s.row / 2 > window.bottom() + 1) continue;
        if (line.heading) {
            c.text_within(x, middle + 3, w, line.heading, s.text, t.t3, Face::semibold);
            c.line({x, middle + s.row / 2 - 2}, {x + w, middle + s.row / 2 - 2}, t.line);
            continue;
        }
        draw_key_caps(c, x, middle, line.key->keys, cap);
        c.text_within(x + keys_w, middle, w - keys_w, line.key->action, s.text, t.t2);
    }
}

// The two marks that only broken and edited walks have.
void legend(const Canvas& c, float x, float y, float w, float size) {
    const float side = size * 2, half = w / 2;
    for (int n = 0; n < 2; ++n) {
        const float X = x + half * px(n);
        c.rect(X + 1, y + 1, side - 2, side - 2, ramp(*c.theme, Role::S, .6f), 4);
        n == 0 ? wrong_mark(c, X, y, side, side) : edit_mark(c, X, y, side, side);
        c.text_within(X + side + 12, y + side / 2, half - side - 20,
                      n == 0 ? "differs from the true walk" : "differs from before the edit", size,
                      c.theme->t2);
    }
}

void draw_list(const Canvas& c, KeySearch& s, const Rect& a, const Sizes& sizes) {
    const auto lists = columns(s.text, sizes.columns);
    std::size_t longest = 0;
    for (const auto& list : lists) longest = std::max(longest, list.size());
    const float fit = std::max(1.0f, std::floor(a.h / sizes.row)) * sizes.row,
                most = std::max(0.0f, px(longest) * sizes.row - fit);
    s.page = fit;
    s.scroll = std::clamp(s.scroll - ImGui::GetIO().MouseWheel * 3 * sizes.row, 0.0f, most);
    const float from = std::floor(s.scroll / sizes.row + .5f) * sizes.row, w = (a.w - 16) / px(lists.size());
    const Rect window{a.x, a.y, a.w, fit};
    for (std::size_t n = 0; n < lists.size(); ++n)
        draw_column(c, lists[n], sizes, a.x + w * px(n), a.y - from, w - 24, window);
    if (longest == 0) c.text(a.x, a.y + sizes.row / 2, "No key has that.", sizes.text, c.theme->t2);
    if (most > 0) scroll_bar(c, window, from, fit, most + fit);
}

void set_open(AppState& state, bool open) {
    state.show_help = open;
    state.key_search = {};
}

bool answer_key(AppState& state, const KeyPress& press) {
    KeySearch& s = state.key_search;
    const float row = sizes_for(state.presenter, 0).row;
    switch (press.key) {
    case Key::escape:
    case Key::question:
    case Key::f1: set_open(state, false); return true;
    case Key::up: s.scroll -= row; return true;
    case Key::down: s.scroll += row; return true;
    case Key::page_up: s.scroll -= s.page; return true;
    case Key::page_down: s.scroll += s.page; return true;
    case Key::home: s.scroll = 0; return true;
    case Key::end: s.scroll = 1e6f; return true;
    case Key::left:
    case Key::right:
    case Key::enter: return true;  // not for the walk below
    default: return answer_search_key(s.text, press) || press.key == Key::space;
    }
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    KeySearch& s = state.key_search;
    if (type_into(s.text)) s.scroll = 0;
    const bool big = state.presenter;
    const Sizes sizes = sizes_for(big, W);
    const float marks = big ? 0 : sizes.text * 2 + 20, top = big ? 92.0f : 72.0f;
    const float w = std::min(W - 2 * space::window, sizes.card_w), h = std::min(H - 24, sizes.card_h);
    const Rect a = centred(w, h, W, H);
    const auto inside = [&](const Canvas& c) {
        const float title = c.text(a.x + 24, a.y + top / 2, "Keys", big ? 34 : 22, 0, Face::semibold);
        const float field = big ? 56.0f : 38.0f, x = a.x + 24 + title + 32;
        draw_search(c, "find key", x, a.y + (top - field) / 2,
                    std::min(big ? 520.0f : 300.0f, a.right() - 64 - x), field, s.text, "Type to find a key");
        if (close_button(c, "##close help", a)) set_open(state, false);
        draw_list(c, s, {a.x + 24, a.y + top, a.w - 40, a.h - top - marks - 12}, sizes);
        if (!big) legend(c, a.x + 24, a.bottom() - 14 - sizes.text * 2, a.w - 40, sizes.text);
    };
    show_card(main, "Help", a, inside, Below::dimmed);
}

}  // namespace

const Card help_card{.name = "Help",
                     .keys_shown = "?  F1",
                     .action = "keys",
                     .shortcut = {Key::question},
                     .modal = true,
                     .is_open = [](const AppState& s) { return s.show_help; },
                     .open = [](AppState& s) { set_open(s, true); },
                     .answer_key = answer_key,
                     .draw = draw};

}  // namespace tilewalk::ui
