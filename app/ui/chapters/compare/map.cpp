// Every cell of an output or of a tile, by how far kernel and CPU are apart, and the one that is furthest.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr std::array measures = {"|Δ|", "ULP", "relative"};

int share(int n, int bins, int all) { return static_cast<int>(static_cast<std::int64_t>(n) * all / bins); }

// How many cells are drawn, where not each of the matrix has room
struct Bins {
    int rows, cols;
    float w, h;
};
Bins bins_of(const Map& map, const Rect& a) {
    const auto R = static_cast<int>(map.far.rows()), C = static_cast<int>(map.far.cols());
    Bins b{std::min(R, std::max(1, static_cast<int>(a.h / 2))),
           std::min(C, std::max(1, static_cast<int>(a.w / 2))), 0, 0};
    b.w = a.w / px(b.cols), b.h = a.h / px(b.rows);
    // Square cells where that does not make them tiny; a column alone may be broad.
    const float side = std::min(b.w, b.h);
    if (side >= 5)
        b.w = b.cols == 1 ? std::min(b.w, 60.0f) : std::min(b.w, 2.2f * side),
        b.h = std::min(b.h, 1.6f * side);
    return b;
}

std::string map_label(const std::string& name) {
    return name.starts_with("alpha") ? "α tile" : name.starts_with("l ") ? "ℓ tile" : name;
}

void choices(const Canvas& c, AppState& state, const Rect& a) {
    const std::vector<std::string> names = map_names(state);
    std::vector<std::string> labels;
    int current = 0;
    for (std::size_t n = 0; n < names.size(); ++n) {
        labels.push_back(map_label(names[n]));
        if (names[n] == state.compare.map) current = static_cast<int>(n);
    }
    const float size = a.w < 560 ? 13 : 14;
    if (segmented(c, "##compare map", a.x, a.y, labels, current, size)) {
        state.compare.map = names[static_cast<std::size_t>(current)];
        state.compare.cell_row = state.compare.cell_column = -1;
    }
    const std::vector<std::string> kinds(measures.begin(), measures.end());
    const float w = segmented_width(kinds, size);
    segmented(c, "##compare measure", a.right() - w, a.y, kinds, state.compare.measure, size);
}

// Of a tile which one it is, of an output how much of it is not as the CPU has it.
std::string what_it_is(const AppState& state, const Map& map) {
    if (!map.quantity) return unlike_words(map);
    const Place at = place_of(state);
    return tile_text(at.i, at.j);
}

// The title, and in it what the cells are held against. Returns where it ends.
float title(const Canvas& c, AppState& state, const Map& map, float x, float y) {
    x += c.rich(x, y, pieces(strong("How far "), slot_symbol(map.slot), strong(" is from")), size::lead,
                Align::left, c.theme->t1) +
         10;
    const std::vector<std::string> others = {"fp64", "the CPU's"};
    int current = map.from_exact ? 0 : 1;
    if (segmented(c, "##compare from", x, y - space::control / 2, others, current, size::small))
        state.compare.from = current;
    return x + segmented_width(others, size::small);
}

// Numbers that are easily read, at most so many between 0 and `to`
double tick_step(double to, int most) {
    const double rough = to / std::max(most, 1), ten = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (step * ten >= rough * (1 - 1e-9)) return step * ten;
    return 10 * ten;
}

// 0.0005, 5×10⁻⁸
Line tick_text(double value, bool power_alone) {
    if (value == 0) return {word("0")};
    if (!power_alone && value >= 1e-4 && value < 1e5) return {word(significant(value, 2))};
    const int power = static_cast<int>(std::floor(std::log10(value) + 1e-9));
    const Line ten{word("10"), super((power < 0 ? "−" : "") + str(std::abs(power)))};
    return power_alone ? ten : pieces(significant(value / std::pow(10.0, power), 2) + "×", ten);
}

