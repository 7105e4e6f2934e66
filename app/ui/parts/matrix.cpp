#include "app/ui/parts/matrix.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/inputs.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/matrix_menu.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/base/beside_matrix.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {
float root_of_place(const SlotLook& range, double value) {
    const float place = range.place(value);
    return std::copysign(std::sqrt(std::abs(place)), place);
}
}  // namespace

ImU32 heat_colour(const Theme& t, Slot slot, const SlotLook& range, double value, bool dim) {
    const Role role = info(slot).role;
    const float root = root_of_place(range, value);
    const auto shade = [&](bool waits) {
        return range.with_sign() ? signed_ramp(t, role, root, waits) : ramp(t, role, root, waits);
    };
    // Without a number to be read a matrix that waits need not be as dark as cells with theirs.
    return dim ? mix(shade(true), shade(false), .4f) : shade(false);
}

namespace {

constexpr int most_sharp_cells = 16;  // beyond, a matrix is a heat map

Region region_of(const MatrixLook& look) { return look.value ? look.value->region : look.region; }

// Cells from left to right and from top to bottom, as drawn.
struct Extents {
    int across, down;
};
Extents extents_of(const MatrixLook& look) {
    const Region region = region_of(look);
    return look.transposed ? Extents{region.rows, region.cols} : Extents{region.cols, region.rows};
}

Point place_of(const MatrixLook& look, int r, int c) {
    const int across = look.transposed ? r : c, down = look.transposed ? c : r;
    return {look.x + px(across) * look.cw, look.y + px(down) * look.ch};
}

bool heat_map(const MatrixLook& look) {
    const Region region = region_of(look);
    return region.rows > most_sharp_cells || region.cols > most_sharp_cells;
}

// NaN, and ∞, which no true walk has: only a broken one.
bool lost(double v) { return std::isnan(v) || v == std::numeric_limits<double>::infinity(); }

// Or −∞ where the true walk has a number: an overflow, which is no mask.
bool lost(const MatrixLook& look, const Value& shown, int r, int c) {
    const double v = shown.data(r, c);
    const bool beside = look.truth && look.truth->region == shown.region;
    return lost(v) || (std::isinf(v) && beside && std::isfinite(look.truth->data(r, c)));
}

// Cells without numbers share one frame.
bool small_cells(const MatrixLook& look) { return look.digits == 0 || look.ch < 20 || heat_map(look); }

// So do several that a step writes: a frame round each of them would say no more.
bool one_frame(const MatrixLook& look) {
    const bool several =
        look.state == CellState::written && look.value && !look.only_changed && look.value->data.size() > 1;
    return small_cells(look) || several;
}

void draw_bed(const Canvas& canvas, const MatrixLook& look) {
    const auto [across, down] = extents_of(look);
    const float w = px(across) * look.cw + 8, h = px(down) * look.ch + 8;
    const float fine = far_type() ? 1 / size::far_growth : 1;  // enlarged, lines are as thin as elsewhere
    const Theme& t = *canvas.theme;
    const ImU32 colour = hue(t, info(look.slot).role);
    canvas.rect(look.x - 4, look.y - 4, w, h, t.well, 8);
    if (look.state == CellState::read)
        canvas.dashed_frame(look.x - 4, look.y - 4, w, h, colour, 2.2f * fine, {7 * fine, 4 * fine});
    else if (look.state == CellState::pending)
        canvas.to_come(look.x - 4, look.y - 4, w, h);
    else if (look.state == CellState::written && look.value)
        canvas.frame(look.x - 4, look.y - 4, w, h, colour, 2 * fine, 8);
    else
        canvas.frame(look.x - 4, look.y - 4, w, h, mix(t.panel, colour, look.dim ? .5f : .8f),
                     look.dim ? 1.2f : 1.6f, 8);
}

void draw_heat_map(const Canvas& canvas, const MatrixLook& look, const SlotLook& range) {
    const Region region = region_of(look);
    const Theme& t = *canvas.theme;
    // Large thumbnails are sampled: no more than 64 × 64 rectangles, each standing for its middle cell.
    const int row_step = ceil_div(region.rows, 64), col_step = ceil_div(region.cols, 64);
    const bool empty = look.value->data.isZero(0);  // an accumulator before its first tile is no data
    for (int r = 0; r < region.rows; r += row_step)
        for (int c = 0; c < region.cols; c += col_step) {
            const auto [x, y] = place_of(look, r, c);
            const int rows = std::min(row_step, region.rows - r), cols = std::min(col_step, region.cols - c);
            const float w = look.cw * px(look.transposed ? rows : cols);
            const float h = look.ch * px(look.transposed ? cols : rows);
            const double v = look.value->data(r + rows / 2, c + cols / 2);
            const bool gone = lost(look, *look.value, r + rows / 2, c + cols / 2);
            const ImU32 colour = gone            ? t.danger
                                 : std::isinf(v) ? t.line2
                                                 : heat_colour(t, look.slot, range, v, look.dim);
            canvas.rect(x, y, w, h, empty ? t.well : colour);
        }
}

// Digits with which all numbers of this slot fit their cells; 0: none are shown, not in some cells only.
int fitting_digits(const AppState& state, const MatrixLook& look) {
    if (!look.numbers) return 0;
    if (look.window || look.measured) return look.digits;
    const int most = number_style().digits;  // 4 stands for as many as the user wants
    for (int digits = look.digits == 4 ? most : std::min(look.digits, most); digits >= look.least_digits;
         --digits) {
        const int letters = state.look[look.slot].letters_with(digits);
        if (px(letters) * size::mono * look.size <= look.cw - (look.bed ? 1.0f : 3.0f)) return digits;
    }
    return 0;
}

// Where the matrix has no power of ten, a small number beside others has none either: 0.0008.
std::string with_decimals(MatrixDigits all, double value, int decimals) {
    if (!all.plain() || all.largest >= 1000 || !std::isfinite(value)) return format_fixed(value, decimals);
    all.exact = MatrixDigits::never_exact;
    return all.text(value, decimals + 1);
}

// Decimals that the formula has of this matrix, wherever it lies; 0: no more than the matrix.
int decimals_at_desk(const AppState& state, Slot slot) {
    int most = formula_decimals(state, slot);
    for (const auto& [whole, tile] : matrices_and_tiles())
        if (slot == whole || slot == tile)
            most = std::max(most, formula_decimals(state, slot == whole ? tile : whole));
    return most;
}

// Where large numbers cancel, the formula has more decimals than the matrix; here all of it has them, or
// none. They may be smaller there.
std::string number_at_desk(const AppState& state, double v, const MatrixLook& look, Slot slot,
                           std::string text) {
    const MatrixDigits& all = state.look[slot].digits;
    const bool plain = all.plain() || v == 0 || (std::abs(v) >= 1e-3 && std::abs(v) < 1e6);
    const int most = decimals_at_desk(state, slot);
    if (!std::isfinite(v) || !plain || most <= all.decimals()) return text;
    const int letters = state.look[slot].whole + 1 + most;
    const float between = one_column(slot) ? 0 : 4;  // two numbers
    return px(letters) * size::mono * size::small <= look.cw - between ? with_decimals(all, v, most) : text;
}

// `read`: the formula reads it, and is not what comes of it.
std::string number_text(const AppState& state, double v, const MatrixLook& look, Slot slot, bool read) {
    if (look.digits <= 0) return "";
    std::string text = cell_number(state.look[slot].digits, v, look.digits, look.form);
    if (!read || look.form == NumberForm::trimmed || look.digits != number_style().digits) return text;
    // At the desk the same number may lie elsewhere, too: there it is the one that the formula has.
    if (!far_type() && look.size < size::far) return number_at_desk(state, v, look, slot, std::move(text));
    const bool measured = look.measured || look.window;  // whoever shows a part of it has measured that
    if (!measured || look.form != NumberForm::as_formula) return text;
    return number_in_formula(state, slot, v, text);
}

bool is_done(const MatrixLook& look, int r, int c) {
    return r < look.rows_done && r * region_of(look).cols + c < look.cells_done;
}

// Cells of a few pixels: the fill alone.
void draw_speck(const Canvas& canvas, const AppState& state, const MatrixLook& look, int r, int c) {
    const Value* shown = is_done(look, r, c) ? look.value : look.before;
    if (!shown) return;
    CellLook out;
    out.role = info(look.slot).role;
    out.t = state.look[look.slot].place(shown->data(r, c));
    out.with_sign = state.look[look.slot].with_sign();
    out.nan = lost(look, *shown, r, c);
    out.dim = look.dim;
    const auto [x, y] = place_of(look, r, c);
    const float gap = look.cw > 3 && look.ch > 3 ? 1.0f : 0.0f;
    canvas.rect(x, y, look.cw - gap, look.ch - gap, cell_fill(*canvas.theme, out));
}

void draw_cell(const Canvas& canvas, const AppState& state, const MatrixLook& look, int r, int c) {
    if (look.cw < 9 || look.ch < 7) return draw_speck(canvas, state, look, r, c);
    const SlotLook& range = state.look[look.slot];
    const bool done = is_done(look, r, c);
    const Value* shown = done ? look.value : look.before;
    const bool written =
        look.state == CellState::written && done &&
        !(shown && look.only_changed && look.before && look.before->data(r, c) == shown->data(r, c));
    CellLook out;
    out.role = info(look.slot).role;
    out.state = !shown ? CellState::pending : written && !one_frame(look) ? CellState::written : look.state;
    if (out.state == CellState::read || (out.state == CellState::written && (!written || one_frame(look))))
        out.state = CellState::idle;  // the bed, or one frame round all cells, shows it
    out.bold = written && !small_cells(look);
    out.size = look.size;
    out.radius = std::min(4.0f, look.cw / 6);
    std::string text, before;
    if (shown) {
        const double v = shown->data(r, c);
        out.with_sign = range.with_sign();
        out.t = look.by_root ? root_of_place(range, v) : range.place(v);
        out.nan = lost(look, *shown, r, c);
        out.masked = std::isinf(v) && !out.nan;
        text = number_text(state, v, look, look.slot, look.state != CellState::written);
        const bool replaced =
            (written || look.show_before) && done && look.before && look.before->region == shown->region;
        if (replaced && look.ch >= 40 && look.before->data(r, c) != v)
            before = number_text(state, look.before->data(r, c), look,
                                 look.before_slot == Slot::count ? look.slot : look.before_slot, true);
        // It may be another quantity (scores under weights), for whose numbers the cells were not made.
        const auto too_wide = [&] { return text_width(Face::mono, size::small, before) > look.cw - 2; };
        if (too_wide() && look.before) before = format_short(look.before->data(r, c), 3);
        if (too_wide()) before.clear();
    }
    out.dim = look.dim;
    if (text_width(Face::mono, out.size, text) > look.cw - 2) out.size = std::min(out.size, size::small);
    out.text = text;
    out.before = before;
    out.fade = out.state == CellState::written || out.bold ? look.fade : 1;
    const Region region = region_of(look);
    out.hover = state.hover == CellRef{look.slot, region.row + r, region.col + c};
    const auto [x, y] = place_of(look, r, c);
    cell(canvas, x, y, look.cw, look.ch, out);
}

// Written cells are drawn last, so that their outlines lie on top of their neighbours.
void draw_cells(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    const Region region = region_of(look);
    const bool written = look.state == CellState::written && look.value;
    // Cell by cell, the row under way counts as written: its missing cells show what was there before.
    const int by_cell =
        look.cells_done / std::max(1, region.cols) + (look.cells_done % std::max(1, region.cols) != 0);
    const int done = written ? std::min({region.rows, look.rows_done, by_cell}) : 0;
    if (look.value && heat_map(look)) return draw_heat_map(canvas, look, state.look[look.slot]);
    if (!look.value && (look.cw < 16 || look.ch < 12))
        return;  // too small to be told apart: the bed is enough
    for (int r = done; r < region.rows; ++r)
        for (int c = 0; c < region.cols; ++c) draw_cell(canvas, state, look, r, c);
    for (int r = 0; r < done; ++r)
        for (int c = 0; c < region.cols; ++c) draw_cell(canvas, state, look, r, c);
}

// Where bytes move the formula is about none of the cells, unless one was chosen.
bool moves_all(const AppState& state) {
    const OpKind kind = info(state.trace->step(state.cursor.step).op).kind;
    return (kind == OpKind::load || kind == OpKind::store) && state.row == 0 && state.col < 0;
}

// The cell of what is written that the formula is about.
std::optional<CellRef> told_cell(const AppState& state, const MatrixLook& look) {
    if (!look.boxes || !look.value || look.state != CellState::written || look.value->data.size() < 2 ||
        look.cw < 9 || look.ch < 7 || small_cells(look) || inspecting(state))
        return {};
    const CellRef target = state.explanation.target;
    const Region region = region_of(look);
    if (moves_all(state) || target.slot != look.slot || !region.contains(target.row, target.col)) return {};
    return target;
}

// In the matrices that the formula reads the row or column that it uses.
void boxes(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    if (!look.boxes || !look.value || look.cw < 9 || look.ch < 7 || inspecting(state)) return;
    if (look.state != CellState::read || moves_all(state)) return;
    const Region region = region_of(look);
    int r0 = region.rows, c0 = region.cols, r1 = -1, c1 = -1;
    for (const CellRef& source : state.explanation.sources) {
        if (source.slot != look.slot || !region.contains(source.row, source.col)) continue;
        r0 = std::min(r0, source.row - region.row), r1 = std::max(r1, source.row - region.row);
        c0 = std::min(c0, source.col - region.col), c1 = std::max(c1, source.col - region.col);
    }
    const bool part = r1 >= 0 && (r1 - r0 + 1) * (c1 - c0 + 1) < region.rows * region.cols;
    if (!part) return;
    const auto [x, y] = place_of(look, r0, c0);
    const auto [right, bottom] = place_of(look, r1, c1);
    const float fine = far_type() ? 1 / size::far_growth : 1;
    canvas.frame(x, y, right - x + look.cw, bottom - y + look.ch, hue(*canvas.theme, info(look.slot).role),
                 2.4f * fine, 4);
}

void outline_sources(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    const Region region = region_of(look);
    const ImU32 colour = hue(*canvas.theme, info(look.slot).role);
    for (const CellRef& source : state.hover_sources) {
        if (source.slot != look.slot || !region.contains(source.row, source.col)) continue;
        const auto [x, y] = place_of(look, source.row - region.row, source.col - region.col);
        canvas.dashed_frame(x + 1, y + 1, look.cw - 2, look.ch - 2, colour, 2, {5, 3});
    }
}

// The inspected cell, what it came from and what it feeds, as far as they lie in this tile.
void outline_links(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    if (!look.value) return;
    const Region region = region_of(look);
    for (const auto& [link, cells] : link_marks(state, look.slot, *look.value)) {
        const int r = cells.row - region.row, c = cells.col - region.col;
        const auto [x, y] = place_of(look, r, c);
        const auto [right, bottom] = place_of(look, r + cells.rows - 1, c + cells.cols - 1);
        const float w = std::max(right + look.cw - x, 7.0f), h = std::max(bottom + look.ch - y, 7.0f);
        draw_link_mark(canvas, link, info(look.slot).role, x, y, w, h);
    }
}

}  // namespace

