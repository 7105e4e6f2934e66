// m, ℓ and α of one query row, tile after tile, as the CPU's walk and the kernel have them, and all tiles at
// once.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;

struct Column {
    Quantity quantity;
    const char *title, *brief;
};
constexpr Column columns[] = {
    {Quantity::m, "maximum", "max"}, {Quantity::l, "sum", "sum"}, {Quantity::alpha, "correction", "corr."}};

struct Sheet {
    float tile_w, column_w, size, pitch;
    bool names_once = false;  ///< "CPU" stands beside the tile, not beside every number
};

float mono_width(const std::string& text, float size) { return text_width(Face::mono, size, text); }

// By how much they differ: behind the numbers, or, where it has no room there, below them beside the boxes.
void draw_ulp(const Canvas& c, double ulp, float from, float right, float y, const Sheet& sheet) {
    const Theme& t = *c.theme;
    const Face face = ulp > 0 ? Face::semibold : Face::regular;
    const float size = ulp > 0 && !sheet.names_once ? 16 : 14;
    const std::string full = sheet.names_once ? ulp_text(ulp) : ulp_count(ulp);
    const bool boxes = sheet.pitch > 82 && ulp > 0;
    if (!boxes || from + 6 + text_width(face, size, full) <= right)
        c.text(right, y, full, size, ulp > 0 ? t.t1 : t.t3, face, Align::right);
    else
        c.text(right, y + 30, full, 14, t.t1, face, Align::right);
}

// Both values below each other, the differing digits of the kernel's marked, and how far apart they are
void pair(const Canvas& c, const KernelComparison& shown, Quantity quantity, const Place& at, int j,
          const Rect& a, const Sheet& sheet) {
    const Theme& t = *c.theme;
    const ThreeWays values = tile_values(shown, quantity, at.i, j);
    const int r = at.row - at.i * shown.kernel->problem.Br;
    if (r >= values.kernel.rows() || r >= values.cpu.rows()) return;
    const double cpu = values.cpu(r, 0), kernel = values.kernel(r, 0);
    const float names = sheet.names_once ? 0 : 46, step = sheet.pitch > 76 ? 21 : 18;
    const float y = a.middle() - (sheet.pitch > 82 ? step / 2 + 7 : step / 2);
    const float names_x = a.x - (sheet.names_once ? 45.0f : 0.0f);
    if (!sheet.names_once || quantity == columns[0].quantity) {
        c.text(names_x, y, cpu_side, size::small, t.t3);
        c.text(names_x, y + step, kernel_side, size::small, t.t3);
    }
    c.text(a.x + names, y, digits_of(cpu, kernel).text, sheet.size, t.t1, Face::mono);
    draw_digits(c, a.x + names, y + step, digits_of(kernel, cpu), sheet.size);
    const double ulp = ulp_distance(Format::fp32, kernel, cpu);
    const float numbers = std::max(mono_width(digits_of(cpu, kernel).text, sheet.size),
                                   mono_width(digits_of(kernel, cpu).text, sheet.size));
    draw_ulp(c, ulp, a.x + names + numbers, a.right() - (sheet.names_once ? 8.0f : 12.0f), y + step / 2,
             sheet);
    if (sheet.pitch <= 82 || ulp == 0) return;
    // Eight boxes: one for every unit
    for (int n = 0; n < 8; ++n) {
        const float X = a.x + names + px(n) * 8;
        if (n < std::min(8.0, std::ceil(ulp)))
            c.rect(X, y + step + 15, 6, 9, t.t1, 1.5f);
        else
            c.frame(X + .5f, y + step + 15.5f, 5, 8, t.line2, 1, 1.5f);
    }
}

void heads(const Canvas& c, const Rect& a, const Sheet& sheet) {
    const Theme& t = *c.theme;
    c.text(a.x, a.y, "tile", size::small, t.t3);
    float x = a.x + sheet.tile_w;
    for (const Column& column : columns) {
        const float w = c.rich(x, a.y, slot_symbol(info(column.quantity).slot), size::symbol);
        const float room = sheet.column_w - w - 52;
        const bool fits = text_width(Face::regular, size::small, column.title) <= room;
        c.text_within(x + w + 8, a.y, room, fits ? column.title : column.brief, size::small, t.t2);
        c.text(x + sheet.column_w - (sheet.names_once ? 8.0f : 12.0f), a.y, "ULP", size::small, t.t3,
               Align::right);
        x += sheet.column_w;
    }
    c.line({a.x - 4, a.y + 15.5f}, {a.x + a.w + 4, a.y + 15.5f}, t.line);
}

void tile_line(const Canvas& c, AppState& state, const Place& at, int j, const Rect& a, const Sheet& sheet) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const bool chosen = j == at.j;
    const Hot hot = hot_area(c, "##row tile " + str(j), a.x - 8, a.y, a.w + 16, a.h);
    if (chosen || hot.hovered) c.rect(a.x - 8, a.y + 1, a.w + 16, a.h - 2, chosen ? t.raised : t.well, 8);
    if (hot.clicked) choose_tile(state, at.i, j);
    c.text(a.x, a.middle(), "(" + str(at.i) + ", " + str(j) + ")", size::lead, t.t1,
           chosen ? Face::semibold : Face::medium);
    const TileComparison* tile = shown.tile(at.i, j);
    if (!tile || !tile->visited) {
        c.text(a.x + sheet.tile_w, a.middle(), "skipped: the mask removes this tile whole", size::body, t.t3);
        return;
    }
    float x = a.x + sheet.tile_w;
    for (const Column& column : columns) {
        pair(c, shown, column.quantity, at, j, {x, a.y, sheet.column_w, a.h}, sheet);
        x += sheet.column_w;
    }
}

