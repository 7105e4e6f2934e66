// The row of scores with the handles of its split, and the parts as rows of one table, the result below.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/softmax/softmax.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// ---- The row of scores

struct SplitBar {
    float x, cw;        // of the first key, and from key to key
    float y, h;         // of the cells
    bool sink = false;  // has the place before the first key
    float at(int key) const { return x + px(key) * cw; }
    // Where the first part begins with it
    float begin(const MergeNow& now, int n) const {
        return at(now.parts[static_cast<std::size_t>(n)].first - (sink && n == 0 ? 1 : 0));
    }
};

// The number of key j, or of the sink before key 0.
void score(const Canvas& c, const MergeNow& now, const SplitBar& bar, double v, int j, double most) {
    const Theme& t = *c.theme;
    const bool own = j < 0 ? now.part == 0
                           : now.part >= 0 && j >= now.parts[static_cast<std::size_t>(now.part)].first &&
                                 j <= now.parts[static_cast<std::size_t>(now.part)].last();
    CellLook look{
        .state = CellState::idle, .role = Role::S, .masked = std::isinf(v), .text = {}, .before = {}};
    look.t = std::isinf(v) ? 0 : static_cast<float>(std::abs(v) / most);
    look.with_sign = v < 0;
    if (v < 0) look.t = -look.t;
    look.dim = now.part >= 0 && !own;
    look.size = size::small;
    const std::string text = format_short(v, 3);
    const float gap = bar.cw > 16 ? 3.0f : 1.0f;
    if (text_width(Face::mono, look.size, text) <= bar.cw - 2 * gap - 4) look.text = text;
    const float x = bar.at(j) + gap, w = bar.cw - 2 * gap;
    if (bar.cw < 9)
        c.rect(x, bar.y, w, bar.h, cell_fill(t, look));
    else
        cell(c, x, bar.y, w, bar.h, look);
    if (own && bar.cw > 12) c.dashed_frame(x, bar.y, w, bar.h, hue(t, Role::S), 2, {5, 3});
}

// A line across the row that can be dragged; handles at the same place (an empty part) lie beside each other.
void handle(const Canvas& c, AppState& state, const MergeNow& now, const SplitBar& bar, int n) {
    const Theme& t = *c.theme;
    const int key = now.parts[static_cast<std::size_t>(n)].first;
    int same = 0, before = 0;
    for (int other = 1; other < std::ssize(now.parts); ++other) {
        const bool here = now.parts[static_cast<std::size_t>(other)].first == key;
        same += here, before += here && other < n;
    }
    const float x = bar.at(key) + (px(before) - px(same - 1) / 2) * 12;
    const float top = bar.y - 8, bottom = bar.y + bar.h + 8, grip = same > 1 ? 12 : 16;
    const Hot hot =
        hot_area(c, "##split " + str(n), x - grip / 2, top, grip, bottom - top + 10, ItemKind::button);
    const bool lit = hot.hovered || hot.held || hot.focused;
    c.line({x, top}, {x, bottom}, lit ? t.focus : t.t1, 2);
    c.rect(x - 6, bar.y + bar.h / 2 - 11, 12, 22, lit ? t.focus : t.t1, 6);
    for (const float dy : {-5.0f, 0.0f, 5.0f})
        for (const float dx : {-2.0f, 2.0f}) c.disc(x + dx, bar.y + bar.h / 2 + dy, 1.1f, t.inv);
    if (hot.hovered)
        tooltip(c, "Split between parts " + part_letter(n - 1) + " and " + part_letter(n) +
                       ": drag it to another key");
    if (!hot.held) return;
    // Not beyond its neighbours: a part may be empty, but not negative.
    const KeyPart &left = now.parts[static_cast<std::size_t>(n - 1)],
                  &right = now.parts[static_cast<std::size_t>(n)];
    const int wanted = std::clamp(static_cast<int>(std::lround((c.mouse().x - bar.x) / bar.cw)), left.first,
                                  right.first + right.count);
    if (wanted == key) return;
    Options options = latest_problem(state).options;
    options.splits.clear();
    for (const KeyPart& part : now.parts) options.splits.push_back(part.count);
    options.splits[static_cast<std::size_t>(n - 1)] = wanted - left.first;
    options.splits[static_cast<std::size_t>(n)] = right.first + right.count - wanted;
    choose_merge(state, options);
}

