// The timeline: a lane for each warp, one slot for each step; behind them the copies on their way, and the
// barriers where all meet.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tilewalk::ui {

namespace {

using inside::Flight;
using inside::Matter;
using inside::Op;
using inside::Phase;

bool same_role(const inside::WarpRole& a, const inside::WarpRole& b) {
    return a.kind == b.kind && a.number == b.number;
}
bool have_roles(const InsidePlace& at) {
    return std::ranges::any_of(at.launch->roles, [](const inside::WarpRole& role) {
        return role.kind != inside::WarpRole::Kind::none;
    });
}
const inside::WarpRole& role_of_warp(const InsidePlace& at, int warp) {
    return at.launch->roles[static_cast<std::size_t>(warp)];
}

/// Which warps have a lane: all; from afar, where they have roles, of each role one, the chosen warp before
/// the others.
struct Lanes {
    std::vector<int> warps;    ///< from above
    std::vector<int> of_warp;  ///< of each warp the lane that stands for it
    bool of_roles = false;
    int count() const { return static_cast<int>(warps.size()); }
    bool shows(int warp) const { return warps[static_cast<std::size_t>(lane(warp))] == warp; }
    int lane(int warp) const { return of_warp[static_cast<std::size_t>(warp)]; }
};
Lanes choose_lanes(const InsidePlace& at, bool far) {
    Lanes out;
    out.of_roles = far && have_roles(at);
    for (int w = 0; w < at.steps().warps(); ++w) {
        if (w == 0 || !out.of_roles || !same_role(role_of_warp(at, w), role_of_warp(at, w - 1)))
            out.warps.push_back(w);
        if (w == at.warp) out.warps.back() = w;
        out.of_warp.push_back(out.count() - 1);
    }
    return out;
}

/// Where slots and warps lie.
struct WarpSheet {
    Rect area;     ///< of the lanes
    float slot_w;  ///< of one slot; below 1 several share a pixel
    float lane_h, pitch;
    Lanes lanes;
    float x(int slot) const { return area.x + px(slot) * slot_w; }
    float y(int warp) const { return area.y + px(lanes.lane(warp)) * pitch; }
};

// A step that is still to come has less of its hue.
ImU32 tone(const Theme& t, ImU32 hue, bool past) { return mix(t.panel, hue, past ? .8f : .48f); }

ImU32 step_colour(const Theme& t, const InsidePlace& at, std::uint32_t n, bool past) {
    const Matter matter = at.origins().matter(n);
    const ImU32 hue = matter == Matter::none ? t.line2 : hue_of(t, matter);
    return tone(t, hue, past);
}

// Products stand out: they are what the kernel is for.
float part_of_height(Op op) {
    switch (op) {
    case Op::multiply_add:
    case Op::multiply_async: return 1;
    case Op::sync_block:
    case Op::sync_named:
    case Op::wait_for: return .3f;
    default: return .58f;
    }
}

// What the warp computes in that slot; where that is not known, none.
Matter made_in(const InsidePlace& at, int warp, int slot) {
    static constexpr Matter made[] = {Matter::none, Matter::S, Matter::S, Matter::S, Matter::O, Matter::S,
                                      Matter::S,    Matter::S, Matter::V, Matter::K, Matter::Q};
    static_assert(std::size(made) == static_cast<std::size_t>(Phase::count));
    // Asked for every pixel of every lane: they are in the order of their slots.
    const auto& all = at.launch->phases[static_cast<std::size_t>(warp)];
    const auto next = std::ranges::upper_bound(all, slot, {}, &inside::PhaseStretch::first);
    if (next == all.begin() || slot > std::prev(next)->last) return Matter::none;
    return made[static_cast<std::size_t>(std::prev(next)->phase)];
}

// Of many steps in one pixel each alone would tell chance, and their mean would be grey: they have the colour
// of what they make together.
ImU32 colour_of_pixel(const Theme& t, const InsidePlace& at, int warp, int k, bool past) {
    const Matter made = made_in(at, warp, at.steps().slot(warp, k));
    if (made == Matter::none) return step_colour(t, at, at.steps().event(warp, k), past);
    return tone(t, hue_of(t, made), past);
}

// Neighbours of one colour are one rectangle.
void draw_lane(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, int warp) {
    const Theme& t = *c.theme;
    const int count = at.steps().count(warp), now = at.steps().slot(at.warp, at.k);
    const float gap = sheet.slot_w >= 5 ? 1 : 0, least = 1 / c.s;
    float from = 0, to = -1, part = 0;
    ImU32 colour = 0;
    const auto flush = [&] {
        if (to <= from) return;
        const float h = sheet.lane_h * part;
        c.rect(from, sheet.y(warp) + (sheet.lane_h - h) / 2, std::max(least, to - from - gap), h, colour);
    };
    for (int k = 0; k < count;) {
        const std::uint32_t n = at.steps().event(warp, k);
        const int slot = at.steps().slot(warp, k);
        const float x = sheet.x(slot), end = x + std::max(sheet.slot_w, least);
        // On to the next pixel
        const int ahead = static_cast<int>(least / sheet.slot_w),
                  next = ahead < 2 ? k + 1 : std::max(k + 1, at.steps().at_slot(warp, slot + ahead, k));
        const ImU32 here =
            next == k + 1 ? step_colour(t, at, n, slot <= now) : colour_of_pixel(t, at, warp, k, slot <= now);
        const float height = part_of_height(at.block().events[n].op);
        const bool goes_on =
            gap == 0 && here == colour && height == part && x - to < sheet.slot_w * .5f + least;
        if (!goes_on) flush(), from = x, colour = here, part = height;
        to = end;
        k = next;
    }
    flush();
}

// Products that run on while their warp does something else: a line below its steps, from the first one to
// where they are waited for.
void draw_running(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet) {
    const int now = at.steps().slot(at.warp, at.k);
    const float high = std::max(2.0f, sheet.lane_h * .16f);
    for (const inside::Running& r : at.steps().products()) {
        if (!sheet.lanes.shows(r.warp)) continue;
        const Matter matter = at.origins().matter(at.steps().event(r.warp, r.step));
        const float x = sheet.x(r.issued), end = r.waited < 0 ? sheet.area.right() : sheet.x(r.waited);
        const bool runs = r.issued <= now && (r.waited < 0 || now < r.waited);
        const ImU32 hue = hue_of(*c.theme, matter);
        c.rect(x, sheet.y(r.warp) + sheet.lane_h - high, std::max(1.0f, end - x), high,
               runs ? hue : mix(c.theme->panel, hue, r.issued <= now ? .7f : .45f));
    }
}

/// Rows of copies, the warps, what they compute, the slots.
struct WarpRows {
    int flights = 0;
    float row, lanes, phases = 0, axis = 0;
    bool names = true;  ///< the copies have theirs
};
// ---- What is on its way, above the warps: a bar for each copy, in as few rows as have room for their names

struct FlightBar {
    const Flight* flight;
    float x, end;                  ///< of the bar
    float name = 0, name_end = 0;  ///< where its name is; 0: it has no room
    int row = 0;
    bool brief = false;  ///< its name has no bytes
};

/// "K" with the number of its tile, and its bytes unless it is brief.
Line flight_name(const InsidePlace& at, const Flight& flight, bool brief) {
    const Matter matter = inside::matter_of(at.record(), flight.from);
    Line name = matter_line(matter, "copy");
    if (flight.tile >= 0) name = pieces(name, sub(str(flight.tile), role_of(matter)));
    return brief ? name : pieces(name, word(" " + format_size(flight.bytes)));
}

constexpr float reach_of_slots = 10;    ///< above the lanes, where the playhead is taken
constexpr std::size_t most_named = 80;  ///< of more bars only those on their way have names
/// Half of what the marks of a copy are high.
float flight_mark(float size) { return std::max(3.2f, size * .3f); }

/// Where it is committed; far at the left: nowhere.
float tick_of(const WarpSheet& sheet, const Flight& f) {
    return f.committed < 0 ? -1e6f : sheet.x(f.committed) + sheet.slot_w;
}

bool flies(const Flight& f, int now) { return f.issued <= now && (f.arrived < 0 || now < f.arrived); }

std::vector<FlightBar> find_bars(const InsidePlace& at, const WarpSheet& sheet) {
    std::vector<FlightBar> bars;
    for (const Flight& flight : at.steps().flights()) {
        const float x = sheet.x(flight.issued),
                    end = flight.arrived < 0 ? sheet.area.right() : sheet.x(flight.arrived) + sheet.slot_w;
        if (end - x >= 1) bars.push_back({&flight, x, end});  // of very many, those seen
    }
    std::ranges::stable_sort(bars, {}, &FlightBar::x);
    return bars;
}

/// How many lie below each other where most are on their way.
int rows_needed(const std::vector<FlightBar>& bars) {
    std::vector<float> ends;
    for (const FlightBar& bar : bars) {
        const auto free = std::ranges::find_if(ends, [&](float end) { return end <= bar.x; });
        free == ends.end() ? ends.push_back(bar.end) : void(*free = bar.end);
    }
    return static_cast<int>(ends.size());
}

// A bar keeps its row while the walk goes on: one in which its neighbour has room for its name, else one that
// is free. Of as many rows as are needed one always is.
void choose_rows(const Canvas& c, const InsidePlace& at, std::vector<FlightBar>& bars, int rows, float size) {
    struct Row {
        float end = -1e6f, name_end = -1e6f;
        FlightBar* last = nullptr;
    };
    std::vector<Row> all(static_cast<std::size_t>(std::max(1, rows)));
    for (FlightBar& bar : bars) {
        auto row = std::ranges::find_if(all, [&](const Row& r) { return r.name_end <= bar.x; });
        if (row == all.end()) row = std::ranges::find_if(all, [&](const Row& r) { return r.end <= bar.x; });
        if (row == all.end()) row = all.begin();
        // A very short one is wider, as far as the next one leaves room.
        constexpr float seen = 4;
        if (row->last) row->last->end = std::max(row->end, std::min(row->last->x + seen, bar.x));
        bar.row = static_cast<int>(row - all.begin());
        const float w = size > 0 ? rich_width(c, flight_name(at, *bar.flight, true), size) + 6 : 0;
        const bool within = bar.end - bar.x >= w + 4 * flight_mark(size) + 12;
        *row = {bar.end, within ? bar.end : bar.end + 6 + w, &bar};
        bar.end = std::max(bar.end, bar.x + seen);
    }
}

// Those on their way have their names first: inside its bar, else behind it, else before the lanes. How many
// have one.
int choose_names(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, std::vector<FlightBar>& bars,
                 float left, float size, bool brief) {
    const int now = at.steps().slot(at.warp, at.k);
    const auto is_free = [&](const FlightBar& own, float from, float to) {
        return std::ranges::none_of(bars, [&](const FlightBar& other) {
            return &other != &own && other.row == own.row && other.x < to &&
                   std::max(other.end, other.name_end) > from;
        });
    };
    int named = 0;
    for (const bool flying : {true, false})
        for (FlightBar& bar : bars) {
            if (flies(*bar.flight, now) != flying || (bars.size() > most_named && !flying)) continue;
            bar.brief = brief;
            const float mark = flight_mark(size) * 2 + 6;
            const float w = rich_width(c, flight_name(at, *bar.flight, brief), size) + 6;
            for (const bool inside : {true, false}) {
                if (inside && bar.end - bar.x < w + 2 * mark) continue;
                // Clear of the tick of what is committed
                const float tick = tick_of(sheet, *bar.flight) + 8;
                float name = inside ? bar.x + mark : bar.end + 6;
                if (inside && tick > name && tick < name + w && tick + w < bar.end - mark) name = tick;
                if (!inside && (name + w > sheet.area.right() + 2 || !is_free(bar, bar.end, name + w)))
                    continue;
                bar.name = name, bar.name_end = name + w;
                break;
            }
            // One that begins the lanes has it before them.
            if (bar.name == 0 && bar.x - w >= left && is_free(bar, bar.x - w, bar.x))
                bar.name = bar.x - w, bar.name_end = bar.x;
            named += bar.name > 0;
        }
    return named;
}

// Their bytes stand in all names, or in none.
void choose_names(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet,
                  std::vector<FlightBar>& bars, float left, float size) {
    std::vector<FlightBar> whole = bars;
    const int brief = choose_names(c, at, sheet, bars, left, size, true);
    if (choose_names(c, at, sheet, whole, left, size, false) >= brief) bars = std::move(whole);
}

/// The bars of all copies, in rows of one height.
struct FlightSheet {
    std::vector<FlightBar> bars;
    float top, row;
    float name = 0;  ///< size of their names; 0: the rows are too low for them
    float y(const FlightBar& bar) const { return top + px(bar.row) * row; }
};
FlightSheet lay_out_flights(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, Point corner,
                            const WarpRows& rows, const InsideLook& look) {
    FlightSheet out{find_bars(at, sheet), corner.y, rows.row};
    const int needed = rows_needed(out.bars);
    // No bar hides another: where there are too few rows they are lower.
    int count = rows.flights;
    if (needed > count || !rows.names)
        out.row = rows.row * px(std::max(1, count)) / px(std::max(1, needed)), count = needed;
    if (rows.names && out.row >= 1.1f * look.small) out.name = look.small;
    choose_rows(c, at, out.bars, count, out.name);
    if (out.name > 0) choose_names(c, at, sheet, out.bars, corner.x, out.name);
    for (std::size_t n = 0; n < out.bars.size(); ++n)
        note_part(c, {out.bars[n].x, out.y(out.bars[n]), out.bars[n].end - out.bars[n].x, out.row - 1},
                  "Copy " + str(static_cast<int>(n)));
    return out;
}

// Rows too low for names: those that are on their way are named once, where no bar is.
void draw_names_together(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet,
                         const FlightSheet& flights, float left, float h, float size) {
    const int now = at.steps().slot(at.warp, at.k);
    Line names;
    float x = sheet.area.x;
    for (const FlightBar& bar : flights.bars) {
        if (!flies(*bar.flight, now)) continue;
        names = names.empty() ? flight_name(at, *bar.flight, true)
                              : pieces(names, word(" "), flight_name(at, *bar.flight, true));
        x = std::max(x, bar.end + 10);
    }
    if (names.empty()) return;
    for (const Line& line : {pieces(names, word(" on the way")), names}) {
        const float w = rich_width(c, line, size);
        const bool free = std::ranges::none_of(
            flights.bars, [&](const FlightBar& bar) { return bar.x < x + w && bar.end > x; });
        if (x + w > sheet.area.right() || !free) continue;
        return void(c.rich(x, flights.top + h / 2, line, size, Align::left, c.theme->t1));
    }
    // Before the first of them
    if (const float w = rich_width(c, names, size) + 8; sheet.area.x - w >= left)
        c.rich(sheet.area.x - w, flights.top + h / 2, names, size, Align::left, c.theme->t1);
}

// The triangle of what is issued, the tick of what is committed, the disc of what has come; each where it has
// room.
void draw_flight_bar(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, const FlightBar& bar,
                     float y, float h, float size) {
    const Theme& t = *c.theme;
    const Flight& flight = *bar.flight;
    const int now = at.steps().slot(at.warp, at.k);
    const bool begun = flight.issued <= now, flying = flies(flight, now);
    const ImU32 hue = hue_of(t, inside::matter_of(at.record(), flight.from)),
                ink = begun ? hue : mix(t.panel, hue, .55f);
    const float w = bar.end - bar.x, middle = y + h / 2;
    // As much of its hue as leaves the letter of that hue legible on it
    float part = flying ? .2f : .1f;
    while (part > 0 && contrast(hue, mix(t.panel, hue, part)) < t.text_contrast) part -= .02f;
    c.rect(bar.x, y, w, h, mix(t.panel, hue, std::max(0.0f, part)), 2);
    if (part <= 0 && !flying) c.frame(bar.x, y, w, h, mix(t.panel, hue, .3f), 1, 2);
    if (flying) c.frame(bar.x, y, w, h, hue, 1.5f, 2);
    const float mark = std::min(flight_mark(size), h * .36f);
    if (w >= 3 * mark)
        c.polygon({{bar.x + 1, middle - mark},
                   {bar.x + 1 + 2 * mark, middle - mark},
                   {bar.x + 1 + mark, middle + mark}},
                  ink);
    const float tick = tick_of(sheet, flight);
    const bool behind = tick >= bar.x + 2 * mark + 3 && tick <= bar.end - 2 * mark - 2;
    if (behind && (bar.name <= 0 || tick < bar.name - 2 || tick > bar.name_end))
        c.rect(tick, middle - mark, 2, 2 * mark, ink);
    if (flight.arrived >= 0 && w >= 5 * mark) c.disc(bar.end - mark - 1, middle, mark * .8f, ink);
}

// Above all bars: its index may reach into the next row.
void draw_flight_name(const Canvas& c, const InsidePlace& at, const FlightBar& bar, float middle,
                      float size) {
    const bool flying = flies(*bar.flight, at.steps().slot(at.warp, at.k));
    if (bar.name > 0)
        c.rich(bar.name, middle, flight_name(at, *bar.flight, bar.brief), size, Align::left,
               flying ? c.theme->t1 : c.theme->t2);
}

// Behind the warps the hue of what is on its way; where several are, that of who began first.
void draw_flight_tints(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet,
                       const std::vector<FlightBar>& bars) {
    const int now = at.steps().slot(at.warp, at.k);
    float covered = sheet.area.x;
    for (const FlightBar& bar : bars) {
        const float x = std::max(bar.x, covered);
        if (bar.end <= x) continue;
        const ImU32 hue = hue_of(*c.theme, inside::matter_of(at.record(), bar.flight->from));
        c.rect(x, sheet.area.y - 2, bar.end - x, sheet.area.h + 4,
               with_alpha(hue, flies(*bar.flight, now) ? .17f : .06f));
        covered = bar.end;
    }
}

// ---- Below the warps: what the chosen one computes, and the slots

/// A letter of a phase's name; that of the matrix that passes by may have the number of its tile.
struct PhaseLetters {
    const inside::PhaseStretch& of;
    bool numbered;
    Line operator()(Matter matter, const char* above = "") const {
        Line name = matter_line(matter, "");
        if (numbered && of.passes == matter && of.tile >= 0)
            name = pieces(name, sub(str(of.tile), role_of(matter)));
        return *above ? pieces(name, super(above, role_of(matter))) : name;
    }
};

Line phase_name(const inside::PhaseStretch& of, bool numbered) {
    const PhaseLetters letter{of, numbered};
    Line P = pieces(symbol("P", Role::S)), dS = matter_line(Matter::dS, "");
    const auto transposed = [](const Line& name) { return pieces(name, super("T", Role::S)); };
    switch (of.phase) {
    case Phase::scores:
        return pieces(symbol("S", Role::S), word(" = "), letter(Matter::Q), word(" "),
                      letter(Matter::K, "T"));
    case Phase::softmax:
        return pieces(symbol("m", Role::m), word(" "), symbol("α", Role::alpha), word(" "),
                      symbol("P", Role::S, true), word(" "), symbol("ℓ", Role::l));
    case Phase::output:
        return pieces(symbol("O", Role::O), word(" += "), symbol("P", Role::S, true), word(" "),
                      letter(Matter::V));
    case Phase::exponentials: return pieces(word("exp"));
    case Phase::weights: return P;
    case Phase::dP:
        return pieces(matter_line(Matter::dP, ""), word(" = "), letter(Matter::dO), word(" "),
                      letter(Matter::V, "T"));
    case Phase::dS: return dS;
    case Phase::dV:
        return pieces(matter_line(Matter::dV, ""), word(" += "), transposed(P), word(" "),
                      letter(Matter::dO));
    case Phase::dK:
        return pieces(matter_line(Matter::dK, ""), word(" += "), transposed(dS), word(" "),
                      letter(Matter::Q));
    case Phase::dQ:
        return pieces(matter_line(Matter::dQ, ""), word(" += "), dS, word(" "), letter(Matter::K));
    default: return {};
    }
}

// Where all of it has no room, what is computed.
Line brief_phase_name(Phase phase) {
    static constexpr Matter sums[] = {Matter::none, Matter::S,  Matter::P,  Matter::none,
                                      Matter::O,    Matter::P,  Matter::dP, Matter::dS,
                                      Matter::dV,   Matter::dK, Matter::dQ};
    static_assert(std::size(sums) == static_cast<std::size_t>(Phase::count));
    const Matter sum = sums[static_cast<std::size_t>(phase)];
    return sum == Matter::none ? Line{} : matter_line(sum, "");
}

// A name may reach into the steps between two phases, which belong to neither.
// The chosen warp; where that computes nothing, as a producer, the first that does. −1: none does.
int computing_warp(const InsidePlace& at) {
    const auto& all = at.launch->phases;
    if (!all[static_cast<std::size_t>(at.warp)].empty()) return at.warp;
    const auto first = std::ranges::find_if(all, [](const auto& phases) { return !phases.empty(); });
    return first == all.end() ? -1 : static_cast<int>(first - all.begin());
}

void draw_phases(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, float names, float y,
                 float size) {
    const Theme& t = *c.theme;
    const float least = 1.2f * size;  // of a very long record each pixel may be another stretch
    const int warp = computing_warp(at);
    if (warp < 0) return;
    const auto& all = at.launch->phases[static_cast<std::size_t>(warp)];
    const std::string whose = sheet.lanes.of_roles ? role_text(role_of_warp(at, warp)) : "warp " + str(warp);
    if (warp != at.warp) c.text_within(sheet.area.x - names, y, names - 8, whose, size, t.t3);
    float taken = sheet.area.x;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const inside::PhaseStretch& s = all[n];
        const float from = sheet.x(s.first), to = sheet.x(s.last + 1);
        const float left = std::max(taken, n > 0 ? sheet.x(all[n - 1].last + 1) : sheet.area.x),
                    right = n + 1 < all.size() ? sheet.x(all[n + 1].first) : sheet.area.right();
        if (right - left < least) continue;
        // Where it has room only beside its stretch, what is computed stands below that.
        const auto middle_of = [&](const Line& name) {
            const float half = rich_width(c, name, size) / 2;
            return std::clamp((from + to) / 2, std::min(left + half + 4, right),
                              std::max(right - half - 4, left));
        };
        const auto fits = [&](const Line& name) {
            const float w = rich_width(c, name, size);
            return w + 8 <= right - left &&
                   std::abs(middle_of(name) - (from + to) / 2) <= (sheet.lanes.of_roles ? w / 4 : w / 2);
        };
        Line name = phase_name(s, true);
        if (!fits(name)) name = phase_name(s, false);
        if (!fits(name)) name = brief_phase_name(s.phase);
        const float w = rich_width(c, name, size);
        if (w == 0 || right - left < w + 8) continue;
        const float middle = middle_of(name);
        c.rich(middle, y, name, size, Align::center);
        taken = middle + w / 2 + .9f * size;  // two names are not one product
        // A short line would be a minus sign.
        const float least_line = 1.5f * size, before = middle - w / 2 - 6, behind = middle + w / 2 + 6;
        if (before - from >= least_line) c.line({from, y}, {before, y}, t.line2, 1);
        if (to - behind >= least_line) c.line({behind, y}, {to, y}, t.line2, 1);
    }
}

