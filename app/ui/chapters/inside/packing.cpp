// How sums become a factor: two pieces of C, eight columns each, hold what one fragment of A needs, each lane
// its own. Nothing moves between lanes: a lane rounds two of its numbers and puts them into one register.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewalk::ui {

namespace {

using inside::FragmentCell;
using inside::Holder;
using inside::Matter;
using inside::Op;
using inside::Part;

constexpr int registers = 4, eight = 8;

/// The four packings that fill the registers of one fragment of A.
struct Packing {
    const inside::BlockRecord* block;
    std::array<const inside::Event*, registers> events;
    int now;  ///< the register that the step at hand fills

    std::span<const std::uint32_t> words(int reg, int lane) const {
        return block->words_of(*events[static_cast<std::size_t>(reg)], lane);
    }
    /// Of the two pieces of C beside each other, 16 × 16: before it is rounded, and behind.
    float value(int row, int column, DType type, bool rounded) const {
        const Holder h = inside::holder(Part::A, row, column);
        const auto lane = words(h.reg, h.lane);
        if (rounded) return inside::number16(lane[2], h.half, type);
        return std::bit_cast<float>(lane[static_cast<std::size_t>(h.half)]);
    }
};

// They stand one behind the other, four for each fragment.
std::optional<Packing> packing_at(const InsidePlace& at) {
    const auto packs = [&](int k) {
        if (k < 0 || k >= at.steps().count(at.warp)) return false;
        const inside::Event& e = at.block().events[at.steps().event(at.warp, k)];
        return e.op == Op::pack && e.lanes == inside::whole_warp;
    };
    if (!packs(at.k)) return std::nullopt;
    constexpr int longest = 256;
    int first = at.k;
    while (at.k - first < longest && packs(first - 1)) --first;
    Packing out{&at.block(), {}, (at.k - first) % registers};
    for (int r = 0; r < registers; ++r) {
        const int k = at.k - out.now + r;
        if (!packs(k)) return std::nullopt;
        out.events[static_cast<std::size_t>(r)] = &at.block().events[at.steps().event(at.warp, k)];
    }
    return out;
}

/// Rows and columns of the fragment in its matrix, from the product that takes it.
NamedProduct taken_by(AppState& state, const InsidePlace& at) {
    for (const inside::OriginStep& use : inside_ways(state, at).uses.steps) {
        InsidePlace there = at;
        there.k = at.origins().step_number(use.event);
        there.n = use.event, there.event = &at.block().events[use.event];
        if (there.event->op != Op::multiply_add) continue;
        there.words = at.block().words_of(*there.event);
        return named_product(there);
    }
    return {};
}

struct PackSheet {
    Rect area;
    float w, h;
    int first_row, rows, first_column, columns;
    Rect cell(int row, int column) const {
        return {area.x + px(column - first_column) * w, area.y + px(row - first_row) * h, w, h};
    }
    bool shows(int row) const { return row >= first_row && row < first_row + rows; }
};

void draw_pack_sheet(const Canvas& c, const PackSheet& s, const Packing& p, const InsidePlace& at,
                     bool rounded, const InsideLook& look) {
    const Theme& t = *c.theme;
    const DType type = at.record().dtype;
    const ImU32 own = legible_fill(t, hue_of(t, Matter::P), .92f);
    for (int row = s.first_row; row < s.first_row + s.rows; ++row)
        for (int column = s.first_column; column < s.first_column + s.columns; column += 2) {
            const Holder h = inside::holder(Part::A, row, column);
            const Rect from = s.cell(row, column), pair{from.x, from.y, 2 * s.w, s.h};
            for (int half = 0; half < 2; ++half) {
                const float v = p.value(row, column + half, type, rounded);
                const Rect cell = s.cell(row, column + half);
                c.rect(cell.x + .5f, cell.y + .5f, cell.w - 1, cell.h - 1,
                       signed_ramp(t, Role::S, std::isfinite(v) ? std::clamp(v, -1.0f, 1.0f) : 0, true), 2);
            }
            const bool mine = h.lane == at.lane, quad = h.lane / 4 == at.lane / 4,
                       now = mine && h.reg == p.now;
            if (mine) c.rect(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2, own, radius::bar);
            c.frame(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2,
                    now    ? t.focus
                    : mine ? t.t2
                    : quad ? t.line2
                           : t.line,
                    (now ? 2.5f : 1.0f) * look.line, radius::bar);
            const Face face = mine ? Face::mono_bold : Face::mono;
            if (pair.h < look.number - 1 || pair.w < text_width(face, look.number, "00") + 1) continue;
            c.text(pair.x + pair.w / 2, pair.middle(), str(h.lane), look.number,
                   mine   ? ink_on(t, own)
                   : quad ? t.t1
                          : t.t3,
                   face, Align::center);
        }
}

// What the step does with the lane's two numbers.
std::string packed_text(const InsidePlace& at, const Packing& p) {
    const auto lane = p.words(p.now, at.lane);
    const auto before = [&](std::size_t n) { return format_short(std::bit_cast<float>(lane[n])); };
    return before(0) + list_separator() + before(1);
}

// The lane's pair goes to the register of the same lane, in its row: the arrow stands between the sheets,
// where it crosses no number. Where it comes from.
Rect draw_way_of_pair(const Canvas& c, const std::array<PackSheet, 3>& sheets, const InsidePlace& at,
                      const Packing& packing) {
    const FragmentCell from{at.lane / 4 + packing.now % 2 * 8, packing.now / 2 * 8 + at.lane % 4 * 2};
    const Rect p = sheets[packing.now / 2 == 0 ? 0 : 1].cell(from.row, from.column);
    c.arrow({{sheets[1].area.right() + 8, p.middle()}, {sheets[2].area.x - 8, p.middle()}},
            ArrowStyle::active, c.theme->focus);
    return p;
}

void choose_lane_by_click(const Canvas& c, AppState& state, const std::array<PackSheet, 3>& sheets) {
    for (const PackSheet& s : sheets) {
        const Hot hot =
            hot_area(c, "##pack " + str(&s - sheets.data()), s.area.x, s.area.y, s.area.w, s.area.h);
        if (!hot.clicked) continue;
        const Point mouse = c.mouse();
        choose_lane(state,
                    inside::holder(Part::A, std::clamp(static_cast<int>((mouse.y - s.area.y) / s.h), 0, 15),
                                   s.first_column + std::clamp(static_cast<int>((mouse.x - s.area.x) / s.w),
                                                               0, s.columns - 1))
                        .lane);
    }
}

}  // namespace

