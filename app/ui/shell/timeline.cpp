#include "app/ui/kit/items.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/shell/panels.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/walk/explain.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace tilewalk::ui {

namespace {

using Grid = TimelineGrid;
constexpr float narrowest = 4, widest = 64;  // a cell with the space beside it
// Of a lane alone: from its foot to the middle of the names of its blocks, and to the bar of the whole walk.
constexpr float below_lane = 8.2f, bar_below_lane = 17.6f;
constexpr float least_lone_cell =
    27;  // with its symbol, and the space beside it: no more than 22 side by side

// Lanes too low for letters: the current step's stand above its column.
Rect name_now(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, float y,
              float right) {
    const Rect cell = cell_of(grid, v, state.cursor.step);
    if (cell.w <= 0 || cell.h >= least_with_symbol) return {};
    const Line name = step_symbol(*state.trace, state.cursor.step);
    const float w = rich_width(c, name, size::small),
                x = std::clamp(cell.x + (cell.w - w) / 2, v.x0, std::max(v.x0, right - w));
    c.rich(x, y, name, size::small, Align::left, c.theme->t1);
    return {x, y, w, 0};
}

// Time to the right, in ticks: numbers where a tick begins, as many as have room.
void ticks(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, float y,
           float right) {
    const int every = std::max(1, static_cast<int>(std::ceil(48 / v.pitch)));
    const Rect named = name_now(c, state, grid, v, y, right);
    for (int tick = 0; tick <= grid.columns; tick += every) {
        const float x = v.x_of(tick);
        if (x < v.x0 - 1 || x > right - 8) continue;
        c.line({x + .5f, y + 8}, {x + .5f, y + 12}, c.theme->line2);
        const float half = text_width(Face::mono, size::small, str(tick)) / 2 + 6;
        if (named.w > 0 && x + half > named.x && x - half < named.right()) continue;
        c.text(x, y, str(tick), size::small, c.theme->t3, Face::mono,
               tick == 0 ? Align::left : Align::center);
    }
}

// A worker that waits.
void idle(const Canvas& c, const LaneWindow& v, int row, int from, int to) {
    from = std::max(from, v.offset), to = std::min(to, v.offset + v.columns);
    if (to <= from) return;
    const float x = v.x_of(from), w = px(to - from) * v.pitch - v.space();
    c.crossed(x, v.y_of(row) + 1, w, v.lane - 2, c.theme->line2, v.lane < 18 ? 7.0f : 10.0f);
}

// The moment of the current step, over all lanes.
void moment(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v) {
    const int column = grid.column_of(state.cursor.step);
    if (column < v.offset || column >= v.offset + v.columns) return;
    const float x = v.x_of(column) + (v.pitch * px(grid.width_of(state.cursor.step)) - v.space()) / 2;
    const float top = v.y0 - 4, bottom = v.y_of(v.first_lane + v.lanes - 1) + v.lane + 3;
    c.line({x, top}, {x, bottom}, with_alpha(c.theme->focus, .45f), 1.4f);
}

// "start", "key block 0" … above the columns, or the phases that share a lane.
void heads(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, float y,
           float right) {
    const bool elements = grid.by_element;
    const auto head = [&](int from, int to, const std::string& full, const std::string& brief) {
        if (to <= from || full.empty()) return;
        const float a = v.x_of(from), b = v.x_of(to) - 5;
        if (a < v.x0 - 1 || b > right + 1) return;
        const std::string& text = text_width(Face::regular, size::small, full) <= b - a ? full : brief;
        const float w = text_width(Face::regular, size::small, text), mid = (a + b) / 2;
        if (w > b - a) return;
        c.text(mid, y, text, size::small, c.theme->t3, Align::center);
        if (b - a < w + 40) return;
        c.line({a, y + .5f}, {mid - w / 2 - 8, y + .5f}, c.theme->line);
        c.line({mid + w / 2 + 8, y + .5f}, {b, y + .5f}, c.theme->line);
    };
    for (int n = 0; n + 1 < static_cast<int>(grid.phases.size()); ++n) {
        const auto at = grid.phases.begin() + n;
        head(at[0], at[1], state.lesson->lane(*state.problem, n), "");
    }
    if (grid.timed) return ticks(c, state, grid, v, y, right);
    head(0, grid.start, grid.blocks.empty() ? "" : "start", "");
    const std::string inner = !grid.by_query ? "query block " : elements ? "element " : "key block ";
    for (std::size_t n = 0; n < grid.blocks.size(); ++n) {
        const std::string number = str(n);
        const int first = grid.blocks[n].first;
        const int end = n + 1 < grid.blocks.size() ? grid.blocks[n + 1].first : grid.columns - grid.finish;
        head(first, end, inner + number, number);
    }
    head(grid.columns - grid.finish, grid.columns, grid.finish > 0 ? "finish" : "", "");
}

// All columns where they fit; otherwise as many as do, of the size that the user chose.
float pitch_of(const AppState& state, const Grid& grid, float w) {
    // A lane alone may use the room that it has.
    const float most = grid.phases.empty() ? widest : 2 * widest;
    const float all = std::clamp(w / px(grid.columns), narrowest, most);
    return std::min(all * state.timeline.zoom, most);
}

// With the symbols of all steps of the lane in their cells.
float least_pitch(const Canvas& c, const AppState& state, const Grid& grid) {
    constexpr float space = 5;
    const Trace& trace = *state.trace;
    const int row = grid.lane_of(state.cursor.step);
    std::set<std::tuple<Op, Slot, Slot>> known;
    float most = 0;
    for (int k = grid.begin(row); k < grid.end(row); ++k) {
        const auto moved = [](const auto& all) { return all.empty() ? Slot::count : all.back().slot; };
        if (!known.emplace(trace.step(k).op, moved(trace.reads(k)), moved(trace.writes(k))).second) continue;
        most = std::max(most, least_cell(c, trace, k));
    }
    return std::max(most + space, least_lone_cell);
}

// Round the current step; cells with their symbols stand still while the walk is in a tile.
int column_at_left(const AppState& state, const Grid& grid, int columns, const LaneStyle& style) {
    const int k = state.cursor.step, middle = grid.column_of(k) - columns / 2;
    if (!style.whole_symbols) return middle;
    const StepRange tile = range_of_level(*state.trace, k, Level::tile);
    const int first = grid.column_of(tile.first),
              width = grid.column_of(tile.last) + grid.width_of(tile.last) - first;
    return width <= columns ? first - (columns - width) / 2 : middle;
}

// The first column: the user's choice, or round the current step.
int offset_of(const AppState& state, const Grid& grid, int columns, const LaneStyle& style) {
    const float chosen = state.timeline.offset;
    const int wanted = chosen < 0 ? column_at_left(state, grid, columns, style) : static_cast<int>(chosen);
    return std::clamp(wanted, 0, std::max(0, grid.columns - columns));
}

LaneWindow window_for(const Canvas& c, const AppState& state, const Grid& grid, const Rect& a,
                      const LaneStyle& style) {
    LaneWindow v{};
    v.x0 = a.x + style.name_w;
    v.y0 = a.y + (style.heads ? 24.0f : 0.0f);
    const float w = a.right() - v.x0;
    v.pitch = pitch_of(state, grid, w);
    v.roomy = style.heads ? 30 : 24;
    const float whole = style.whole_symbols ? std::min(least_pitch(c, state, grid), w) : 0;
    if (v.pitch < whole) v.pitch = w / std::floor(w / whole);
    v.columns = std::max(1, static_cast<int>(w / v.pitch + .01f));
    v.offset = offset_of(state, grid, v.columns, style);
    // Cells wide enough for their symbols keep the height for them; otherwise more lanes are worth more.
    // What runs side by side belongs together, so of such lanes all are shown before one has symbols.
    const bool together = grid.timed && style.heads;
    float least = std::min(together ? 9.0f : style.symbols && v.pitch >= 20 ? 20.0f : 12.0f, style.lane);
    const auto fit_lanes = [&](float room) {
        const auto lane_with = [&](float gap) {
            return std::clamp((room + gap) / px(grid.count()) - gap, least, style.lane);
        };
        v.lane = lane_with(style.gap);
        v.gap = v.lane < style.lane ? std::min(style.gap, together ? 2.0f : 4.0f) : style.gap;
        if (together) v.lane = lane_with(v.gap);
        v.lanes = std::clamp(static_cast<int>((room + v.gap) / (v.lane + v.gap)), 1, grid.count());
    };
    const float room = a.bottom() - v.y0;
    fit_lanes(room);
    // Rather all of them low than some of them, with their names at a distance.
    constexpr float lowest = 3;
    if (together && v.lanes < grid.count() && (room + 2) / px(grid.count()) - 2 >= lowest)
        least = lowest, fit_lanes(room);
    const bool cut = v.lanes < grid.count() || v.columns < grid.columns;
    if (cut && style.heads) {
        const float h = std::clamp(1.5f * px(grid.count()), 6.0f, 12.0f);
        v.overview = {v.x0, a.bottom() - h, w, h};
        fit_lanes(room - h - 6);
    }
    v.first_lane = std::clamp(grid.lane_of(state.cursor.step) - v.lanes / 2, 0, grid.count() - v.lanes);
    return v;
}

void lane(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, int row,
          const LaneStyle& style) {
    const auto draw = [&](int k) {
        const Rect cell = cell_of(grid, v, k);
        if (cell.w > 0) step_cell(c, state, k, cell.x, cell.y, cell.w, cell.h, style);
    };
    const int current = state.cursor.step, hidden = first_hidden_column(state, row);
    if (grid.timed && hidden == grid.columns)
        for (const auto& [from, to] : grid.gaps[static_cast<std::size_t>(row)]) idle(c, v, row, from, to);
    for (int k = grid.begin(row); k < grid.end(row); ++k)
        if (k != current && grid.column_of(k) < hidden) draw(k);
    if (current >= grid.begin(row) && current < grid.end(row)) draw(current);
    // A missing place or a wide one would tell what comes: there is one cell for each column.
    for (int column = std::max(hidden, v.offset); column < std::min(grid.columns, v.offset + v.columns);
         ++column)
        waiting_cell(c, v.x_of(column), v.y_of(row), v.pitch - v.space(), v.lane);
}

// "Query block 3", or "Q3" where there is no room.
std::string lane_name(const AppState& state, int lane, float room) {
    std::string name = state.lesson->lane(*state.problem, lane);
    const std::size_t number = name.find_last_of(' ');
    if (text_width(Face::medium, size::small, name) <= room) return name;
    if (number == std::string::npos) return name.substr(0, 1);
    // "Pass 1: max" has its number before the colon.
    std::string head = name.substr(0, name.find(':'));
    if (text_width(Face::medium, size::small, head) <= room) return head;
    return head.substr(0, 1) + head.substr(head.find_last_of(' ') + 1);
}

// The inner block that a step of the lane belongs to; −1: to none.
int block_of(const Grid& grid, const Step& step) { return grid.by_query ? step.j : step.i; }

constexpr const char *start = "start", *finish = "finish";

// Of "split A, key block 0" the split: the part of its lane that a step with a clock belongs to.
std::string split_of_step(const Trace& trace, int k) {
    const std::string place = explain(trace, range_of_level(trace, k, Level::tile).first).place;
    return place.substr(0, place.rfind(", "));
}

// Before the first block of a split, or behind its last one; nothing where it has none.
std::string start_or_finish_of_part(const Trace& trace, const Grid& grid, int k) {
    const int lane = grid.lane_of(k);
    const std::string part = split_of_step(trace, k);
    const auto in_block = [&](int n) {
        return split_of_step(trace, n) == part && explain(trace, n).place.size() > part.size();
    };
    for (int n = k; n-- > grid.begin(lane) && split_of_step(trace, n) == part;)
        if (in_block(n)) return finish;
    for (int n = k + 1; n < grid.end(lane) && split_of_step(trace, n) == part; ++n)
        if (in_block(n)) return start;
    return {};
}

// Of "split A, key block 0" the block, for lane and split are named above.
std::string group_of_timed(const Trace& trace, const Grid& grid, const std::string& lane, int k) {
    const StepRange tile = range_of_level(trace, k, Level::tile);
    const std::string place = explain(trace, tile.first).place;
    const std::size_t comma = place.rfind(", ");
    if (comma != place.npos) return place.substr(comma + 2);
    const std::string end = start_or_finish_of_part(trace, grid, k);
    return !end.empty() || capitalised(place) == lane || tile.last == tile.first ? end : place;
}

// What comes before the first block of a lane and behind its last one; the words are those of the desk.
std::string start_or_finish(const Trace& trace, const Grid& grid, int k) {
    const int lane = grid.lane_of(k);
    const auto in_block = [&](int n) { return block_of(grid, trace.step(n)) >= 0; };
    bool before = false, behind = false;
    for (int n = grid.begin(lane); n < k; ++n) before |= in_block(n);
    for (int n = k + 1; n < grid.end(lane); ++n) behind |= in_block(n);
    return before == behind ? "" : before ? finish : start;
}

// What a step of the lane belongs to, in words: a kernel, or an inner block.
std::string group_of(const AppState& state, const Grid& grid, int k) {
    const Step& step = state.trace->step(k);
    if (!grid.phases.empty()) {
        std::string kernel = state.lesson->lane(*state.problem, step.phase);
        // What is called like its only step has its name below.
        const auto same = [&](int n) {
            return n >= 0 && n < state.trace->size() && state.trace->step(n).phase == step.phase;
        };
        const bool alone = !same(k - 1) && !same(k + 1);
        if (alone && kernel == plain(step_symbol(*state.trace, k))) return {};
        return kernel.size() <= 2 ? "kernel " + kernel : kernel;
    }
    const int block = block_of(grid, step);
    if (grid.blocks.empty())
        return group_of_timed(*state.trace, grid, state.lesson->lane(*state.problem, grid.lane_of(k)), k);
    if (block < 0) return start_or_finish(*state.trace, grid, k);
    return !grid.by_query    ? "query block " + str(block)
           : grid.by_element ? "element " + str(block)
                             : "key block " + str(block);
}

// Steps of the lane that belong together, and their cells.
struct Group {
    std::string words;
    Rect cells;
    bool now;
    bool in_block() const { return words != start && words != finish; }
};
std::vector<Group> groups_of(const AppState& state, const Grid& grid, const LaneWindow& v) {
    const int lane = grid.lane_of(state.cursor.step), begin = grid.begin(lane);
    const std::vector<std::string>& all = state.timeline.group_words.of({state.trace, lane}, [&] {
        std::vector<std::string> words;
        for (int k = begin; k < grid.end(lane); ++k) words.push_back(group_of(state, grid, k));
        return words;
    });
    std::vector<Group> out;
    for (int k = begin; k < grid.end(lane); ++k) {
        const Rect cell = cell_of(grid, v, k);
        if (cell.w <= 0) continue;
        const std::string& words = all[static_cast<std::size_t>(k - begin)];
        if (out.empty() || words != out.back().words) out.push_back({words, cell, false});
        Group& group = out.back();
        group.cells.w = cell.right() - group.cells.x;
        group.now |= k == state.cursor.step;
    }
    return out;
}

// The cells of that of the current step, where it has a name
Rect group_now(const AppState& state, const Grid& grid, const LaneWindow& v) {
    for (const Group& group : groups_of(state, grid, v))
        if (group.now && group.in_block() && !group.words.empty()) return group.cells;
    return {};
}

// "key block 1" below its cells, from the left edge of the first on: it stays there from step to step. The
// group of the current step has its name before the others, beyond its cells if need be.
void group_names(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, float y,
                 float right) {
    const std::vector<Group> groups = groups_of(state, grid, v);
    Rect taken{-1e9f, 0, 0, 0};
    const auto name = [&](const Group& group, float most) {
        // Without what it does, where there is no room for that.
        for (const std::string& words : {group.words, group.words.substr(0, group.words.find(':'))}) {
            const float w = text_width(Face::regular, size::small, words),
                        x = group.now && v.lanes == 1 ? std::min(group.cells.x, right - w) : group.cells.x;
            const bool covered = x < taken.right() + 7 && x + w + 7 > taken.x;
            if (words.empty() || covered || w > most) continue;
            c.text(x, y, words, size::small, group.now ? c.theme->t2 : c.theme->t3);
            if (group.now) taken = {x, y, w, 0};
            return;
        }
    };
    for (const Group& group : groups)
        if (group.now) name(group, v.lanes == 1 && group.in_block() ? right - v.x0 : group.cells.w);
    for (const Group& group : groups) {
        if (group.now) continue;
        name(group, group.cells.w);
        // How far a kernel of several steps goes: cells beside it may be kernels themselves.
        if (!grid.phases.empty() && !group.words.empty())
            c.line({group.cells.x, y - below_lane + 1.5f}, {group.cells.right(), y - below_lane + 1.5f},
                   c.theme->line2, 1);
    }
}

// Of a lane alone, over it: to the top and the height of the line that names it.
constexpr float above_lane = 20, above_lane_h = 16;
constexpr float above_marks = 24;  // to the top of that line where marks stand below it

// The lane of the current step, at the left; where the tag of the step lies there, at the right.
// Returns where it ends.
float lane_name(const Canvas& c, const AppState& state, const Grid& grid, const Rect& tag, const Rect& a) {
    if (grid.count() < 2) return a.x;
    const std::string name = state.lesson->lane(*state.problem, grid.lane_of(state.cursor.step));
    // A worker may have several splits.
    std::string part =
        grid.blocks.empty() && grid.phases.empty() ? split_of_step(*state.trace, state.cursor.step) : "";
    part = part.empty() || capitalised(part) == name ? "" : ", " + part;
    const float w = text_width(Face::regular, size::small, name),
                more = text_width(Face::regular, size::small, part);
    const bool left = tag.x > a.x + w + 12;
    const float room = left ? std::min(tag.x, a.right()) - a.x - w - 12 : a.right() - tag.right() - w - 12;
    if (more > room) part.clear();
    const float x = left ? a.x : a.right() - w - (part.empty() ? 0 : more);
    c.text(x, tag.middle(), name, size::small, c.theme->t2);
    if (!part.empty()) c.text(x + w, tag.middle(), part, size::small, c.theme->t2);
    return x + w + (part.empty() ? 0 : more);
}

// What the current step does, over its cell. Returns where that stands.
Rect tag(const Canvas& c, const AppState& state, const Rect& cell, const Rect& a) {
    const Op op = state.trace->step(state.cursor.step).op;
    // As the head of the page calls it: a step has one name.
    Line words = title_line(info(op).kind == OpKind::compute ? state.explanation.title : title(op));
    // What a kernel of whole matrices loads or stores its name does not say.
    if (op == Op::load || op == Op::store)
        if (Line what = moved_symbols(*state.trace, state.cursor.step); !what.empty())
            words = pieces(words, " ", what);
    for (Span& span : words) span.role = Role::none;  // ink, not hue
    const bool plain_words = words.size() == 1;
    const float w = (plain_words ? text_width(Face::medium, size::small, words.front().text)
                                 : rich_width(c, words, size::small)) +
                    12,
                mid = cell.x + cell.w / 2;
    const float x = std::clamp(mid - w / 2, a.x, a.right() - w), y = cell.y - above_lane,
                up = plain_words ? 0 : 2;  // indices reach lower
    c.rect(x, y - up, w, 16 + up, c.theme->t1, radius::cell);
    c.polygon({{mid - 4, y + 16}, {mid + 4, y + 16}, {mid, y + 19}}, c.theme->t1);
    if (plain_words)
        c.text(x + w / 2, y + 8, words.front().text, size::small, c.theme->inv, Face::medium, Align::center);
    else
        c.rich(x + w / 2, y + 5.5f, words, size::small, Align::center, c.theme->inv);
    return {x, y, w, above_lane_h};
}

// What is set below a letter; nothing where that is only a name, as of W_Q.
std::string index_words(const AppState& state) {
    const Trace& trace = *state.trace;
    const Lesson& lesson = trace.lesson();
    // Of a step whose formula has none, or only words, it would say nothing.
    const bool some = std::ranges::any_of(state.explanation.formula, [](const Span& s) {
        const char first = s.text.empty() ? ' ' : s.text.front();
        return s.script == Span::Script::sub &&
               ((first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z' && s.text.size() == 1));
    });
    if (!some || lesson.uses(chooses_sequences)) return "";
    if (lesson.uses(chooses_ranks)) return "subscript: rank";
    if (lesson.picture == Picture::softmax) return "subscript: element";
    if (lesson.picture == Picture::merge) return "subscript: part";
    if (lesson.uses(chooses_workers)) return "subscript: block, split";
    const bool tiled = !lesson.by_cell;
    return tiled ? "subscript: block" : "";
}

// On stage what a lane alone is called, and its blocks.
void names_on_stage(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v,
                    const Rect& a, bool title) {
    const Rect cell = cell_of(grid, v, state.cursor.step);
    if (cell.w <= 0) return;
    const Rect right_of_all{1e9f, cell.y - above_marks, 0, above_lane_h};
    const Rect taken = title ? tag(c, state, cell, a) : right_of_all;
    const std::string index = title ? "" : index_words(state);
    const float right = a.right() - v.space(), room = text_width(Face::regular, size::small, index) + 12;
    if (!index.empty()) c.text(right, taken.middle(), index, size::small, c.theme->t3, Align::right);
    const float free = right - (index.empty() ? 0 : room),
                named = lane_name(c, state, grid, taken, {a.x, a.y, free - a.x, a.h});
    constexpr float apart = 16;
    if (!title)
        legend_of_marks(c, state, grid, v, {named + apart, taken.y, free - named - 2 * apart, taken.h});
    group_names(c, state, grid, v, v.y_of(v.first_lane + v.lanes - 1) + v.lane + below_lane, a.right());
}

// A lane says at its right end whether it goes on there, on stage at its left end, too: an arrow head, one
// line where the lane begins or ends, two where the walk does.
void lane_ends(const Canvas& c, const AppState& state, const Grid& grid, const LaneWindow& v, int row,
               float right, bool both) {
    const Theme& t = *c.theme;
    const float top = v.y_of(row), h = v.lane, mid = top + h / 2;
    const auto edge = [&](float x, float way, bool goes_on, bool whole) {
        note_part(c, {x - 4, top, 8, h}, goes_on ? "lane goes on" : whole ? "walk ends" : "lane ends");
        if (goes_on) return c.polygon({{x + way * 3.5f, mid}, {x - way, mid - 5}, {x - way, mid + 5}}, t.t2);
        c.line({x, top + 1}, {x, top + h - 1}, t.t3, 1);
        if (whole) c.line({x + way * 3, top + 1}, {x + way * 3, top + h - 1}, t.t3, 2);
    };
    if (both) edge(v.x0 - 5, -1, v.offset > 0, row == 0);
    // How long it is would tell what comes.
    if (first_hidden_column(state, row) < grid.columns || grid.begin(row) == grid.end(row)) return;
    int last = 0;  // the column behind it
    for (int k = grid.begin(row); k < grid.end(row); ++k)
        last = std::max(last, grid.column_of(k) + grid.width_of(k));
    const bool goes_on = v.offset + v.columns < last;
    edge((goes_on ? right : v.x_of(last)) - v.space() + 5, 1, goes_on, row == grid.count() - 1);
}

// What the user chose for another walk, or before the walk went elsewhere, no longer holds.
void settle_view(AppState& state, const Grid& grid, const LaneWindow& v) {
    constexpr float soon = .3f;  // seconds: whoever moves the view aside may keep it there
    TimelineView& view = state.timeline;
    const int column = grid.column_of(state.cursor.step);
    const bool hidden = column < v.offset || column >= v.offset + v.columns;
    if (hidden && state.step_age < soon) view.offset = -1;
    if (view.loop.last >= state.trace->size() || view.loop.first >= state.trace->size()) view.loop = {};
}

std::string tip(const AppState& state, int k) {
    const StepMarks marks = marks_of_step(state, k);
    std::string text = "Step " + str(k + 1);
    if (k <= state.cursor.step || !hides_what_comes(state)) text += ": " + explain(*state.trace, k).title;
    if (marks.breakpoint) text += ", breakpoint";
    if (marks.bookmark > 0) text += ", bookmark " + str(marks.bookmark);
    return text;
}

// Dragging goes to the step under the mouse; with Shift it marks the range that is looped.
void drag(AppState& state, int k) {
    TimelineView& view = state.timeline;
    if (ImGui::IsMouseClicked(0)) view.drag_from = ImGui::GetIO().KeyShift ? k : -1;
    if (view.drag_from >= 0) {
        view.loop = {std::min(k, view.drag_from), std::max(k, view.drag_from)};
        return;
    }
    state.player.playing = false;
    go_to(state, at_step(*state.trace, k));
}

void answer_mouse(const Canvas& c, AppState& state, const Grid& grid, const LaneWindow& v, float right) {
    if (loop_handles(c, state, v)) return;
    const Hot hot =
        hot_area(c, "##timeline", v.x0, v.y0, right - v.x0, px(v.lanes) * (v.lane + v.gap), ItemKind::panel);
    TimelineView& view = state.timeline;
    if (!hot.held && std::exchange(view.drag_from, -1) >= 0 && view.loop.first == view.loop.last)
        view.loop = {};  // a click with Shift takes the range away
    if (!hot.hovered && !hot.held) return;
    answer_wheel(state, v, c.mouse().x);
    const int k = step_at(grid, v, c.mouse());
    if (hot.held) drag(state, k);
    tooltip(c, tip(state, k));
}

}  // namespace

int first_hidden_column(const AppState& state, int row) {
    const Grid& grid = state.look.grid;
    const int current = state.cursor.step, lane = grid.lane_of(current);
    if (row < lane || !hides_what_comes(state)) return grid.columns;
    return row > lane ? 0 : grid.column_of(current) + grid.width_of(current);
}

Rect cell_of(const TimelineGrid& grid, const LaneWindow& v, int k) {
    // Of a wide one that begins or ends beyond the edge the part that is seen.
    const int row = grid.lane_of(k), first = grid.column_of(k), from = std::max(first, v.offset),
              columns = std::min(first + grid.width_of(k), v.offset + v.columns) - from;
    if (!v.shows_lane(row) || columns < 1) return {};
    const Rect cell{v.x_of(from), v.y_of(row), px(columns) * v.pitch - v.space(), v.lane};
    // What runs beside the work of its lane has the lower part of it.
    const bool shared = grid.timed && grid.shares[static_cast<std::size_t>(row)];
    if (!shared) return cell;
    const bool low = v.lane < 8;
    const float below =
        low ? std::max(1.0f, std::floor(v.lane / 3)) : std::max(3.0f, std::round(v.lane * .22f));
    if (grid.beneath[static_cast<std::size_t>(k)]) return {cell.x, cell.bottom() - below, cell.w, below};
    return {cell.x, cell.y, cell.w, cell.h - below - (low ? 0.0f : 1.0f)};
}

int step_at(const TimelineGrid& grid, const LaneWindow& v, Point mouse) {
    const int row =
        v.first_lane + std::clamp(static_cast<int>((mouse.y - v.y0) / (v.lane + v.gap)), 0, v.lanes - 1);
    const int column = v.offset + static_cast<int>((mouse.x - v.x0) / v.pitch);
    if (grid.timed) {  // one of those that run then, or the one before
        int found = grid.begin(row);
        for (int k = grid.begin(row); k < grid.end(row); ++k)
            if (grid.column_of(k) <= column && grid.column_of(k) >= grid.column_of(found)) found = k;
        return found;
    }
    int k = grid.begin(row);
    while (k + 1 < grid.end(row) && grid.column_of(k + 1) <= column) ++k;
    return k;
}

void lanes(const Canvas& c, AppState& state, const Rect& a, const LaneStyle& style) {
    const Grid& grid = state.look.grid;
    settle_view(state, grid, window_for(c, state, grid, a, style));
    const LaneWindow v = window_for(c, state, grid, a, style);
    if (style.heads) heads(c, state, grid, v, a.y + 6, a.right());
    const int current = grid.lane_of(state.cursor.step);
    if (style.heads && v.lanes < grid.count()) {
        // Passes are counted from 1, blocks from 0.
        const int from = grid.by_element ? 1 : 0;
        const std::string range = str(v.first_lane + from) + "–" + str(v.first_lane + v.lanes - 1 + from),
                          shown = v.lanes == 1 ? str(v.first_lane + 1) : range,
                          part = shown + " of " + str(grid.count());
        const bool fits = text_width(Face::regular, size::small, part) <= style.name_w;
        c.text_within(a.x, a.y + 6, style.name_w, fits ? part : shown + "/" + str(grid.count()), size::small,
                      c.theme->t3);
    }
    draw_loop(c, state, v);
    if (grid.timed) moment(c, state, grid, v);
    // Where all names have no room, the current one and those at a distance
    const int apart = std::max(1, static_cast<int>(std::ceil(size::small / (v.lane + v.gap))));
    for (int row = v.first_lane; row < v.first_lane + v.lanes; ++row) {
        const bool named = row == current || (row % apart == 0 && std::abs(row - current) >= apart);
        if (style.name_w > 0 && named) {
            c.text_within(a.x, v.y_of(row) + v.lane / 2, style.name_w - 6,
                          lane_name(state, row, style.name_w - 6), size::small,
                          row == current ? c.theme->t1 : c.theme->t2,
                          row == current ? Face::medium : Face::regular);
        }
        lane(c, state, grid, v, row, style);
        lane_ends(c, state, grid, v, row, std::min(a.right(), v.x_of(v.offset + v.columns)), style.stage);
    }
    draw_marks(c, state, v, style.stage ? group_now(state, grid, v) : Rect{});
    if (style.stage) names_on_stage(c, state, grid, v, a, style.title);
    answer_mouse(c, state, grid, v, a.right());
    if (v.overview.w > 0) overview(c, state, v);
    if (style.whole_symbols && (v.columns < grid.columns || grid.count() > 1))
        run_bar(c, state,
                {a.x, v.y_of(v.first_lane + v.lanes - 1) + v.lane + (style.stage ? bar_below_lane : 6),
                 a.w - v.space(), 2.4f});
}

void timeline_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Timeline", a);
    const float transport_h = a.h < 160 ? 54.0f : 70.0f;
    lanes(c, state, {a.x + 16, a.y + 11, a.w - 28, a.h - transport_h - 14},
          {.name_w = !state.look.grid.phases.empty() ? 0.0f
                     : a.w < 900                     ? 44.0f
                                                     : 100.0f});
    transport(c, state, a, a.bottom() - transport_h / 2 - 2);
}

}  // namespace tilewalk::ui
