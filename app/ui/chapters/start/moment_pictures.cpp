#include "app/ui/chapters/start/pictures.h"

#include "app/ui/chapters/compare/compare.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"
#include "core/walk/formula.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

/// A picture at the left, its words at the right where they have room.
struct Halves {
    Rect left, right;
    bool words;
};

Halves halves(const Sheet& s, float words_w, float least) {
    const bool words = s.area.w >= words_w + least + 12;
    const float w = words ? s.area.w - words_w - 12 : s.area.w;
    return {{s.area.x, s.area.y, w, s.area.h}, {s.area.x + w + 12, s.area.y, words_w, s.area.h}, words};
}

// Two numbers below each other, each with its name where that has room.
void two_numbers(const Sheet& s, const Rect& a, const char* const (&names)[2],
                 const std::string (&numbers)[2], const ImU32 (&colours)[2]) {
    const bool low = a.h < (s.big ? 106 : 74);
    const float size = s.big ? size::far : low ? size::small : size::lead;
    for (int n = 0; n < 2; ++n) {
        const float y = a.y + a.h * (n == 0 ? .25f : .75f), apart = low ? 0.0f : s.big ? 13.5f : 9.0f;
        if (!low) s.c.text(a.x, y - apart, names[n], s.big ? size::far : size::small, s.c.theme->t3);
        s.c.text(a.x, y + apart, numbers[n], size, colours[n], Face::mono_bold);
    }
}

double at_row(const Trace& trace, Slot slot, int k, int row) {
    const Value& value = held(trace, slot, k);
    return value.data(row - value.region.row, 0);
}

}  // namespace

void correction_picture(const Sheet& s) {
    const StartPage& page = s.page;
    const Theme& t = *s.c.theme;
    int before = page.corrects;
    while (before > 0 && page.forward->step(before).op != Op::new_max) --before;
    const double m0 = at_row(*page.forward, Slot::m, before - 1, page.row),
                 m1 = at_row(*page.forward, Slot::m, page.corrects, page.row),
                 alpha = at_row(*page.forward, Slot::alpha, page.corrects, page.row);
    const Rect& a = s.area;
    const double lo = m0 - 2;
    const auto place = [&](double x, double m) {
        return Point{a.x + a.w * px((x - lo) / (m1 - lo)), a.bottom() - a.h * px(std::exp(x - m))};
    };
    std::vector<Point> old, now;
    for (int n = 0; n <= 40; ++n) old.push_back(place(lo + (m0 - lo) * n / 40, m0));
    for (int n = 0; n <= 60; ++n) now.push_back(place(lo + (m1 - lo) * n / 60, m1));
    const ImU32 hue_alpha = hue(t, Role::alpha);
    for (int n = 0; n < 40; ++n) {
        const double x = lo + (m0 - lo) * n / 40, next = lo + (m0 - lo) * (n + 1) / 40;
        s.c.polygon({place(x, m0), place(next, m0), place(next, m1), place(x, m1)},
                    with_alpha(hue_alpha, .16f));
    }
    for (std::size_t n = 0; n + 2 < old.size(); n += 5)
        s.c.polyline(std::span(old).subspan(n, 3), t.t2, 1.8f);
    s.c.polyline(now, hue(t, Role::S), 2.4f);
    s.c.line({a.x, a.bottom()}, {a.right(), a.bottom()}, t.line2);
    const Point from = place(m0, m0), to = place(m0, m1);
    s.c.arrow({from, {to.x, to.y - 5}}, ArrowStyle::active, hue_alpha);
    s.c.disc(to.x, to.y, 4.5f, t.focus);
    const NumberLine numbers = write(exponential(difference(num(m0), num(m1))), alpha);
    const std::string why = plain(numbers), result = format_number(alpha);
    const float room = from.x - a.x - 26, line = s.text() * 1.45f;
    const bool both = text_width(Face::regular, s.text(), why) <= room;
    if (both) s.c.text(a.x, a.y + s.text() * .7f, why, s.text(), t.t2);
    if (both && a.h > 3 * line - 8)
        s.c.text(a.x, a.y + s.text() * .7f + line, sign_before(numbers, result) + (" " + result), s.text(),
                 t.t1, Face::semibold);
    if (!both && a.h > 2 * line && text_width(Face::semibold, s.text(), result) <= room)
        s.c.text(a.x, a.y + s.text() * .7f, result, s.text(), t.t1, Face::semibold);
}

