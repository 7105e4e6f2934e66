#include "app/ui/parts/stage_broken_pane.h"

#include "app/ui/state/trace_look.h"

#include <algorithm>

namespace tilewalk::ui::panes {

namespace {

constexpr int short_number = 9;  // of a number without marked digits

float shown_size(const Shown& number, const NumberLook& look) {
    for (const float size : {look.size, 34.0f, 30.0f, 28.0f})
        if (size <= look.size && text_width(Face::mono, size, number.text) <= look.room) return size;
    return size::far;
}

}  // namespace

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

void clear_ground(const Canvas& c, float x, float y, float w, float h) {
    c.rect(x - 6, y - h / 2, w + 12, h, c.theme->panel, 3);
}

Line named(const Trace& trace, const CellRef& cell, int made) {
    return pieces(slot_symbol(cell.slot), index_text(trace, cell.slot, {cell.row, cell.col, 1, 1}, made));
}

float draw_alarming(const Pane& p, float x, float y, const Line& line, float size, bool wrong) {
    if (!wrong || line.empty() || line.back().face != Span::Face::number) return p.c.rich(x, y, line, size);
    const float w = p.c.rich(x, y, Line(line.begin(), line.end() - 1), size);
    return w + p.c.text(x + w, y, line.back().text, size, p.alarm(), Face::mono);
}

}  // namespace tilewalk::ui::panes
