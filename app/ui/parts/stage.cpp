#include "app/ui/parts/stage.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/score_map.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/parts/stage_motion.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/parts/stage_words.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tilewalk::ui {

namespace {

constexpr float least_gap = 20;  // between two matrices without a sign
constexpr float symbols_h = 60;  // above the cells
constexpr float symbol_up = 40;  // from its middle down to them: no index lies in the glow round a result
// Of cells with numbers: the largest that fit. `pad`: between two of them at least .35 of their size. `sign`,
// `arrow`: the room round what stands between matrices.
struct CellSize {
    float text, pad, row;
    float sign = 20, arrow = 56;
    int letters = 2;  // at least
};
constexpr CellSize roomy[] = {{40, 24, 104}, {34, 18, 84}};  // beside the drawing
constexpr CellSize airy = {size::far_number, 22, 62}, usual = {size::far_number, 12, 62},
                   tight = {size::far, 10, 62, 10, 40}, tighter = {size::far, 9.3f, 62, 8, 36},
                   closest = {size::far, 9.1f, 62, 8, 32, 1};  // beside arrows from HBM
constexpr float one_digit = size::mono * size::far;            // between two numbers, where there is room
// `low_lens_h`, of rows of products `lowest_lens_h`: below rows as low as they can be, rather than no
// drawing.
constexpr float good_lens_w = 600, least_lens_h = 184, low_lens_h = 150, lowest_lens_h = 130;
// A few products take less width than a curve with its list.
float least_lens_w(Op op) { return op == Op::scores || op == Op::dp ? 330 : 450; }
constexpr float most_lens_h = 330;  // more than it needs
// The words of tokens: from the cells down to the middle of those below them, from them left to the end of
// those beside them; what of the page's edge is free for these.
constexpr float word_down = 28, word_aside = 12, edge_for_words = 4;

struct Placed : OnStage {
    int digits = 0;
    NumberForm form = NumberForm::even;
    CellSize cell = usual;
    bool sent = false;   ///< an arrow from HBM leads to it, or one from it to HBM
    bool sum = false;    ///< of what is computed while other numbers are stored
    float mid = 0;       ///< of the signs beside it
    bool below = false;  ///< its operands stand above it: at its left lies something else
    /// Not what the formula reads.
    bool written() const { return result || leaves; }
};
using Terms = std::vector<Placed>;

// How wide its numbers are taken: as the longest of the walk, so that nothing jumps from step to step; as its
// own; both with the digits that the formula has more. Then without these, at last without zeros at the end.
enum class Letters { of_all, own, of_matrix, trimmed };

NumberForm form_of(Letters how) {
    return how == Letters::trimmed     ? NumberForm::trimmed
           : how == Letters::of_matrix ? NumberForm::even
                                       : NumberForm::as_formula;
}

int letters_of(const AppState& state, const Placed& t, int digits, Letters how) {
    const SlotLook& look = state.look[t.slot];
    int most = how == Letters::of_all ? look.letters_with(digits) : 1;
    for (const double v : t.value->data.reshaped()) {
        std::string text = cell_number(look.digits, v, digits, form_of(how));
        if (form_of(how) == NumberForm::as_formula && digits == number_style().digits && !t.written())
            text = number_in_formula(state, t.slot, v, text);
        most = std::max(most, letter_count(text));
    }
    return most;
}

float after_w(const Placed& t) { return *t.after ? sign_width(t.after) + 6 : 0; }

// A word is no bracket: "ln" stands apart from the border of its number.
float word_room(std::string_view sign) {
    return !sign.empty() && sign.back() >= 'a' && sign.back() <= 'z' ? 8.0f : 0.0f;
}

// Room between the terms n − 1 and n.
float gap_before(const Terms& line, std::size_t n) {
    if (line[n].result) {
        if (n == 0) return 0;  // out of nothing: no arrow leads to it
        return line[n - 1].result ? least_gap : line[n].cell.arrow + after_w(line[n - 1]);
    }
    const float before =
        sign_width(line[n].before) + word_room(line[n].before) + (*line[n].before ? line[n].cell.sign : 0.0f);
    if (n == 0) return before;
    if (line[n - 1].leaves) {
        const bool apart = !line[n].sent || !line[n].leaves;  // an equation of its own begins
        return least_gap + (apart ? line[n].cell.sign : 0.0f) + after_w(line[n - 1]);
    }
    return std::max(least_gap, before) + after_w(line[n - 1]);
}

// With numbers of so many digits in cells of this size, as high as there is room. Returns the width of all.
float lay_out(const AppState& state, Terms& line, const CellSize& cell, float room_h, int digits,
              Letters how) {
    float w = 0;
    for (std::size_t n = 0; n < line.size(); ++n) {
        Placed& t = line[n];
        t.digits = digits, t.cell = cell, t.form = form_of(how);
        // Beside numbers that go to HBM a single digit would be a strip.
        const int least = t.sum && cell.letters > 1 ? cell.letters + 1 : cell.letters,
                  letters = std::max(least, letters_of(state, t, digits, how));
        const float cw = px(letters) * size::mono * cell.text + cell.pad;
        t.bed = {0, 0, cw, std::min(cell.row, room_h), t.rows(), t.cols(), true};
        w += t.bed.width() + gap_before(line, n);
    }
    return w;
}

int most_rows(const Terms& line) {
    int rows = 1;
    for (const Placed& t : line) rows = std::max(rows, t.rows());
    return rows;
}

// The height of a row; 0 where there are more cells than could have numbers.
float row_room(const Terms& line, float w, float h) {
    const float room = h / px(most_rows(line));
    float least = 0;
    for (const Placed& t : line) least += px(t.cols()) * (2 * size::mono * tight.text + tight.pad);
    const bool many = std::ranges::any_of(line, [](const Placed& t) { return t.cols() > 16; });
    return many || least > w || room < from::far_row ? 0 : room;
}

float width_of(const Terms& line, std::size_t from, std::size_t to) {
    float w = 0;
    for (std::size_t n = from; n < to; ++n) w += line[n].bed.width() + gap_before(line, n);
    return to > from ? w + after_w(line[to - 1]) : w;
}

// Room for the numbers. `cut`: the first term of a second line; 0: there is none.
struct Room {
    float w, h;
    std::size_t cut = 0;
};

float width_in(const Terms& line, const Room& in) {
    return std::max(width_of(line, 0, in.cut), width_of(line, in.cut, line.size()));
}

// What is left at the sides goes between numbers, up to a digit, and round signs and arrows.
void spread(Terms& line, const Room& in) {
    const Terms least = line;
    for (const float share : {1.0f, .8f, .6f, .4f, .2f, .1f}) {
        line = least;
        for (Placed& t : line) {
            CellSize& cell = t.cell;
            const float pad = std::max(cell.pad, one_digit);
            t.bed.cw += share * (pad - cell.pad);
            cell.pad += share * (pad - cell.pad);
            cell.sign += share * (std::max(cell.sign, usual.sign) - cell.sign);
            cell.arrow += share * (std::max(cell.arrow, usual.arrow) - cell.arrow);
        }
        if (width_in(line, in) <= in.w) return;
    }
    line = least;
}

// All numbers fit, in cells of this size or at least as high as their text needs, with all digits of the
// page.
bool fits(const AppState& state, Terms& line, const Room& in, const CellSize& cell, Letters how) {
    const float room = row_room(line, in.cut > 0 ? 2 * in.w : in.w, in.h);
    if (room == 0) return false;
    lay_out(state, line, cell, room, number_style().digits, how);
    return width_in(line, in) <= in.w;
}

bool fits_usual(const AppState& state, Terms& line, const Room& in) {
    return fits(state, line, in, airy, Letters::of_all) || fits(state, line, in, usual, Letters::of_all);
}

// With air between the numbers.
bool fits_with_air(const AppState& state, Terms& line, const Room& in) {
    const bool well = fits(state, line, in, usual, Letters::of_all) ||
                      fits(state, line, in, usual, Letters::own) ||
                      fits(state, line, in, tight, Letters::own);
    if (well) spread(line, in);
    return well;
}

bool fits_in(const AppState& state, Terms& line, const Room& in, const CellSize& cell) {
    if (!fits(state, line, in, cell, Letters::own)) return false;
    const float rest = in.w - width_in(line, in);
    for (Placed& t : line)  // half of the rest to a single digit
        if (t.sum && t.bed.cw < 2 * one_digit) t.bed.cw += std::min(one_digit, rest / 2);
    spread(line, in);
    return true;
}

// Rather than let numbers touch: smaller cells.
bool fits_well(const AppState& state, Terms& line, const Room& in) {
    return fits_with_air(state, line, in) || fits_in(state, line, in, tighter);
}

// Where not all matrices have room for the decimals of the formula, the narrow ones may.
void give_decimals(const AppState& state, Terms& line, const Room& in) {
    const int all = number_style().digits;
    for (Placed& t : line) {
        if (t.cols() > 1) continue;
        const Placed before = t;
        const int letters = std::max(2, letters_of(state, t, all, Letters::of_all));
        t.digits = all, t.form = NumberForm::as_formula;
        t.bed.cw = std::max(t.bed.cw, px(letters) * size::mono * t.cell.text + t.cell.pad);
        if (width_in(line, in) > in.w) t = before;
    }
}

// With the decimals of the matrices, though the formula has more.
bool fits_without_formula(const AppState& state, Terms& line, const Room& in) {
    return fits(state, line, in, tight, Letters::of_matrix) ||
           fits(state, line, in, tighter, Letters::of_matrix);
}

// At last with a decimal or none, without zeros at the end.
bool fits_trimmed(const AppState& state, Terms& line, const Room& in) {
    if (fits_without_formula(state, line, in)) {
        give_decimals(state, line, in), spread(line, in);
        return true;
    }
    const float room = row_room(line, in.cut > 0 ? 2 * in.w : in.w, in.h);
    const bool fits =
        room > 0 && std::ranges::any_of(digit_choices(2), [&](int digits) {
            return std::ranges::any_of(std::array{Letters::of_matrix, Letters::trimmed}, [&](Letters how) {
                lay_out(state, line, tight, room, digits, how);
                return width_in(line, in) <= in.w;
            });
        });
    if (fits) give_decimals(state, line, in), spread(line, in);
    return fits;
}

bool fits_somehow(const AppState& state, Terms& line, const Room& in) {
    return fits_well(state, line, in) || fits_trimmed(state, line, in);
}

// Before which term an equation can go on in a second line: another equation, what it adds, else its result.
// 0: nowhere.
std::size_t break_of(const Terms& line) {
    for (std::size_t n = 1; n < line.size(); ++n)
        if (line[n - 1].leaves && !line[n].leaves) return n;
    for (std::size_t n = line.size(); n-- > 1;)
        if (*line[n].before == '+') return n;
    for (std::size_t n = 1; n < line.size(); ++n)
        if (line[n].result && *line[n - 1].before) return n;
    return 0;
}

// Of each of two lines, without the symbols above it.
float half_height(float h) { return h / 2 - symbols_h - 8; }

// Two lines of small matrices rather than strips of them.
bool fits_in_two_lines(const AppState& state, Terms& line, float w, float h) {
    const std::size_t cut = break_of(line);
    return cut > 0 && fits_well(state, line, {w, half_height(h), cut});
}

// Large cells, where they cost no digits.
bool fits_roomy(const AppState& state, Terms& line, float w, float h) {
    const float room = h / px(most_rows(line));
    return std::ranges::any_of(roomy, [&](const CellSize& cell) {
        return room >= cell.text + 20 &&
               lay_out(state, line, cell, room, number_style().digits, Letters::of_all) <= w;
    });
}

// All begin at one height, step after step: names stay where they are, and what a query's row is made from
// stands beside it. Signs stand in the middle of the first.
void place(Terms& line, std::size_t from, std::size_t to, float x, float top) {
    for (std::size_t n = from; n < to; ++n) {
        Bed& bed = line[n].bed;
        bed.x = x + gap_before(line, n);
        bed.y = top + symbols_h;
        const float mid = line[from].bed.middle();
        if (line[n].result && line[n].rows() == 1 && line[from].rows() > 2) bed.y = mid - bed.ch / 2;
        line[n].mid = mid;
        x = bed.right();
    }
}

Line symbol_of(const Canvas& c, const AppState& state, const Placed& t) {
    StageTerm now = t;
    now.old = false;
    const Line symbol = stage_symbol(*state.trace, now), old = stage_symbol(*state.trace, t);
    // Over a strip of colour there is no room for it; the place in the equation tells it, too.
    return t.old && rich_width(c, old, size::far_symbol) <= t.bed.width() + least_gap ? old : symbol;
}

// A result appears in its place: cell by cell or all at once.
float seen(const AppState& state, const Placed& t) {
    if (!t.result || phase(state) >= 1) return 1;
    const bool cell_by_cell = t.done < std::numeric_limits<int>::max();
    if (cell_by_cell) return t.done > 0 ? 1.0f : 0.0f;
    return over(phase(state), is_store(op_now(state)) ? during::made : during::arrival);
}

// The words of queries and keys below the columns, where all of them have room.
void draw_column_words(const Canvas& c, const AppState& state, const Placed& t, float floor) {
    const std::vector<std::string> words = column_names(state, t);
    const float y = t.bed.bottom() + word_down;
    // Numbers, for which no room is kept, leave that of the word over the drawing.
    const float lower = (state.problem->key_token(0).empty() ? 1.5f : .5f) * size::far;
    if (words.empty() || widest_word(words) > t.bed.cw - 6 || y + lower > floor) return;
    for (int n = 0; n < t.cols(); ++n)
        c.text(t.bed.x + (px(n) + .5f) * t.bed.cw, y, words[static_cast<std::size_t>(n)], size::far,
               c.theme->t2, Face::regular, Align::center);
}

// The same beside the rows of what opens a line, before its sign.
void draw_row_words(const Canvas& c, const AppState& state, const Placed& t, float sign, float left) {
    const std::vector<std::string> words = row_names(state, t);
    const float right = t.bed.x - sign - word_aside;
    if (words.empty() || right - widest_word(words) < left || t.bed.ch < size::far) return;
    for (int n = 0; n < t.rows(); ++n)
        c.text(right, t.bed.y + (px(n) + .5f) * t.bed.ch, words[static_cast<std::size_t>(n)], size::far,
               c.theme->t2, Face::regular, Align::right);
}

// Room for words below columns; their numbers stand where it is left.
float words_below(const AppState& state, const Terms& line) {
    const auto has = [&](const Placed& t) { return !term_words(state, t).columns.empty(); };
    return std::ranges::any_of(line, has) ? word_down + 12 : 0;
}

// Room for words at the left of the first term, beyond what the edge of the page leaves.
float words_beside(const AppState& state, const Terms& line) {
    const float w = widest_word(row_names(state, line.front()));
    return w > 0 ? std::max(0.0f, w + word_aside - edge_for_words) : 0;
}

// What the step that was learnt has changed.
void draw_loss_before(const Canvas& c, const AppState& state, const Rect& a, const Placed& t) {
    const Held before = state.trace->live(t.slot, state.cursor.step - 1);
    const float y = t.bed.bottom() + 32;
    if (!before || y + 16 > a.bottom()) return;
    const std::string words = "was " + format_short(before.value->data(0, 0));
    const float half = text_width(Face::regular, size::far, words) / 2;
    c.text(std::min(t.bed.center(), a.right() - half), y, words, size::far, c.theme->t2, Face::regular,
           Align::center);
}

// The equation goes on at its symbol.
void arrow_to_symbol(const Canvas& c, const AppState& state, const Placed& t) {
    const float x = t.bed.center() - rich_width(c, symbol_of(c, state, t), size::far_symbol) / 2 - 12,
                y = t.bed.y - symbol_up;
    note_part(c, {x - 40, y - 6, 40, 12}, "arrow to the result");
    c.arrow({{x - 40, y}, {x, y}}, ArrowStyle::active, c.theme->focus);
}

// Before and behind a term; before what is made of them an arrow.
void draw_signs(const Canvas& c, const AppState& state, const Terms& line, std::size_t n) {
    const Placed& t = line[n];
    const float mid = t.mid;
    const bool opens = t.result && n > 0 && !line[n - 1].result;
    if (opens && t.below) return arrow_to_symbol(c, state, t);
    if (opens) {
        const float from = t.bed.x - t.cell.arrow + 10, to = t.bed.x - 12;
        note_part(c, {from, mid - 6, to - from, 12}, "arrow to the result");
        c.arrow({{from, mid}, {to, mid}}, ArrowStyle::active, c.theme->focus);
    } else
        draw_sign(c, t.bed.x - .6f * t.cell.sign - word_room(t.before) - sign_width(t.before), mid, t.before);
    draw_sign(c, t.bed.right() + 8, mid, t.after);
}

void draw_term(const Canvas& c, AppState& state, const Rect& a, const Terms& line, std::size_t n,
               const StageView& view) {
    const Placed& t = line[n];
    MatrixLook look = view.look(state, t.slot);
    look.transposed = t.transposed;
    look.dim = false;
    if (!t.result) {
        look.value = t.value;
        look.state = t.leaves ? CellState::written : CellState::read;
        look.before = nullptr;
        look.past = t.old;
        look.rows_done = look.cells_done = std::numeric_limits<int>::max();
    }
    look.show_before = false;
    // One block of a matrix in HBM, or one that is loaded without a place of its own
    if (t.result && (look.value != t.value || look.state == CellState::read)) {
        look.value = t.value;
        look.state = CellState::written;
        look.before = nullptr;
        look.fade = transition(state);
    }
    const float there = seen(state, t);
    const float tile = there < 1 ? landed(state, *t.value, view.strip) : 0;
    if (there < 1 && tile < 1) draw_empty_bed(c, t.bed);
    if (tile > 0) draw_bare_tile(c.faded(tile), state, t.slot, *t.value, t.bed.area());
    if (t.done < t.rows() * t.cols())
        look.cells_done = std::min(look.cells_done, t.done), look.before = nullptr;
    const Canvas now = c.faded(there);
    look.measured = true, look.form = t.form;
    far_matrix(now, state, look, t.bed, t.digits, t.cell.text);
    if (t.lit.w > 0) c.frame(t.lit.x, t.lit.y, t.lit.w, t.lit.h, c.theme->focus, 3, radius::cell);
    const Line symbol = symbol_of(c, state, t);
    const float half = rich_width(c, symbol, size::far_symbol) / 2;
    c.rich(std::clamp(t.bed.center(), a.x + half, a.right() - half), t.bed.y - symbol_up, symbol,
           size::far_symbol, Align::center);
    if (t.result && op_now(state) == Op::loss) draw_loss_before(c, state, a, t);
    draw_signs(c, state, line, n);
}

}  // namespace