void mark_asked(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    if (!look.value || look.past || !quiz_waits(state) || state.quiz->decided()) return;
    const Quiz& quiz = *state.quiz;
    const auto numbers = quiz.question.numbers();
    const Region region = region_of(look);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        const CellRef asked = numbers[n].explanation.target;
        if (asked.slot != look.slot || !region.contains(asked.row, asked.col)) continue;
        const auto [x, y] = place_of(look, asked.row - region.row, asked.col - region.col);
        canvas.rect(x, y, look.cw, look.ch, canvas.theme->t1, 4);
        const bool shown = quiz.entries[n].shown;
        std::string text = shown ? answer_text(numbers[n]) : "?";
        // Where it is too long for its cell, as its neighbours are written.
        if (shown && text_width(Face::mono_bold, look.size, text) > look.cw - 2 && look.digits > 0)
            text = cell_number(state.look[look.slot].digits,
                               look.value->data(asked.row - region.row, asked.col - region.col), look.digits,
                               look.form);
        const float most =
            shown ? look.size
                  : std::clamp(std::min(look.ch * .6f, look.cw * .9f), 8.0f, std::max(27.0f, look.size));
        canvas.text(x + look.cw / 2, y + look.ch / 2, text, most, canvas.theme->inv,
                    shown ? Face::mono_bold : Face::semibold, Align::center);
        if (numbers.size() > 1 && n == quiz.entry)
            canvas.frame(x + 2, y + 2, look.cw - 4, look.ch - 4, canvas.theme->inv, 2, 3);
    }
}