std::vector<double> ticks_of(const DifferenceScale& scale, int most) {
    std::vector<double> out;
    if (!scale.logarithmic) {
        double step = tick_step(scale.to, most);
        if (step > scale.to) step = tick_step(scale.to, 2 * most + 1);
        for (int n = 0; step * n <= scale.to; ++n) out.push_back(step * n);
        return out;
    }
    for (int power = static_cast<int>(std::ceil(std::log10(scale.from))); std::pow(10.0, power) <= scale.to;
         ++power)
        out.push_back(std::pow(10.0, power));
    return out;
}

}  // namespace

Line map_title(const Map& map) {
    return pieces(strong("How far "), slot_symbol(map.slot),
                  strong(map.from_exact ? " is from fp64" : " is from the CPU's"));
}

// What the rule allows: within the colours where a cell is beyond it, else behind them, where the axis goes
// on after a break. Returns the width that the colours have.
static float limit_mark(const Canvas& c, const Map& map, const Rect& a, float bar, float size) {
    const Theme& t = *c.theme;
    const std::string text = "limit " + map.limit_words;
    const float w = text_width(Face::medium, size, text), y = a.y + bar + size * 1.08f;
    if (map.limit < map.scale.to) {
        const float x = a.x + a.w * map.scale.place(map.limit);
        c.line({x, a.y - 4}, {x, a.y + bar + 4}, t.danger, size / 6);
        return a.w;
    }
    const float colours = a.w - w - .9f * size, end = a.right() - w / 2, middle = a.y + bar / 2,
                gap = a.x + colours + size * .8f;
    c.line({a.x + colours, middle}, {gap - size * .2f, middle}, t.t2);
    c.line({gap + size * .2f, middle}, {end, middle}, t.t2);
    for (const float x : {gap - size * .2f, gap + size * .2f})
        c.line({x - size * .12f, middle + size * .3f}, {x + size * .12f, middle - size * .3f}, t.t2);
    c.line({end, a.y - 3}, {end, a.y + bar + 4}, t.t1, size / 6);
    c.text(a.right(), y, text, size, t.t1, Face::medium, Align::right);
    return colours;
}

static void all_colours(const Canvas& c, const Rect& a) {
    for (float x = 0; x < a.w; x += 2) c.rect(a.x + x, a.y, std::min(2.5f, a.w - x), a.h, cividis(x / a.w));
}

void map_scale(const Canvas& c, const Map& map, const Rect& a, float size) {
    const DifferenceScale& scale = map.scale;
    if (!(scale.to > 0)) return;
    const std::string to = three_digits(scale.to);
    // One digit: it stands for the lower end of a scale of powers of ten
    const int power = static_cast<int>(std::floor(std::log10(std::max(scale.from, 1e-300)) + 1e-9));
    const Line from = scale.logarithmic
                          ? pieces(significant(scale.from / std::pow(10.0, power), 1) + "×10",
                                   super((power < 0 ? "−" : "") + str(std::abs(power)), Role::none))
                          : Line{word("0")};
    constexpr float gap = 8, least = 40;
    const float before = rich_width(c, from, size) + gap, behind = text_width(Face::regular, size, to) + gap,
                w = a.w - before - behind, bar = size * .62f;
    if (w < least) return;
    c.rich(a.x, a.middle(), from, size, Align::left, c.theme->t2);
    all_colours(c, {a.x + before, a.middle() - bar / 2, w, bar});
    c.text(a.right(), a.middle(), to, size, c.theme->t2, Align::right);
}