void broken_picture(const Sheet& s) {
    const StartPage& page = s.page;
    const Theme& t = *s.c.theme;
    const auto [left, right, words] = halves(s, s.big ? 112 : 74, s.big ? 70 : 50);
    const double kept = at_row(*page.forward, Slot::l, page.step - 1, page.row) *
                        at_row(*page.forward, Slot::alpha, page.step, page.row),
                 uncorrected = at_row(*page.broken, Slot::l, page.step - 1, page.row),
                 truth = at_row(*page.forward, Slot::l, page.step, page.row),
                 wrong = at_row(*page.broken, Slot::l, page.step, page.row);
    const float unit = (left.h - 6) / px(wrong), gap = left.w < 90 ? 10.0f : 20.0f,
                w = std::min(44.0f, (left.w - gap - 12) / 2), bottom = left.bottom() - 3;
    const double olds[] = {kept, uncorrected}, totals[] = {truth, wrong};
    for (int n = 0; n < 2; ++n) {
        const float x = left.x + 6 + px(n) * (w + gap), old = px(olds[n]) * unit, all = px(totals[n]) * unit;
        s.c.rect(x, bottom - old, w, old - 1, ramp(t, Role::l, 1), 3);
        s.c.rect(x, bottom - all, w, all - old - 1, ramp(t, Role::S, 1), 3);
        if (n == 0) continue;
        s.c.hatch(x + 1, bottom - old, w - 2, px(uncorrected - kept) * unit, t.danger, 7, 2);
        s.c.frame(x - 3, bottom - all - 3, w + 6, all + 6, t.danger, 2, 5);
    }
    const float level = bottom - px(truth) * unit;
    s.c.dashed_line({left.x, level}, {left.x + 2 * w + gap + 18, level}, t.focus, 1.6f, {5, 4});
    if (!words) return;
    // The numbers are those of the bars.
    two_numbers(s, right, {"true ℓ", "broken ℓ"}, {format_number(truth), format_number(wrong)},
                {t.t1, t.danger});
}

void length_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const Study& study = s.page.at_length;
    const auto [left, right, words] = halves(s, s.big ? 132 : 74, 50);
    const float side = std::min(left.w, left.h), x = left.x + (words ? 0 : (left.w - side) / 2), y = left.y;
    const ImU32 S = hue(t, Role::S);
    s.c.rect(x, y, side, side, mix(t.panel, S, .22f), 2);
    s.c.hatch(x, y, side, side, mix(t.panel, S, .5f), 7);
    const float tile = std::max(2.0f, side * px(study.shape.Br) / px(study.shape.N)),
                radius = std::min(9.0f, side * .2f), at_x = x + side * .3f, at_y = y + side * .3f;
    s.c.rect(at_x, at_y, tile, tile, t.focus);
    s.c.ring(at_x + tile / 2, at_y + tile / 2, radius, t.focus, 1.6f);
    // The tile is no more than a point of S: a lens shows that it is a square as well.
    if (const float lens = side * .4f, far = at_x + radius * .7f; side >= 50) {
        const float to_x = x + side - lens - 3, to_y = y + side - lens - 3;
        s.c.line({far, at_y + radius * .7f}, {to_x, to_y}, t.focus, 1);
        s.c.rect(to_x, to_y, lens, lens, mix(t.panel, S, .3f), 2);
        s.c.rect(to_x + lens * .25f, to_y + lens * .25f, lens * .5f, lens * .5f, t.focus, 1);
        s.c.frame(to_x, to_y, lens, lens, t.focus, 1.4f, 2);
    }
    if (!words) return;
    const Shape& shape = study.shape;
    two_numbers(
        s, right, {shape.element_bytes == 2 ? "S in fp16" : "S in fp32", "tile, fp32"},
        {format_size(shape.N * shape.N_kv * shape.element_bytes), format_size(4 * shape.Br * shape.Bc)},
        {S, t.t1});
}