namespace {

// Of what is written beside the told cell and has as many rows the one in the same place, counted from 0.
std::optional<int> told_row(const AppState& state, const MatrixLook& look) {
    const CellRef& target = state.explanation.target;
    if (!look.boxes || moves_all(state) || inspecting(state) || target.slot == Slot::count) return {};
    for (const Access& write : state.trace->writes(state.cursor.step)) {
        const Region& told = state.trace->value(write.value).region;
        if (write.slot == target.slot && told.contains(target.row, target.col) &&
            told.rows == look.value->region.rows)
            return target.row - told.row;
    }
    return {};
}

// One frame and no more: round the cell that the formula is about, else round its row, else round all that
// was written.
void outline_written(const Canvas& canvas, const AppState& state, const MatrixLook& look) {
    if (look.state != CellState::written || !look.value || !one_frame(look)) return;
    const Region region = look.value->region;
    if (const auto told = told_cell(state, look)) {
        const auto [x, y] = place_of(look, told->row - region.row, told->col - region.col);
        return selection(canvas, x, y, look.cw, look.ch);
    }
    const int done = std::min({region.rows, look.rows_done, look.cells_done / std::max(1, region.cols)});
    const auto row = told_row(state, look);
    const bool one = row && *row < done;
    const auto [x, y] = place_of(look, one ? *row : 0, 0);
    const auto [right, bottom] = place_of(look, one ? *row + 1 : done, region.cols);
    if (done > 0) selection(canvas, x, y, right - x, bottom - y);
}

// The same tile in another walk, as it lies there after step k; null if there is none.
const Value* counterpart_after(int k, const AppState& state, const MatrixLook& look, const Trace& other) {
    for (int tile = 0; k >= 0 && tile < state.trace->tiles(look.slot); ++tile) {
        if (state.trace->live(look.slot, tile, k).value != look.value) continue;
        const Held held = other.live(look.slot, tile, k);
        return held && held.value->region == look.value->region ? held.value : nullptr;
    }
    return nullptr;
}

// What is drawn is what lies there after this step, or what this step has replaced.
const Value* counterpart(const AppState& state, const MatrixLook& look, const Trace* other) {
    if (!other || !look.value) return nullptr;
    const Value* const now = counterpart_after(state.cursor.step, state, look, *other);
    return now ? now : counterpart_after(state.cursor.step - 1, state, look, *other);
}

// Cells that differ from the true walk, by more than their last bits, have a filled corner, those that an
// edit changed a dotted outline.
void marks(const Canvas& canvas, const MatrixLook& look, const Value* before) {
    const Value* const truth = look.truth;
    if (look.cw < 14 || look.ch < 12 || !look.value || heat_map(look)) return;
    if (!truth && !before) return;
    const Region region = region_of(look);
    for (int r = 0; r < region.rows; ++r)
        for (int c = 0; c < region.cols; ++c) {
            if (look.state == CellState::written && !is_done(look, r, c)) continue;
            const double v = look.value->data(r, c);
            const auto [x, y] = place_of(look, r, c);
            if (before && distance(v, before->data(r, c)) > 0) edit_mark(canvas, x, y, look.cw, look.ch);
            if (truth && !same_number(truth->data(r, c), v))
                wrong_mark(canvas, x, y, look.cw, look.ch, lost(look, *look.value, r, c));
        }
}

void note_cells(const Canvas& canvas, const MatrixLook& look) {
    if ((!item_registry && !place_list) || heat_map(look) || look.past) return;
    const Region region = region_of(look);
    // A tour never points at a cell that is still empty: the number lies elsewhere.
    std::vector<NamedPlace>* const places = std::exchange(place_list, look.value ? place_list : nullptr);
    for (int r = 0; r < region.rows; ++r)
        for (int c = 0; c < region.cols; ++c) {
            const auto [x, y] = place_of(look, r, c);
            note_item(ItemKind::cell, canvas.device(x, y), canvas.device(x + look.cw, y + look.ch),
                      cell_name({look.slot, region.row + r, region.col + c}));
        }
    place_list = places;
}

// What the tile held before this step, where this step wrote it.
void turn_back(const Trace& trace, int k, MatrixLook& look) {
    for (const Access& a : trace.writes(k)) {
        if (!look.value || a.slot != look.slot || &trace.value(a.value) != look.value) continue;
        look.region = look.value->region;
        look.value = trace.live(a.slot, a.tile, k - 1).value;
        look.before = nullptr;
        look.state = look.value ? CellState::idle : CellState::pending;
        look.rows_done = look.cells_done = std::numeric_limits<int>::max();
        look.show_before = look.only_changed = false;
    }
}

Value part_of(const Value& value, const Region& part) {
    const int row = part.row - value.region.row, col = part.col - value.region.col;
    return {value.data.block(row, col, part.rows, part.cols), part};
}

// The values of a look that shows a part of them.
struct Crop {
    std::optional<Value> value, before, truth, before_edit;

