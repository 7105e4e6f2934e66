#include "app/ui/chapters/start/start.h"

#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/pictures.h"
#include "app/ui/kit/focus.h"
#include "app/ui/state/chapters.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

/// How the door of a chapter looks; a chapter without one has its title alone.
struct DoorLook {
    const char* chapter;  ///< its id
    const char* note;
    void (*picture)(const Sheet&);
    const char* far_note = "";  ///< the same on stage
    float far_width = 1;        ///< there, beside the others of its row
};
constexpr DoorLook door_looks[] = {
    {"chapter attention", "HBM: slow, large", attention_picture},
    {"chapter softmax", "one row, online", softmax_picture},
    {"chapter forward", "tile by tile in SRAM: fast, small", forward_picture, "", 1.3f},
    {"chapter backward", "", backward_picture},
    {"chapter training", "", training_picture},
    {"chapter memory", "N = {N}", memory_picture, "at {N}"},
    {"chapter scale", "recorded", kernels_picture, "recorded"},
    {"chapter compare", "", gpu_picture},
    {"chapter merge", "", merge_picture}};

const DoorLook* look_of(std::size_t n) {
    const std::string_view id = chapters()[n].id;
    const auto found =
        std::ranges::find_if(door_looks, [&](const DoorLook& one) { return id == one.chapter; });
    return found == std::end(door_looks) ? nullptr : found;
}

std::size_t chapter_at(std::string_view id) {
    std::size_t n = 0;
    while (n + 1 < chapters().size() && id != chapters()[n].id) ++n;
    return n;
}

// ---- The picture of the algorithm: three large doors, the bytes between them, and the row that is looked
// into

struct Doors {
    Rect attention, forward, softmax;
    float wire, lower, lower_h;  ///< y of the way back; the doors below
    float lower_w, gap;          ///< of these
    float hung, hung_apart;      ///< between the first two of them: the middle, and how far apart theirs are
};

Doors doors_in(const Rect& a) {
    const float x = a.inner_x(), w = a.inner_w(), top = a.y + 46;
    const float lower_h = std::clamp(a.h * .235f, 104.0f, 150.0f),
                band = std::clamp(a.h * .095f, 34.0f, 56.0f);
    const float h = a.bottom() - space::foot - lower_h - band - top;
    const float wires = w < 800 ? 48 : 84, wedge = w < 800 ? 24 : 44, rest = w - wires - wedge;
    Doors out;
    out.attention = {x, top, std::floor(rest * .225f), h};
    out.forward = {out.attention.right() + wires, top, std::floor(rest * .385f), h};
    out.softmax = {out.forward.right() + wedge, top, a.inner_right() - out.forward.right() - wedge, h};
    out.wire = top + h + band * .46f;
    out.lower = top + h + band, out.lower_h = lower_h;
    const float count = px(chapters().size() - 3);
    out.gap = w < 800 ? 8 : 12, out.lower_w = (w - out.gap * (count - 1)) / count;
    out.hung = x + out.lower_w + out.gap / 2, out.hung_apart = out.lower_w + out.gap;
    return out;
}

std::int64_t moved(const Trace& trace, int k) {
    const auto all = [&](int n) {
        return n < 0 ? 0 : trace.step(n).traffic.hbm_read + trace.step(n).traffic.hbm_write;
    };
    return all(k) - all(k - 1);
}

// The step of this op before (−1) or after (1) the one that is drawn.
int step_near(const StartPage& page, Op op, int by) {
    int k = page.step;
    while (k >= 0 && k < page.forward->size() && page.forward->step(k).op != op) k += by;
    return std::clamp(k, 0, page.forward->size() - 1);
}

Line blocks(std::initializer_list<std::pair<const char*, Role>> letters, int block) {
    Line out;
    for (const auto& [letter, role] : letters)
        out = pieces(out, symbol(letter, role), sub(str(block), role), " ");
    return out;
}