// What the first and the last on the ladder keep beside inputs and outputs, in true proportion.
void workspace_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const auto& kernels = s.page.kernels;
    if (kernels.empty()) return;
    const RecordedKernel* const ends[] = {&kernels.front(), &kernels.back()};
    const bool words = s.area.h >= 58, foot = !s.big && s.area.h > 74;
    const float pitch = (s.area.h - (foot ? 22.0f : 0.0f)) / 2, line = !words ? 0 : s.big ? 28 : 20;
    const float h = std::clamp(pitch - line - (s.big ? 2.0f : 6.0f), 8.0f, s.big ? 30.0f : 16.0f);
    const double most = px(std::max(ends[0]->memory, ends[1]->memory));
    const bool named = words && std::ranges::all_of(ends, [&](const RecordedKernel* kernel) {
                           return text_width(Face::regular, s.text(), kernel->name) + 12 +
                                      text_width(Face::mono, s.text(), format_size(kernel->memory)) <
                                  s.area.w;
                       });
    for (int n = 0; n < 2; ++n) {
        const float y = s.area.y + pitch * px(n);
        const float w = std::max(2.0f, s.area.w * px(px(ends[n]->memory) / most));
        const std::string size = format_size(ends[n]->memory);
        const float middle = y + (s.big ? 13.0f : line * .43f);
        // A number says nothing without its name: where both have no room, the bar says how much it is.
        if (named || (words && s.big)) s.c.text(s.area.x, middle, ends[n]->name, s.text(), t.t2);
        if (named || (words && !s.big))
            s.c.text(s.area.right(), middle, size, s.text(), t.t1, Face::mono, Align::right);
        s.c.rect(s.area.x, y + line, w, h, n == 0 ? ramp(t, Role::S, 1) : t.t1, 3);
        if (n == 0) s.c.frame(s.area.x + .5f, y + line + .5f, w - 1, h - 1, hue(t, Role::S), 1, 3);
        // On stage the number stands in its bar, or behind it.
        const float number = text_width(Face::mono, size::far, size);
        if (!s.big || named || h < 24) continue;
        if (number + 12 <= w)
            s.c.text(s.area.x + w / 2, y + line + h / 2, size, size::far,
                     ink_on(t, n == 0 ? ramp(t, Role::S, 1) : t.t1), Face::mono, Align::center);
        else if (w + 10 + number <= s.area.w)
            s.c.text(s.area.x + w + 10, y + line + h / 2, size, size::far, t.t1, Face::mono);
    }
    const std::string length = "N = " + format_count(kernels.front().times.back().N),
                      what = "memory at " + length;
    // On stage behind the shorter name, between both bars.
    const float name_w = text_width(Face::regular, s.text(), ends[1]->name);
    if (s.big && words && !named && name_w + 12 + text_width(Face::regular, size::far, length) <= s.area.w)
        s.c.text(s.area.right(), s.area.y + pitch + 13, length, size::far, t.t3, Align::right);
    if (foot && text_width(Face::regular, size::small, what) < s.area.w)
        s.c.text(s.area.x, s.area.bottom() - 8, what, size::small, t.t3);
}

// The output's number that is farthest off, exact and as the kernel's type holds it.
void digits_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const Rect& a = s.area;
    if (!s.page.compared || s.page.compared->outputs.empty()) {
        s.c.text_within(a.x, a.middle(), a.w, s.page.run.begun() ? "the kernel runs …" : "no run", s.text(),
                        t.t3);
        return;
    }
    const KernelComparison& shown = *s.page.compared;
    const OutputVerdict& verdict = shown.nearest();
    const double exact = verdict.worst.exact, kernel = verdict.worst.kernel;
    const bool low = s.big || a.h < 74;
    const float size = s.big ? size::far : low ? size::small : size::lead;
    const float step = std::min(s.big ? 40.0f : low ? 24.0f : 30.0f, a.h / 2), top = a.y + step / 2;
    const std::string names[] = {"exact", "kernel"};  // it rounds at every stage: more than its type does
    float w = 0;
    for (const std::string& name : names) w = std::max(w, text_width(Face::regular, s.text(), name) + 10);
    // As many digits as have room beside the names.
    int digits = 9;
    const auto wide = [&] { return w + text_width(Face::mono, size, digits_of(exact, kernel, digits).text); };
    while (digits > 4 && wide() > a.w) --digits;
    s.c.text(a.x, top, names[0], s.text(), t.t2);
    s.c.text(a.x + w, top, digits_of(exact, kernel, digits).text, size, t.t1, Face::mono);
    s.c.text(a.x, top + step, names[1], s.text(), t.t2);
    draw_digits(s.c, a.x + w, top + step, digits_of(kernel, exact, digits), size);
    if (low) return;
    const std::string off = plain(slot_symbol(verdict.slot)) + ": off by " + three_digits(verdict.error);
    s.c.text_within(a.x, a.bottom() - 11, a.w, off, size::small, t.t2);
}

}  // namespace tilewalk::ui
