#include "app/ui/parts/score_map.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_terms.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tilewalk::ui {

namespace {

constexpr float caption_h = 40, least_w = 150;
constexpr float least_cell = 4;  // smaller ones are sampled

struct Grid {
    const ScoreMap& map;
    SlotLook range;
    float cw = map.area.w / px(map.shape.cols), ch = map.area.h / px(map.shape.rows);
    Rect of(const Region& cells) const {
        return {map.area.x + px(cells.col) * cw, map.area.y + px(cells.row) * ch, px(cells.cols) * cw,
                px(cells.rows) * ch};
    }
};

int step_shown(const AppState& state) { return state.cursor.step - (shows_before(state) ? 1 : 0); }

// Without numbers a cell may be as strong as its hue. Most values are small beside the largest: their root is
// still told apart.
ImU32 heat(const Theme& t, Role role, float place) {
    return mix(t.panel, place < 0 ? t.t3 : hue(t, role),
               .06f + .8f * std::sqrt(std::min(1.0f, std::abs(place))));
}

// What the mask hides: a surface and, where it is not a smear, a stroke.
void draw_hidden(const Canvas& c, const Rect& a, float least) {
    c.rect(a.x, a.y, a.w, a.h, mix(c.theme->panel, c.theme->t3, .3f));
    if (std::min(a.w, a.h) < least) return;
    c.line({a.x + 2, a.bottom() - 2}, {a.right() - 2, a.y + 2}, c.theme->t3, 1.5f);
}

// A score of −∞ may also have overflowed, as −70000 does in fp16.
bool is_masked(const Trace& trace, Slot slot, int row, int col) {
    if (slot != Slot::S && slot != Slot::S_hbm) return false;
    // Ranks of a ring and sequences have rows, or positions, of their own: there the number says it.
    if (trace.lesson().uses(parts_of_rows)) return true;
    return !passes_mask(trace.walked(), row, col);
}

void draw_values(const Canvas& c, const Trace& trace, const Grid& g, const Value& value, bool dim) {
    const Theme& t = *c.theme;
    const SlotLook& range = g.range;
    const Role role = info(g.map.slot).role;
    const int down = std::max(1, static_cast<int>(std::ceil(least_cell / g.ch))),
              across = std::max(1, static_cast<int>(std::ceil(least_cell / g.cw)));
    for (int r = 0; r < value.region.rows; r += down)
        for (int q = 0; q < value.region.cols; q += across) {
            const double v = value.data(r, q);
            const Rect cell =
                g.of({value.region.row + r, value.region.col + q, std::min(down, value.region.rows - r),
                      std::min(across, value.region.cols - q)});
            if (v == minus_infinity &&
                is_masked(trace, g.map.slot, value.region.row + r, value.region.col + q)) {
                draw_hidden(c, cell, 12);
                continue;
            }
            const ImU32 fill = std::isfinite(v) ? heat(t, role, range.place(v)) : t.danger;
            c.rect(cell.x, cell.y, cell.w, cell.h, dim ? mix(fill, t.well, .4f) : fill);
        }
}

Region tile_region(const Problem& p, int i, int j) {
    const int row = std::max(i, 0) * p.Br, col = std::max(j, 0) * p.Bc;
    return {row, col, i < 0 ? p.N() : std::min(p.Br, p.N() - row),
            j < 0 ? p.N_kv() : std::min(p.Bc, p.N_kv() - col)};
}

void cross_out(const Canvas& c, const Rect& tile) {
    const float pad = std::min(6.0f, tile.w / 6);
    const Rect a{tile.x + pad, tile.y + pad, tile.w - 2 * pad, tile.h - 2 * pad};
    c.line({a.x, a.bottom()}, {a.right(), a.y}, c.theme->focus, 3);
    c.line({a.x, a.y}, {a.right(), a.bottom()}, c.theme->focus, 3);
}

// The tiles of the scores as far as they were computed. Returns how many, and how many are not skipped.
struct Reached {
    int tiles = 0, of = 0, lowest_row = 0;
    std::vector<Rect> skipped;  ///< as they are drawn
};
Reached draw_tiles(const Canvas& c, const AppState& state, const Grid& g) {
    const Trace& trace = *state.trace;
    const Problem& p = trace.problem();
    const int shown = step_shown(state);
    Reached out;
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.op == Op::scores) ++out.of;
        if (step.op == Op::skip && (k <= shown || !hides_what_comes(state))) {
            const Rect tile = g.of(tile_region(p, step.i, step.j));
            draw_hidden(c, tile, 20);
            out.skipped.push_back(tile);
        }
        if (step.op == Op::skip && k == state.cursor.step) cross_out(c, g.of(tile_region(p, step.i, step.j)));
        if (k > shown || step.op < Op::scores || step.op > Op::mask) continue;
        if (const Value* S = value_in(trace, trace.writes(k), Slot::S)) {
            draw_values(c, trace, g, *S, step.i != step_now(state).i || step.j != step_now(state).j);
            out.tiles += step.op == Op::scores;
            out.lowest_row = std::max(out.lowest_row, S->region.row + S->region.rows);
        }
    }
    return out;
}

