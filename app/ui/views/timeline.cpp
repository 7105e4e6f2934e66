#include "app/ui/views/timeline.h"

#include "app/ui/items.h"
#include "app/ui/state.h"
#include "app/ui/views/views.h"
#include "core/formula.h"
#include "core/lessons/softmax_letters.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using Grid = TimelineGrid;

bool is_load(Op op) {
    return op == Op::load_q || op == Op::load_kv || op == Op::load || op == Op::load_state ||
           op == Op::load_x;
}
bool is_store(Op op) { return op == Op::store || op == Op::store_state; }

bool grows_in_hbm(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (k == 0 || lesson_of(trace).by_cell || (op != Op::dq && op != Op::dk && op != Op::dv)) return false;
    const Traffic now = trace.step(k).traffic, before = trace.step(k - 1).traffic;
    return now.hbm_read > before.hbm_read && now.hbm_write > before.hbm_write;
}

// The softmax lessons have letters of their own.
Line softmax_symbol(const Trace& trace, int k) {
    const SoftmaxLetters letters = softmax_letters(trace.problem(), softmax_passes(trace));
    switch (trace.step(k).op) {
    case Op::exponentials: return softmax_weight("");
    case Op::row_sum: return softmax_sum(letters, "");
    case Op::divide: return softmax_share("");
    case Op::output: return softmax_out(letters, "");
    case Op::store: return {symbol(Slot::O)};
    case Op::normalize: {
        Line line{word("÷ ")};
        line.push_back(softmax_sum(letters, "").front());
        return line;
    }
    default: return step_symbol(trace.step(k).op);
    }
}

// Loads and stores of the backward walk are named by what they move.
Line symbol_of(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const auto writes = trace.writes(k);
    const auto writes_to = [&](Slot slot) {
        return std::ranges::any_of(writes, [&](const Access& a) { return a.slot == slot; });
    };
    const auto both = [](Slot a, Slot b) { return Line{symbol(a), word(" "), symbol(b)}; };
    if (step.op == Op::load_q && writes_to(Slot::dOi)) return both(Slot::Qi, Slot::dOi);
    if (step.op == Op::store && writes_to(Slot::dK)) return both(Slot::dK, Slot::dV);
    if (step.op == Op::store && writes_to(Slot::dQ)) return {symbol(Slot::dQ)};
    if (softmax_passes(trace) > 0 && !writes.empty()) return softmax_symbol(trace, k);
    if (lesson_of(trace).by_cell && step.op == Op::store) return {symbol(writes.back().slot)};
    if (lesson_of(trace).by_cell && step.op == Op::load && trace.reads(k).size() == 1)
        return {symbol(trace.reads(k).front().slot)};
    if (lesson_of(trace).by_cell && step.op == Op::load)
        return both(trace.reads(k).front().slot, trace.reads(k).back().slot);
    if (step.op == Op::project || step.op == Op::update || step.op == Op::weight_gradient)
        return slot_symbol(writes.back().slot);
    return step_symbol(step.op);
}

enum class Rose { no, yes, unknown };

// Whether the maximum rose for any row at a new_max step; unknown until the walk has been there.
Rose max_rose(const AppState& state, int k) {
    if (state.trace->step(k).op != Op::new_max) return Rose::no;
    if (k > state.cursor.step) return Rose::unknown;
    return maximum_rises(*state.trace, k) ? Rose::yes : Rose::no;
}

