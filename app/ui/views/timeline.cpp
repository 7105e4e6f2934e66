#include "app/ui/views/timeline.h"

#include "app/ui/items.h"
#include "app/ui/state.h"
#include "app/ui/views/views.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// The steps of one query block, and the widest lane of all: its cells set the width of every cell.
struct Lanes {
    std::vector<int> first;  // first step of each lane, and one past the last step of all
    int longest = 0;
    int count() const { return static_cast<int>(first.size()) - 1; }
};

Lanes lanes_of(const Trace& trace) {
    Lanes out;
    for (int k = 0; k < trace.size(); ++k)
        if (k == 0 || trace.step(k).i != trace.step(k - 1).i) out.first.push_back(k);
    out.first.push_back(trace.size());
    for (int n = 0; n < out.count(); ++n)
        out.longest = std::max(out.longest, out.first[static_cast<std::size_t>(n) + 1] -
                                                out.first[static_cast<std::size_t>(n)]);
    return out;
}

enum class Rose { no, yes, unknown };

// Whether the maximum rose for any row at a new_max step; unknown until the walk has been there.
Rose max_rose(const AppState& state, int k) {
    if (state.trace->step(k).op != Op::new_max) return Rose::no;
    if (k > state.cursor.step) return Rose::unknown;
    const Matrix &before = state.trace->live(Slot::m, k - 1).value->data,
                 &after = state.trace->live(Slot::m, k).value->data;
    return before == after ? Rose::no : Rose::yes;
}

void marks(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h, ImU32 ink) {
    const Op op = state.trace->step(k).op;
    if (op == Op::load_q || op == Op::load_kv)
        c.polygon({{x + 5, y + h / 2 - 4}, {x + 12, y + h / 2 - 4}, {x + 8.5f, y + h / 2 + 3}}, ink);
    if (op == Op::store)
        c.polygon({{x + 5, y + h / 2 + 3}, {x + 8.5f, y + h / 2 - 4}, {x + 12, y + h / 2 + 3}}, ink);
    const Rose rose = max_rose(state, k);
    if (rose == Rose::no || w < 14) return;
    const bool roomy = w >= 34;  // otherwise the mark keeps to the corner, clear of the symbol
    const float s = roomy ? 4.5f : 3.5f, X = x + w - (roomy ? 7 : 2), Y = y + (roomy ? 7 : 1);
    const Point diamond[] = {{X, Y - s}, {X + s, Y}, {X, Y + s}, {X - s, Y}};
    if (rose == Rose::yes)
        c.polygon(diamond, hue(*c.theme, Role::m));
    else
        c.polyline(diamond, c.theme->t3, 1.2f, true);
}

void step_cell(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h,
               bool symbols) {
    const Theme& t = *c.theme;
    const bool done = k < state.cursor.step, current = k == state.cursor.step;
    const float r = std::min(5.0f, w / 4);
    if (current) c.rect(x - 3, y - 3, w + 6, h + 6, with_alpha(t.focus, .2f), 7);
    if (current || done)
        c.rect(x, y, w, h, current ? t.t1 : t.raised, r);
    else
        c.frame(x + .5f, y + .5f, w - 1, h - 1, t.line, 1, r);
    if (w < 14) return;
    const Op op = state.trace->step(k).op;
    const bool transfer = op == Op::load_q || op == Op::load_kv || op == Op::store;
    const ImU32 ink = current ? t.inv : done ? t.t1 : t.t2;
    Line symbol = step_symbol(op);
    for (Span& s : symbol) s.role = Role::none;  // ink, not hue: this is chrome
    const float need = rich_width(c, symbol, 14) + (transfer ? 14 : 4);
    if (symbols && need <= w) {
        for (Span& s : symbol) s.face = s.face == Span::Face::symbol ? Span::Face::symbol : Span::Face::text;
        c.rich(x + w / 2 + (transfer ? 5 : 0), y + h / 2 + .5f, symbol, 14, Align::center, ink);
    }
    marks(c, state, k, x, y, w, h, current ? t.inv : done ? t.t2 : t.t3);
}

