// The bar of a pane, and what stands beside it.
#include "app/ui/parts/stage_broken_pane.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tilewalk::ui::panes {

namespace {

constexpr float label_h = 37;     // of a line beside the bar
constexpr float least_part = 38;  // a part of the bar that is lower has its number beside it

ImU32 fill_of(const Theme& theme, Role role) { return ramp(theme, role, .8f); }

void hatched(const Pane& p, float from, float to) {
    const float top = std::min(from, to), h = std::abs(to - from);
    if (h < 4) return;
    p.c.hatch(p.x() + 2, top + 1, bar_w - 4, h - 2, p.alarm(), 13, 2.4f);
}

bool too_long(const Pane& p, std::size_t n) {
    if (!p.broken || p.rounded || n >= p.step.truth.parts.size()) return false;
    const double is = p.side.parts[n].value, should = p.step.truth.parts[n].value;
    return should * is > 0 && std::abs(is) > std::abs(should) && !same_number(should, is);
}

// Pieces of several parts would lie between each other: then the line of the true value tells what is too
// much.
bool only_as_a_whole(const Pane& p) {
    int parts = 0;
    for (std::size_t n = 0; n < p.side.parts.size(); ++n) parts += too_long(p, n);
    return parts > 1;
}

// Where a part of the broken bar that is too long should have ended.
std::optional<float> true_end(const Pane& p, std::size_t n, double from) {
    if (!too_long(p, n) || only_as_a_whole(p)) return {};
    return p.bars.at(from + p.step.truth.parts[n].value);
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
        else if (std::abs(part.value) > std::abs(should) && !only_as_a_whole(p))
            hatched(p, p.bars.at(from + should), y1);
    }
    p.c.frame(p.x(), top, bar_w, h, hue(t, part.role), 2, radius::bar);
    if (const auto end = true_end(p, n, from))
        p.c.line({p.x() + 1, *end}, {p.x() + bar_w - 1, *end}, p.alarm(), 3);
}

// Where the number of a part stands in it. Nothing: it has no room, or a line is drawn where the part should
// have ended; then the number would be that of one of the two pieces.
std::optional<float> number_place(const Pane& p, std::size_t n, double from) {
    const std::string text = format_short(p.side.parts[n].value);
    if (text_width(Face::mono, size::far, text) > bar_w - 10 || true_end(p, n, from)) return {};
    const float y0 = p.bars.at(from), y1 = p.bars.at(from + p.side.parts[n].value);
    if (std::abs(y1 - y0) < least_part) return {};
    return (y0 + y1) / 2;
}

void draw_part_number(const Pane& p, std::size_t n, double from) {
    const BarPart& part = p.side.parts[n];
    const auto place = number_place(p, n, from);
    if (!place || p.side.parts.size() == 1) return;  // of one part the foot tells it
    const float middle = *place;
    const std::string text = format_short(part.value);
    const float w = text_width(Face::mono, size::far, text);
    const ImU32 fill = fill_of(p.theme(), part.role);
    p.c.rect(p.x() + (bar_w - w) / 2 - 5, middle - 15, w + 10, 30, fill, radius::bar);
    p.c.text(p.x() + bar_w / 2, middle, text, size::far, ink_on(p.theme(), fill), Face::mono, Align::center);
}

// What the bar lacks of the true one.
void draw_missing(const Pane& p) {
    const double is = p.step.broken.value, should = p.step.truth.value;
    if (!p.broken || p.rounded || is * should < 0 || std::abs(is) >= std::abs(should)) return;
    if (same_number(is, should)) return;
    const float y0 = p.bars.at(is), y1 = p.bars.at(should), top = std::min(y0, y1), h = std::abs(y1 - y0);
    hatched(p, y0, y1);
    p.c.dashed_frame(p.x() + 1, top, bar_w - 2, h, p.alarm(), 2);
}