// An arrow with what it moves above it, and the bytes below where both do not fit.
void wire(const Canvas& c, float x1, float x2, float y, const Line& what, std::int64_t bytes, Role role) {
    c.arrow({{x1 + 2, y}, {x2 - 4, y}}, ArrowStyle::active, hue(*c.theme, role));
    const float middle = (x1 + x2) / 2;
    const std::string size = format_traffic(bytes);
    if (rich_width(c, what, size::lead) < x2 - x1 + 4)
        c.rich(middle, y - 16, what, size::lead, Align::center);
    c.text(middle, y + 16, size, size::small, c.theme->t2, Face::mono, Align::center);
}

void wires(const Canvas& c, const StartPage& page, const Doors& d) {
    const Trace& trace = *page.forward;
    const Step& step = trace.step(page.step);
    const float h = d.attention.h, x1 = d.attention.right(), x2 = d.forward.x;
    wire(c, x1, x2, d.attention.y + h * .38f, blocks({{"Q", Role::Q}}, step.i),
         moved(trace, step_near(page, Op::load_q, -1)), Role::Q);
    wire(c, x1, x2, d.attention.y + h * .7f, blocks({{"K", Role::K}, {"V", Role::V}}, step.j),
         moved(trace, step_near(page, Op::load_kv, -1)), Role::K);
    // The way back
    const float from = d.forward.x + d.forward.w * .38f, to = d.attention.x + d.attention.w * .3f;
    c.arrow({{from, d.forward.bottom()}, {from, d.wire}, {to, d.wire}, {to, d.attention.bottom() + 3}},
            ArrowStyle::active, hue(*c.theme, Role::O));
    Line back = pieces(blocks({{"O", Role::O}, {"L", Role::l}}, step.i), " ",
                       number(format_traffic(moved(trace, step_near(page, Op::store, 1)))));
    // Between the two that hang on it.
    const float middle = d.hung, room = d.hung_apart - 28;
    if (const Line once = pieces(back, "  once"); rich_width(c, once, size::small) < room) back = once;
    const float w = rich_width(c, back, size::small);
    if (w > room) return;
    c.rect(middle - w / 2 - 10, d.wire - 11, w + 20, 22, c.theme->panel);
    c.rich(middle, d.wire, back, size::small, Align::center, c.theme->t2);
}

// The row is drawn large next door.
void wedge(const Canvas& c, const Rect& row, const Rect& door) {
    const ImU32 edge = with_alpha(c.theme->t2, .7f);
    c.polygon({{row.right(), row.y},
               {door.x, door.y + 1},
               {door.x, door.bottom() - 1},
               {row.right(), row.bottom()}},
              with_alpha(c.theme->focus, .06f));
    c.line({row.right(), row.y}, {door.x, door.y + 2}, edge);
    c.line({row.right(), row.bottom()}, {door.x, door.bottom() - 2}, edge);
}

// What the lower doors hang on.
void hang(const Canvas& c, const Doors& d, const Rect& door) {
    const float x = door.x + door.w / 2, from = d.forward.x + d.forward.w * .38f,
                to = d.attention.x + d.attention.w * .3f;
    const bool on_wire = x > to && x < from;
    const float y = on_wire ? d.wire : d.forward.bottom();
    c.dashed_line({x, y}, {x, door.y}, c.theme->t3, 1.4f, {4, 4});
    c.disc(x, y + 1, 3.5f, c.theme->t3);
}

}  // namespace

Hot start_spot(const Canvas& c, StartPage& page, const std::string& id, const Rect& a) {
    const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h);
    page.spots.push_back({hot.id, a.x, a.y, a.w, a.h});
    return hot;
}

