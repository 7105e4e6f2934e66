#include "app/ui/chapters/start/start.h"

#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/pictures.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/page_frame.h"
#include "app/ui/state/chapters.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/walk/traffic.h"

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
    float width = 1;            ///< beside the others of its row
};
constexpr DoorLook door_looks[] = {
    {"chapter attention", "HBM: slow, large", attention_picture, "HBM"},
    {"chapter softmax", "one row, online", softmax_picture, "one row"},
    {"chapter forward", "tile by tile in SRAM: fast, small", forward_picture, "SRAM"},
    {"chapter backward", "", backward_picture, "", 1.15f},
    {"chapter training", "", training_picture, "", 1.06f},
    {"chapter memory", "N = {N}", memory_picture, "", 1.3f},
    {"chapter scale", "recorded", kernels_picture, "", 1.26f},
    {"chapter inside", "", inside_picture, "", .83f},
    {"chapter compare", "", gpu_picture, "", 1.06f},
    {"chapter merge", "", merge_picture, "", .97f}};

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

/// Where the doors stand.
struct Doors {
    Rect attention, forward, softmax;
    std::vector<std::pair<std::size_t, Rect>> lower;  ///< chapter and place
    float wire;                                       ///< y of the way back, …
    float back_from, back_to;                         ///< … and its ends
    bool big;

    /// Too low for letters that are read from the back row.
    bool low() const { return big && forward.h < 220; }
};

/// Heights and widths that the picture is divided by.
struct Division {
    Rect area;
    float lower_h, band, wires, wedge, gap;
    float attention, forward;  ///< parts of the width of the upper doors
};

Division division_of(const Rect& a, bool big) {
    // On stage the others are small pictures, or names where a card leaves no more.
    if (big) return {a, a.h < 340 ? 54.0f : 118.0f, 36, 102, 34, 10, .262f, .355f};
    const Rect in{a.inner_x(), a.y + 44, a.inner_w(), a.h - 44 - space::foot};
    const bool narrow = in.w < 800;
    return {in,
            std::clamp(a.h * .235f, 104.0f, 150.0f),
            std::clamp(a.h * .095f, 34.0f, 56.0f),
            narrow ? 48.0f : 84.0f,
            narrow ? 24.0f : 44.0f,
            narrow ? 8.0f : 12.0f,
            .225f,
            .385f};
}

// Chapters without a place in the upper row; some of them are wider.
void place_lower_doors(Doors& out, const Division& by, const std::vector<std::size_t>& upper) {
    const auto share_of = [&](std::size_t n) {
        const DoorLook* look = look_of(n);
        return look ? look->width : 1.0f;
    };
    float shares = 0, count = 0;
    for (std::size_t n = 0; n < chapters().size(); ++n) {
        const bool is_upper = std::ranges::find(upper, n) != upper.end();
        if (is_upper) continue;
        out.lower.push_back({n, {}});
        shares += share_of(n), ++count;
    }
    const float share = (by.area.w - by.gap * (count - 1)) / shares;
    float x = by.area.x;
    for (auto& [n, door] : out.lower) {
        door = {x, by.area.bottom() - by.lower_h, share * share_of(n), by.lower_h};
        x = door.right() + by.gap;
    }
}