// Higher than there is room: of the hue of the value, hatched as all that should not be there.
void draw_endless(const Pane& p) {
    const Theme& t = p.theme();
    const bool wrong = p.broken && !p.rounded;
    constexpr float tip = 30, plate = 44;
    const float h = p.bars.h - tip, y = p.bars.y + tip, mid = p.x() + bar_w / 2;
    const ImU32 fill = fill_of(t, p.side.parts.front().role);
    p.c.rect(p.x(), y, bar_w, h, fill, 0);
    if (wrong) p.c.hatch(p.x() + 2, y + 1, bar_w - 4, h - 2, p.alarm(), 13, 2.4f);
    p.c.frame(p.x(), y, bar_w, h, p.alarm(), 2, 0);
    p.c.polygon({{p.x() - 6, y + 1}, {mid, p.bars.y}, {p.x() + bar_w + 6, y + 1}}, p.alarm());
    p.c.rect(mid - plate / 2, y + (h - plate) / 2, plate, plate, fill, radius::bar);
    p.c.text(mid, y + h / 2, format_short(p.side.value), 36, ink_on(t, fill), Face::mono_bold, Align::center);
}

// In place of a bar: NaN and −∞ are no lengths.
void draw_no_length(const Pane& p) {
    if (p.side.value > 0) return draw_endless(p);
    const Theme& t = p.theme();
    const ImU32 fill = p.broken && !p.rounded ? t.danger : t.raised;
    constexpr float h = 96;
    const float y = p.bars.y + p.bars.h - h, mid = p.x() + bar_w / 2, foot = p.bars.y + p.bars.h - 4;
    if (p.side.value < 0) {  // below every bar: an arrow down from zero, as in the unbroken drawing
        constexpr float head = 20;
        p.c.line({mid, foot - 64}, {mid, foot - head}, t.t1, 6);
        p.c.polygon({{mid - head, foot - head}, {mid + head, foot - head}, {mid, foot}}, t.t1);
        return void(
            p.c.text(mid, foot - 86, format_short(p.side.value), 36, t.t1, Face::mono_bold, Align::center));
    }
    p.c.rect(p.x(), y, bar_w, h, fill, radius::card);
    p.c.frame(p.x(), y, bar_w, h, p.broken ? t.t1 : t.line2, 2, radius::card);
    p.c.text(p.x() + bar_w / 2, y + h / 2, format_short(p.side.value), 36, ink_on(t, fill), Face::mono_bold,
             Align::center);
}

// Two values that one bar cannot tell apart: the end of it, so many times as high that the difference is
// seen.
void draw_magnified(const Pane& p) {
    const double truth = p.step.truth.value, broken = p.step.broken.value;
    constexpr float w = 150, h = 112, apart = 56;
    const float differs = p.bars.length(broken - truth), y = p.bars.y - 6;
    if (!p.rounded || p.side.parts.size() != 1 || !std::isfinite(truth) || !std::isfinite(broken) ||
        differs == 0 || differs > 6 || p.label_w() < w)
        return;
    const float numbers =
        rich_paragraph_height(p.c, p.label_w(), p.side.told.numbers, size::far, 0, size::lines);
    if (y + h + 44 > p.foot_y() - 8 - numbers) return;
    const Theme& t = p.theme();
    const ImU32 colour = hue(t, p.side.parts.front().role), fill = fill_of(t, p.side.parts.front().role);
    const float x = p.label_x(), mid = y + h / 2, up = broken * broken > truth * truth ? -1 : 1,
                exact = mid - up * apart / 2, level = p.broken ? mid + up * apart / 2 : exact;
    p.c.rect(x, y, w, h, t.well, radius::bar);
    p.c.rect(x, level, w, y + h - level, fill, 0);
    p.c.line({x, level}, {x + w, level}, colour, 3);
    if (p.broken) p.c.dashed_line({x, exact}, {x + w, exact}, t.t1, 2, {8, 5});
    p.c.frame(x, y, w, h, t.line2, 1.5f, radius::bar);
    const float top = p.bars.at(p.side.value);
    p.c.line({p.x() + bar_w, top}, {x, y}, t.line2, 1.5f);
    p.c.line({p.x() + bar_w, top}, {x, y + h}, t.line2, 1.5f);
    const double times = static_cast<double>(apart) / static_cast<double>(differs);
    const double unit = std::pow(10.0, std::floor(std::log10(times)));
    const std::string words = "its end × " + format_count(std::llround(std::round(times / unit) * unit));
    if (text_width(Face::regular, size::far, words) <= p.label_w())
        p.c.text(x, y + h + 22, words, size::far, t.t2);
}

