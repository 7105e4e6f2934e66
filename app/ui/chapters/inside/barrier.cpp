// A barrier that counts (Hopper's): its phase and parity, which arrivals and bytes have come and which are
// expected, and who stands before it.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace tilewalk::ui {

namespace {

using inside::BarrierPhase;
using inside::BarrierState;

/// A pen that goes down in lines of one height.
struct BarrierPen {
    const Canvas& c;
    const InsideLook& look;
    Rect a;
    float y, label;
    float line() const { return look.small * 1.9f; }
    float middle() const { return y + line() / 2; }
    bool room(int lines) const { return y + px(lines) * line() <= a.bottom() + 2; }
    float x() const { return a.x + label; }
};

std::vector<int> bits_of(std::uint32_t bits) {
    std::vector<int> out;
    for (; bits != 0; bits &= bits - 1) out.push_back(std::countr_zero(bits));
    return out;
}

ImU32 hue_of_tiles(const Theme& t, const BarrierPhase& phase) {
    return phase.tiles.empty() ? t.t2 : hue_of(t, phase.tiles.front().matter);
}

// One box for each arrival that ends the phase: with the warp that has come, or empty.
void draw_arrivals(BarrierPen& pen, const BarrierState& s, const BarrierPhase& phase) {
    const Theme& t = *pen.c.theme;
    const float size = pen.look.small, h = size * 1.45f, gap = 4;
    const std::string said = str(phase.arrivals) + " of " + str(s.arrivals);
    const float words = text_width(Face::mono, size, "00 of 00") + 12;
    const float w = std::min(size * 2.4f, (pen.a.right() - pen.x() - words) / px(std::max(1, s.arrivals)));
    const std::vector<int> came = bits_of(phase.came);
    pen.c.text(pen.a.x, pen.middle(), "arrivals", size, t.t2);
    for (int n = 0; n < s.arrivals; ++n) {
        const Rect box{pen.x() + px(n) * w, pen.middle() - h / 2, w - gap, h};
        const bool here = n < phase.arrivals;
        const ImU32 fill = here ? legible_fill(t, hue_of_tiles(t, phase), .5f) : t.well;
        pen.c.rect(box.x, box.y, box.w, box.h, fill, radius::bar);
        pen.c.frame(box.x + .5f, box.y + .5f, box.w - 1, box.h - 1, here ? t.t1 : t.line2, 1, radius::bar);
        // Several arrivals of one warp are told by their number alone.
        if (here && std::ssize(came) == phase.arrivals && box.w > text_width(Face::mono, size, "00"))
            pen.c.text(box.x + box.w / 2, box.middle(), str(came[static_cast<std::size_t>(n)]), size,
                       ink_on(t, fill), Face::mono, Align::center);
    }
    pen.c.text(pen.a.right(), pen.middle(), said, size, phase.over ? t.t1 : t.t2, Face::mono, Align::right);
    pen.y += pen.line();
}

std::string bytes_words(const BarrierPhase& phase) {
    const std::string all = format_size(phase.expected);
    if (phase.over) return all + " of " + all;
    if (phase.expected == 0) return "none announced";
    return phase.asked > 0 ? "0 of " + all + ", on the way" : "0 of " + all + ", not asked for";
}

// Bytes that are announced: there when the phase is over, hatched while they are on their way.
void draw_bytes(BarrierPen& pen, const BarrierPhase& phase) {
    const Theme& t = *pen.c.theme;
    const float size = pen.look.small, h = size * 1.1f;
    const std::string said = bytes_words(phase);
    const float words = text_width(Face::mono, size, said) + 14;
    const Rect bar{pen.x(), pen.middle() - h / 2, std::max(0.0f, pen.a.right() - pen.x() - words), h};
    const ImU32 hue = hue_of_tiles(t, phase);
    pen.c.text(pen.a.x, pen.middle(), "bytes", size, t.t2);
    if (bar.w > 20) {
        pen.c.rect(bar.x, bar.y, bar.w, bar.h, t.well, radius::bar);
        if (phase.over)
            pen.c.rect(bar.x, bar.y, bar.w, bar.h, mix(t.panel, hue, .8f), radius::bar);
        else if (phase.asked > 0)
            pen.c.hatch(bar.x, bar.y, bar.w, bar.h, hue, 6, 1.5f);
        pen.c.frame(bar.x + .5f, bar.y + .5f, bar.w - 1, bar.h - 1, t.line2, 1, radius::bar);
    }
    pen.c.text(pen.a.right(), pen.middle(), said, size, phase.over ? t.t1 : t.t2, Face::mono, Align::right);
    pen.y += pen.line();
}

void draw_phase(BarrierPen& pen, const BarrierState& s, const BarrierPhase& phase, bool about) {
    const Theme& t = *pen.c.theme;
    const float size = pen.look.small, top = pen.y;
    const bool counts_bytes = s.use == BarrierState::Use::full;
    const std::string tiles = inside::tiles_text(phase.tiles);
    std::string head = "phase " + str(phase.number);
    if (s.use != BarrierState::Use::turn) head += ", parity " + str(phase.parity());
    const float w = pen.c.text(pen.a.x, pen.middle(), head, size, t.t1, Face::semibold);
    pen.c.text_within(pen.a.x + w + 12, pen.middle(), pen.a.w - w - 12 - size * 5,
                      tiles.empty() ? "" : "for " + tiles, size, t.t2);
    pen.c.text(pen.a.right(), pen.middle(), phase.over ? "over" : "open", size, phase.over ? t.t1 : t.t2,
               Align::right);
    pen.y += pen.line();
    draw_arrivals(pen, s, phase);
    if (counts_bytes) draw_bytes(pen, phase);
    if (about)
        pen.c.frame(pen.a.x - 9, top - 1, pen.a.w + 18, pen.y - top + 2, t.focus, 1.5f * pen.look.line,
                    radius::control);
    pen.y += size * .6f;
}

void draw_waiting(BarrierPen& pen, const BarrierState& s) {
    const Theme& t = *pen.c.theme;
    const float size = pen.look.small, h = size * 1.45f;
    pen.c.text(pen.a.x, pen.middle(), "waits", size, t.t2);
    if (s.waits == 0) return void(pen.c.text(pen.x(), pen.middle(), "nobody", size, t.t3));
    float x = pen.x();
    for (const int warp : bits_of(s.waits)) {
        const std::string text = "warp " + str(warp);
        const float w = text_width(Face::regular, size, text) + size;
        if (x + w > pen.a.right()) break;
        pen.c.frame(x + .5f, pen.middle() - h / 2, w - 1, h, t.t1, 1, h / 2);
        pen.c.text(x + w / 2, pen.middle(), text, size, t.t1, Align::center);
        x += w + 6;
    }
}

std::string name_of_barrier(const BarrierState& s) {
    if (s.use == BarrierState::Use::turn)
        return "barrier " + str(s.id) + ", of " + str(s.arrivals) + " warps: whose turn it is";
    char address[16];
    std::snprintf(address, sizeof address, "0x%x", s.id);
    return std::string("mbarrier ") + address +
           (s.use == BarrierState::Use::full ? ": tells when its tile has come"
                                             : ": tells when its buffer is free");
}

}  // namespace

void draw_barrier(const Canvas& c, const Rect& a, const BarrierState& s, const InsideLook& look) {
    BarrierPen pen{c, look, a, a.y, text_width(Face::regular, look.small, "arrivals") + look.small};
    const int lines = s.use == BarrierState::Use::full ? 3 : 2;
    c.text_within(a.x, pen.middle(), a.w, name_of_barrier(s), look.small, c.theme->t2);
    pen.y += pen.line() + look.small * .3f;
    // From the back row the phase alone that the step is about
    const bool about_before = s.before.number >= 0 && s.about.number == s.before.number;
    if (s.before.number >= 0 && (about_before || (!look.far && pen.room(2 * lines + 2))))
        draw_phase(pen, s, s.before, about_before);
    if (!about_before || (!look.far && pen.room(lines + 1))) draw_phase(pen, s, s.now, !about_before);
    if (pen.room(1)) draw_waiting(pen, s);
}

}  // namespace tilewalk::ui