void tile_lines(const Canvas& c, const Problem& p, const Grid& g) {
    const Rect& a = g.map.area;
    for (int row = p.Br; row < p.N() && px(p.Br) * g.ch >= 6; row += p.Br)
        c.line({a.x, a.y + px(row) * g.ch}, {a.right(), a.y + px(row) * g.ch}, c.theme->line2);
    for (int col = p.Bc; col < p.N_kv() && px(p.Bc) * g.cw >= 6; col += p.Bc)
        c.line({a.x + px(col) * g.cw, a.y}, {a.x + px(col) * g.cw, a.bottom()}, c.theme->line2);
}

// What the wedge covers of the map, at the right of the row.
Rect covered_by_wedge(const Rect& map, const Rect& row, const Rect& to) {
    const float share = (map.right() - row.right()) / std::max(1.0f, to.x - 10 - row.right());
    const float top = row.y + (to.y - 4 - row.y) * share,
                bottom = row.bottom() + (to.bottom() + 4 - row.bottom()) * share;
    const float y = std::min(row.y, top);
    return {row.right(), y, map.right() - row.right(), std::max(row.bottom(), bottom) - y};
}

void wedge(const Canvas& c, const Rect& row, const Rect& to) {
    const float x = to.x - 10;
    c.polygon({{row.right(), row.y}, {x, to.y - 4}, {x, to.bottom() + 4}, {row.right(), row.bottom()}},
              with_alpha(c.theme->t2, .13f));
    c.line({row.right(), row.y}, {x, to.y - 4}, c.theme->t3, 1.4f);
    c.line({row.right(), row.bottom()}, {x, to.bottom() + 4}, c.theme->t3, 1.4f);
}

// The row of the map that the explanation's cell lies in, or is made from.
int row_of(const AppState& state, const ScoreMap& map) {
    const CellRef target = state.explanation.target;
    if (target.slot == map.slot) return target.row;
    const auto of_queries = [](Slot slot) {
        const Role role = info(slot).role;
        return role != Role::K && role != Role::V;
    };
    if (map.shape.rows > target.row && target.slot != Slot::count && of_queries(target.slot))
        return target.row;
    return -1;
}

// The slot's colours; of a single matrix its own, because S before it was scaled would leave S none.
SlotLook range_of(const AppState& state, const ScoreMap& map) {
    SlotLook out = state.look[map.slot];
    for (const StageTerm& term : stage_terms(*state.trace, state.cursor.step)) {
        if (map.tiles || term.slot != map.slot) continue;
        std::tie(out.lo, out.hi) = state.stage.extent.of({state.trace, state.cursor.step, term.slot}, [&] {
            double lo = 0, hi = 0;
            for (const double v : term.value->data.reshaped())
                if (std::isfinite(v)) lo = std::min(lo, v), hi = std::max(hi, v);
            return std::pair(lo, hi);
        });
    }
    return out;
}

}  // namespace

ScoreMap score_map(const AppState& state, const Rect& room) {
    const Problem& p = *state.problem;
    ScoreMap map{.slot = Slot::S, .shape = {0, 0, p.N(), p.N_kv()}, .tiles = true, .area = {}};
    const bool in_tiles =
        (op_now(state) == Op::skip || !stage_terms(*state.trace, state.cursor.step).empty()) &&
        (step_now(state).i >= 0 || step_now(state).j >= 0);
    if (!in_tiles) {
        const Value* largest = nullptr;
        for (const StageTerm& t : stage_terms(*state.trace, state.cursor.step))
            if (!largest || t.value->data.size() >= largest->data.size())
                largest = t.value, map.slot = t.slot;
        if (!largest || largest->region.cols == 1) return map;
        map.shape = largest->region, map.tiles = false;
    }
    const float side = std::min(room.w, room.h - 2 * caption_h);
    if (side < 120) return map;
    const float longest = px(std::max(map.shape.rows, map.shape.cols));
    const float w = std::max(px(map.shape.cols) / longest * side, least_w),
                h = std::max(px(map.shape.rows) / longest * side, side * .25f);
    map.area = {room.x, room.y + caption_h, w, h};
    return map;
}