// Values below a bar of all colours, before it the empty cell of what is the same
void map_legend(const Canvas& c, const Map& map, const Rect& all, float size) {
    const Theme& t = *c.theme;
    const float bar = size * .62f, y = all.y + bar + size * 1.08f, same = 1.6f * size;
    Rect a{all.x + same + size * .7f, all.y, all.w - same - size * .7f, all.h};
    note_part(c, {all.x, all.y, same, bar}, "no difference");
    c.rect(all.x, all.y, same, bar, t.well);
    c.frame(all.x + .5f, all.y + .5f, same - 1, bar - 1, t.line2);
    c.text(all.x + same / 2, y, "0", size, t.t2, Align::center);
    const DifferenceScale& scale = map.scale;
    if (!(scale.to > 0)) return;
    float taken = a.x - size;
    if (map.limit > 0) a.w = limit_mark(c, map, a, bar, size);
    all_colours(c, {a.x, a.y, a.w, bar});
    for (const double value : ticks_of(scale, static_cast<int>(a.w / (size * 5)))) {
        if (value == 0) continue;  // the empty cell
        const Line text = tick_text(value, scale.logarithmic);
        const float x = a.x + a.w * scale.place(value), w = rich_width(c, text, size);
        const float at = std::clamp(x, a.x + w / 2, a.right() - w / 2);
        if (at - w / 2 < taken + 8) continue;
        c.line({x, a.y + bar}, {x, a.y + bar + 4}, t.t2);
        c.rich(at, y, text, size, Align::center, t.t2);
        taken = at + w / 2;
    }
    const std::string largest = "larger: " + three_digits(map.most);
    const bool room = text_width(Face::regular, size, "smaller  " + largest) < a.w;
    if (taken < a.x && room) {
        c.text(a.x, y, "smaller", size, t.t3);
        c.text(a.right(), y, largest, size, t.t3, Align::right);
    }
}

