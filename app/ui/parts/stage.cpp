#include "app/ui/parts/stage.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/bed.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float least_gap = 20;    // between two matrices without a sign
constexpr float arrow_w = 56;      // before what is written
constexpr float symbols_h = 54;    // above the cells
constexpr float highest_row = 62;  // of cells
constexpr float least_lens_w = 480, least_lens_h = 184;
constexpr float lens_scale = size::far / size::small;  // its smallest text becomes the smallest of the page

struct Placed : StageTerm {
    Bed bed{};
    int digits = 0;
    bool numbers = true;
    int rows() const { return transposed ? value->region.cols : value->region.rows; }
    int cols() const { return transposed ? value->region.rows : value->region.cols; }
};
using Terms = std::vector<Placed>;

float sign_w(const char* sign) { return *sign ? text_width(Face::regular, size::far_sign, sign) : 0.0f; }

float after_w(const Placed& t) { return *t.after ? sign_w(t.after) + 6 : 0; }

// Room between the terms n − 1 and n.
float gap_before(const Terms& line, std::size_t n) {
    if (line[n].result) {
        if (n == 0) return arrow_w;
        return line[n - 1].result ? least_gap : arrow_w + after_w(line[n - 1]);
    }
    const float before = sign_w(line[n].before) + (*line[n].before ? 20.0f : 0.0f);
    if (n == 0) return before;
    return std::max(least_gap, before) + after_w(line[n - 1]);
}

// What keeps its numbers longest: the result, then columns, then what the result replaces.
int rank(const Placed& t) { return t.result ? 3 : t.cols() == 1 ? 2 : t.old ? 1 : 0; }

// With numbers of so many digits, or as strips of colour. Returns the width of all.
float lay_out(const AppState& state, Terms& line, float row_h, int digits) {
    float w = 0;
    for (std::size_t n = 0; n < line.size(); ++n) {
        Placed& t = line[n];
        t.digits = digits;
        const bool numbers = t.numbers && t.cols() <= 8 && row_h >= from::far_row;
        const float cw = numbers ? far_cell(state.look[t.slot].letters_with(digits))
                                 : std::clamp(120.0f / px(t.cols()), .5f, 34.0f);
        t.bed = {0, 0, cw, row_h, t.rows(), t.cols(), numbers};
        w += t.bed.width() + gap_before(line, n);
    }
    return w;
}

// All with numbers of so many digits; true if they fit.
bool fits(const AppState& state, Terms& line, float row_h, int digits, float room) {
    for (Placed& t : line) t.numbers = true;
    return lay_out(state, line, row_h, digits) <= room;
}

// As many digits as fit; then fewer and fewer matrices with numbers.
void fit(const AppState& state, Terms& line, float row_h, float room) {
    for (int digits : digit_choices())
        if (fits(state, line, row_h, digits, room)) return;
    for (int least = 0; least <= 3; ++least)
        for (Placed& t : line) {
            if (rank(t) != least) continue;
            t.numbers = false;
            for (int digits : digit_choices())
                if (lay_out(state, line, row_h, digits) <= room) return;
        }
}

float width_of(const Terms& line, std::size_t from, std::size_t to) {
    float w = 0;
    for (std::size_t n = from; n < to; ++n) w += line[n].bed.width() + gap_before(line, n);
    return w;
}

void place(Terms& line, std::size_t from, std::size_t to, float x, float top, float h) {
    for (std::size_t n = from; n < to; ++n) {
        Bed& bed = line[n].bed;
        bed.x = x + gap_before(line, n);
        bed.y = top + symbols_h + (h - bed.height()) / 2;
        x = bed.right();
    }
}

Line symbol_of(const Canvas& c, const AppState& state, const Placed& t) {
    Line symbol = slot_symbol(*state.trace, t.slot, t.made);
    if (t.transposed) symbol = transposed(std::move(symbol));
    const Line old = pieces(symbol, sub("old", info(t.slot).role));
    // Over a strip of colour there is no room for it; the place in the equation tells it, too.
    return t.old && rich_width(c, old, size::far_symbol) <= t.bed.width() + 2 * least_gap ? old : symbol;
}