void draw_bar(const Pane& p) {
    if (!std::isfinite(p.side.value)) return draw_no_length(p);
    draw_magnified(p);
    p.c.line({p.a.x + 12, p.bars.zero()}, {p.end_x() - 12, p.bars.zero()}, p.theme().t3, 2);
    double from = 0;
    for (std::size_t n = 0; n < p.side.parts.size(); from += p.side.parts[n++].value) draw_part(p, n, from);
    draw_missing(p);
}

// The true height across both panes.
void draw_true_line(const Pane& p) {
    if (!p.has_line()) return;
    constexpr float beyond = 30;  // over the gap: the other pane is drawn later
    const float from = p.broken ? p.a.x : p.x() + bar_w,
                to = p.broken ? p.label_x() - 4 : p.a.right() + beyond;
    p.c.dashed_line({from, p.line_y()}, {to, p.line_y()}, p.theme().t1, 2, {8, 5});
}

// ---- Beside the bar

struct BarLabel {
    float y;
    Line line;
    bool wrong = false;    // the number in it
    bool on_line = false;  // that of the dashed line
};

// The label of the line stays on it, the others make way. False where they have no room.
bool set_round_line(std::vector<BarLabel>& labels, float top, float bottom) {
    std::vector<BarLabel> out = labels;
    const auto fixed = std::ranges::find_if(out, &BarLabel::on_line);
    if (fixed == out.end()) return false;
    float most = fixed->y - label_h, least = fixed->y + label_h;
    for (auto label = fixed; label != out.begin();) {
        --label;
        label->y = std::min(label->y, most), most = label->y - label_h;
    }
    for (auto label = fixed + 1; label != out.end(); ++label)
        label->y = std::max(label->y, least), least = label->y + label_h;
    const auto [first, last] = std::pair{out.front().y, out.back().y};
    if (first - label_h / 2 < top || last + label_h / 2 > bottom) return false;
    labels = std::move(out);
    return true;
}

// From above to below, no two on each other.
void set_apart(std::vector<BarLabel>& labels, float top, float bottom) {
    std::ranges::stable_sort(labels, {}, &BarLabel::y);
    if (set_round_line(labels, top, bottom)) return;
    // A low line: what has no room below its label stands above it.
    if (const auto line = std::ranges::find_if(labels, &BarLabel::on_line); line != labels.end()) {
        std::vector<BarLabel> above = labels;
        const auto at = above.begin() + (line - labels.begin());
        std::rotate(at, at + 1, above.end());
        above.back().y = std::min(above.back().y, bottom - label_h / 2);
        if (set_round_line(above, top, bottom)) return void(labels = std::move(above));
    }
    float least = top + label_h / 2;
    for (BarLabel& label : labels) label.y = std::max(label.y, least), least = label.y + label_h;
    float most = bottom - label_h / 2;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
        label->y = std::min(label->y, most), most = label->y - label_h;
}

