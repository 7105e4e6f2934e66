// The two walks beside each other: one cell as each of them has it, why it differs, and what comes of it in
// the result.
#include "app/ui/state/broken_stage.h"

#include "app/ui/kit/canvas.h"
#include "app/ui/state/state.h"
#include "core/base/beside_matrix.h"
#include "core/lessons/shared/parts.h"
#include "core/walk/compare.h"
#include "core/walk/formula.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tilewalk::ui {

bool same_number(double truth, double broken) {
    constexpr double last_bits = 1e-12, left_of_zero = 1e-14;
    const double far = distance(truth, broken), size = std::max(std::abs(truth), std::abs(broken));
    return far == 0 || (std::isfinite(far) && (far <= last_bits * size || size < left_of_zero));
}

int BrokenStep::wrong_count() const { return static_cast<int>(std::ranges::count(wrong_rows, true)); }

bool BrokenStep::on_its_way() const {
    const bool same_place =
        info(cell.slot).role == info(end.slot).role && cell.row == end.row && cell.col == end.col;
    return same_place && !(same_number(truth.value, truth.end) && same_number(broken.value, broken.end));
}

bool BrokenStep::harmless() const {
    return !wrong_rows.empty() && wrong_count() == 0 && same_number(truth.end, broken.end);
}