// Slots stand for the order of issue: so many instructions of a warp, not a time.
void draw_slot_axis(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet, float names, float y,
                    float size) {
    const Theme& t = *c.theme;
    c.text_within(sheet.area.x - names, y, names - 8, "slot", size, t.t3);
    float apart = 1;
    for (int n = 0; apart * sheet.slot_w < 70; ++n) apart *= n % 3 == 1 ? 2.5f : 2.0f;  // 1, 2, 5, 10, …
    for (float slot = 0; slot < px(at.steps().slots()); slot += apart) {
        const float x = sheet.area.x + slot * sheet.slot_w;
        const std::string text = format_count(static_cast<std::int64_t>(slot));
        if (x + text_width(Face::mono, size, text) > sheet.area.right()) break;
        c.line({x + .5f, y - size * .5f}, {x + .5f, y + size * .5f}, t.line2, 1);
        c.text(x + 4, y, text, size, t.t3, Face::mono);
    }
}

void draw_barriers(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet) {
    const Theme& t = *c.theme;
    const int now = at.steps().slot(at.warp, at.k);
    const auto& all = at.steps().barriers();
    float last = -10;
    for (const int slot : all) {
        const float x = sheet.x(slot) + sheet.slot_w / 2;
        if (x - last < 3) continue;  // of many, those that can be told apart
        last = x;
        const ImU32 ink = slot <= now ? t.t1 : t.t3;
        c.line({x, sheet.area.y - 4}, {x, sheet.area.bottom() + 4}, ink, 1.5f);
        c.rect(x - 2.5f, sheet.area.bottom() + 2, 5, 5, ink, 1);
    }
}