void stage_lens(const Canvas& page, AppState& state, const Rect& a, const StageView& view) {
    const Op op = op_now(state);
    // Tiles fly through its place first.
    const bool bytes = is_load(op) || is_store(op);
    const Canvas c = page.faded(bytes && !view.strip.empty() ? over(phase(state), during::arrival) : 1);
    if (bytes) note_part(c, a, "Meters");
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    view.lens(large.c, state, {0, 0, a.w / size::far_growth, a.h / size::far_growth});
}

namespace {

Terms terms_of(const AppState& state) {
    Terms line;
    for (const StageTerm& t : stage_terms(*state.trace, state.cursor.step, state.explanation))
        line.push_back({{t}});
    return line;
}

// The letter of a term begins there, with the arrow that leads to it.
float symbol_left(const Canvas& c, const AppState& state, const Placed& t) {
    const float half = rich_width(c, symbol_of(c, state, t), size::far_symbol) / 2;
    return t.bed.center() - half - (t.below ? 52.0f : 0.0f);
}

// Before, the operation, after: over the operands, the drawing and the results. Where these stand below the
// operands, in the line of their letters; where the drawing does, in its border.
void draw_frame(const Canvas& c, const AppState& state, const Rect& a, const Terms& line, const Rect& lens) {
    const FrameWords& words = frame_words(op_now(state));
    const auto width = [](const std::string& word) { return text_width(Face::regular, size::far, word); };
    const float top = line.front().bed.y - symbols_h - frame_up;
    const Placed& opens = line.front();
    if (opens.leaves) {  // "→ HBM" behind it
        const float copied = opens.bed.x - 4 + draw_frame_word(c, opens.bed.x - 4, top, words.before),
                    to = opens.bed.right() + 8;
        draw_frame_word(c, (copied + to - width(words.operation)) / 2, top, words.operation);
        draw_frame_word(c, to, top, words.after);
        return;
    }
    const bool operands = !opens.written(), starts = info(words.op).kind == OpKind::start,
               beside_drawing = lens.w > 0 && lens.y <= line.front().bed.y;
    // Over what there is now "nothing" would be what this was.
    const bool in_one = starts && !operands && !beside_drawing;
    const std::string before = operands ? words.before
                               : starts ? std::string(words.before) + ": nothing"
                                        : "";
    const float first = operands ? line.front().bed.x - gap_before(line, 0)
                        : in_one ? line.front().bed.x - 4
                                 : a.x;
    float free = first + draw_frame_word(c, first, top, before) + (before.empty() ? 0 : 2 * least_gap),
          end = a.right();
    const auto result = std::ranges::find_if(line, &Placed::result);
    if (in_one) {
        constexpr float apart = 8;
        float x = free - 2 * least_gap + apart;
        x += draw_frame_word(c, x, top, "→") + apart;
        free = x + draw_frame_word(c, x, top, words.after) + 2 * least_gap;
    } else if (result != line.end() && result->bed.y < line.front().bed.bottom()) {
        const bool beside = starts && lens.w > 0;  // the operation stands elsewhere
        const float least = operands ? 0 : free + (beside ? 0 : width(words.operation) + 2 * least_gap);
        end = std::max(result->bed.x - 4, least);
        end = std::min(end, a.right() - width(words.after));
        draw_frame_word(c, end, top, words.after);
    } else if (result != line.end()) {
        const float left = symbol_left(c, state, *result) - 14 - width(words.after);
        draw_frame_word(c, std::min(result->bed.x - 4, left), result->bed.y - symbol_up, words.after);
    }
    if (lens.w > 0 && lens.y > line.front().bed.y) {
        const float below = words_below(state, line);  // of the columns, which stand there first
        const bool own_line = lens.y - line.front().bed.bottom() >= below + word_over_drawing;
        if (!own_line) return draw_frame_word_in_border(c, lens, words.operation);
        draw_frame_word(c, lens.x, lens.y - word_up, words.operation);
        return;
    }
    // Without a drawing the signs between the matrices are the operation: of two lines those of the second.
    const auto second = std::ranges::find_if(
        line, [&](const Placed& t) { return t.bed.y > line.front().bed.bottom() && !t.result; });
    if (lens.w == 0 && second != line.end()) {
        const float x = second->bed.x - gap_before(line, static_cast<std::size_t>(second - line.begin()));
        if (x + width(words.operation) + 14 <= symbol_left(c, state, *second)) {
            draw_frame_word(c, x, second->bed.y - symbol_up, words.operation);
            return;
        }
    }
    // Of one line over the first sign between two matrices, or else between their words.
    const bool between = line.size() > 1 && !line[1].written() && *line[1].before;
    const float w = width(words.operation),
                middle = between ? line[1].bed.x - gap_before(line, 1) / 2 - w / 2 : (free + end - w) / 2;
    draw_frame_word(c, lens.w > 0 ? lens.x : std::clamp(middle, free, std::max(free, end - w - 14)), top,
                    words.operation);
}

// And the drawing to scale, where it has room.
void draw_all(const Canvas& c, AppState& state, const Rect& a, Terms& line, const Rect& lens,
              const StageView& view) {
    std::vector<OnStage*> all;
    for (Placed& t : line) all.push_back(&t);
    light_up(state, all, lens.w > 0);
    for (std::size_t n = 0; n < line.size(); ++n) {
        draw_term(c, state, a, line, n, view);
        const float bottom = line[n].bed.bottom();
        const bool above = lens.w > 0 && lens.y > bottom;
        float floor = above ? lens.y - 4 : a.bottom() + 8;
        for (const Placed& t : line)  // the symbols of a second line
            if (t.bed.y > bottom) floor = std::min(floor, t.bed.y - symbols_h);
        draw_column_words(c, state, line[n], floor);
        if (n == 0) draw_row_words(c, state, line[n], gap_before(line, n), view.words_from);
    }
    if (lens.w > 0) stage_lens(c, state, lens, view);
    draw_flights(c, state, all, view);
}

// Where the room that is left is below them: as high as the largest cells that there are.
void heighten(Terms& line, float h) {
    const float row = std::min(roomy[1].row, h / px(most_rows(line)));
    for (Placed& t : line) t.bed.ch = std::max(t.bed.ch, row);
}

bool has_drawing_between(const AppState& state, Terms& line, float width, float height) {
    const float h = height - symbols_h - 8 - words_below(state, line),
                w = width - least_lens_w(op_now(state)) - 2 * least_gap;
    return h >= least_lens_h && (fits_roomy(state, line, width - good_lens_w - 2 * least_gap, h) ||
                                 fits_usual(state, line, {w, h}));
}

// Before, the drawing, after. False if that is too wide.
bool beside_each_other(const Canvas& c, AppState& state, const Rect& a, Terms& line, const StageView& view) {
    if (!has_drawing_between(state, line, a.w, a.h)) return false;
    const float h = a.h - symbols_h - 8 - words_below(state, line);
    const auto first_result =
        static_cast<std::size_t>(std::ranges::find_if(line, &Placed::result) - line.begin());
    heighten(line, h);
    for (Placed& t : line) t.bed.ch = std::min(t.bed.ch, h / px(most_rows(line)));
    const float before = width_of(line, 0, first_result), after = width_of(line, first_result, line.size());
    place(line, 0, first_result, a.x, a.y);
    place(line, first_result, line.size(), a.right() - after - 4, a.y);
    // The bracket that closes the operands is part of the room before the results.
    const float closing = first_result > 0 ? after_w(line[first_result - 1]) : 0;
    const float x = a.x + before + (before > 0 ? closing + least_gap : 0),
                right = a.right() - after + closing - 12;
    constexpr float lens_top = 10;
    const Rect lens{x, a.y + lens_top, right - x, std::min(h + 54 - lens_top, most_lens_h)};
    draw_all(c, state, a, line, lens, view);
    draw_frame(c, state, a, line, lens);
    return true;
}

// Bars end to end want width, and need less height than others.
bool is_flat(Op op) { return op == Op::row_sum || op == Op::output || op == Op::normalize; }
bool as_products(Op op) {
    constexpr Op products[] = {Op::project, Op::scores, Op::dv, Op::dp,
                               Op::row_dot, Op::dq,     Op::dk, Op::weight_gradient};
    return std::ranges::find(products, op) != std::end(products);
}
constexpr float start_lens_h = 116, most_start_lens_h = 150;  // what start values mean, in two lines
// Factor by factor, which takes less height than bars end to end.
bool as_table(Op op) { return op == Op::scores || op == Op::dp || op == Op::preprocess || op == Op::row_dot; }
float least_below(Op op) { return op == Op::init ? start_lens_h : is_flat(op) ? 136 : least_lens_h; }
float most_below(Op op) { return op == Op::init ? most_start_lens_h : most_lens_h; }

// Of the equation that leaves the drawing room below it, and from it to the drawing, whose word has a line of
// its own where it can. 0: there is no room for both.
struct EquationAbove {
    float h = 0, gap = 0;
    float end() const { return h + gap; }
};
constexpr float word_in_border = 14;

// Bars end to end are the higher, the less the rows above them take.
EquationAbove equation_above_lens(const AppState& state, const Terms& line, float h) {
    const Op op = op_now(state);
    const bool flat = is_flat(op) || op == Op::ds;  // areas on both sides of a line, too
    const float least = least_below(op);
    const struct {
        float row, lens;
    } choices[] = {{84, op == Op::init ? start_lens_h : most_lens_h},
                   {usual.row, flat ? 240 : least},
                   {46, std::max(least, flat ? 210.0f : 0)},
                   {42, least},
                   {36, std::min(least, as_products(op) ? lowest_lens_h : low_lens_h)},
                   {from::far_row, as_table(op) ? lowest_lens_h : least}};
    for (const float gap : {word_over_drawing - 8, word_in_border})  // eight are part of the equation
        for (const auto& [row, lens] : choices) {
            const float wanted = symbols_h + row * px(most_rows(line)) + 8;
            if (h - wanted - gap >= lens) return {wanted, gap};
        }
    return {};
}

// The words below the keys, which stand below their scores too, are left out rather than that the drawing has
// no room.
float words_above_lens(const AppState& state, const Terms& line, float h) {
    const float words = words_below(state, line);
    if (op_now(state) != Op::scores) return words;
    const bool costs_drawing =
        equation_above_lens(state, line, h - words).h == 0 && equation_above_lens(state, line, h).h > 0;
    return costs_drawing ? 0 : words;
}

// The equation, the drawing below it if it has room. False if the numbers have none.
bool above_each_other(const Canvas& c, AppState& state, const Rect& a, Terms& line, const StageView& view,
                      bool lens) {
    const float words = lens ? words_above_lens(state, line, a.h) : words_below(state, line);
    const EquationAbove equation = lens ? equation_above_lens(state, line, a.h - words) : EquationAbove{};
    const bool below = equation.h > 0;
    const float h = (below ? equation.h : a.h - words) - symbols_h - 8;
    // On a high page no drawing is higher than it needs, and both stand in the middle.
    const float drawing = equation.end() + words, lens_h = std::min(a.h - drawing, most_below(op_now(state))),
                top = a.y + (below ? (a.h - drawing - lens_h) / 2 : 0);
    const bool large = !below && fits_roomy(state, line, a.w, h);
    if (!large && !fits_somehow(state, line, {a.w, h})) return false;
    const float w = width_of(line, 0, line.size());
    place(line, 0, line.size(), a.x + std::max(0.0f, (a.w - w) / 2), top);
    const Rect drawn = below ? Rect{a.x, top + drawing, a.w, lens_h} : Rect{};
    draw_all(c, state, a, line, drawn, view);
    draw_frame(c, state, a, line, drawn);
    return true;
}

// The operands, below them the drawing and what comes of both beside it.
struct BelowOperands {
    std::size_t cut = 0;  // the first result; 0: there is no room
    float row = 0, first_w = 0, second_w = 0, words = 0;
    float above = 0;  // from the operands to the drawing
    // Without room for the word over the drawing or in its border: it stands in the line of the others.
    bool tight() const { return above < room_of_word; }
    static constexpr float room_of_word = 25, least_above = 12;
};

BelowOperands below_operands(const AppState& state, Terms& line, float w, float h, float words, float above) {
    const auto cut = static_cast<std::size_t>(std::ranges::find_if(line, &Placed::result) - line.begin());
    if (cut == 0 || cut == line.size()) return {};
    int operands = 1, results = 1;
    for (std::size_t n = 0; n < line.size(); ++n) {
        int& most = n < cut ? operands : results;
        most = std::max(most, line[n].rows());
    }
    // Bars end to end have their total in the line below them, where it is high enough.
    const Op op = op_now(state);
    const bool bytes = exchanges(state);  // in place of the drawing
    const float lens_h = bytes         ? least_exchange_h
                         : is_flat(op) ? 142
                                       : least_lens_h,
                lens_w = bytes ? least_exchange_w : std::max(560.0f, least_lens_w(op));
    const auto fits = [&](float row) {
        const float below = h - symbols_h - row * px(operands) - above - words;
        return below >= std::max(lens_h, symbols_h + row * px(results) + 8);
    };
    const float rows[] = {usual.row, 54, 46, 42, 39, 36};
    const auto row = std::ranges::find_if(rows, fits);
    if (row == std::end(rows)) return {};
    for (const Letters how : {Letters::of_all, Letters::own, Letters::of_matrix}) {
        lay_out(state, line, how == Letters::of_all ? usual : tight, *row, number_style().digits, how);
        // The results keep their size: beside them the drawing has the room.
        Terms operands_only(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(cut));
        const float second = width_of(line, cut, line.size());
        if (width_of(operands_only, 0, cut) > w || second + least_gap + lens_w > w) continue;
        spread(operands_only, {w, h});
        std::ranges::copy(operands_only, line.begin());
        return {cut, *row, width_of(line, 0, cut), second, words, above};
    }
    return {};
}

// With the words below columns, if they have room.
BelowOperands below_operands(const AppState& state, Terms& line, float w, float h) {
    const float words = words_below(state, line);
    constexpr float least = BelowOperands::least_above, closer = 6;
    BelowOperands out = below_operands(state, line, w, h, words, word_over_drawing);
    if (out.cut == 0) out = below_operands(state, line, w, h, words, BelowOperands::room_of_word);
    if (out.cut == 0) out = below_operands(state, line, w, h, std::max(0.0f, words - closer), least);
    if (out.cut == 0 && words > 0) out = below_operands(state, line, w, h, 0, least);
    return out;
}

bool with_result_below(const Canvas& c, AppState& state, const Rect& a, Terms& line, const StageView& view) {
    const BelowOperands at = below_operands(state, line, a.w, a.h);
    if (at.cut == 0) return false;
    int rows = 1;
    for (std::size_t n = 0; n < at.cut; ++n) rows = std::max(rows, line[n].rows());
    const float first = at.row * px(rows), top = a.y + symbols_h + first + at.above + at.words,
                second = std::min(a.bottom() - top, most_lens_h);
    place(line, 0, at.cut, a.x + std::max(0.0f, (a.w - at.first_w) / 2), a.y);
    place(line, at.cut, line.size(), a.right() - at.second_w - 4, top);
    line[at.cut].below = true;
    const Rect beside{a.x, top, a.w - at.second_w - least_gap, second};
    const bool bytes = exchanges(state);
    if (bytes) draw_exchange(c, state, beside);
    draw_all(c, state, a, line, bytes ? Rect{} : beside, view);
    draw_frame(c, state, a, line, at.tight() ? Rect{} : beside);
    return true;
}

// False if the numbers have no room in two lines either.
bool in_two_lines(const Canvas& c, AppState& state, const Rect& a, Terms& line, const StageView& view) {
    const std::size_t cut = break_of(line), all = line.size();
    // With the words below columns, if both lines have room for theirs.
    float above = words_below(state, Terms(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(cut))),
          below = words_below(state, Terms(line.begin() + static_cast<std::ptrdiff_t>(cut), line.end()));
    if (above + below > 0 && !fits_in_two_lines(state, line, a.w, a.h - above - below)) above = below = 0;
    const float h = a.h - above - below;
    if (!fits_in_two_lines(state, line, a.w, h)) return false;
    const float first = width_of(line, 0, cut), second = width_of(line, cut, all),
                x = a.x + (a.w - std::max(first, second)) / 2;
    place(line, 0, cut, x, a.y);
    place(line, cut, all, x, a.y + h / 2 + above);
    draw_all(c, state, a, line, {}, view);
    draw_frame(c, state, a, line, {});
    return true;
}

}  // namespace

