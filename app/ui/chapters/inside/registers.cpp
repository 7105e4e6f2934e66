// What the lanes of the warp hold: the fragments of a product side by side, or the numbers of a step.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace tilewalk::ui {

namespace {

using inside::FragmentCell;
using inside::Holder;
using inside::Matter;
using inside::Op;
using inside::Part;
using inside::Product;

/// A fragment on the page, or eight of its rows: one cell is w × h.
struct Sheet16 {
    Part part;
    Rect area;
    float w, h;
    int first = 0, rows = 16;
    bool shows(int row) const { return row >= first && row < first + rows; }
    Rect cell(int row, int column) const {
        return {area.x + px(column) * w, area.y + px(row - first) * h, w, h};
    }
    std::optional<FragmentCell> under(Point p) const {
        if (!area.contains(p)) return std::nullopt;
        return FragmentCell{first + static_cast<int>((p.y - area.y) / h),
                            static_cast<int>((p.x - area.x) / w)};
    }
};

struct ProductSheet {
    Sheet16 A, B, C;
    float head;  ///< y of the titles
};

// Rows of A and C stand beside each other. For the back row eight of them, those of the chosen cell: then B,
// all of whose rows are needed, has them half as high.
ProductSheet lay_out_product(const Rect& a, const InsideLook& look, int row) {
    const float head = look.small * 1.9f, foot = look.far ? 6 : look.small * 1.6f, sign = look.small * 2.2f;
    const float labels = look.far ? 0 : look.small * 2.3f, of_B = look.far ? 1.25f : 1.0f, of_C = 1.3f;
    const int rows = look.far ? 8 : 16, first = look.far ? row / 8 * 8 : 0;
    const float h = std::floor(std::min((a.h - head - foot) / px(rows), look.far ? 48.0f : 28.0f));
    const float unit = (a.w - labels - 2 * sign) / (16 + 8 * of_B + 8 * of_C);
    const float wide = std::floor(std::min(unit, h * 1.7f));
    const float used = labels + 2 * sign + wide * (16 + 8 * of_B + 8 * of_C);
    float x = a.x + labels + (a.w - used) / 2;
    const float y = a.y + head, height = px(rows) * h;
    ProductSheet s;
    s.head = a.y + head / 2 - 2;
    s.A = {Part::A, {x, y, 16 * wide, height}, wide, h, first, rows};
    x = s.A.area.right() + sign;
    s.B = {Part::B, {x, y, 8 * of_B * wide, height}, of_B * wide, height / 16, 0, 16};
    x = s.B.area.right() + sign;
    s.C = {Part::C, {x, y, 8 * of_C * wide, height}, of_C * wide, h, first, rows};
    return s;
}

float value_at(const Product& p, Part part, int row, int column) {
    return part == Part::A ? p.a(row, column) : part == Part::B ? p.b(row, column) : p.after(row, column);
}

ImU32 fragment_fill(const Theme& t, Matter matter, float value, float most) {
    const Role role = role_of(matter);
    const float part = most > 0 && std::isfinite(value) ? std::clamp(value / most, -1.0f, 1.0f) : 0;
    return signed_ramp(t, role == Role::none ? Role::S : role, part, true);
}

void draw_values(const Canvas& c, const Sheet16& s, const Product& p, Matter matter) {
    const int columns = inside::info(s.part).columns;
    float most = 0;
    for (int r = 0; r < inside::info(s.part).rows; ++r)
        for (int k = 0; k < columns; ++k)
            if (const float v = std::fabs(value_at(p, s.part, r, k)); std::isfinite(v))
                most = std::max(most, v);
    for (int r = s.first; r < s.first + s.rows; ++r)
        for (int k = 0; k < columns; ++k) {
            const Rect at = s.cell(r, k);
            c.rect(at.x + .5f, at.y + .5f, at.w - 1, at.h - 1,
                   fragment_fill(*c.theme, matter, value_at(p, s.part, r, k), most), 2);
        }
}

// The hairlines between the 8 × 8 quarters: what one register holds.
void draw_quarters(const Canvas& c, const Sheet16& s) {
    const Theme& t = *c.theme;
    const Rect& a = s.area;
    if (s.rows == 16) c.line({a.x, a.y + 8 * s.h}, {a.right(), a.y + 8 * s.h}, t.line2, 1);
    if (s.part == Part::A) c.line({a.x + 8 * s.w, a.y}, {a.x + 8 * s.w, a.bottom()}, t.line2, 1);
}

void lane_number(const Canvas& c, const Rect& pair, int lane, ImU32 ink, bool bold, const InsideLook& look) {
    const Face face = bold ? Face::mono_bold : Face::mono;
    if (pair.h < look.number - 1 || pair.w < text_width(face, look.number, "00") + 1) return;
    c.text(pair.x + pair.w / 2, pair.middle(), str(lane), look.number, ink, face, Align::center);
}

// The row of A or the column of B that one cell of C needs, with the lanes whose registers hold it.
void draw_needed(const Canvas& c, const Sheet16& s, const FragmentCell& cell, int lane, Matter matter,
                 const InsideLook& look) {
    const Theme& t = *c.theme;
    const ImU32 hue = hue_of(t, matter), fill = legible_fill(t, hue, t.light ? .34f : .5f);
    const bool is_row = s.part == Part::A;
    const Rect band = is_row ? Rect{s.area.x, s.cell(cell.row, 0).y, s.area.w, s.h}
                             : Rect{s.cell(0, cell.column).x, s.area.y, s.w, s.area.h};
    c.rect(band.x, band.y, band.w, band.h, fill, radius::bar);
    for (int pair = 0; pair < 8; ++pair) {
        const Rect from = is_row ? s.cell(cell.row, 2 * pair) : s.cell(2 * pair, cell.column);
        const Rect both = is_row ? Rect{from.x, from.y, 2 * s.w, s.h} : Rect{from.x, from.y, s.w, 2 * s.h};
        const Holder h = is_row ? inside::holder(s.part, cell.row, 2 * pair)
                                : inside::holder(s.part, 2 * pair, cell.column);
        if (pair > 0 && is_row) c.line({both.x, both.y}, {both.x, both.bottom()}, hue, 1);
        if (pair > 0 && !is_row) c.line({both.x, both.y}, {both.right(), both.y}, hue, 1);
        if (h.lane != lane) lane_number(c, both, h.lane, ink_on(t, fill), false, look);
    }
    c.frame(band.x, band.y, band.w, band.h, hue, 1.5f * look.line, radius::bar);
}

// The cells that the chosen lane holds: its pairs are neighbours in a row of A and C, in a column of B.
void draw_own(const Canvas& c, const Sheet16& s, int lane, Matter matter, const InsideLook& look,
              const FragmentCell* chosen = nullptr) {
    const Theme& t = *c.theme;
    const std::vector<FragmentCell> cells = inside::cells_of_lane(s.part, lane);
    for (std::size_t n = 0; n + 1 < cells.size(); n += 2) {
        if (!s.shows(cells[n].row)) continue;
        const Rect first = s.cell(cells[n].row, cells[n].column);
        const Rect last = s.cell(cells[n + 1].row, cells[n + 1].column);
        const Rect pair{first.x, first.y, last.right() - first.x, last.bottom() - first.y};
        const ImU32 fill = legible_fill(t, hue_of(t, matter), .92f);
        c.rect(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2, fill, radius::bar);
        c.frame(pair.x, pair.y, pair.w, pair.h, t.focus, 2 * look.line, radius::bar);
        // Its number beside the cell that is chosen
        const bool holds = chosen && chosen->row == cells[n].row;
        const Rect free = holds ? s.cell(chosen->row, chosen->column ^ 1) : pair;
        lane_number(c, free, lane, ink_on(t, fill), true, look);
    }
}

// C: each pair has its lane; the chosen cell its new value, where it has room.
void draw_owners(const Canvas& c, const Sheet16& s, const FragmentCell& cell, const Product& p, Matter matter,
                 int lane, const InsideLook& look) {
    const Theme& t = *c.theme;
    for (int row = s.first; row < s.first + s.rows; ++row)
        for (int column = 0; column < 8; column += 2) {
            const Rect from = s.cell(row, column), pair{from.x, from.y, 2 * s.w, s.h};
            const int owner = inside::holder(Part::C, row, column).lane;
            const bool same_quad = owner / 4 == lane / 4;
            c.frame(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2, same_quad ? t.line2 : t.line, 1,
                    radius::bar);
            if (owner == lane) continue;
            lane_number(c, pair, owner, same_quad ? t.t1 : t.t3, same_quad, look);
        }
    draw_own(c, s, lane, matter, look, &cell);
    const Rect at = s.cell(cell.row, cell.column);
    const std::string text = format_number(p.after(cell.row, cell.column), 3);
    const bool has_room =
        at.h >= look.number + 1 && at.w >= text_width(Face::mono_bold, look.number, text) + 4;
    const ImU32 fill = legible_fill(t, hue_of(t, matter), .92f);
    c.rect(at.x + 1, at.y + 1, at.w - 2, at.h - 2, fill, 2);
    c.frame(at.x - 1, at.y - 1, at.w + 2, at.h + 2, t.focus, 3 * look.line, radius::bar);
    // Without room for its number the chosen one of the pair says whose it is, as its neighbour does.
    if (!has_room) return lane_number(c, at, lane, ink_on(t, fill), true, look);
    c.text(at.x + at.w / 2, at.middle(), text, look.number, ink_on(t, fill), Face::mono_bold, Align::center);
}

void draw_part_title(const Canvas& c, const Sheet16& s, float y, const char* letter, Matter matter,
                     const InsideLook& look) {
    const Theme& t = *c.theme;
    const inside::PartInfo& of = inside::info(s.part);
    const float w = c.text(s.area.x, y, letter, look.small, t.t2, Face::semibold);
    Line name = matter_line(matter, "");
    // Fragments of B are columns, and keys are rows.
    if (s.part == Part::B && matter == Matter::K) name = pieces(name, super("T", Role::K));
    const float letters = c.rich(s.area.x + w + 10, y, name, look.far ? look.small : 17);
    std::string shape = str(of.rows) + " × " + str(of.columns);
    if (s.rows < of.rows) shape = "rows " + range_text(s.first, s.first + s.rows - 1) + " of 16";
    // Numbers in cells are lanes here, and values everywhere else; of its rows A says the same.
    if (look.far && s.part == Part::C) shape = "numbers: lanes";
    if (w + letters + 24 + text_width(Face::regular, look.small, shape) < s.area.w)
        c.text(s.area.right(), y, shape, look.small, t.t3, Align::right);
}

// Rows of A at its left, and below what the columns and keys are.
void draw_places(const Canvas& c, const ProductSheet& s, const InsidePlace& at, const FragmentCell& cell,
                 const InsideLook& look) {
    if (look.far) return;
    const Theme& t = *c.theme;
    const auto a = at.origins().region_of_part(at.warp, at.k, Part::A),
               b = at.origins().region_of_part(at.warp, at.k, Part::B);
    const float y = s.A.area.bottom() + look.small * .8f + 3;
    const auto below = [&](const Sheet16& sheet, float room, const std::string& words) {
        c.text_within(sheet.area.x + sheet.area.w / 2, y, room, words, look.small, t.t3, Align::center);
    };
    const NamedProduct named = named_product(at);
    const int first_row = a ? a->row : named.row, first_k = a ? a->column : named.k;
    if (first_row >= 0) {
        for (const int row : std::set<int>{0, cell.row, 15}) {
            const bool chosen = row == cell.row;
            if (!chosen && px(std::abs(row - cell.row)) * s.A.h < look.small + 1) continue;
            c.text(s.A.area.x - 6, s.A.cell(row, 0).middle(), str(first_row + row), look.small,
                   chosen ? t.t1 : t.t3, Face::mono, Align::right);
        }
    }
    if (first_k >= 0)
        below(s.A, s.A.area.w,
              (named.C == Matter::O ? "keys " : "columns ") + range_text(first_k, first_k + 15));
    if (b) {
        const bool keys = at.origins().matter_of_part(at.warp, at.k, Part::B) == Matter::K;
        below(s.B, s.B.area.w + look.small * 3,
              keys ? "keys " + range_text(b->row, b->row + 7)
                   : "columns " + range_text(b->column, b->column + 7));
    }
    const std::string whose = "whose lane";
    if (text_width(Face::regular, look.small, whose) < s.C.area.w) below(s.C, s.C.area.w, whose);
}

std::string cell_tip(const InsidePlace& at, const Product& p, Part part, const FragmentCell& cell) {
    const Holder h = inside::holder(part, cell.row, cell.column);
    std::string text = std::string(inside::info(part).name) + ", row " + str(cell.row) + ", column " +
                       str(cell.column) + ": " + format_full(value_at(p, part, cell.row, cell.column)) +
                       "; lane " + str(h.lane) + ", register " + str(h.reg);
    if (part == Part::C) return text + "; before " + format_full(p.before(cell.row, cell.column));
    text += h.half == 0 ? ", low half" : ", high half";
    const auto way = at.origins().trace(at.warp, at.k, part, cell.row, cell.column);
    if (!way.empty() && way.back().address != 0)
        text += "; from " + inside::address_text(at.record(), way.back().address);
    return text;
}

// Hovering tells a cell; a click on C takes its cell and lane, on A or B the lane.
void answer_fragments(const Canvas& c, AppState& state, const ProductSheet& s, const InsidePlace& at,
                      const Product& p) {
    for (const Sheet16* sheet : {&s.A, &s.B, &s.C}) {
        const std::string id = std::string("##fragment ") + inside::info(sheet->part).name;
        const Rect& a = sheet->area;
        const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h);
        const auto cell = sheet->under(c.mouse());
        if (!cell) continue;
        if (hot.hovered) tooltip(c, cell_tip(at, p, sheet->part, *cell));
        if (!hot.clicked) continue;
        const Holder h = inside::holder(sheet->part, cell->row, cell->column);
        state.inside.lane = h.lane, state.inside.cell = sheet->part == Part::C ? h.reg : 0;
    }
}

}  // namespace