// The lines beside a part: without its first word where that does not fit, and its number, if it does not
// stand in the bar, behind it or below.
std::vector<Line> part_label(const Pane& p, const BarPart& part, bool with_number) {
    const auto fits = [&](const Line& line) {
        return !line.empty() && rich_width(p.c, line, size::far) <= p.label_w();
    };
    const Line value = pieces("= ", number(format_short(part.value)));
    const Line both = pieces(part.label, "  ", number(format_short(part.value))),
               brief(part.label.begin() + !part.label.empty(), part.label.end());
    if (with_number && fits(both)) return {both};
    std::vector<Line> out;
    for (const Line& line : {part.label, brief})
        if (out.empty() && fits(line)) out.push_back(line);
    if (with_number && fits(value)) out.push_back(value);
    return out;
}

std::optional<BarLabel> true_label(const Pane& p) {
    if (!p.broken || !p.has_line()) return {};
    Pane truth = p;
    truth.broken = false;
    const Line line = pieces("true ", number(shown(truth, p.step.truth.value, p.step.broken.value).text));
    if (rich_width(p.c, line, size::far) > p.label_w()) return {};
    return BarLabel{p.line_y(), line, false, true};
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
        if (p.side.parts.size() > 1) {
            // Its factor ends a name, and is what is wrong; the number below it follows from that.
            bool wrong = wrong_factor(p, n);
            float y = (y0 + y1) / 2;
            for (const Line& line : part_label(p, part, !number_place(p, n, from))) {
                labels.push_back({y, line, wrong});
                wrong = false, y += 1;
            }
        }
        from += part.value;
    }
    set_apart(labels, p.bars.y - 8, p.foot_y() - 2);
    for (const BarLabel& label : labels) {
        clear_ground(p.c, p.label_x(), label.y, rich_width(p.c, label.line, size::far), label_h - 4);
        draw_alarming(p, p.label_x(), label.y, label.line, size::far, label.wrong);
    }
}

// Of a line that is broken at spaces the widest piece, with a sign before it.
float widest_piece(const Canvas& c, const Line& line, float size) {
    float widest = 0, now = 0;
    for (const Span& span : line) {
        std::size_t from = 0;
        for (bool more = true; more;) {
            const std::size_t space = span.text.find(' ', from);
            more = space != std::string::npos;
            Span piece = span;
            piece.text = span.text.substr(from, more ? space - from : space);
            now += rich_width(c, {piece}, size);
            if (more) widest = std::max(widest, now), now = 0, from = space + 1;
        }
    }
    return std::max(widest, now) + rich_width(c, {word("+ ")}, size);
}

// The formula with its numbers, where the bar is one value; away from the label of the line.
void draw_numbers(const Pane& p) {
    const Line& numbers = p.side.told.numbers;
    // The mask hides what is −∞ in the true walk; else rounding has made it that.
    const bool lost = std::isfinite(p.step.truth.value);
    if (p.side.value == minus_infinity && p.step.cell.slot == Slot::S)
        p.c.text(p.label_x(), p.bars.y + p.bars.h - 48, lost ? "overflow" : "hidden", size::far,
                 lost ? p.alarm() : p.theme().t2);
    if (p.side.parts.size() > 1 || numbers.empty() || p.moves) return;
    if (widest_piece(p.c, numbers, size::far) > p.label_w()) return;
    // A single term is not cut within its brackets: the formula stands above.
    const bool sum = plain(numbers).find(" + ") != std::string::npos;
    if (!sum && rich_width(p.c, numbers, size::far) > p.label_w()) return;
    const CellRef &now = p.step.cell, &end = p.step.end;
    const bool at_the_end =
        info(now.slot).role == info(end.slot).role && now.row == end.row && now.col == end.col;
    if (at_the_end && !p.side.quotient.empty()) return;  // it stands below the element already
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

}  // namespace

void draw_value(const Pane& p) {
    draw_bar(p);
    draw_true_line(p);
    double from = 0;
    for (std::size_t n = 0; n < p.side.parts.size(); from += p.side.parts[n++].value)
        if (std::isfinite(p.side.value)) draw_part_number(p, n, from);
    if (std::isfinite(p.side.value)) draw_labels(p);
    draw_numbers(p);
}

}  // namespace tilewalk::ui::panes