namespace {

bool of_keys(Slot slot) { return slot == Slot::dK || slot == Slot::dV; }

// Where a line of the axis at the left has its number: at the first row of every block, within a tile at
// round ones.
std::vector<int> row_ticks(const AppState& state, const Map& map, int most) {
    const Problem& p = state.comparing->shown->kernel->problem;
    const int all = static_cast<int>(map.far.rows());
    const int step = map.quantity        ? std::max(1, static_cast<int>(tick_step(all, most)))
                     : of_keys(map.slot) ? p.Bc
                                         : p.Br;
    std::vector<int> out;
    for (int row = 0; row < all; row += step) out.push_back(row);
    return out;
}

// `told`: the row that the page speaks of, −1: none.
void row_axis(const Canvas& c, const AppState& state, const Map& map, const Rect& filled, float size,
              int told) {
    const Theme& t = *c.theme;
    const std::vector<int> ticks = row_ticks(state, map, static_cast<int>(filled.h / (2 * size)));
    const auto all = px(map.far.rows());
    float taken = filled.y - 2 * size;
    if (told >= 0) {
        const float y = std::max(filled.y + filled.h * (px(told) + .5f) / all, filled.y + size * .4f);
        c.text(filled.x - 8, y, str(map.row0 + told), size, t.t1, Face::semibold, Align::right);
        taken = y;
        if (const int last = static_cast<int>(map.far.rows()) - 1; filled.bottom() - y > 2 * size)
            c.text(filled.x - 8, filled.bottom() - size * .4f, str(map.row0 + last), size, t.t3,
                   Align::right);
    }
    for (std::size_t n = 0; n < ticks.size() && told < 0; ++n) {
        const float top = filled.y + filled.h * px(ticks[n]) / all,
                    end =
                        n + 1 < ticks.size() ? filled.y + filled.h * px(ticks[n + 1]) / all : filled.bottom();
        const float y = std::max(top, filled.y + size * .4f);
        if (y < taken + 1.25f * size || y > filled.bottom()) continue;
        c.line({filled.x - 5, top + .5f}, {filled.x, top + .5f}, t.t3);
        c.text(filled.x - 8, y, str(map.row0 + ticks[n]), size, t.t3, Align::right);
        taken = y;
        if (map.quantity || end - top < 5 * size || c.min_text > 20) continue;
        const Line block{symbol(of_keys(map.slot) ? "j" : "i", Role::none), word(" = " + str(n))};
        c.rich(filled.x - 8, taken = (top + end) / 2, block, size, Align::right, t.t3);
    }
}

void column_axis(const Canvas& c, const Map& map, const Rect& filled, const std::string& title, float size) {
    const Theme& t = *c.theme;
    const float y = filled.y - size * .85f, w = filled.w / px(map.far.cols());
    const float end = filled.right() - text_width(Face::regular, size, title) - .4f * size;
    c.text(filled.right(), y, title, size, t.t2, Align::right);
    const int step =
        std::max(1, static_cast<int>(tick_step(px(map.far.cols()), static_cast<int>(filled.w / (4 * size)))));
    for (int column = 0; column < map.far.cols(); column += step) {
        const std::string text = str(map.column0 + column);
        const float x =
            std::max(filled.x + w * (px(column) + .5f), filled.x + text_width(Face::regular, size, text) / 2);
        if (x + text_width(Face::regular, size, text) / 2 < end)
            c.text(x, y, text, size, t.t3, Align::center);
    }
}

void histogram(const Canvas& c, const Map& map, const MapCell& at, const Rect& a) {
    const Theme& t = *c.theme;
    constexpr int bars = 10;
    std::array<int, bars> count{};
    const auto bar_of = [&](double far) {
        return std::min(bars - 1, static_cast<int>(map.scale.place(far) * bars));
    };
    for (Eigen::Index n = 0; n < map.far.size(); ++n)
        if (const double far = map.far.data()[n]; !std::isnan(far))
            ++count[static_cast<std::size_t>(bar_of(far))];
    const int most = std::max(1, *std::ranges::max_element(count));
    c.text_within(a.x, a.y + 8, a.w, "Cells by difference", size::small, t.t1, Face::semibold);
    const float top = a.y + 24, base = a.bottom() - 22, pitch = a.w / bars;
    for (int n = 0; n < bars; ++n) {
        const int cells = count[static_cast<std::size_t>(n)];
        // The root shows few cells beside many.
        const float h =
            cells == 0 ? 0 : std::max(2.0f, (base - top) * px(std::sqrt(static_cast<double>(cells) / most)));
        const float x = a.x + pitch * px(n);
        c.rect(x, base - h, pitch - 2, h, cividis((px(n) + .5f) / bars), 1);
        if (map.far.size() > 0 && n == bar_of(map.far(at.row, at.column)))
            c.frame(x - 1, base - h - 1, pitch, h + 2, t.t1, 1.5f, 2);
    }
    c.line({a.x, base + .5f}, {a.right(), base + .5f}, t.line2);
    c.text(a.x, base + 12, "smaller", size::small, t.t3);
    c.text(a.right(), base + 12, "larger", size::small, t.t3, Align::right);
}

Line cell_name(const Map& map, const MapCell& at) {
    const bool one_column = map.far.cols() == 1;
    return pieces(slot_symbol(map.slot), "[" + str(map.row0 + at.row) +
                                             (one_column ? "]" : "," + str(map.column0 + at.column) + "]"));
}

float card_height(const AppState& state) { return state.comparing->shown->finding ? 241 : 201; }

// All nine digits of a float, or six where they have no room
std::string number_within(double x, float room) {
    std::string text = significant(x, 9);
    return text_width(Face::mono, size::body, text) <= room ? text : significant(x, 6);
}

// The numbers of one cell, and the ways on from it
void card(const Canvas& c, AppState& state, const Map& map, const MapCell& at, const Rect& a) {
    const Theme& t = *c.theme;
    const KernelComparison& shown = *state.comparing->shown;
    const PanelPart part(c, "Cell", a);
    c.rect(a.x, a.y, a.w, a.h, t.well, radius::panel);
    c.frame(a.x + 1, a.y + 1, a.w - 2, a.h - 2, t.t1, 1.6f, radius::panel);
    const bool worst = !map.quantity && at.row == map.worst.row && at.column == map.worst.column;
    const char* const title = !worst ? "Cell" : map.from_exact ? "Worst cell" : "Furthest";
    const float title_w = c.text(a.x + 12, a.title_y(), title, size::body, t.t1, Face::semibold);
    const Line cell_words = cell_name(map, at);
    c.rich(a.right() - 12, a.title_y(), cell_words,
           fitting_size(c, cell_words, a.w - 32 - title_w, {size::symbol, size::body, size::small}),
           Align::right);
    const KernelCell cell = map.values.cell(at.row, at.column);
    const std::pair<const char*, double> lines[] = {
        {"fp64", cell.exact}, {cpu_side, cell.cpu}, {kernel_side, cell.kernel}};
    const std::pair<const char*, double> differences[] = {{"from fp64", distance(cell.kernel, cell.exact)},
                                                          {"from CPU", distance(cell.kernel, cell.cpu)}};
    float y = a.y + 48;
    for (const auto& [name, value] : lines) {
        c.text(a.x + 12, y, name, size::small, t.t3);
        c.text(a.right() - 12, y, number_within(value, a.w - 24 - 40), size::body, t.t1, Face::mono,
               Align::right);
        y += 21;
    }
    for (const auto& [name, far] : differences) {
        c.text(a.x + 12, y, name, size::small, t.t3);
        c.text(a.right() - 12, y, three_digits(far), size::body, t.t1, Face::mono_bold, Align::right);
        y += 21;
    }
    y -= 5;
    const ButtonLook step{
        .primary = true, .size = size::small, .tooltip = "The step of the lesson that computes it (G)"};
    const float half = (a.w - 24 - 6) / 2;
    if (button(c, "##go to step", a.x + 12, y, half, space::control, "Its step", step))
        go_to_cell(state, map, at.row, at.column);
    const ButtonLook lane{.size = size::small, .tooltip = "The lane of the kernel that wrote it (V)"};
    if (button(c, "##in kernel", a.x + 18 + half, y, half, space::control, "Its lane", lane))
        state.keys.push_back({Key::v});
    y += 38;
    const ButtonLook begins{.size = size::small,
                            .tooltip = "The first number that rounding does not explain (D)"};
    if (shown.finding &&
        button(c, "##begins", a.x + 12, y, a.w - 24, space::control, "Where it begins", begins))
        show_finding(state);
}

void finding_line(const Canvas& c, const AppState& state, const Rect& a) {
    const Theme& t = *c.theme;
    const KernelComparison& shown = *state.comparing->shown;
    if (shown.finding)
        c.polygon({{a.x, a.y}, {a.x + 6, a.y - 6}, {a.x + 12, a.y}, {a.x + 6, a.y + 6}}, t.danger);
    const float x = a.x + (shown.finding ? 20 : 0);
    const Face face = shown.finding ? Face::semibold : Face::regular;
    std::string words = finding_words(shown);
    // What both numbers are, and in which column, stands on the card beside the map.
    for (const char* const end : {": ", ", column"})
        if (const std::size_t from = words.rfind(end);
            from != std::string::npos && text_width(face, size::small, words) > a.right() - x)
            words.resize(from);
    c.text_within(x, a.y, a.right() - x, words, size::small, shown.finding ? t.t1 : t.t2, face);
}

// Beside the map the nearest one.
MapCell cell_under(const Map& map, const Rect& filled, const Point& at) {
    const auto index = [](float part, Eigen::Index all) {
        return std::clamp(static_cast<int>(part * px(all)), 0, static_cast<int>(all) - 1);
    };
    return {index((at.y - filled.y) / filled.h, map.far.rows()),
            index((at.x - filled.x) / filled.w, map.far.cols())};
}

void cells(const Canvas& c, AppState& state, const Map& map, const MapCell& at, const Rect& a) {
    const Theme& t = *c.theme;
    const Rect filled = heat_map(c, map, a);
    map_axes(c, state, map, filled, size::small);
    const Hot hot = hot_area(c, "##heat map", filled.x, filled.y, filled.w, filled.h, ItemKind::cell);
    drop_focus_stop();  // the arrow keys of the page choose tile and row
    mark_cell(c, state, map, at, filled, a, size::small);
    if (!hot.hovered && !hot.clicked) return;
    const auto [row, column] = cell_under(map, filled, c.mouse());
    const Rect over = heat_cell(map, filled, row, column);
    c.frame(over.x, over.y, over.w, over.h, t.t1, 1.5f, 2);
    if (hot.clicked) choose_cell(state, map, row, column);
}

}  // namespace