Doors doors_in(const Rect& a, bool big) {
    const Division by = division_of(a, big);
    const Rect& in = by.area;
    const float h = in.h - by.lower_h - by.band, rest = in.w - by.wires - by.wedge;
    Doors out;
    out.big = big;
    out.attention = {in.x, in.y, std::floor(rest * by.attention), h};
    out.forward = {out.attention.right() + by.wires, in.y, std::floor(rest * by.forward), h};
    const float x = out.forward.right() + by.wedge;
    out.softmax = {x, in.y, in.right() - x, h};
    out.wire = in.y + h + by.band * .46f;
    out.back_from = out.forward.x + out.forward.w * .38f;
    out.back_to = out.attention.x + out.attention.w * .3f;
    place_lower_doors(
        out, by,
        {chapter_at("chapter attention"), chapter_at("chapter softmax"), chapter_at("chapter forward")});
    return out;
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

// An arrow for each matrix with what they move above them, and the bytes below where both do not fit.
void wire(const Canvas& c, const Doors& d, float part, const Line& what, std::int64_t bytes,
          std::initializer_list<Role> roles) {
    const float x1 = d.attention.right(), x2 = d.forward.x, y = d.attention.y + d.attention.h * part;
    const float step = d.big ? 13 : 9;
    float lane = y - step / 2 * px(roles.size() - 1);
    for (const Role role : roles) {
        c.arrow({{x1 + 2, lane}, {x2 - 4, lane}}, ArrowStyle::active, hue(*c.theme, role));
        lane += step;
    }
    const float middle = (x1 + x2) / 2, above = d.big ? size::far_number : size::lead,
                below = d.big ? size::far : size::small,
                apart = (d.big ? 25 : 16) + step / 2 * px(roles.size() - 1);
    const std::string size = format_size(bytes);
    if (rich_width(c, what, above) < x2 - x1 + 4) c.rich(middle, y - apart, what, above, Align::center);
    c.text(middle, y + apart, size, below, c.theme->t2, Face::mono, Align::center);
}

// What is written back stands on the way.
void way_back(const Canvas& c, const Doors& d, const Line& what, const Line& bytes) {
    c.arrow({{d.back_from, d.forward.bottom()},
             {d.back_from, d.wire},
             {d.back_to, d.wire},
             {d.back_to, d.attention.bottom() + 3}},
            ArrowStyle::active, hue(*c.theme, Role::O));
    const float room = d.back_from - d.back_to, middle = (d.back_from + d.back_to) / 2;
    const float text = d.big ? size::far : size::small, half = text * .85f;
    for (const Line& line : {pieces(what, " ", bytes, "  once"), pieces(what, " ", bytes), what}) {
        const float w = rich_width(c, line, text);
        if (w > room - 22) continue;
        c.rect(middle - w / 2 - 10, d.wire - half, w + 20, 2 * half,
               d.big ? presenter_page(*c.theme) : c.theme->panel);
        return void(c.rich(middle, d.wire, line, text, Align::center, c.theme->t2));
    }
}

void wires(const Canvas& c, const StartPage& page, const Doors& d) {
    const Trace& trace = *page.forward;
    const Step& step = trace.step(page.step);
    wire(c, d, d.big ? .29f : .38f, blocks({{"Q", Role::Q}}, step.i),
         moved_by(trace, step_near(page, Op::load_q, -1)), {Role::Q});
    wire(c, d, d.big ? .73f : .7f, blocks({{"K", Role::K}, {"V", Role::V}}, step.j),
         moved_by(trace, step_near(page, Op::load_kv, -1)), {Role::K, Role::V});
    way_back(c, d, blocks({{"O", Role::O}, {"L", info(Slot::L).role}}, step.i),
             {number(format_size(moved_by(trace, step_near(page, Op::store, 1))))});
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

}  // namespace

Hot start_spot(const Canvas& c, StartPage& page, const std::string& id, const Rect& a) {
    const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h);
    page.spots.push_back({hot.id, a.x, a.y, a.w, a.h});
    return hot;
}

/// Lengths of the head of a door.
struct DoorHead {
    float pad, side, number, gap, title,
        note;                         ///< edge, box of the number (0: none) and its text, distance, sizes
    float middle, below, edge, foot;  ///< of the head; where the picture begins, and its edges
};

static DoorHead head_of(float w, bool big) {
    if (big && w < 210) return {10, 0, size::far, 8, size::far, size::far, 24, 42, 12, 8};
    if (big && w < 235) return {10, 34, size::far, 8, size::far, size::far, 26, 48, 12, 10};
    if (big) return {14, 38, size::far, 10, size::far_text, size::far, 30, 56, 18, 12};
    if (w < 100) return {8, 0, size::small, 6, size::small, size::small, 24, 44, 11, 12};
    if (w < 135) return {8, 22, size::body, 6, size::small, size::small, 24, 44, 14, 12};
    return {12, 24, size::body, 10, size::lead, size::small, 24, 44, 14, 12};
}

Rect draw_door(const Canvas& c, AppState& state, std::size_t n, const Rect& a, bool big) {
    const Theme& t = *c.theme;
    const Chapter& chapter = chapters()[n];
    const Hot hot = start_spot(c, start_page(state), std::string("##door ") + chapter.id, a);
    const bool lit = hot.hovered || hot.focused;
    c.rect(a.x, a.y, a.w, a.h, lit ? mix(t.well, t.t1, .04f) : t.well, radius::panel);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, lit ? t.t1 : t.line2, lit ? 2.0f : 1.0f, radius::panel);
    const DoorHead head = head_of(a.w, big);
    const float middle = a.y + std::min(head.middle, a.h / 2);
    const bool boxed = head.side > 0;
    const float side = boxed ? head.side : text_width(Face::semibold, head.number, str(n + 1));
    if (boxed) c.rect(a.x + head.pad, middle - side / 2, side, side, lit ? t.t1 : t.raised, 6);
    c.text(a.x + head.pad + side / 2, middle, str(n + 1), head.number,
           !boxed ? t.t2
           : lit  ? t.inv
                  : t.t1,
           Face::semibold, Align::center);
    const DoorLook* look = look_of(n);
    const std::string length = str(start_page(state).at_length.shape.N / 1024) + "k",
                      note = replaced(!look ? ""
                                      : big ? look->far_note
                                            : look->note,
                                      "{N}", length);
    const float x = a.x + head.pad + side + head.gap, end = a.right() - (big ? 8.0f : 30.0f);
    const bool brief = text_width(Face::semibold, head.title, chapter.title) > a.right() - 10 - x;
    float at = x + c.text_within(x, middle, a.right() - 4 - x, brief ? chapter.brief : chapter.title,
                                 head.title, 0, Face::semibold);
    if (!note.empty() && at + 10 + text_width(Face::regular, head.note, note) < end)
        at += 10 + c.text(at + 10, middle + .5f, note, head.note, t.t3);
    if (!big && at + 16 < a.right() - 22)
        c.polyline(std::array{Point{a.right() - 22, middle - 6}, Point{a.right() - 16, middle},
                              Point{a.right() - 22, middle + 6}},
                   lit ? t.t1 : t.t3, 1.8f);
    if (hot.clicked) open_chapter(state, chapter);
    if (hot.hovered) tooltip(c, std::string(chapter.tooltip) + " (" + str(n + 1) + ")");
    return {a.x + head.edge, a.y + head.below, a.w - 2 * head.edge, a.h - head.below - head.foot};
}