void marks(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h, ImU32 ink,
           bool current, bool large) {
    const Op op = state.trace->step(k).op;
    const float tx = x + (w < 40 ? 2 : 5), s3 = w < 40 ? 3.0f : 3.5f;
    if (!large && is_load(op))
        c.polygon({{tx, y + h / 2 - s3}, {tx + 2 * s3, y + h / 2 - s3}, {tx + s3, y + h / 2 + s3}}, ink);
    // A sum that grows in HBM is read and written in one step: both marks, above each other.
    if (!large && w >= 34 && grows_in_hbm(*state.trace, k)) {
        const float mid = y + h / 2;
        c.polygon({{tx, mid - 1.5f}, {tx + s3, mid - 1.5f - 2 * s3}, {tx + 2 * s3, mid - 1.5f}}, ink);
        c.polygon({{tx, mid + 1.5f}, {tx + 2 * s3, mid + 1.5f}, {tx + s3, mid + 1.5f + 2 * s3}}, ink);
    }
    if (!large && is_store(op))
        c.polygon({{tx, y + h / 2 + s3}, {tx + s3, y + h / 2 - s3}, {tx + 2 * s3, y + h / 2 + s3}}, ink);
    const Rose rose = max_rose(state, k);
    if (rose == Rose::no || w < 14) return;
    const bool roomy = w >= 34;  // otherwise the mark keeps to the corner, clear of the symbol
    if (rose == Rose::unknown && !roomy) return;
    const float s = large ? 7.0f : roomy ? 4.5f : 3.5f;
    const float X = large ? x + w / 2 : x + w - (roomy ? 7 : 2), Y = large ? y + h / 2 : y + (roomy ? 7 : 1);
    const Point diamond[] = {{X, Y - s}, {X + s, Y}, {X, Y + s}, {X - s, Y}};
    if (rose == Rose::yes)
        c.polygon(diamond, current ? c.theme->inv : hue(*c.theme, Role::m));
    else
        c.polyline(diamond, c.theme->t3, 1.2f, true);
}

// The op's symbol as it fits: "K V", else "KV", else nothing.
Line fitting_symbol(const Canvas& c, const Trace& trace, int k, float room) {
    const Op op = trace.step(k).op;
    Line symbol = symbol_of(trace, k);
    for (Span& s : symbol) s.role = Role::none;  // ink, not hue: this is chrome
    if (rich_width(c, symbol, 14) <= room) return symbol;
    std::erase_if(symbol, [](const Span& s) { return s.text == " "; });
    for (Span& s : symbol)
        if (s.text == "÷ ") s.text = "÷";
    if (op == Op::init) symbol = {word("∅")};
    if (op == Op::mask) symbol = {word("/")};
    if (rich_width(c, symbol, 14) <= room) return symbol;
    // Of what the backward walk loads or stores together, the first stands for all.
    if (plain(symbol_of(trace, k)) == plain(step_symbol(op))) return {};
    symbol.erase(symbol.begin() + 1, symbol.end());
    if (rich_width(c, symbol, 14) <= room) return symbol;
    return {};
}

void step_cell(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h,
               const LaneStyle& style) {
    const Theme& t = *c.theme;
    const bool done = k < state.cursor.step, current = k == state.cursor.step,
               skip = state.trace->step(k).op == Op::skip;
    const float r = std::min(5.0f, w / 4);
    if (current) c.rect(x - 3, y - 3, w + 6, h + 6, with_alpha(t.focus, .2f), 7);
    if (current || (done && !skip))
        c.rect(x, y, w, h, current ? t.t1 : style.heads ? t.raised : mix(t.raised, t.line2, .6f), r);
    else
        c.frame(x + .5f, y + .5f, w - 1, h - 1, t.line, 1, r);
    if (skip) c.line({x + 3, y + h - 3}, {x + w - 3, y + 3}, current ? t.inv : done ? t.t3 : t.line2);
    if (w < 14 || skip) return;
    const Op op = state.trace->step(k).op;
    const bool transfer = is_load(op) || is_store(op) || (w >= 34 && grows_in_hbm(*state.trace, k));
    const ImU32 ink = current ? t.inv : done ? t.t1 : t.t2;
    if (style.symbols && h >= 18) {
        const float mark = transfer ? (w < 40 ? 8.0f : 13.0f) : 0.0f;
        c.rich(x + (w + mark) / 2, y + h / 2 + .5f, fitting_symbol(c, *state.trace, k, w - mark - 2), 14,
               Align::center, ink);
    }
    marks(c, state, k, x, y, w, h, current ? t.inv : done ? t.t2 : t.t3, current, !style.symbols);
}

// The softmax lessons go through a row element by element; no step of theirs belongs to a query block.
bool by_element(const Trace& trace) { return trace.step(0).i < 0 && trace.step(trace.size() - 1).i < 0; }