std::string unlike_words(const Map& map, bool explained) {
    if (map.unlike == 0) return "all as the CPU has it";
    if (explained)
        return format_count(map.unlike) + " of " + format_count(map.compared) + " cells " +
               (map.unlike == 1 ? "is" : "are") + " rounded unlike the CPU's";
    return format_count(map.unlike) + " of " + format_count(map.compared) + " cells " +
           (map.unlike == 1 ? "differs" : "differ") + (map.from_exact ? " from the CPU's" : "");
}

// In the unit of the measure
static std::string far_text(const AppState& state, double far) {
    return state.compare.measure == 1 ? ulp_count(far) + " ULP" : three_digits(far);
}

// How many cells that differ from the CPU's lie below a plate.
static int differing_under(const Map& map, const Rect& filled, const Rect& plate) {
    const MapCell first = cell_under(map, filled, {plate.x, plate.y}),
                  last = cell_under(map, filled, {plate.right(), plate.bottom()});
    const auto under =
        map.far.block(first.row, first.column, last.row - first.row + 1, last.column - first.column + 1);
    return static_cast<int>((under.array() > 0).count());
}

void mark_cell(const Canvas& c, const AppState& state, const Map& map, const MapCell& at, const Rect& filled,
               const Rect& room, float size, bool with_number) {
    const Theme& t = *c.theme;
    if (!(map.scale.to > 0)) {
        const char* const words = map.unlike > 0
                                      ? "What differs is NaN or ∞: no number says how far."
                                      : "No cell differs: the CPU's walk rounds as the kernel does.";
        const float w = std::min(filled.w - size, 26 * size), h = paragraph_height(w, words, size * 1.1f);
        if (filled.w > 12 * size)
            c.paragraph(filled.x + (filled.w - w) / 2, filled.middle() - h / 2, w, words, size * 1.1f, t.t2);
        return;
    }
    const Rect cell = heat_cell(map, filled, at.row, at.column);
    const float r = std::max(0.0f, (.68f * size - std::min(cell.w, cell.h)) / 2) + .12f * size,
                line = size / 7;
    const Rect frame{cell.x - r, cell.y - r, cell.w + 2 * r, cell.h + 2 * r};
    c.frame(frame.x, frame.y, frame.w, frame.h, t.inv, 2 * line, radius::cell);
    c.frame(frame.x, frame.y, frame.w, frame.h, t.t1, line, radius::cell);
    if (!with_number) return;
    // Beside it, where the map has more room.
    // From afar nothing else says which number of which matrix it is.
    const std::string name = size > size::small ? plain(cell_name(map, at)) + " " : "",
                      far = name + far_text(state, map.far(at.row, at.column));
    const float w = text_width(Face::mono_bold, size, far) + .8f * size, h = 1.5f * size;
    const bool right = frame.right() + w + 6 < room.right(), left = frame.x - .4f * size - w > filled.x;
    const float beside = right  ? frame.right() + .4f * size
                         : left ? frame.x - .4f * size - w
                                : filled.right() - w - 4;
    // Below it, else above, where a cell is as wide as the map.
    const float below = frame.bottom() + .3f * size, above = frame.y - .3f * size - h,
                middle = right || left                     ? frame.middle() - h / 2
                         : below + h < filled.bottom() - 2 ? below
                                                           : above;
    // A row lower than the number would be hidden by it.
    const bool thin = (right || left) && cell.h < .5f * size;
    const auto plate_at = [&](float top) {
        return Rect{beside, std::clamp(top, filled.y + 2, filled.bottom() - h - 2), w, h};
    };
    // Above or below the row, where it hides fewer cells that differ.
    const bool is_above = above > filled.y + 2 && (below + h > filled.bottom() - 2 ||
                                                   differing_under(map, filled, plate_at(above)) <
                                                       differing_under(map, filled, plate_at(below)));
    const Rect plate = plate_at(!thin ? middle : is_above ? above : below);
    c.rect(plate.x, plate.y, plate.w, plate.h, t.t1, radius::cell);
    c.text(plate.x + plate.w / 2, plate.middle(), far, size, t.inv, Face::mono_bold, Align::center);
}

