// Below the timeline: what moves the walk, and what colours and marks mean.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/class/glossary.h"

#include <algorithm>
#include <tuple>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::Stride;

float draw_transport(const Canvas& c, AppState& state, float x, float y, const InsidePlace& at) {
    IconRow icon{c, x, y, space::control, 4};
    const int last = at ? at.steps().count(at.warp) - 1 : 0;
    const bool there = at && !awaits_own_kernel(state);
    const Stride stride = inside_stride(state);
    const auto back = [&] { state.inside.playing = false; };
    if (icon("##inside first", Icon::first, {.enabled = there && at.k > 0, .tooltip = "First (Home)"}))
        back(), go_inside(state, at.warp, 0);
    if (icon("##inside back", Icon::back, {.enabled = there && at.k > 0, .tooltip = "Back (←)"}))
        back(), go_inside_by(state, stride, -1);
    if (icon("##inside play", state.inside.playing ? Icon::pause : Icon::play,
             {.primary = true, .enabled = there, .tooltip = "Play, pause (Space)"}))
        toggle_inside_play(state);
    if (icon("##inside forward", Icon::forward, {.enabled = there && at.k < last, .tooltip = "Forward (→)"}))
        back(), go_inside_by(state, stride, 1);
    if (icon("##inside last", Icon::last, {.enabled = there && at.k < last, .tooltip = "Last (End)"}))
        back(), go_inside(state, at.warp, last);
    return icon.x;
}

float draw_counter(const Canvas& c, float x, float y, const InsidePlace& at) {
    const Theme& t = *c.theme;
    x += 12 + c.text(x + 12, y, "Step", size::body, t.t2);
    x += 8 + c.text(x + 8, y, format_count(at.k + 1), 20, t.t1, Face::semibold);
    x += 8 + c.text(x + 8, y, "of " + format_count(at.steps().count(at.warp)), size::body, t.t2);
    const int tile = at.steps().tile(at.warp, at.k);
    if (at.steps().tiles() > 1) {
        const std::string words =
            tile < 0 ? "before the tiles" : "tile " + str(tile + 1) + " of " + str(at.steps().tiles());
        x += 16 + c.text(x + 16, y, words, size::body, t.t2);
    }
    return x;
}

void draw_strides(const Canvas& c, AppState& state, float& x, float y) {
    const std::vector<std::string> names{"Instruction", "Line", "Barrier", "Tile"};
    segmented(c, "##stride", x, y, names, state.inside.stride);
    x += segmented_width(names);
}

// To the lesson, and to another rung beside this one, where that has room.
void draw_ways_on(const Canvas& c, AppState& state, float& x, float right, float y) {
    constexpr float w = 70, gap = 6;
    if (right - x < w) return;
    if (button(c, "##to lesson", x, y, w, space::control, "Lesson",
               {.size = size::small, .tooltip = "To the step of the lesson that this is (V)"}))
        state.keys.push_back({Key::v});
    x += w + gap;
    if (right - x < w) return;
    if (button(c, "##two rungs", x, y, w, space::control, "Rungs",
               {.size = size::small, .tooltip = "Two rungs on this problem, side by side (R)"}))
        state.inside.ladder = true;
    x += w + gap;
}

// Of several launches, and of several blocks, the one that is walked through. Returns where they begin.
float draw_which(const Canvas& c, AppState& state, float right, float y, const InsidePlace& at) {
    const auto launches = static_cast<int>(at.walk->launches.size());
    if (launches > 1) {
        const auto name = [](int n) { return "launch " + str(n + 1); };
        const int here = at.walk->launch_at(state.inside.launch);
        right -= 104;
        const ButtonLook look{.tooltip = "Which of its launches is walked through"};
        if (const Dropdown list{c, "##launch", {right, y, 104, space::control}, name(here), look})
            for (int n = 0; n < launches; ++n)
                if (dropdown_item(c, name(n), name(n), n == here))
                    state.inside.launch = n, state.inside.step = 0;
        right -= 6;
    }
    const inside::Launch& launch = *at.launch->launch;
    const int blocks = launch.x * launch.y * launch.z;
    if (blocks < 2) return right;
    const auto name = [](int n) { return "block " + str(n); };
    right -= 100;
    const ButtonLook look{.tooltip = "Which block of its grid is walked through"};
    if (const Dropdown list{c, "##block", {right, y, 100, space::control}, name(state.inside.block), look})
        for (int n = 0; n < std::min(blocks, 64); ++n)
            if (dropdown_item(c, name(n), name(n), n == state.inside.block)) state.inside.block = n;
    return right - 6;
}

