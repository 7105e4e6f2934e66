#include "app/ui/kit/items.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/problem/precision.h"
#include "core/problem/savings.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilewalk::ui {

namespace {

enum Tab { faults_tab, formats_tab, savings_tab, effect_tab };

// A copy of the problem, changed by `change`, becomes the problem; the example stays that example.
template <class Change> void break_it(AppState& state, Change change) {
    Problem changed = latest_problem(state);
    change(changed);
    set_problem(state, std::move(changed));
}

void faults_section(const Canvas& c, AppState& state, float x, float y, float w, float bottom) {
    const std::span<const Fault> faults = state.lesson->faults();
    const float room = (bottom - y) / px(faults.size());
    const bool fit = std::ranges::all_of(faults, [&](const Fault& fault) {
        return text_width(Face::regular, size::small, fault.what) <= w - 44;
    });
    const bool words = room >= 46 && fit;
    const float row = std::clamp(room, 30.0f, words ? 52.0f : 42.0f);
    for (const Fault& fault : faults) {
        bool on = state.problem->switches.*fault.on;
        if (toggle(c, (std::string("##") + fault.name).c_str(), x, y + 10, fault.title, on))
            break_it(state, [&](Problem& p) { p.switches.*fault.on = on; });
        if (words) c.text_within(x + 44, y + 31, w - 44, fault.what, size::small, c.theme->t3);
        y += row;
    }
}

std::string preset_name(const Precision& precision) {
    for (const Preset& preset : presets())
        if (preset.precision == precision) return preset.name;
    return "own choice";
}

void preset_list(const Canvas& c, AppState& state, float x, float y, float w) {
    const Dropdown list(c, "##preset", {x, y, w, 32}, preset_name(state.problem->precision),
                        {.tooltip = "Which format a known kind of kernel uses at each stage"});
    if (!list) return;
    for (const Preset& preset : presets()) {
        const bool current = preset.precision == state.problem->precision;
        if (dropdown_item(c, std::string("##") + preset.name, preset.name, current))
            break_it(state, [&](Problem& p) { p.precision = preset.precision; });
    }
}

void stage_list(const Canvas& c, AppState& state, const Stage& stage, float x, float y, float w) {
    const Format now = state.problem->precision.*stage.format;
    const Dropdown list(c, std::string("##") + stage.name, {x, y, w, 30}, name(now));
    if (!list) return;
    for (Format format : formats()) {
        if (stage.needs_infinity && info(format).saturates) continue;
        if (dropdown_item(c, std::string("##") + name(format), name(format), format == now))
            break_it(state, [&](Problem& p) { p.precision.*stage.format = format; });
    }
}

// Two columns of three stages in the order in which a number passes them.
void formats_section(const Canvas& c, AppState& state, float x, float y, float w) {
    c.text(x, y + 16, "Kernel", size::body, c.theme->t2);
    preset_list(c, state, x + 62, y, w - 62);
    y += 44;
    const float half = (w - 16) / 2;
    int n = 0;
    for (const Stage& stage : stages()) {
        const float X = x + px(n % 2) * (half + 16), Y = y + px(n / 2) * 58;
        c.text_within(X, Y + 8, half, stage.title, size::small, c.theme->t2);
        stage_list(c, state, stage, X, Y + 19, half);
        ++n;
    }
}

// τ beside its switch.
void threshold_field(const Canvas& c, AppState& state, float right, float y) {
    const double now = *state.problem->savings.lazy;
    LogitField& field = state.form.lazy;
    if (!field.typed) std::snprintf(field.text, sizeof field.text, "%g", now);
    const auto number = number_in<double>(field.text);
    const bool good = number && *number >= 0 && *number <= most_lazy;
    c.text(right - 92, y, "τ =", size::body, c.theme->t2, Face::regular, Align::right);
    const FieldResult result = text_field(c, "##lazy threshold", right - 84, y - 16, 84, 32, field.text,
                                          sizeof field.text, {.invalid = !good, .face = Face::mono});
    field.typed = result.active;
    if ((result.entered || result.left) && good && *number != now)
        break_it(state, [&](Problem& p) { p.savings.lazy = *number; });
}

// What kernels for newer GPUs do otherwise: lazy rescaling, and a cubic in place of exp.
void savings_section(const Canvas& c, AppState& state, float x, float y, float w) {
    bool lazy = state.problem->savings.lazy.has_value(), cubic = state.problem->savings.cubic;
    if (toggle(c, "##lazy", x, y + 10, "Lazy rescaling", lazy))
        break_it(state,
                 [&](Problem& p) { p.savings.lazy = lazy ? std::optional(published_lazy) : std::nullopt; });
    if (state.problem->savings.lazy) threshold_field(c, state, x + w, y + 10);
    y += 26 + c.paragraph(x + 44, y + 26, w - 44,
                          "m, ℓ and O stay while the maximum rises by at most τ powers of two", size::small,
                          c.theme->t3, 2);
    y += 18;
    if (toggle(c, "##cubic", x, y + 10, "Cubic exp2", cubic))
        break_it(state, [&](Problem& p) { p.savings.cubic = cubic; });
    c.paragraph(x + 44, y + 26, w - 44, "P̃ = 2^((S − m) log₂ e), by a polynomial of degree 3 in place of exp",
                size::small, c.theme->t3, 2);
}

void reset_button(const Canvas& c, AppState& state, float right, float y) {
    const float w = button_width("Reset");
    if (button(c, "##reset faults", right - w, y, w, 32, "Reset",
               {.enabled = state.problem->broken(), .tooltip = "No fault, no saving, fp64 everywhere"}))
        break_it(state, [](Problem& p) { p = without_faults(std::move(p)); });
}

// "ℓ[0] = 2.503, true 1.639" and the difference, of the cell that the formula is about.
std::string cell_sentence(const AppState& state) {
    const CellRef cell = state.explanation.target;
    const Held held = holding(*state.trace, cell, state.cursor.step);
    const auto truth = true_value(*state.truth, cell, state.cursor.step);
    if (!held || !truth) return "This step writes nothing.";
    const double value = value_at(*held.value, cell), far = distance(value, *truth);
    const std::string name = cell_text(*state.trace, cell, state.cursor.step);
    if (far == 0) return name + " = " + format_short(value) + ", as in the true walk.";
    const auto [is, should] = format_apart(value, *truth);
    return name + " = " + is + ", true " + should +
           (std::isfinite(far) ? ", off by " + format_number(far) : "") + ".";
}

void effect_buttons(const Canvas& c, AppState& state, float x, float y, float w) {
    const Comparison& found = *state.comparison;
    const float half = (w - 8) / 2;
    ButtonLook look{.enabled = next_difference(found, state.cursor.step) >= 0,
                    .tooltip = "The next step that differs from the true walk (D)"};
    if (button(c, "##next difference", x, y, half, 32, "Next difference", look)) next_difference(state);
    look.enabled = next_lost(found, state.cursor.step) >= 0;
    look.tooltip = "The next step that makes NaN or ∞ of a number (Shift D)";
    if (button(c, "##next nan", x + half + 8, y, half, 32, "Next NaN, ∞", look)) next_lost(state);
}

// Which steps differ: a strip of the walk, the current step marked.
void difference_strip(const Canvas& c, const AppState& state, float x, float y, float w) {
    const Comparison& found = *state.comparison;
    const float n = px(found.largest.size());
    c.rect(x, y, w, 10, c.theme->well, 3);
    for (std::size_t k = 0; k < found.largest.size(); ++k) {
        if (found.largest[k] == 0) continue;
        const float at = x + w * px(k) / n, cell = std::max(1.0f, w / n - .5f);
        // A number that was lost stands taller than one that is off.
        c.rect(at, y + (found.lost[k] ? 0.0f : 4.0f), cell, found.lost[k] ? 10.0f : 6.0f, c.theme->danger);
    }
    const float at = x + w * (px(state.cursor.step) + .5f) / n;
    c.polygon({{at - 5, y - 7}, {at + 5, y - 7}, {at, y - 1}}, c.theme->t1);
    c.frame(x, y, w, 10, c.theme->line2, 1, 3);
}

void effect_section(const Canvas& c, AppState& state, float x, float y, float w, float bottom) {
    if (!state.comparison) {
        c.paragraph(x, y, w,
                    "Nothing is broken. Switch a fault on, or let a stage compute in a narrower format: the "
                    "true walk goes on beside the broken one, and every cell that differs is marked.",
                    14, c.theme->t2, static_cast<int>((bottom - y) / 20.3f));
        return;
    }
    const Comparison& found = *state.comparison;
    if (!found.mismatch.empty()) {
        c.paragraph(x, y, w, found.mismatch, size::body, c.theme->t1, 4);
        return;
    }
    const float line = 14 * 1.45f;
    const float room = bottom - y - 110, verdict = paragraph_height(w, found.verdict, size::body, 3);
    const int lines = std::max(1, static_cast<int>((room - verdict) / line));
    y += c.paragraph(x, y, w, found.sentence, size::body, c.theme->t1, lines) + 6;
    y += c.paragraph(x, y, w, found.verdict, size::body, c.theme->t2, 3) + 18;
    difference_strip(c, state, x, y, w);
    y += 20;
    effect_buttons(c, state, x, y, w);
    c.text_within(x, y + 48, w, cell_sentence(state), size::body, c.theme->t1);
}

}  // namespace