    static void cut(const Value*& whole, const Region& window, std::optional<Value>& part) {
        if (whole) whole = &part.emplace(part_of(*whole, window));
    }
    void cut_counted(MatrixLook& look, const Region& window) {
        const Region all = look.value ? look.value->region : look.region;
        const int row = window.row - all.row, before_row = row * all.cols + window.col - all.col;
        const auto rest = [](int done, int skipped) {
            return done == std::numeric_limits<int>::max() ? done : std::max(0, done - skipped);
        };
        look.rows_done = rest(look.rows_done, row);
        look.cells_done = rest(look.cells_done, before_row);
        look.region = window;
        if (look.before && look.value && look.before->region != look.value->region) look.before = nullptr;
        cut(look.value, window, value);
        cut(look.before, window, before);
    }
};

void edit_field(const Canvas& canvas, AppState& state, const MatrixLook& look) {
    const Region region = region_of(look);
    const CellRef at = state.edit->cell;
    const auto [x, y] = place_of(look, at.row - region.row, at.col - region.col);
    const float w = std::max(64.0f, look.cw + 4), h = std::max(28.0f, look.ch);
    const float left = std::max(16.0f, x + look.cw / 2 - w / 2);  // not beyond the edge of the panel
    const FieldLook field{
        .focus_now = state.edit->just_opened, .face = Face::mono, .flags = ImGuiInputTextFlags_AutoSelectAll};
    state.edit->just_opened = false;
    const FieldResult result = text_field(canvas, "##cell edit", left, y + look.ch / 2 - h / 2, w, h,
                                          state.edit->text, sizeof state.edit->text, field);
    if (result.entered) {
        if (!commit_edit(state)) state.edit->just_opened = true;
    } else if (result.left) {
        state.edit.reset();
    }
}

// An edit that F2 has begun belongs to the first view that shows its cell, on chip or in HBM.
bool is_edited(AppState& state, const MatrixLook& look, const char* widget) {
    if (!state.edit || !look.value) return false;
    CellEdit& edit = *state.edit;
    if (!region_of(look).contains(edit.cell.row, edit.cell.col)) return false;
    if (edit.widget.empty() && !look.past && input_of(look.slot) == input_of(edit.cell.slot))
        edit.widget = widget, edit.cell.slot = look.slot;
    return edit.widget == widget && edit.cell.slot == look.slot;
}

// Arrow keys go from cell to cell; Enter and F2 edit one of an input, and Enter chooses another.
void answer_focus(const Canvas& canvas, AppState& state, const MatrixLook& look, ImGuiID id,
                  const char* widget) {
    const Region region = region_of(look);
    const auto [across, down] = extents_of(look);
    const FocusAnswer focus =
        focus_stop(id, canvas.device(look.x, look.y),
                   canvas.device(look.x + px(across) * look.cw, look.y + px(down) * look.ch));
    const Arrow arrow = focus_arrow(id, true);
    KeyCell& at = state.key_cell;
    if (at.matrix == id && at.edited && !state.edit) {
        at.edited = false;
        focus_on(id);
    }
    if (!focus.focused) return;
    if (at.matrix != id) at = {id};
    at.across = std::clamp(at.across + arrow.x, 0, across - 1);
    at.down = std::clamp(at.down + arrow.y, 0, down - 1);
    const int r = look.transposed ? at.across : at.down, c = look.transposed ? at.down : at.across;
    const auto [x, y] = place_of(look, r, c);
    canvas.frame(x + 1, y + 1, look.cw - 2, look.ch - 2, canvas.theme->focus, 2, 4);
    const bool wanted = std::exchange(at.wanted, false) && input_of(look.slot);
    if (!focus.pressed && !wanted) return;
    const CellRef ref{look.slot, region.row + r, region.col + c};
    if (!input_of(look.slot)) return click_cell(state, ref);
    begin_edit(state, ref, widget);
    at.edited = true;
}

void answer(const Canvas& canvas, AppState& state, const MatrixLook& look, const char* widget) {
    const Region region = region_of(look);
    const auto [across, down] = extents_of(look);
    const std::string id = std::string("##") + widget + (look.past ? " old " : " ") + info(look.slot).name;
    const Hot hot =
        hot_area(canvas, id, look.x, look.y, px(across) * look.cw, px(down) * look.ch, ItemKind::panel);
    if (look.value) answer_focus(canvas, state, look, hot.id, widget);
    if (!hot.hovered || !look.value) return;
    const Point mouse = canvas.mouse();
    const int a = std::clamp(static_cast<int>((mouse.x - look.x) / look.cw), 0, across - 1);
    const int b = std::clamp(static_cast<int>((mouse.y - look.y) / look.ch), 0, down - 1);
    const int r = look.transposed ? a : b, c = look.transposed ? b : a;
    const CellRef ref{look.slot, region.row + r, region.col + c};
    state.hover_now = ref;
    state.hover_widget = widget;
    if (hot.clicked) click_cell(state, ref);
    if (hot.right_clicked) open_matrix_menu(state, look.slot, *look.value);
    if (hot.double_clicked && input_of(look.slot)) {
        take_back_click(state);
        begin_edit(state, ref, widget);
    }
}

}  // namespace

