// The page for the back row: the verdict, one row of statistics and the heat map. Nothing under 27 px on a
// page of 1280 × 720. The arrow keys choose row and tile.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/empty.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;

void verdict(const Canvas& c, const KernelComparison& shown, float W) {
    const OutputVerdict& v = shown.nearest();
    const Theme& t = *c.theme;
    c.text(space::far_side, 112, shown.passed() ? "Within the rule" : "Beyond the rule", size::far_lead,
           shown.passed() ? t.t1 : t.danger, Face::semibold);
    c.paragraph(space::far_side, 142, 400, verdict_words(shown, true), size::far_number, t.t2, 2,
                Face::regular, 1.22f);
    error_gauge(c, v, {470, 96, W - 470 - 60, 100}, 27);
    note_part(c, {28, 84, W - 56, 130}, "Verdict");
}

// The output's number that the verdict is about, beside the exact one
void worst_number(const Canvas& c, const KernelComparison& shown, const Rect& a) {
    const OutputVerdict& v = shown.nearest();
    const Theme& t = *c.theme;
    c.text_within(a.x, a.y + 16, a.w, "Farthest from the exact number", size::far_text, t.t1, Face::semibold);
    const Line name =
        pieces(slot_symbol(v.slot),
               "[" + str(v.worst.row) + (v.slot == Slot::L ? "" : "," + str(v.worst.column)) + "]");
    const float x = a.x + c.rich(a.x, a.y + 94, name, size::far_lead) + 28, digits = x + 104;
    const double exact = v.worst.exact, kernel = v.worst.kernel;
    c.text(x, a.y + 76, "exact", size::far, t.t2);
    c.text(x, a.y + 114, kernel_side, size::far, t.t2);
    c.text(digits, a.y + 76, digits_of(exact, kernel).text, size::far_text, t.t1, Face::mono);
    draw_digits(c, digits, a.y + 114, digits_of(kernel, exact), size::far_text);
    c.text(x, a.y + 166, "off by " + three_digits(v.error), size::far_text, t.t1, Face::semibold);
}

// Beside it where the output is off: the map alone, with what its rows and columns are.
void small_map(const Canvas& c, const AppState& state, const Map& map, const Rect& a) {
    const float title = c.rich(a.x, a.y + 16, map_title(map), size::far, Align::left, c.theme->t2) + 28;
    const float left = axis_left(size::far), top = a.y + 34 + axis_top(size::far);
    if (map.far.size() == 0 || a.bottom() - top < 80) return;
    map_scale(c, map, {a.x + title, a.y, a.w - title, 32}, size::far);
    const Rect filled = heat_map(c, map, {a.x + left, top, a.w - left, a.bottom() - top});
    map_axes(c, state, map, filled, size::far, shown_cell(state, map).row);
    // The number beside it is how far it is from fp64.
    mark_cell(c, state, map, shown_cell(state, map), filled, a, size::far, map.from_exact);
}

// m, ℓ and α of the chosen tile in large digits
void statistics(const Canvas& c, const AppState& state, const Rect& a,
                std::initializer_list<Quantity> quantities = {Quantity::m, Quantity::l, Quantity::alpha}) {
    const KernelComparison& shown = *state.comparing->shown;
    const Theme& t = *c.theme;
    const Place at = place_of(state);
    c.text_within(a.x, a.y + 16, a.w, "Query " + str(at.row) + ", " + tile_text(at.i, at.j), size::far, t.t2,
                  Face::medium);
    const int r = at.row - at.i * shown.kernel->problem.Br;
    float y = a.y + 76;
    for (const Quantity quantity : quantities) {
        if (y + 60 > a.bottom()) break;
        const ThreeWays values = tile_values(shown, quantity, at.i, at.j);
        c.rich(a.x, y + 18, slot_symbol(info(quantity).slot), size::far_title);
        if (r < values.kernel.rows() && r < values.cpu.rows()) {
            const double cpu = values.cpu(r, 0), kernel = values.kernel(r, 0);
            c.text(a.x + 64, y, cpu_side, size::far, t.t2);
            c.text(a.x + 64, y + 38, kernel_side, size::far, t.t2);
            c.text(a.x + 158, y, digits_of(cpu, kernel).text, size::far_text, t.t1, Face::mono);
            draw_digits(c, a.x + 158, y + 38, digits_of(kernel, cpu), size::far_text);
            c.text(a.right(), y + 18, ulp_count(ulp_distance(Format::fp32, kernel, cpu)) + " ULP",
                   size::far_text, t.t1, Face::semibold, Align::right);
        } else {
            c.text(a.x + 64, y + 18, "skipped by the mask", size::far, t.t3);
        }
        y += 104;
    }
}