// Where each warp came to what is left out: it went on.
void draw_gaps(const Canvas& c, const BrokenWalk& told, const InsidePlace& at, const WarpSheet& sheet) {
    std::vector<float> last(static_cast<std::size_t>(at.steps().warps()), -10.0f);
    for (const BrokenWalk::Gap& gap : told.gaps) {
        if (gap.launch != at.launch) continue;
        const float x = sheet.x(gap.slot) + sheet.slot_w / 2;
        float& before = last[static_cast<std::size_t>(gap.warp)];
        if (x - before < 3) continue;
        before = x;
        c.dashed_line({x, sheet.y(gap.warp) - 2}, {x, sheet.y(gap.warp) + sheet.lane_h + 2}, c.theme->danger,
                      2, {3, 2});
    }
}

// From the access that happened first in this run to the other one; a copy that nobody waits for comes behind
// all.
void draw_race_arrow(const Canvas& c, const BrokenWalk& told, const InsidePlace& at, const WarpSheet& sheet) {
    const Theme& t = *c.theme;
    const inside::Crossing& crossing = *told.crossing;
    const inside::CrossingSide& from = crossing.crossed ? crossing.second : crossing.first;
    const inside::CrossingSide& to = crossing.crossed ? crossing.first : crossing.second;
    const auto point = [&](const inside::CrossingSide& side, const std::optional<std::uint32_t>& event) {
        const int k = event ? at.origins().step_number(*event) : -1;
        const float x =
            k < 0 ? sheet.area.right() - 4 : sheet.x(at.steps().slot(side.warp, k)) + sheet.slot_w / 2;
        return Point{x, sheet.y(side.warp) + sheet.lane_h / 2};
    };
    const Point a = point(from, told.first), b = point(to, told.second);
    // From lane to lane it leaves and comes down or up, so that it never turns back; within one it goes round
    // over its neighbour: above the first there are names.
    const bool within = sheet.lanes.lane(from.warp) == sheet.lanes.lane(to.warp);
    const float round =
        (sheet.lanes.lane(from.warp) > 0 ? -1.0f : 1.0f) * std::min(26.0f, sheet.area.h * .5f);
    const float turn_a = within ? a.y + round : (a.y + b.y) / 2, turn_b = within ? b.y + round : turn_a;
    const Point tip{b.x, b.y + (turn_b < b.y ? -7.0f : 7.0f)};
    c.bezier_arrow(a, {a.x, turn_a}, {b.x, turn_b}, tip, t.panel, 5, 11);
    c.bezier_arrow(a, {a.x, turn_a}, {b.x, turn_b}, tip, t.danger);
    c.disc(a.x, a.y, 4.5f, t.danger);
    c.ring(b.x, b.y, 5.5f, t.danger, 2);
}

