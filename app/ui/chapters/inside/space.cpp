// Shared memory as a space: whose tile lies where, which part of it is at hand, by which rule its chunks are
// swapped, and what a barrier protects there.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/tiles.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::Op;
using inside::Piece;
using inside::Protected;
using inside::SharedArea;
using inside::SharedContent;

std::string hex_address(std::uint32_t address) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", address);
    return text;
}

// Of what the warps have computed, the name that the source gives to it where it is stored.
std::string name_in_source(const AppState& state, const InsidePlace& at, std::uint32_t place) {
    if (place == inside::Place::none) return {};
    const inside::Place& of = at.record().places[place];
    const inside::SourceText* source = source_of(state, of.file);
    return source ? inside::stored_name(source->line(of.line)) : std::string();
}

std::string computed_name(const AppState& state, const InsidePlace& at, std::uint32_t event,
                          const SharedArea& area, std::uint32_t address, int bytes) {
    const auto write = at.origins().writer(address, event);
    std::string name = write ? inside::symbol_of(at.origins().matter(write->event)) : "";
    if (name.empty()) name = name_in_source(state, at, area.place);
    // A swizzle changes places, and its gaps say nothing.
    if (name.empty() || at.record().swizzles) return {};
    // Of a kernel of one's own nobody knows the shape: where one array is all that there is, its elements are
    // counted.
    if (at.record().Bc == 0) {
        const auto other = [&](const SharedArea& a) { return name_in_source(state, at, a.place) != name; };
        if (std::ranges::any_of(at.launch->shared.areas(), other)) return {};
        return name + "[" + str(static_cast<int>(address) / bytes) + "]";
    }
    const inside::PlaceInArea in = inside::place_in(area, address, bytes);
    return name + "[" + str(in.row) + (in.column < 0 ? "" : list_separator() + str(in.column)) +
           "] of the tile";
}

std::string area_name(const AppState& state, const InsidePlace& at, const SharedArea& area,
                      const SharedContent& content) {
    const bool coming = content.count(Piece::on_its_way) > 0;
    std::string symbol =
        coming || content.any ? inside::symbol_of(coming ? content.coming : content.matter) : "";
    if (!symbol.empty()) return symbol;
    std::string all;
    for (Matter m = Matter::Q; m < Matter::other; m = static_cast<Matter>(static_cast<int>(m) + 1))
        if (area.matters >> static_cast<int>(m) & 1)
            all += (all.empty() ? "" : ", ") + std::string(inside::symbol_of(m));
    return all.empty() ? name_in_source(state, at, area.place) : all;
}

std::string range_of(const inside::RowRange& rows) {
    return rows.first < 0 ? "" : range_text(rows.first, rows.last);
}

// In the box: what is there, or that it is on its way.
std::string short_content(const std::string& name, const SharedContent& content) {
    if (content.count(Piece::on_its_way) > 0) return name + (name.empty() ? "" : " ") + "on its way";
    if (!content.any) return name + (name.empty() ? "" : " ") + "nothing yet";
    return content.rows.first < 0 ? name : inside::rows_text(name, content.rows.first, content.rows.last);
}

// "rows 0…63", "on its way, issued at instruction 16", or both.
std::string content_words(const InsidePlace& at, const SharedContent& content) {
    std::string text;
    const int coming = content.count(Piece::on_its_way),
              open = content.count(Piece::empty) + content.count(Piece::partly);
    if (content.any) {
        text = content.rows.first < 0 ? "" : "rows " + range_of(content.rows);
        if (open > 0 && coming == 0)
            text += (text.empty() ? "" : ", ") + str(content.count(Piece::there)) +
                    " pieces of 16 bytes of " + str(content.count(Piece::there) + open);
    }
    if (coming == 0) return text.empty() && !content.any ? "nothing yet" : text;
    const int step = at.steps().at_slot(at.warp, content.issued);
    const std::string what =
        content.any ? (content.rows_coming.first < 0
                           ? std::string(inside::symbol_of(content.coming))
                           : inside::rows_text(inside::symbol_of(content.coming), content.rows_coming.first,
                                               content.rows_coming.last)) +
                          " on its way"
                    : "on its way";
    return text + (text.empty() ? "" : "; ") + what + ", issued at step " + str(step + 1);
}