void map_side(const Canvas& c, const AppState& state, const Map& map, const Rect& a) {
    const Theme& t = *c.theme;
    c.rich(a.x, a.y + 16, map_title(map), size::far, Align::left, t.t2);
    if (map.far.size() == 0) return;
    const float left = axis_left(size::far), top = a.y + 42 + axis_top(size::far);
    const Rect filled = heat_map(c, map, {a.x + left, top, a.w - left, a.bottom() - 44 - 62 - top});
    map_axes(c, state, map, filled, size::far);
    map_legend(c, map, {filled.x, a.bottom() - 44 - 52, filled.w, 0}, size::far);
    mark_cell(c, state, map, shown_cell(state, map), filled, a, size::far);
    const bool explained = state.comparing->shown->within_rounding();
    const std::string all = capitalised(unlike_words(map, explained));
    const bool fits = text_width(Face::regular, size::far, all) <= a.w;
    c.text_within(a.x, a.bottom() - space::foot, a.w,
                  fits ? all : replaced(all, "are rounded unlike", "unlike"), size::far, t.t2);
}

// Who is on a tour has heard of the algorithm, and not of the kernel's own name; its card says where it ran.
std::string subject_of(const KernelTrace& kernel, bool emulated, bool brief) {
    const Problem& p = kernel.problem;
    const std::string type = std::string(", ") + name(format_of(kernel.dtype));
    const std::string called = brief ? kernel.title.substr(0, kernel.title.find(": ")) + type
                                     : kernel.kernel + type + ", " + str(p.N()) + " × " + str(p.d());
    return called + (!emulated ? ", " + kernel.run.device_name : brief ? "" : ", emulated");
}

// The numbers at the left, as far as `half`, and the map
void both_sides(const Canvas& c, AppState& state, const KernelComparison& shown, const Rect& a, float half) {
    const auto map = map_of(state);
    // Of a single tile α is 0 and m any score: there the output is told, and its sum.
    const bool one_tile = shown.kernel->problem.Tr() == 1 && shown.kernel->problem.Tc() == 1,
               output = one_tile && map && map->from_exact && !shown.finding;
    const Rect at_left{a.x, a.y, half - 70, a.h};
    constexpr float worst_h = 204;
    if (output) {
        worst_number(c, shown, at_left);
        statistics(c, state, {a.x, a.y + worst_h, at_left.w, at_left.h - worst_h}, {Quantity::l});
    } else if (!shown.tiles.empty()) {
        statistics(c, state, at_left);
    }
    if (map) {
        const float x = shown.tiles.empty() ? a.x : half + 20;
        map_side(c, state, *map, {x, a.y, a.right() - x, a.h});
    }
}

}  // namespace

void compare_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    const ComparePage& comparing = compare_page(state);
    const bool emulated = comparing.shown && comparing.shown->kernel->run.device != "cuda";
    PresenterPage page(canvas, state, W, H, "Kernel and CPU", 400);
    page.back = "Tile before (←)", page.forward = "Next tile (→)";
    page.move = [&](int by) {
        const Place at = place_of(state);
        choose_tile(state, at.i, at.j + by);
    };
    const Canvas& c = page.c;
    const Theme& t = *c.theme;
    const float left = space::far_side, w = W - 2 * left;
    if (!comparing.shown) {
        const char* empty = "Nothing compared yet: Space runs the kernel.";
        return far_empty_state(c, W, comparing.failure.empty() ? empty : comparing.failure.c_str());
    }
    const KernelComparison& shown = *comparing.shown;
    const KernelTrace& kernel = *shown.kernel;
    const bool brief = H < from::presenter_page;  // the card of a tour has the rest
    page.subject(subject_of(kernel, emulated, brief), 240);
    verdict(c, shown, W);
    // What it is called, in the words of the ladder's table, and what runs it
    const std::string rung = replaced(kernel.title, ": ", ", ");
    const std::string where = emulated ? "its source runs on an emulator" : "run by the GPU";
    const bool named = !brief && !rung.empty();
    if (named) c.text_within(left, 236, w, kernel.kernel + " is " + rung + "; " + where, size::far, t.t2);
    const float top = brief   ? 234
                      : named ? 268
                              : 250,
                foot = brief ? H - 8 : H - 80, half = std::floor(W * .5f);
    if (brief) {
        worst_number(c, shown, {left, top, half - 50, foot - top});
        if (const auto map = map_of(state))
            small_map(c, state, *map, {half + 20, top, W - left - half - 20, foot - top - 8});
        return;
    }
    both_sides(c, state, shown, {left, top, w, foot - top}, half);
    c.text_within(left, H - 42, w, finding_words(shown) + ".", size::far_number,
                  shown.finding ? t.danger : t.t1, shown.finding ? Face::semibold : Face::regular);
}

}  // namespace tilewalk::ui