static Rect within(const Rect& a, const Rect& all) {
    const float x = std::max(a.x, all.x), y = std::max(a.y, all.y);
    return {x, y, std::min(a.right(), all.right()) - x, std::min(a.bottom(), all.bottom()) - y};
}

Rect heat_map(const Canvas& c, const Map& map, const Rect& a) {
    const Theme& t = *c.theme;
    const Bins b = bins_of(map, a);
    const auto R = static_cast<int>(map.far.rows()), C = static_cast<int>(map.far.cols());
    // Without a gap each cell reaches a little below the next one, so that no line shows between them.
    const float gap = std::min(b.w, b.h) >= 6 ? 1 : 0, seam = gap > 0 ? 0 : .6f;
    // Where few differ, each of them is large enough to be seen, whatever lies empty beside it.
    const bool few = !map.from_exact && map.is_sparse();
    const float more_w = few ? std::max(0.0f, 4 - b.w) : 0, more_h = few ? std::max(0.0f, 4 - b.h) : 0;
    const Rect filled{a.x, a.y, b.w * px(b.cols), b.h * px(b.rows)};
    c.rect(filled.x, filled.y, filled.w, filled.h, t.well);
    std::vector<std::pair<double, Rect>> spots;
    for (int r = 0; r < b.rows; ++r)
        for (int k = 0; k < b.cols; ++k) {
            double most = -1;
            for (int row = share(r, b.rows, R); row < share(r + 1, b.rows, R); ++row)
                for (int column = share(k, b.cols, C); column < share(k + 1, b.cols, C); ++column)
                    most = std::max(most, map.far(row, column));  // NaN, both −∞, is passed over
            const float x = a.x + b.w * px(k), y = a.y + b.h * px(r);
            if (most > 0)
                spots.push_back({most, within({x - more_w / 2, y - more_h / 2, b.w - gap + seam + more_w,
                                               b.h - gap + seam + more_h},
                                              filled)});
            if (most < 0 && b.w > 8 && b.h > 8) c.crossed(x, y, b.w - gap, b.h - gap, t.line2, 8);
        }
    // Where they overlap the largest lies on top.
    if (few) std::ranges::stable_sort(spots, {}, &std::pair<double, Rect>::first);
    for (const auto& [far, at] : spots)
        c.rect(at.x, at.y, at.w, at.h, std::isinf(far) ? t.danger : cividis(map.scale.place(far)),
               gap > 0 && b.h > 10 ? 2.0f : 0.0f);
    c.frame(filled.x - .5f, filled.y - .5f, filled.w + 1, filled.h + 1, t.line2);
    return filled;
}

