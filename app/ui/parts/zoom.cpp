// The stage where matrices are too large for numbers. The equation stands in lines below each other: signs
// and single numbers in the head of a line, below it the row of a matrix that the chosen cell is made from,
// and where in the whole row it lies.
#include "app/ui/kit/items.h"
#include "app/ui/parts/bed.h"
#include "app/ui/parts/score_map.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk::ui {

namespace {

constexpr float head_h = 52, old_h = 50, locator_h = 20, band_gap = 8;
constexpr float least_row = 38, good_row = 46, highest_row = 56;
constexpr float chip_h = 38, head_middle = 20;
constexpr float least_lens_h = 184;
constexpr int most_across = 8;
constexpr float wedge_w = 52;  // from the map to the rows

// ---- What is shown of each term

struct Strip : StageTerm {
    TermLine line;
    int first = 0, count = 0;  // along the line, as far as it is shown
    int rows = 1;              // of a matrix that is moved: several
    int digits = 4;
    float cw = 0;
    bool single() const { return line.length() == 1 && rows == 1; }
    bool cut() const { return count < line.length(); }
    Region shown() const {
        Region out = line.part(first, count);
        if (rows > 1) out.rows = rows;
        return out;
    }
};

bool is_moved(Op op) { return info(op).kind != OpKind::compute; }

// Letters of the longest number of the line.
int letters(const AppState& state, const Strip& s, int digits) {
    const Region cells = s.line.cells, all = s.value->region;
    int most = 1;
    for (int r = 0; r < std::max(cells.rows, s.rows); ++r)
        for (int c = 0; c < cells.cols; ++c) {
            const double v = s.value->data(cells.row - all.row + r, cells.col - all.col + c);
            most = std::max(most, letter_count(state.look[s.slot].digits.text(v, digits)));
        }
    return most;
}

float cell_w(int letters) { return px(letters) * size::mono * size::far_number + 8; }

// ---- Lines of the equation

struct Piece {
    const char* sign = "";
    int strip = -1;
};
struct Band {
    std::vector<Piece> head;
    int strip = -1, old = -1;  // the cells below the head, and those that they replace above them
    int lines = 1;
    float h = 0;
};

struct Zoom {
    std::vector<Strip> strips;
    std::vector<Band> bands;
    int across = most_across;
    float row = good_row, lens = 0;
    bool locators = true;