// Below the row, which keys are in which part.
void part_names(const Canvas& c, const MergeNow& now, const SplitBar& bar) {
    const float y = bar.y + bar.h + (bar.h < 30 ? 14 : 18);
    float taken = bar.x - 100;
    for (int n = 0; n < std::ssize(now.parts); ++n) {
        const KeyPart& part = now.parts[static_cast<std::size_t>(n)];
        const float a = bar.begin(now, n) + 3, b = bar.at(part.first + part.count) - 3, mid = (a + b) / 2;
        const bool own = now.part == n, sink = bar.sink && n == 0;
        const std::string text =
            part.count == 0 ? part_letter(n) + (sink ? ": sink" : " empty") : "part " + part_letter(n);
        const std::string& name =
            text_width(Face::medium, size::small, text) <= std::max(b - a, 60.0f) ? text : part_letter(n);
        const float w = text_width(Face::medium, size::small, name);
        if (part.count > 0 || sink) {
            const float line = y - 9;
            c.line({a, line}, {b, line}, own ? c.theme->t1 : c.theme->line2, own ? 2.0f : 1.2f);
        }
        if (mid - w / 2 < taken + 4) continue;
        c.text(mid, y + 3, name, size::small, own ? c.theme->t1 : c.theme->t2, Face::medium, Align::center);
        taken = mid + w / 2;
    }
}

// ---- The table

struct Column {
    Slot slot;
    const char* word;
    const char* way;  // from the parts to the result
    float x = 0, cw = 0;
    int cols = 1, first = 0, digits = 0;
    bool as_formula = false;  // with the decimals that the formula has more
    float w() const { return cw * px(cols); }
};

constexpr float head_h = 26, row_gap = 10, usual_name_w = 52, arrow_h = 26;
constexpr float least_cell = 40, least_far_cell = 28, widest_cell = 60, cell_pad = 5;

// Of the column of names: words are wider than letters.
float name_width(const MergeNow& now, bool on_stage) {
    return now.shared ? 66.0f : on_stage ? 44.0f : usual_name_w;
}
// Between columns, narrower where the numbers are large.
float gap_of_columns(bool on_stage) { return on_stage ? 9.0f : 12.0f; }

// Letters that its numbers have more in the formula.
int more_in_formula(const AppState& state, Slot slot, int digits) {
    return std::max(0, formula_decimals(state, slot) - state.look[slot].digits.decimals(digits));
}

// The longest number of a column, among the parts and the result; where it says so with the decimals of the
// formula.
float number_w(const AppState& state, Slot slot, int digits, float text, bool as_formula = false) {
    const auto letters_of = [&](Slot one) {
        return state.look[one].letters_with(digits) + (as_formula ? more_in_formula(state, one, digits) : 0);
    };
    const int letters = std::max(letters_of(slot), letters_of(whole_slot(slot)));
    return std::max(far_type() ? least_far_cell : least_cell, px(letters) * size::mono * text + cell_pad);
}

// Widths with which the table fits: with all digits as large as may be, then with fewer digits of O; of a
// wide O as many columns as have room, round that of the formula.
struct TableRoom {
    float w;
    bool high, on_stage;
};
float fit_columns(const AppState& state, std::vector<Column>& columns, const TableRoom& room, float name_w) {
    const int d = state.problem->d(), full = number_style().digits;
    const float left = room.w - name_w - gap_of_columns(room.on_stage) * px(columns.size() - 1) - 6;
    Column& O = columns.back();
    const auto singles = [&](float text, bool as_formula) {
        float w = 0;
        for (Column& column : columns) {
            column.digits = full, column.as_formula = as_formula;
            column.cw = number_w(state, column.slot, full, text, as_formula);
            if (&column != &O) w += column.cw;
        }
        return w;
    };
    const auto fits = [&](const NumberSize& some, bool as_formula) {
        if (some.size > size::small && !room.high) return false;
        const float w = singles(some.size, as_formula);
        O.digits = some.digits;
        if (!as_formula) O.cw = number_w(state, O.slot, some.digits, some.size);
        const float spare = left - w - px(d) * O.cw;
        if (spare < 0) return false;
        const float each = spare / px(static_cast<int>(columns.size()) - 1 + d);
        for (Column& column : columns)
            column.cw = std::min(column.cw + each, std::max(column.cw, widest_cell));
        O.cols = d;
        return true;
    };
    std::vector<NumberSize> sizes = number_sizes();
    // On stage a slide has one precision: rather fewer digits for all of it, or fewer columns.
    if (!room.on_stage) sizes.push_back({size::small, 2});
    // There the cells have the decimals of the formula, if these have room.
    for (const bool as_formula : {true, false})
        for (const NumberSize& some : sizes)
            if ((room.on_stage || !as_formula) && fits(some, as_formula)) return some.size;
    if (room.on_stage) O.digits = full, O.cw = number_w(state, O.slot, full, size::small);
    const float rest = left - singles(size::small, false);
    O.cols = std::clamp(static_cast<int>(rest / O.cw), 1, d);
    O.first = std::clamp(merge_column(state) - O.cols / 2, 0, d - O.cols);
    return size::small;
}

