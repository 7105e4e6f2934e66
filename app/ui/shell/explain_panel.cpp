// The explanation: formula in symbols, with numbers, its result, why, and the line of pseudocode.
#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/shell/bridge.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/parts.h"
#include "core/lessons/table.h"
#include "core/walk/compare.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void title_row(const Canvas& c, const AppState& state, const Rect& a) {
    const Explanation& e = state.explanation;
    // Beside a long title the nearer part of the place, "block 4" of "sequence 0, block 4", or none: the
    // timeline tells it, too.
    const auto room_beside = [&](const std::string& place) {
        return a.w - 44 - (place.empty() ? -12 : pill_width(place, size::body));
    };
    std::string place = e.place;
    const auto fits = [&] { return rich_width(c, title_line(e.title), 14) <= room_beside(place); };
    if (const std::size_t comma = place.rfind(", "); !fits() && comma != std::string::npos)
        place = place.substr(comma + 2);
    if (!fits()) place.clear();
    const float room = room_beside(place), size = fitting_size(c, {strong(e.title)}, room, {22, 18, 16, 14});
    step_title(c, a.inner_x(), a.y + side_title, room, e.title, size);
    if (!place.empty())
        c.pill(a.inner_right(), a.y + side_title, place, size::body, 0, c.theme->t1, Align::right);
}

// Which row of the tile the formula speaks of: a switch for few rows, − and + for many.
struct RowPicker {
    int rows = 1;
    std::vector<int> names;           // of the rows, as people are told them
    std::vector<std::string> labels;  // empty: a stepper
    float w = 0;                      // 0: there is nothing to choose
    bool named = false;               // room for the word "row" before it
};

RowPicker row_picker_for(const AppState& state, float room) {
    RowPicker out;
    const int k = state.cursor.step;
    if (step_units(*state.trace, k) < 2 && state.trace->step(k).op != Op::store) return out;
    // Those of the value that the formula speaks of: a shard of a ring may be stored in several pieces.
    const Region region = step_region(*state.trace, k);
    out.rows = region.rows;
    // Numbered as in the formula: rows of parts from 0 on, those of a shared part in HBM as the queries
    const Slot slot = state.trace->writes(k).front().slot;
    const bool of_queries = info(slot).hbm && state.lesson->uses(chooses_sequences);
    out.names = indices(*state.trace, slot, region, k).rows;
    if (is_of_parts(slot) && !of_queries && !state.lesson->uses(chooses_ranks))
        for (int& name : out.names) name -= region.row;
    out.w = 128;
    if (out.rows > 3) return out;
    for (const int name : out.names) out.labels.push_back(str(name));
    out.w = segmented_width(out.labels);
    out.named = out.w + 42 <= room;
    return out;
}

void draw_row_picker(const Canvas& c, AppState& state, const RowPicker& picker, float right, float y) {
    if (picker.w == 0) return;
    const int before = std::min(state.row, picker.rows - 1);
    int row = before;
    bool changed = false;
    if (picker.named) c.text(right - picker.w - 10, y, "row", size::body, c.theme->t3, Align::right);
    if (!picker.labels.empty()) {
        changed = segmented(c, "##row", right - picker.w, y - 16, picker.labels, row);
    } else {
        // Rows of a shard need not follow each other: from one the buttons go to the next, and a typed number
        // chooses the nearest.
        const int name = picker.names[static_cast<std::size_t>(row)];
        int wanted = name;
        changed = stepper(c, "##row", right - picker.w, y - 16, picker.w, wanted, picker.names.front(),
                          picker.names.back());
        const auto far = [&](int of) { return std::abs(of - wanted); };
        const auto nearest =
            static_cast<int>(std::ranges::min_element(picker.names, {}, far) - picker.names.begin());
        const int step = wanted - name;
        row = std::abs(step) == 1 ? std::clamp(before + step, 0, picker.rows - 1) : nearest;
    }
    if (changed) choose_row(state, row);
}

// Lines break before a plus sign, not inside a product: its spaces become unbreakable.
Line whole_products(Line line) {
    for (std::size_t n = 0; n + 1 < line.size(); ++n)
        if (line[n].text == " × " && line[n + 1].text != "(") line[n].text = "\u00A0×\u00A0";
    return line;
}