// What the pill says; empty without a fault and with formats as they are.
static std::string broken_pill_words(const AppState& state, float size) {
    if (!broken_walk(state)) return "";
    const std::string named = named_fault(state);
    constexpr float most = 520;
    return pill_width(named, size) <= most ? named : fault_title(*state.lesson, *state.problem);
}

float broken_pill_width(const AppState& state, float size) {
    const std::string words = broken_pill_words(state, size);
    return words.empty() ? 0 : pill_width(words, size);
}

float broken_pill(const Canvas& c, const AppState& state, float right, float y, float size) {
    const std::string words = broken_pill_words(state, size);
    if (words.empty()) return 0;
    const bool fault = state.problem->switches != Switches{};
    return c.pill(right, y, words, size, fault ? c.theme->danger : c.theme->t1, c.theme->inv, Align::right);
}

// The tabs that this lesson and this panel have; the one that is open.
static int break_tabs(const Canvas& c, AppState& state, float x, float y, float w, bool roomy) {
    static constexpr const char *names[] = {"Faults", "Formats", "Savings", "Effect"},
                                *short_names[] = {"Fault", "Format", "Lazy", "Effect"};
    std::vector<int> there{faults_tab, formats_tab};
    if (state.lesson->uses(takes_savings)) there.push_back(savings_tab);
    if (!roomy) there.push_back(effect_tab);
    const auto called = [&](const auto& all) {
        std::vector<std::string> words;
        for (const int tab : there) words.emplace_back(all[tab]);
        return words;
    };
    std::vector<std::string> words = called(names);
    const bool fit = segmented_width(words) <= w;
    if (!fit) words = called(short_names);
    const auto open = std::ranges::find(there, state.break_tab);
    int at = open == there.end() ? 0 : static_cast<int>(open - there.begin());
    const float text = segmented_width(words) <= w ? size::body : size::small;
    if (segmented(c, "##break tab", x, y, words, at, text))
        state.break_tab = there[static_cast<std::size_t>(at)];
    return there[static_cast<std::size_t>(at)];
}