// m, w, ℓ, O, or L, w, O
std::vector<Column> columns_for(const MergeNow& now) {
    std::vector<Column> out;
    // Once the result is divided its parts still are not.
    const Op op = now.trace.step(now.k).op;
    const bool divided = op == Op::normalize || op == Op::store;
    if (now.normalised)
        out = {{Slot::L_part, "ln Σ exp", "ln Σ exp"},
               {Slot::w_part, "weight", ""},
               {Slot::O_part, "divided", "Σ w O"}};
    else
        out = {
            {Slot::m_part, "max", "max"},
            {Slot::w_part, "weight", ""},
            {Slot::l_part, "sum", "Σ w ℓ"},
            {Slot::O_part, divided ? "parts not divided" : "not divided", divided ? "(Σ w O) ÷ ℓ" : "Σ w O"}};
    return out;
}

// "w_A ℓ_A + w_B ℓ_B" of a formula, closed up.
Line right_side(const Line& formula) {
    static constexpr std::string_view arrow = "←";
    const auto at = std::ranges::find_if(
        formula, [](const Span& span) { return span.text.find(arrow) != std::string::npos; });
    Line out(at, formula.end());
    if (out.empty()) return out;
    std::string& first = out.front().text;
    first.erase(0, first.find(arrow) + arrow.size());
    first.erase(0, std::min(first.find_first_not_of(' '), first.size()));
    for (Span& span : out) span.text = replaced(span.text, "  ", " ");
    return out;
}

struct Table {
    const Canvas& c;
    AppState& state;
    const MergeNow& now;
    Rect a;
    float ch;
    std::vector<Column> columns = columns_for(now);
    float name_w = name_width(now, far_type()), column_gap = gap_of_columns(far_type());
    float number_size = fit_columns(state, columns, {a.w, ch >= 30, far_type()}, name_w);

    void place_columns() {
        float x = name_w;
        for (Column& column : columns) column.x = x, x += column.w() + column_gap;
    }

    bool touched(std::span<const Access> accesses, Slot slot, int tile) const {
        return std::ranges::any_of(accesses,
                                   [&](const Access& x) { return x.slot == slot && x.tile == tile; });
    }

    void tile(const Column& column, Slot slot, int tile, Held held, float y, const std::string& widget) {
        const Trace& trace = now.trace;
        MatrixLook look;
        look.slot = slot;
        look.value = held.value;
        look.x = a.x + column.x, look.y = y, look.cw = column.cw, look.ch = ch, look.size = number_size;
        look.region = {tile, 0, 1, column.cols};
        look.boxes = true;
        const bool one_of_several = held && held.value->region.rows > 1;
        const bool read = touched(trace.reads(now.k), slot, tile);
        if (!held)
            look.state = CellState::pending;
        else if (held.step == now.k) {
            look.state = CellState::written;
            look.fade = transition(state);
        } else if (read)
            look.state = CellState::read;
        look.dim = !read && !(held && held.step == now.k);
        if (held && (one_of_several || column.cols < held.value->region.cols)) {
            const Region& at = held.value->region;
            look.window = Region{at.row + std::min(now.row, at.rows - 1), column.first, 1, column.cols};
        }
        look.digits = column.digits, look.measured = true;
        if (column.as_formula) look.form = NumberForm::as_formula;
        matrix(c, state, look, widget.c_str());
    }

    void heads(float y) {
        for (const Column& column : columns) {
            const float w = c.rich(a.x + column.x, y, {slot_symbol(column.slot).front()}, size::symbol);
            const float room = column.w() + column_gap - w - 16;
            std::string word = column.word;
            if (column.slot == Slot::O_part && column.cols < state.problem->d()) {
                const std::string which = column.cols == 1 ? "column " + str(column.first)
                                                           : "columns " + str(column.first) + "–" +
                                                                 str(column.first + column.cols - 1);
                const std::string both = word + ", " + which;
                word = !word.empty() && text_width(Face::regular, size::small, both) <= room ? both : which;
            }
            if (text_width(Face::regular, size::small, word) <= room)
                c.text(a.x + column.x + w + 6, y, word, size::small, c.theme->t3);
        }
    }

