#include "app/ui/parts/stage_broken.h"

#include "app/ui/kit/items.h"
#include "app/ui/state/trace_look.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk::ui {

namespace {

constexpr float edge = 20;        // from the border of a pane to what it holds
constexpr float between = 16;     // the panes
constexpr float bar_w = 104;      // of the bar of the value
constexpr float end_w = 246;      // of the column that shows the result
constexpr float foot_h = 60;      // value and difference
constexpr float top_h = 112;      // title and cause
constexpr float label_h = 37;     // of a line beside the bar
constexpr float least_part = 38;  // a part of the bar that is lower has its number beside it
constexpr float most_cell = 26;   // of the map of the result
constexpr float value_size = 36;  // of the number at the foot
constexpr int short_number = 9;   // of a number without marked digits

// Bars of both panes to one scale, standing on one line.
struct Bars {
    double up = 0, down = 0;
    float y = 0, h = 0;
    float length(double v) const {
        return up + down > 0 ? h * static_cast<float>(std::abs(v) / (up + down)) : 0.0f;
    }
    float zero() const { return y + length(up) + (up + down > 0 ? 0 : h); }
    float at(double v) const { return v < 0 ? zero() + length(v) : zero() - length(v); }
};

Bars bars_of(const BrokenStep& s, float y, float h) {
    Bars bars{0, 0, y, h};
    for (const double v : {s.truth.value, s.broken.value}) {
        if (!std::isfinite(v)) continue;
        bars.up = std::max(bars.up, v), bars.down = std::max(bars.down, -v);
    }
    return bars;
}

struct Pane {
    const Canvas& c;
    const BrokenStep& step;
    const StageSide& side;
    bool broken, rounded;
    bool moves;  // it computes nothing: its numbers are bytes
    Rect a;
    Bars bars;