// Over tiles that will come: those that the mask skips are none of them, and nothing runs through the words.
static void name_the_rest(const Canvas& c, const Rect& a, float top, const std::vector<Rect>& taken) {
    if (a.bottom() - top < 60) return;
    const float h = 34;
    for (const char* words : {"not reached yet", "to come"})
        for (const float y : {(top + a.bottom()) / 2, a.bottom() - 26}) {
            const float w = text_width(Face::regular, size::far, words) + 8;
            float left = a.x, right = a.right();
            for (const Rect& tile : taken) {
                if (tile.bottom() <= y - h / 2 || tile.y >= y + h / 2) continue;
                if (tile.x + tile.w / 2 > a.x + a.w / 2)
                    right = std::min(right, tile.x);
                else
                    left = std::max(left, tile.right());
            }
            if (right - left < w) continue;
            const float x = (left + right) / 2;
            c.rect(x - w / 2, y - h / 2, w, h, c.theme->light ? c.theme->raised : c.theme->well);
            c.text(x, y, words, size::far, c.theme->t2, Align::center);
            return;
        }
}

void draw_score_map(const Canvas& c, const AppState& state, const ScoreMap& map, const Rect& enlarged) {
    const Theme& t = *c.theme;
    const Problem& p = *state.problem;
    const Grid g{map, range_of(state, map)};
    const Rect& a = map.area;
    note_part(c, {a.x - 8, a.y - caption_h, a.w + 16, a.h + 2 * caption_h}, "Map");
    const Line sizes =
        pieces(slot_symbol(map.slot), ", " + str(map.shape.rows) + " × " + str(map.shape.cols));
    for (const Line& words : {pieces("whole ", sizes), sizes, slot_symbol(map.slot)})
        if (rich_width(c, words, size::far) <= a.w + 40) {
            c.rich(a.x, a.y - 22, words, size::far);
            break;
        }
    c.rect(a.x, a.y, a.w, a.h, t.light ? t.raised : t.well);  // not reached
    Reached reached;
    if (map.tiles) {
        reached = draw_tiles(c, state, g);
        tile_lines(c, p, g);
    } else {
        for (const StageTerm& term : stage_terms(*state.trace, state.cursor.step))
            if (term.slot == map.slot && !(term.result && shows_before(state)))
                draw_values(c, *state.trace, g, *term.value, false);
    }
    c.frame(a.x, a.y, a.w, a.h, t.line2);
    const Step& now = step_now(state);
    const Region tile = map.tiles ? tile_region(p, now.i, now.j) : map.shape;
    const Rect at = g.of(tile);
    if (map.tiles) c.frame(at.x - 1, at.y - 1, at.w + 2, at.h + 2, hue(t, Role::S), 3, radius::bar);
    if (const int row = row_of(state, map); row >= tile.row && row < tile.row + tile.rows) {
        Rect line = g.of({row, tile.col, 1, tile.cols});
        if (line.h < 5) line.y += line.h / 2 - 2.5f, line.h = 5;
        if (enlarged.w > 0) {
            wedge(c, line, enlarged);
            reached.skipped.push_back(covered_by_wedge(a, line, enlarged));
        }
        c.frame(line.x - 2, line.y - 2, line.w + 4, line.h + 4, t.focus, 2.6f, radius::bar);
    }
    if (!map.tiles) return;
    if (reached.tiles < reached.of) name_the_rest(c, a, a.y + px(reached.lowest_row) * g.ch, reached.skipped);
    const std::string count = str(reached.tiles) + " of " + counted(reached.of, "tile");
    const float w = c.text(a.x, a.bottom() + 24, count, size::far, t.t2), key = 22, x = a.x + w + 12;
    const bool masks = p.causal || p.window;
    if (!masks || x + key + 8 + text_width(Face::regular, size::far, "masked") > a.right() + wedge_w - 8)
        return;
    draw_hidden(c, {x, a.bottom() + 13, key, key}, 12);
    c.text(x + key + 8, a.bottom() + 24, "masked", size::far, t.t2);
}

}  // namespace tilewalk::ui
