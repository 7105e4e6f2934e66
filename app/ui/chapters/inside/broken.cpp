// The page while something is left out: the race as two arrows that cross, or the banks with and without the
// swizzle, or the step as ever; the numbers that come of it; and at the right what happened, and the way
// back.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using inside::Crossing;
using inside::CrossingSide;
using inside::FaultKind;

/// Of the step's access, with and without: both are drawn to one scale.
int most_ways(const InsidePlace& a, const InsidePlace& b) {
    int most = 1;
    for (const InsidePlace* at : {&a, &b}) {
        const ShownAccess shown = shown_access(*at, {});
        if (!shown.event) continue;
        for (const inside::Access& access :
             inside::accesses_of(*shown.event, at->block().words_of(*shown.event)))
            if (access.shared)
                most = std::max(most,
                                inside::bank_turns(access.addresses, access.lanes, shown.event->bytes).ways);
    }
    return most;
}

/// Where the step asks for no address the warp's next one that does: what the swizzle is for is seen
/// anywhere.
InsidePlace next_access(const InsidePlace& at) {
    constexpr int ahead = 256;  // steps
    InsidePlace there = at;
    for (int k = at.k; k < std::min(at.steps().count(at.warp), at.k + ahead); ++k) {
        there.k = k, there.n = at.steps().event(at.warp, k), there.event = &at.block().events[there.n];
        there.words = at.block().words_of(*there.event);
        const ShownAccess of = shown_access(there, {});
        if (!of.event) continue;
        const auto all = inside::accesses_of(*of.event, at.block().words_of(*of.event));
        if (std::ranges::any_of(all, &inside::Access::shared)) return there;
    }
    return at;
}

/// The same step with and without the swizzle.
void draw_both_layouts(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& here) {
    const InsidePlace at = next_access(here);
    const InsidePlace sound = next_access(place_in(*state.kernel_walk->sound, state.inside));
    const int later = at.k - here.k;
    const float w = std::floor((a.w - space::margin) / 2);
    const InsidePlace* const places[] = {&at, &sound};
    const char* const names[] = {"Without the swizzle", "With it"};
    const int most = most_ways(at, sound);
    note_part(c, a, "Memory");
    for (int n = 0; n < 2; ++n) {
        const Rect part{a.x + px(n) * (w + space::margin), a.y, w, a.h};
        const Panel panel(c, n == 0 ? "Banks broken" : "Banks sound", part, names[n],
                          later > 0 ? "in " + counted(later, "step") : "");
        const ShownAccess shown = shown_access(*places[n], cell_inside(state));
        const Rect in{part.inner_x(), part.y + 46, part.inner_w(), part.h - 46 - space::foot};
        InsideLook look;
        look.fixed = true, look.ways = most;
        if (shown.event)
            draw_banks(c, state, in, *places[n], *shown.event, look);
        else
            c.text_within(in.x, in.y + 14, in.w, "This step asks for no address.", size::body, c.theme->t3);
    }
}

std::string side_of_race(const InsidePlace& at, const inside::RaceAccess& side) {
    const std::string place = inside::place_text(at.record(), side.place);
    const std::string from = side.block == at.walk->block ? called_from(at, side.event) : "";
    return "warp " + str(side.warp) + ", " + inside::lanes_text(side.lanes) + ", " +
           place.substr(place.find_last_of('/') + 1) + (from.empty() ? "" : ", called from " + from);
}

