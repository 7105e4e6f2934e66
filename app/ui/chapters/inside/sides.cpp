// Steps that ask for no address and hold no number: what a fence stands between, and how the registers of a
// block are shared out.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/base/register_file.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using inside::Op;
using inside::RegisterShares;
using inside::Told;

struct SideHeads {
    const char *before, *behind, *nothing;
};
SideHeads heads_of(Op op) {
    switch (op) {
    case Op::fence_products:
        return {"Written before it", "Read behind it", "nothing since the last fence or wait"};
    case Op::commit_products: return {"Closed by it", "The wait for it", "nothing"};
    case Op::publish_barriers: return {"Made before it", "Used behind it", "nothing"};
    default: return {"Done before it", "Done behind it", "nothing"};
    }
}

// One side: its head, and a line for each kind of step.
void draw_side(const Canvas& c, const Rect& a, const char* head, const std::vector<Told>& all,
               const char* nothing, const InsideLook& look) {
    const Theme& t = *c.theme;
    const float line = look.small * 1.9f, pad = look.small * .9f;
    c.rect(a.x, a.y, a.w, a.h, t.raised, radius::control);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, t.line2, 1, radius::control);
    float y = a.y + line * .6f;
    c.text_within(a.x + pad, y, a.w - 2 * pad, head, look.small, t.t2, Face::medium);
    if (all.empty())
        return void(c.text_within(a.x + pad, y + line, a.w - 2 * pad, nothing, look.small, t.t3));
    for (const Told& told : all) {
        y += line;
        if (y + line * .5f > a.bottom()) return;
        c.text_within(a.x + pad, y, a.w - 2 * pad, inside::times_text(told.times, told.op), look.small, t.t1,
                      Face::semibold);
    }
}

}  // namespace

void draw_sides(const Canvas& c, const Rect& a, const inside::Sides& sides, const InsidePlace& at,
                const InsideLook& look) {
    const Theme& t = *c.theme;
    const float line = look.small * 1.9f;
    const float middle = std::min(a.w * .26f, look.small * 13), w = std::floor((a.w - middle) / 2);
    const float lines = px(std::max<std::size_t>({sides.before.size(), sides.behind.size(), 1}) + 1);
    const float h = std::min(a.h - 4, line * (lines + .35f));
    const Rect left{a.x, a.y + 2, w, h}, right{a.x + w + middle, a.y + 2, w, h};
    const SideHeads heads = heads_of(at.event->op);
    draw_side(c, left, heads.before, sides.before, heads.nothing, look);
    draw_side(c, right, heads.behind, sides.behind, heads.nothing, look);
    // The step between them: nothing goes past it
    const float x = left.right() + middle / 2;
    const Point from{left.right() + 8, left.middle()}, to{right.x - 8, left.middle()};
    c.bezier_arrow(from, {x, from.y}, {x, to.y}, to, t.t2, 2 * look.line, 8 * look.line);
    c.line({x, left.y}, {x, left.bottom()}, t.focus, 3 * look.line);
    const std::string name = step_words(at).instruction;
    const float below = left.bottom() + line * .6f;
    if (below + look.small <= a.bottom())
        c.text_within(x, below, a.w, name, look.small, t.t1, Face::mono, Align::center);
}

namespace {

/// Warps that have as many registers before the step and behind it.
struct ShareRow {
    int first, last, before, now;
};
std::vector<ShareRow> rows_of_shares(const RegisterShares& shares) {
    std::vector<ShareRow> rows;
    for (std::size_t w = 0; w < shares.now.size(); ++w) {
        const int warp = static_cast<int>(w);
        if (!rows.empty() && rows.back().before == shares.before[w] && rows.back().now == shares.now[w])
            rows.back().last = warp;
        else
            rows.push_back({warp, warp, shares.before[w], shares.now[w]});
    }
    return rows;
}

}  // namespace

// A bar for each group of warps: as long as a thread has registers, of 256 that one can have.
void draw_shares(const Canvas& c, const Rect& a, const RegisterShares& shares, const InsidePlace& at,
                 const InsideLook& look) {
    const Theme& t = *c.theme;
    const float line = look.small * 2.2f, names = text_width(Face::regular, look.small, "warps 00–00") + 14;
    const float numbers = text_width(Face::mono, look.small, "000 → 000") + 12;
    const float x = a.x + names, w = std::max(0.0f, a.w - names - numbers), bar = look.small * 1.3f;
    float y = a.y + look.small;
    c.text_within(a.x, y, a.w, "registers of each thread, counted to 256", look.small, t.t2);
    for (const ShareRow& row : rows_of_shares(shares)) {
        y += line;
        if (y + line * .5f > a.bottom()) return;
        const bool own = at.warp >= row.first && at.warp <= row.last, changed = row.now != row.before;
        const float now = w * px(row.now) / most_registers, before = w * px(row.before) / most_registers;
        c.text(a.x, y,
               row.first == row.last ? "warp " + str(row.first)
                                     : "warps " + str(row.first) + "–" + str(row.last),
               look.small, own ? t.t1 : t.t2, own ? Face::semibold : Face::regular);
        c.rect(x, y - bar / 2, w, bar, t.well, radius::bar);
        c.rect(x, y - bar / 2, now, bar, mix(t.panel, t.focus, own ? .75f : .4f), radius::bar);
        // What was taken, or given back, with this step
        if (changed)
            c.hatch(x + std::min(now, before), y - bar / 2, std::abs(now - before), bar,
                    now > before ? t.t1 : t.t3, 6, 1.5f);
        c.text(a.right(), y, changed ? str(row.before) + " → " + str(row.now) : str(row.now), look.small,
               own ? t.t1 : t.t2, Face::mono, Align::right);
    }
    y += line;
    if (y + line * .5f > a.bottom()) return;
    c.text(a.x, y, "in all", look.small, t.t2);
    const float all = w * px(shares.all_now()) / register_file;
    c.rect(x, y - bar / 2, w, bar, t.well, radius::bar);
    c.rect(x, y - bar / 2, std::min(w, all), bar, mix(t.panel, t.t2, .6f), radius::bar);
    c.text(a.right(), y, format_count(shares.all_now()), look.small, t.t1, Face::mono, Align::right);
    y += line;
    if (y + look.small <= a.bottom())
        c.text_within(a.x, y, a.w,
                      "of " + format_count(register_file) + " registers that the multiprocessor has",
                      look.small, t.t3);
}

}  // namespace tilewalk::ui
