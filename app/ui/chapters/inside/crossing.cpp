// Two accesses that race, in the order that the source makes and in the other one: two arrows that cross. And
// what comes of it in the numbers that the kernel writes.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

void text_that_fits(const Canvas& c, float x, float y, float room, std::initializer_list<std::string> all,
                    float size, ImU32 ink, Face face, Align align) {
    for (const std::string& text : all)
        if (text_width(face, size, text) <= room || &text == all.end() - 1)
            return void(c.text_within(x, y, room, text, size, ink, face, align));
}

namespace {

using inside::Content;
using inside::Crossing;
using inside::CrossingSide;

/// One access as a box tells it.
struct AccessBox {
    const CrossingSide* side;
    std::string content;  ///< "K[117, 32] = 0.344"
    std::string from;     ///< the line that called the helper; empty: none did
    bool alarms = false;  ///< it gets what it must not
};

std::string short_place(const InsidePlace& at, std::uint32_t place) {
    const std::string text = inside::place_text(at.record(), place);
    return text.substr(text.find_last_of('/') + 1);
}

ImU32 hue_of_content(const Theme& t, const InsidePlace& at, const Content& content) {
    return content.from ? hue_of(t, inside::matter_of(at.record(), *content.from)) : t.t2;
}

/// Of what lies at the place of a race: what this run's reader finds, what was there before the write, or
/// what the write puts there.
enum class Lies { now, before, behind };

// Which element that is: of device memory, or of the tile in shared memory; empty: its name is not known.
std::string raced_element(const AppState& state, const InsidePlace& at, const Crossing& crossing,
                          const CrossingSide& side, Lies lies) {
    // What is taken from a register has gone through plain arithmetic on its way.
    if (inside::is_register(crossing.address) && !side.writes) return "";
    if (!inside::is_shared(crossing.address)) return inside::short_address(at.record(), crossing.address);
    const CrossingSide& writer = side.writes             ? side
                                 : crossing.first.writes ? crossing.first
                                                         : crossing.second;
    // Within a few steps the order of the record is not that of memory: the number says which of both it is.
    const bool found = lies == Lies::now && side.content == writer.content;
    const std::uint32_t event = found || lies == Lies::behind ? writer.event + 1
                                : lies == Lies::before        ? writer.event
                                                              : side.event;
    const int bytes = std::max(side.content.bytes, writer.content.bytes);
    return name_in_shared(state, at, event, crossing.address, bytes);
}

// What a lane reads or writes in one of both orders: that of the source, with what the sound run has, or this
// run's; or the other one, in a run that kept the order of the source.
std::string content_of_side(const AppState& state, const InsidePlace& at, const Crossing& crossing,
                            const CrossingSide& side, bool as_sound, bool as_here) {
    const bool reads_first = !side.writes && (&side == &crossing.first) != (!as_sound && !as_here);
    const Lies lies = side.writes            ? Lies::behind
                      : as_here && !as_sound ? Lies::now
                      : reads_first          ? Lies::before
                                             : Lies::behind;
    const std::string place = raced_element(state, at, crossing, side, lies);
    if (as_sound || as_here || side.writes)
        return inside::content_text(at.record(), as_sound ? side.sound : side.content, place);
    if (!reads_first) return inside::content_text(at.record(), crossing.second.content, place);
    return (place.empty() ? "" : place + ": ") + std::string("what was there before");
}

void draw_access_box(const Canvas& c, const Rect& a, int number, const AccessBox& box, const InsidePlace& at,
                     const InsideLook& look) {
    const Theme& t = *c.theme;
    const CrossingSide& side = *box.side;
    c.rect(a.x, a.y, a.w, a.h, t.raised, radius::control);
    if (box.alarms)
        c.frame(a.x, a.y, a.w, a.h, t.danger, 2, radius::control);
    else
        c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, t.line2, 1, radius::control);
    const float pad = look.far ? 16 : 12, disc = look.small * .75f;
    const float x = a.x + pad + 2 * disc + 8, right = a.right() - pad, w = right - x;
    const bool three = a.h >= look.small * 4.4f;
    const float pitch = three ? a.h / 3.4f : a.h / 2.3f;
    float y = a.y + pitch * .75f;
    c.ring(a.x + pad + disc, y, disc, t.t2, 1.5f);
    c.text(a.x + pad + disc, y, str(number), look.small, t.t1, Align::center);
    const std::string warp = "warp " + str(side.warp);
    const float title = look.far ? size::far_text : size::lead;
    const float title_w =
        c.text_within(x, y, w, side.writes ? "Write" : "Read", title, t.t1, Face::semibold) + 10;
    // A product is of the whole warp, and of no lane.
    const bool whole = side.op == inside::Op::multiply_async;
    text_that_fits(c, right, y, w - title_w, {whole ? warp : warp + ", lane " + str(side.lane), warp},
                   look.small, t.t1, Face::regular, Align::right);
    y += pitch;
    if (three) {
        const std::string step =
            inside::words_of_step(at.record(), at.block(), at.block().events[side.event]).instruction;
        // Where both have no room, the kernel's own line says more than the helper's.
        const std::string place = short_place(at, side.place), here = place + " " + step;
        if (box.from.empty())
            text_that_fits(c, x, y, w, {here, step}, look.small, t.t2, Face::mono);
        else
            text_that_fits(c, x, y, w,
                           {here + ", called from " + box.from, place + " from " + box.from,
                            box.from + " " + step, step},
                           look.small, t.t2, Face::mono);
        y += pitch;
    }
    const float word = c.text(x, y, side.writes ? "puts " : "gets ", look.small, t.t2);
    // Without its value before without its element
    std::string brief = box.content;
    if (const std::size_t of = brief.find(" of the tile"); of != brief.npos) brief.erase(of, 12);
    text_that_fits(c, x + word, y, w - word, {box.content, brief, brief.substr(0, brief.find_first_of("=:"))},
                   look.small, t.t1, Face::semibold);
}