/// What the lanes of an event touch of shared memory, and from which to which address.
struct Touched {
    std::uint32_t begin = 1, end = 0;
    std::vector<std::uint32_t> addresses{};
    std::uint32_t bytes = 0;  ///< from each of them on
    bool in(const SharedArea& area) const { return begin < area.end && end > area.begin; }
};
using AllTouched = std::vector<Touched>;
AllTouched touched_by(const InsidePlace& at, const inside::Event* event, std::uint32_t lanes) {
    AllTouched out;
    if (!event) return out;
    const auto note = [&out](const std::vector<std::uint32_t>& addresses, std::uint32_t bytes) {
        if (addresses.empty()) return;
        const auto [low, high] = std::ranges::minmax(addresses);
        out.push_back({low, high + bytes, addresses, bytes});
    };
    if (event->op == Op::fetch_tile) {
        const inside::TileFetch tile(at.block().words_of(*event));
        note({tile.to}, tile.box_bytes);
        return out;
    }
    if (event->op == Op::multiply_async) {  // by the tensor cores themselves
        const inside::TileProduct product(at.block().words_of(*event));
        note(product.chunks_of_A(event->warp), inside::chunk_bytes);
        note(product.chunks_of_B(), inside::chunk_bytes);
        return out;
    }
    for (const inside::Access& access : inside::accesses_of(*event, at.block().words_of(*event))) {
        if (!access.shared) continue;
        std::vector<std::uint32_t> wanted;
        std::size_t next = 0;
        for (int lane = 0; lane < 32; ++lane) {
            if (!(access.lanes >> lane & 1)) continue;
            if (lanes >> lane & 1) wanted.push_back(access.addresses[next]);
            ++next;
        }
        note(wanted, event->bytes);
    }
    return out;
}

/// Areas to one scale, and between them what nobody writes in this launch. The lowest ones can still be seen.
struct AreaSheet {
    std::vector<Rect> areas, unused;
};
AreaSheet lay_out_areas(const std::vector<SharedArea>& areas, const Rect& a) {
    struct Part {
        std::int64_t bytes;
        bool used;
    };
    std::vector<Part> parts;
    constexpr std::int64_t seen = 64;  // what is smaller than a part in so many only aligns the next area
    const std::int64_t span = areas.empty() ? 1 : std::max<std::int64_t>(1, areas.back().end);
    std::int64_t at = 0;
    for (const SharedArea& area : areas) {
        if (std::int64_t(area.begin) - at > span / seen) parts.push_back({area.begin - at, false});
        parts.push_back({area.bytes(), true});
        at = area.end;
    }
    // Where there are many, none has as much room, and all of them stay within.
    const float small = std::min(1.0f, a.h / (8 * px(std::max<std::size_t>(1, parts.size())))),
                least = 4 * small, gap = 3 * small;
    float room = a.h - gap * px(parts.size());
    std::int64_t bytes = 0;
    for (const Part& part : parts) bytes += part.bytes;
    // What is lower than the least at this scale takes the least, and the others share the rest.
    for (bool again = true; again;) {
        again = false;
        for (Part& part : parts)
            if (part.bytes > 0 && px(part.bytes) * room < least * px(bytes))
                bytes -= part.bytes, room -= least, part.bytes = 0, again = true;
    }
    AreaSheet out;
    float y = a.y;
    for (const Part& part : parts) {
        const float h =
            part.bytes == 0 ? least : room * px(part.bytes) / px(std::max<std::int64_t>(1, bytes));
        (part.used ? out.areas : out.unused).push_back({a.x, y, a.w, h});
        y += h + gap;
    }
    return out;
}

// Rows of 128 bytes, eight pieces each: what is there is filled, what is on its way hatched. Neighbours that
// are alike are drawn as one.
constexpr std::size_t row_pieces = 8;