// What goes to HBM as it is stands apart from what is computed for it.
static void mark_sent(Terms& line) {
    for (std::size_t n = 0; n < line.size(); ++n) {
        Placed& t = line[n];
        t.sent = t.result || t.leaves;
        t.sum = !t.sent;
        if (t.leaves) t.after = "";  // its arrow says it
    }
}

// With narrower arrows where that leaves the tiles all their digits.
static TransferPlan plan_with_digits(const AppState& state, Terms line, const Rect& a, bool strip,
                                     bool bytes) {
    const auto fits = [&](Lanes lanes, bool well) {
        const Rect tiles = transfer_plan(a, strip, bytes, lanes).tiles;
        const Room room{tiles.w, tiles.h - symbols_h - 8};
        return well ? fits_well(state, line, room) : fits_in(state, line, room, closest);
    };
    const bool narrow =
        !fits(Lanes::usual, true) && (fits(Lanes::narrow, true) || fits(Lanes::narrow, false));
    return transfer_plan(a, strip, bytes, narrow ? Lanes::narrow : Lanes::usual);
}

static bool fits_on_chip(const AppState& state, Terms& line, const Room& in) {
    return fits_roomy(state, line, in.w, in.h) || fits_well(state, line, in) ||
           fits_in(state, line, in, closest) || fits_trimmed(state, line, in);
}

