// A tile that comes by itself (TMA): which box of its matrix it is, where its rows lie in shared memory and
// in which order their chunks, and which barrier counts its bytes. One lane asks for all of it.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/base/shared_tiles.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::TileFetch;

constexpr int chunk_of_16 = 16, row_chunks = tile_row_bytes / chunk_of_16;

/// The tile, and its box in the matrix; without rows of it all is zeros.
struct Fetched {
    TileFetch tile;
    Matter matter;
    std::optional<inside::Element> first;  ///< its first element
    int rows = 0, columns = 0;             ///< of the whole matrix
    int width = 0;                         ///< columns of the box

    explicit Fetched(const InsidePlace& at)
        : tile(at.words), matter(at.origins().matter(at.n)),
          first(tile.from != 0 ? inside::element_of(at.record(), tile.from) : std::nullopt) {
        if (!first) return;
        const inside::Region& region = at.record().regions[static_cast<std::size_t>(first->region)];
        rows = static_cast<int>(region.bytes) / region.row_bytes;
        columns = region.row_bytes / region.element_bytes;
        width = static_cast<int>(tile.row_bytes) / region.element_bytes;
    }
    int box_rows() const { return static_cast<int>(tile.box_bytes) / tile_row_bytes; }
    /// Which chunk of its row in HBM lies at this place of a row in shared memory; −1: zeros.
    int chunk_at(int row, int place) const {
        const std::uint32_t in_row = static_cast<std::uint32_t>(row),
                            from = tile.source(tile.to + in_row * tile_row_bytes +
                                               static_cast<std::uint32_t>(place * chunk_of_16));
        return from == 0 ? -1 : static_cast<int>(from - tile.from - in_row * tile.stride) / chunk_of_16;
    }
};

// The whole matrix in HBM, and the box in it.
void draw_matrix(const Canvas& c, const Rect& a, const Fetched& f, const InsideLook& look) {
    const Theme& t = *c.theme;
    const ImU32 hue = hue_of(t, f.matter);
    const float labels = text_width(Face::mono, look.small, "000") + 10;
    const float h = a.h - look.small * 1.7f, least = std::max(1.0f, std::min(a.w - labels, h * 1.1f));
    const Rect all{a.x + labels, a.y, least, h};
    c.rect(all.x, all.y, all.w, all.h, mix(t.panel, hue, .12f), radius::cell);
    c.frame(all.x, all.y, all.w, all.h, t.line2, 1, radius::cell);
    const float row = all.h / px(f.rows), column = all.w / px(f.columns);
    const int last = f.first->row + static_cast<int>(f.tile.rows) - 1;
    const Rect box{all.x + px(f.first->column) * column, all.y + px(f.first->row) * row, px(f.width) * column,
                   std::max(3.0f, px(f.tile.rows) * row)};
    c.rect(box.x, box.y, box.w, box.h, mix(t.panel, hue, .7f), radius::bar);
    c.frame(box.x - 1, box.y - 1, box.w + 2, box.h + 2, t.focus, 2 * look.line, radius::cell);
    const float half = look.small * .5f;
    const float top = std::clamp(box.y + half, all.y + half, all.bottom() - 3 * half);
    c.text(all.x - 8, top, str(f.first->row), look.small, t.t1, Face::mono, Align::right);
    if (box.h > look.small * 2.2f)
        c.text(all.x - 8, box.bottom() - half, str(last), look.small, t.t1, Face::mono, Align::right);
    c.text_within(all.x + all.w / 2, all.bottom() + look.small * .9f, all.w + labels,
                  "columns " + range_text(f.first->column, f.first->column + f.width - 1), look.small, t.t3,
                  Align::center);
}