struct PieceRun {
    std::size_t row, rows, first, end;  ///< pieces of each of the rows
    Piece state;
};
std::vector<PieceRun> runs_of(const std::vector<Piece>& pieces) {
    const std::size_t rows = (pieces.size() + row_pieces - 1) / row_pieces;
    const auto at = [&](std::size_t row, std::size_t n) {
        const std::size_t piece = row * row_pieces + n;
        return piece < pieces.size() ? pieces[piece] : Piece::unused;
    };
    const auto alike = [&](std::size_t a, std::size_t b) {
        for (std::size_t n = 0; n < row_pieces; ++n)
            if (at(a, n) != at(b, n)) return false;
        return true;
    };
    std::vector<PieceRun> out;
    for (std::size_t row = 0; row < rows;) {
        std::size_t next = row + 1;
        while (next < rows && alike(row, next)) ++next;
        for (std::size_t n = 0; n < row_pieces;) {
            std::size_t end = n + 1;
            while (end < row_pieces && at(row, end) == at(row, n)) ++end;
            out.push_back({row, next - row, n, end, at(row, n)});
            n = end;
        }
        row = next;
    }
    return out;
}

void draw_pieces(const Canvas& c, const Rect& r, const SharedContent& content) {
    const Theme& t = *c.theme;
    const ImU32 there = hue_of(t, content.matter), coming = hue_of(t, content.coming);
    const float rows = px((content.pieces.size() + row_pieces - 1) / row_pieces), h = r.h / rows,
                w = r.w / px(row_pieces);
    c.rect(r.x, r.y, r.w, r.h, t.well, radius::cell);
    for (const PieceRun& run : runs_of(content.pieces)) {
        const Rect a{r.x + px(run.first) * w, r.y + px(run.row) * h, px(run.end - run.first) * w,
                     px(run.rows) * h};
        const float round = run.rows * row_pieces >= content.pieces.size() ? radius::cell : 0;
        if (run.state == Piece::there) c.rect(a.x, a.y, a.w, a.h, mix(t.panel, there, .34f), round);
        if (run.state == Piece::partly) c.rect(a.x, a.y, a.w, a.h, mix(t.panel, there, .15f), round);
        if (run.state == Piece::on_its_way) c.hatch(a.x, a.y, a.w, a.h, coming, 7, 1);
    }
}

// What the step reads or writes, piece by piece.
void draw_touched(const Canvas& c, const Rect& r, const SharedArea& area, const AllTouched& touched,
                  const SharedContent& content) {
    const Theme& t = *c.theme;
    std::vector<Piece> pieces(content.pieces.size(), Piece::empty);
    for (const Touched& one : touched)
        for (const std::uint32_t address : one.addresses)
            for (std::uint32_t b = 0; b < one.bytes; b += 4)
                if (area.holds(address + b))
                    pieces[(address + b - area.begin) / inside::chunk_bytes] = Piece::there;
    const float rows = px((pieces.size() + row_pieces - 1) / row_pieces), h = r.h / rows,
                w = r.w / px(row_pieces);
    for (const PieceRun& run : runs_of(pieces)) {
        if (run.state != Piece::there) continue;
        const Piece state = content.pieces[run.row * row_pieces + run.first];
        const Rect a{r.x + px(run.first) * w, r.y + px(run.row) * h, px(run.end - run.first) * w,
                     px(run.rows) * h};
        const ImU32 hue = hue_of(t, state == Piece::on_its_way ? content.coming : content.matter);
        if (state == Piece::on_its_way)
            c.hatch(a.x, a.y, a.w, std::max(1.5f, a.h), hue, 3.5f, 1.5f);
        else
            c.rect(a.x, a.y, a.w, std::max(1.5f, a.h), mix(t.panel, hue, .9f), 0);
    }
}