// Of a kernel of the user's own there is no sound run to hold its numbers against: all places that race.
void draw_all_races(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const auto& races = at.launch->launch->races;
    const Panel panel(c, "Numbers", a, "All that races", counted(std::ssize(races), "pair") + " of places");
    const Theme& t = *c.theme;
    constexpr float row = 22;
    float y = a.y + 42;
    for (std::size_t n = 0; n < races.size() && y + row <= a.bottom() - 6; ++n, y += row) {
        const inside::Race& race = races[n];
        const Hot hot = hot_area(c, "##own race " + str(n), a.inner_x() - 6, y, a.inner_w() + 12, row);
        if (hot.hovered) c.rect(a.inner_x() - 6, y, a.inner_w() + 12, row, t.raised, radius::cell);
        const float w = a.inner_w() * .22f, half = (a.inner_w() - w) / 2, middle = y + row / 2;
        c.text_within(a.inner_x(), middle, w - 10, inside::short_address(at.record(), race.address),
                      size::small, t.t1, Face::semibold);
        c.text_within(a.inner_x() + w, middle, half - 10, side_of_race(at, race.first), size::small, t.t2);
        c.text_within(a.inner_x() + w + half, middle, half, side_of_race(at, race.second), size::small, t.t2);
        if (hot.hovered) tooltip(c, counted(race.times, "pair") + " of accesses. Click: the second one.");
        const int k = race.second.block == at.walk->block ? at.origins().step_number(race.second.event) : -1;
        if (hot.clicked && k >= 0) {
            choose_lane(state, std::countr_zero(race.second.lanes));
            state.inside.step_told = true;
            go_inside(state, race.second.warp, k);
        }
    }
}

std::string who_of(const CrossingSide& side, bool same_warp) {
    return same_warp ? "lane " + str(side.lane) + " of warp " + str(side.warp) : "warp " + str(side.warp);
}

}  // namespace

std::string title_of_fault(const BrokenWalk& told) {
    return told.own ? "as the kernel is" : inside::title_of(told.fault);
}

const char* title_of_outcome(const BrokenWalk& told, const inside::Record& record) {
    if (record.races() > 0) return record.races() == record.lost_turns() ? "Lost turn" : "Race";
    if (told.damage.wrong > 0) return "Wrong numbers";
    return told.fault.kind == FaultKind::swizzle ? "Bank conflicts" : "No difference";
}

std::string race_sentence(const Crossing& crossing, std::int64_t wrong) {
    const CrossingSide &first = crossing.first, &second = crossing.second;
    const bool same = first.warp == second.warp;
    const std::string a = who_of(first, same), b = who_of(second, same);
    std::string text;
    if (inside::is_register(crossing.address))
        text = capitalised(b) + " takes a sum that its own product has not brought yet.";
    else if (same && first.lane == second.lane && first.writes && !second.writes)
        text = capitalised(b) + (crossing.crossed ? " reads what its own copy has not brought yet."
                                                  : " may read what its own copy has not brought yet.");
    else if (first.writes && second.writes)
        text = capitalised(a) + " and " + b + " write to one place, and nothing says who comes last.";
    else if (first.writes)
        text = capitalised(b) + (crossing.crossed ? " reads what " : " may read what ") + a +
               " has not written yet.";
    else
        text = capitalised(b) + (crossing.crossed ? " writes over what " : " may write over what ") + a +
               " has still to read.";
    // Where the source makes no order, none was kept.
    const bool lucky = crossing.ordered && !crossing.crossed && wrong == 0;
    return lucky ? text + " This run kept the order, by luck." : text;
}

void inside_broken(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const BrokenWalk& told = *state.kernel_walk->broken;
    const float lower = std::max(134.0f, std::floor(a.h * .3f)), upper = a.h - lower - space::margin;
    const Rect top{a.x, a.y, a.w, upper}, foot{a.x, a.y + upper + space::margin, a.w, lower};
    if (told.crossing) {
        const std::string where = inside::address_text(at.record(), told.crossing->address);
        const Panel panel(c, "Crossing", top, "Two accesses cross", where);
        const InsidePlace there = crossing_place(state, at);
        draw_crossing(c, state, {top.inner_x(), top.y + 44, top.inner_w(), top.h - 44 - space::foot}, there,
                      told, {});
    } else if (told.fault.kind == FaultKind::swizzle) {
        draw_both_layouts(c, state, top, at);
    } else {
        inside_shows_memory(state) ? inside_memory(c, state, top, at) : inside_registers(c, state, top, at);
    }
    if (told.own) return draw_all_races(c, state, foot, at);
    const bool wrong = told.damage.wrong > 0;
    const Panel panel(
        c, "Numbers", foot, wrong ? "The number it makes" : "The numbers",
        wrong ? format_count(told.damage.wrong) + " of " + format_count(told.damage.cells) + " wrong" : "");
    draw_damage(c, {foot.inner_x(), foot.y + 40, foot.inner_w(), foot.h - 40 - 10}, told, at, {});
}

