// The page for the back row: the verdict, one row of statistics and the heat map. Nothing under 27 px on a
// page of 1280 × 720. The arrow keys choose row and tile.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/views.h"
#include "app/ui/shell/presenter.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;

void mouse_buttons(const Canvas& c, AppState& state) {
    if (state.mouse_age > presenter_buttons_seconds) return;
    float x = 290;
    const auto icon = [&](const char* id, Icon which, const char* tip) {
        const bool clicked = icon_button(c, id, x, 14, 44, 44, which, {.tooltip = tip});
        x += 50;
        return clicked;
    };
    const Place at = place_of(state);
    if (icon("##back", Icon::back, "Tile before (←)")) choose_tile(state, at.i, at.j - 1);
    if (icon("##forward", Icon::forward, "Next tile (→)")) choose_tile(state, at.i, at.j + 1);
    if (icon("##theme", Icon::theme, "Theme (T)")) next_theme(state);
    if (icon("##leave", Icon::close, "Leave presenter mode (Esc)")) state.presenter = false;
}

void verdict(const Canvas& c, const KernelComparison& shown, float W) {
    const OutputVerdict& v = shown.nearest();
    const Theme& t = *c.theme;
    c.text(40, 112, shown.passed() ? "Within the rule" : "Beyond the rule", 44,
           shown.passed() ? t.t1 : t.danger, Face::semibold);
    const std::string words =
        std::isfinite(v.ratio()) ? format_fixed(v.ratio(), 2) + " times the error" : "off, where";
    c.text(40, 160, words, 28, t.t2);
    c.text(40, 194, "of standard attention", 28, t.t2);
    ratio_gauge(c, v, {470, 96, W - 470 - 60, 100}, 27);
    note_part(c, {28, 84, W - 56, 130}, "Verdict");
}

// m, ℓ and α of the chosen tile in large digits
void statistics(const Canvas& c, const AppState& state, const Rect& a) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const Place at = place_of(state);
    c.text_within(a.x, a.y + 16, a.w,
                  "Row " + std::to_string(at.row) + " at tile (" + std::to_string(at.i) + ", " +
                      std::to_string(at.j) + ")",
                  30, t.t1, Face::semibold);
    const int r = at.row - at.i * shown.kernel->problem.Br;
    float y = a.y + 76;
    for (Quantity quantity : {Quantity::m, Quantity::l, Quantity::alpha}) {
        if (y + 60 > a.bottom()) break;
        const ThreeWays values = tile_values(shown, quantity, at.i, at.j);
        c.rich(a.x, y + 18, slot_symbol(info(quantity).slot), 44);
        if (r < values.kernel.rows() && r < values.cpu.rows()) {
            const double cpu = values.cpu(r, 0), kernel = values.kernel(r, 0);
            c.text(a.x + 64, y, "CPU", 27, t.t2);
            c.text(a.x + 64, y + 38, side_name(shown.kernel->run), 27, t.t2);
            c.text(a.x + 136, y, digits_of(cpu, kernel).text, 30, t.t1, Face::mono);
            draw_digits(c, a.x + 136, y + 38, digits_of(kernel, cpu), 30);
            c.text(a.right(), y + 18, ulp_text(ulp_distance(Format::fp32, kernel, cpu)) + " ULP", 30, t.t1,
                   Face::semibold, Align::right);
        } else {
            c.text(a.x + 64, y + 18, "skipped by the mask", 27, t.t3);
        }
        y += 104;
    }
}

void map_side(const Canvas& c, const AppState& state, const Map& map, const Rect& a) {
    const Theme& t = *c.theme;
    Line title{strong("Difference of ")};
    for (const Span& s : slot_symbol(map.slot)) title.push_back(s);
    c.rich(a.x, a.y + 16, title, 30, Align::left, t.t1);
    if (map.far.size() == 0) return;
    const Rect filled = heat_map(c, map, {a.x, a.y + 48, a.w, a.h - 48 - 44});
    const CompareForm& f = state.compare;
    const bool chosen = f.cell_row >= 0 && f.cell_row < map.far.rows() && f.cell_column < map.far.cols();
    const Rect at = heat_cell(map, filled, chosen ? f.cell_row : map.row,
                              chosen ? std::max(0, f.cell_column) : map.column);
    const float r = std::max(0.0f, (18 - std::min(at.w, at.h)) / 2);
    const Rect frame{at.x - r - 3, at.y - r - 3, at.w + 2 * r + 6, at.h + 2 * r + 6};
    c.frame(frame.x, frame.y, frame.w, frame.h, t.light ? t.inv : t.t1, 3.5f, 5);
    const std::string most = map.most > 0 ? "largest " + three_digits(map.most) : "no cell differs";
    c.text_within(a.x, a.bottom() - 14, a.w, most, 27, t.t2);
}

}  // namespace

void compare_presenter(const Canvas& page_canvas, AppState& state, float W, float H) {
    const Theme bright = bright_room(*page_canvas.theme);
    Canvas c = page_canvas;
    c.theme = &bright;
    ComparePage& page = compare_page(state);
    begin_region(c, "Presenter", 0, 0, W, H);
    const float title = presenter_title(c, "CPU vs GPU");
    const Theme& t = *c.theme;
    if (!page.shown) {
        c.paragraph(40, 140, W - 80,
                    page.failure.empty() ? "Nothing compared yet: Space runs the kernel." : page.failure, 34,
                    t.t1);
        mouse_buttons(c, state);
        return end_panel(c);
    }
    const KernelComparison& shown = *page.shown;
    const std::string what =
        shown.kernel->kernel + ", " + name(format_of(shown.kernel->dtype)) + ", " +
        (shown.kernel->run.device == "cuda" ? shown.kernel->run.device_name : "emulator");
    c.text_within(W - 28, 36, W - 28 - 72 - title - 240, what, 27, t.t2, Face::medium, Align::right);
    verdict(c, shown, W);
    const bool brief = H < 700;  // the card of a tour has the rest
    const float top = brief ? 234 : 250, foot = brief ? H - 8 : H - 80, half = std::floor(W * .5f);
    if (!shown.tiles.empty()) statistics(c, state, {40, top, brief ? W - 80 : half - 70, foot - top});
    if (brief) {
        mouse_buttons(c, state);
        return end_panel(c);
    }
    if (const auto map = map_of(state)) {
        const float x = shown.tiles.empty() ? 40 : half + 20;
        map_side(c, state, *map, {x, top, W - 40 - x, foot - top});
    }
    std::string finding = finding_text(shown);
    if (const std::string fault = fault_text(shown); !fault.empty()) finding = fault;
    c.text_within(40, H - 42, W - 80, finding, 28, shown.finding ? t.danger : t.t2,
                  shown.finding ? Face::semibold : Face::regular);
    mouse_buttons(c, state);
    end_panel(c);
}

}  // namespace tilewalk::ui