static void draw_door_picture(const Canvas& c, const StartPage& page, std::size_t n, const Rect& a,
                              bool big) {
    const DoorLook* look = look_of(n);
    const float least = !big ? 0 : a.w > 220 ? 150 : 66;  // letters for the back row take their room
    if (look && a.h >= least) look->picture({c, page, a, big});
}

void draw_algorithm(const Canvas& c, AppState& state, const Rect& a, bool big) {
    StartPage& page = start_page(state);
    const Doors d = doors_in(a, big);
    if (!d.low()) wires(c, page, d);
    // As they are numbered, for Tab too, though the tile stands in the middle: between what it loads and the
    // row of it that is drawn large.
    const std::pair<const char*, const Rect*> upper[] = {{"chapter attention", &d.attention},
                                                         {"chapter softmax", &d.softmax},
                                                         {"chapter forward", &d.forward}};
    for (const auto& [id, door] : upper) {
        begin_focus_region();
        const std::size_t n = chapter_at(id);
        const Rect inside = draw_door(c, state, n, *door, big);
        draw_door_picture(c, page, n, inside, big);
        if (door == &d.forward && !d.low()) wedge(c, chosen_row({c, page, inside, big}), d.softmax);
        end_focus_region();
    }
    begin_focus_region();
    for (const auto& [n, door] : d.lower)
        draw_door_picture(c, page, n, draw_door(c, state, n, door, big), big);
    end_focus_region();
}

void start_algorithm(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Algorithm", a, "FlashAttention in one picture",
                      "every part is a door: click it, or press its number");
    draw_algorithm(c, state, a, false);
}

// How wide the key of a moment is drawn.
static float key_width(const char* keys, bool big) {
    return big ? text_width(Face::medium, size::far, keys) : key_cap_width(keys);
}

// Title and key of every moment stand beside each other in cards of this width.
static bool fits_beside(float size, float w, bool big) {
    return std::ranges::all_of(moments(), [&](const Moment& moment) {
        return text_width(Face::semibold, size, big ? moment.brief : moment.title) +
                   key_width(moment.keys, big) + 34 <
               w;
    });
}

static float title_size(float w, bool big) {
    return big ? size::far : fits_beside(size::lead, w, false) ? size::lead : size::body;
}

static void moment_key(const Canvas& c, const Moment& moment, float x, float y, bool big) {
    if (big)
        c.text(x, y, moment.keys, size::far, c.theme->t2, Face::medium);
    else
        c.key_cap(x, y, moment.keys);
}

bool moment_card(const Canvas& c, StartPage& page, const Moment& moment, const Rect& a, bool big) {
    const Theme& t = *c.theme;
    const Hot hot = start_spot(c, page, std::string("##") + moment.id, a);
    const bool lit = hot.hovered || hot.focused;
    c.rect(a.x, a.y, a.w, a.h, lit ? mix(t.well, t.t1, .04f) : t.well, radius::panel);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, lit ? t.t1 : t.line2, lit ? 2.0f : 1.0f, radius::panel);
    if (hot.hovered) tooltip(c, "Shows " + std::string(moment.action) + " (" + moment.keys + ")");
    const float size = title_size(a.w, big), row = big ? 37 : 25, edge = big ? 12 : 14;
    const bool beside = fits_beside(size, a.w, big);
    const float foot = (beside ? 0 : row) + (big ? 44 : 36) - (beside ? 0 : 5),
                y = a.bottom() - foot / 2 - (beside ? 1 : row / 2);
    const char* const title = big ? moment.brief : moment.title;
    c.line({a.x + 1, a.bottom() - foot - .5f}, {a.right() - 1, a.bottom() - foot - .5f}, t.line);
    c.text_within(a.x + edge, y, a.w - edge - 6, title, size, 0, Face::semibold);
    if (beside)
        moment_key(c, moment, a.right() - 12 - key_width(moment.keys, big), y, big);
    else
        moment_key(c, moment, a.x + edge, y + row, big);
    const Rect inside{a.x + 16, a.y + 12, a.w - 32, a.h - foot - 24};
    if (inside.h >= 24) moment.picture({c, page, inside, big});
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
    const PageFrame frame = page_frame_below(area, Foot::band);
    start_algorithm(c, state, frame.main);
    start_moments(c, state, {frame.main.x, frame.foot.y, frame.main.w, frame.foot.h});
    start_side(c, state, {frame.side.x, frame.side.y, frame.side.w, frame.foot.bottom() - frame.side.y});
}

}  // namespace tilewalk::ui