InsidePlace crossing_place(const AppState& state, const InsidePlace& at) {
    InsidePlace there = at;
    const auto& launches = at.walk->launches;
    const int last = static_cast<int>(launches.size()) - 1;
    there.launch =
        launches[static_cast<std::size_t>(std::clamp(state.kernel_walk->broken->launch, 0, last))].get();
    return there;
}

namespace {

/// A pen that goes down the panel.
struct FaultPen {
    const Canvas& c;
    Rect a;
    float y, end;
    float room() const { return end - y; }
    /// As a whole, or not at all.
    void words(const std::string& text, float size, ImU32 colour, Face face = Face::regular) {
        if (paragraph_height(a.inner_w(), text, size) > room() + 1) return;
        y += c.paragraph(a.inner_x(), y, a.inner_w(), text, size, colour, 0, face) + 6;
    }
    /// `brief`: where the whole value has no room.
    void row(const std::string& name, const std::string& value, const std::string& brief = "") {
        if (room() < 20) return;
        const float w = c.text(a.inner_x(), y + 8, name, size::small, c.theme->t3);
        text_that_fits(c, a.inner_right(), y + 8, a.inner_w() - w - 12,
                       {value, brief.empty() ? value : brief}, size::small, c.theme->t1, Face::mono,
                       Align::right);
        y += 19;
    }
};

std::string line_of_side(const InsidePlace& at, const CrossingSide& side, bool lane) {
    return "warp " + str(side.warp) + (lane ? ", lane " + str(side.lane) : "") + ", line " +
           str(at.record().places[side.place].line);
}

void draw_race_table(FaultPen& pen, const InsidePlace& at, const Crossing& crossing) {
    for (const CrossingSide* side : {&crossing.first, &crossing.second}) {
        pen.row(side->writes ? "writer" : "reader", line_of_side(at, *side, true),
                line_of_side(at, *side, false));
        const std::string from = called_from(at, side->event);
        if (!from.empty()) pen.row("   called from", from);
    }
    pen.row("address", inside::short_address(at.record(), crossing.address));
    if (inside::is_shared(crossing.address))
        pen.row("bank", str(crossing.address / inside::bank_bytes % inside::banks));
    pen.row("pairs that race here", format_count(crossing.pairs));
    pen.y += 8;
}

/// Of a turn that is lost: who gave it, and who gave it again.
const inside::Race* lost_turn(const InsidePlace& at) {
    for (const inside::Launch& launch : at.record().launches)
        for (const inside::Race& race : launch.races)
            if (inside::is_numbered_barrier(race.address)) return &race;
    return nullptr;
}

void draw_turn_table(FaultPen& pen, const InsidePlace& at, const inside::Race& race) {
    const auto place = [&](const inside::RaceAccess& side) {
        return "warp " + str(side.warp) + ", line " + str(at.record().places[side.place].line);
    };
    pen.row("given by", place(race.first));
    pen.row("and again by", place(race.second));
    pen.row("taken by", "nobody");
    pen.row("barrier", str(race.address - inside::numbered_base));
    pen.row("so often", format_count(race.times));
    pen.y += 8;
}

void draw_bank_table(FaultPen& pen, const InsidePage& page) {
    const inside::BankTotals sound = inside::bank_totals(page.sound->record),
                             now = inside::bank_totals(page.shown->record);
    pen.row("turns of the banks", format_count(now.turns));
    pen.row("with the swizzle", format_count(sound.turns));
    pen.row("worst conflict", counted(now.ways, "way"));
    pen.y += 8;
}

// What is to be expected, in which order this run went, and what the kernel says of the line: what has no
// room as a whole is left out.
void draw_fault_words(FaultPen& pen, const AppState& state, const InsidePlace& at, const BrokenWalk& told) {
    const Theme& t = *pen.c.theme;
    if (told.own)
        return pen.words(
            "Nothing orders the two accesses: a barrier between them would, or for a copy its wait "
            "and a barrier behind that. There is no sound run to hold the numbers against.",
            size::small, t.t1);
    pen.words(!told.crossing && lost_turn(at)
                  ? "Nothing says any more which group multiplies while the other takes exponentials."
                  : inside::info(told.fault.kind).expect,
              size::small, t.t1);
    pen.words("Order of this run: " + inside::schedule_text(at.record().schedule) + "; " +
                  counted(told.tried, "order") + " tried.",
              size::small, t.t2);
    const inside::SourceText* source = told.fault.line > 0 ? source_of(state, told.fault.file) : nullptr;
    const std::string remark = source ? inside::remark_on(*source, told.fault.line) : "";
    if (!remark.empty()) pen.words("The kernel says of it: " + remark, size::small, t.t2);
}

std::string back_label(const inside::Fault& fault) {
    return fault.line > 0 ? "Put line " + str(fault.line) + " back" : "Put it back";
}

}  // namespace