// The words of rows, at the left of what is laid out there, where they have room at no cost.
static float room_for_row_words(const AppState& state, const Terms& line, const Room& in) {
    const float words = widest_word(row_names(state, line.front())), w = words + word_aside;
    return words > 0 && width_of(line, 0, line.size()) + w <= in.w ? w : 0;
}

// From HBM to the chip or back. False if what goes has no room with numbers.
static bool draw_sent_or_loaded(const Canvas& c, AppState& state, const Rect& a, Terms line,
                                const StageView& view) {
    mark_sent(line);
    for (const bool bytes : {true, false}) {
        if (!bytes && points_at(state, "Meters")) return false;
        const TransferPlan plan = plan_with_digits(state, line, a, !view.strip.empty(), bytes);
        const Rect& room = plan.tiles;
        const float h = room.h - symbols_h - 8, words = words_below(state, line);
        // With the words below columns, if they have room.
        const bool with_words = words > 0 && fits_well(state, line, {room.w, h - words});
        if (!with_words && !fits_on_chip(state, line, {room.w, h})) continue;
        draw_transfer(c, state, plan);
        const float w = width_of(line, 0, line.size()), taken = room_for_row_words(state, line, {room.w, h});
        place(line, 0, line.size(), room.x + taken + std::max(0.0f, (room.w - taken - w) / 2), room.y);
        StageView from_hbm = view;
        from_hbm.floor = bytes ? plan.bytes.y + 30 : plan.chip.bottom();  // over the bar, above its words
        if (plan.hbm.w > 0) from_hbm.strip = places_in_hbm(state, plan);
        from_hbm.words_from = room.x;
        draw_all(c, state, room, line, {}, from_hbm);
        return true;
    }
    return false;
}