/// Areas beside each other that are too low for their names: these stand at their left, "L, D".
struct LowAreas {
    std::size_t first = 0, last = 0;
    std::string names{};
};
std::vector<LowAreas> low_areas(const AppState& state, const InsidePlace& at, const std::vector<Rect>& rects,
                                const std::vector<SharedContent>& contents, const InsideLook& look) {
    const auto& areas = at.launch->shared.areas();
    std::vector<LowAreas> out;
    for (std::size_t n = 0; n < areas.size(); ++n) {
        const std::string name = area_name(state, at, areas[n], contents[n]);
        if (name.empty() || rects[n].h >= look.small + 3) continue;
        const bool beside = !out.empty() && out.back().last + 1 == n;
        if (!beside) out.push_back({n, n});
        out.back().last = n;
        // Stages of one matrix are named once.
        if (!out.back().names.ends_with(name))
            out.back().names += (out.back().names.empty() ? "" : list_separator()) + name;
    }
    return out;
}

// What the launch never writes
void draw_unused(const Canvas& c, const std::vector<Rect>& unused, float small) {
    const Theme& t = *c.theme;
    for (const Rect& r : unused) {
        c.dashed_line({r.x + .5f, r.y}, {r.x + .5f, r.bottom()}, t.line2, 1, {3, 3});
        c.dashed_line({r.right() - .5f, r.y}, {r.right() - .5f, r.bottom()}, t.line2, 1, {3, 3});
        if (r.h >= small + 3)
            c.text_within(r.x + r.w / 2, r.middle(), r.w - 6, "not used", small, t.t3, Face::regular,
                          Align::center);
    }
}

// What is at hand of an area; where its name has room: above or below what it meets.
float frame_touched(const Canvas& c, const Rect& r, const SharedArea& area, const AllTouched& touched,
                    float small) {
    float name_y = r.middle();
    for (const Touched& one : touched) {
        if (!one.in(area)) continue;
        const float per_byte = r.h / px(area.bytes());
        const float from = r.y + px(std::max(one.begin, area.begin) - area.begin) * per_byte,
                    h = std::max(2.5f, px(std::min(one.end, area.end) - std::max(one.begin, area.begin)) *
                                           per_byte);
        c.frame(r.x - 1, from - 1, r.w + 2, h + 2, c.theme->focus, 1.5f, 2);
        const float half = small * .6f + 2;
        if (from < name_y + half && from + h > name_y - half) {
            const float above = from - half, below = from + h + half;
            if (above - half >= r.y)
                name_y = above;
            else if (below + half <= r.bottom())
                name_y = below;
        }
    }
    return name_y;
}

}  // namespace

std::string name_in_shared(const AppState& state, const InsidePlace& at, std::uint32_t event,
                           std::uint32_t address, int bytes) {
    if (!inside::is_shared(address) || bytes <= 0) return {};
    if (const auto from = at.origins().global_source(address, event))
        return inside::short_address(at.record(), *from);
    const SharedArea* const area = at.launch->shared.area_of(address);
    return area ? computed_name(state, at, event, *area, address, bytes) : std::string();
}

