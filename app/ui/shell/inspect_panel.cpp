// The panel of an inspected cell: the way to it, what it is, how it was made, and lists of cells to follow.
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/inspection.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float line_h = 28;

const char* heading(Link link) {
    switch (link) {
    case Link::source: return "Comes from";
    case Link::fed: return "Feeds";
    case Link::input: return "In the end from";
    case Link::inspected: break;
    }
    return "";
}

std::string hint(const Inspection& in) {
    if (in.at().step < 0) return "It was given: here the way back ends.";
    if (in.told.sources.empty()) return "Here the way back ends: the step starts with this value.";
    return "The mask puts −∞ here whatever the score was.";
}

// One line of the lists: a heading, a sentence, or an entry.
struct ListLine {
    std::string text;
    Link link = Link::source;
    int entry = -1;
    bool title = false;
};

std::vector<ListLine> lines_of(const Inspection& in) {
    std::vector<ListLine> out;
    for (const Link link : {Link::source, Link::fed, Link::input}) {
        const std::size_t before = out.size();
        out.push_back({heading(link), link, -1, true});
        for (int n = 0; n < static_cast<int>(in.entries.size()); ++n)
            if (in.entries[static_cast<std::size_t>(n)].link == link) out.push_back({"", link, n, false});
        if (out.size() > before + 1) continue;
        out.resize(before);
        if (link == Link::source) out.push_back({hint(in), link, -1, false});
        if (link == Link::fed) out.push_back({"No later step reads it.", link, -1, false});
        if (link == Link::input && in.too_many_ends)
            out.push_back({"In the end from more cells than are listed.", link, -1, false});
    }
    return out;
}

// ---- The way

void separator(const Canvas& c, const Inspection& in, int n, float x, float y, float size) {
    const auto& path = in.path;
    const bool back = path[static_cast<std::size_t>(n)].step <= path[static_cast<std::size_t>(n) - 1].step;
    c.text(x, y, back ? "←" : "→", size, c.theme->t3, Align::center);
}

// The crumbs in lines; returns the height.
float breadcrumb(const Canvas& c, AppState& state, const Rect& a, float size, int lines) {
    Inspection& in = *state.inspection;
    const float gap = size * 1.5f, h = size * 1.75f;
    std::vector<float> widths;
    for (int n = 0; n < static_cast<int>(in.path.size()); ++n)
        widths.push_back(std::min(a.w - gap, text_width(Face::medium, size, crumb_name(in, n)) + size));
    const std::vector<int> shown = shown_crumbs(widths, gap, a.w, lines);
    float x = a.x, y = a.y;
    int clicked = -1;
    for (std::size_t at = 0; at < shown.size(); ++at) {
        const int n = shown[at];
        const float w = n < 0 ? 0 : widths[static_cast<std::size_t>(n)];
        if (x > a.x && x - a.x + w + gap > a.w) x = a.x, y += h + 4;
        if (n < 0) {
            c.text(x + gap / 2, y + h / 2, "…", size, c.theme->t3, Align::center);
            x += gap;
            continue;
        }
        if (n > 0) separator(c, in, n, x + gap / 2, y + h / 2, size);
        const ButtonLook look{.active = n + 1 == static_cast<int>(in.path.size()),
                              .size = size,
                              .tooltip = "Back to here (Backspace: one back)"};
        const float left = n > 0 ? x + gap : x;
        if (button(c, "##crumb " + str(n), left, y, w, h, crumb_name(in, n), look)) clicked = n;
        x = left + w;
    }
    if (clicked >= 0) go_back_to(state, clicked);
    return y + h - a.y;
}

// ---- What it is

std::string place_text(const Inspection& in) {
    const CellRef& cell = in.at().cell;
    const Indices at = indices(*in.trace, cell.slot, {cell.row, cell.col, 1, 1}, in.at().step);
    const std::string row = info(cell.slot).what + (", row " + str(at.rows.front()));
    return one_column(cell.slot) ? row : row + ", column " + str(at.cols.front());
}

// Name, value with all its digits, and the step that made it. Returns the height.
float identity(const Canvas& c, AppState& state, const Rect& a) {
    const Inspection& in = *state.inspection;
    const Theme& t = *c.theme;
    const std::string name = place_name(*in.trace, in.at());
    draw_link_mark(c, Link::inspected, Role::none, a.x + 4, a.y + 4, 18, 18);
    const float w = c.text_within(a.x + 34, a.y + 13, a.w - 34, name, 20, 0, Face::semibold);
    c.text_within(a.x + 34 + w + 10, a.y + 14, a.w - 34 - w - 10,
                  "= " + format_full(value_of(*in.trace, in.at())), size::formula, 0, Face::mono_bold);
    c.text_within(a.x, a.y + 42, a.w, place_text(in), size::body, t.t2);
    if (in.at().step < 0) {
        c.text_within(a.x, a.y + 66, a.w, "given before the first step, in HBM", size::body, t.t2);
        return 80;
    }
    const std::string go = "Go to step " + str(in.at().step + 1);
    const bool here = state.cursor.step == in.at().step;
    const float button_w = here ? 0 : button_width(go, size::small);
    if (!here && button(c, "##go to origin", a.x + a.w - button_w, a.y + 54, button_w, 26, go,
                        {.size = size::small, .tooltip = "Shift Enter"}))
        go_to_origin(state);
    const float room = a.w - button_w - 10;
    const std::string whole = in.told.title + ", " + in.told.place;
    c.text_within(a.x, a.y + 67, room,
                  text_width(Face::regular, size::body, whole) <= room ? whole : in.told.title, size::body,
                  t.t2);
    return 86;
}