// The cell of an answer, for tests.
static void note_asked(const Canvas& c, const Placed& t, const CellRef& cell) {
    const Region& at = t.value->region;
    if (cell.slot != t.slot || !at.contains(cell.row, cell.col)) return;
    const float x = t.bed.x + px(cell.col - at.col) * t.bed.cw,
                y = t.bed.y + px(cell.row - at.row) * t.bed.ch;
    note_item(ItemKind::cell, c.device(x, y), c.device(x + t.bed.cw, y + t.bed.ch), cell_name(cell));
}

// An answer has the decimals of the question's text, maybe more than the matrix.
template <class Numbers>
static void give_room_for_answers(Terms& line, const Numbers& numbers, const Room& in) {
    int letters = 0;
    for (const auto& asked : numbers) letters = std::max(letters, letter_count(answer_text(asked)));
    for (Placed& t : line) {
        if (!t.result || t.slot != numbers.front().explanation.target.slot) continue;
        const float before = t.bed.cw;
        t.bed.cw = std::max(before, px(letters) * size::mono * t.cell.text + 8);
        if (width_in(line, in) > in.w) t.bed.cw = before;
    }
}

// What a question about numbers is worked out from: the equation of the coming step, and the empty place of
// what is asked for.
static bool draw_equation_asked(const Canvas& c, AppState& state, const Rect& a) {
    const Quiz& quiz = *state.quiz;
    const auto numbers = quiz.question.numbers();
    Terms line;
    for (const StageTerm& t : stage_terms(*state.trace, quiz.question.step)) line.push_back({{t}});
    std::size_t cut = break_of(line);
    if (state.trace->step(quiz.question.step).op == Op::init)  // there the signs are the answer
        for (Placed& t : line) t.before = t.after = "";
    const float h = a.h - symbols_h - 8;
    const bool one_line = fits_roomy(state, line, a.w, h) || fits_well(state, line, {a.w, h}),
               two_lines = !one_line && cut > 0 && fits_well(state, line, {a.w, half_height(a.h), cut});
    if (!one_line && !two_lines && !fits_trimmed(state, line, {a.w, h})) return false;
    if (!two_lines) cut = line.size();
    give_room_for_answers(line, numbers, {a.w, h, cut});
    const float x = a.x + std::max(0.0f, (a.w - width_in(line, {a.w, h, cut})) / 2);
    place(line, 0, cut, x, a.y);
    place(line, cut, line.size(), x, a.y + a.h / 2);
    for (std::size_t n = 0; n < line.size(); ++n) {
        const Placed& t = line[n];
        MatrixLook look;
        look.slot = t.slot, look.value = t.value, look.transposed = t.transposed, look.past = t.old;
        look.state = CellState::read, look.measured = true, look.form = t.form, look.boxes = true;
        lay(look, t.bed, t.digits, t.cell.text);
        if (t.result) {
            draw_empty_bed(c, t.bed);
            mark_asked(c, state, look);
            for (const auto& asked : numbers) note_asked(c, t, asked.explanation.target);
        } else {
            far_matrix(c, state, look, t.bed, t.digits, t.cell.text);
        }
        c.rich(t.bed.center(), t.bed.y - symbol_up, symbol_of(c, state, t), size::far_symbol, Align::center);
        draw_signs(c, state, line, n);
    }
    return true;
}