void draw_playhead(const Canvas& c, const InsidePlace& at, const WarpSheet& sheet) {
    const Theme& t = *c.theme;
    const float x = sheet.x(at.steps().slot(at.warp, at.k)) + sheet.slot_w / 2;
    c.line({x, sheet.area.y - 4}, {x, sheet.area.bottom() + 6}, t.focus, 2);
    c.polygon({{x - 6, sheet.area.y - 8}, {x + 6, sheet.area.y - 8}, {x, sheet.area.y + 1}}, t.focus);
    c.rect(x - 3.5f, sheet.y(at.warp) - 1, 7, sheet.lane_h + 2, t.focus, 2);
}

/// As wide as the names of the lanes are.
float names_width(const InsidePlace& at, const Lanes& lanes, float size) {
    if (!have_roles(at)) return text_width(Face::semibold, size, "warp 00") + 12;
    const float role = text_width(Face::medium, size, "consumer 0");
    return lanes.of_roles ? role + 16 : role + text_width(Face::semibold, size, "00") + 22;
}

// "consumer 2" beside its warps.
void draw_roles(const Canvas& c, const WarpSheet& sheet, float left, const InsidePlace& at, float size) {
    const Theme& t = *c.theme;
    for (int first = 0, end = 0; first < at.steps().warps(); first = end) {
        while (end < at.steps().warps() && same_role(role_of_warp(at, end), role_of_warp(at, first))) ++end;
        const float top = sheet.y(first), foot = sheet.y(end - 1) + sheet.lane_h;
        const bool chosen = at.warp >= first && at.warp < end;
        if (foot - top < size * .8f) continue;
        c.text(left, (top + foot) / 2, role_text(role_of_warp(at, first)), size, chosen ? t.t1 : t.t3,
               chosen ? Face::medium : Face::regular);
    }
}

