#include "app/ui/parts/stage_motion.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr int most_lit_cells = 16;  // of a result, one after another
constexpr int most_cells = 256;     // of a tile that is drawn cell by cell

float mixed(float a, float b, float t) { return a + (b - a) * t; }

Rect mixed(const Rect& a, const Rect& b, float t) {
    return {mixed(a.x, b.x, t), mixed(a.y, b.y, t), mixed(a.w, b.w, t), mixed(a.h, b.h, t)};
}

// Where a tile is that has gone this part of its way, as fast everywhere.
Rect along(const std::vector<Rect>& way, float t) {
    const auto length = [&](std::size_t n) {
        return std::hypot(way[n + 1].x - way[n].x, way[n + 1].y - way[n].y);
    };
    float left = 0;
    for (std::size_t n = 0; n + 1 < way.size(); ++n) left += length(n);
    left *= t;
    for (std::size_t n = 0; n + 2 < way.size(); ++n) {
        if (left < length(n)) return mixed(way[n], way[n + 1], left / length(n));
        left -= length(n);
    }
    const std::size_t last = way.size() - 2;
    return mixed(way[last], way[last + 1], std::clamp(left / std::max(length(last), 1.0f), 0.0f, 1.0f));
}

}  // namespace

void draw_bare_tile(const Canvas& c, const AppState& state, Slot slot, const Value& value, const Rect& a) {
    const Theme& t = *c.theme;
    const SlotLook& range = state.look[slot];
    const ImU32 colour = hue(t, info(slot).role);
    c.rect(a.x - 3, a.y - 3, a.w + 6, a.h + 6, t.well, radius::card);
    const auto rows = value.data.rows(), cols = value.data.cols();
    const float cw = a.w / px(cols), ch = a.h / px(rows);
    if (rows * cols <= most_cells && cw >= 2 && ch >= 2)
        for (int r = 0; r < rows; ++r)
            for (int col = 0; col < cols; ++col) {
                CellLook look{.role = info(slot).role, .t = range.place(value.data(r, col))};
                look.with_sign = range.with_sign();
                const float gap = cw > 4 ? 1 : 0;
                c.rect(a.x + px(col) * cw, a.y + px(r) * ch, cw - gap, ch - gap, cell_fill(t, look));
            }
    else
        c.rect(a.x, a.y, a.w, a.h, mix(t.panel, colour, .5f), radius::cell);
    c.frame(a.x - 3, a.y - 3, a.w + 6, a.h + 6, colour, 2.4f, radius::card);
}

namespace {

const OnStage* with_value(std::span<OnStage* const> stage, const Value& value) {
    const auto found = std::ranges::find_if(stage, [&](const OnStage* one) { return one->value == &value; });
    return found == stage.end() ? nullptr : *found;
}

// What is stored may have been rounded: then it is the matrix of the same quantity and the same rows.
const OnStage* source_of(std::span<OnStage* const> stage, Slot slot, const Value& value) {
    if (const OnStage* same = with_value(stage, value)) return same;
    const auto found = std::ranges::find_if(stage, [&](const OnStage* one) {
        return info(one->slot).role == info(slot).role && one->value->region == value.region;
    });
    return found == stage.end() ? nullptr : *found;
}

const Rect* place_on(const std::vector<StripPlace>& strip, const Access& access) {
    const auto found = std::ranges::find_if(strip, [&](const StripPlace& place) {
        return place.slot == access.slot && place.tile == access.tile;
    });
    return found == strip.end() ? nullptr : &found->area;
}

// It leaves below its numbers, as a strip that gathers to a tile, and goes below all that stands there.
std::vector<Rect> way_to_hbm(const Rect& from, float lane, const Rect& place) {
    const float w = place.w, h = place.h;
    return {{from.x, from.bottom() + 8, from.w, 4},
            {from.x + (from.w - w) / 2, lane, w, h},
            {place.x + 120, std::max(lane, place.y), w, h},
            place};
}

// The same for a row with a formula right below it: it gathers at the row's left end.
std::vector<Rect> way_past_the_end(const Rect& from, const Rect& place) {
    const float w = place.w, h = place.h;
    return {{from.x, from.bottom() + 6, from.w, 4}, {from.x - w - 8, from.bottom() + 6 - h, w, h}, place};
}

void draw_flying(const Canvas& c, const AppState& state, Slot slot, const Value& value, const Rect& now) {
    draw_bare_tile(c, state, slot, value, now);
    note_part(c, now, std::string("flying ") + info(slot).name);
}

}  // namespace

bool on_its_way(const AppState& state) {
    const Op op = op_now(state);
    return is_load(op) || is_store(op) ? phase(state) < during::storing.to : sent(state) < 1;
}

float landed(const AppState& state, const Value& value, const std::vector<StripPlace>& strip) {
    if (!is_load(op_now(state))) return 0;
    for (const Access& access : state.trace->reads(state.cursor.step))
        if (&state.trace->value(access.value) == &value && place_on(strip, access)) return !on_its_way(state);
    return over(phase(state), during::loading);
}

