// The problem in large letters, for the stage: what one changes while others look on.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

template <class Change> void change_problem(AppState& state, Change change) {
    Problem changed = latest_problem(state);
    change(changed);
    mark_changed(changed);
    set_problem(state, std::move(changed));
}

void next_example(AppState& state, int by) {
    // One that was changed still bears its title.
    const std::string& title = latest_problem(state).title;
    const auto now =
        std::ranges::find_if(state.examples, [&](const Problem& p) { return title.starts_with(p.title); });
    const int count = static_cast<int>(state.examples.size());
    if (count == 0) return;
    const int at =
        now == state.examples.end() ? (by > 0 ? -1 : 0) : static_cast<int>(now - state.examples.begin());
    choose_example(state, (at + by + count) % count);
}

// A line of the card: the arrows at its sides take the next or the one before.
struct Choice {
    const char* name;
    std::string (*value)(const Problem&);
    void (*change)(AppState&, int by);
};
const Choice choices[] = {
    {"Example", [](const Problem& p) { return p.title; }, next_example},
    {"Br, query rows of a tile", [](const Problem& p) { return str(std::min(p.Br, p.N())); },
     [](AppState& s, int by) {
         change_problem(s, [by](Problem& p) { p.Br = std::clamp(std::min(p.Br, p.N()) + by, 1, p.N()); });
     }},
    {"Bc, key rows of a tile", [](const Problem& p) { return str(std::min(p.Bc, p.N_kv())); },
     [](AppState& s, int by) {
         change_problem(s,
                        [by](Problem& p) { p.Bc = std::clamp(std::min(p.Bc, p.N_kv()) + by, 1, p.N_kv()); });
     }},
    {"Causal mask", [](const Problem& p) { return std::string(p.causal ? "on" : "off"); },
     [](AppState& s, int) { change_problem(s, [](Problem& p) { p.causal = !p.causal; }); }},
    {"Scale 1/√d",
     [](const Problem& p) { return std::string(p.scale.kind == Scale::Kind::none ? "off" : "on"); },
     [](AppState& s, int) {
         change_problem(s, [](Problem& p) {
             p.scale.kind = p.scale.kind == Scale::Kind::none ? Scale::Kind::sqrt : Scale::Kind::none;
         });
     }},
};
constexpr int choice_count = static_cast<int>(std::size(choices));
constexpr const char* other_words = "Numbers, words, files: in the normal view (Esc, P, I).";

void draw(const Canvas& main, AppState& state, float W, float H) {
    const bool big = state.presenter;
    const float size = big ? size::far : size::body, row = big ? 58.0f : 36.0f, pad = big ? 28.0f : 18.0f;
    const float w = std::min(W - 2 * space::window, big ? 1080.0f : 560.0f), head = size * 2.6f;
    const float h = head + row * px(choice_count) + size * 2.4f;
    const Rect area = centred(w, h, W, H);
    const auto inside = [&](const Canvas& c) {
        const Theme& t = *c.theme;
        const float x = area.x + pad, right = area.right() - pad, side = row - 12, value_x = x + w * .4f;
        c.frame(area.x + 1, area.y + 1, w - 2, h - 2, t.line2, 1, 9);
        c.text(x, area.y + head * .55f, "Problem", big ? 36.0f : 20.0f, 0, Face::semibold);
        if (icon_button(c, "##close stage problem", area.right() - side - 12, area.y + 10, side, side,
                        Icon::close, {.tooltip = "Close (Esc)"}))
            state.lists.problem = false;
        float y = area.y + head;
        for (int n = 0; n < choice_count; ++n, y += row) {
            const Choice& choice = choices[n];
            if (state.lists.problem_at == n) c.rect(x - 8, y + 1, w - 2 * pad + 16, row - 2, t.raised, 7);
            c.text_within(x + 8, y + row / 2, value_x - x - 16, choice.name, size, t.t2);
            const std::string id = std::string("##") + choice.name;
            if (icon_button(c, id + " less", value_x, y + 6, side, side, Icon::back, {.quiet = true}))
                state.lists.problem_at = n, choice.change(state, -1);
            if (icon_button(c, id + " more", right - side, y + 6, side, side, Icon::forward, {.quiet = true}))
                state.lists.problem_at = n, choice.change(state, 1);
            c.text_within((value_x + right) / 2, y + row / 2, right - value_x - 2 * side - 16,
                          choice.value(*state.problem), size, t.t1, Face::medium, Align::center);
        }
        c.text_within(x, area.bottom() - size * 1.25f, w - 2 * pad, other_words, size, t.t2);
        if (clicked_beside()) state.lists.problem = false;
    };
    show_card(main, "Problem on stage", area, inside, Below::dimmed);
}

bool answer_key(AppState& state, const KeyPress& press) {
    int& at = state.lists.problem_at;
    if (press.ctrl || press.alt) return false;
    switch (press.key) {
    case Key::escape:
    case Key::i: state.lists.problem = false; return true;
    case Key::up: at = std::max(0, at - 1); return true;
    case Key::down: at = std::min(choice_count - 1, at + 1); return true;
    case Key::left: choices[at].change(state, -1); return true;
    case Key::right:
    case Key::enter: choices[at].change(state, 1); return true;
    default: return false;
    }
}

}  // namespace

const Card problem_card{.name = "Problem on stage",
                        .keys_shown = "Shift I",
                        .action = "problem in large letters: example, tiles, mask",
                        .shortcut = {Key::i, true},
                        .of_walk = true,
                        .before_focus = true,
                        .is_open = [](const AppState& s) { return s.lists.problem && s.page == Page::walk; },
                        .open = [](AppState& s) { s.lists.problem = !s.lists.problem; },
                        .answer_key = answer_key,
                        .draw = draw};

}  // namespace tilewalk::ui