std::string cell_number(const MatrixDigits& all, double v, int digits, NumberForm form) {
    double unit = 1;
    const bool plain = v == 0 || (std::abs(v) >= 1e-3 && std::abs(v) < 1e6);
    const bool trimmed = form == NumberForm::trimmed && plain;
    for (int decimals = 0; trimmed && decimals < all.decimals(digits); ++decimals, unit *= 10)
        if (std::abs(v * unit - std::round(v * unit)) < 1e-9) return format_fixed(v, decimals);
    return all.text(v, digits);
}

static int decimals(std::string_view number) {
    const std::size_t point = number.find_first_of(".,");
    return point == number.npos ? 0 : static_cast<int>(number.find_last_of("0123456789") - point);
}

int formula_decimals(const AppState& state, Slot slot) {
    const Explanation& told = state.explanation;
    const bool reads = std::ranges::any_of(told.sources, [&](const CellRef& c) { return c.slot == slot; });
    if (!reads || shows_all(state.look[slot].digits)) return 0;
    int most = 0;
    for (const Span& span : told.numbers)
        if (span.face == Span::Face::number && span.role == info(slot).role &&
            span.text.find("×10") == std::string::npos)
            most = std::max(most, decimals(span.text));
    return most;
}

std::string number_in_formula(const AppState& state, Slot slot, double value, const std::string& text) {
    const int most = formula_decimals(state, slot);
    const MatrixDigits& all = state.look[slot].digits;
    const bool plain = all.plain() || value == 0 || (std::abs(value) >= 1e-3 && std::abs(value) < 1e6);
    return std::isfinite(value) && plain && most > decimals(text) ? with_decimals(all, value, most) : text;
}