void draw_flights(const Canvas& c, const AppState& state, std::span<OnStage* const> stage,
                  const StageView& view) {
    if (!on_its_way(state)) return;
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const Op op = op_now(state);
    const bool loads = is_load(op);
    const float t = loads          ? over(phase(state), during::loading)
                    : is_store(op) ? over(phase(state), during::storing)
                                   : sent(state);
    if (t == 0 && !loads) return;
    float lane = 0;
    for (const OnStage* one : stage) lane = std::max(lane, one->bed.bottom() + 16);
    for (const Access& access : loads ? trace.reads(k) : trace.writes(k)) {
        const Value& value = trace.value(access.value);
        const Rect* place = place_on(view.strip, access);
        const OnStage* there = loads ? with_value(stage, value) : source_of(stage, access.slot, value);
        if (!place || !there) continue;
        const Rect bed = there->bed.area();
        const float low = std::min(lane, view.floor - place->h - 6);
        const std::vector<Rect> way = loads ? std::vector<Rect>{*place, bed} : way_to_hbm(bed, low, *place);
        draw_flying(c, state, access.slot, value, along(way, t));
    }
}

void draw_sent(const Canvas& c, const AppState& state, const Rect& row,
               const std::vector<StripPlace>& strip) {
    const float t = sent(state);
    if (t == 0 || t == 1) return;
    for (const Access& access : state.trace->writes(state.cursor.step))
        if (const Rect* place = place_on(strip, access))
            draw_flying(c, state, access.slot, state.trace->value(access.value),
                        along(way_past_the_end(row, *place), t));
}

void draw_empty_bed(const Canvas& c, const Bed& bed) {
    const Theme& t = *c.theme;
    c.rect(bed.x - 4, bed.y - 4, bed.width() + 8, bed.height() + 8, t.well, 8);
    c.to_come(bed.x - 4, bed.y - 4, bed.width() + 8, bed.height() + 8);
    if (bed.cw < 16 || bed.ch < 12) return;
    CellLook pending;
    pending.state = CellState::pending;
    for (int r = 0; r < bed.rows; ++r)
        for (int col = 0; col < bed.cols; ++col)
            cell(c, bed.x + px(col) * bed.cw, bed.y + px(r) * bed.ch, bed.cw, bed.ch, pending);
}

namespace {

// A product and its factors.
struct Product {
    OnStage *left = nullptr, *right = nullptr, *result = nullptr;
    bool added = false;  ///< to something else
    explicit operator bool() const { return left && result; }
};
Product product_on(std::span<OnStage* const> line) {
    Product out;
    for (std::size_t n = 1; n < line.size(); ++n) {
        if (std::string_view(line[n]->before) == "·") out.left = line[n - 1], out.right = line[n];
        if (line[n]->result && !out.result) out.result = line[n];
    }
    out.added = line.size() > 3;
    return out;
}

Rect cell_area(const Bed& bed, int row, int col) {
    return {bed.x + px(col) * bed.cw, bed.y + px(row) * bed.ch, bed.cw, bed.ch};
}

// Which pair of numbers the lens multiplies now.
void light_pair(const AppState& state, const Product& p) {
    const Region& region = p.result->value->region;
    const CellRef target = state.explanation.target;
    const int count = p.left->cols(), row = target.row - region.row, col = target.col - region.col;
    if (target.slot != p.result->slot || !region.contains(target.row, target.col)) return;
    const Stretch when = p.added ? during::appending : during::terms;
    const float t = (phase(state) - when.from) / (when.to - when.from);
    if (t < 0 || t >= 1 || count > most_lit_cells) return;
    const int n = static_cast<int>(t * px(count));
    p.left->lit = cell_area(p.left->bed, row, n);
    p.right->lit = cell_area(p.right->bed, n, col);
}

// What the cell of the result is made from: of a product a row and a column, else what stands in the same
// place, or the whole row. `col` −1: of a whole row of the result.
void light_sources(std::span<OnStage* const> line, const Product& p, int row, int col) {
    const auto row_area = [&](const Bed& bed) {
        return Rect{bed.x, bed.y + px(row) * bed.ch, bed.width(), bed.ch};
    };
    if (p) {
        const Bed& right = p.right->bed;
        p.left->lit = row_area(p.left->bed);
        if (col >= 0) p.right->lit = {right.x + px(col) * right.cw, right.y, right.cw, right.height()};
        return;
    }
    for (OnStage* t : line) {
        if (t->result || t->rows() != p.result->rows()) continue;
        const bool same_place = col >= 0 && t->cols() == p.result->cols();
        t->lit = same_place ? cell_area(t->bed, row, col) : row_area(t->bed);
    }
}

}  // namespace

// While a result is made that no drawing shows, or a product: the pairs of one cell, as the lens shows them;
// then one cell after another, or of large results row after row.
void light_up(const AppState& state, std::span<OnStage* const> line, bool lens) {
    const Product p = product_on(line);
    const bool computes = info(op_now(state)).kind == OpKind::compute;
    if (phase(state) >= 1 || !p.result || !computes || (lens && !p)) return;
    const int rows = p.result->rows(), cols = p.result->cols();
    if (rows > most_lit_cells || cols > most_lit_cells) return;
    if (lens) light_pair(state, p);
    const bool by_row = rows * cols > most_lit_cells;
    const int across = by_row ? 1 : cols, all = rows * across;
    const Stretch when = lens ? during::arrival : during::alone;
    const float t = std::clamp((phase(state) - when.from) / (when.to - when.from), 0.0f, 1.0f) * px(all);
    const int n = static_cast<int>(t);
    p.result->done = (n + (t - px(n) > .5f ? 1 : 0)) * (by_row ? cols : 1);
    if (t > 0 && n < all) light_sources(line, p, n / across, by_row ? -1 : n % across);
}

}  // namespace tilewalk::ui