void draw_space(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                const inside::Event* event, const InsideLook& look) {
    const auto& areas = at.launch->shared.areas();
    if (areas.empty()) return;
    const Theme& t = *c.theme;
    const auto& contents = inside_ways(state, at).contents;
    // From the back row nobody needs an address; names of what is too low for them have room everywhere.
    const auto low = low_areas(state, at, lay_out_areas(areas, a).areas, contents, look);
    float addresses = look.far ? 0 : text_width(Face::mono, look.small, "0x0000") + 8;
    for (const LowAreas& of : low)
        addresses = std::max(addresses, text_width(Face::medium, look.small, of.names) + 8);
    const AreaSheet sheet = lay_out_areas(areas, {a.x + addresses, a.y, a.w - addresses, a.h});
    const std::vector<Rect>& rects = sheet.areas;
    draw_unused(c, sheet.unused, look.small);
    for (const LowAreas& of : low)
        c.text(a.x + addresses - 8, (rects[of.first].y + rects[of.last].bottom()) / 2, of.names, look.small,
               t.t1, Face::medium, Align::right);
    const auto is_low = [&](std::size_t n) {
        return std::ranges::any_of(low, [n](const LowAreas& of) { return n >= of.first && n <= of.last; });
    };
    const AllTouched touched = touched_by(at, event, look.fed);
    float free = a.y - 100;
    for (std::size_t n = 0; n < areas.size(); ++n) {
        const SharedArea& area = areas[n];
        const Rect& r = rects[n];
        const SharedContent& content = contents[n];
        draw_pieces(c, r, content);
        draw_touched(c, r, area, touched, content);
        const bool coming = content.count(Piece::on_its_way) > 0;
        c.frame(r.x + .5f, r.y + .5f, r.w - 1, r.h - 1,
                coming || content.any ? hue_of(t, coming ? content.coming : content.matter) : t.line2, 1,
                radius::cell);
        const float name_y = frame_touched(c, r, area, touched, look.small);
        if (!look.far && !is_low(n) && r.y - free >= look.small + 1) {
            c.text(r.x - 8, r.y + look.small * .5f, hex_address(area.begin), look.small, t.t3, Face::mono,
                   Align::right);
            free = r.y;
        }
        const std::string name = area_name(state, at, area, content);
        std::string words = short_content(name, content);
        // Where it has room for its name alone it would look filled.
        if (!content.any && text_width(Face::medium, look.small, words) >= r.w - 6) words = name + " empty";
        if (r.h >= look.small + 3 && text_width(Face::medium, look.small, name) < r.w - 6)
            c.text_within(r.x + r.w / 2, name_y, r.w - 6,
                          text_width(Face::medium, look.small, words) < r.w - 6 ? words : name, look.small,
                          t.t1, Face::medium, Align::center);
        if (look.far) continue;
        const Hot hot = hot_area(c, "##area " + str(n), r.x, r.y, r.w, r.h);
        if (hot.hovered)
            tooltip(c, "Shared memory from " + hex_address(area.begin) + ", " + format_size(area.bytes()) +
                           (name.empty() ? ": " : ": " + name + ", ") + content_words(at, content) +
                           ". A piece is 16 bytes, a row of pieces 128.");
    }
}

static std::string contents_words(const InsidePlace& at) {
    switch (at.event->op) {
    case Op::multiply_async:
        return "The tensor cores read A and B from there by themselves: what is bright. No lane asks for it.";
    case Op::init_barrier:
    case Op::arrive_at:
    case Op::expect_bytes:
    case Op::wait_for:
        return "This step asks for its barrier alone, " + inside::short_address(at.record(), at.words[0]) +
               ". What lies in shared memory:";
    default: return "This step asks for no address. What lies in shared memory:";
    }
}

void draw_contents(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const auto& areas = at.launch->shared.areas();
    const auto& contents = inside_ways(state, at).contents;
    float y = a.y + 6;
    const auto say = [&](const std::string& text, ImU32 ink) {
        y += c.paragraph(a.x, y - 6, a.w, text, size::body, ink, 2) + 8;
    };
    say(contents_words(at), t.t2);
    // As many columns as it takes to tell all of them
    constexpr float row = 19, least_column = 130;
    const auto rows = static_cast<std::size_t>(std::max(1.0f, (a.bottom() - y + row / 2) / row));
    const auto most = static_cast<std::size_t>(std::max(1.0f, a.w / least_column));
    const std::size_t columns = std::clamp((areas.size() + rows - 1) / rows, std::size_t{1}, most);
    const float w = a.w / px(columns), top = y;
    for (std::size_t n = 0; n < std::min(areas.size(), columns * rows); ++n) {
        const SharedArea& area = areas[n];
        const float x = a.x + w * px(n / rows);
        y = top + row * px(n % rows);
        const SharedContent& content = contents[n];
        const std::string name = area_name(state, at, area, content), words = content_words(at, content);
        const bool coming = content.count(Piece::on_its_way) > 0;
        c.rect(x, y - 5, 10, 10,
               content.any && !coming ? mix(t.panel, hue_of(t, content.matter), .8f) : t.well, 2);
        if (coming) c.hatch(x, y - 5, 10, 10, hue_of(t, content.coming), 4, 1.5f);
        if (!coming && !content.any) c.frame(x + .5f, y - 4.5f, 9, 9, t.line2, 1, 2);
        std::string text = (name.empty() ? hex_address(area.begin) : name) + " " + format_size(area.bytes());
        if (!words.empty()) text += ": " + words;
        c.text_within(x + 18, y, w - 26, text, size::small, t.t1);
    }
}