// Rows of 128 bytes as they lie in shared memory; in each place the chunk of the row that came there.
void draw_box(const Canvas& c, const Rect& a, const Fetched& f, const InsideLook& look) {
    const Theme& t = *c.theme;
    const ImU32 hue = hue_of(t, f.matter);
    const float labels = text_width(Face::mono, look.small, "000") + 10, foot = look.small * 1.7f;
    const float h = std::floor(std::clamp((a.h - foot) / row_chunks, look.small + 3, look.small * 2.0f));
    const int fit = static_cast<int>((a.h - foot) / h);
    const int rows = std::min(fit >= 2 * row_chunks ? 2 * row_chunks : std::max(1, fit), f.box_rows());
    const float w = std::min(std::floor((a.w - labels) / row_chunks), look.small * 4.0f);
    const Rect all{a.x + labels, a.y, w * row_chunks, h * px(rows)};
    for (int row = 0; row < rows; ++row) {
        const float y = all.y + px(row) * h;
        c.text(all.x - 8, y + h / 2, str(f.first->row + row), look.small, t.t3, Face::mono, Align::right);
        for (int place = 0; place < row_chunks; ++place) {
            const int chunk = f.chunk_at(row, place);
            const Rect cell{all.x + px(place) * w + 1, y + 1, w - 2, h - 2};
            const ImU32 fill =
                chunk < 0 ? t.well : legible_fill(t, hue, chunk == 0 ? .85f : .12f + .05f * px(chunk));
            c.rect(cell.x, cell.y, cell.w, cell.h, fill, radius::bar);
            if (chunk == 0) c.frame(cell.x, cell.y, cell.w, cell.h, t.focus, 1.5f * look.line, radius::bar);
            c.text(cell.x + cell.w / 2, cell.middle(), chunk < 0 ? "0" : str(chunk), look.number,
                   chunk < 0 ? t.t3 : ink_on(t, fill), chunk == 0 ? Face::mono_bold : Face::mono,
                   Align::center);
        }
    }
    const std::string more =
        rows < f.box_rows() ? ", and so on to row " + str(f.first->row + f.box_rows() - 1) : std::string();
    const std::string rule = "chunk c of row r lies at place c XOR (r mod 8)";
    text_that_fits(c, a.x, all.bottom() + look.small * .9f + 2, a.w,
                   {rule + more, rule, "chunk c at c XOR (r mod 8)", "c XOR (r mod 8)"}, look.small, t.t3);
}

}  // namespace

int elected_lane(const inside::Event& event) { return std::countr_zero(event.lanes); }

std::string fetch_sentence(const InsidePlace& at) {
    const TileFetch tile(at.words);
    return "One elected lane, lane " + str(elected_lane(*at.event)) + ", asks for all " +
           counted(static_cast<int>(tile.sectors()), "sector") + " of it; the other lanes ask for nothing.";
}

void draw_fetched(const Canvas& c, const Rect& a, const InsidePlace& at, const InsideLook& look) {
    const Theme& t = *c.theme;
    const Fetched f(at);
    if (!f.first)
        return void(c.paragraph(a.x, a.y, a.w,
                                "The box lies outside of the matrix: " + format_size(f.tile.box_bytes) +
                                    " of zeros come to shared memory, and HBM is not asked.",
                                look.far ? size::far_text : size::body, t.t2, 3));
    const float head = look.small * 2.1f, body = a.h - head, y = a.y + head * .4f;
    const float left = std::min(std::floor(a.w * .36f), body * 1.2f), middle = look.small * 8.5f;
    const std::string kind = f.tile.rows < static_cast<std::uint32_t>(f.box_rows()) ? ", zeros below" : "";
    const float letter = c.rich(a.x, y, matter_line(f.matter, "matrix"), look.far ? look.small : 17);
    c.text_within(a.x + letter + 8, y, left - letter - 8, "in HBM, " + str(f.rows) + " × " + str(f.columns),
                  look.small, t.t2);
    draw_matrix(c, {a.x, a.y + head, left, body}, f, look);
    const float x = a.x + left + middle;
    char address[16];
    std::snprintf(address, sizeof address, "0x%x", f.tile.to);
    const std::string where = std::string("in shared memory from ") + address;
    text_that_fits(c, x, y, a.right() - x,
                   {where + ": rows of 128 bytes, which chunk lies where" + kind, where + kind, where},
                   look.small, t.t2);
    draw_box(c, {x, a.y + head, a.right() - x, body}, f, look);
    const float line = a.y + head + body * .38f, from = a.x + left + look.small * .8f,
                to = x - look.small * .8f;
    c.arrow({{from, line}, {to, line}}, ArrowStyle::active, hue_of(t, f.matter));
    const float centre = (from + to) / 2;
    const auto say = [&](float down, const std::string& words, ImU32 ink) {
        c.text_within(centre, line + down * look.small, middle - 8, words, look.small, ink, Align::center);
    };
    std::snprintf(address, sizeof address, "0x%x", f.tile.barrier);
    say(-1.2f, format_size(f.tile.bytes_read()), t.t1);
    say(1.4f, "by TMA", t.t2);
    say(2.7f, "counted at", t.t2);
    say(4.0f, address, t.t2);
    say(5.3f, "phase " + str(f.tile.phase), t.t2);
}

}  // namespace tilewalk::ui