FormulaNumbers::FormulaNumbers(const Explanation& explanation) {
    const auto take = [&](const Span& span) {
        if (span.face != Span::Face::number) return;
        std::string_view number = span.text;
        if (number.starts_with('('))
            number = number.substr(1, number.size() - 2);  // a negative one behind a sign
        all_.push_back({number, span.role, decimals(number)});
    };
    std::ranges::for_each(explanation.numbers, take);
    if (!explanation.result.empty()) take(explanation.result.back());
}

// A formula of hundreds of terms is asked for each of them: nothing here may be done for every pair.
std::string FormulaNumbers::text(std::optional<Role> role, double value, const std::string& shown) const {
    std::string finer = shown, written;
    int decimals_written = -1, fine = decimals(finer);
    for (const One& one : all_) {
        if (role && one.role != *role && one.role != Role::none) continue;
        if (one.text == shown) return shown;
        if (one.decimals <= fine) continue;
        if (one.decimals != decimals_written) written = format_fixed(value, decimals_written = one.decimals);
        if (one.text == written) finer = one.text, fine = one.decimals;
    }
    return finer;
}

std::string formula_text(const Explanation& explanation, Role role, double value, const std::string& text) {
    return FormulaNumbers(explanation).text(role, value, text);
}

void wrong_mark(const Canvas& canvas, float x, float y, float w, float h, bool on_danger) {
    const Theme& t = *canvas.theme;
    const float side = std::min({11.0f, h * .28f, w * .28f}), rim = side < 8 ? 1.5f : 3;
    canvas.polygon({{x + 1, y + 1}, {x + 1 + side + rim, y + 1}, {x + 1, y + 1 + side + rim}}, t.panel);
    canvas.polygon({{x + 1, y + 1}, {x + 1 + side, y + 1}, {x + 1, y + 1 + side}},
                   on_danger ? t.t1 : t.danger);
}