// The card; returns its height.
float formula_card(const Canvas& c, AppState& state, const Rect& a, float y, int number_rows) {
    const Explanation& e = state.explanation;
    const Line e_numbers = whole_products(e.numbers);
    const Theme& t = *c.theme;
    const bool narrow = a.w < 360;
    const float label = narrow ? 0 : 74, x = a.x + 28 + label, w = a.w - 56 - label;
    const float formula_size = fitting_size(c, e.formula, w, {18, 17, 15});
    const float numbers_size = fitting_size(c, e_numbers, w, {16, 15, 14});
    const float first = std::max(40.0f, rich_paragraph_height(c, w, e.formula, formula_size, 2) + 14);
    const float numbers =
        e.numbers.empty()
            ? 0
            : std::max(40.0f, rich_paragraph_height(c, w, e_numbers, numbers_size, number_rows) + 14);
    const float result_w = rich_width(c, e.result, 20);
    const RowPicker picker = row_picker_for(state, w + 8 - result_w - 14);
    const bool below = picker.w > 0 && picker.w > w + 8 - result_w - 14;  // no room beside the result
    const float last = e.result.empty() ? 0 : below ? 88 : 52;
    const float h = 16 + first + numbers + last;
    c.well(a.x + 12, y, a.w - 24, h, radius::control);
    float at = y + 8;
    const auto row = [&](const char* name, float height, bool rule) {
        if (!narrow) c.text(a.x + 24, at + std::min(height, 40.0f) / 2, name, size::small, t.t3);
        if (rule) c.line({a.x + 24, at - .5f}, {a.right() - 24, at - .5f}, t.line);
    };
    row("Symbols", first, false);
    c.rich_paragraph(x, at + 7, w, e.formula, formula_size, 2, t.t1);
    at += first;
    if (numbers > 0) {
        row("Numbers", numbers, true);
        c.rich_paragraph(x, at + 7, w, e_numbers, numbers_size, number_rows);
        at += numbers;
    }
    if (last > 0) {
        row("Result", last, true);
        c.rich(x, at + 26, e.result, 20, Align::left, t.t1);
        draw_row_picker(c, state, picker, a.right() - 20, at + (below ? 64 : 26));
    }
    return h;
}

constexpr float why_line = 1.42f;

// The last words matter more than the size of the letters.
float why_size_for(const std::string& why, float w, float room) {
    const float lines = paragraph_height(w, why, size::lead, 0) / size::lead;
    const float one = paragraph_height(w, "x", size::lead, 0) / size::lead;
    return lines / one * why_line * size::lead <= room ? size::lead : size::body;
}

// On the first step: where the walk leads, and what to watch on the way. Returns its height.
float introduction(const Canvas& c, const AppState& state, float x, float y, float w, float room) {
    if (state.cursor.step != 0) return 0;
    std::string text = state.lesson == &default_lesson()
                           ? "The walk computes O = softmax(Q Kᵀ) V tile by tile, so that the N × N scores "
                             "never have to be stored."
                           : state.lesson->summary;
    if (state.trace->tells_what_to_watch()) text += " Watch: " + state.problem->watch;
    const std::size_t watch = text.find(" Watch: ");
    if (watch != std::string::npos && paragraph_height(w, text, size::body, 0) + 14 > room)
        text.resize(watch);
    const float h = paragraph_height(w, text, size::body, 0);
    if (h + 14 > room) return 0;
    return 14 + c.paragraph(x, y + 14, w, text, size::body, c.theme->t2);
}

// The same result reached another way. Returns its height; 0 where there is no room for it.
float asides(const Canvas& c, const AppState& state, float x, float y, float w, float room) {
    float used = 0;
    for (const Aside& aside : state.explanation.asides) {
        const Line result = aside.result.empty() ? Line() : Line{aside.result.back()};
        const std::string sign =
            result.empty() ? "  =  " : std::string("  ") + sign_before(aside.numbers, result[0].text) + "  ";
        const Line line = pieces(aside.formula, "  =  ", aside.numbers, sign, result);
        const float h = 12 + 20 + rich_paragraph_height(c, w, line, size::lead, 0);
        if (used + h > room) break;
        c.text_within(x, y + used + 20, w, aside.label, size::small, c.theme->t3);
        c.rich_paragraph(x, y + used + 32, w, line, size::lead, 0);
        used += h;
    }
    return used;
}

// In a broken walk: what the number would be. Returns its height.
float without_fault(const Canvas& c, const AppState& state, float x, float y, float w, float room) {
    if (!broken_walk(state) || !state.truth) return 0;
    const CellRef cell = state.explanation.target;
    const Held held = holding(*state.trace, cell, state.cursor.step);
    const auto truth = true_value(*state.truth, cell, state.cursor.step);
    if (!held || !truth) return 0;
    const double value = value_at(*held.value, cell);
    constexpr float h = 46;
    if (distance(value, *truth) == 0 || h > room) return 0;
    const std::string kind = kind_of_walk(state);
    const char* const without = kind == "Rounded"  ? "without rounding"
                                : kind == "Saving" ? "in the true walk"
                                                   : "without the fault";
    c.text_within(x, y + 20, w, without, size::small, c.theme->t3);
    // A part is called as in the formula.
    const Line& result = state.explanation.result;
    const bool of_part = is_of_parts(cell.slot) && result.size() > 2;
    const Line name = of_part ? Line(result.begin(), result.end() - 2)
                              : Line{word(cell_text(*state.trace, cell, state.cursor.step))};
    const std::string shown = format_apart(value, *truth).second;
    const Line line =
        pieces(name, read_shown(shown).value == *truth ? " = " : " ≈ ", number(shown, Role::none, true));
    c.rich_paragraph(x, y + 32, w, line, size::lead, 1);
    return h;
}

}  // namespace