// "start", "key block 0" … above the columns.
void heads(const Canvas& c, const Grid& grid, bool elements, float x, float pitch, int offset, float y,
           float right) {
    const auto head = [&](int from, int to, const std::string& full, const std::string& brief) {
        if (to <= from || full.empty()) return;
        const float a = x + static_cast<float>(from - offset) * pitch,
                    b = x + static_cast<float>(to - offset) * pitch - 5;
        if (a < x - 1 || b > right + 1) return;
        const std::string& text = text_width(Face::regular, 13, full) <= b - a ? full : brief;
        const float w = text_width(Face::regular, 13, text), mid = (a + b) / 2;
        if (w > b - a) return;
        c.text(mid, y, text, 13, c.theme->t3, Face::regular, Align::center);
        if (b - a < w + 40) return;
        c.line({a, y + .5f}, {mid - w / 2 - 8, y + .5f}, c.theme->line);
        c.line({mid + w / 2 + 8, y + .5f}, {b, y + .5f}, c.theme->line);
    };
    head(0, grid.start, grid.blocks.empty() ? "" : "start", "");
    const std::string inner = !grid.by_query ? "query block " : elements ? "element " : "key block ";
    for (std::size_t n = 0; n < grid.blocks.size(); ++n) {
        const std::string number = std::to_string(n + (elements ? 1 : 0));
        const int first = grid.blocks[n].first;
        const int end = n + 1 < grid.blocks.size() ? grid.blocks[n + 1].first : grid.columns - grid.finish;
        head(first, end, inner + number, number);
    }
    head(grid.columns - grid.finish, grid.columns, grid.finish > 0 ? "finish" : "", "");
}

// Which lanes and columns are shown, around the current step.
struct Window {
    float x0, y0, pitch, lane, gap;
    int first_lane, lanes, offset, columns;
};

Window window_for(const AppState& state, const Grid& grid, const Rect& a, const LaneStyle& style) {
    Window v{};
    v.x0 = a.x + style.name_w;
    v.y0 = a.y + (style.heads ? 24.0f : 0.0f);
    const float w = a.right() - v.x0, room = a.bottom() - v.y0;
    v.pitch = std::max(4.0f, std::min(w / static_cast<float>(grid.columns), 64.0f));
    // Cells wide enough for their symbols keep the height for them; otherwise more lanes are worth more.
    const float least = std::min(style.symbols && v.pitch >= 20 ? 20.0f : 12.0f, style.lane);
    v.lane = std::clamp((room + style.gap) / static_cast<float>(grid.count()) - style.gap, least, style.lane);
    v.gap = v.lane < style.lane ? std::min(style.gap, 4.0f) : style.gap;
    v.lanes = std::clamp(static_cast<int>((room + v.gap) / (v.lane + v.gap)), 1, grid.count());
    const int current = grid.lane_of(state.cursor.step);
    v.first_lane = std::clamp(current - v.lanes / 2, 0, grid.count() - v.lanes);
    v.columns = std::max(1, static_cast<int>(w / v.pitch));
    const int column = grid.column_of(state.cursor.step);
    v.offset = std::clamp(column - v.columns / 2, 0, std::max(0, grid.columns - v.columns));
    return v;
}

void lane(const Canvas& c, const AppState& state, const Grid& grid, const Window& v, int row,
          const LaneStyle& style) {
    const float y = v.y0 + static_cast<float>(row - v.first_lane) * (v.lane + v.gap);
    const float space = v.pitch > 24 ? 5.0f : v.pitch > 8 ? 2.0f : 1.0f;
    const auto draw = [&](int k) {
        const int column = grid.column_of(k) - v.offset;
        const int columns = std::min(grid.width_of(k), v.columns - column);
        if (column < 0 || columns < 1) return;
        step_cell(c, state, k, v.x0 + static_cast<float>(column) * v.pitch, y,
                  static_cast<float>(columns) * v.pitch - space, v.lane, style);
    };
    const int current = state.cursor.step;
    for (int k = grid.begin(row); k < grid.end(row); ++k)
        if (k != current) draw(k);
    if (current >= grid.begin(row) && current < grid.end(row)) draw(current);
}

// The step under the mouse: the last one of the lane that does not lie right of it.
int step_at(const Grid& grid, const Window& v, Point mouse) {
    const int row =
        v.first_lane + std::clamp(static_cast<int>((mouse.y - v.y0) / (v.lane + v.gap)), 0, v.lanes - 1);
    const int column = v.offset + static_cast<int>((mouse.x - v.x0) / v.pitch);
    int k = grid.begin(row);
    while (k + 1 < grid.end(row) && grid.column_of(k + 1) <= column) ++k;
    return k;
}

