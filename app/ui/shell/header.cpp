#include "app/ui/cards/cards.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/base/words.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

namespace {

// The lessons of a chapter that has several: "FlashAttention-2", "FlashAttention-1"; in narrow windows
// "FA-2".
std::vector<std::string> lesson_names(const Chapter& chapter, bool brief) {
    std::vector<std::string> names;
    if (chapter.lessons.size() > 1)
        for (const Lesson* lesson : chapter.lessons)
            names.push_back(brief ? replaced(lesson->tab, "FlashAttention", "FA") : lesson->tab);
    return names;
}

// The lessons of the current chapter, where it has several: "FlashAttention-2 | FlashAttention-1". Returns
// the width.
float lesson_switch(const Canvas& c, AppState& state, float x, bool brief) {
    const Chapter& chapter = current_chapter(state);
    const std::vector<std::string> names = lesson_names(chapter, brief);
    if (names.empty()) return 0;
    const auto shown = std::ranges::find(chapter.lessons, state.lesson);
    int current = shown == chapter.lessons.end() ? 0 : static_cast<int>(shown - chapter.lessons.begin());
    if (segmented(c, "##lesson", x, 10, names, current)) {
        const Lesson& chosen = *chapter.lessons[static_cast<std::size_t>(current)];
        state.chapter_lessons[chapter.id] = chosen.id;
        set_lesson(state, chosen);
    }
    return segmented_width(names);
}

// How much of its name a tab shows.
enum class TabLabel { number, brief, full };

std::string tab_label(std::size_t n, TabLabel label) {
    std::string number = str(n + 1);
    if (label == TabLabel::number) return number;
    return number + "  " + (label == TabLabel::full ? chapters()[n].title : chapters()[n].brief);
}

float tab_width(std::size_t n, TabLabel label) {
    return text_width(Face::semibold, size::body, tab_label(n, label)) + 18;
}

bool is_current(const AppState& state, const Chapter& chapter) {
    return state.page != Page::start && &chapter == &current_chapter(state);
}

struct TabLabels : std::vector<TabLabel> {
    using std::vector<TabLabel>::vector;
    bool brief_lessons = false;
};

// All tabs, without the switch between the lessons of the current chapter.
float tabs_width(const TabLabels& labels) {
    float all = 0;
    for (std::size_t n = 0; n < chapters().size(); ++n) all += tab_width(n, labels[n]) + 2;
    return all;
}

float switch_width(const AppState& state, bool brief) {
    if (state.page == Page::start) return 0;
    const std::vector<std::string> names = lesson_names(current_chapter(state), brief);
    return names.empty() ? 0 : segmented_width(names) + 8;
}

// The longest names with which all tabs, and the switch between the lessons of the chapter, fit into the
// room; else brief names of those next to the current one, as many as fit into `quiet_room`; numbers alone
// where its full name would not leave them in `most`.
TabLabels fitting_labels(const AppState& state, float room, float quiet_room, float most) {
    const auto fits = [&](const TabLabels& labels, float w) {
        return switch_width(state, labels.brief_lessons) + tabs_width(labels) <= w;
    };
    const auto count = static_cast<int>(chapters().size());
    const auto shown =
        std::ranges::find_if(chapters(), [&](const Chapter& c) { return is_current(state, c); });
    const int current = static_cast<int>(shown - chapters().begin());
    const auto all_with = [&](TabLabel label, bool brief_lessons) {
        TabLabels all(chapters().size(), label);
        all.brief_lessons = brief_lessons;
        if (current < count) all[static_cast<std::size_t>(current)] = TabLabel::full;
        return all;
    };
    for (const bool brief_lessons : {false, true})
        for (const TabLabel label : {TabLabel::full, TabLabel::brief})
            if (TabLabels all = all_with(label, brief_lessons); fits(all, room)) return all;
    TabLabels out = all_with(TabLabel::number, true);
    // Where many lessons leave less than `most`, the number of their chapter must do.
    if (!fits(out, most)) {
        std::ranges::fill(out, TabLabel::number);
        return out;
    }
    for (int away = 1; away < count; ++away)
        for (const int n : {current + away, current - away}) {
            if (n < 0 || n >= count) continue;
            TabLabels more = out;
            more[static_cast<std::size_t>(n)] = TabLabel::brief;
            if (!fits(more, quiet_room)) return out;
            out = more;
        }
    return out;
}

// One tab for each chapter.
void chapter_tabs(const Canvas& c, AppState& state, float x, const TabLabels& labels) {
    for (std::size_t n = 0; n < chapters().size(); ++n) {
        const Chapter& chapter = chapters()[n];
        const bool current = is_current(state, chapter);
        const TabLabel label = labels[n];
        const float w = tab_width(n, label);
        const ButtonLook look{.active = current,
                              .quiet = true,
                              .face = current ? Face::semibold : Face::medium,
                              .tooltip = chapter.tooltip};
        if (button(c, chapter.id, x, 9, w, 34, tab_label(n, label), look)) open_chapter(state, chapter);
        if (current) c.rect(x + 10, 46.5f, w - 20, 4, c.theme->t1, 2);
        x += w + 2;
        if (current)
            if (const float lessons_w = lesson_switch(c, state, x + 2, labels.brief_lessons); lessons_w > 0)
                x += lessons_w + 8;
    }
}

std::string size_of(const Problem& p) {
    const std::string columns = " × " + str(p.d());
    const std::string q = str(p.N()) + columns;
    return p.N() == p.N_kv() ? q : "Q " + q + ", K " + str(p.N_kv()) + columns;
}

// Rather a short name than the beginning of a long one; with * where there is no room to say that it is
// changed.
std::string title_within(const Problem& p, float w) {
    constexpr float arrow = 40;
    const std::size_t changed = p.title.rfind(" (changed)");
    const std::string mark = changed == std::string::npos ? "" : " *", title = p.title.substr(0, changed);
    const std::string names[] = {p.title, title + mark, title.substr(0, title.find(',')) + mark, p.name,
                                 size_of(p) + mark};
    for (const std::string& name : names)
        if (!name.empty() && text_width(Face::medium, size::body, name) <= w - arrow) return name;
    return title + mark;
}

// The examples; arrow keys, Enter and Escape work as well as the mouse.
void example_list(const Canvas& c, AppState& state, float x, float w) {
    const bool was_open = state.menu_open;
    const Problem& shown = state.page == Page::compare  ? compared_problem(state)
                           : state.page == Page::inside ? recorded_problem(state)
                                                        : *state.problem;
    const std::string title = title_within(shown, w);
    const Dropdown list(c, "##example", {x, 10, w, 32}, title);
    state.menu_open = static_cast<bool>(list);
    const std::optional<Key> key = std::exchange(state.menu_key, std::nullopt);
    if (!state.menu_open) return;
    for (std::size_t n = 0; n < state.examples.size(); ++n) {
        const Problem& p = state.examples[n];
        const bool current = p.name == state.problem->name;
        if (current && !was_open) state.menu_at = static_cast<int>(n);
        const bool marked = was_open && static_cast<int>(n) == state.menu_at;
        const bool clicked = dropdown_item(c, p.name, p.title, current, size_of(p), true, marked);
        if (!clicked && !(marked && key == Key::enter)) continue;
        choose_example(state, static_cast<int>(n));
        ImGui::CloseCurrentPopup();
    }
    if (key == Key::escape) ImGui::CloseCurrentPopup();
}

// The mark at the left, which leads to the start page.
void draw_home(const Canvas& c, AppState& state, bool named) {
    draw_mark(c, 16, 15, {10, 12, 1.4f, 2.5f});
    if (named) c.text(48, 27, "Tilewalk", 17, 0, Face::semibold);
    const Hot home = hot_area(c, "##start", 10, 9, named ? 124 : 36, 34);
    if (home.clicked) open_start(state);
    if (home.hovered) tooltip(c, "Start page (0)");
    if (state.page == Page::start) c.rect(16, 46.5f, named ? 110 : 24, 4, c.theme->t1, 2);
}

constexpr float button_gap = 4;

// At the right edge; returns where they begin.
float draw_icons(const Canvas& c, AppState& state, const Rect& area) {
    float x = area.right() - 10;
    const auto icon = [&](const char* id, Icon which, const ButtonLook& look) {
        x -= button_gap + 32;
        return icon_button(c, id, x, 10, 32, 32, which, look);
    };
    if (icon("##menu", Icon::menu,
             {.active = state.show_menu, .tooltip = "Menu (F10): tour, questions, hand-outs, settings"}))
        menu_card.open(state);
    if (icon("##help", Icon::help, {.size = size::lead, .tooltip = "Keys and help (?)"}))
        help_card.open(state);
    if (icon("##presenter", Icon::screen, {.tooltip = "Presenter mode (P): large text for a projector"}))
        state.presenter = true;
    // Where there is no room the settings have it.
    if (area.w >= 1100 && icon("##theme", Icon::theme, {.tooltip = "Theme: dark, light, high contrast (T)"}))
        next_theme(state);
    return x;
}

// What belongs to a walk alone, left of `x`; returns where it begins.
float draw_walk_buttons(const Canvas& c, AppState& state, float x) {
    if (state.page != Page::walk) return x;
    const auto pressed = [&](const char* id, const std::string& label, const ButtonLook& look) {
        const float w = button_width(label);
        x -= button_gap + w;
        return button(c, id, x, 10, w, 32, label, look);
    };
    if (state.quiz) {
        const std::string score = quiz_score(*state.quiz),
                          tip = "Questions are on (off: Q); " + next_question_text(state);
        if (pressed("##questions", score.empty() ? "Q" : "Q  " + score,
                    {.active = true, .tooltip = tip.c_str()}))
            toggle_questions(state);
    }
    if (pressed("##problem", "Problem",
                {.active = state.show_problem, .tooltip = "Inputs, tile sizes, mask, scale, files (I)"}))
        show_side(state, !state.show_problem, false);
    if (pressed("##break", "Break it",
                {.active = state.show_break,
                 .tooltip = "Switch off a part of the algorithm, choose number formats (X)"}))
        show_side(state, false, !state.show_break);
    return x;
}

// The names of all chapters come before that of the example.
void draw_tabs(const Canvas& c, AppState& state, float tabs, float x, float list_w) {
    const bool takes_problem =
        state.page == Page::walk || state.page == Page::compare || state.page == Page::inside;
    if (!takes_problem) {
        const float room = x - button_gap - button_width("Problem") - tabs;
        return chapter_tabs(c, state, tabs, fitting_labels(state, room, room, room));
    }
    constexpr float least_list = 150;
    const float most = x - button_gap - tabs - 8;
    const TabLabels labels = fitting_labels(state, most - least_list, most - list_w, most - 100);
    const float list =
        std::min(list_w, most - switch_width(state, labels.brief_lessons) - tabs_width(labels));
    example_list(c, state, x - button_gap - list, list);
    chapter_tabs(c, state, tabs, labels);
}

}  // namespace

void header_view(const Canvas& c, AppState& state, const Rect& area) {
    c.rect(area.x, area.y, area.w, area.h, c.theme->panel);
    c.line({area.x, area.bottom() + .5f}, {area.right(), area.bottom() + .5f}, c.theme->line);
    const PanelPart part(c, "Header", {area.x, area.y, area.w, area.h + 1});
    const bool named = area.w >= 1440;
    draw_home(c, state, named);
    const float x = draw_walk_buttons(c, state, draw_icons(c, state, area));
    draw_tabs(c, state, named ? 146.0f : 52.0f, x, std::clamp(area.w * .15f, 120.0f, 300.0f));
}

}  // namespace tilewalk::ui