Line title_line(const std::string& title) {
    const std::size_t at = title.find('_');
    if (at == std::string::npos) return {strong(title)};
    const Span index{.text = title.substr(at + 1), .script = Span::Script::sub, .strong = true};
    return {strong(title.substr(0, at)), index};
}

float step_title(const Canvas& c, float x, float y, float room, const std::string& title, float size) {
    const Line line = title_line(title);
    if (line.size() == 1) return c.text_within(x, y, room, title, size, 0, Face::semibold);
    if (rich_width(c, line, size) <= room) return c.rich(x, y, line, size, Align::left, c.theme->t1);
    return c.text_within(x, y, room, title, size, 0, Face::semibold);
}

namespace {

constexpr float switch_h = 54;  // at the foot of the panel, with what lies round it

// The reason for the step and what goes with it. Returns where it ends.
float reason(const Canvas& c, const AppState& state, const Rect& a, float foot, float code) {
    const float label = a.w < 360 ? 0.0f : 44.0f;
    if (label > 0) c.text(a.x + 16, a.y + 10, "Why", size::body, c.theme->t3, Face::medium);
    const float x = a.x + 16 + label, w = a.w - 32 - label, room = a.h - foot;
    const float why_size = why_size_for(state.explanation.why, w, room);
    const int most = std::max(1, static_cast<int>(room / (why_size * why_line)));
    float used =
        c.paragraph(x, a.y, w, state.explanation.why, why_size, c.theme->t1, most, Face::regular, why_line);
    used += without_fault(c, state, x, a.y + used, w, room - used);
    used += asides(c, state, x, a.y + used, w, room - used);
    used += introduction(c, state, x, a.y + used, w, room - used - code);
    return a.y + used;
}

// Formula and reason, below them as much of the pseudocode as has room. Returns whether that is all of it.
bool formula_view(const Canvas& c, AppState& state, const Rect& a, float card, bool tight) {
    const float y = card + formula_card(c, state, a, card, a.h < 450 ? 2 : tight ? 3 : 4) + 14;
    const float code = least_pseudocode_height(state), text_w = a.w - (a.w < 360 ? 32 : 76);
    const float why = paragraph_height(text_w, state.explanation.why, size::lead, 0);
    // Where the way to the kernel stands at the foot, that is not the algorithm's.
    const float foot = has_bridge(state) ? switch_h : 0;
    const bool whole = !tight && a.bottom() - foot - y - why >= code;
    const float end =
        reason(c, state, {a.x, y, a.w, a.bottom() - y}, whole ? foot : switch_h, tight ? 0 : code);
    pseudocode_below(c, state, whole && foot == 0 ? a : Rect{a.x, a.y, a.w, a.h - switch_h + 6}, end);
    return whole;
}

// The way to the kernel that does this step.
void kernel_button(const Canvas& c, AppState& state, const Rect& a) {
    const float w = 76;
    if (button(c, "##kernel", a.inner_right() - w, a.bottom() - 12 - 32, w, 32, "Kernel",
               {.tooltip = "The lane of a kernel that does this step (V)"}))
        cross_bridge(state);
}

// The whole algorithm; below it the reason, where that has room.
void code_view(const Canvas& c, const AppState& state, const Rect& a, float card) {
    const float bottom = a.bottom() - switch_h;
    const float end = pseudocode(c, state, {a.x + 12, card, a.w - 24, bottom - card}, a.h) + 14;
    const float why = paragraph_height(a.w - 76, state.explanation.why, size::body, 0);
    if (end + 1.1f * why <= bottom) reason(c, state, {a.x, end, a.w, bottom - end}, 0, 0);
}

}  // namespace

void explain_view(const Canvas& c, AppState& state, const Rect& a, bool tight) {
    const Panel panel(c, "Explanation", a);
    title_row(c, state, a);
    bool& code = state.settings.pseudocode;
    bool whole = false;
    if (code)
        code_view(c, state, a, a.y + 56);
    else
        whole = formula_view(c, state, a, a.y + 56, tight);
    if (has_bridge(state)) kernel_button(c, state, a);
    // Where not both have room, they take turns.
    if (whole) return;
    int tab = code ? 1 : 0;
    const char* const second = has_bridge(state) && a.w < 340 ? "Code" : "Pseudocode";  // beside the button
    if (segmented(c, "##tab", a.x + 16, a.bottom() - 12 - 32, {"Formula", second}, tab)) code = tab == 1;
}

}  // namespace tilewalk::ui