// The lines that have room, with the chosen tile among them
void lines(const Canvas& c, AppState& state, const Rect& a, Sheet sheet) {
    const KernelComparison& shown = *state.comparing->shown;
    const Place at = place_of(state);
    const int count = shown.kernel->problem.Tc();
    const int fit = std::max(1, static_cast<int>(a.h / 48));
    const int n = std::min(count, fit);
    sheet.pitch = std::min(100.0f, a.h / px(n));
    const int first = std::clamp(at.j - n / 2, 0, count - n);
    for (int k = 0; k < n; ++k)
        tile_line(c, state, at, first + k, {a.x, a.y + sheet.pitch * px(k), a.w, sheet.pitch}, sheet);
}

void row_buttons(const Canvas& c, AppState& state, const Rect& a, const Place& at) {
    const float y = a.y + 8, x = a.inner_right();
    const ButtonLook next{.tooltip = "Next query row (↓)"}, back{.tooltip = "Previous query row (↑)"};
    if (button(c, "##row next", x - 30, y, 30, 28, "↓", next)) choose_query(state, at.row + 1);
    if (button(c, "##row back", x - 64, y, 30, 28, "↑", back)) choose_query(state, at.row - 1);
}

void nothing(const Canvas& c, const AppState& state, const Rect& a) {
    const ComparePage& page = *state.comparing;
    const std::string why =
        !page.shown ? "Here stand m, ℓ and α of a query row, tile after tile, once the kernel has run."
                    : page.shown->kernel->kernel +
                          " records no tiles; its outputs are compared at the right, cell by cell.";
    c.paragraph(a.x + 20, a.y + 64, a.w - 40, why, size::lead, c.theme->t2);
}

// ---- All tiles at once

DifferenceScale tile_scale(const KernelComparison& shown) {
    std::vector<double> all;
    for (const TileComparison& tile : shown.tiles) all.push_back(tile.statistics_ulp());
    DifferenceScale scale = scale_of(std::move(all));
    scale.to = std::max(scale.to, 4.0);  // a single unit is not much
    return scale;
}

ImU32 fill_of(const Theme& t, const TileComparison& tile, const DifferenceScale& scale) {
    return tile.visited ? cividis(scale.place(tile.statistics_ulp())) : t.well;
}

void boxes(const Canvas& c, AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const Place at = place_of(state);
    const DifferenceScale scale = tile_scale(shown);
    const auto count = px(shown.tiles.size());
    const float pitch = std::min(64.0f, a.w / count), h = std::min(36.0f, a.h - 20);
    float x = a.x;
    for (const TileComparison& tile : shown.tiles) {
        const std::string name = str(tile.i) + "," + str(tile.j);
        const Hot hot = hot_area(c, "##tile " + name, x, a.y, pitch - 4, h);
        const bool chosen = tile.i == at.i && tile.j == at.j;
        const ImU32 fill = fill_of(t, tile, scale);
        c.rect(x, a.y, pitch - 4, h, fill, 5);
        if (tile.visited)
            c.text(x + pitch / 2 - 2, a.y + h / 2, ulp_text(tile.statistics_ulp()), size::body,
                   ink_on(t, fill), Face::mono_bold, Align::center);
        else
            c.crossed(x + 2, a.y + 2, pitch - 8, h - 4, t.line2);
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
    const DifferenceScale scale = tile_scale(shown);
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
                   fill_of(t, *largest, scale));
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

// All tiles, the chosen one outlined: a box for each with its largest difference; of many, the grid.
void all_tiles(const Canvas& c, AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const std::string count =
        shown.tiles.size() == 1
            ? "The tile"
            : "All " + format_count(static_cast<std::int64_t>(shown.tiles.size())) + " tiles";
    c.text_within(a.x, a.y + 8, a.w,
                  count + ": by how many units of the last digit (ULP) m, ℓ or α differ at most", size::small,
                  c.theme->t2);
    const Rect rest{a.x, a.y + 22, a.w, a.h - 22};
    if (px(shown.tiles.size()) * 30 <= a.w)
        boxes(c, state, rest);
    else
        grid(c, state, rest);
}

}  // namespace

void compare_rows(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Row statistics", a);
    const ComparePage& page = *state.comparing;
    float x = a.inner_x();
    x += c.text(x, a.title_y(), "One query, tile by tile", size::lead, c.theme->t1, Face::semibold) + 12;
    if (!page.shown || page.shown->tiles.empty()) return nothing(c, state, a);
    const Place at = place_of(state);
    c.text_within(x, a.title_y(), a.right() - 90 - x, "query " + str(at.row), size::body, c.theme->t2);
    row_buttons(c, state, a, at);
    const float strip = a.h > 420 ? 104 : 92, inner = a.w - 40;
    const bool narrow = inner < 560;
    Sheet sheet{narrow ? 96.0f : 74.0f, 0, inner > 600 ? 15.0f : 13.0f, 0, narrow};
    sheet.column_w = (inner - sheet.tile_w) / 3;
    heads(c, {a.x + 20, a.y + 54, inner, 0}, sheet);
    const float top = a.y + 74, foot = a.bottom() - strip;
    lines(c, state, {a.x + 20, top, inner, foot - top - 8}, sheet);
    rule(c, a, foot);
    all_tiles(c, state, {a.inner_x(), foot + 10, a.inner_w(), strip - 20});
}

}  // namespace tilewalk::ui
