// All tiles at once: a box for each with its largest difference, or, where there are many, the grid of tiles.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

double most_ulp(const KernelComparison& shown) {
    double most = 4;
    for (const TileComparison& tile : shown.tiles)
        if (const double ulp = tile.statistics_ulp(); std::isfinite(ulp)) most = std::max(most, ulp);
    return most;
}

ImU32 fill_of(const Theme& t, const TileComparison& tile, double most) {
    if (!tile.visited) return t.well;
    return cividis(log_place(tile.statistics_ulp(), .5, most));
}

void boxes(const Canvas& c, AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const Place at = place_of(state);
    const double most = most_ulp(shown);
    const auto count = px(shown.tiles.size());
    const float pitch = std::min(64.0f, a.w / count), h = std::min(36.0f, a.h - 20);
    float x = a.x;
    for (const TileComparison& tile : shown.tiles) {
        const std::string name = std::to_string(tile.i) + "," + std::to_string(tile.j);
        const Hot hot = hot_area(c, ("##tile " + name).c_str(), x, a.y, pitch - 4, h);
        const bool chosen = tile.i == at.i && tile.j == at.j;
        const ImU32 fill = fill_of(t, tile, most);
        c.rect(x, a.y, pitch - 4, h, fill, 5);
        if (tile.visited)
            c.text(x + pitch / 2 - 2, a.y + h / 2, ulp_text(tile.statistics_ulp()), size::body,
                   ink_on(t, fill), Face::mono_bold, Align::center);
        else
            c.hatch(x + 2, a.y + 2, pitch - 8, h - 4, t.line2);
        if (chosen || hot.hovered)
            c.frame(x - 1, a.y - 1, pitch - 2, h + 2, t.t1, chosen ? 2.5f : 1.5f, radius::card);
        if (pitch > text_width(Face::regular, size::small, name) + 4)
            c.text(x + pitch / 2 - 2, a.y + h + 13, name, size::small, chosen ? t.t1 : t.t3,
                   chosen ? Face::semibold : Face::regular, Align::center);
        if (hot.clicked) choose_tile(state, tile.i, tile.j);
        x += pitch;
    }
}

// Rows i, columns j. Where even a cell of 3 px has no room, one cell stands for several tiles.
void grid(const Canvas& c, AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const Problem& p = shown.kernel->problem;
    const Place at = place_of(state);
    const double most = most_ulp(shown);
    const int rows = std::min(p.Tr(), static_cast<int>(a.h / 3)),
              cols = std::min(p.Tc(), static_cast<int>(a.w / 3));
    const float w = std::min(28.0f, a.w / px(cols)), h = std::min(16.0f, a.h / px(rows));
    const auto first = [](int n, int bins, int all) {
        return static_cast<int>(static_cast<std::int64_t>(n) * all / bins);
    };
    const Hot hot = hot_area(c, "##tile grid", a.x, a.y, w * px(cols), h * px(rows));
    drop_focus_stop();  // the arrow keys of the page choose the tile
    for (int r = 0; r < rows; ++r)
        for (int k = 0; k < cols; ++k) {
            const TileComparison* largest = nullptr;
            for (int i = first(r, rows, p.Tr()); i < first(r + 1, rows, p.Tr()); ++i)
                for (int j = first(k, cols, p.Tc()); j < first(k + 1, cols, p.Tc()); ++j) {
                    const TileComparison* tile = shown.tile(i, j);
                    if (!largest || tile->statistics_ulp() > largest->statistics_ulp()) largest = tile;
                }
            c.rect(a.x + w * px(k), a.y + h * px(r), w - (w > 6 ? 1 : 0), h - (h > 6 ? 1 : 0),
                   fill_of(t, *largest, most));
        }
    const auto place = [](int n, int bins, int all) { return px(static_cast<std::int64_t>(n) * bins / all); };
    c.frame(a.x + w * place(at.j, cols, p.Tc()) - 1, a.y + h * place(at.i, rows, p.Tr()) - 1, w + 1, h + 1,
            t.t1, 2.2f, 2);
    if (hot.clicked) {
        const Point mouse = c.mouse();
        choose_tile(state, first(static_cast<int>((mouse.y - a.y) / h), rows, p.Tr()),
                    first(static_cast<int>((mouse.x - a.x) / w), cols, p.Tc()));
    }
}

}  // namespace

void compare_tiles(const Canvas& c, AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const std::string count =
        shown.tiles.size() == 1
            ? "The tile"
            : "All " + format_count(static_cast<std::int64_t>(shown.tiles.size())) + " tiles";
    c.text_within(a.x, a.y + 8, a.w, count + ", largest difference of m, ℓ and α in ULP", size::small,
                  c.theme->t2);
    const Rect rest{a.x, a.y + 22, a.w, a.h - 22};
    if (px(shown.tiles.size()) * 30 <= a.w)
        boxes(c, state, rest);
    else
        grid(c, state, rest);
}

}  // namespace tilewalk::ui