void issued_mark(const Canvas& c, float x, float y) {
    c.polygon({{x, y - 4}, {x + 9, y - 4}, {x + 4.5f, y + 4}}, c.theme->t2);
}
void arrived_mark(const Canvas& c, float x, float y) { c.disc(x + 5, y, 3.5f, c.theme->t2); }
void committed_mark(const Canvas& c, float x, float y) { c.rect(x + 4, y - 4, 2, 8, c.theme->t2); }
void barrier_mark(const Canvas& c, float x, float y) {
    c.line({x + 5, y - 7}, {x + 5, y + 7}, c.theme->t2, 1.5f);
}

/// A word of the legend with its mark; hovering explains it.
struct LegendEntry {
    const char* word;
    const char* term;  ///< its card in the glossary
    void (*draw)(const Canvas&, float x, float y);
};

float legend_width(std::span<const LegendEntry> all) {
    float w = 0;
    for (const LegendEntry& entry : all) w += text_width(Face::regular, size::small, entry.word) + 32;
    return w;
}

constexpr LegendEntry legend_marks[] = {{"copy issued", "copy-in-background", &issued_mark},
                                        {"arrived", "copy-in-background", &arrived_mark},
                                        {"committed", "copy-group", &committed_mark},
                                        {"barrier", "barrier", &barrier_mark}};
/// Without them nobody would know what a bar says.
constexpr std::span<const LegendEntry> least_marks(legend_marks, 2);

void draw_legend_marks(const Canvas& c, AppState& state, float x, float y, ImU32 ink,
                       std::span<const LegendEntry> all = legend_marks) {
    for (const LegendEntry& entry : all) {
        x += 16;
        entry.draw(c, x, y);
        const float w = c.text(x + 16, y, entry.word, size::small, ink);
        tip_of_term(c, state, std::string("##mark ") + entry.word, {x, y - 10, 16 + w, 20}, entry.term);
        x += 16 + w;
    }
}

struct LegendHue {
    const char* word;
    Matter matter;
    const char* brief = nullptr;  ///< without the gradient of the same hue
};
/// How much of the legend there is room for: all, letters alone, these without what is about no matrix.
enum class LegendWords { all, letters, matrices };
std::string legend_word(const LegendHue& one, LegendWords words) {
    return words != LegendWords::all && one.brief ? one.brief : one.word;
}
std::span<const LegendHue> legend_hues(const InsidePlace& at) {
    static constexpr LegendHue forward[] = {{"Q", Matter::Q},      {"K", Matter::K}, {"V", Matter::V},
                                            {"S, P", Matter::S},   {"O", Matter::O}, {"L", Matter::L},
                                            {"else", Matter::none}};
    static constexpr LegendHue backward[] = {{"Q, dQ", Matter::Q, "Q"}, {"K, dK", Matter::K, "K"},
                                             {"V, dV", Matter::V, "V"}, {"S, P, dP, dS", Matter::S, "S, P"},
                                             {"O, dO", Matter::O, "O"}, {"L", Matter::L},
                                             {"D", Matter::D},          {"else", Matter::none}};
    const bool back = at.record().outputs.size() > 1;  // gradients
    return back ? std::span<const LegendHue>(backward) : forward;
}

float hues_width(const InsidePlace& at, LegendWords words = LegendWords::all) {
    float w = 0;
    for (const LegendHue& one : legend_hues(at))
        if (words != LegendWords::matrices || one.matter != Matter::none)
            w += text_width(Face::regular, size::small, legend_word(one, words)) + 26;
    return w;
}

void draw_legend_hues(const Canvas& c, const InsidePlace& at, float x, float y, ImU32 ink,
                      LegendWords words = LegendWords::all) {
    const Theme& t = *c.theme;
    for (const LegendHue& one : legend_hues(at)) {
        if (words == LegendWords::matrices && one.matter == Matter::none) continue;
        const ImU32 hue = one.matter == Matter::none ? t.line2 : hue_of(t, one.matter);
        c.rect(x, y - 5, 10, 10, mix(t.panel, hue, .8f), 2);
        const float w = c.text(x + 14, y, legend_word(one, words), size::small, ink);
        const Hot hot = hot_area(c, std::string("##hue ") + one.word, x, y - 10, 14 + w, 20);
        if (hot.hovered)
            tooltip(c,
                    one.matter == Matter::none
                        ? std::string("Steps that are about none of the matrices: barriers, waits, shuffles")
                        : "Steps that are about " + std::string(one.word) + "; tall ones are products");
        x += 26 + w;
    }
}

constexpr float legend_button = 88;