void draw_term(const Canvas& c, AppState& state, const Rect& a, const Terms& line, std::size_t n,
               const StageView& view) {
    const Placed& t = line[n];
    MatrixLook look = view.look(state, t.slot);
    look.transposed = t.transposed;
    look.dim = false;
    if (!t.result) {
        look.value = t.value;
        look.state = CellState::read;
        look.before = nullptr;
        look.past = t.old;
        look.rows_done = look.cells_done = std::numeric_limits<int>::max();
    }
    look.show_before = false;
    if (t.result && look.value != t.value) {  // one block of a matrix in HBM
        look.value = t.value;
        look.state = CellState::written;
        look.before = nullptr;
        look.fade = transition(state);
    }
    if (t.result) beam(c, state, t.bed.area());
    far_matrix(c, state, look, t.bed, std::max(3, t.digits));
    const Line symbol = symbol_of(c, state, t);
    const float half = rich_width(c, symbol, size::far_symbol) / 2;
    c.rich(std::clamp(t.bed.center(), a.x + half, a.right() - half), t.bed.y - 32, symbol, size::far_symbol,
           Align::center);
    const float mid = t.bed.middle();
    const bool opens = t.result && (n == 0 || !line[n - 1].result);
    if (opens)
        c.arrow({{t.bed.x - arrow_w + 12, mid}, {t.bed.x - 12, mid}}, ArrowStyle::link);
    else if (*t.before)
        c.text(t.bed.x - 12 - sign_w(t.before), mid, t.before, size::far_sign, c.theme->t2);
    if (*t.after) c.text(t.bed.right() + 8, mid, t.after, size::far_sign, c.theme->t2);
}

void draw_lens(const Canvas& c, AppState& state, const Rect& a, const StageView& view) {
    const Op op = op_now(state);
    if (is_load(op) || is_store(op)) note_part(c, a, "Meters");
    const Enlarged large(c, {a.x, a.y}, lens_scale);
    view.lens(large.c, state, {0, 0, a.w / lens_scale, a.h / lens_scale});
}

}  // namespace

void stage(const Canvas& c, AppState& state, const Rect& a, const StageView& view) {
    Terms line;
    for (const StageTerm& t : stage_terms(*state.trace, state.cursor.step)) line.push_back({t});
    // A question asks what the lens would tell.
    const bool lens = view.lens && !quiz_waits(state);
    if (line.empty()) {
        if (lens && a.h >= least_lens_h) draw_lens(c, state, a, view);
        return;
    }
    int rows = 1;
    for (const Placed& t : line) rows = std::max(rows, t.rows());
    const auto first_result =
        static_cast<std::size_t>(std::ranges::find_if(line, &Placed::result) - line.begin());

    // Beside each other: before, the drawing, after
    const float beside_h = a.h - symbols_h - 8, beside_row = std::min(highest_row, beside_h / px(rows));
    const auto beside = [&] {
        if (!lens || beside_h < least_lens_h || beside_row < from::far_row) return false;
        return std::ranges::any_of(digit_choices(), [&](int digits) {
            return fits(state, line, beside_row, digits, a.w - least_lens_w - 2 * least_gap);
        });
    };
    if (beside()) {
        const float before = width_of(line, 0, first_result),
                    after = width_of(line, first_result, line.size());
        place(line, 0, first_result, a.x, a.y, beside_h);
        place(line, first_result, line.size(), a.right() - after - 4, a.y, beside_h);
        const float closing = first_result > 0 ? after_w(line[first_result - 1]) : 0;
        const float x = a.x + before + (before > 0 ? closing + least_gap : 0), right = a.right() - after - 12;
        const float h = std::min(beside_h + 30, 330.0f);
        for (std::size_t n = 0; n < line.size(); ++n) draw_term(c, state, a, line, n, view);
        return draw_lens(c, state, {x, a.y + 24 + (beside_h + 30 - h) / 2, right - x, h}, view);
    }

    // Above each other: the equation, the drawing below it if it has room
    float wanted = 0;
    const bool below =
        lens && std::ranges::any_of(std::initializer_list<float>{highest_row, 52, 42}, [&](float row) {
            wanted = symbols_h + row * px(rows) + 14;
            return a.h - wanted >= least_lens_h;
        });
    const float h = (below ? wanted : a.h) - symbols_h - 8, row = std::min(highest_row, h / px(rows));
    fit(state, line, row, a.w);
    const float w = width_of(line, 0, line.size());
    place(line, 0, line.size(), a.x + std::max(0.0f, (a.w - w) / 2), a.y, h);
    for (std::size_t n = 0; n < line.size(); ++n) draw_term(c, state, a, line, n, view);
    if (below) draw_lens(c, state, {a.x, a.y + wanted + 6, a.w, a.h - wanted - 6}, view);
}

}  // namespace tilewalk::ui
