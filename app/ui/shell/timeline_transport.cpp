// Below the lanes: buttons, the step, how far one press goes, the speed, and what the marks mean.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/items.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilewalk::ui {

namespace {

// How far one press goes, in the words of the lesson.
struct LevelNames {
    std::vector<Level> levels;
    std::vector<std::string> names;
};

LevelNames level_names(const AppState& state) {
    if (state.lesson->by_cell) return {{Level::micro, Level::step, Level::block}, {"Cell", "Step", "Kernel"}};
    if (state.look.grid.by_element)
        return {{Level::step, Level::tile, Level::block}, {"Step", "Element", "Pass"}};
    return {{Level::micro, Level::step, Level::tile, Level::block}, {"Row", "Step", "Tile", "Block"}};
}

/// What is looped; a click ends it. Returns where the next thing may stand.
float loop_pill(const Canvas& c, AppState& state, float x, float y, float right) {
    const std::string label = loop_label(state);
    const float w = label.empty() ? 0 : text_width(Face::medium, size::body, label) + 24;
    if (w <= 0 || x + w > right) return x;
    if (button(c, "##loop", x, y - 15, w, 30, label, {.active = true, .tooltip = "End the loop (J)"}))
        state.timeline.loop = {};
    return x + w + 18;
}

template <class Which> bool has_step(const Trace& trace, Which which) {
    for (int k = 0; k < trace.size(); ++k)
        if (which(trace.step(k).op)) return true;
    return false;
}

// What a sign in the cells means, in one row and, shorter, where two rows have to do.
struct Mark {
    const char *sign, *words, *brief;
    ImU32 colour;
};
constexpr const char* skipped_sign = "";  // a small cell in place of a letter

// Two and two belong together, those of the maximum first: the others are clearer without words.
std::vector<Mark> marks_of(const AppState& state, const Theme& t) {
    std::vector<Mark> out;
    if (has_step(*state.trace, [](Op op) { return op == Op::new_max; })) {
        out.push_back({"◆", "maximum rises", "rises", hue(t, Role::m)});
        out.push_back({"◇", "may rise", "may rise", t.t3});
    }
    if (has_step(*state.trace, is_load)) out.push_back({"▼", "load", "load", t.t2});
    if (has_step(*state.trace, is_store)) out.push_back({"▲", "store", "store", t.t2});
    if (has_step(*state.trace, [](Op op) { return op == Op::skip; }))
        out.push_back({skipped_sign, "skipped", "skipped", t.t3});
    return out;
}

void draw_mark(const Canvas& c, const Mark& mark, float x, float y, const char* words, float size) {
    if (mark.sign == skipped_sign)
        skipped_cell(c, x - 2, y - 7, 16, 14, mark.colour);
    else
        c.text(x, y, mark.sign, size, mark.colour);
    c.text(x + 1.35f * size, y, words, size, c.theme->t2);
}

float mark_width(const char* words, float size) {
    return 1.35f * size + text_width(Face::regular, size, words);
}

// Pairs above each other, as many as have room.
float legend_in_two_rows(const Canvas& c, std::span<const Mark> marks, float x, float y, float right) {
    constexpr float apart = 9, between = 18;
    const auto pair_at = [&](std::size_t n) {
        return marks.subspan(n, std::min<std::size_t>(2, marks.size() - n));
    };
    const auto width = [&](std::size_t n, const char* Mark::*words) {
        float most = 0;
        for (const Mark& mark : pair_at(n)) most = std::max(most, mark_width(mark.*words, size::small));
        return most;
    };
    float whole = x - between;
    for (std::size_t n = 0; n < marks.size(); n += 2) whole += width(n, &Mark::words) + between;
    const auto words = whole <= right ? &Mark::words : &Mark::brief;
    for (std::size_t n = 0; n < marks.size() && x + width(n, words) <= right; n += 2) {
        const auto pair = pair_at(n);
        for (std::size_t row = 0; row < pair.size(); ++row)
            draw_mark(c, pair[row], x, y + (row == 0 ? -apart : apart), pair[row].*words, size::small);
        x += width(n, words) + between;
    }
    return x;
}

float legend(const Canvas& c, const AppState& state, float x, float y, float right) {
    const std::vector<Mark> marks = marks_of(state, *c.theme);
    float all = 0;
    for (const Mark& mark : marks) all += mark_width(mark.words, size::body) + 19;
    if (x + all > right) return legend_in_two_rows(c, marks, x, y, right);
    for (const Mark& mark : marks) {
        draw_mark(c, mark, x, y, mark.words, size::body);
        x += mark_width(mark.words, size::body) + 19;
    }
    return x;
}

// Each draws from x on and returns where it ends.
float buttons(const Canvas& c, AppState& state, float x, float y) {
    const auto icon = [&](const char* id, Icon which, float w, const char* tip, bool primary = false) {
        const bool clicked =
            icon_button(c, id, x, y - 20, w, 40, which, {.primary = primary, .tooltip = tip});
        x += w + 6;
        return clicked;
    };
    const auto by_mouse = [&](auto action) {
        state.player.playing = false;
        action();
    };
    if (icon("##first", Icon::first, 40, "First step (Home)"))
        by_mouse([&] { go_to(state, first(*state.trace)); });
    if (icon("##back", Icon::back, 40, "Back (←)"))
        by_mouse([&] { step_backward(state, state.player.level); });
    if (icon("##play", state.player.playing ? Icon::pause : Icon::play, 56, "Play, pause (Space)", true))
        toggle_play(state);
    if (icon("##forward", Icon::forward, 40, "Forward (→)"))
        by_mouse([&] { step_forward(state, state.player.level); });
    if (icon("##last", Icon::last, 40, "Last step (End)"))
        by_mouse([&] { go_to(state, last(*state.trace)); });

    return x;
}

float counter(const Canvas& c, AppState& state, float x, float y) {
    const std::string step = str(state.cursor.step + 1), of = "of " + str(state.trace->size());
    const float begin = x;
    x += c.text(x, y + 1, "Step", size::body, c.theme->t2) + 8;
    x += text_width(Face::semibold, 22, str(state.trace->size()));
    c.text(x, y, step, 22, 0, Face::semibold, Align::right);
    x += 8;
    x += c.text(x, y + 1, of, size::body, c.theme->t2);
    const Hot hot = hot_area(c, "##goto", begin - 6, y - 16, x - begin + 12, 32);
    if (hot.hovered) tooltip(c, "Go to a step (G)");
    if (hot.clicked) goto_card.open(state);
    return x + 20;
}

float level_and_speed(const Canvas& c, AppState& state, const Rect& a, float x, float y) {
    const LevelNames levels = level_names(state);
    int level =
        static_cast<int>(std::ranges::find(levels.levels, state.player.level) - levels.levels.begin());
    const float level_w = segmented_width(levels.names);
    if (x + level_w < a.right() - 8) {
        if (segmented(c, "##level", x, y - 16, levels.names, level))
            state.player.level = levels.levels[static_cast<std::size_t>(level)];
        x += level_w + 20;
    }
    if (x + 170 < a.right()) {
        // Without its word rather than without what the marks mean.
        const float value_w = text_width(Face::medium, size::body, "0.25×"),
                    word_w = text_width(Face::regular, size::body, "Speed") + 10, least_legend = 152,
                    end = x + 70 + 12 + value_w + 11 + word_w;
        const bool named = end + least_legend <= a.right();
        const float slider_w = named ? 70 : 50;
        if (named) x += c.text(x, y, "Speed", size::body, c.theme->t2) + 10;
        float speed = px(state.settings.speed);
        if (slider(c, "##speed", x, y, slider_w, speed, .25f, 8, true))
            state.settings.speed = std::round(speed * 4) / 4;
        x += slider_w + 12;
        char text[16];
        std::snprintf(text, sizeof text, "%g×", state.settings.speed);
        c.text(x, y, text, size::body, 0, Face::medium);
        x += value_w + 11;
    }
    return x;
}

}  // namespace

void transport(const Canvas& c, AppState& state, const Rect& a, float y) {
    float x = counter(c, state, buttons(c, state, a.x + 16, y) + 10, y);
    x = level_and_speed(c, state, a, x, y);
    x = loop_pill(c, state, x, y, a.right() - 12);
    x = legend(c, state, x, y, a.right() - 5);
    const float keys = key_cap_width("←") + key_cap_width("→") + key_cap_width("Space") + 110;
    if (x + keys > a.right() - 12) return;
    x = a.right() - 12 - keys;
    x += c.key_cap(x, y, "←") + 3;
    x += c.key_cap(x, y, "→") + 6;
    x += c.text(x, y, "step", size::body, c.theme->t2) + 16;
    x += c.key_cap(x, y, "Space") + 6;
    c.text(x, y, "play", size::body, c.theme->t2);
}

}  // namespace tilewalk::ui