ImU32 legible_fill(const Theme& t, ImU32 hue, float part) {
    ImU32 fill = mix(t.panel, hue, part);
    for (; part > 0 && contrast(ink_on(t, fill), fill) < t.text_contrast; part -= .04f)
        fill = mix(t.panel, hue, part);
    return fill;
}

void draw_product(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                  const InsideLook& look) {
    const Theme& t = *c.theme;
    const Product p(at.words, at.record().dtype);
    const ProductSheet s = lay_out_product(a, look, cell_inside(state).row);
    const FragmentCell cell = cell_inside(state);
    const auto matter = [&](Part part) { return at.origins().matter_of_part(at.warp, at.k, part); };
    const Matter A = matter(Part::A), B = matter(Part::B), C = matter(Part::C);
    for (const auto& [sheet, of] : {std::pair{&s.A, A}, {&s.B, B}, {&s.C, C}}) {
        draw_values(c, *sheet, p, of);
        draw_quarters(c, *sheet);
    }
    draw_needed(c, s.A, cell, at.lane, A, look);
    draw_needed(c, s.B, cell, at.lane, B, look);
    draw_own(c, s.A, at.lane, A, look);
    draw_own(c, s.B, at.lane, B, look);
    if (!hides_lanes(state)) draw_owners(c, s.C, cell, p, C, at.lane, look);
    const auto frame = [&](const Sheet16& sheet, ImU32 colour) {
        const Rect& b = sheet.area;
        c.dashed_frame(b.x - 3, b.y - 3, b.w + 6, b.h + 6, colour, 2.2f * look.line, {7, 4});
    };
    frame(s.A, hue_of(t, A)), frame(s.B, hue_of(t, B));
    c.frame(s.C.area.x - 3, s.C.area.y - 3, s.C.area.w + 6, s.C.area.h + 6, t.focus, 2 * look.line,
            radius::cell);
    draw_part_title(c, s.A, s.head, "A", A, look);
    draw_part_title(c, s.B, s.head, "B", B, look);
    draw_part_title(c, s.C, s.head, "C", C, look);
    const float middle = s.A.area.middle();
    c.text((s.A.area.right() + s.B.area.x) / 2, middle, "×", look.small * 1.5f, t.t1, Align::center);
    c.text((s.B.area.right() + s.C.area.x) / 2, middle, "+=", look.small * 1.3f, t.t1, Align::center);
    draw_places(c, s, at, cell, look);
    if (!look.far) answer_fragments(c, state, s, at, p);
}

