// Where the chunks of eight rows lie in shared memory: as they are asked for together, plainly and swizzled.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/words.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Of four banks each
constexpr int places = inside::banks / 4;

/// One of the rows that are asked for together.
struct AskedRow {
    int lane = 0;
    inside::Swizzle at;
    int chunk_in(int place) const { return (at.chunk & -places) | (place ^ at.flip); }
};

// Those of the lanes that go together with the chosen one.
std::vector<AskedRow> asked_rows(const InsidePlace& at, int lane) {
    const auto n = static_cast<std::uint32_t>(at.event - at.block().events.data());
    std::vector<AskedRow> out;
    const int first = lane / places * places;
    for (int one = first; one < first + places; ++one)
        if (const auto swizzle =
                inside::swizzle_of(at.record(), at.block(), at.origins(), at.launch->shared, n, one);
            swizzle && !swizzle->halved)
            out.push_back({one, *swizzle});
    return out;
}

// A line for each row, a column for each place; in the cells the chunks.
void grid(const Canvas& c, const Rect& a, const std::vector<AskedRow>& rows, bool swizzled, int lane,
          const std::string& title, ImU32 hue) {
    const Theme& t = *c.theme;
    constexpr float head = 76;
    c.text_within(a.x, a.y + 16, a.w, title, size::far, t.t2, Face::semibold);
    const float w = a.w / px(places), h = (a.h - head) / px(rows.size());
    for (int p = 0; p < places; ++p)
        c.text(a.x + (px(p) + .5f) * w, a.y + 54, str(p), size::far, t.t3, Align::center);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const AskedRow& row = rows[n];
        for (int p = 0; p < places; ++p) {
            const int chunk = row.chunk_in(swizzled ? p : p ^ row.at.flip);
            const Rect cell{a.x + px(p) * w + 1, a.y + head + px(n) * h + 1, w - 2, h - 2};
            const bool wanted = chunk == row.at.chunk;
            const ImU32 fill = wanted ? mix(t.panel, hue, .75f) : t.well;
            c.rect(cell.x, cell.y, cell.w, cell.h, fill, radius::bar);
            if (wanted && row.lane == lane) c.frame(cell.x, cell.y, cell.w, cell.h, t.focus, 3, radius::bar);
            c.text(cell.x + cell.w / 2, cell.middle(), str(chunk), size::far, wanted ? ink_on(t, fill) : t.t3,
                   wanted ? Face::semibold : Face::regular, Align::center);
        }
    }
}

}  // namespace

bool far_places(const Canvas& c, const AppState& state, const Rect& a, const InsidePlace& at) {
    const std::vector<AskedRow> rows = asked_rows(at, state.inside.lane);
    if (rows.empty() || std::ranges::all_of(rows, [](const AskedRow& row) { return row.at.flip == 0; }))
        return false;
    constexpr float gap = 44, head = 76;
    const Theme& t = *c.theme;
    float labels = 0;
    const auto label = [](const AskedRow& row) {
        return "lane " + str(row.lane) + ", row " + str(row.at.row);
    };
    for (const AskedRow& row : rows)
        labels = std::max(labels, text_width(Face::semibold, size::far, label(row)) + 18);
    const float w = (a.w - labels - gap) / 2, h = (a.h - head) / px(rows.size());
    const ImU32 hue = hue_of(t, at.origins().matter(at.n));
    c.text(a.x + labels - 18, a.y + 54, "place", size::far, t.t3, Align::right);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const bool own = rows[n].lane == state.inside.lane;
        c.text(a.x, a.y + head + (px(n) + .5f) * h, label(rows[n]), size::far, own ? t.t1 : t.t2,
               own ? Face::semibold : Face::regular);
    }
    const std::string chunk = "chunk " + str(rows.front().at.chunk);
    grid(c, {a.x + labels, a.y, w, a.h}, rows, false, state.inside.lane, chunk + ", stored plainly", hue);
    grid(c, {a.x + labels + w + gap, a.y, w, a.h}, rows, true, state.inside.lane, chunk + ", swizzled", hue);
    return true;
}

}  // namespace tilewalk::ui
