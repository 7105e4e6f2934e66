// The menu: what the program can do beside stepping, with the key of each.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/state.h"
#include "core/base/platform.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

namespace {

struct Entry {
    const char* name;
    const char* key;
    const Card* card = nullptr;  ///< that it opens; null: `act`
    void (*act)(AppState&) = nullptr;
    bool of_walk = false;  ///< speaks of the walk: of no use on the other pages
};

constexpr Entry entries[] = {
    {"Find anything", "Ctrl K", &finder_card},
    {"Guided tour", "U", &tour_card},
    {"Questions", "Q", &quiz_card, nullptr, true},
    {"Where does this come from", "W", nullptr, [](AppState& s) { inspect(s, chosen_cell(s)); }, true},
    {"Breakpoints", "Shift F9", &marks_card, nullptr, true},
    {"Save picture or hand-out", "Ctrl S", &save_card},
    {"Copy matrix", "Ctrl Shift C", &matrix_menu_card, nullptr, true},
    {"Symbols and terms", "K", &glossary_card},
    {"Settings", "O", &settings_card},
    {"Keys", "?", &help_card},
    {"Presenter mode", "P", nullptr, [](AppState& s) { s.presenter = true; }},
    {"Quit", "", nullptr, [](AppState& s) { s.quit = true; }},
};
// A page of a browser is left, not ended.
constexpr int count = static_cast<int>(std::size(entries)) - (in_browser ? 1 : 0);

bool offered(const AppState& state, const Entry& entry) { return !entry.of_walk || state.page == Page::walk; }

void choose(AppState& state, const Entry& entry) {
    state.show_menu = false;
    entry.card ? entry.card->open(state) : entry.act(state);
}

// The next entry that can be chosen, in a ring.
int next_entry(const AppState& state, int at, int by) {
    for (int n = 0; n < count; ++n) {
        at = (at + by + count) % count;
        if (offered(state, entries[at])) return at;
    }
    return at;
}

void open_menu(AppState& state) {
    state.show_menu = !state.show_menu;
    state.menu_at = 0;
}

bool answer_key(AppState& state, const KeyPress& press) {
    switch (press.key) {
    case Key::up: state.menu_at = next_entry(state, state.menu_at, -1); break;
    case Key::tab:
    case Key::down: state.menu_at = next_entry(state, state.menu_at, press.shift ? -1 : 1); break;
    case Key::enter:
    case Key::space: choose(state, entries[state.menu_at]); break;
    default: state.show_menu = false; break;
    }
    return true;
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const bool big = state.presenter;
    const float size = big ? size::far : size::body, row = big ? 52.0f : 34.0f;
    const float w = big ? 620.0f : 304.0f, h = row * px(count) + 16;
    const Rect area{W - 12 - w, big ? std::max(8.0f, (H - h) / 2) : 54.0f, w, h};
    show_card(main, "Menu", area, [&](const Canvas& c) {
        c.frame(area.x + .5f, area.y + .5f, w - 1, h - 1, c.theme->line2, 1, radius::panel);
        float y = area.y + 8;
        for (int n = 0; n < count; ++n, y += row) {
            const Entry& entry = entries[n];
            const bool can = offered(state, entry);
            const Hot hot = hot_area(c, std::string("##") + entry.name, area.x + 6, y, w - 12, row);
            if (hot.hovered && can) state.menu_at = n;
            if (state.menu_at == n) c.rect(area.x + 6, y + 1, w - 12, row - 2, c.theme->raised, 7);
            const ImU32 ink = can ? c.theme->t1 : c.theme->t3;
            c.text(area.x + 18, y + row / 2, entry.name, size, ink, Face::medium);
            c.text(area.right() - 18, y + row / 2, entry.key, big ? size::far : size::small, c.theme->t3,
                   Align::right);
            if (hot.clicked && can) choose(state, entry);
        }
        if (clicked_beside()) state.show_menu = false;
    });
}

}  // namespace

const Card menu_card{.name = "Menu",
                     .keys_shown = "F10",
                     .action = "menu",
                     .shortcut = {Key::f10},
                     .before_focus = true,
                     .is_open = [](const AppState& s) { return s.show_menu; },
                     .open = open_menu,
                     .answer_key = answer_key,
                     .draw = draw};

}  // namespace tilewalk::ui