// A pair that has no room beside each other stands in two lines.
static void draw_lane_value(const Canvas& c, const Rect& box, float w, const std::string& text,
                            const InsideLook& look) {
    const Theme& t = *c.theme;
    const std::string between = list_separator();
    const std::size_t at = text.find(between);
    const auto write = [&](float y, const std::string& part) {
        c.text_within(box.right() - 6, y, w, part, look.small, t.t1, Face::mono, Align::right);
    };
    const bool two =
        at != text.npos && text_width(Face::mono, look.small, text) > w && box.h >= look.small * 2.3f;
    if (!two) return write(box.middle(), text);
    write(box.middle() - look.small * .58f, text.substr(0, at));
    write(box.middle() + look.small * .62f, text.substr(at + between.size()));
}

void draw_lanes(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                const InsideLook& look) {
    const Theme& t = *c.theme;
    const float labels = look.small * 4.6f, top = look.small * 1.8f;
    const float w = std::floor((a.w - labels) / 4),
                h = std::floor(std::min((a.h - top) / 8, look.small * 3.4f));
    const auto names = inside::lane_words(at.record(), at.block(), *at.event,
                                          std::countr_zero(at.event->lanes == 0 ? 1u : at.event->lanes));
    std::string shown = names.empty() ? "" : names.back().name;
    if (makes_alpha(at)) shown = "α of its row, " + shown;
    c.text_within(a.x + labels, a.y + look.small * .7f, a.w - labels,
                  shown.empty() ? "which lanes take part" : "of each lane: " + shown, look.small, t.t3);
    const ImU32 hue = hue_of(t, at.origins().matter(at.n));
    for (int lane = 0; lane < 32; ++lane) {
        const Rect box{a.x + labels + px(lane % 4) * w, a.y + top + px(lane / 4) * h, w - 4, h - 4};
        const bool takes_part = at.event->lanes >> lane & 1, chosen = lane == at.lane;
        const ImU32 fill = takes_part ? mix(t.panel, hue, .22f) : t.well;
        c.rect(box.x, box.y, box.w, box.h, fill, radius::cell);
        if (chosen) c.frame(box.x, box.y, box.w, box.h, t.focus, 2 * look.line, radius::cell);
        if (lane % 4 == 0) c.text(a.x, box.middle(), "quad " + str(lane / 4), look.small, t.t3);
        const float number = text_width(Face::mono, look.small, "00") + 8;
        const auto words =
            inside::lane_words(at.record(), at.block(), *at.event, lane, at.origins().matter(at.n));
        const std::string value = words.empty() ? "" : words.back().value;
        // A number that has no room beside its lane stands below it.
        const bool below = value.find(list_separator()) == value.npos && box.h >= look.small * 2.3f &&
                           text_width(Face::mono, look.small, value) > box.w - number - 10;
        c.text(box.x + number - 2, box.middle() - (below ? look.small * .58f : 0), str(lane), look.small,
               takes_part ? t.t2 : t.t3, Face::mono, Align::right);
        if (below)
            c.text_within(box.right() - 6, box.middle() + look.small * .62f, box.w - 10, value, look.small,
                          t.t1, Face::mono, Align::right);
        else if (!words.empty())
            draw_lane_value(c, box, box.w - number - 10, value, look);
        if (look.far) continue;
        const Hot hot = hot_area(c, "##lane " + str(lane), box.x, box.y, box.w, box.h);
        if (hot.clicked) choose_lane(state, lane);
        if (!hot.hovered || words.empty()) continue;
        std::string tip = "lane " + str(lane);
        for (const auto& word : words) tip += "; " + word.name + ": " + word.value;
        tooltip(c, tip);
    }
}