void map_axes(const Canvas& c, const AppState& state, const Map& map, const Rect& filled, float size,
              int told) {
    const bool keys = map.quantity == KernelFault::Quantity::S || map.quantity == KernelFault::Quantity::P;
    const std::string columns = map.far.cols() == 1 ? "" : keys ? "key →" : "column →";
    c.text(filled.x - size, filled.y - size * .85f, of_keys(map.slot) ? "key ↓" : "query ↓", size,
           c.theme->t2, Align::right);
    row_axis(c, state, map, filled, size, told);
    if (!columns.empty()) column_axis(c, map, filled, columns, size);
}

Rect heat_cell(const Map& map, const Rect& filled, int row, int column) {
    const float w = filled.w / px(map.far.cols()), h = filled.h / px(map.far.rows());
    return {filled.x + w * px(column), filled.y + h * px(row), w, h};
}

// Its place, and what will stand there.
static void map_to_come(const Canvas& c, const Rect& a) {
    const Theme& t = *c.theme;
    c.text(a.inner_x(), a.title_y(), "Differences, cell by cell", size::lead, t.t1, Face::semibold);
    const Rect to_come{a.inner_x(), a.y + 48, a.inner_w(), a.h - 48 - space::foot};
    c.to_come(to_come.x, to_come.y, to_come.w, to_come.h);
    const char* const words = "Every cell of O, by how far the kernel's is from fp64 or from the CPU's, once "
                              "the kernel has run.";
    const float w = std::min(to_come.w - 40, 420.0f), h = paragraph_height(w, words);
    c.paragraph(to_come.x + (to_come.w - w) / 2, to_come.middle() - h / 2, w, words, size::lead, t.t2);
}