static bool draw_asked(const Canvas& c, AppState& state, const Rect& a) {
    const auto numbers = state.quiz->question.numbers();
    if (numbers.empty() || state.quiz->question.exact) return false;
    const Explanation before = std::exchange(
        state.explanation, numbers[std::min(state.quiz->entry, numbers.size() - 1)].explanation);
    const bool drawn = draw_equation_asked(c, state, a);
    state.explanation = before;
    return drawn;
}

// The scores, in them the tile that is left out. Returns the width that they take.
static float draw_skipped(const Canvas& c, const AppState& state, const Rect& a) {
    const ScoreMap map = score_map(state, {a.x, a.y, a.w * .4f, a.h});
    if (map.area.w == 0) return 0;
    draw_score_map(c, state, map, {});
    return map.area.w + 2 * least_gap;
}

constexpr float usual_h = 330;

static bool fits_one_line(const AppState& state, Terms& line, float w) {
    return fits_somehow(state, line, {w, usual_h - symbols_h});
}

static bool has_all_digits(const AppState& state, float w, float h, bool strip) {
    Terms line = terms_of(state);
    if (pictures_transfer(state)) {
        mark_sent(line);
        const Rect room = plan_with_digits(state, line, {0, 0, w, h}, strip, false).tiles;
        const Room in{room.w, room.h - symbols_h - 8};
        return line.empty() || fits_well(state, line, in) || fits_in(state, line, in, closest);
    }
    return line.empty() || fits_well(state, line, {w, usual_h - symbols_h}) ||
           below_operands(state, line, w, h).cut > 0 || fits_in_two_lines(state, line, w, h);
}