    Strip& at(int n) { return strips[static_cast<std::size_t>(n)]; }
    const Strip& at(int n) const { return strips[static_cast<std::size_t>(n)]; }
    int size() const { return static_cast<int>(strips.size()); }
};

// dQ grows in HBM and is added up on chip: two slots of one quantity.
bool replaces(const StageTerm& result, const StageTerm& old) {
    return result.result && old.old && info(old.slot).role == info(result.slot).role &&
           old.value->region == result.value->region;
}

// Single numbers go with the matrix behind them, if one is left, else with the one before.
std::vector<Band> bands_of(const Zoom& z) {
    std::vector<Band> out(1);
    const auto matrix_later = [&](int n, bool result) {
        for (int m = n; m < z.size(); ++m)
            if (z.at(m).result == result && !z.at(m).single()) return true;
        return false;
    };
    const auto replaced_next = [&](int n) {  // the first result takes the place of this old value
        for (int m = n + 1; m < z.size(); ++m)
            if (z.at(m).result) return replaces(z.at(m), z.at(n)) && !matrix_later(n + 1, false);
        return false;
    };
    for (int n = 0; n < z.size(); ++n) {
        const Strip& s = z.at(n);
        const bool opens = s.result && (n == 0 || !z.at(n - 1).result);
        const bool full = out.back().strip >= 0;
        if (full && (!s.single() || matrix_later(n, s.result))) out.emplace_back();
        Band& band = out.back();
        if (opens || *s.before) band.head.push_back({opens ? "→" : s.before});
        band.head.push_back({"", n});
        if (*s.after) band.head.push_back({s.after});
        if (s.single()) continue;
        (replaced_next(n) ? band.old : band.strip) = n;
    }
    return out;
}

// ---- Sizes

// As many cells side by side as all lines have room for; of those that do not fit, how many.
void choose_across(const AppState& state, Zoom& z, float w) {
    for (const int wanted : {most_across, most_across - 2, 1})
        for (int digits : digit_choices()) {
            float widest = 1;
            for (Strip& s : z.strips) {
                s.digits = digits, s.cw = cell_w(letters(state, s, digits));
                if (!s.single()) widest = std::max(widest, s.cw);
            }
            z.across = std::clamp(static_cast<int>(w / widest), 1, most_across);
            if (z.across < wanted) continue;
            if (z.across == most_across - 1) --z.across;  // lines of even length
            return;
        }
}

double weight_at(const Strip& s, int n) {
    const Region at = s.line.part(n, 1);
    const double v = s.value->data(at.row - s.value->region.row, at.col - s.value->region.col);
    return std::isnan(v) ? 0 : v;
}

// Where a sum or a maximum is taken over the whole line, the largest of it is shown.
int decisive(const Zoom& z, int length) {
    double most = minus_infinity;
    int at = 0;
    for (int n = 0; n < length; ++n) {
        double product = 1;
        int factors = 0;
        for (const Strip& s : z.strips)
            if (!s.single() && s.line.chosen < 0 && !s.result && s.line.length() == length)
                product *= weight_at(s, n), ++factors;
        if (factors > 1) product = std::abs(product);
        if (product > most) most = product, at = n;
    }
    return at;
}

void choose_parts(Zoom& z) {
    for (Band& band : z.bands)
        for (int n : {band.strip, band.old}) {
            if (n < 0) continue;
            Strip& s = z.at(n);
            const int length = s.line.length();
            s.count = std::min(length, z.across * band.lines);
            const int focus = s.line.chosen >= 0 ? s.line.chosen : decisive(z, length);
            s.first = std::clamp(focus / s.count * s.count, 0, length - s.count);
        }
}

float band_h(const Zoom& z, const Band& band) {
    float h = head_h;
    if (band.old >= 0) h += old_h;
    if (band.strip >= 0) {
        const Strip& s = z.at(band.strip);
        const int lines =
            std::max(s.rows, ceil_div(std::min(s.line.length(), z.across * band.lines), z.across));
        h += px(lines) * z.row;
        if (z.locators && s.line.length() > z.across * band.lines) h += locator_h;
    }
    return h;
}

float total_h(const Zoom& z) {
    float h = 0;
    for (const Band& band : z.bands) h += band_h(z, band) + band_gap;
    return h - band_gap;
}

// What replaces an old value stands right below it.
void set_lines(Zoom& z, int lines) {
    for (Band& band : z.bands) band.lines = band.old >= 0 ? 1 : lines;
}

// The largest rows that fit; before that, two lines for what one does not hold, and the lens if it has room.
bool choose_rows(Zoom& z, float h, bool lens) {
    struct Choice {
        int lines;
        bool lens, locators;
        float least;
    };
    const Choice choices[] = {{2, true, true, least_row},
                              {2, false, true, least_row},
                              {1, true, true, least_row},
                              {1, false, true, least_row},
                              {1, false, false, 34}};
    for (const Choice& choice : choices) {
        if (choice.lens && !lens) continue;
        const float room = h - (choice.lens ? least_lens_h + band_gap : 0);
        set_lines(z, choice.lines);
        z.locators = choice.locators;
        for (z.row = highest_row; z.row >= choice.least; z.row -= 2)
            if (total_h(z) <= room) {
                z.lens = choice.lens ? h - total_h(z) - band_gap : 0;
                return true;
            }
    }
    // What is written, if all has no room.
    while (z.bands.size() > 1) {
        z.bands.erase(z.bands.begin());
        z.row = 34;
        if (total_h(z) > h) continue;
        z.bands.front().head.insert(z.bands.front().head.begin(), {"…"});
        return true;
    }
    return false;
}

// ---- Drawing

MatrixLook look_of(const AppState& state, const Strip& s, const StageView& view) {
    MatrixLook look = view.look(state, s.slot);
    look.dim = false;
    if (!s.result) {
        look.state = s.old ? CellState::discarded : CellState::read;
        look.rows_done = look.cells_done = std::numeric_limits<int>::max();
    } else if (look.value != s.value) {  // one block of a matrix in HBM
        look.state = CellState::written;
        look.fade = transition(state);
    }
    look.value = s.value;
    look.before = nullptr;
    look.show_before = false;
    look.past = s.old;
    look.transposed = s.line.column;
    look.digits = s.digits;
    look.bed = false;
    look.numbers = true;
    look.size = size::far_number;
    return look;
}

// A result comes when the drawing has led up to it.
Canvas arriving(const Canvas& c, const AppState& state, const Strip& s) {
    return c.faded(s.result ? over(phase(state), during::arrival) : 1);
}

void draw_chip(const Canvas& c, AppState& state, const Strip& s, const StageView& view, float x, float mid) {
    MatrixLook look = look_of(state, s, view);
    look.transposed = false;
    look.window = s.line.part(0, 1);
    look.x = x, look.y = mid - chip_h / 2, look.cw = s.cw, look.ch = chip_h;
    look.boxes = s.result;
    matrix(arriving(c, state, s), state, look, "presenter");
    if (!s.result)
        c.dashed_frame(look.x - 2, look.y - 2, look.cw + 4, look.ch + 4, hue(*c.theme, info(s.slot).role), 2,
                       {7, 4});
}

float chip_w(const Strip& s) { return s.single() ? 10 + s.cw : 0; }

// Its signs, symbols and single numbers. Returns where they end.
float draw_head(const Canvas& c, AppState& state, const Zoom& z, const Band& band, const Rect& a,
                const StageView& view) {
    float x = a.x;
    const float mid = a.y + head_middle;
    for (const Piece& piece : band.head) {
        if (piece.strip < 0) {
            if (std::string_view(piece.sign) == "→") {
                c.arrow({{x, mid}, {x + 40, mid}}, ArrowStyle::link);
                x += 54;
            } else {
                x += c.text(x, mid, piece.sign, size::far_sign, c.theme->t2) + 12;
            }
            continue;
        }
        const Strip& s = z.at(piece.strip);
        x += c.rich(x, mid, stage_symbol(*state.trace, s), size::far_symbol);
        if (s.single()) {
            draw_chip(c, state, s, view, x + 10, mid);
            x += chip_w(s);
        }
        x += 14;
    }
    return x;
}

bool keys_are_rows(Slot slot) {
    const Role role = info(slot).role;
    return (role == Role::K || role == Role::V) && !*info(slot).sub;
}

std::string from_to(const char* name, int first, int count) {
    if (count == 1) return std::string(name) + " " + str(first);
    return std::string(name) + "s " + str(first) + "–" + str(first + count - 1);
}

// A line over which a sum is taken, and of which only a part is shown.
bool part_of_sum(const Strip& s) { return !s.result && s.cut() && s.rows == 1 && s.line.chosen < 0; }

// "row 30, keys 32–39", of how many; then as much of it as there is room for.
void draw_caption(const Canvas& c, const Strip& s, float left, float right, float mid) {
    const Region shown = s.shown();
    const std::string rows = from_to(keys_are_rows(s.slot) ? "key" : "row", shown.row, shown.rows);
    const std::string cols = from_to(info(s.slot).role == Role::S ? "key" : "column", shown.col, shown.cols);
    const std::string both = s.line.column ? cols + ", " + rows : rows + ", " + cols;
    std::string of_all = both;
    if (part_of_sum(s)) {
        const std::string all = " of " + str(s.line.length());
        of_all += all + " (" + str(s.count) + all + " terms)";
    }
    for (const std::string& words : {of_all, both, s.line.column ? cols : rows})
        if (text_width(Face::regular, size::far, words) <= right - left) {
            c.text(right, mid, words, size::far, c.theme->t2, Align::right);
            return;
        }
}

// What the terms that are shown come to, what all of them do, and what the step makes of that.
struct Sum {
    int count, length;
    double shown, all, scale, total;
};

// Only for one sum of products that gives the chosen number, as it is or scaled.
std::optional<Sum> sum_of(const AppState& state, const Zoom& z) {
    std::vector<const Strip*> factors;
    const Strip* result = nullptr;
    for (const Strip& s : z.strips)
        if (!s.result)
            factors.push_back(&s);
        else if (!result)
            result = &s;
    if (!result || factors.size() != 2) return {};
    const Strip &a = *factors[0], &b = *factors[1];
    if (!part_of_sum(a) || !part_of_sum(b)) return {};
    if (a.line.length() != b.line.length() || a.first != b.first || a.count != b.count) return {};
    Sum out{a.count, a.line.length(), 0, 0, 1, weight_at(*result, result->line.chosen)};
    for (int n = 0; n < out.length; ++n) {
        const double product = weight_at(a, n) * weight_at(b, n);
        out.all += product;
        if (n >= a.first && n < a.first + a.count) out.shown += product;
    }
    const double near = 1e-9 * std::max(1.0, std::abs(out.total)), scale = state.problem->softmax_scale();
    if (!(std::abs(out.all - out.total) <= near)) out.scale = scale;
    if (!(std::abs(out.all * out.scale - out.total) <= near)) return {};
    return out;
}

// "Σ of these 8 = 4.1   + 56 more terms = 1.9   × 0.125 = 0.239", shorter where it has no room. False: none.
bool draw_sum(const Canvas& c, const Sum& sum, float left, float right, float mid) {
    const std::string scale = sum.scale == 1 ? "" : "  × " + format_short(sum.scale) + " = ";
    for (const char* terms : {" more terms = ", " more = "}) {
        Line line = pieces("Σ of these " + str(sum.count) + " = ", number(format_short(sum.shown)),
                           "  + " + str(sum.length - sum.count) + terms,
                           number(format_short(sum.all), Role::none, scale.empty()));
        if (!scale.empty()) line = pieces(line, scale, number(format_short(sum.total), Role::none, true));
        if (rich_width(c, line, size::far) > right - left) continue;
        c.rich(right, mid, line, size::far, Align::right, c.theme->t2);
        return true;
    }
    return false;
}

// The whole line as a strip of colour, with what is shown of it in a frame.
void draw_locator(const Canvas& c, const AppState& state, const Strip& s, float x, float y, float w) {
    const Theme& t = *c.theme;
    const SlotLook& range = state.look[s.slot];
    const Role role = info(s.slot).role;
    const int length = s.line.length(), step = ceil_div(length, 128);
    const float h = locator_h - 10, cw = w / px(length);
    for (int n = 0; n < length; n += step) {
        const double v = weight_at(s, n);
        const ImU32 fill = std::isinf(v)       ? t.line2
                           : range.with_sign() ? signed_ramp(t, role, range.place(v))
                                               : ramp(t, role, range.place(v));
        c.rect(x + px(n) * cw, y, cw * px(std::min(step, length - n)), h, fill);
    }
    c.frame(x + px(s.first) * cw - 1, y - 2, px(s.count) * cw + 2, h + 4, t.focus, 2, radius::bar);
}

struct CellsAt {
    float x, y, cw, ch;
};
void draw_line(const Canvas& c, AppState& state, const Strip& s, const StageView& view, const Region& window,
               const CellsAt& at, const std::string& widget) {
    MatrixLook look = look_of(state, s, view);
    look.window = window;
    look.x = at.x, look.y = at.y, look.cw = at.cw, look.ch = at.ch;
    look.boxes = true;
    matrix(arriving(c, state, s), state, look, widget.c_str());
}

// Returns the area of the cells.
Rect draw_cells(const Canvas& c, AppState& state, const Zoom& z, const Strip& s, const StageView& view,
                float x, float y, float w, float row) {
    const int across = std::min(s.count, z.across), lines = std::max(s.rows, ceil_div(s.count, z.across));
    const float cw = std::min({w / px(across), 150.0f});
    const Rect cells{x, y, cw * px(across), row * px(lines)};
    const ImU32 colour = hue(*c.theme, info(s.slot).role);
    c.rect(x - 4, y - 4, cells.w + 8, cells.h + 8, c.theme->well, 8);
    if (!s.result && !s.old) c.dashed_frame(x - 4, y - 4, cells.w + 8, cells.h + 8, colour, 2.2f, {7, 4});
    if (s.rows > 1) {
        draw_line(c, state, s, view, s.shown(), {x, y, cw, row}, "presenter");
        return cells;
    }
    for (int n = 0; n < lines; ++n) {
        const int first = n * z.across, count = std::min(z.across, s.count - first);
        draw_line(c, state, s, view, s.line.part(s.first + first, count), {x, y + px(n) * row, cw, row},
                  "presenter" + str(n));
    }
    return cells;
}

Rect draw_band(const Canvas& c, AppState& state, const Zoom& z, const Band& band, const Rect& a,
               const StageView& view) {
    const float end = draw_head(c, state, z, band, a, view);
    if (band.strip < 0) return {};
    const Strip& s = z.at(band.strip);
    const std::optional<Sum> sum = s.result ? sum_of(state, z) : std::nullopt;
    const float mid = a.y + head_middle;
    if (!sum || !draw_sum(arriving(c, state, s), *sum, end + 16, a.right(), mid))
        draw_caption(c, s, end + 16, a.right(), mid);
    float y = a.y + head_h;
    if (band.old >= 0) {
        draw_cells(c, state, z, z.at(band.old), view, a.x + 4, y, a.w - 8, old_h - 12);
        y += old_h;
    }
    const Rect cells = draw_cells(c, state, z, s, view, a.x + 4, y, a.w - 8, z.row);
    if (z.locators && s.cut()) draw_locator(c, state, s, cells.x, cells.bottom() + 9, cells.w);
    return cells;
}

Zoom zoom_of(const AppState& state) {
    Zoom z;
    const bool moved = is_moved(op_now(state));
    for (const StageTerm& term : zoom_order(stage_terms(*state.trace, state.cursor.step))) {
        Strip s;
        static_cast<StageTerm&>(s) = term;
        s.line = term_line(term, state.explanation);
        if (moved && s.line.chosen >= 0) s.line.chosen = 0;
        z.strips.push_back(s);
    }
    z.bands = bands_of(z);
    return z;
}

// Matrices that are only moved stand side by side, with several rows each.
void draw_moved(const Canvas& c, AppState& state, Zoom& z, const Rect& a, const StageView& view) {
    const int columns = static_cast<int>(z.bands.size());
    const float w = (a.w - px(columns - 1) * 32) / px(columns);
    for (int n = 0; n < columns; ++n) {
        Band& band = z.bands[static_cast<std::size_t>(n)];
        if (band.strip >= 0) {
            Strip& s = z.at(band.strip);
            const Region all = s.value->region;
            s.line.cells.row = all.row;
            s.rows = std::clamp(static_cast<int>((a.h - head_h - locator_h) / good_row), 1, all.rows);
            z.row = std::min(highest_row, (a.h - head_h - locator_h - 8) / px(s.rows));
        }
        z.across = most_across;
        choose_across(state, z, w - 8);
        choose_parts(z);
        draw_band(c, state, z, band, {a.x + px(n) * (w + 32), a.y, w, a.h}, view);
    }
}

}  // namespace