    void name(float y, const std::string& text, const std::string& keys, bool strong) {
        const bool two = ch >= 36 && !keys.empty();
        const float mid = y + ch / 2;
        c.text(a.x + name_w - 14, two ? mid - 8 : mid, text, size::body, strong ? c.theme->t1 : c.theme->t2,
               Face::semibold, Align::right);
        if (two) c.text(a.x + name_w - 14, mid + 9, keys, size::small, c.theme->t3, Align::right);
    }

    std::string keys_of(int tile) const {
        if (tile >= static_cast<int>(now.parts.size())) return {};
        const KeyPart& part = now.parts[static_cast<std::size_t>(tile)];
        const bool sink = tile == 0 && now.trace.problem().logits.sink && !now.shared;
        if (part.count == 0) return sink ? "sink" : "empty";
        if (sink) return "+ sink";
        return part.count == 1 ? str(part.first) : str(part.first) + "–" + str(part.last());
    }

    // As many rows as fit, those of this step among them.
    std::vector<int> shown_rows(float room) const {
        std::vector<int> all = now.rows();
        const auto most = static_cast<std::size_t>(std::max(1.0f, (room + row_gap) / (ch + row_gap) + .01f));
        if (all.size() <= most) return all;
        const std::size_t at = now.part >= 0 ? static_cast<std::size_t>(now.part) : 0;
        const std::size_t first = std::min(at - std::min(at, most / 2), all.size() - most);
        return {all.begin() + static_cast<std::ptrdiff_t>(first),
                all.begin() + static_cast<std::ptrdiff_t>(first + most)};
    }

    // Beside an arrow what goes that way: of the step at hand as its formula has it, with its signs.
    struct Way {
        float x, y;                ///< of the arrow and of its words
        float right, wide, taken;  ///< room at its right, up to the next arrow, and where other words end
        bool apart;                ///< at its left stands no arrow
        bool current;
    };
    float draw_way(const Way& at, const char* words) const {
        const ImU32 ink = at.current ? c.theme->t1 : c.theme->t3;
        const Line formula =
            at.current && is_merge(op_now(state)) ? right_side(state.explanation.formula) : Line{};
        const std::pair<Line, float> choices[] = {{formula, at.wide}, {{word(words)}, at.right}};
        for (const auto& [line, room] : choices) {
            const float w = line.empty() ? 0 : rich_width(c, line, size::small);
            // Else at its left, where no arrow stands.
            const bool at_right = w <= room;
            if (line.empty() || (!at_right && (!at.apart || at.x - 9 - w < at.taken + 8))) continue;
            c.rich(at_right ? at.x + 9 : at.x - 9, at.y, line, size::small,
                   at_right ? Align::left : Align::right, ink);
            return at.x + 9 + (at_right ? w : 0);
        }
        return at.taken;
    }

    // `taken`: up to there other words stand.
    void ways(float from, float to, float taken) {
        const bool stores = op_now(state) == Op::store;  // L has its letter over the weights
        for (std::size_t n = 0; n < columns.size(); ++n) {
            const Column& column = columns[n];
            if (!*column.way) {
                if (stores) taken = a.x + column.x + 18;
                continue;
            }
            const Slot result = now.result_slot(column.slot);
            const bool current = touched(now.trace.writes(now.k), result, now.result_tile());
            const float x = a.x + column.x + column.w() / 2;
            c.arrow({{x, from}, {x, to}}, current ? ArrowStyle::link : ArrowStyle::idle);
            // Up to the next arrow; there is none below the weights.
            const bool last = n + 1 == columns.size(), free = !last && !*columns[n + 1].way && !stores;
            const float right = column.w() / 2 + column_gap - 12 + (free ? columns[n + 1].w() : 0),
                        beyond = last || free || !*columns[n + 1].way ? 0 : columns[n + 1].w() / 2 - 8;
            const bool apart = n == 0 || !*columns[n - 1].way;
            taken =
                draw_way({x, (from + to) / 2 - 2, right, right + beyond, taken, apart, current}, column.way);
        }
    }