// A table of products whose operands have no room for the decimals with which they come to it: rather one row
// of it that can be worked out than all of it that cannot.
static bool tells_one_row(const AppState& state, float w, float h) {
    return op_now(state) == Op::ds && !points_at(state, "Lens") && !has_all_digits(state, w, h, false) &&
           zoom_digits(state, {0, 0, w, h}, true) == number_style().digits;
}

// All its numbers with all decimals that their matrices have.
static bool has_decimals(const AppState& state, float w, float h) {
    if (has_all_digits(state, w, h, false)) return true;
    Terms line = terms_of(state);
    return fits_without_formula(state, line, {w, usual_h - symbols_h});
}

// The drawing has room beside the whole of the matrices or below them.
static bool whole_has_drawing(const AppState& state, float w, float h) {
    Terms line = terms_of(state);
    if (below_operands(state, line, w, h).cut > 0) return true;
    if (!fits_one_line(state, line, w)) return false;
    const float room = h - words_above_lens(state, line, h);
    const EquationAbove equation = equation_above_lens(state, line, room);
    // A bar above a bar, both with numbers, takes more than a line of them.
    const bool two_bars = is_flat(op_now(state)) && std::ranges::any_of(line, &Placed::old);
    constexpr float two_bars_h = 186;
    return (equation.h > 0 && room - equation.end() >= (two_bars ? two_bars_h : 0)) ||
           has_drawing_between(state, line, w, h);
}