Region TermLine::part(int first, int count) const {
    return column ? Region{cells.row + first, cells.col, count, 1}
                  : Region{cells.row, cells.col + first, 1, count};
}

TermLine term_line(const StageTerm& term, const Explanation& e) {
    const Region all = term.value->region;
    const auto inside = [&](int at, int first, int count) {
        return std::clamp(at, first, first + count - 1);
    };
    const int row = inside(e.target.row, all.row, all.rows), col = inside(e.target.col, all.col, all.cols);
    const TermLine own{{row, all.col, 1, all.cols}, col - all.col, false};
    if (term.result) return own;
    Region box{0, 0, 0, 0};
    for (const CellRef& s : e.sources) {
        if (s.slot != term.slot || !all.contains(s.row, s.col)) continue;
        if (box.rows == 0) box = {s.row, s.col, 1, 1};
        const int top = std::min(box.row, s.row), left = std::min(box.col, s.col);
        const int bottom = std::max(box.row + box.rows, s.row + 1),
                  right = std::max(box.col + box.cols, s.col + 1);
        box = {top, left, bottom - top, right - left};
    }
    if (box.rows == 0) return own;
    if (box.rows > 1 && box.cols == 1) return {{all.row, box.col, all.rows, 1}, -1, true};
    const bool one = box.rows * box.cols == 1;
    return {{box.row, all.col, 1, all.cols}, one ? box.col - all.col : -1, false};
}

