#include "app/ui/items.h"
#include "app/ui/state.h"
#include "app/ui/views/views.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

namespace {

// The mark: four tiles, one lit.
void mark(const Canvas& c, float x, float y, float tile) {
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const float X = x + static_cast<float>(j) * tile * 1.2f,
                        Y = y + static_cast<float>(i) * tile * 1.2f;
            if (i == 0 && j == 1)
                c.rect(X, Y, tile, tile, c.theme->t1, tile / 4);
            else
                c.frame(X + .5f, Y + .5f, tile - 1, tile - 1, c.theme->t3, 1.4f, tile / 4);
        }
}

float lesson_tabs(const Canvas& c, AppState& state, float x) {
    int number = 1;
    for (const Lesson& lesson : lessons()) {
        const bool current = &lesson == state.lesson;
        const std::string label = std::to_string(number++) + "  " + lesson.title;
        const float w = text_width(current ? Face::semibold : Face::medium, 14, label) + 24;
        ButtonLook look;
        look.active = current;
        look.quiet = true;
        look.face = current ? Face::semibold : Face::medium;
        look.tooltip = lesson.summary;
        if (button(c, lesson.id, x, 9, w, 34, label, look)) state.lesson = &lesson;
        if (current) c.rect(x + 12, 46.5f, w - 24, 4, c.theme->t1, 2);
        x += w + 2;
    }
    return x;
}

std::string size_of(const Problem& p) {
    const std::string columns = " × " + std::to_string(p.d());
    const std::string q = std::to_string(p.N()) + columns;
    return p.N() == p.N_kv() ? q : "Q " + q + ", K " + std::to_string(p.N_kv()) + columns;
}

// The examples; arrow keys, Enter and Escape work as well as the mouse.
void example_list(const Canvas& c, AppState& state, float x, float w) {
    const bool was_open = state.menu_open;
    state.menu_open = begin_dropdown(c, "##example", x, 10, w, 32, state.problem->title);
    const std::optional<Key> key = std::exchange(state.menu_key, std::nullopt);
    if (!state.menu_open) return;
    for (std::size_t n = 0; n < state.examples.size(); ++n) {
        const Problem& p = state.examples[n];
        const bool current = p.name == state.problem->name;
        if (current && !was_open) state.menu_at = static_cast<int>(n);
        const bool marked = was_open && static_cast<int>(n) == state.menu_at;
        const bool clicked = dropdown_item(c, p.name.c_str(), p.title, current, size_of(p), true, marked);
        if (!clicked && !(marked && key == Key::enter)) continue;
        choose_example(state, static_cast<int>(n));
        ImGui::CloseCurrentPopup();
    }
    if (key == Key::escape) ImGui::CloseCurrentPopup();
    end_dropdown(c);
}

}  // namespace

void header_view(const Canvas& c, AppState& state, const Rect& area) {
    c.rect(area.x, area.y, area.w, area.h, c.theme->panel);
    c.line({area.x, area.bottom() + .5f}, {area.right(), area.bottom() + .5f}, c.theme->line);
    begin_region(c, "Header", area.x, area.y, area.w, area.h + 1);
    mark(c, 16, 15, 10);
    c.text(48, 27, "Tilewalk", 17, 0, Face::semibold);
    lesson_tabs(c, state, 146);

    float x = area.right() - 14;
    ButtonLook help{.size = 15};
    help.tooltip = "Keys and help (?)";
    x -= 32;
    if (icon_button(c, "##help", x, 10, 32, 32, Icon::help, help)) state.show_help = true;
    ButtonLook presenter;
    presenter.tooltip = "Presenter mode (P): large text for a projector";
    x -= 4 + 32;
    if (icon_button(c, "##presenter", x, 10, 32, 32, Icon::screen, presenter)) state.presenter = true;
    ButtonLook theme_look;
    theme_look.tooltip = "Theme: dark, light, high contrast (T)";
    x -= 4 + 32;
    if (icon_button(c, "##theme", x, 10, 32, 32, Icon::theme, theme_look)) next_theme(state);
    const float problem_w = button_width("Problem");
    ButtonLook problem;
    problem.active = state.show_problem;
    problem.tooltip = "Inputs, tile sizes, mask, scale, files (I)";
    x -= 4 + problem_w;
    if (button(c, "##problem", x, 10, problem_w, 32, "Problem", problem))
        state.show_problem = !state.show_problem;
    const float list_w = std::min(340.0f, x - 4 - 330.0f);
    example_list(c, state, x - 4 - list_w, list_w);
    end_panel(c);
}

}  // namespace tilewalk::ui