std::string warp_tip(const InsidePlace& at, int warp) {
    const std::string role = role_text(role_of_warp(at, warp));
    return "Warp " + str(warp) + (role.empty() ? "" : ", " + role) + ": " +
           counted(at.steps().count(warp), "step");
}

void draw_names(const Canvas& c, AppState& state, const WarpSheet& sheet, float left, const InsidePlace& at,
                float size) {
    const Theme& t = *c.theme;
    const int warps = at.steps().warps(),
              apart = std::max(1, static_cast<int>(std::ceil(size / sheet.pitch)));
    const bool roles = have_roles(at);
    if (roles) draw_roles(c, sheet, left, at, size);
    // Groups are named where they begin
    const auto begins = [&](int w) {
        return w == 0 || !same_role(role_of_warp(at, w), role_of_warp(at, w - 1));
    };
    for (int w = 0; w < warps; ++w) {
        if (!sheet.lanes.shows(w)) continue;  // a lane of a role has its name alone
        const bool chosen = w == at.warp;
        const float y = sheet.y(w) + sheet.lane_h / 2;
        const Face face = chosen ? Face::semibold : Face::regular;
        // Where all names have no room, the chosen one and those at a distance
        if (!sheet.lanes.of_roles &&
            (chosen || ((roles ? begins(w) : w % apart == 0) && std::abs(w - at.warp) >= apart)))
            c.text(roles ? sheet.area.x - 12 : left, y, roles ? str(w) : "warp " + str(w), size,
                   chosen ? t.t1 : t.t3, face, roles ? Align::right : Align::left);
        const Hot hot =
            hot_area(c, "##warp " + str(w), left - 4, sheet.y(w) - 1, sheet.area.x - left, sheet.pitch);
        if (hot.hovered) tooltip(c, warp_tip(at, w) + ". Click: this moment in it.");
        if (hot.clicked) choose_warp(state, w);
    }
}

