// Why any split of a row gives the same, with its own numbers: the terms of the keys seen first, measured
// from the maximum that was, times α, and below them the same terms measured from the new maximum at once.
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/kit/canvas_cell.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr int most_keys = 6;  // that have room beside each other with their numbers

/// A row of scores, and where its maximum rose for the last time.
struct Split {
    std::vector<double> scores;
    int first = 0;  ///< keys that were measured from the old maximum
    double before = 0, now = 0, alpha = 0;
    double sum_before = 0, sum = 0;  ///< ℓ as the walk has it
};

double of_row(const Trace& trace, int k, Slot slot, int row) {
    return value_at(*value_in(trace, trace.writes(k), slot), {slot, row, 0});
}

// What one step of the row's query block says of it.
void note(Split& out, const Trace& trace, int k, int row) {
    const Step& step = trace.step(k);
    switch (step.op) {
    case Op::scores:
    case Op::softcap:
    case Op::bias:
    case Op::mask: {
        const Value& S = *value_in(trace, trace.writes(k), Slot::S);
        out.scores.resize(static_cast<std::size_t>(S.region.col));  // a mask writes them anew
        for (int c = 0; c < S.region.cols; ++c) out.scores.push_back(S.data(row - S.region.row, c));
        return;
    }
    case Op::correction: {
        const double alpha = of_row(trace, k, Slot::alpha, row);
        const Value &m_old = *value_in(trace, trace.reads(k), Slot::m, 0),
                    &m = *value_in(trace, trace.reads(k), Slot::m, 1);
        const auto at = [&](const Value& v) { return v.data(row - v.region.row, 0); };
        if (!(alpha > 0 && alpha < 1)) return;
        out.before = at(m_old), out.now = at(m), out.alpha = alpha;
        out.first = step.j * trace.problem().Bc;
        const Held held = trace.live(Slot::l, k);
        out.sum_before = held.value->data(row - held.value->region.row, 0);
        return;
    }
    case Op::row_sum: out.sum = of_row(trace, k, Slot::l, row); return;
    default: return;
    }
}

std::optional<Split> split_of(const AppState& state) {
    const Trace& trace = *state.trace;
    const int i = step_now(state).i;
    if (i < 0 || trace.problem().N_kv() > most_keys || trace.problem().broken()) return {};
    const int row = std::clamp(state.explanation.target.row, i * trace.problem().Br, trace.problem().N() - 1);
    Split out;
    for (int k = 0; k <= state.cursor.step; ++k)
        if (trace.step(k).i == i) note(out, trace, k, row);
    const bool whole = static_cast<int>(out.scores.size()) == trace.problem().N_kv();
    // A sink or rounded numbers would have it miss.
    double at_once = 0;
    for (const double S : out.scores) at_once += std::exp(S - out.now);
    const bool same = std::abs(at_once - out.sum) <= 1e-9 * out.sum;
    return whole && same && out.first > 0 ? std::optional(out) : std::nullopt;
}

Line power(double score, double max) {
    const auto signed_text = [](double v) { return format_short(v); };
    const std::string minus = max < 0 ? " − (" + signed_text(max) + ")" : " − " + signed_text(max);
    return {word("exp(" + signed_text(score)), word(minus, Role::m), word(")")};
}

/// Lengths of the table: the words of a row at the left, a column for each key, the sum at the right.
struct Table {
    const Canvas& c;
    Rect area;
    float words, sum, column, head, row;
    const MatrixDigits& digits;

    float key_x(int key) const { return area.x + words + column * px(key); }
    float row_y(int n) const { return area.y + head + row * px(n); }
};

Table table_in(const Canvas& c, const Rect& a, int keys, const MatrixDigits& digits) {
    const float words = std::clamp(a.w * .225f, 128.0f, 160.0f), sum = std::clamp(a.w * .1f, 52.0f, 80.0f),
                head = 20;
    return {c, a, words, sum, (a.w - words - sum) / px(keys), head, (a.h - head) / 3, digits};
}