void compare_map(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Differences", a);
    const Theme& t = *c.theme;
    const auto map = map_of(state);
    if (!map) return map_to_come(c, a);
    const KernelRun& run = state.comparing->shown->kernel->run;
    const std::string where = (state.comparing->source.empty() ? "" : "recorded, ") +
                              std::string(run.device == "cuda" ? run.device_name : "emulated");
    const float pill_w = std::min(pill_width(where), a.w * .45f);
    c.pill(a.inner_right(), a.title_y(), where, size::small, 0, t.t1, Align::right);
    const float x = title(c, state, *map, a.inner_x(), a.title_y()) + 12;
    const float room = a.right() - 28 - pill_w - x;
    const std::string what = what_it_is(state, *map);
    if (text_width(Face::regular, size::body, what) <= room) c.text(x, a.title_y(), what, size::body, t.t2);
    choices(c, state, {a.inner_x(), a.y + 42, a.inner_w(), 32});
    // In a low window the card reaches up to that line.
    const float side = a.w > 640 ? 200 : 164, cards = card_height(state), bottom = a.bottom() - space::foot,
                finding_y = a.y + 92;
    const bool beside_card = bottom - cards < finding_y + 10;
    finding_line(c, state, {a.inner_x(), finding_y, a.inner_w() - (beside_card ? side + 12 : 0), 0});
    if (map->far.size() == 0) {
        c.paragraph(
            a.x + 20, a.y + 120, a.w - 40,
            "There is nothing to compare here: the mask removes this tile, or the kernel did not record it.",
            size::lead, t.t2);
        return;
    }
    const MapCell at = shown_cell(state, *map);
    const float top = a.y + 112, foot = a.bottom() - 46;
    const float left = axis_left(size::small), above = axis_top(size::small);
    const Rect area{a.inner_x() + left, top + above, a.inner_w() - left - side - 20, foot - top - above};
    cells(c, state, *map, at, area);
    map_legend(c, *map, {area.x, foot + 8, area.w, 30}, size::small);
    note_part(c, {area.x - left, area.y - above, area.w + left, a.bottom() - area.y + above}, "Colours");
    const float right = a.inner_right() - side;
    if (bottom - cards - top > 90)
        histogram(c, *map, at, {right, top, side, std::min(200.0f, bottom - cards - 12 - top)});
    card(c, state, *map, at, {right, bottom - cards, side, cards});
}

}  // namespace tilewalk::ui