// Of a barrier: which warp comes when, and how long it waits for the others.
static void draw_meeting(const Canvas& c, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const auto& steps = at.steps();
    const auto meeting = std::ranges::lower_bound(steps.barriers(), steps.slot(at.warp, at.k));
    if (meeting == steps.barriers().end()) return;
    const int before = meeting == steps.barriers().begin() ? -1 : *(meeting - 1);
    const float names = 70, w = a.w - names - 90, span = px(*meeting - before),
                h = std::min(30.0f, a.h / px(steps.warps() + 1));
    c.text(a.x + names, a.y + 8, "steps since the barrier before", size::small, t.t3);
    for (int warp = 0; warp < steps.warps(); ++warp) {
        const float y = a.y + h * px(warp + 1);
        const int came = steps.slot(warp, steps.at_slot(warp, *meeting)) - before;
        const float x = a.x + names, end = x + w * px(came) / span;
        c.text(a.x, y + h / 2 - 2, "warp " + str(warp), size::small, warp == at.warp ? t.t1 : t.t3,
               warp == at.warp ? Face::semibold : Face::regular);
        c.rect(x, y, end - x, h - 6, t.raised, radius::bar);
        if (end < x + w - 1) c.hatch(end, y, x + w - end, h - 6, t.line2);
        c.text(x + w + 12, y + h / 2 - 2, format_count(came), size::small, t.t2, Face::mono);
    }
    c.line({a.x + names + w, a.y + h - 4}, {a.x + names + w, a.y + h * px(steps.warps() + 1)}, t.focus, 2);
}