// "start", "key block 0" … above the lanes, as they lie in the current query block.
void heads(const Canvas& c, const AppState& state, int first, int last, float x, float pitch, float y,
           float right) {
    const Trace& trace = *state.trace;
    for (int k = first; k < last;) {
        int end = k + 1;
        while (end < last && trace.step(end).j == trace.step(k).j) ++end;
        const float a = x + static_cast<float>(k - first) * pitch,
                    b = std::min(right, x + static_cast<float>(end - first) * pitch - 5);
        const int j = trace.step(k).j;
        const std::string full = j >= 0 ? "key block " + std::to_string(j) : k == first ? "start" : "finish";
        const std::string text = text_width(Face::regular, 13, full) <= b - a ? full
                                 : j >= 0                                     ? std::to_string(j)
                                                                              : "";
        const float w = text_width(Face::regular, 13, text), mid = (a + b) / 2;
        if (a >= x - 1 && w <= b - a) c.text(mid, y, text, 13, c.theme->t3, Face::regular, Align::center);
        if (j >= 0 && b - a > w + 40) {
            c.line({a, y + .5f}, {mid - w / 2 - 8, y + .5f}, c.theme->line);
            c.line({mid + w / 2 + 8, y + .5f}, {b, y + .5f}, c.theme->line);
        }
        k = end;
    }
}

}  // namespace

void lanes(const Canvas& c, AppState& state, const Rect& a, const LaneStyle& style) {
    const Lanes all = lanes_of(*state.trace);
    const float head = style.heads ? 24.0f : 0.0f, x0 = a.x + style.name_w, w = a.w - style.name_w;
    const float room = a.h - head;
    // Cells wide enough for their symbols keep the height for them; otherwise more lanes are worth more.
    const bool wide = style.symbols && w / static_cast<float>(all.longest) >= 24;
    const float lane = std::clamp((room + style.gap) / static_cast<float>(all.count()) - style.gap,
                                  std::min(wide ? 20.0f : 12.0f, style.lane), style.lane);
    const float gap = lane < style.lane ? std::min(style.gap, 4.0f) : style.gap;
    const int shown = std::clamp(static_cast<int>((room + gap) / (lane + gap)), 1, all.count());
    const int current =
        static_cast<int>(std::upper_bound(all.first.begin(), all.first.end() - 1, state.cursor.step) -
                         all.first.begin()) -
        1;
    const int first_lane = std::clamp(current - shown / 2, 0, all.count() - shown);
    // Cells keep at least 4 px; a longer lane is shown around the current step.
    const float pitch = std::max(4.0f, std::min(w / static_cast<float>(all.longest), 64.0f));
    const int fit = std::max(1, static_cast<int>(w / pitch)),
              start = all.first[static_cast<std::size_t>(current)];
    const int offset = std::clamp(state.cursor.step - start - fit / 2, 0, std::max(0, all.longest - fit));
    const float cell_w = pitch - (pitch > 24 ? 5 : pitch > 8 ? 2 : 1);

    if (style.heads)
        heads(c, state, start + offset,
              std::min(all.first[static_cast<std::size_t>(current) + 1], start + offset + fit), x0, pitch,
              a.y + 6, a.right());
    for (int n = 0; n < shown; ++n) {
        const int row = first_lane + n, begin = all.first[static_cast<std::size_t>(row)],
                  end = all.first[static_cast<std::size_t>(row) + 1];
        const float y = a.y + head + static_cast<float>(n) * (lane + gap);
        if (style.name_w > 0) {
            const std::string name =
                style.name_w >= 90 ? "Query block " + std::to_string(row) : "Q" + std::to_string(row);
            c.text(a.x, y + lane / 2, name, 13, row == current ? c.theme->t1 : c.theme->t2,
                   row == current ? Face::medium : Face::regular);
        }
        for (int k = begin + offset; k < std::min(end, begin + offset + fit); ++k)
            if (k != state.cursor.step)
                step_cell(c, state, k, x0 + static_cast<float>(k - begin - offset) * pitch, y, cell_w, lane,
                          style.symbols && lane >= 18);
        if (row == current)
            step_cell(c, state, state.cursor.step,
                      x0 + static_cast<float>(state.cursor.step - begin - offset) * pitch, y, cell_w, lane,
                      style.symbols && lane >= 18);
    }

    const Hot hot = hot_area(c, "##timeline", x0, a.y + head, w, static_cast<float>(shown) * (lane + gap),
                             ItemKind::panel);
    if (!hot.hovered && !hot.held) return;
    const Point mouse = c.mouse();
    const int row =
        first_lane + std::clamp(static_cast<int>((mouse.y - a.y - head) / (lane + gap)), 0, shown - 1);
    const int begin = all.first[static_cast<std::size_t>(row)],
              end = all.first[static_cast<std::size_t>(row) + 1];
    const int k = std::clamp(begin + offset + static_cast<int>((mouse.x - x0) / pitch), begin, end - 1);
    if (hot.held) {
        state.player.playing = false;
        go_to(state, at_step(*state.trace, k));
    }
    tooltip(c, "Step " + std::to_string(k + 1) + ": " + title(state.trace->step(k).op));
}