// "Query block 3", or "Q3" where there is no room.
std::string lane_name(const AppState& state, int lane, float room) {
    const std::string name = state.lesson->lane(*state.problem, lane);
    const std::size_t number = name.find_last_of(' ');
    if (text_width(Face::medium, 13, name) <= room || number == std::string::npos) return name;
    // "Pass 1: max" has its number before the colon.
    const std::string head = name.substr(0, name.find(':'));
    if (text_width(Face::medium, 13, head) <= room) return head;
    return head.substr(0, 1) + head.substr(head.find_last_of(' ') + 1);
}

}  // namespace

void lanes(const Canvas& c, AppState& state, const Rect& a, const LaneStyle& style) {
    const Grid& grid = state.look.grid;
    const Window v = window_for(state, grid, a, style);
    if (style.heads)
        heads(c, grid, grid.by_query && by_element(*state.trace), v.x0, v.pitch, v.offset, a.y + 6,
              a.right());
    const int current = grid.lane_of(state.cursor.step);
    if (style.heads && v.lanes < grid.count()) {
        const std::string part = std::to_string(v.first_lane) + "–" +
                                 std::to_string(v.first_lane + v.lanes - 1) + " of " +
                                 std::to_string(grid.count());
        c.text_within(a.x, a.y + 6, style.name_w, part, 13, c.theme->t3);
    }
    for (int row = v.first_lane; row < v.first_lane + v.lanes; ++row) {
        const float y = v.y0 + static_cast<float>(row - v.first_lane) * (v.lane + v.gap);
        if (style.name_w > 0) {
            c.text_within(a.x, y + v.lane / 2, style.name_w - 6, lane_name(state, row, style.name_w - 6), 13,
                          row == current ? c.theme->t1 : c.theme->t2,
                          row == current ? Face::medium : Face::regular);
        }
        lane(c, state, grid, v, row, style);
    }

    const Hot hot = hot_area(c, "##timeline", v.x0, v.y0, a.right() - v.x0,
                             static_cast<float>(v.lanes) * (v.lane + v.gap), ItemKind::panel);
    if (!hot.hovered && !hot.held) return;
    const int k = step_at(grid, v, c.mouse());
    if (hot.held) {
        state.player.playing = false;
        go_to(state, at_step(*state.trace, k));
    }
    tooltip(c, "Step " + std::to_string(k + 1) + ": " + explain(*state.trace, k).title);
}

namespace {

// How far one press goes, in the words of the lesson.
struct LevelNames {
    std::vector<Level> levels;
    std::vector<std::string> names;
};

LevelNames level_names(const AppState& state) {
    if (state.lesson->by_cell) return {{Level::micro, Level::step, Level::block}, {"Cell", "Step", "Kernel"}};
    if (by_element(*state.trace))
        return {{Level::step, Level::tile, Level::block}, {"Step", "Element", "Pass"}};
    return {{Level::micro, Level::step, Level::tile, Level::block}, {"Row", "Step", "Tile", "Block"}};
}

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
    x += text_width(Face::semibold, 22, std::to_string(state.trace->size()));
    c.text(x, y, step, 22, 0, Face::semibold, Align::right);
    x += 8;
    x += c.text(x, y + 1, of, 14, c.theme->t2);
    const Hot hot = hot_area(c, "##goto", counter - 6, y - 16, x - counter + 12, 32);
    if (hot.hovered) tooltip(c, "Go to a step (G)");
    if (hot.clicked) {
        state.show_goto = true;
        state.goto_text[0] = 0;
    }
    x += 20;

    const LevelNames levels = level_names(state);
    int level = static_cast<int>(std::find(levels.levels.begin(), levels.levels.end(), state.player.level) -
                                 levels.levels.begin());
    const float level_w = segmented_width(levels.names);
    if (x + level_w < a.right() - 8) {
        if (segmented(c, "##level", x, y - 16, levels.names, level))
            state.player.level = levels.levels[static_cast<std::size_t>(level)];
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
    // Legend of the marks: all of it or none
    if (x + 280 > a.right()) return;
    const auto legend = [&](const char* sign, const char* words, ImU32 colour) {
        const float w = text_width(Face::regular, 14, words) + 38;
        if (x + w > a.right()) return;
        c.text(x, y, sign, 14, colour);
        c.text(x + 19, y, words, 14, c.theme->t2);
        x += w;
    };
    legend("▼", "load", c.theme->t2);
    legend("▲", "store", c.theme->t2);
    if (state.trace->live(Slot::alpha, state.trace->size())) legend("◆", "max rose", hue(*c.theme, Role::m));
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