void break_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Break it", a);
    const float x = a.x + 16, w = a.w - 32;
    c.text_within(x, a.y + 28, w - 120, "Break it", 22, 0, Face::semibold);
    const ButtonLook close{.tooltip = "Back to the explanation (X)"};
    if (icon_button(c, "##close break", a.right() - 16 - 32, a.y + 12, 32, 32, Icon::close, close))
        show_side(state, false, false);
    if (state.lesson->faults().empty()) {
        c.paragraph(x, a.y + 64, w,
                    "This lesson has no switches. The tiled lessons, forward and backward, and those that "
                    "merge can be "
                    "broken.",
                    15, c.theme->t2, 6);
        return;
    }
    reset_button(c, state, a.right() - 16 - 40, a.y + 12);
    const bool roomy = a.h >= 560;
    const int tab = break_tabs(c, state, x, a.y + 56, w, roomy);
    const float top = a.y + 104, bottom = a.bottom() - 12,
                effect = roomy ? top + (tab == savings_tab ? 168 : 262) : top;
    if (tab == faults_tab) faults_section(c, state, x, top, w, roomy ? effect - 20 : bottom);
    if (tab == formats_tab) formats_section(c, state, x, top, w);
    if (tab == savings_tab) savings_section(c, state, x, top, w);
    if (roomy) c.line({x, effect - 15.5f}, {x + w, effect - 15.5f}, c.theme->line);
    if (roomy || tab == effect_tab) effect_section(c, state, x, effect, w, bottom);
}

}  // namespace tilewalk::ui