void fault_mark(const Canvas& c, float x, float y, float side) {
    c.rect(x, y - side / 2, side, side, c.theme->danger, side * .2f);
    note_part(c, {x, y - side / 2, side, side}, "Fault mark");
    c.cross(x + side / 2, y, side * .26f, c.theme->inv, std::max(2.0f, side * .12f));
}

void edit_mark(const Canvas& canvas, float x, float y, float w, float h) {
    canvas.dashed_frame(x + 3, y + 3, w - 6, h - 6, canvas.theme->t1, 1.4f, {2, 3});
}

void matrix(const Canvas& canvas, AppState& state, MatrixLook look, const char* widget) {
    if (shows_before(state)) turn_back(*state.trace, state.cursor.step, look);
    const Value* truth = counterpart(state, look, state.truth.get());
    const Value* before_edit = counterpart(state, look, state.before_edit.get());
    Crop part;
    if (look.window) {
        part.cut_counted(look, *look.window);
        Crop::cut(truth, *look.window, part.truth);
        Crop::cut(before_edit, *look.window, part.before_edit);
    }
    look.truth = truth;
    look.digits = fitting_digits(state, look);
    if (look.bed) draw_bed(canvas, look);
    draw_cells(canvas, state, look);
    outline_written(canvas, state, look);
    boxes(canvas, state, look);
    outline_links(canvas, state, look);
    outline_sources(canvas, state, look);
    marks(canvas, look, before_edit);
    mark_asked(canvas, state, look);
    note_cells(canvas, look);
    if (is_edited(state, look, widget)) return edit_field(canvas, state, look);
    answer(canvas, state, look, widget);
}

}  // namespace tilewalk::ui