// ---- What a barrier protects

std::string meeting_sentence(const inside::Meeting& meeting) {
    const auto warps = static_cast<int>(meeting.steps.size());
    if (warps == 1) return "The block has one warp, which waits for nobody.";
    if (meeting.together())
        return "All " + str(warps) + " warps come after " + counted(meeting.steps.front(), "step") +
               ": whichever is first waits for the others.";
    const int last = meeting.last();
    std::uint32_t waiting = 0;
    for (int w = 0; w < warps; ++w)
        if (meeting.steps[static_cast<std::size_t>(w)] < meeting.steps[static_cast<std::size_t>(last)])
            waiting |= 1u << w;
    return capitalised(inside::warps_text(waiting)) + (std::popcount(waiting) == 1 ? " waits" : " wait") +
           " for warp " + str(last) + ", which has most steps, " +
           str(meeting.steps[static_cast<std::size_t>(last)]) + ".";
}

static std::string name_of_matter(const AppState& state, const InsidePlace& at, Matter matter,
                                  std::uint32_t place) {
    const std::string symbol = inside::symbol_of(matter);
    return symbol.empty() ? name_in_source(state, at, place) : symbol;
}

/// "S", "K", what both accesses touch.
static std::string subject_of(const AppState& state, const InsidePlace& at, const Protected& p) {
    std::string name = name_of_matter(state, at, p.first, p.first_place);
    if (name.empty()) name = name_of_matter(state, at, p.second, p.second_place);
    return name;
}

static std::string line_of(const InsidePlace& at, std::uint32_t place) {
    const inside::Place& of = at.record().places[place];
    return of.file.substr(of.file.find_last_of('/') + 1) + ":" + str(of.line);
}

static std::string doing(const InsidePlace& at, std::uint32_t event) {
    return inside::words_of_step(at.record(), at.block(), at.block().events[event]).instruction;
}

std::string protected_sentence(const AppState& state, const InsidePlace& at, const Protected& p) {
    const std::string what = subject_of(state, at, p), who = inside::warps_text(p.first_warps),
                      whom = inside::warps_text(p.second_warps);
    const std::string of = what.empty() ? format_size(p.bytes) : format_size(p.bytes) + " of " + what;
    if (p.first_writes && !p.second_writes)
        return of + " that " + who + " wrote before it " +
               (std::popcount(p.second_warps) == 1 ? "is" : "are") + " read behind it by " + whom + ".";
    const std::string next = name_of_matter(state, at, p.second, p.second_place);
    return of + " that " + who + (p.first_writes ? " wrote" : " read") + " before it " +
           "are written over behind it by " + whom +
           (next.empty() || next == what ? "." : ", with " + next + ".");
}

