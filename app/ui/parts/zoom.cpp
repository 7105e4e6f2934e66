// The stage where matrices are too large for numbers. The equation stands in lines below each other: signs
// and single numbers in the head of a line, below it the row of a matrix that the chosen cell is made from,
// and where in the whole row it lies.
#include "app/ui/kit/items.h"
#include "app/ui/parts/score_map.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/parts/stage_motion.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/parts/stage_words.h"
#include "app/ui/parts/zoom_layout.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/tour.h"
#include "core/lessons/ring/ranks.h"
#include "core/walk/printed_sum.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk::ui {

using namespace zooming;

namespace {

constexpr float chip_h = 38, head_middle = 20;

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
    if (formula_is_short(state)) look.form = NumberForm::as_formula;
    look.bed = false;
    look.numbers = true;
    look.by_root = true;
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

// A line over which a sum is taken, and of which only a part is shown.
bool in_sum(const Strip& s) { return !s.result && !s.single() && s.rows == 1 && s.line.chosen < 0; }
bool part_of_sum(const Strip& s) { return in_sum(s) && s.cut(); }

float head_w(const Canvas& c, const AppState& state, const Zoom& z, const Band& band);

// Without a drawing the signs are the operation: the last line that begins with one, below what they take.
// The line of a result that tells what its cut sum and the rest of it come to has no room for the word.
const Band* operation_band(const Canvas& c, const AppState& state, const Zoom& z, float w) {
    const float word = text_width(Face::regular, size::far, frame_words(op_now(state)).operation) + 14;
    const bool cut = std::ranges::any_of(z.strips, part_of_sum);
    const auto signs = [&](const Band& band) {
        if (cut && band.strip >= 0 && z.at(band.strip).result) return false;
        return &band != &z.bands.front() && !band.head.empty() && band.head.front().strip < 0 &&
               std::string_view(band.head.front().sign) != "→" && head_w(c, state, z, band) + word <= w;
    };
    const Band* last = nullptr;
    for (const Band& band : z.bands)
        if (signs(band)) last = &band;
    return z.lens > 0 ? nullptr : last;
}

// Before its arrow; else it stands in the line of the others.
bool has_room_for_after(const Canvas& c, const AppState& state, const Zoom& z, const Band& band, float w) {
    const auto width = [](const char* word) { return text_width(Face::regular, size::far, word) + 14; };
    const FrameWords& words = frame_words(op_now(state));
    const float operation = &band == operation_band(c, state, z, w) ? width(words.operation) : 0;
    return head_w(c, state, z, band) + operation + width(words.after) <= w;
}

// Its signs, symbols and single numbers. Returns where they end.
float draw_head(const Canvas& c, AppState& state, const Zoom& z, const Band& band, const Rect& a,
                const StageView& view) {
    float x = a.x;
    const float mid = a.y + head_middle;
    const FrameWords& words = frame_words(op_now(state));
    if (&band == operation_band(c, state, z, a.w)) x += draw_frame_word(c, x, mid, words.operation) + 14;
    for (const Piece& piece : band.head) {
        if (piece.strip < 0) {
            if (std::string_view(piece.sign) == "→") {
                if (has_room_for_after(c, state, z, band, a.w))
                    x += draw_frame_word(c, x, mid, words.after) + 14;
                c.arrow({{x, mid}, {x + 40, mid}}, ArrowStyle::active, c.theme->focus);
                x += 54;
            } else {
                x += draw_sign(c, x, mid, piece.sign) + 12;
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

// "key 3", "rows 2–5"; on a ring "queries 0, 4 … 28": a shard's rows are called by their positions.
std::string name_of_lines(const AppState& state, bool of_keys, const std::vector<int>& all) {
    const bool on_ring = state.lesson->uses(chooses_ranks);
    const std::string name = of_keys   ? "key"
                             : on_ring ? "quer"
                                       : "row",
                      one = on_ring && !of_keys ? "y " : " ", several = on_ring && !of_keys ? "ies " : "s ";
    return name + (all.size() == 1 ? one : several) + positions_text(all);
}
std::string name_of_rows(const AppState& state, const Strip& s, bool of_keys, int first, int count) {
    const Indices all = indices(*state.trace, s.slot, {first, s.value->region.col, count, 1}, s.made);
    return name_of_lines(state, of_keys, all.rows);
}
std::string name_of_columns(const AppState& state, const Strip& s, int first, int count) {
    const Indices all = indices(*state.trace, s.slot, {s.value->region.row, first, 1, count}, s.made);
    return name_of_lines(state, true, all.cols);
}

std::string size_text(const Region& a) { return str(a.rows) + " × " + str(a.cols); }

// "row 30, keys 32–39", how many of all; then as much of it as there is room for.
// `words`: those of the cells do not stand below them. Returns where it begins.
float draw_caption(const Canvas& c, const AppState& state, const Strip& s, float left, float right, float mid,
                   bool words) {
    const Region shown = s.shown();
    const bool of_keys = info(s.slot).role == Role::S && !one_column(s.slot);
    std::string rows = name_of_rows(state, s, keys_are_rows(s.slot), shown.row, shown.rows);
    const std::vector<std::string> said =
        term_words(state, {.slot = s.slot, .value = s.value, .made = s.made}).rows;
    if (shown.rows == 1 && !said.empty())
        rows += " (" + said[static_cast<std::size_t>(shown.row - s.value->region.row)] + ")";
    // Kᵀ has what is a row of K as a column.
    const std::string cols =
        of_keys ? name_of_columns(state, s, shown.col, shown.cols)
                : from_to(s.transposed && !s.line.column ? "row" : "column", shown.col, shown.cols);
    const std::string both = s.line.column ? cols + ", " + rows : rows + ", " + cols;
    std::string of_all = both, how_many = both;
    const Region& whole = s.value->region;
    if (s.rows > 1 && (shown.rows < whole.rows || shown.cols < whole.cols)) {
        of_all = both + ", of " + size_text(whole), how_many = size_text(shown) + " of " + size_text(whole);
    }
    if (part_of_sum(s)) {
        const bool tile = (of_keys || s.line.column) && (step_now(state).i >= 0 || step_now(state).j >= 0);
        how_many += ", " + str(s.count) + " of ";
        of_all = how_many + (tile ? "the " : "") + str(s.line.length()) + (tile ? " in this tile" : " terms");
        how_many += str(s.line.length());
    }
    std::string said_here;
    for (int n = 0; words && !s.words.empty() && n < s.count; ++n)
        said_here += (n == 0 ? both + " (" : " ") + s.words[static_cast<std::size_t>(s.first + n)];
    if (!said_here.empty()) said_here += ")";
    for (const std::string& text :
         {said_here, of_all, how_many, s.rows > 1 ? how_many : both, s.line.column ? cols : rows})
        if (!text.empty() && text_width(Face::regular, size::far, text) <= right - left)
            return right - c.text(right, mid, text, size::far, c.theme->t2, Align::right);
    return right;
}

// Its head goes on to other matrices: "⊙ ( dP − D )" stands above cells that are those of dP alone.
bool names_more(const Band& band) {
    return std::ranges::any_of(
        band.head, [&](const Piece& piece) { return piece.strip >= 0 && piece.strip != band.strip; });
}

// What the products come to: those that are shown, and the others. What the step makes of their sum stands in
// the formula, but for a scale.
struct Sum {
    Role role = Role::none;
    int count = 0, others = 0;
    double shown = 0, all = 0;
};

// Only where there is more to it than the result.
std::optional<Sum> sum_of(const AppState& state, const Zoom& z) {
    const CellRef cell = state.explanation.target;
    const auto sum = cell_sum(*state.trace, state.cursor.step, cell.row, cell.col);
    std::vector<const Strip*> factors;
    for (const Strip& s : z.strips)
        if (in_sum(s)) factors.push_back(&s);
    // A walk that rounds comes to something else: then nothing is told.
    if (!sum || factors.size() != 2 || !sum->adds_up()) return {};
    const Strip &a = *factors[0], &b = *factors[1];
    if (a.first != b.first || a.count != b.count || a.line.length() != std::ssize(sum->a.values)) return {};
    Sum out{.role = info(sum->slot).role, .count = a.count, .others = a.line.length() - a.count};
    out.all = sum->products();
    for (int n = a.first; n < a.first + a.count; ++n)
        out.shown += sum->a.values[static_cast<std::size_t>(n)] * sum->b.values[static_cast<std::size_t>(n)];
    const bool alone = !sum->grows && sum->divisor == 1;
    return out.others > 0 || !alone ? std::optional(out) : std::nullopt;
}

// The ways to say it, shorter and shorter.
std::vector<Line> sum_lines(const Sum& sum) {
    const auto figure = [&](double v) { return number(format_short(v), sum.role); };
    if (sum.others == 0) return {pieces("Σ of " + counted(sum.count, "product") + "  ", figure(sum.all))};
    const double others = sum.all - sum.shown;
    const Line shown = pieces(str(sum.count) + " shown ", figure(sum.shown));
    const Line others_too = pieces(shown, ", " + counted(sum.others, "other") + " ", figure(others)),
               more = pieces(shown, ", " + str(sum.others) + " more ", figure(others));
    // Where the printed parts miss the printed total, it says so.
    const std::string total = format_short(sum.all);
    const bool near = *sign_before_total({format_short(sum.shown), format_short(others)}, total) != '=';
    const Line all = pieces("Σ ", figure(sum.all)), together = pieces(near ? "Σ ≈ " : "Σ ", figure(sum.all)),
               of_all = pieces(shown, ", all " + str(sum.count + sum.others) + ": ", figure(sum.all));
    // The formula goes on from there.
    return {pieces(others_too, ", ", together), pieces(more, ", ", together), of_all, all};
}

// False, and nothing drawn, without room.
bool draw_sum(const Canvas& c, const Sum& sum, float left, float right, float mid) {
    for (const Line& line : sum_lines(sum)) {
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
    const int length = s.line.length(), step = ceil_div(length, 128);
    const float h = locator_h - 10, cw = w / px(length);
    for (int n = 0; n < length; n += step) {
        const double v = weight_at(s, n);
        const ImU32 fill = std::isinf(v) ? t.line2 : heat_colour(t, s.slot, range, v);
        c.rect(x + px(n) * cw, y, cw * px(std::min(step, length - n)), h, fill);
    }
    c.frame(x + px(s.first) * cw - 1, y - 2, px(s.count) * cw + 2, h + 4, t.focus, 2, radius::bar);
}

struct CellsAt {
    float x, y, cw, ch;
};
void draw_line(const Canvas& c, AppState& state, const Strip& s, const StageView& view, const Region& window,
               const CellsAt& at) {
    MatrixLook look = look_of(state, s, view);
    look.window = window;
    look.x = at.x, look.y = at.y, look.cw = at.cw, look.ch = at.ch;
    look.boxes = true;
    matrix(arriving(c, state, s), state, look, "presenter");
}

// Returns the area of the cells.
Rect draw_cells(const Canvas& c, AppState& state, const Strip& s, const StageView& view, float x, float y,
                float w, float row) {
    const float cw = std::min(w / px(s.count), std::max(150.0f, std::min(240.0f, 960 / px(s.count))));
    const Rect cells{x, y, cw * px(s.count), row * px(s.rows)};
    const ImU32 colour = hue(*c.theme, info(s.slot).role);
    c.rect(x - 4, y - 4, cells.w + 8, cells.h + 8, c.theme->well, 8);
    if (!s.result && !s.old) c.dashed_frame(x - 4, y - 4, cells.w + 8, cells.h + 8, colour, 2.2f, {7, 4});
    draw_line(c, state, s, view, s.shown(), {x, y, cw, row});
    // The row goes on.
    if (s.rows == 1 && s.first > 0)
        c.text(x - 2, cells.middle(), "…", size::far, c.theme->t1, Face::regular, Align::right);
    if (s.rows == 1 && s.first + s.count < s.line.length())
        c.text(cells.right() + 2, cells.middle(), "…", size::far, c.theme->t1);
    return cells;
}

// What the cells stand for, below each of them.
void draw_words_of(const Canvas& c, const Strip& s, const Rect& cells, float down) {
    const float cw = cells.w / px(s.count);
    if (s.words.empty() || widest_word(s.words) > cw - 6) return;
    for (int n = 0; n < s.count; ++n)
        c.text(cells.x + (px(n) + .5f) * cw, cells.bottom() + down + 19,
               s.words[static_cast<std::size_t>(s.first + n)], size::far, c.theme->t2, Face::regular,
               Align::center);
}

// Behind it, where that shortens it but by a word, which keys the row below is of: they are not those terms
// that stand above it.
bool draw_sum_and_keys(const Canvas& c, const AppState& state, const Sum& sum, const Strip& s,
                       const Rect& a) {
    const bool of_keys = info(s.slot).role == Role::S && !one_column(s.slot);
    const std::string keys = of_keys ? name_of_columns(state, s, s.shown().col, s.shown().cols) : "";
    const float w = text_width(Face::regular, size::far, keys) + 28;
    const std::vector<Line> lines = sum_lines(sum);
    const bool both =
        !keys.empty() &&
        std::any_of(lines.begin(), lines.begin() + std::min<std::ptrdiff_t>(2, std::ssize(lines)),
                    [&](const Line& line) { return rich_width(c, line, size::far) <= a.w - w; });
    if (!both) return draw_sum(c, sum, a.x, a.right(), a.y);
    draw_sum(c, sum, a.x, a.right() - w, a.y);
    c.text(a.right(), a.y, keys, size::far, c.theme->t2, Align::right);
    return true;
}

Rect draw_band(const Canvas& c, AppState& state, const Zoom& z, const Band& band, const Rect& a,
               const StageView& view) {
    const float end = draw_head(c, state, z, band, a, view);
    if (band.strip < 0) return {};
    const Strip& s = z.at(band.strip);
    const std::optional<Sum> sum = s.result ? sum_of(state, z) : std::nullopt;
    const float mid = a.y + head_middle;
    float caption = a.right();
    if (!sum ||
        !draw_sum_and_keys(arriving(c, state, s), state, *sum, s, {end + 16, mid, a.right() - end - 16, 0}))
        caption = draw_caption(c, state, s, end + 16, a.right(), mid, !z.words);
    if (names_more(band) && !s.result && caption < a.right()) {
        const Line symbol = stage_symbol(*state.trace, s);
        const float x = caption - 10 - rich_width(c, symbol, size::far);
        if (x >= end + 16) c.rich(x, mid, symbol, size::far);
    }
    float y = a.y + head_h;
    if (band.old >= 0) {
        draw_cells(c, state, z.at(band.old), view, a.x + 4, y, a.w - 8, old_h - 12);
        y += old_h;
    }
    const Rect cells = draw_cells(c, state, s, view, a.x + 4, y, a.w - 8, z.row);
    const bool located = z.locators && s.cut();
    if (located) draw_locator(c, state, s, cells.x, cells.bottom() + 9, cells.w);
    if (z.words) draw_words_of(c, s, cells, located ? locator_h : 0);
    return cells;
}

float head_w(const Canvas& c, const AppState& state, const Zoom& z, const Band& band) {
    float w = 0;
    for (const Piece& piece : band.head) {
        if (piece.strip < 0) {
            w += std::string_view(piece.sign) == "→" ? 54 : sign_width(piece.sign) + 12;
            continue;
        }
        const Strip& s = z.at(piece.strip);
        w += rich_width(c, stage_symbol(*state.trace, s), size::far_symbol) + chip_w(s) + 14;
    }
    return w;
}

constexpr float between_moved = 32, least_moved_w = 190;

// Side by side, each as wide as its head at least. Empty: no room.
std::vector<float> widths_of_moved(const Canvas& c, const AppState& state, Zoom& z, float w) {
    choose_across(state, z, w);
    const auto columns = z.bands.size();
    float left = w - px(columns - 1) * between_moved, sharing = px(columns);
    std::vector<float> out(columns, 0);
    for (std::size_t n = 0; n < columns; ++n) {
        const float least = head_w(c, state, z, z.bands[n]) + 8;
        if (least <= left / sharing) continue;
        out[n] = least, left -= least, sharing -= 1;
    }
    for (float& one : out)
        if (one == 0) one = left / sharing;
    const bool fits = left >= 0 && std::ranges::all_of(out, [](float one) { return one >= least_moved_w; });
    return fits ? out : std::vector<float>{};
}

// Matrices that are only moved stand side by side, with several rows each.
void draw_moved(const Canvas& c, AppState& state, Zoom& z, const Rect& a, const StageView& view) {
    const int columns = static_cast<int>(z.bands.size());
    std::vector<float> widths = widths_of_moved(c, state, z, a.w);
    if (widths.empty()) widths.assign(z.bands.size(), (a.w - px(columns - 1) * between_moved) / px(columns));
    float x = a.x;
    for (int n = 0; n < columns; ++n) {
        Band& band = z.bands[static_cast<std::size_t>(n)];
        const float w = widths[static_cast<std::size_t>(n)];
        if (band.strip >= 0) {
            Strip& s = z.at(band.strip);
            const Region all = s.value->region;
            s.rows = std::clamp(static_cast<int>((a.h - head_h - locator_h) / good_row), 1, all.rows);
            // The first rows, or those with the one that the formula is about.
            const int told = s.line.column ? all.row : s.line.cells.row;
            s.line.cells.row =
                told < all.row + s.rows ? all.row : std::min(told, all.row + all.rows - s.rows);
            z.row = std::min(highest_row, (a.h - head_h - locator_h - 8) / px(s.rows));
        }
        z.across = most_across;
        choose_across(state, z, w - 8);
        choose_parts(z);
        draw_band(c, state, z, band, {x, a.y, w, a.h}, view);
        x += w + between_moved;
    }
}

}  // namespace

// From HBM to the chip or back. False, and nothing drawn, without room.
static bool draw_moved_between(const Canvas& c, AppState& state, Zoom& z, const Rect& a,
                               const StageView& view) {
    constexpr float least_tiles_h = head_h + 3 * good_row + locator_h;
    const bool bytes =
        transfer_plan(a, !view.strip.empty(), true).tiles.h >= least_tiles_h || points_at(state, "Meters");
    const TransferPlan plan = transfer_plan(a, !view.strip.empty(), bytes);
    if (plan.tiles.h < head_h + good_row + locator_h) return false;
    draw_transfer(c, state, plan);
    for (Band& band : z.bands)
        std::erase_if(band.head,
                      [](const Piece& piece) { return std::string_view(piece.sign).starts_with("→"); });
    draw_moved(c, state, z, plan.tiles, view);
    return true;
}

// The map of the scores, and in `area` what it leaves of that.
static ScoreMap map_beside(const AppState& state, Rect& area) {
    // Eight numbers of six letters stand beside it.
    const float w = std::clamp(area.w - wedge_w - 8 - px(most_across) * cell_w(6), 240.0f, 384.0f);
    const ScoreMap scores = score_map(state, {area.x, area.y, w, area.h});
    if (scores.area.w > 0) {
        const float x = scores.area.right() + wedge_w;
        area = {x, area.y, area.right() - x, area.h};
    }
    return scores;
}

int zoom_digits(const AppState& state, Rect area, bool map) {
    Zoom z = zoom_of(state);
    if (is_moved(op_now(state))) return number_style().digits;
    if (map) map_beside(state, area);
    choose_across(state, z, area.w - 8);
    int fewest = number_style().digits;
    for (const Strip& s : z.strips) fewest = std::min(fewest, s.digits);
    return fewest;
}

bool zoom_draws(const AppState& state, Rect area) {
    Zoom z = zoom_of(state);
    map_beside(state, area);
    choose_across(state, z, area.w - 8);
    return choose_rows(z, area.h, true) && z.lens > 0;
}

bool zoom(const Canvas& c, AppState& state, const Rect& area, const StageView& view) {
    Zoom z = zoom_of(state);
    if (pictures_transfer(state) && draw_moved_between(c, state, z, area, view)) return true;
    Rect a = area;
    ScoreMap scores;
    if (view.map) scores = map_beside(state, a);
    const FrameWords& words = frame_words(op_now(state));
    if (is_moved(op_now(state))) {
        draw_moved(c, state, z, a, view);
        const float end = a.x + draw_frame_word_over(c, a, words.before + std::string(": nothing"));
        draw_frame_word(c, end + 40, a.y - frame_up, words.operation);
        if (scores.area.w > 0) draw_score_map(c, state, scores, {});
        return true;
    }
    choose_across(state, z, a.w - 8);
    const bool lens = view.lens && !quiz_waits(state);
    if (!choose_rows(z, a.h, lens)) return false;
    choose_parts(z);
    const float spare = z.lens > 0 ? 0 : (a.h - total_h(z)) / px(z.bands.size() + 1);
    float y = a.y + std::min(spare, 24.0f);
    Rect scores_row{}, result_row{};
    for (Band& band : z.bands) {
        const float h = band_h(z, band);
        const Rect cells = draw_band(c, state, z, band, {a.x, y, a.w, h}, view);
        const auto arrow = std::ranges::find_if(
            band.head, [](const Piece& piece) { return std::string_view(piece.sign) == "→"; });
        if (arrow != band.head.end() && !has_room_for_after(c, state, z, band, a.w))
            draw_frame_word(c, a.right() - text_width(Face::regular, size::far, words.after), a.y - frame_up,
                            words.after);
        // A map of all tiles has what becomes of the scores; of one matrix it is that which is enlarged.
        const auto is_on_map = [&](Slot slot) {
            return scores.tiles ? info(slot).role == Role::S : slot == scores.slot;
        };
        if (band.strip >= 0 && is_on_map(z.at(band.strip).slot) && scores_row.w == 0) scores_row = cells;
        if (band.strip >= 0 && z.at(band.strip).result) result_row = cells;
        y += h + band_gap + std::min(spare, 24.0f);
    }
    const float end = a.x + draw_frame_word_over(c, a, words.before);
    // A drawing that is high enough leaves a line to its word.
    constexpr float high = 200, least = 148, most_in_border = 17, least_in_border = 12;
    const float line = word_over_drawing - band_gap, room = a.bottom() - y;
    const bool over_drawing = z.lens > 0 && room - line >= high;
    if (over_drawing)
        y += line, draw_frame_word(c, a.x, y - word_up, words.operation);
    else if (z.lens > 0 && room - least_in_border >= least)
        y += std::min(most_in_border, room - least);
    if (!operation_band(c, state, z, a.w) && z.lens == 0)
        draw_frame_word(c, end + 40, a.y - frame_up, words.operation);
    const Rect drawing{a.x, y, a.w, a.bottom() - y};
    if (z.lens > 0) stage_lens(c, state, drawing, view);
    if (z.lens > 0 && !over_drawing) draw_frame_word_in_border(c, drawing, words.operation);
    if (scores.area.w > 0) {
        // As low as the row that it leads to, where it has the room
        if (!scores.tiles && scores_row.w > 0)
            scores.area.y = std::clamp(scores_row.y, scores.area.y,
                                       std::max(scores.area.y, area.bottom() - scores.area.h));
        draw_score_map(c, state, scores, scores_row);
    }
    if (result_row.w > 0) draw_sent(c, state, result_row, view.strip);
    return true;
}

}  // namespace tilewalk::ui