bool shows_packing(const InsidePlace& at) { return packing_at(at).has_value(); }

void draw_packing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                  const InsideLook& look) {
    const auto packing = packing_at(at);
    if (!packing) return;
    const Theme& t = *c.theme;
    const NamedProduct named = taken_by(state, at);
    const int rows = look.far ? 8 : 16, first = look.far ? packing->now % 2 * 8 : 0;
    const float head = look.small * 1.9f, foot = look.small * 1.7f, gap = look.small * 1.1f,
                middle = look.small * (look.far ? 6.2f : 8.5f), labels = look.far ? 0 : look.small * 2.4f;
    const float h = std::floor(std::min((a.h - head - foot) / px(rows), look.far ? 48.0f : 28.0f));
    const float w = std::min(std::floor((a.w - labels - gap - middle - 8) / 32), h * 1.7f);
    const float used = labels + 32 * w + gap + middle, y = a.y + head, high = px(rows) * h;
    float x = a.x + labels + std::max(0.0f, (a.w - used) / 2);
    std::array<PackSheet, 3> sheets;
    sheets[0] = {{x, y, eight * w, high}, w, h, first, rows, 0, eight};
    x = sheets[0].area.right() + gap;
    sheets[1] = {{x, y, eight * w, high}, w, h, first, rows, eight, eight};
    x = sheets[1].area.right() + middle;
    sheets[2] = {{x, y, 2 * eight * w, high}, w, h, first, rows, 0, 2 * eight};
    for (const PackSheet& s : sheets) {
        draw_pack_sheet(c, s, *packing, at, &s == &sheets[2], look);
        c.frame(s.area.x - 3, s.area.y - 3, s.area.w + 6, s.area.h + 6, hue_of(t, Matter::P),
                1.5f * look.line, radius::cell);
        const int column = s.first_column + std::max(0, named.k);
        std::string range = range_text(column, column + s.columns - 1);
        const std::string both = (named.k < 0 ? "columns " : "keys ") + range;
        if (text_width(Face::regular, look.small, both) <= s.area.w + 8) range = both;
        c.text_within(s.area.x + s.area.w / 2, s.area.bottom() + look.small * .8f + 3, s.area.w + 8, range,
                      look.small, t.t3, Align::center);
    }
    const float title = a.y + head / 2 - 4;
    const Line letter = matter_line(at.origins().matter(at.n) == Matter::dS ? Matter::dS : Matter::P, "P");
    const auto name = [&](const PackSheet& s, const char* words, const char* brief) {
        const float taken = c.rich(s.area.x, title, letter, look.far ? look.small : 17) + 8,
                    room = s.area.w - taken + gap;
        const bool fits = text_width(Face::regular, look.small, words) <= room;
        c.text_within(s.area.x + taken, title, room, fits ? words : brief, look.small, t.t2);
    };
    name(sheets[0], "a piece of C", "in C"), name(sheets[1], "and the next", "in C");
    name(sheets[2], "one fragment of A", "in A");
    if (named.row >= 0 && labels > 0)
        for (const int row : {0, at.lane / 4 + packing->now % 2 * 8, 15})
            c.text(sheets[0].area.x - 8, sheets[0].cell(row, 0).middle(), str(named.row + row), look.small,
                   row == 0 || row == 15 ? t.t3 : t.t1, Face::mono, Align::right);
    const Rect p = draw_way_of_pair(c, sheets, at, *packing);
    const float centre = sheets[1].area.right() + middle / 2;
    const float below = p.middle() + h * 1.2f < sheets[1].area.bottom() - 3 * look.small
                            ? p.middle() + h * 1.2f + look.small
                            : p.middle() - h * 3 - look.small;
    for (const auto& [line, dy] : {std::pair{std::string("round,"), 0.0f}, {std::string("two in one"), 1.3f}})
        c.text_within(centre, below + dy * look.small, middle - 8, line, look.small, t.t2, Align::center);
    if (look.far) return;
    c.text_within(centre, below + 2.8f * look.small, middle - 8, packed_text(at, *packing), look.small, t.t1,
                  Align::center);
    choose_lane_by_click(c, state, sheets);
}

}  // namespace tilewalk::ui