// Where the bar has no room for it, a list that opens: what colours and marks mean.
void draw_legend_list(const Canvas& c, AppState& state, const InsidePlace& at, float x, float y) {
    const Theme& t = *c.theme;
    const ButtonLook look{.size = size::small, .tooltip = "What colours and marks mean"};
    const Dropdown list{c, "##legend", {x, y, legend_button, space::control}, "Legend", look};
    if (!list) return;
    const auto entry = [&](const std::string& id, const std::string& words) {
        const ImVec2 at_begin = ImGui::GetCursorScreenPos();
        const bool clicked = dropdown_item(c, id, words);
        const Canvas in = c.in_window();
        const Point mark{(at_begin.x - in.x0) / in.s + 11, (at_begin.y - in.y0) / in.s + 17};
        return std::tuple(in, mark, clicked);
    };
    for (const LegendHue& one : legend_hues(at)) {
        const ImU32 hue = one.matter == Matter::none ? t.line2 : hue_of(t, one.matter);
        const auto [in, mark, clicked] = entry(std::string("##legend ") + one.word, one.word);
        in.rect(mark.x, mark.y - 5, 10, 10, mix(t.raised, hue, .8f), 2);
    }
    for (const LegendEntry& one : legend_marks) {
        const auto [in, mark, clicked] = entry(std::string("##legend mark ") + one.word, one.word);
        one.draw(in, mark.x, mark.y);
        if (!clicked) continue;
        state.glossary = std::make_shared<Glossary>();
        state.glossary->card = find_card(one.term)->id;
    }
}

// Colours are the quantity that a step is about, tall ones products; then the marks.
void draw_legend(const Canvas& c, AppState& state, const InsidePlace& at, float x, float right, float y) {
    const Theme& t = *c.theme;
    const float marks_w = legend_width(legend_marks), hues_w = hues_width(at);
    const bool all = marks_w + hues_w + 32 <= right - x;
    if (!all) draw_legend_list(c, state, at, x, y - space::control / 2), x += legend_button;
    if (all) draw_legend_marks(c, state, right - marks_w, y, t.t3);
    if (all || hues_w + 24 <= right - x)
        draw_legend_hues(c, at, right - hues_w - (all ? marks_w : 0), y, t.t3);
}

}  // namespace

void draw_far_hues(const Canvas& c, const InsidePlace& at, float left, float right, float y) {
    const float factor = size::far / size::small;
    const Enlarged large(c, {left, y}, factor);
    const float room = (right - left) / factor;  // behind the last one nothing stands
    for (const LegendWords words : {LegendWords::all, LegendWords::letters, LegendWords::matrices})
        if (const float w = hues_width(at, words) - 14; w <= room)
            return draw_legend_hues(large.c, at, room - w, 0, c.theme->t2, words);
}

void draw_far_legend(const Canvas& c, AppState& state, const InsidePlace& at, const Rect& a) {
    const float factor = size::far / size::small;
    const Enlarged large(c, {a.x, a.y}, factor);
    draw_legend_hues(large.c, at, 0, a.h / factor * .25f, c.theme->t2);
    draw_legend_marks(large.c, state, -16, a.h / factor * .75f, c.theme->t2);
}

void draw_far_marks(const Canvas& c, AppState& state, const Rect& a) {
    const float factor = size::far / size::small, room = a.w / factor;
    const Enlarged large(c, {a.x, a.y}, factor);
    constexpr std::span<const LegendEntry> all = legend_marks;
    for (const auto& marks : {all, least_marks})
        if (const float w = legend_width(marks); w <= room)
            return draw_legend_marks(large.c, state, room - w, a.h / factor / 2, c.theme->t2, marks);
}

void inside_warps(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Warps", a);
    const InsidePlace at = place_inside(state);
    const float bar = a.bottom() - space::foot + 2 - space::control, middle = bar + space::control / 2;
    float x = draw_transport(c, state, a.inner_x(), bar, at);
    if (!at || awaits_own_kernel(state)) return;
    draw_warps(c, state, {a.inner_x(), a.y + 8, a.inner_w(), bar - a.y - 14}, at, {});
    x = draw_counter(c, x, middle, at) + 18;
    draw_strides(c, state, x, bar);
    x += 12;
    const float which = draw_which(c, state, a.inner_right(), bar, at);
    // The legend comes before the buttons, which have keys as well.
    const float legend = legend_width(legend_marks) + hues_width(at) + 32, buttons = 152;
    draw_ways_on(c, state, x, which - (legend + buttons <= which - x ? legend : legend_button + 8), bar);
    draw_legend(c, state, at, x, which, middle);
}

}  // namespace tilewalk::ui