namespace {

// What the step wrote into the cell; nothing if it wrote another.
std::optional<double> written_value(const Trace& trace, int k, const CellRef& cell) {
    for (const Access& a : trace.writes(k)) {
        const Value& tile = trace.value(a.value);
        if (a.slot == cell.slot && tile.region.contains(cell.row, cell.col)) return value_at(tile, cell);
    }
    return {};
}

// The value that the step read: the nth of what it reads, in the row of the cell.
double read_value(const Trace& trace, int k, std::size_t n, const CellRef& cell) {
    const Access& a = trace.reads(k)[n];
    const Value& tile = trace.value(a.value);
    return value_at(tile, {a.slot, cell.row, one_column(a.slot) ? 0 : cell.col});
}

BarPart added(Line label, double value, Role role) { return {std::move(label), value, role}; }

// The weights of the cell's row, or, where the step has values, its product with the values of the cell's
// column: of weights as they enter it, which may be far less where they saturate. What the sum loses when it
// is rounded is in no part.
double sum_added(const Trace& trace, int k, const CellRef& cell) {
    const auto reads = trace.reads(k);
    const Value& P = trace.value(reads[2].value);
    const auto row = P.data.row(cell.row - P.region.row);
    if (cell.slot == Slot::l) return row.sum();
    const Value& V = trace.value(reads[3].value);
    const Matrix operands = round_to(trace.problem().precision.weights, Matrix(row));
    return operands.row(0).dot(V.data.col(cell.col - V.region.col));
}

// What was there, times the correction, and what the step adds; none for other steps.
std::vector<BarPart> two_parts(const Trace& trace, int k, const CellRef& cell, double value) {
    const Op op = trace.step(k).op;
    const std::size_t reads = trace.reads(k).size();
    const auto read = [&](std::size_t n) { return read_value(trace, k, n, cell); };
    const Role role = info(cell.slot).role;
    const Line own = slot_symbol(cell.slot);
    if ((op == Op::row_sum && reads == 3 && cell.slot == Slot::l) || (op == Op::output && reads == 4)) {
        const double alpha = read(0), old = alpha * read(1);
        // How it was rounded stands above.
        const Line factor = only_rounded(trace.problem())
                                ? slot_symbol(Slot::alpha)
                                : Line{number(text_alone(trace.digits(Slot::alpha), alpha), Role::alpha)};
        const Line before = pieces("old ", own, " × ", factor);
        const Line added_by = op == Op::row_sum ? pieces("new ", slot_symbol(Slot::P))
                                                : pieces("new ", slot_symbol(Slot::P), slot_symbol(Slot::V));
        // In the hue that the same part has on the unbroken bar.
        const Role new_role = op == Op::row_sum ? Role::S : role;
        return {added(before, old, role), added(added_by, sum_added(trace, k, cell), new_role)};
    }
    if ((op == Op::dv || op == Op::dq || op == Op::dk) && reads == 3) {
        const double old = read(2);
        return {added(pieces("so far"), old, role), added(pieces("added"), value - old, role)};
    }
    return {};
}

// Of a merge each part, times its weight.
std::vector<BarPart> merged_parts(const Trace& trace, int k, const CellRef& cell) {
    const Op op = trace.step(k).op;
    if (op != Op::merge_sum && op != Op::merge_output) return {};
    const Slot slot = op == Op::merge_sum ? Slot::l_part : Slot::O_part;
    const int local = cell.row - trace.value(trace.writes(k).front().value).region.row;
    std::vector<double> weights;
    std::vector<BarPart> out;
    for (const Access& a : trace.reads(k)) {
        const Matrix& tile = trace.value(a.value).data;
        if (a.slot == Slot::w_part) weights.push_back(tile(local, 0));
        if (a.slot != slot || out.size() >= weights.size()) continue;
        const double weight = weights[out.size()];
        out.push_back(
            added(pieces(slot_symbol(trace, slot, k, a.tile), " × ",
                         number(text_alone(trace.digits(Slot::w_part), weight), info(Slot::w_part).role)),
                  weight * tile(local, op == Op::merge_sum ? 0 : cell.col), info(slot).role));
    }
    return out;
}

// Of one sign, so that they can stand on each other, and few enough to be named beside them.
std::vector<BarPart> parts_of(const Trace& trace, int k, const CellRef& cell, double value) {
    constexpr std::size_t most_named = 4;
    std::vector<BarPart> parts = two_parts(trace, k, cell, value);
    if (parts.empty()) parts = merged_parts(trace, k, cell);
    const auto with_first = [&](const BarPart& p) {
        return std::isfinite(p.value) && p.value * parts.front().value > 0;
    };
    if (parts.size() > 1 && parts.size() <= most_named && std::ranges::all_of(parts, with_first))
        return parts;
    return {added({}, value, info(cell.slot).role)};
}

StageSide side_of(const Trace& trace, int k, const CellRef& cell) {
    StageSide side;
    side.trace = &trace;
    side.told = explain(trace, k, cell);
    side.value = written_value(trace, k, cell).value_or(0);
    side.parts = parts_of(trace, k, cell, side.value);
    return side;
}

// A correction of sums that are still empty changes nothing.
bool multiplies_nothing(const BrokenStep& s, const CellRef& source, int k) {
    if (source.slot != Slot::alpha) return false;
    const auto empty = [&](const StageSide& side) {
        const Held old = holding(*side.trace, s.cell, k - 1);
        return old && value_at(*old.value, s.cell) == 0;
    };
    return empty(s.truth) && empty(s.broken);
}

// The cell in both walks, as step k left it; nothing where it is the same.
std::optional<BrokenCause> differs_at(const BrokenStep& s, const CellRef& cell, int k) {
    const Held is = holding(*s.broken.trace, cell, k), should = holding(*s.truth.trace, cell, k);
    if (!is || !should) return {};
    const double b = value_at(*is.value, cell), t = value_at(*should.value, cell);
    if (distance(t, b) == 0) return {};
    return BrokenCause{cell, t, b, is.step};
}

// The number with which the walks parted, as it is by now; that of the step's own row if it can be.
std::optional<BrokenCause> where_they_parted(const BrokenStep& s, const Comparison& found, int k) {
    const int first = next_difference(found, -1);
    if (first < 0 || first >= k) return {};
    const auto far = largest_difference(*s.truth.trace, *s.broken.trace, first);
    if (!far) return {};
    if (const auto own = differs_at(s, {far->cell.slot, s.cell.row, far->cell.col}, k - 1)) return own;
    return differs_at(s, far->cell, k - 1);
}

// The one operand that differs. Where several do, none of them is the reason: what all of them come from is.
std::optional<BrokenCause> cause_of(const BrokenStep& s, const AppState& state) {
    const int k = state.cursor.step;
    const bool rounded = only_rounded(*state.problem);
    const auto reads = s.broken.trace->reads(k);
    // Of an old and a new value of one slot it cannot be told which of them it was.
    const auto twice = [&](Slot slot) { return std::ranges::count(reads, slot, &Access::slot) > 1; };
    std::optional<BrokenCause> cause;
    for (const CellRef& source : s.broken.told.sources) {
        if (twice(source.slot) || multiplies_nothing(s, source, k)) continue;
        const auto other = differs_at(s, source, k - 1);
        if (!other) continue;
        if (!cause)
            cause = other;
        else if (cause->cell.slot != other->cell.slot && !rounded) {
            const auto parted = where_they_parted(s, *state.comparison, k);
            return parted ? parted : cause;
        }
    }
    return cause;
}

// "P̃ ← bf16(exp(S − m))", "α ← 1": the formula as this walk computes it, told by its numbers.
Line as_computed(const StageSide& side) {
    const Line& formula = side.told.formula;
    const std::string numbers = plain(side.told.numbers);
    const auto arrow = std::ranges::find_if(
        formula, [](const Span& span) { return span.text.find("←") != std::string::npos; });
    if (arrow == formula.end()) return formula;
    if (side.told.target.slot == Slot::alpha && saved_in(*side.trace).lazy)  // it was not raised
        return pieces("m kept:  ", slot_symbol(Slot::alpha), "  ←  ",
                      number(text_alone(side.trace->digits(Slot::alpha), side.value)));
    for (const Format format : formats()) {
        const std::string rounds = std::string(name(format)) + "(";
        if (!numbers.starts_with(rounds)) continue;
        const std::size_t at = arrow->text.find("←") + std::string_view("←").size(),
                          right_from = std::min(arrow->text.find_first_not_of(' ', at), arrow->text.size());
        Line out(formula.begin(), arrow);
        Span left = *arrow, right = *arrow;
        left.text = arrow->text.substr(0, at) + "  " + rounds, right.text = arrow->text.substr(right_from);
        out.push_back(left);
        if (!right.text.empty()) out.push_back(right);
        out.insert(out.end(), arrow + 1, formula.end());
        return pieces(out, ")");
    }
    return formula;
}

void tell_causes(BrokenStep& s) {
    const auto& cause = s.cause;
    if (!cause) {
        s.truth.cause = s.truth.told.formula, s.broken.cause = as_computed(s.broken);
        return;
    }
    // Of a division what it divides by, not what that comes from.
    std::optional<BrokenCause> divisor;
    if (s.truth.trace->step(s.step).op == Op::normalize)
        divisor = differs_at(s, {Slot::l, s.cell.row, 0}, s.step - 1);
    const BrokenCause& shown = divisor ? *divisor : *cause;
    const MatrixDigits& digits = s.truth.trace->digits(shown.cell.slot);
    std::string broken = text_alone(digits, shown.broken), truth = text_alone(digits, shown.truth);
    if (broken == truth) std::tie(broken, truth) = format_apart(shown.broken, shown.truth);
    const Line symbol = slot_symbol(shown.cell.slot);
    const Line name = shown.cell.slot == s.cell.slot ? pieces("old ", symbol) : symbol;
    s.truth.cause = pieces(name, " = ", number(truth));
    s.broken.cause = pieces(name, " = ", number(broken));
}

// ---- The result

// The result that a slot belongs to: dQ for what is one row of queries, dK and dV for what grows there.
Slot result_of(const Lesson& lesson, Slot slot) {
    std::vector<Slot> known;
    for (Slot result : lesson.results)
        if (info(result).counts_elements) known.push_back(result);
    for (Slot result : known)
        if (std::string_view(info(slot).symbol) == info(result).symbol) return result;
    return known.front();
}

bool of_one_key(Slot slot) {
    const Role role = info(slot).role;
    return role == Role::K || role == Role::V;
}

bool row_differs(const Matrix& truth, const Matrix& broken, int r) {
    for (int c = 0; c < truth.cols(); ++c)
        if (!same_number(truth(r, c), broken(r, c))) return true;
    return false;
}

// The first of those that are furthest off, but for the last bits.
int furthest_column(const Matrix& truth, const Matrix& broken, int r) {
    int out = 0;
    double most = 0;
    for (int c = 0; c < truth.cols(); ++c) {
        const double far = distance(truth(r, c), broken(r, c));
        if (far > most * (1 + 1e-9) && !same_number(truth(r, c), broken(r, c))) most = far, out = c;
    }
    return out;
}

// The row of the result that the cell belongs to. Rows of parts, and those of the ranks of a ring, count from
// 0: there it is one of those that the step's worker, or kernel, stores later; −1: not to be told.
int row_of_result(const BrokenStep& s, const AppState& state, Slot result) {
    const Trace& trace = *s.truth.trace;
    const Lesson& lesson = trace.lesson();
    if (lesson.one_row) {
        const int first = trace.problem().options.row, rows = static_cast<int>(trace.result(result).rows());
        if (rows == 1) return first;
        return is_of_parts(s.cell.slot) ? first + s.cell.row % rows : s.cell.row;
    }
    const int k = state.cursor.step;
    if (!lesson.uses(parts_of_rows) || info(s.cell.slot).hbm) return s.cell.row;
    if (lesson.uses(chooses_sequences) && !is_of_parts(s.cell.slot)) return s.cell.row;
    int local = s.cell.row;
    for (const Access& a : trace.writes(k))
        if (a.slot == s.cell.slot && trace.value(a.value).region.contains(s.cell.row, s.cell.col))
            local -= trace.value(a.value).region.row;
    for (int later = k; later < trace.size() && trace.step(later).phase == trace.step(k).phase; ++later)
        for (const Access& a : trace.writes(later)) {
            if (a.slot != result) continue;
            const Region& at = trace.value(a.value).region;
            if (local < at.rows) return at.row + local;
            local -= at.rows;
        }
    return -1;
}

void follow_to_the_end(BrokenStep& s, const AppState& state) {
    const Comparison& found = *state.comparison;
    const Lesson& lesson = s.truth.trace->lesson();
    const int first = lesson.one_row ? s.truth.trace->problem().options.row : 0;
    Slot slot = result_of(lesson, s.cell.slot);
    Matrix truth = s.truth.trace->result(slot), broken = s.broken.trace->result(slot);
    const bool own = std::string_view(info(slot).symbol) == info(s.cell.slot).symbol;
    int row = own || !of_one_key(s.cell.slot) ? row_of_result(s, state, slot) - first : -1;
    const bool elsewhere = row < 0 || row >= truth.rows() || !row_differs(truth, broken, row);
    if (elsewhere && (!own || row < 0) && found.worst.step >= 0 &&
        !same_number(found.worst.truth, found.worst.broken)) {
        slot = found.worst.cell.slot;
        truth = s.truth.trace->result(slot), broken = s.broken.trace->result(slot);
        row = found.worst.cell.row - first;
    }
    row = std::clamp(row, 0, static_cast<int>(truth.rows()) - 1);
    const int col = own && s.cell.col < truth.cols() ? s.cell.col : furthest_column(truth, broken, row);
    s.end = {slot, first + row, col}, s.first_row = first;
    s.truth.end = truth(row, col), s.broken.end = broken(row, col);
    for (int r = 0; r < truth.rows(); ++r) s.wrong_rows.push_back(row_differs(truth, broken, r));
    s.truth.results = std::move(truth), s.broken.results = std::move(broken);
}

// The step divides, then the format rounds: the line has room for the division.
Line before_rounding(const Trace& trace, int k, const CellRef& cell) {
    Expr total, row_sum;
    for (std::size_t n = 0; n < trace.reads(k).size(); ++n) {
        const Slot slot = trace.reads(k)[n].slot;
        if (slot == Slot::Oi || slot == Slot::l)
            (slot == Slot::l ? row_sum : total) = num(trace, slot, read_value(trace, k, n, cell));
    }
    const Expr both = quotient(total, row_sum);
    return write(both, evaluate(both));
}

// The step that divides this element of the result; −1: none.
int divides_at(const Trace& trace, const CellRef& cell) {
    if (trace.lesson().uses(parts_of_rows)) return -1;  // its rows on chip are others
    for (int k = trace.size() - 1; k >= 0 && trace.lesson().division == Division::at_the_end; --k) {
        if (trace.step(k).op == Op::merge_output) return -1;  // what was divided has been merged
        if (trace.step(k).op == Op::normalize && written_value(trace, k, cell)) return k;
    }
    return -1;
}

// "≈ 11.804 ÷ 1.639", of the step that divides the row of the end.
Line quotient_of(const Trace& trace, const CellRef& end) {
    const CellRef cell{Slot::Oi, end.row, end.col};
    const int k = divides_at(trace, cell);
    if (k < 0) return {};
    const Explanation told = explain(trace, k, cell);
    const bool rounds = trace.problem().precision.any() && plain(told.numbers).find("÷") != std::string::npos;
    if (rounds) {
        const Line exact = before_rounding(trace, k, cell);
        return exact.empty() ? exact : pieces("≈ ", exact);
    }
    const bool near = !told.numbers.empty() && told.result.size() > 1 &&
                      told.result[told.result.size() - 2].text.ends_with("≈ ");
    return near ? pieces("≈ ", told.numbers) : Line(told.numbers);
}

// Of a quotient that comes out the same: by how much both of its numbers grew.
double growth_that_cancels(const BrokenStep& s) {
    const CellRef O{Slot::Oi, s.end.row, s.end.col};
    const int k = s.harmless() ? divides_at(*s.truth.trace, O) : -1;
    if (k < 0) return 1;
    const auto l = differs_at(s, {Slot::l, s.end.row, 0}, k);
    return l && l->truth != 0 && !same_number(l->truth, l->broken) ? l->broken / l->truth : 1;
}

}  // namespace