// Of matrices that could not have their decimals, or of a tile of many rows that leaves the drawing no room,
// one row has both.
static bool rather_one_row(const AppState& state, float w, float h) {
    const Op op = op_now(state);
    const bool computes = info(op).kind == OpKind::compute && op != Op::init && op != Op::loss;
    const Terms line = terms_of(state);
    const Rect all{0, 0, w, h};
    if (!computes || quiz_waits(state) || state.lesson->one_row || line.empty() ||
        zoom_digits(state, all, true) < number_style().digits)
        return false;
    if (!has_decimals(state, w, h)) return true;
    constexpr int many_rows = 4;
    // Rows of several sequences or ranks stand together.
    const bool of_one = !state.lesson->uses(chooses_ranks) && !state.lesson->uses(chooses_sequences);
    return most_rows(line) >= many_rows && of_one && !whole_has_drawing(state, w, h) &&
           zoom_draws(state, all);
}

bool stage_has_all_digits(const AppState& state, float w, float h) {
    return has_all_digits(state, w, h, false) || tells_one_row(state, w, h);
}

bool strip_stage_has_all_digits(const AppState& state, float w, float h) {
    return has_all_digits(state, w, h, true);
}

bool stage_draws_below(const AppState& state, float w, float h) {
    Terms line = terms_of(state);
    if (line.empty() || pictures_transfer(state)) return false;
    const float equation = equation_above_lens(state, line, h - words_above_lens(state, line, h)).h;
    return equation > 0 && fits_well(state, line, {w, equation - symbols_h - 8});
}

bool stage_zooms(const AppState& state, float w, float h) {
    Terms line = terms_of(state);
    // On a low page rows may have no room that would have it on a usual one.
    const Room room{w, std::min(usual_h, h - 8) - symbols_h};
    if (tells_one_row(state, w, h) || rather_one_row(state, w, h)) return true;
    return !line.empty() && !fits_somehow(state, line, room) && !fits_in_two_lines(state, line, w, h);
}

// Room at the left for the words of rows, where it costs no digits.
static Rect beside_words(const AppState& state, Terms line, const Rect& a) {
    const float w = line.empty() ? 0 : words_beside(state, line);
    if (w == 0) return a;
    const Rect rest{a.x + w, a.y, a.w - w, a.h};
    const auto same = [&](auto has_room) { return has_room(a.w) == has_room(rest.w); };
    const bool costs_nothing =
        same([&](float room) {
            return fits_well(state, line, {room, usual_h - symbols_h});
        }) &&
        same([&](float room) {
            return fits_with_air(state, line, {room, usual_h - symbols_h});
        }) &&
        same([&](float room) { return fits_one_line(state, line, room); }) &&
        same([&](float room) { return fits_in_two_lines(state, line, room, a.h); }) &&
        same([&](float room) { return below_operands(state, line, room, a.h).cut > 0; });
    // Numbers have it only where all stands in one line.
    const bool in_one = fits_well(state, line, {rest.w, usual_h - symbols_h});
    return costs_nothing && (in_one || !state.problem->query_token(0).empty()) ? rest : a;
}

static void lens_alone(const Canvas& c, AppState& state, const Rect& a, const StageView& view,
                       const char* word = nullptr) {
    draw_frame_word_over(c, a, word ? word : frame_words(op_now(state)).operation);
    stage_lens(c, state, a, view);
}

void stage(const Canvas& c, AppState& state, const Rect& all, const StageView& view_of) {
    StageView view = view_of;
    view.words_from = all.x - edge_for_words;
    Terms line = terms_of(state);
    const Rect named = beside_words(state, line, all);
    // What goes between HBM and the chip has its words within that.
    const Rect a = pictures_transfer(state) ? all : named;
    // A question asks what the lens would tell.
    const bool lens = view.lens && !quiz_waits(state);
    if (quiz_waits(state) && draw_asked(c, state, a)) return;
    if (line.empty()) {
        const float taken = op_now(state) == Op::skip ? draw_skipped(c, state, a) : 0;
        const Rect rest{a.x + taken, a.y, a.w - taken, a.h};
        if (lens && a.h >= least_lens_h)
            lens_alone(c, state, rest, view);
        else if (!quiz_waits(state))
            draw_frame_word_over(c, rest, frame_words(op_now(state)).operation);
        return;
    }
    // A proof that a tour speaks of has the room of the step's matrices.
    if (lens && proves_split(state) && all.h >= least_lens_h)
        return lens_alone(c, state, all, view, "the proof");
    const bool one_row = tells_one_row(state, a.w, a.h) || (view.lens && rather_one_row(state, a.w, a.h));
    if (one_row && zoom(c, state, a, view)) return;
    const bool small = fits_one_line(state, line, a.w);
    // Rather two lines than one without decimals.
    const bool one_line = fits_well(state, line, {a.w, usual_h - symbols_h});
    const bool air = one_line && fits_with_air(state, line, {a.w, usual_h - symbols_h});
    if ((!air || (exchanges(state) && !view.strip.empty())) && lens &&
        with_result_below(c, state, a, line, view))
        return;
    if (!one_line && in_two_lines(c, state, a, line, view)) return;
    const bool above = equation_above_lens(state, line, a.h).h > 0, flat = is_flat(op_now(state)) && above;
    // A tour that speaks of the drawing has it alone where it would not be there.
    if (small && lens && !above && points_at(state, "Lens") && a.h >= least_lens_h)
        return lens_alone(c, state, a, view);
    if (small && pictures_transfer(state) && draw_sent_or_loaded(c, state, a, line, view)) return;
    if (small && lens && !flat && op_now(state) != Op::init && beside_each_other(c, state, a, line, view))
        return;
    if (small && above_each_other(c, state, named, line, view, lens)) return;
    zoom(c, state, a, view);
}

}  // namespace tilewalk::ui