// What stands between the two: the step that orders them, or nothing.
void draw_between(const Canvas& c, float x, float y, float w, const std::string& words, bool ordered,
                  const InsideLook& look) {
    const Theme& t = *c.theme;
    const ImU32 ink = ordered ? t.t1 : t.danger;
    const float text_w = std::min(w - 40, text_width(Face::regular, look.small, words));
    const float left = x + (w - text_w) / 2;
    const auto stroke = [&](float from, float to) {
        if (ordered)
            c.line({from, y}, {to, y}, ink, 1.5f * look.line);
        else
            c.dashed_line({from, y}, {to, y}, ink, 1.5f * look.line);
    };
    stroke(x, left - 8), stroke(left + text_w + 8, x + w);
    c.text_within(left, y, text_w + 1, words, look.small, ink);
}

std::string nothing_between(float w, const InsideLook& look) {
    const std::string words = "nothing orders them";
    return text_width(Face::regular, look.small, words) + 44 <= w ? words : "no order";
}

struct CrossingSheet {
    Rect boxes[2][2];  ///< by column and row
    float between;     ///< y
};
CrossingSheet lay_out_crossing(const Rect& a, const InsideLook& look) {
    const float head = look.small * 1.9f, gap = look.small * 2.4f;
    const float middle = std::clamp(a.w * .17f, 66.0f, 190.0f), w = std::floor((a.w - middle) / 2);
    const float h = std::floor(std::min((a.h - head - gap) / 2, look.small * 8.0f));
    CrossingSheet s;
    for (int column = 0; column < 2; ++column)
        for (int row = 0; row < 2; ++row)
            s.boxes[column][row] = {a.x + px(column) * (w + middle), a.y + head + px(row) * (h + gap), w, h};
    s.between = a.y + head + h + gap / 2;
    return s;
}