namespace {

void transport(const Canvas& c, AppState& state, const Rect& a, float y) {
    float x = a.x + 16;
    const auto icon = [&](const char* id, Icon which, float w, const char* tip, bool primary = false) {
        ButtonLook look;
        look.primary = primary;
        look.tooltip = tip;
        const bool clicked = icon_button(c, id, x, y - 20, w, 40, which, look);
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

    x += 10;
    const std::string step = std::to_string(state.cursor.step + 1),
                      of = "of " + std::to_string(state.trace->size());
    const float counter = x;
    x += c.text(x, y + 1, "Step", 14, c.theme->t2) + 8;
    c.text(x, y, step, 22, 0, Face::semibold);
    x += text_width(Face::semibold, 22, std::to_string(state.trace->size())) + 8;
    x += c.text(x, y + 1, of, 14, c.theme->t2);
    ButtonLook quiet;
    const Hot hot = hot_area(c, "##goto", counter - 6, y - 16, x - counter + 12, 32);
    if (hot.hovered) tooltip(c, "Go to a step (G)");
    if (hot.clicked) {
        state.show_goto = true;
        state.goto_text[0] = 0;
    }
    x += 20;

    static constexpr Level levels[] = {Level::micro, Level::step, Level::tile, Level::block};
    int level = static_cast<int>(std::find(std::begin(levels), std::end(levels), state.player.level) -
                                 std::begin(levels));
    const float level_w = segmented_width({"Row", "Step", "Tile", "Block"});
    if (x + level_w < a.right() - 8) {
        if (segmented(c, "##level", x, y - 16, {"Row", "Step", "Tile", "Block"}, level))
            state.player.level = levels[level];
        x += level_w + 20;
    }
    if (x + 170 < a.right()) {
        x += c.text(x, y, "Speed", 14, c.theme->t2) + 10;
        float speed = static_cast<float>(state.settings.speed);
        if (slider(c, "##speed", x, y, 70, speed, .25f, 8, true))
            state.settings.speed = std::round(speed * 4) / 4;
        x += 82;
        char text[16];
        std::snprintf(text, sizeof text, "%g×", state.settings.speed);
        c.text(x, y, text, 14, 0, Face::medium);
        x += 56;
    }
    // Legend of the marks, as far as there is room
    const auto legend = [&](const char* sign, const char* words, ImU32 colour) {
        const float w = text_width(Face::regular, 14, words) + 38;
        if (x + w > a.right()) return;
        c.text(x, y, sign, 14, colour);
        c.text(x + 19, y, words, 14, c.theme->t2);
        x += w;
    };
    legend("▼", "load", c.theme->t2);
    legend("▲", "store", c.theme->t2);
    legend("◆", "max rose", hue(*c.theme, Role::m));
    const float keys = key_cap_width("←") + key_cap_width("→") + key_cap_width("Space") + 110;
    if (x + keys > a.right() - 12) return;
    x = a.right() - 12 - keys;
    x += c.key_cap(x, y, "←") + 3;
    x += c.key_cap(x, y, "→") + 6;
    x += c.text(x, y, "step", 14, c.theme->t2) + 16;
    x += c.key_cap(x, y, "Space") + 6;
    c.text(x, y, "play", 14, c.theme->t2);
}

}  // namespace

void timeline_view(const Canvas& c, AppState& state, const Rect& a) {
    begin_panel(c, "Timeline", a.x, a.y, a.w, a.h);
    const float transport_h = a.h < 160 ? 54.0f : 70.0f;
    LaneStyle style;
    style.name_w = a.w < 900 ? 44 : 100;
    lanes(c, state, {a.x + 16, a.y + 11, a.w - 28, a.h - transport_h - 14}, style);
    transport(c, state, a, a.bottom() - transport_h / 2 - 2);
    end_panel(c);
}

}  // namespace tilewalk::ui