    void draw() {
        place_columns();
        heads(a.y + 10);
        float y = a.y + head_h;
        const float result_h = arrow_h + ch + row_gap;
        const std::vector<int> rows = shown_rows(a.bottom() - y - result_h);
        for (const int row : rows) {
            name(y, now.name(row), keys_of(row), row == now.part || now.node >= 0);
            for (const Column& column : columns)
                tile(column, column.slot, row, now.trace.live(column.slot, row, now.k), y,
                     "part " + str(row));
            y += ch + row_gap;
        }
        const bool merging = now.node >= 0;
        const std::size_t hidden = now.rows().size() - rows.size();
        if (merging) ways(y - row_gap + 6, y - row_gap + arrow_h - 2, a.x + (hidden > 0 ? name_w : 0));
        if (hidden > 0)
            c.text(a.x, y - row_gap + arrow_h / 2, "+" + str(static_cast<int>(hidden)) + " more", size::small,
                   c.theme->t3);
        y += arrow_h - row_gap + 4;
        if (!merging) return;
        name(y, now.result_name(), now.whole() ? "whole" : "", true);
        for (const Column& column : columns)
            if (column.slot != Slot::w_part)
                tile(column, now.result_slot(column.slot), now.result_tile(), now.held_result(column.slot), y,
                     "merged");
        if (!now.normalised && op_now(state) == Op::store) left_behind(y);
    }

    // L as it lies in HBM, in the place of the weights, which a result has not.
    void left_behind(float y) {
        const Access& last = now.trace.writes(now.k).back();
        Column place = *std::ranges::find(columns, Slot::w_part, &Column::slot);
        place.digits = digits_in(state, last.slot, place.cw, number_size);
        c.rich(a.x + place.x, y - arrow_h / 2 - 2, {slot_symbol(last.slot).front()}, size::symbol);
        tile(place, last.slot, last.tile, now.trace.live(last.slot, last.tile, now.k), y, "stored");
    }

    float width() const {
        const Column& last = columns.back();
        return last.x + last.w() + 6;
    }
};

}  // namespace

int digits_in(const AppState& state, Slot slot, float cw, float text) {
    for (const int digits : digit_choices(2))
        if (px(state.look[slot].letters_with(digits)) * size::mono * text <= cw - 5) return digits;
    return 0;
}

bool parts_have_all_digits(const AppState& state, float stage_w) {
    const MergeNow now(state);
    std::vector<Column> columns = columns_for(now);
    fit_columns(state, columns, {stage_w / size::far_growth - beside_parts, false, true},
                name_width(now, true));
    return columns.back().digits == number_style().digits;
}

float split_height(bool low) { return low ? 66.0f : 86.0f; }

void draw_split(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a, bool low) {
    const Matrix S = softmax_scores(now.trace.problem());
    const int N = static_cast<int>(S.cols());
    const float left = a.w < 300 ? 30 : usual_name_w, head = low ? 14 : 18, h = low ? 24 : 30;
    const std::optional<double> sink = now.trace.problem().logits.sink;
    SplitBar bar{a.x + left, std::min(64.0f, (a.w - left) / px(N + (sink ? 1 : 0))), a.y + head, h,
                 sink.has_value()};
    double most = std::max(1e-300, std::abs(sink.value_or(0)));
    for (int j = 0; j < N; ++j)
        if (std::isfinite(S(0, j))) most = std::max(most, std::abs(S(0, j)));
    if (sink) {
        bar.x += bar.cw;
        score(c, now, bar, *sink, -1, most);
        if (text_width(Face::regular, size::small, "sink") <= bar.cw - 2)
            c.text(bar.at(-1) + bar.cw / 2, a.y + (low ? 3 : 6), "sink", size::small, c.theme->t3,
                   Align::center);
    }
    c.rich(a.x + left - 14, bar.y + h / 2, {symbol("S", Role::S)}, size::symbol, Align::right);
    const bool numbered = text_width(Face::regular, size::small, str(N - 1)) <= bar.cw - 2;
    for (int j = 0; j < N; ++j) {
        score(c, now, bar, S(0, j), j, most);
        if (!numbered) continue;
        const std::string word = now.trace.problem().key_token(j),
                          full = word.empty() ? "key " + str(j) : word;
        const bool room = text_width(Face::regular, size::small, full) <= bar.cw - 4;
        c.text(bar.at(j) + bar.cw / 2, a.y + (low ? 3 : 6), room ? full : str(j), size::small, c.theme->t3,
               Align::center);
    }
    part_names(c, now, bar);
    for (int n = 1; n < std::ssize(now.parts); ++n) handle(c, state, now, bar, n);
}

float draw_parts(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const float rows = std::max(2.0f, std::min(4.0f, px(now.rows().size()))) + 1;
    float ch = std::clamp((a.h - head_h - arrow_h - rows * row_gap) / rows, 24.0f, 46.0f);
    // Lower rows, before one of those that are merged is hidden
    if (now.node >= 0 && ch == 24)
        ch = std::clamp((a.h - head_h - arrow_h - (rows - 1) * row_gap) / rows, 18.0f, 24.0f);
    Table table{c, state, now, a, ch};
    table.draw();
    return table.width();
}

}  // namespace tilewalk::ui