// A term: what it is made of, where that has room, and what it comes to.
void term(const Table& t, int key, int n, const Line& made_of, double value, bool old) {
    const Theme& theme = *t.c.theme;
    const Rect a{t.key_x(key) + 2, t.row_y(n) + 2, t.column - 4, t.row - 4};
    CellLook look{.role = Role::S, .t = px(value), .dim = old};
    cell(t.c, a.x, a.y, a.w, a.h, look);
    const ImU32 ink = ink_on(theme, cell_fill(theme, look));
    const std::string text = t.digits.text(value);
    if (a.h < 2.35f * size::small || rich_width(t.c, made_of, size::small) + 6 > a.w)
        return void(t.c.text(a.x + a.w / 2, a.middle(), text, a.h < 15 ? size::small : size::body, ink,
                             Face::mono_bold, Align::center));
    t.c.text(a.x + a.w / 2, a.middle() - .62f * size::small, plain(made_of), size::small, ink, Align::center);
    t.c.text(a.x + a.w / 2, a.middle() + .5f * size::body, text, size::body, ink, Face::mono_bold,
             Align::center);
}

void words_of_row(const Table& t, int n, const Line& words) {
    for (const float size : {size::body, size::small})
        if (size == size::small || rich_width(t.c, words, size) < t.words - 8)
            return void(t.c.rich(t.area.x, t.row_y(n) + t.row / 2, words, size, Align::left, t.c.theme->t2));
}

void sum_of_row(const Table& t, int n, double sum) {
    t.c.text(t.area.right(), t.row_y(n) + t.row / 2, format_number(sum), size::body, t.c.theme->t1,
             Face::mono_bold, Align::right);
}

void head(const Table& t, const Split& split) {
    const Theme& theme = *t.c.theme;
    const float y = t.area.y + t.head / 2;
    for (int key = 0; key < static_cast<int>(split.scores.size()); ++key) {
        const Line score = pieces(symbol("S", Role::S), " = ",
                                  number(format_short(split.scores[static_cast<std::size_t>(key)])));
        Line name = pieces("key " + str(key) + ": ", score);
        if (rich_width(t.c, name, size::small) > t.column - 6) name = score;
        t.c.rich(t.key_x(key) + t.column / 2, y, name, size::small, Align::center, theme.t2);
    }
    t.c.rich(t.area.right(), y, pieces("sum ", slot_symbol(Slot::l)), size::small, Align::right, theme.t2);
}

// The equal columns, and where the row was cut.
void signs(const Table& t, const Split& split) {
    const Theme& theme = *t.c.theme;
    const float cut = t.key_x(split.first);
    t.c.dashed_line({cut, t.area.y}, {cut, t.row_y(2) - 2}, theme.t2, 1.4f, {5, 4});
    const float y = t.row_y(2);
    t.c.line({t.area.x, y}, {t.area.right(), y}, theme.line2, 1);
    if (t.row < 25) return;
    const Rect plate{t.area.x + t.words - 34, y - 9, 26, 18};
    t.c.rect(plate.x, plate.y, plate.w, plate.h, theme.well);
    t.c.text(plate.x + plate.w / 2, y, "=", size::symbol, theme.t1, Face::semibold, Align::center);
}

}  // namespace

bool proves_split(const AppState& state) {
    return points_at(state, "Proof") && at_stop(state) && split_of(state);
}

void draw_split_proof(const Canvas& c, const AppState& state, const Rect& a) {
    const auto split = split_of(state);
    if (!split) return;
    const auto keys = static_cast<int>(split->scores.size());
    const Table t = table_in(c, a, keys, state.trace->digits(Slot::P));
    head(t, *split);
    const Line from{word("from "), symbol("m", Role::m)};
    words_of_row(t, 0, pieces(from, sub("old", Role::m), " = ", number(format_short(split->before))));
    words_of_row(t, 1,
                 pieces("times ", symbol("α", Role::alpha), " = ", number(format_number(split->alpha))));
    words_of_row(t, 2, pieces("at once ", from, " = ", number(format_short(split->now))));
    for (int key = 0; key < keys; ++key) {
        const double S = split->scores[static_cast<std::size_t>(key)], at_once = std::exp(S - split->now);
        const Line made_at_once = power(S, split->now);
        if (key < split->first) {
            const double old = std::exp(S - split->before);
            term(t, key, 0, power(S, split->before), old, true);
            const Line shrunk{word(t.digits.text(old) + " · " + format_number(split->alpha))};
            term(t, key, 1, shrunk, old * split->alpha, false);
        } else {
            term(t, key, 1, made_at_once, at_once, false);
        }
        term(t, key, 2, made_at_once, at_once, false);
    }
    sum_of_row(t, 0, split->sum_before);
    sum_of_row(t, 1, split->sum);
    sum_of_row(t, 2, split->sum);
    signs(t, *split);
}

}  // namespace tilewalk::ui
