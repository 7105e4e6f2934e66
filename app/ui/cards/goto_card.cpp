// To a step by its number.
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <cstdlib>

namespace tilewalk::ui {

namespace {

/// What is walked through: the lesson, or a warp of the kernel.
struct Walked {
    std::string what;  ///< "the walk"
    int steps = 0;
};
Walked walked(const AppState& state) {
    if (state.page != Page::inside) return {"the walk", state.trace->size()};
    const InsidePlace at = place_inside(state);
    return {"warp " + str(at.warp), at ? at.steps().count(at.warp) : 0};
}

// The kernel is on its way: how many steps it has is not known yet.
bool still_runs(const AppState& state) {
    return state.page == Page::inside && state.kernel_walk && state.kernel_walk->run && !place_inside(state);
}

void go_to_typed_step(AppState& state) {
    char* end = nullptr;
    const long step = std::strtol(state.goto_text, &end, 10);
    const Walked of = walked(state);
    const bool number = end != state.goto_text && *end == 0 && step >= 1;
    if (number && still_runs(state)) {
        state.inside.playing = false;
        state.inside.step = static_cast<int>(std::min(step, 1L << 30)) - 1;  // of fewer steps it is the last
        state.show_goto = false;
        return notify(state,
                      "The kernel still runs; step " + str(step) + " is shown when its record is there.");
    }
    if (!number || step > of.steps) {
        notify(state, "There is no step \"" + std::string(state.goto_text) + "\"; " + of.what +
                          (of.steps == 0 ? " has none." : " has steps 1 to " + str(of.steps) + "."));
        state.goto_focus = true;  // to be corrected
        return;
    }
    if (state.page == Page::inside)
        state.inside.playing = false, go_inside(state, state.inside.warp, static_cast<int>(step) - 1);
    else
        go_to(state, at_step(*state.trace, static_cast<int>(step) - 1));
    state.show_goto = false;
}

bool answer_key(AppState& state, const KeyPress& press) {
    if (press.key == Key::enter)
        go_to_typed_step(state);
    else if (press.key == Key::escape)
        state.show_goto = false;
    else
        return is_direction(press.key) || press.key == Key::backspace;  // not for what lies below
    return true;
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const bool big = state.presenter;
    const float size = big ? size::far : size::lead, w = big ? 560 : 320, h = big ? 150 : 104;
    const Rect a{(W - w) / 2, H * .4f - h / 2, w, h};
    main.rect(0, 0, W, H, with_alpha(main.theme->bg, .6f));
    show_card(main, "Go to step", a, [&](const Canvas& c) {
        c.frame(a.x + 1, a.y + 1, w - 2, h - 2, c.theme->t3, 1, 9);
        c.text_within(a.x + 16, a.y + (big ? 34 : 26), a.w - 32,
                      still_runs(state) ? "Go to step, once the kernel has run"
                                        : "Go to step (1 to " + str(walked(state).steps) + ")",
                      size, c.theme->t1, Face::medium);
        FieldLook look{
            .focus_now = ImGui::IsWindowAppearing() || state.goto_focus, .face = Face::mono, .size = size};
        state.goto_focus = false;
        look.flags = ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_AutoSelectAll;
        const FieldResult field = text_field(c, "##step", a.x + 16, a.y + h - (big ? 80 : 52), w - 32,
                                             big ? 56 : 36, state.goto_text, sizeof state.goto_text, look);
        if (field.entered)
            state.keys.push_back({Key::enter});  // answered with the keys of the next frame
        else if (field.left)
            state.show_goto = false;
    });
}

}  // namespace

const Card goto_card{.name = "Go to step",
                     .keys_shown = "G",
                     .action = "go to step, by its number",
                     .shortcut = {Key::g},
                     .of_walk = true,
                     .before_focus = true,
                     .is_open = [](const AppState& s) { return s.show_goto; },
                     .open =
                         [](AppState& s) {
                             s.show_goto = true;
                             s.goto_text[0] = 0;
                         },
                     .answer_key = answer_key,
                     .draw = draw};

}  // namespace tilewalk::ui