// "Warp 5, consumer 1, step 120: ldmatrix"
std::string step_tip(const InsidePlace& at, int warp, int k) {
    const std::string role = role_text(role_of_warp(at, warp));
    const inside::Event& event = at.block().events[at.steps().event(warp, k)];
    const Phase phase =
        phase_of(at.block(), at.origins(), at.steps().event(warp, k), at.walk->own_text.empty());
    static constexpr const char* names[] = {"",         ", for S",  ", of the softmax", "",
                                            ", for O",  ", for P",  ", for dP",         ", for dS",
                                            ", for dV", ", for dK", ", for dQ"};
    static_assert(std::size(names) == static_cast<std::size_t>(Phase::count));
    return "Warp " + str(warp) + (role.empty() ? "" : ", " + role) + ", step " + format_count(k + 1) + ": " +
           inside::words_of_step(at.record(), at.block(), event).instruction +
           names[static_cast<std::size_t>(phase)];
}

// "Tile 1 of K: 8 KiB from K[64, 0] on, to shared 0x4000; issued in slot 30, arrived in slot 131"
std::string flight_tip(const InsidePlace& at, const Flight& f) {
    const std::string name = inside::symbol_of(inside::matter_of(at.record(), f.from));
    std::string text = f.tile >= 0 ? "Tile " + str(f.tile) + " of " + name : name.empty() ? "A copy" : name;
    text += ": " + format_size(f.bytes);
    if (f.from != 0) text += " from " + inside::short_address(at.record(), f.from) + " on";
    text += ", to " + inside::short_address(at.record(), f.to) + "; issued in slot " + format_count(f.issued);
    return text + (f.arrived < 0 ? "; nobody waits for it" : ", arrived in slot " + format_count(f.arrived)) +
           ". Click: where it is issued.";
}