struct BrokenShown {
    std::shared_ptr<const Trace> truth, broken;
    int step = -1;
    CellRef cell;
    NumberStyle style;  ///< that its sentences were written in
    std::optional<BrokenStep> what;
};

const std::optional<BrokenStep>& shown_broken_step(AppState& state) {
    std::shared_ptr<BrokenShown>& last = state.broken;
    const CellRef cell = state.explanation.target;
    const bool same = last && last->truth == state.truth && last->broken == state.trace &&
                      last->step == state.cursor.step && last->cell == cell && last->style == number_style();
    if (!same)
        last = std::make_shared<BrokenShown>(BrokenShown{state.truth, state.trace, state.cursor.step, cell,
                                                         number_style(), broken_step(state)});
    return last->what;
}

Line part_title(const BrokenStep& step) {
    if (!is_of_parts(step.cell.slot)) return {};
    const Trace& trace = *step.broken.trace;
    const Op op = trace.step(step.step).op;
    // What is told of a load or a store are its bytes.
    if (is_load(op) || is_store(op)) return trace.lesson().symbol(trace, step.cell.slot, step.step, -1);
    const Line& result = step.broken.told.result;
    if (result.size() < 3) return {};
    return {result.begin(), result.end() - 2};
}

std::optional<BrokenStep> broken_step(const AppState& state) {
    if (!state.truth || !state.comparison || !state.comparison->mismatch.empty()) return {};
    const int k = state.cursor.step;
    const auto furthest = largest_difference(*state.truth, *state.trace, k);
    if (!furthest) return {};
    BrokenStep out;
    out.step = k;
    out.cell = state.explanation.target;
    const auto is = written_value(*state.trace, k, out.cell),
               should = written_value(*state.truth, k, out.cell);
    out.chosen = is && should && distance(*should, *is) > 0;
    if (!out.chosen) out.cell = furthest->cell;
    out.truth = side_of(*state.truth, k, out.cell);
    out.broken = side_of(*state.trace, k, out.cell);
    // Two bars tell the same story or none.
    if (out.truth.parts.size() != out.broken.parts.size())
        for (StageSide* side : {&out.truth, &out.broken})
            side->parts = {added({}, side->value, info(out.cell.slot).role)};
    out.cause = cause_of(out, state);
    tell_causes(out);
    follow_to_the_end(out, state);
    out.cancels = growth_that_cancels(out);
    out.truth.quotient = quotient_of(*state.truth, out.end);
    out.broken.quotient = quotient_of(*state.trace, out.end);
    return out;
}

}  // namespace tilewalk::ui