// Of waiting and committing: every copy of the block, and whether it has come.
static void draw_flights(const Canvas& c, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const int now = at.steps().slot(at.warp, at.k);
    const auto& all = at.steps().flights();
    const float row = 30, gone = 80, labels = 176;
    float y = a.y + 10;
    const auto rows = static_cast<std::size_t>(std::max(1.0f, (a.h - 12) / row));
    // The last that has begun, among its neighbours
    const auto begun = static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const inside::Flight& f) { return f.issued <= now; }));
    const std::size_t first =
        all.size() <= rows || begun < rows / 2 ? 0 : std::min(begun - rows / 2, all.size() - rows);
    for (std::size_t n = first; n < std::min(all.size(), first + rows); ++n, y += row) {
        const inside::Flight& f = all[n];
        const Matter matter = inside::matter_of(at.record(), f.from);
        const bool has_begun = f.issued <= now, has_come = f.arrived >= 0 && f.arrived <= now;
        const ImU32 ink = has_begun ? t.t1 : t.t3;
        const float middle = y + 11;
        float x = a.x + c.text(a.x, middle, "group " + str(f.group), size::small, ink) + 14;
        const Line name = matter_line(matter, "copy");
        c.rich(x, middle, f.tile < 0 ? name : pieces(name, sub(str(f.tile), role_of(matter))), size::formula);
        c.text(a.x + labels - 14, middle, format_size(f.bytes), size::small, ink, Face::mono, Align::right);
        x = a.x + labels;
        const float end = a.right() - gone - 10;
        if (end > x + 30) {
            const ImU32 hue = hue_of(t, matter);
            c.rect(x, y + 5, end - x, 12, mix(t.panel, hue, .18f), radius::bar);
            // When it writes on its way, nobody knows.
            if (has_come)
                c.rect(x, y + 5, end - x, 12, mix(t.panel, hue, .8f), radius::bar);
            else if (has_begun)
                c.hatch(x, y + 5, end - x, 12, hue, 6, 1.5f);
        }
        c.text(a.right(), middle,
               has_come    ? "arrived"
               : has_begun ? "on its way"
                           : "not begun",
               size::small, ink, Align::right);
    }
}