float end_of(const std::vector<FlightBar>& bars, float from) {
    for (const FlightBar& bar : bars) from = std::max({from, bar.end, bar.name_end});
    return from;
}

// What a bar is, whether its name has room or not; `top`, `row`: of the first row of bars.
void answer_flights(const Canvas& c, AppState& state, const WarpSheet& sheet,
                    const std::vector<FlightBar>& bars, float top, float row, const InsidePlace& at) {
    const float left = sheet.area.x;
    const Hot hot = hot_area(c, "##flights", left, top, end_of(bars, left) - left,
                             std::max(0.0f, sheet.area.y - reach_of_slots - top));
    const Point mouse = c.mouse();
    for (const FlightBar& bar : bars) {
        const float y = top + px(bar.row) * row;
        const bool here = mouse.x >= bar.x && mouse.x < std::max(bar.end, bar.name_end) && mouse.y >= y &&
                          mouse.y < y + row;
        if (!here || !hot.hovered) continue;
        tooltip(c, flight_tip(at, *bar.flight));
        if (hot.clicked)
            state.inside.playing = false,
            go_inside(state, at.warp, at.steps().at_slot(at.warp, bar.flight->issued));
        return;
    }
}

void answer_mouse(const Canvas& c, AppState& state, const WarpSheet& sheet, const InsidePlace& at) {
    const Hot hot = hot_area(c, "##warps", sheet.area.x, sheet.area.y - reach_of_slots, sheet.area.w,
                             sheet.area.h + reach_of_slots + 6);
    const Point mouse = c.mouse();
    const int slot = static_cast<int>((mouse.x - sheet.area.x) / sheet.slot_w);
    const int lane =
        std::clamp(static_cast<int>((mouse.y - sheet.area.y) / sheet.pitch), 0, sheet.lanes.count() - 1);
    const int row = sheet.lanes.warps[static_cast<std::size_t>(lane)];
    if (hot.hovered && !hot.held && mouse.y >= sheet.area.y && at.steps().count(row) > 0)
        tooltip(c, step_tip(at, row, at.steps().at_slot(row, std::max(0, slot))));
    if (!hot.held && !hot.clicked) return;
    // A drag stays in its warp.
    const int warp = hot.clicked && mouse.y >= sheet.area.y ? row : at.warp;
    state.inside.playing = false;
    go_inside(state, warp, at.steps().at_slot(warp, std::max(0, slot)));
}

