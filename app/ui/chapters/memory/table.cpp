// The N² table: S of one head, S and P of all heads against the memory there is, and what flash keeps.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Right edges of the columns; the bars lie between `bars` and `bars_end`.
struct Columns {
    float N, S, all, bars, bars_end, L, fits;
};
Columns columns(const Rect& a) {
    const bool narrow = a.w < 800;
    Columns k{};
    k.N = a.x + (narrow ? 72.0f : 86.0f);
    k.S = k.N + (narrow ? 84.0f : 110.0f);
    k.all = k.S + (narrow ? 104.0f : 134.0f);
    k.bars = k.all + 20;
    // "fits" is said of the bars, so it stands beside them.
    k.L = a.inner_right();
    k.fits = k.L - (narrow ? 80.0f : 116.0f);
    k.bars_end = k.fits - (narrow ? 86.0f : 96.0f);
    return k;
}

// As many rows as have room, the current one among them.
std::vector<ScoreRow> rows_with_room(const Study& s, float room, float least) {
    std::vector<ScoreRow> rows = s.rows;
    const auto current = [&](const ScoreRow& row) { return row.N == s.shape.N; };
    while (rows.size() > 1 && px(rows.size()) * least > room) {
        const bool first = current(rows.front());
        rows.erase(rows.begin() + (first ? 1 : 0));
    }
    return rows;
}

void heads_and_batch(const Canvas& c, MemoryForm& form, const Rect& a) {
    const float w = a.w < 700 ? 92 : 132, y = a.y + space::control_top;
    float x = a.right() - space::control_edge - w;
    stepper(c, "##memory-batch", x, y, w, form.batch, 1, 1024);
    x -= 10 + text_width(Face::regular, size::body, "batch");
    c.text(x, y + 16, "batch", size::body, c.theme->t3);
    x -= 14 + w;
    stepper(c, "##memory-heads", x, y, w, form.heads, 1, 1024);
    x -= 10 + text_width(Face::regular, size::body, "heads");
    c.text(x, y + 16, "heads", size::body, c.theme->t3);
}

void footnotes(const Canvas& c, const Study& s, const Rect& a, int lines) {
    const std::string first = "From N = " + format_count(s.first_N_too_large) +
                              " on S and P do not fit; flash keeps Q, K, V, O, L and fits up to " +
                              format_count(s.first_N_too_large_flash - 1) + ".";
    const float y = a.bottom() - space::foot - 18 * px(lines - 1);
    c.text_within(a.inner_x(), y, a.inner_w(), first, size::small, c.theme->t2);
    if (lines < 2) return;
    const std::string units = "KiB, MiB, GiB count 1024; the driver reports " +
                              format_large_size(s.input.hardware.capacity.value) + " of memory.",
                      all = "Bars are true to length; an arrow: it goes on. " + units;
    const bool fits = text_width(Face::regular, size::small, all) <= a.inner_w();
    c.text_within(a.inner_x(), y + 18, a.inner_w(), fits ? all : units, size::small, c.theme->t3);
}

void headings(const Canvas& c, const Columns& k, float y, bool narrow) {
    const auto write = [&](float x, const char* text) {
        c.text(x, y, text, size::small, c.theme->t2, Face::medium, Align::right);
    };
    write(k.N, "N");
    write(k.S, "S, one head");
    write(k.all, narrow ? "S + P, all" : "S + P, all heads");
    write(k.L, narrow ? "instead: L" : "in their place: L");
}

void table_row(const Canvas& c, const Columns& k, const ScoreRow& row, float y, float size, bool current) {
    const Theme& t = *c.theme;
    const Face face = current ? Face::semibold : Face::regular;
    const ImU32 quiet = current ? t.t1 : t.t2;
    c.text(k.N, y, format_count(row.N), size, t.t1, face, Align::right);
    c.text(k.S, y, format_large_size(row.one_head), size, quiet, Align::right);
    c.text(k.all, y, format_large_size(row.all), size, t.t1, face, Align::right);
    c.text(k.L, y, format_large_size(row.flash), size, quiet, Align::right);
    c.text(k.fits, y, row.fits ? "fits" : "does not fit", std::min(size, 14.0f), row.fits ? t.t2 : t.t1,
           row.fits ? Face::regular : Face::medium, Align::right);
}

}  // namespace

void memory_table(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const std::string what = std::string("S and P in ") + format_name(s.input.element_bytes);
    const bool narrow = a.w < 800;
    const Panel panel(c, "Scores", a, narrow ? "N × N matrices" : "What the N × N matrices would need",
                      narrow ? std::string(format_name(s.input.element_bytes)) : what);
    heads_and_batch(c, state.memory, a);
    const int notes = a.h > 320 ? 2 : 1;
    const float head = a.y + 52, top = head + 14, room = a.bottom() - 12 - 18 * px(notes) - top;
    const std::vector<ScoreRow> rows = rows_with_room(s, room, 17);
    const float pitch = std::min(39.0f, room / px(rows.size())), thick = std::min(14.0f, pitch - 6);
    const Columns k = columns(a);
    // Lengths are true: twice as much is twice as long, up to where the room ends.
    const double capacity = s.input.hardware.capacity.value, hi = 1.75 * capacity;
    const float whole = k.bars_end - k.bars;
    const auto X = [&](double v) { return k.bars + whole * px(v / hi); };
    headings(c, k, head, narrow);
    const float limit = X(capacity);
    const std::string there = format_large_size(capacity);
    const float half = text_width(Face::medium, size::small, there) / 2;
    c.text(std::clamp(limit, k.bars + half, std::max(k.bars + half, k.bars_end - half)), head, there,
           size::small, t.t1, Face::medium, Align::center);
    const float size = pitch > 22 ? 15 : 13;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const ScoreRow& row = rows[n];
        const float y = top + (px(n) + .5f) * pitch;
        const bool current = row.N == s.shape.N;
        if (current) c.rect(a.x + 8, y - pitch / 2 + 1, a.w - 16, pitch - 2, t.raised, 7);
        size_bar(c, k.bars, y - thick / 2, X(std::min(row.all, 2 * hi)) - k.bars, whole, thick, row.fits,
                 current);
        table_row(c, k, row, y, size, current);
    }
    c.dashed_line({limit, head + 9}, {limit, top + pitch * px(rows.size())}, t.t1, 1.5f, {5, 4});
    footnotes(c, s, a, notes);
}

}  // namespace tilewalk::ui