Rect draw_door(const Canvas& c, AppState& state, std::size_t n, const Rect& a, bool big) {
    const Theme& t = *c.theme;
    const Chapter& chapter = chapters()[n];
    const Hot hot = start_spot(c, start_page(state), std::string("##door ") + chapter.id, a);
    const bool lit = hot.hovered || hot.focused;
    c.rect(a.x, a.y, a.w, a.h, lit ? mix(t.well, t.t1, .04f) : t.well, radius::panel);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, lit ? t.t1 : t.line2, lit ? 2.0f : 1.0f, radius::panel);
    const bool narrow = !big && a.w < 120;
    const float pad = big      ? 14
                      : narrow ? 8
                               : 12,
                side = big      ? 38
                       : narrow ? 22
                                : 24,
                middle = a.y + (big ? 32 : 24);
    c.rect(a.x + pad, middle - side / 2, side, side, lit ? t.t1 : t.raised, 6);
    c.text(a.x + pad + side / 2, middle, str(n + 1), big ? size::far : size::body, lit ? t.inv : t.t1,
           Face::semibold, Align::center);
    const float x = a.x + pad + side + (narrow ? 6 : 10), size = big      ? size::far_text
                                                                 : narrow ? size::small
                                                                          : size::lead;
    const DoorLook* look = look_of(n);
    const std::string length = str(start_page(state).at_length.shape.N / 1024) + "k",
                      note = replaced(!look ? ""
                                      : big ? look->far_note
                                            : look->note,
                                      "{N}", length);
    const float small = big ? size::far : size::small, note_w = text_width(Face::regular, small, note);
    const bool brief =
        text_width(Face::semibold, size, chapter.title) > a.right() - 10 - x || (big && !note.empty());
    float end = x + c.text_within(x, middle, a.right() - (narrow ? 4 : 8) - x,
                                  brief ? chapter.brief : chapter.title, size, 0, Face::semibold);
    if (!note.empty() && end + 10 + note_w < a.right() - (big ? 8.0f : 30.0f))
        end += 10 + c.text(end + 10, middle + .5f, note, small, t.t3);
    if (!big && end + 16 < a.right() - 22)
        c.polyline(std::array{Point{a.right() - 22, middle - 6}, Point{a.right() - 16, middle},
                              Point{a.right() - 22, middle + 6}},
                   lit ? t.t1 : t.t3, 1.8f);
    if (hot.clicked) open_chapter(state, chapter);
    if (hot.hovered) tooltip(c, std::string(chapter.tooltip) + " (" + str(n + 1) + ")");
    const float top = a.y + (big ? 62.0f : 44.0f), edge = big ? 18.0f : 14.0f;
    return {a.x + edge, top, a.w - 2 * edge, a.bottom() - (big ? 14.0f : 12.0f) - top};
}

float far_door_width(std::size_t n) {
    const DoorLook* look = look_of(n);
    return look ? look->far_width : 1;
}

void draw_door_picture(const Canvas& c, const StartPage& page, std::size_t n, const Rect& a, bool big) {
    if (const DoorLook* look = look_of(n)) look->picture({c, page, a, big});
}

void start_algorithm(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const Panel panel(c, "Algorithm", a);
    const float title = c.text(a.inner_x(), a.y + 25, "FlashAttention in one picture", 22, 0, Face::semibold);
    const char* const how = "Every part is a door: click it, or press its number.";
    if (title + 16 + text_width(Face::regular, size::lead, how) < a.inner_w())
        c.text(a.inner_x() + title + 16, a.y + 26, how, size::lead, c.theme->t2);
    const Doors d = doors_in(a);
    wires(c, page, d);
    // The tile in the middle comes first for the arrow keys.
    const std::pair<const char*, const Rect*> upper[] = {{"chapter forward", &d.forward},
                                                         {"chapter attention", &d.attention},
                                                         {"chapter softmax", &d.softmax}};
    std::vector<std::size_t> done;
    for (const auto& [id, door] : upper) {
        const std::size_t n = chapter_at(id);
        const Rect inside = draw_door(c, state, n, *door, false);
        draw_door_picture(c, page, n, inside, false);
        if (door == &d.forward) wedge(c, chosen_row({c, page, inside}), d.softmax);
        done.push_back(n);
    }
    // The other chapters side by side
    float x = a.inner_x();
    for (std::size_t n = 0; n < chapters().size(); ++n) {
        if (std::ranges::find(done, n) != done.end()) continue;
        const Rect door{x, d.lower, d.lower_w, d.lower_h};
        hang(c, d, door);
        draw_door_picture(c, page, n, draw_door(c, state, n, door, false), false);
        x += d.lower_w + d.gap;
    }
}