    float x() const { return a.x + edge; }
    float right() const { return a.right() - edge; }
    float end_x() const { return right() - end_w; }
    float foot_y() const { return a.bottom() - foot_h; }
    float label_x() const { return x() + bar_w + 16; }
    float label_w() const { return end_x() - 12 - label_x(); }
    const Theme& theme() const { return *c.theme; }
    ImU32 alarm() const { return !broken || rounded ? theme().t1 : theme().danger; }
    bool has_line() const {
        return !rounded && std::isfinite(step.truth.value) && std::isfinite(step.broken.value) &&
               bars.up + bars.down > 0;
    }
    float line_y() const { return bars.at(step.truth.value); }
};

// ---- Numbers

// A number as one of the two panes has it; of rounded ones the digits that differ are marked.
struct Shown {
    std::string text;
    std::size_t same = 0;
    bool marked = false;
};

Shown shown(const Pane& p, double truth, double broken) {
    const double value = p.broken ? broken : truth;
    if (same_number(truth, broken) || !std::isfinite(truth) || !std::isfinite(broken))
        return {format_short(value)};
    const auto [is, should] = format_apart(broken, truth);
    if (!p.rounded && std::max(letter_count(is), letter_count(should)) <= short_number + 2)
        return {p.broken ? is : should};
    const NineDigits nine = nine_digits(truth, broken);
    return {p.broken ? nine.broken : nine.truth, nine.same, true};
}

struct NumberLook {
    float size;
    ImU32 colour;
    Align align = Align::left;
    float room = end_w;
    bool bold = false;
};

float shown_size(const Shown& number, const NumberLook& look) {
    for (const float size : {look.size, 34.0f, 30.0f, 28.0f})
        if (size <= look.size && text_width(Face::mono, size, number.text) <= look.room) return size;
    return size::far;
}

float draw_shown(const Canvas& c, float x, float y, const Shown& number, const NumberLook& look) {
    const float size = shown_size(number, look);
    if (!number.marked) {
        const bool bold = look.bold && (size == 36 || size == 30 || size <= 28);
        return c.text(x, y, number.text, size == 36 && !bold ? 34 : size, look.colour,
                      bold ? Face::mono_bold : Face::mono, look.align);
    }
    const std::string_view all = number.text, head = all.substr(0, number.same),
                           tail = all.substr(head.size());
    const float mono = size == 36 ? 34 : size, w = text_width(Face::mono, mono, all),
                head_w = text_width(Face::mono, mono, head), left = aligned(x, w, look.align);
    if (!head.empty()) c.text(left, y, head, mono, look.colour, Face::mono);
    if (tail.empty()) return w;
    c.rect(left + head_w - 1, y - mono * .6f, w - head_w + 2, mono * 1.2f, c.theme->t1, 3);
    c.text(left + head_w, y, tail, mono, c.theme->inv, Face::mono);
    return w;
}

// Text that the dashed line may not cross.
void clear_ground(const Canvas& c, float x, float y, float w, float h) {
    c.rect(x - 6, y - h / 2, w + 12, h, c.theme->panel, 3);
}

std::string index_words(const CellRef& cell) {
    return str(cell.row) + (one_column(cell.slot) ? "" : "," + str(cell.col));
}

Line named(const CellRef& cell) {
    return pieces(slot_symbol(cell.slot), sub(index_words(cell), info(cell.slot).role));
}

// ---- The bar

ImU32 fill_of(const Theme& theme, Role role) { return ramp(theme, role, .8f); }

void hatched(const Pane& p, float from, float to) {
    const float top = std::min(from, to), h = std::abs(to - from);
    if (h < 4) return;
    p.c.hatch(p.x() + 2, top + 1, bar_w - 4, h - 2, p.theme().danger, 13, 2.4f);
}

// The stretch between two values, measured from 0, and what of it should not be there.
void draw_part(const Pane& p, std::size_t n, double from) {
    const BarPart& part = p.side.parts[n];
    const float y0 = p.bars.at(from), y1 = p.bars.at(from + part.value), top = std::min(y0, y1),
                h = std::max(2.0f, std::abs(y1 - y0));
    const Theme& t = p.theme();
    p.c.rect(p.x(), top, bar_w, h, fill_of(t, part.role), radius::bar);
    if (p.broken && !p.rounded) {
        const double should = p.step.truth.parts[n].value;
        if (should * part.value < 0)
            hatched(p, y0, y1);
        else if (std::abs(part.value) > std::abs(should))
            hatched(p, p.bars.at(from + should), y1);
    }
    p.c.frame(p.x(), top, bar_w, h, hue(t, part.role), 2, radius::bar);
}

void draw_part_number(const Pane& p, const BarPart& part, double from) {
    const float y0 = p.bars.at(from), y1 = p.bars.at(from + part.value), middle = (y0 + y1) / 2;
    if (std::abs(y1 - y0) < least_part) return;
    const std::string text = format_short(part.value);
    const float w = text_width(Face::mono, size::far, text);
    if (w > bar_w - 12) return;
    const ImU32 fill = fill_of(p.theme(), part.role);
    p.c.rect(p.x() + (bar_w - w) / 2 - 5, middle - 17, w + 10, 34, fill, 3);
    p.c.text(p.x() + bar_w / 2, middle, text, size::far, ink_on(p.theme(), fill), Face::mono, Align::center);
}

// What the bar lacks of the true one.
void draw_missing(const Pane& p) {
    const double is = p.step.broken.value, should = p.step.truth.value;
    if (!p.broken || p.rounded || is * should < 0 || std::abs(is) >= std::abs(should)) return;
    const float y0 = p.bars.at(is), y1 = p.bars.at(should), top = std::min(y0, y1), h = std::abs(y1 - y0);
    hatched(p, y0, y1);
    p.c.dashed_frame(p.x() + 1, top, bar_w - 2, h, p.theme().danger, 2);
}

// In place of a bar: NaN and ∞ are no lengths.
void draw_no_length(const Pane& p) {
    const Theme& t = p.theme();
    const float h = 96, y = p.bars.y + p.bars.h - h;
    const ImU32 fill = p.broken && !p.rounded ? t.danger : t.raised;
    p.c.rect(p.x(), y, bar_w, h, fill, radius::card);
    p.c.frame(p.x(), y, bar_w, h, p.broken ? t.t1 : t.line2, 2, radius::card);
    p.c.text(p.x() + bar_w / 2, y + h / 2, format_short(p.side.value), 36, ink_on(t, fill), Face::mono_bold,
             Align::center);
}

void draw_bar(const Pane& p) {
    if (!std::isfinite(p.side.value)) return draw_no_length(p);
    p.c.line({p.x() - 6, p.bars.zero()}, {p.x() + bar_w + 6, p.bars.zero()}, p.theme().line2, 2);
    double from = 0;
    for (std::size_t n = 0; n < p.side.parts.size(); from += p.side.parts[n++].value) draw_part(p, n, from);
    draw_missing(p);
}

// The true height across both panes.
void draw_true_line(const Pane& p) {
    if (!p.has_line()) return;
    const float from = p.broken ? p.a.x : p.x() + bar_w, to = p.broken ? p.label_x() + 12 : p.a.right();
    p.c.dashed_line({from, p.line_y()}, {to, p.line_y()}, p.theme().t1, 2, {8, 5});
}

// Its number at the end, if that is wrong, in the colour of what is wrong.
float draw_alarming(const Pane& p, float x, float y, const Line& line, float size, bool wrong) {
    if (!wrong || line.empty() || line.back().face != Span::Face::number) return p.c.rich(x, y, line, size);
    const float w = p.c.rich(x, y, Line(line.begin(), line.end() - 1), size);
    return w + p.c.text(x + w, y, line.back().text, size, p.alarm(), Face::mono);
}

// ---- Beside the bar

struct BarLabel {
    float y;
    Line line;
    bool wrong = false;  // the number in it
};

// From above to below, no two on each other.
void set_apart(std::vector<BarLabel>& labels, float top, float bottom) {
    std::ranges::sort(labels, {}, &BarLabel::y);
    float least = top + label_h / 2;
    for (BarLabel& label : labels) label.y = std::max(label.y, least), least = label.y + label_h;
    float most = bottom - label_h / 2;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
        label->y = std::min(label->y, most), most = label->y - label_h;
}

// With what does not fit left out: the number, then the first word.
std::optional<Line> fitting_label(const Pane& p, const BarPart& part, bool with_number) {
    const Line number_too = pieces(part.label, "  ", number(format_short(part.value)));
    const Line short_label(part.label.begin() + !part.label.empty(), part.label.end());
    for (const Line& line : {with_number ? number_too : part.label, part.label, short_label})
        if (!line.empty() && rich_width(p.c, line, size::far) <= p.label_w()) return line;
    return {};
}

std::optional<BarLabel> true_label(const Pane& p) {
    if (!p.broken || !p.has_line()) return {};
    Pane truth = p;
    truth.broken = false;
    const Line line = pieces("true ", number(shown(truth, p.step.truth.value, p.step.broken.value).text));
    if (rich_width(p.c, line, size::far) > p.label_w()) return {};
    return BarLabel{p.line_y(), line};
}

// Where the label of the line comes to lie, if it is the only one.
float label_y(const Pane& p) {
    return std::clamp(p.line_y(), p.bars.y - 8 + label_h / 2, p.foot_y() - 2 - label_h / 2);
}

// "old ℓ × 1" where the true walk has another factor.
bool wrong_factor(const Pane& p, std::size_t n) {
    const std::vector<BarPart>& truth = p.step.truth.parts;
    return p.broken && !p.rounded && n < truth.size() &&
           plain(p.side.parts[n].label) != plain(truth[n].label);
}

void draw_labels(const Pane& p) {
    std::vector<BarLabel> labels;
    if (const auto label = true_label(p)) labels.push_back(*label);
    double from = 0;
    for (std::size_t n = 0; n < p.side.parts.size(); ++n) {
        const BarPart& part = p.side.parts[n];
        const float y0 = p.bars.at(from), y1 = p.bars.at(from + part.value);
        const auto line = fitting_label(p, part, std::abs(y1 - y0) < least_part);
        if (p.side.parts.size() > 1 && line) labels.push_back({(y0 + y1) / 2, *line, wrong_factor(p, n)});
        from += part.value;
    }
    set_apart(labels, p.bars.y - 8, p.foot_y() - 2);
    for (const BarLabel& label : labels) {
        clear_ground(p.c, p.label_x(), label.y, rich_width(p.c, label.line, size::far), label_h - 4);
        draw_alarming(p, p.label_x(), label.y, label.line, size::far, label.wrong);
    }
}

// The formula with its numbers, where the bar is one value; away from the label of the line.
void draw_numbers(const Pane& p) {
    const Line& numbers = p.side.told.numbers;
    if (p.side.value == minus_infinity && p.step.cell.slot == Slot::S)
        p.c.text(p.label_x(), p.bars.y + p.bars.h - 48, "hidden", size::far, p.theme().t2);
    if (p.side.parts.size() > 1 || numbers.empty() || p.moves) return;
    float top = p.bars.y - 8, bottom = p.foot_y() - 8;
    if (p.has_line()) {
        if (p.line_y() < (top + bottom) / 2)
            top = label_y(p) + label_h / 2;
        else
            bottom = label_y(p) - label_h / 2;
    }
    const float h = rich_paragraph_height(p.c, p.label_w(), numbers, size::far, 0, size::lines);
    if (h > bottom - top) return;
    clear_ground(p.c, p.label_x(), bottom - h / 2, p.label_w() - 8, h);
    p.c.rich_paragraph(p.label_x(), bottom - h, p.label_w(), numbers, size::far, 0, 0, size::lines);
}

// ---- The result

// How far the result is off, below where it comes from; without the part of the whole where there is no room.
void draw_end_difference(const Pane& p, float y) {
    const double truth = p.step.truth.end, broken = p.step.broken.end;
    const Line lead = pieces("Δ", slot_symbol(p.step.end.slot), " ");
    const float lead_w = rich_width(p.c, lead, size::far);
    for (const bool percent : {true, false}) {
        const std::string text = difference_text(truth, broken, percent);
        const float w = lead_w + text_width(Face::regular, size::far, text);
        if (w > end_w) continue;
        clear_ground(p.c, p.right() - w, y, w, 36);
        p.c.rich(p.right() - w, y, lead, size::far);
        p.c.text(p.right(), y, text, size::far, same_number(truth, broken) ? p.theme().t1 : p.alarm(),
                 Align::right);
        return;
    }
}

void draw_end(const Pane& p) {
    const Canvas& c = p.c;
    const Theme& t = p.theme();
    const CellRef& end = p.step.end;
    const Line heading = pieces(named(end), " at the end");
    const float heading_size = fitting_size(c, heading, end_w, {30, size::far});
    clear_ground(c, p.end_x(), p.a.y + 36, end_w, 44);
    c.rich(p.right(), p.a.y + 36, heading, heading_size, Align::right);

    const float y = p.a.y + 64, h = 64;
    const bool wrong = p.broken && !same_number(p.step.truth.end, p.step.broken.end);
    const ImU32 fill = ramp(t, info(end.slot).role, .8f);
    c.rect(p.end_x(), y, end_w, h, fill, radius::card);
    if (wrong) c.frame(p.end_x(), y, end_w, h, p.alarm(), 3, radius::card);
    draw_shown(c, p.end_x() + end_w / 2, y + h / 2, shown(p, p.step.truth.end, p.step.broken.end),
               {value_size, ink_on(t, fill), Align::center, end_w - 16, p.broken});

    const Line& quotient = p.side.quotient;
    float below = y + h + 24;
    if (!quotient.empty() && rich_width(c, quotient, size::far) <= end_w) {
        clear_ground(c, p.end_x(), below, end_w, 36);
        c.rich(p.end_x() + end_w / 2, below, quotient, size::far, Align::center);
        below += 36;
    }
    if (p.broken) draw_end_difference(p, below);
}

// Hatched, and a frame round those that follow each other; thin rows are only coloured.
void draw_wrong_rows(const Pane& p, const Rect& map, float row_h) {
    const auto wrong = [&](int r) { return bool(p.step.wrong_rows[static_cast<std::size_t>(r)]); };
    const int rows = static_cast<int>(p.step.wrong_rows.size());
    for (int r = 0, end; r < rows; r = end) {
        end = r + 1;
        if (!wrong(r)) continue;
        while (end < rows && wrong(end)) ++end;
        const float y = map.y + row_h * px(r), h = row_h * px(end - r);
        if (row_h < 8) {
            p.c.rect(map.x, y, map.w, h, with_alpha(p.alarm(), .75f));
            continue;
        }
        p.c.hatch(map.x + 1, y + 1, map.w - 2, h - 2, p.alarm(), 10, 2);
        p.c.frame(map.x - 1, y - 1, map.w + 2, h + 2, p.alarm(), 2.4f, 4);
    }
}

// Which rows of the result are wrong.
void draw_map(const Pane& p) {
    const Canvas& c = p.c;
    const Theme& t = p.theme();
    const Matrix& A = p.side.results;
    const int rows = static_cast<int>(A.rows()), cols = static_cast<int>(A.cols());
    const float top = p.a.y + 212, bottom = p.foot_y() - 46,
                ch = std::min(most_cell, (bottom - top) / px(rows)),
                cw = std::min(most_cell, (end_w - 64) / px(cols)), seam = std::min(cw, ch) > 8 ? 1.5f : 0.0f;
    const float w = cw * px(cols), x = p.right() - w, y = bottom - ch * px(rows);
    if (ch <= 0) return;
    clear_ground(c, x - 50, (y + bottom) / 2, w + 50, bottom - y + 8);
    const Role role = info(p.step.end.slot).role;
    const ImU32 fill = ramp(t, role, .7f);
    for (int r = 0; r < rows; ++r)
        for (int k = 0; k < cols; ++k)
            c.rect(x + cw * px(k) + seam, y + ch * px(r) + seam, cw - 2 * seam, ch - 2 * seam, fill,
                   seam > 0 ? 3.0f : 0.0f);
    if (p.broken) draw_wrong_rows(p, {x, y, w, bottom - y}, ch);
    const float cell_y = y + ch * px(p.step.end.row), cell_x = x + cw * px(p.step.end.col);
    if (ch >= 8 && cw >= 8) c.frame(cell_x + 1, cell_y + 1, cw - 2, ch - 2, t.focus, 2, 3);
    c.rich(x - 14, (y + bottom) / 2, slot_symbol(p.step.end.slot), size::far_symbol, Align::right);

    const std::string of = str(p.step.wrong_count()) + " of " + str(rows);
    const std::string long_words = of + (p.rounded ? " rows differ" : " rows wrong");
    const bool fits = text_width(Face::regular, size::far, long_words) <= end_w;
    const std::string short_words = of + (p.rounded ? " differ" : " wrong");
    const std::string text = !p.broken ? (p.rounded ? "exact" : "all rows right")
                             : fits    ? long_words
                                       : short_words;
    const float text_w = text_width(Face::regular, size::far, text);
    clear_ground(c, p.right() - text_w, p.foot_y() - 22, text_w, 36);
    c.text(p.right(), p.foot_y() - 22, text, size::far, p.broken && p.step.wrong_count() ? p.alarm() : t.t2,
           Align::right);
}

// ---- Head and foot of a pane

void draw_title(const Pane& p) {
    const char* const titles[2][2] = {{"True", "Broken"}, {"Exact", "Rounded"}};
    p.c.text(p.x(), p.a.y + 36, titles[p.rounded][p.broken], 36, p.alarm(), Face::semibold);
    const Line& cause = p.side.cause;
    const float room = p.end_x() - 12 - p.x();
    const float size = fitting_size(p.c, cause, room, {30, size::far});
    if (cause.empty() || rich_width(p.c, cause, size) > room) return;
    draw_alarming(p, p.x(), p.a.y + 82, cause, size, p.broken);
}

void draw_foot(const Pane& p) {
    const Canvas& c = p.c;
    const float y = p.a.bottom() - foot_h / 2 - 3;
    c.line({p.a.x + 12, p.foot_y()}, {p.a.right() - 12, p.foot_y()}, p.theme().line2, 1);
    const float name = c.rich(p.x(), y, named(p.step.cell), size::far_symbol) + 22;
    const Shown number = shown(p, p.step.truth.value, p.step.broken.value);
    float used =
        name + draw_shown(c, p.x() + name, y, number,
                          {value_size, p.alarm(), Align::left, p.rounded ? 200.0f : end_w, p.broken});
    if (!p.broken) return;
    const double truth = p.step.truth.value, broken = p.step.broken.value;
    const float room = p.right() - p.x() - used - 24;
    for (const bool percent : {true, false}) {
        const std::string text = difference_text(truth, broken, percent);
        for (const float size : {30.0f, 27.0f}) {
            if (text_width(Face::regular, size, text) > room) continue;
            c.text(p.right(), y, text, size, same_number(truth, broken) ? p.theme().t1 : p.alarm(),
                   Align::right);
            return;
        }
    }
}

void draw_pane(const Pane& p) {
    const Theme& t = p.theme();
    p.c.rect(p.a.x, p.a.y, p.a.w, p.a.h, t.panel, radius::panel);
    const bool alarm = p.broken && !p.rounded;
    p.c.frame(p.a.x + 1, p.a.y + 1, p.a.w - 2, p.a.h - 2, alarm ? t.danger : t.line2, alarm ? 3.0f : 1.5f,
              radius::panel);
    draw_bar(p);
    draw_true_line(p);
    double from = 0;
    for (const BarPart& part : p.side.parts) {
        if (std::isfinite(p.side.value)) draw_part_number(p, part, from);
        from += part.value;
    }
    if (std::isfinite(p.side.value)) draw_labels(p);
    draw_numbers(p);
    draw_title(p);
    draw_end(p);
    draw_map(p);
    draw_foot(p);
}

std::string fault_words(const AppState& state) {
    std::string title = fault_title(*state.lesson, *state.problem);
    if (only_rounded(*state.problem)) return "Rounded: " + title;
    return "Fault: " + (title.empty() ? title : lower_case(title.substr(0, 1)) + title.substr(1));
}

}  // namespace