void draw_crossing_arrows(const Canvas& c, const CrossingSheet& s, const InsidePlace& at,
                          const Crossing& crossing, const InsideLook& look) {
    const Theme& t = *c.theme;
    const float x0 = s.boxes[0][0].right() + 4, x1 = s.boxes[1][0].x - 4, third = (x1 - x0) * .5f;
    const auto ink = [&](const CrossingSide& side) {
        return side.writes ? hue_of_content(t, at, side.content) : t.t1;
    };
    const auto arrow = [&](int row, ImU32 colour) {
        const float from = s.boxes[0][row].middle(), to = s.boxes[1][1 - row].middle();
        c.bezier_arrow({x0, from}, {x0 + third, from}, {x1 - third, to}, {x1, to}, colour, 2.5f * look.line,
                       9 * look.line);
    };
    arrow(0, ink(crossing.first)), arrow(1, ink(crossing.second));
    const float x = (x0 + x1) / 2, radius = look.small;
    c.disc(x, s.between, radius, t.panel);
    c.ring(x, s.between, radius, t.danger, 2 * look.line);
    c.cross(x, s.between, radius * .4f, t.danger, 2.5f * look.line);
}

std::string left_out_words(const BrokenWalk& told) {
    if (told.fault.line == 0) return "";
    return (told.fault.kind == inside::FaultKind::wait ? "wait" : "barrier") + std::string(" of line ") +
           str(told.fault.line);
}

}  // namespace

void draw_crossing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                   const BrokenWalk& told, const InsideLook& look) {
    const Theme& t = *c.theme;
    const Crossing& crossing = *told.crossing;
    const CrossingSheet s = lay_out_crossing(a, look);
    const std::string step = left_out_words(told);
    const bool ordered = crossing.ordered;
    const std::string heads[] = {ordered ? "With the " + step : "This run",
                                 crossing.crossed ? "Without it: this run" : "As well possible"};
    const CrossingSide* const rows[2][2] = {{&crossing.first, &crossing.second},
                                            {&crossing.second, &crossing.first}};
    for (int column = 0; column < 2; ++column) {
        const Rect& top = s.boxes[column][0];
        text_that_fits(c, top.x, a.y + look.small * .8f, top.w,
                       {heads[column], column == 0 ? "With line " + str(told.fault.line) : "Without it"},
                       look.small, column == 0 ? t.t2 : t.t1, Face::medium);
        for (int row = 0; row < 2; ++row) {
            const CrossingSide& side = *rows[column][row];
            const AccessBox box{&side,
                                content_of_side(state, at, crossing, side, column == 0 && ordered,
                                                column == 0 || crossing.crossed),
                                called_from(at, side.event), column == 1 && !side.writes};
            draw_access_box(c, s.boxes[column][row], row + 1, box, at, look);
            const Rect& r = s.boxes[column][row];
            const Hot hot = hot_area(c, "##access " + str(column) + str(row), r.x, r.y, r.w, r.h);
            const int k = at.origins().step_number(side.event);
            if (hot.clicked && k >= 0) {
                choose_lane(state, side.lane);
                state.inside.step_told = true;
                go_inside(state, side.warp, k);
            }
        }
        const bool holds = column == 0 && ordered;
        draw_between(c, top.x, s.between, top.w, holds ? step : nothing_between(top.w, look), holds, look);
    }
    draw_crossing_arrows(c, s, at, crossing, look);
}