// One row: what, before, behind; a click leads to the access behind.
static void draw_protected_row(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                               const Protected& p, std::size_t number, const InsideLook& look) {
    const Theme& t = *c.theme;
    const ImU32 hue = hue_of(t, p.first == Matter::none ? p.second : p.first);
    if (!look.far) {
        const Hot hot = hot_area(c, "##protected " + str(number), a.x, a.y, a.w, a.h);
        if (hot.hovered) c.rect(a.x - 4, a.y, a.w + 8, a.h, t.raised, radius::cell);
        if (hot.hovered)
            tooltip(c, capitalised(protected_sentence(state, at, p)) + " Click: the access behind.");
        if (hot.clicked) {
            choose_lane(state, p.second_lane);
            go_inside(state, at.block().events[p.second_event].warp,
                      at.origins().step_number(p.second_event));
        }
    }
    const float size = look.small, y = a.middle();
    const std::string name = subject_of(state, at, p);
    float x = a.x;
    c.rect(x, y - 5, 4, 10, hue, 1);
    x += 12;
    const float what_w = size * 7.2f;
    c.text_within(x, y, what_w - 6, (name.empty() ? std::string() : name + " ") + format_size(p.bytes), size,
                  t.t1, Face::semibold);
    x += what_w;
    const float half = (a.right() - x - size * 2) / 2;
    const auto side = [&](float from, bool writes, const std::string& who, std::uint32_t event,
                          std::uint32_t place) {
        const std::string verb = writes ? " write, " : " read, ";
        const std::string shown = who + verb + doing(at, event);
        const std::string full = shown + " " + line_of(at, place);
        c.text_within(from, y, half, text_width(Face::regular, size, full) <= half ? full : shown, size,
                      t.t2);
    };
    side(x, p.first_writes, inside::warps_text(p.first_warps), p.first_event, p.first_place);
    c.text(x + half + size, y, "→", size, t.t1, Align::center);
    side(x + half + size * 2, p.second_writes, inside::warps_text(p.second_warps), p.second_event,
         p.second_place);
}

void draw_protected(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                    const InsideLook& look) {
    const auto& meeting = inside_ways(state, at).meeting;
    if (!meeting) return;
    const Theme& t = *c.theme;
    if (meeting->orders.empty()) {
        c.paragraph(
            a.x, a.y, a.w,
            "Nothing in this run: no access to shared memory since the barrier before meets one up to the "
            "next barrier.",
            look.small, t.t2, 3);
        return;
    }
    const float row = look.small * 1.85f;
    float y = a.y;
    const float heads = a.x + 12 + look.small * 7.2f, half = (a.right() - heads - look.small * 2) / 2;
    c.text(heads, y + row / 2, "before it", look.small, t.t3);
    c.text(heads + half + look.small * 2, y + row / 2, "behind it", look.small, t.t3);
    y += row;
    std::size_t shown = 0;
    for (const Protected& p : meeting->orders) {
        const bool last = shown + 1 < meeting->orders.size() && y + 2 * row > a.bottom();
        if (y + row > a.bottom() + 1) break;
        if (last) {
            c.text(a.x + 12, y + row / 2, "and " + str(meeting->orders.size() - shown) + " more", look.small,
                   t.t3);
            break;
        }
        draw_protected_row(c, state, {a.x, y, a.w, row}, at, p, shown++, look);
        y += row;
    }
}

// ---- The swizzle

float inside_swizzle(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    constexpr float h = 70;
    const auto& rule_here = inside_ways(state, at).swizzle;
    if (!rule_here || a.h < h + 24 || at.event->op == Op::multiply_add) return 0;
    const Theme& t = *c.theme;
    const inside::Swizzle& s = *rule_here;
    c.text(a.x, a.y + 8, "Swizzle of lane " + str(at.lane), size::body, t.t2, Face::semibold);
    const float top = a.y + 22;
    c.well(a.x, top, a.w, h - 6, radius::panel);
    const std::string rule_words = s.halved ? "chunk XOR (row ÷ 2 mod 4)" : "chunk XOR (row mod 8)",
                      whole = "place = " + rule_words;
    const bool fits = text_width(Face::mono, size::small, whole) <= a.w - 20;
    c.text_within(a.x + 10, top + 15, a.w - 20, fits ? whole : rule_words, size::small, t.t1, Face::mono);
    const std::string name = inside::symbol_of(s.matter);
    const Line numbers =
        pieces(number(str(s.chunk), role_of(s.matter)), word(" XOR "), number(str(s.flip)), word(" = "),
               number(str(s.place), Role::none, true), word("  (" + name + ", row " + str(s.row) + ")"));
    c.rich(a.x + 10, top + 33, numbers, size::small);
    c.text_within(a.x + 10, top + 50, a.w - 20,
                  "banks " + range_text(s.first_bank, s.first_bank + 3) + " of row " + str(s.row),
                  size::small, t.t2);
    return h + 26;
}

}  // namespace tilewalk::ui