void broken_stage(const Canvas& c, const AppState& state, const BrokenStep& s, const Rect& a) {
    const bool rounded = only_rounded(*state.problem);
    const bool moves = info(state.trace->step(state.cursor.step).op).kind != OpKind::compute;
    const float w = (a.w - between) / 2;
    const Bars bars = bars_of(s, a.y + top_h, a.h - top_h - foot_h - 2);
    const auto pane = [&](const StageSide& side, bool broken, float x) {
        const PanelPart part(c, broken ? "Broken" : "True", {x, a.y, w, a.h});
        draw_pane({c, s, side, broken, rounded, moves, {x, a.y, w, a.h}, bars});
    };
    pane(s.truth, false, a.x);
    pane(s.broken, true, a.x + w + between);
}

void fault_name(const Canvas& c, const AppState& state, float x, float y, float room) {
    const ImU32 ink = only_rounded(*state.problem) ? c.theme->t1 : c.theme->danger;
    const std::string words = fault_words(state);
    const float wanted = text_width(Face::medium, size::far, words) + 32, w = std::min(wanted, room);
    if (w < 120) return;
    c.frame(x, y - 23, w, 46, ink, 2, 8);
    c.text_within(x + 16, y, w - 30, words, size::far, ink, Face::medium);
    const float key = x + w + 16, rest = room - w - 16;
    const char* const then = only_rounded(*state.problem) ? "exact again" : "repairs";
    if (rest < 44 + 10 + text_width(Face::regular, size::far, then)) return;
    c.frame(key, y - 20, 40, 40, c.theme->line2, 2, 6);
    c.text(key + 20, y, "X", size::far, c.theme->t1, Face::medium, Align::center);
    c.text(key + 52, y, then, size::far, c.theme->t2);
}

float broken_line_height(const std::string& sentence, float w) {
    return paragraph_height(w - 40, sentence, size::far_number, 2, Face::regular, 1.25f) + 16;
}

void broken_line(const Canvas& c, const AppState& state, const std::string& sentence, const Rect& a) {
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::card);
    c.rect(a.x, a.y, 5, a.h, only_rounded(*state.problem) ? c.theme->t1 : c.theme->danger, 2);
    c.paragraph(a.x + 22, a.y + 8, a.w - 40, sentence, size::far_number, c.theme->t1, 2, Face::regular,
                1.25f);
}

}  // namespace tilewalk::ui