namespace {

Role role_of_output(const std::string& name) {
    const char letter = name.back();
    return letter == 'Q' ? Role::Q : letter == 'K' ? Role::K : letter == 'V' ? Role::V : Role::O;
}

// One of the two numbers to a common scale. NaN has no bar.
void draw_number_bar(const Canvas& c, const Rect& a, const char* label, float value, float low, float high,
                     ImU32 hue, bool wrong, const InsideLook& look) {
    const Theme& t = *c.theme;
    const float labels = look.small * 5.6f, numbers = look.far ? 190.0f : 96.0f;
    c.text_within(a.x, a.middle(), labels - 6, label, look.small, t.t1,
                  wrong ? Face::semibold : Face::regular);
    const Rect bed{a.x + labels, a.y, a.w - labels - numbers - 10, a.h};
    c.rect(bed.x, bed.y, bed.w, bed.h, t.well, radius::bar);
    const float span = std::max(1e-30f, high - low);
    const float zero = bed.x + bed.w * (0 - low) / span;
    if (std::isfinite(value)) {
        const float end = bed.x + bed.w * (value - low) / span, x = std::min(zero, end);
        c.rect(x, bed.y, std::max(2.0f, std::abs(end - zero)), bed.h, mix(t.panel, hue, .75f), radius::bar);
        if (wrong) c.hatch(x, bed.y, std::max(2.0f, std::abs(end - zero)), bed.h, t.danger);
    }
    c.line({zero, bed.y - 2}, {zero, bed.bottom() + 2}, t.line2, 1);
    c.text_within(a.right(), a.middle(), numbers, format_short(value), look.far ? size::far_text : 18,
                  wrong ? t.danger : t.t1, Face::semibold, Align::right);
}

std::string luck_words(const BrokenWalk& told, const inside::Record& record) {
    std::string text = "All " + format_count(told.damage.cells) + " numbers are right";
    if (record.races() == 0) return text + ": bit for bit those of the sound run.";
    if (record.races() == record.lost_turns())
        return text +
               ", for a turn orders no memory. But one was given twice and taken by nobody: both groups "
               "may be at the tensor cores at once.";
    text +=
        told.tried == 1 ? " in this order." : " in each of " + str(told.tried) + " orders that were tried.";
    return text + " That is luck: nothing makes it so.";
}

}  // namespace

std::string damage_sentence(const BrokenWalk& told, const inside::Record& record) {
    return told.damage.wrong == 0 ? luck_words(told, record)
                                  : capitalised(inside::damage_text(told.damage)) + ".";
}

void draw_damage(const Canvas& c, const Rect& a, const BrokenWalk& told, const InsidePlace& at,
                 const InsideLook& look) {
    const Theme& t = *c.theme;
    if (told.damage.wrong == 0) {
        c.paragraph(a.x, a.y, a.w, damage_sentence(told, at.record()), look.far ? size::far : size::lead,
                    t.t1, static_cast<int>(a.h / (look.small * 1.6f)));
        return;
    }
    const inside::WrongCell &worst = *told.damage.worst, &first = *told.damage.first;
    const Role role = role_of_output(worst.output);
    const ImU32 ink = hue(t, role);
    const float number = look.far ? size::far_text : 18, bar = std::min(look.small * 1.7f, a.h * .24f);
    const Line name = pieces(symbol(worst.output, role), sub(str(worst.row) + ", " + str(worst.column), role),
                             word(", the worst"));
    c.rich(a.x, a.y + number * .5f, name, number);
    const float taken = rich_width(c, name, number) + 24;
    const std::string more = "the first: " + first.output + "[" + str(first.row) + list_separator() +
                             str(first.column) + "] is " + format_short(first.broken) + ", not " +
                             format_short(first.sound);
    if (text_width(Face::regular, look.small, more) <= a.w - taken)
        c.text(a.right(), a.y + number * .5f, more, look.small, t.t2, Align::right);
    const float values[] = {worst.sound, worst.broken};
    float low = 0, high = 0;
    for (const float v : values)
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    float y = a.y + number * 1.5f;
    draw_number_bar(c, {a.x, y, a.w, bar}, "right", worst.sound, low, high, ink, false, look);
    y += bar + look.small * .6f;
    draw_number_bar(c, {a.x, y, a.w, bar}, "this run", worst.broken, low, high, ink, true, look);
}

}  // namespace tilewalk::ui