/// How the height is shared out.
WarpRows share_out(float h, const InsidePlace& at, const Lanes& lanes, const InsideLook& look) {
    const int warps = lanes.count();
    const bool copies = !at.steps().flights().empty(), phases = computing_warp(at) >= 0;
    WarpRows out;
    const bool many = warps > most_high_lanes;
    out.row = look.small * (many ? 1.25f : 1.35f);
    const float of_each = lanes.of_roles ? look.small  // with a name beside it
                          : look.far     ? (many ? 9.0f : 16.0f)
                          : many         ? 5.0f
                                         : 12.0f;
    float left = h - px(warps) * of_each - 16;
    const auto wish = [&left](float wanted) {
        if (left < wanted) return 0.0f;
        left -= wanted;
        return wanted;
    };
    const auto wish_row = [&] {
        if (copies && wish(out.row) > 0) ++out.flights;
    };
    if (copies) ++out.flights, left -= out.row;
    // What the chosen warp computes comes before a third row of copies; for the back row it and the slots
    // come before a second one.
    const float text = look.small * (look.far ? 1.3f : 1.4f);
    if (!look.far) wish_row();
    const bool own = computing_warp(at) == at.warp || lanes.of_roles;
    if (phases && own) out.phases = wish(text);
    // Each that is on its way has a row of its own, as far as there is room: in one row names would be lost.
    const int rows = std::clamp(at.steps().flights_at_once(), many ? 3 : 2, most_flight_rows);
    while (look.far && copies && out.flights < at.steps().flights_at_once() && left >= out.row) wish_row();
    if (look.far) out.axis = wish(text), wish_row();
    while (copies && many && out.flights < rows && left >= out.row) wish_row();
    if (!many) wish_row();
    if (!look.far) out.axis = wish(text);
    if (phases && !own) out.phases = wish(text);  // of another warp: what is left
    // Without room for names thin rows: no bar hides another.
    if (many && out.flights == 1) out.flights = rows, out.row /= px(rows), out.names = false;
    out.lanes = h - std::max(10.0f, px(out.flights) * out.row) - out.phases - out.axis - 14;
    return out;
}

}  // namespace

Rect draw_warps(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                const InsideLook& look) {
    const Lanes lanes = choose_lanes(at, look.far);
    const float names = names_width(at, lanes, look.small);
    const int warps = lanes.count();
    const WarpRows rows = share_out(a.h, at, lanes, look);
    WarpSheet sheet;
    sheet.lanes = lanes;
    const float head = std::max(18.0f, px(rows.flights) * rows.row + 8);
    sheet.area = {a.x + names, a.y + head, a.w - names, rows.lanes};
    sheet.pitch = std::min((look.far ? 2.6f : 2.35f) * look.small, sheet.area.h / px(warps));
    sheet.lane_h = sheet.pitch >= 8 ? sheet.pitch - 3 : sheet.pitch * .8f;
    sheet.area.h = sheet.pitch * px(warps);
    sheet.slot_w = sheet.area.w / px(std::max(1, at.steps().slots()));
    const FlightSheet flights = lay_out_flights(c, at, sheet, {a.x, a.y}, rows, look);
    draw_flight_tints(c, at, sheet, flights.bars);
    // From the back row bars too low for names are specks: the tints behind the lanes tell as much.
    const bool specks = look.far && flights.name <= 0;
    for (const FlightBar& bar : flights.bars)
        if (!specks)
            draw_flight_bar(c, at, sheet, bar, flights.y(bar), flights.row - (flights.row > 8 ? 2 : 1),
                            look.small);
    for (const FlightBar& bar : flights.bars)
        draw_flight_name(c, at, bar, flights.y(bar) + flights.row / 2 - 1, look.small);
    if (flights.name <= 0) draw_names_together(c, at, sheet, flights, a.x, head - 8, look.small);
    for (const int w : lanes.warps) draw_lane(c, at, sheet, w);
    draw_running(c, at, sheet);
    draw_barriers(c, at, sheet);
    const BrokenWalk* const told = state.kernel_walk->broken.get();
    if (told) draw_gaps(c, *told, at, sheet);
    draw_playhead(c, at, sheet);
    if (told && told->crossing &&
        at.launch == at.walk->launches[static_cast<std::size_t>(told->launch)].get())
        draw_race_arrow(c, *told, at, sheet);
    draw_names(c, state, sheet, a.x, at, look.small);
    float y = sheet.area.bottom() + 8;
    if (rows.phases > 0) draw_phases(c, at, sheet, names, y + rows.phases / 2, look.small), y += rows.phases;
    if (rows.axis > 0) draw_slot_axis(c, at, sheet, names, y + rows.axis / 2, look.small);
    answer_flights(c, state, sheet, flights.bars, a.y, flights.row, at);
    answer_mouse(c, state, sheet, at);
    const float end = end_of(flights.bars, a.x);
    return {end, a.y, a.right() - end, flights.row};
}

}  // namespace tilewalk::ui