// Formula in symbols, with numbers, and the result. Returns the height.
float formula_lines(const Canvas& c, const Inspection& in, const Rect& a, int number_lines) {
    if (in.at().step < 0) return 0;
    const Theme& t = *c.theme;
    const float w = a.w - 24;
    const float formula = rich_paragraph_height(c, w, in.told.formula, size::formula, 2),
                numbers = in.told.numbers.empty()
                              ? 0
                              : rich_paragraph_height(c, w, in.told.numbers, size::body, number_lines) + 4,
                result = in.told.result.empty() ? 0.0f : 30.0f;
    const float h = 16 + formula + numbers + result;
    c.well(a.x, a.y, a.w, h, radius::control);
    c.rich_paragraph(a.x + 12, a.y + 8, w, in.told.formula, size::formula, 2, t.t1);
    if (numbers > 0)
        c.rich_paragraph(a.x + 12, a.y + 12 + formula, w, in.told.numbers, size::body, number_lines);
    if (result > 0)
        c.rich(a.x + 12, a.y + h - 8 - result / 2, in.told.result, size::symbol, Align::left, t.t1);
    return h;
}

// ---- Cells to follow

std::string entry_value(const Inspection& in, const LinkEntry& entry) {
    const Region& cells = entry.patch.cells;
    const int count = cells.rows * cells.cols;
    if (count > 1) return str(count) + " cells";
    return format_short(value_of(*in.trace, {{entry.patch.slot, cells.row, cells.col}, entry.patch.step}));
}

void triangle(const Canvas& c, float x, float y, bool open, ImU32 colour) {
    if (open)
        c.polygon({{x - 5, y - 3}, {x + 5, y - 3}, {x, y + 4}}, colour);
    else
        c.polygon({{x - 3, y - 5}, {x + 4, y}, {x - 3, y + 5}}, colour);
}

bool group_is_open(const Inspection& in, int n) {
    const std::size_t next = static_cast<std::size_t>(n) + 1;
    return next < in.entries.size() && in.entries[next].inner;
}

// True when clicked.
bool entry_line(const Canvas& c, const Inspection& in, int n, const Rect& a) {
    const Theme& t = *c.theme;
    const LinkEntry entry = in.entries[static_cast<std::size_t>(n)];
    const bool group = entry.patch.cells.rows * entry.patch.cells.cols > 1;
    const Hot hot = hot_area(c, "##link " + str(n), a.x, a.y + 1, a.w, a.h - 2);
    if (n == in.chosen || hot.hovered) c.rect(a.x, a.y + 1, a.w, a.h - 2, hot.hovered ? t.raised : t.well, 6);
    if (n == in.chosen || hot.focused) c.frame(a.x + .5f, a.y + 1.5f, a.w - 1, a.h - 3, t.focus, 1.6f, 6);
    const float y = a.y + a.h / 2, x = a.x + (entry.inner ? 30.0f : 10.0f);
    if (!entry.inner)
        draw_link_mark(c, entry.link == Link::input ? Link::source : entry.link, info(entry.patch.slot).role,
                       x, y - 7, 14, 14);
    const float step_w = 80, value_w = text_width(Face::mono, size::body, entry_value(in, entry));
    const float right = a.x + a.w - 10, value_x = right - step_w - value_w, name_x = x + 24;
    c.text_within(name_x, y, value_x - name_x - 8, patch_name(*in.trace, entry.patch), size::body, 0,
                  Face::medium);
    c.text(value_x, y, entry_value(in, entry), size::body, group ? t.t2 : 0,
           group ? Face::regular : Face::mono);
    c.text(right - 14, y, made_text(entry.patch.step), size::small, t.t3, Align::right);
    if (group) triangle(c, right - 4, y, group_is_open(in, n), t.t2);
    return hot.clicked;
}