void inside_fault(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Fault", a);
    const InsidePlace at = place_inside(state);
    if (!at) return;
    const Theme& t = *c.theme;
    const InsidePage& page = *state.kernel_walk;
    const BrokenWalk& told = *page.broken;
    const float button_y = a.bottom() - space::foot - space::bar;
    c.text_within(a.inner_x(), a.y + 26, a.inner_w() - 78, title_of_outcome(told, at.record()),
                  a.w > 300 ? 20 : 17, t.t1, Face::semibold);
    if (button(c, "##tell step", a.inner_right() - 68, a.y + 11, 68, 28, "Step",
               {.quiet = true, .size = size::small, .tooltip = "What the step does (F)"}))
        state.inside.step_told = true;
    c.text_within(a.inner_x(), a.y + 50, a.inner_w(), title_of_fault(told), size::small, t.danger,
                  Face::semibold);
    FaultPen pen{c, a, a.y + 68, told.own ? a.bottom() - space::foot : button_y - 10};
    const InsidePlace there = crossing_place(state, at);
    if (told.crossing) {
        pen.words(race_sentence(*told.crossing, told.damage.wrong), size::body, t.t1);
        draw_race_table(pen, there, *told.crossing);
    } else {
        pen.words(inside::info(told.fault.kind).what, size::body, t.t1);
        if (told.fault.kind == FaultKind::swizzle) draw_bank_table(pen, page);
        if (const inside::Race* const turn = lost_turn(at)) draw_turn_table(pen, at, *turn);
    }
    if (pen.room() > 60) rule(c, a, pen.y), pen.y += 10, draw_fault_words(pen, state, at, told);
    if (told.own) return;
    if (button(c, "##put back", a.inner_x(), button_y, a.inner_w(), space::bar, back_label(told.fault),
               {.primary = true, .tooltip = "X"}))
        choose_inside_fault(state, state.inside.fault);
}

void far_fault(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const InsideLook look{size::far, size::far, 1.5f, true, true};
    const BrokenWalk& told = *state.kernel_walk->broken;
    const float lower = told.damage.wrong == 0 ? 76 : 160, upper = a.h - lower - 20;
    const Rect top{a.x, a.y, a.w, upper};
    if (told.crossing) {
        draw_crossing(c, state, top, crossing_place(state, at), told, look);
    } else if (told.fault.kind == FaultKind::swizzle) {
        const InsidePlace next = next_access(at),
                          sound = next_access(place_in(*state.kernel_walk->sound, state.inside));
        const float w = (a.w - 50) / 2;
        float x = a.x;
        InsideLook of_both = look;
        of_both.ways = most_ways(next, sound);
        const char* name = "Without the swizzle";
        constexpr float head = 36;
        for (const InsidePlace& place : {next, sound}) {
            c.text(x, a.y + 16, name, size::far, c.theme->t2, Face::medium);
            if (const ShownAccess shown = shown_access(place, cell_inside(state)); shown.event)
                draw_banks(c, state, {x, a.y + head, w, upper - head}, place, *shown.event, of_both);
            x += w + 50, name = "With it";
        }
    } else if (at.event->op == inside::Op::multiply_add) {
        draw_product(c, state, top, at, look);
    } else {
        draw_lanes(c, state, top, at, look);
    }
    const Rect foot{a.x, a.bottom() - lower, a.w, lower};
    if (told.own)
        c.paragraph(foot.x, foot.y, foot.w, race_sentence(*told.crossing, told.damage.wrong), size::far,
                    c.theme->t1, 2);
    else
        draw_damage(c, foot, told, at, look);
}

}  // namespace tilewalk::ui