void inside_registers(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const Op op = at.event->op;
    const bool product = op == Op::multiply_add, barrier = op == Op::sync_block,
               copies = op == Op::wait_copies || op == Op::copies_committed;
    const InsideWays& ways = inside_ways(state, at);
    const bool sums = ways.sums_step >= 0, packing = shows_packing(at), dealing = shows_dealing(at),
               fetches = op == Op::fetch_tile;
    const std::string warp = "warp " + str(at.warp);
    const Panel panel(c, "Registers", a,
                      product || sums || packing ? "Registers of " + warp
                      : barrier                  ? "Warps meet"
                      : copies                   ? "Copies of the block"
                      : dealing                  ? "Rows to registers"
                      : fetches                  ? "A tile that comes by itself"
                      : ways.barrier             ? "A barrier that counts"
                      : ways.sides               ? "What it stands between"
                      : ways.registers           ? "Registers of the block"
                                                 : "Lanes of " + warp);
    const Rect in{a.inner_x(), a.y + 48, a.inner_w(), a.h - 48 - space::foot};
    if (product)
        draw_product(c, state, in, at, {});
    else if (sums)
        draw_sums(c, state, in, at, {});
    else if (packing)
        draw_packing(c, state, in, at, {});
    else if (dealing)
        draw_dealing(c, state, in, at);
    else if (fetches)
        draw_fetched(c, in, at, {});
    else if (ways.barrier)
        draw_barrier(c, {in.x + 10, in.y, std::min(in.w - 20, 620.0f), in.h}, *ways.barrier, {});
    else if (ways.sides)
        draw_sides(c, in, *ways.sides, at, {});
    else if (ways.registers)
        draw_shares(c, in, *ways.registers, at, {});
    else if (barrier)
        draw_meeting(c, in, at);
    else if (copies)
        draw_flights(c, in, at);
    else
        draw_lanes(c, state, in, at, {});
}

}  // namespace tilewalk::ui