// The lists scroll: the chosen line stays in sight, the wheel moves them.
void lists(const Canvas& c, AppState& state, const Rect& a) {
    Inspection& in = *state.inspection;
    const std::vector<ListLine> lines = lines_of(in);
    const int fit = std::max(1, static_cast<int>(a.h / line_h)), count = static_cast<int>(lines.size());
    if (a.contains(c.mouse())) in.first_line -= static_cast<int>(ImGui::GetIO().MouseWheel * 2);
    if (in.keep_in_sight) {
        int at = 0;
        while (at < count && lines[static_cast<std::size_t>(at)].entry != in.chosen) ++at;
        const int most = in.chosen == 0 ? 0 : at;  // with the first entry its heading
        in.first_line = std::max(std::min(in.first_line, most), at - fit + 1);
        in.keep_in_sight = false;
    }
    in.first_line = std::clamp(in.first_line, 0, std::max(0, count - fit));
    const int first = in.first_line;
    if (count > fit) scroll_bar(c, {a.x, a.y, a.w + 8, a.h}, px(first), px(fit), px(count));
    int clicked = -1;
    const PanelPart part(c, "Inspection list", a);
    for (int n = first; n < std::min(count, first + fit); ++n) {
        const ListLine& line = lines[static_cast<std::size_t>(n)];
        const Rect row{a.x, a.y + line_h * px(n - first), a.w, line_h};
        if (line.entry >= 0) {
            if (entry_line(c, in, line.entry, row)) clicked = line.entry;
            continue;
        }
        c.text_within(row.x + 4, row.middle() + 2, row.w - 8, line.text, line.title ? 14 : 13,
                      line.title ? c.theme->t2 : c.theme->t3, line.title ? Face::semibold : Face::regular);
    }
    if (clicked < 0) return;
    in.chosen = clicked;
    use_entry(state, clicked);
}

}  // namespace

void inspect_view(const Canvas& c, AppState& state, const Rect& a, bool tight) {
    if (!inspection_of(state)) return explain_view(c, state, a, tight);
    const Panel panel(c, "Inspection", a);
    const bool leave = icon_button(c, "##leave inspection", a.right() - 42, a.y + 10, 30, 30, Icon::close,
                                   {.tooltip = "Leave (Esc)"});
    const float x = a.x + 16, w = a.w - 32;
    float y = a.y + 14;
    y += breadcrumb(c, state, {x, y, w - 34, 0}, 13, tight ? 2 : 3) + 14;
    y += identity(c, state, {x, y, w, 0}) + 8;
    y += formula_lines(c, *state.inspection, {x, y, w, 0}, tight ? 2 : 4) + 8;
    lists(c, state, {x - 4, y, w + 4, a.bottom() - 10 - y});
    if (leave) state.inspection.reset();
}

// ---- For the back row: the way, the value, and the cell that Enter follows. Nothing under 27 px

namespace {

std::string chosen_text(const Inspection& in) {
    if (in.entries.empty()) return in.at().step < 0 ? "given" : "a start value";
    const LinkEntry& entry = in.entries[static_cast<std::size_t>(in.chosen)];
    const Region& cells = entry.patch.cells;
    const char* words = entry.link == Link::source ? "from "
                        : entry.link == Link::fed  ? "feeds "
                                                   : "in the end from ";
    std::string out = words + patch_name(*in.trace, entry.patch);
    if (cells.rows * cells.cols == 1)
        out += " = " + format_short(
                           value_of(*in.trace, {{entry.patch.slot, cells.row, cells.col}, entry.patch.step}));
    return out + ", " + made_text(entry.patch.step) + "   (" + str(in.chosen + 1) + " of " +
           str(in.entries.size()) + ")";
}

void way(const Canvas& c, const Inspection& in, float x, float y, float room) {
    constexpr float gap = 44;
    std::vector<float> widths;
    for (int n = 0; n < static_cast<int>(in.path.size()); ++n)
        widths.push_back(text_width(Face::semibold, size::far, crumb_name(in, n)));
    for (int n : shown_crumbs(widths, gap, room, 1)) {
        if (n != 0) {
            const bool back = n < 0 || in.path[static_cast<std::size_t>(n)].step <=
                                           in.path[static_cast<std::size_t>(n) - 1].step;
            c.text(x + gap / 2, y, n < 0 ? "…" : back ? "←" : "→", size::far, c.theme->t3, Align::center);
            x += gap;
        }
        if (n < 0) continue;
        const bool last = n + 1 == static_cast<int>(in.path.size());
        x += c.text(x, y, crumb_name(in, n), size::far, last ? c.theme->t1 : c.theme->t2,
                    last ? Face::semibold : Face::medium);
    }
}

}  // namespace

void inspect_presenter(const Canvas& c, AppState& state, const Rect& a) {
    const Inspection* in = inspection_of(state);
    if (!in) return;
    way(c, *in, a.x, a.bottom() - 108, a.w);
    const std::string value = format_full(value_of(*in->trace, in->at()));
    const Line short_line = pieces(place_name(*in->trace, in->at()) + " = ", number(value, Role::none, true));
    // Of a step that only moves numbers the formula counts bytes.
    const bool about_it = in->at().step >= 0 && in->told.target == in->at().cell && !in->told.numbers.empty();
    const Line line =
        about_it
            ? pieces(short_line, value == format_short(value_of(*in->trace, in->at())) ? "  =  " : "  ≈  ",
                     in->told.numbers)
            : short_line;
    c.rich(a.x, a.bottom() - 67, rich_width(c, line, size::far) <= a.w ? line : short_line, size::far,
           Align::left, c.theme->t1);
    c.text_within(a.x, a.bottom() - 26, a.w, chosen_text(*in), size::far, c.theme->t2);
}

}  // namespace tilewalk::ui