// Title and key of every moment stand beside each other in cards of this width.
static bool fits_beside(float size, float w) {
    return std::ranges::all_of(moments(), [&](const Moment& moment) {
        return text_width(Face::semibold, size, moment.title) + key_cap_width(moment.keys) + 34 < w;
    });
}

static float title_size(float w) { return fits_beside(size::lead, w) ? size::lead : size::body; }

bool moment_card(const Canvas& c, StartPage& page, const Moment& moment, const Rect& a, bool big) {
    const Theme& t = *c.theme;
    const Hot hot = start_spot(c, page, std::string("##") + moment.id, a);
    const bool lit = hot.hovered || hot.focused;
    c.rect(a.x, a.y, a.w, a.h, lit ? mix(t.well, t.t1, .04f) : t.well, radius::panel);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, lit ? t.t1 : t.line2, lit ? 2.0f : 1.0f, radius::panel);
    if (hot.hovered) tooltip(c, "Shows " + std::string(moment.action) + " (" + moment.keys + ")");
    const float size = big ? size::far : title_size(a.w);
    if (big) {
        c.text_within(a.x + a.w / 2, a.y + a.h * .31f, a.w - 12, moment.title, size, 0, Face::semibold,
                      Align::center);
        c.text(a.x + a.w / 2, a.y + a.h * .71f, moment.keys, size, t.t2, Face::medium, Align::center);
        return hot.clicked;
    }
    const float key = key_cap_width(moment.keys);
    const bool beside = fits_beside(size, a.w);
    const float foot = beside ? 36 : 56, y = a.bottom() - 19;
    c.line({a.x + 1, a.bottom() - foot - .5f}, {a.right() - 1, a.bottom() - foot - .5f}, t.line);
    if (beside) {
        c.text(a.x + 14, y, moment.title, size, 0, Face::semibold);
        c.key_cap(a.right() - 12 - key, y, moment.keys);
    } else {
        c.text_within(a.x + 10, a.bottom() - 42, a.w - 16, moment.title, size, 0, Face::semibold);
        c.key_cap(a.x + 10, a.bottom() - 17, moment.keys);
    }
    const Rect inside{a.x + 16, a.y + 12, a.w - 32, a.h - foot - 24};
    if (inside.h >= 24) moment.picture({c, page, inside});
    return hot.clicked;
}

void start_moments(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const Panel panel(c, "Moments", a, "Moments", "straight to the picture; these keys work everywhere");
    const float count = px(moments().size()), gap = a.w < 800 ? 8 : 12,
                w = (a.inner_w() - gap * (count - 1)) / count;
    float x = a.inner_x();
    for (const Moment& moment : moments()) {
        if (moment_card(c, page, moment, {x, a.y + 40, w, a.h - 40 - 14}, false)) go_to_moment(state, moment);
        x += w + gap;
    }
}

void start_view(const Canvas& c, AppState& state, const Rect& area) {
    StartPage& page = start_page(state);
    page.spots.clear();
    constexpr float margin = space::margin;
    const Rect a{area.x + margin, area.y + margin, area.w - 2 * margin, area.h - 2 * margin};
    const float side = std::clamp(a.w * .2525f, 272.0f, 460.0f), left = a.w - side - margin;
    const float moments_h = std::clamp(a.h * .282f, 164.0f, 250.0f);
    start_algorithm(c, state, {a.x, a.y, left, a.h - moments_h - margin});
    start_moments(c, state, {a.x, a.bottom() - moments_h, left, moments_h});
    start_side(c, state, {a.right() - side, a.y, side, a.h});
}

}  // namespace tilewalk::ui