std::vector<StageTerm> zoom_order(std::vector<StageTerm> terms) {
    const auto result = std::ranges::find_if(terms, &StageTerm::result);
    if (result == terms.end()) return terms;
    const auto wide = [](const StageTerm& t) { return t.value->region.cols > 1; };
    const auto old = std::find_if(terms.begin(), result,
                                  [&](const StageTerm& t) { return wide(t) && replaces(*result, t); });
    if (old == result || old + 1 == result || *(old + 1)->before != '+') return terms;
    // a ⊙ O + P V is P V + a ⊙ O: what it adds goes first.
    auto behind = old + 1;
    for (auto t = old + 1; t != result; ++t)
        if (wide(*t)) behind = t + 1;
    StageTerm &head = terms.front(), &first = *(old + 1), &last = *(behind - 1);
    std::swap(head.before, first.before);
    std::swap(old->after, last.after);
    std::rotate(terms.begin(), old + 1, behind);
    return terms;
}

bool zoom(const Canvas& c, AppState& state, const Rect& area, const StageView& view) {
    Zoom z = zoom_of(state);
    Rect a = area;
    ScoreMap scores;
    if (view.map) {
        // Eight numbers of six letters stand beside it.
        const float w = std::clamp(area.w - wedge_w - 8 - px(most_across) * cell_w(6), 240.0f, 384.0f);
        scores = score_map(state, {area.x, area.y, w, area.h});
        if (scores.area.w > 0)
            a = {scores.area.right() + wedge_w, a.y, a.right() - scores.area.right() - wedge_w, a.h};
    }
    if (is_moved(op_now(state))) {
        draw_moved(c, state, z, a, view);
        if (scores.area.w > 0) draw_score_map(c, state, scores, {});
        return true;
    }
    choose_across(state, z, a.w - 8);
    const bool lens = view.lens && !quiz_waits(state);
    if (!choose_rows(z, a.h, lens)) return false;
    choose_parts(z);
    const float spare = z.lens > 0 ? 0 : (a.h - total_h(z)) / px(z.bands.size() + 1);
    float y = a.y + std::min(spare, 24.0f);
    Rect scores_row{};
    for (Band& band : z.bands) {
        const float h = band_h(z, band);
        const Rect cells = draw_band(c, state, z, band, {a.x, y, a.w, h}, view);
        if (band.strip >= 0 && info(z.at(band.strip).slot).role == Role::S && scores_row.w == 0)
            scores_row = cells;
        y += h + band_gap + std::min(spare, 24.0f);
    }
    if (z.lens > 0) stage_lens(c, state, {a.x, y, a.w, a.bottom() - y}, view);
    if (scores.area.w > 0) draw_score_map(c, state, scores, scores_row);
    return true;
}

}  // namespace tilewalk::ui
