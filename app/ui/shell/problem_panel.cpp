// The problem: choose, change, load, save. Every change rebuilds the trace at once.
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/inputs.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/problem/heads.h"
#include "core/problem/logits.h"

#include <algorithm>
#include <cstdio>

namespace tilewalk::ui {

namespace {

// A copy of the problem, changed by `change`, becomes the problem.
template <class Change> void change_problem(AppState& state, Change change) {
    Problem changed = latest_problem(state);
    change(changed);
    if (changed.element_bytes == latest_problem(state).element_bytes) mark_changed(changed);
    set_problem(state, std::move(changed));
}

void tiles_section(const Canvas& c, AppState& state, float x, float y, float w) {
    const Problem& p = *state.problem;
    const float half = (w - 16) / 2;
    c.text(x, y, "Br, query rows", 14, c.theme->t2);
    c.text(x + half + 16, y, "Bc, key rows", 14, c.theme->t2);
    int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    if (stepper(c, "##Br", x, y + 14, half, Br, 1, p.N()))
        change_problem(state, [&](Problem& q) { q.Br = Br; });
    if (stepper(c, "##Bc", x + half + 16, y + 14, half, Bc, 1, p.N_kv()))
        change_problem(state, [&](Problem& q) { q.Bc = Bc; });
}

void mask_section(const Canvas& c, AppState& state, float x, float y, float w) {
    const Problem& p = *state.problem;
    bool causal = p.causal, windowed = p.window.has_value();
    if (checkbox(c, "##causal", x, y, "Causal mask", causal))
        change_problem(state, [&](Problem& q) { q.causal = causal; });
    if (checkbox(c, "##windowed", x + w / 2, y, "Window", windowed))
        change_problem(state, [&](Problem& q) {
            q.window = windowed ? std::optional<int>(std::max(1, q.N_kv() / 4)) : std::nullopt;
        });
    if (state.problem->window) {
        int window = *state.problem->window;
        if (stepper(c, "##window", x + w / 2 + 86, y - 16, w / 2 - 86, window, 0, 9999))
            change_problem(state, [&](Problem& q) { q.window = window; });
    }
}

void scale_section(const Canvas& c, AppState& state, float x, float y, float w) {
    const Problem& p = *state.problem;
    c.text(x, y, "Scale", 14, c.theme->t2);
    int kind = static_cast<int>(p.scale.kind);
    if (segmented(c, "##scale", x + 62, y - 16, {"1", "1/√d", "number"}, kind)) {
        change_problem(state, [&](Problem& q) {
            q.scale.number = q.softmax_scale(), q.scale.kind = static_cast<Scale::Kind>(kind);
        });
        std::snprintf(state.form.scale, sizeof state.form.scale, "%g", state.problem->scale.number);
    }
    if (state.problem->scale.kind != Scale::Kind::number) return;
    const float at = x + 62 + segmented_width({"1", "1/√d", "number"}) + 8;
    if (state.form.scale[0] == 0)
        std::snprintf(state.form.scale, sizeof state.form.scale, "%g", p.scale.number);
    FieldLook look{.face = Face::mono};
    const auto number = number_in<double>(state.form.scale);
    look.invalid = !number;
    const FieldResult field = text_field(c, "##scale number", at, y - 16, x + w - at, 32, state.form.scale,
                                         sizeof state.form.scale, look);
    if ((field.entered || field.left) && number && *number != p.scale.number)
        change_problem(state, [&](Problem& q) { q.scale.number = *number; });
}

// Softcap, ALiBi slope: each on or off, its number, and what it does.
void logit_section(const Canvas& c, AppState& state, const LogitChange& change, LogitField& field, float x,
                   float y, float w) {
    const std::string name = change.name;
    const auto now = state.problem->logits.*change.value;
    bool on = now.has_value();
    if (checkbox(c, ("##" + name).c_str(), x, y, change.title, on))
        change_problem(state, [&](Problem& q) {
            q.logits.*change.value = on ? std::optional(change.usual) : std::nullopt;
        });
    c.text_within(x + 28, y + 26, w - 28, change.what, size::small, c.theme->t3);
    if (!now) return;
    if (!field.typed) std::snprintf(field.text, sizeof field.text, "%g", *now);
    const auto number = number_in<double>(field.text);
    const FieldLook look{.invalid = !number, .face = Face::mono};
    const FieldResult result = text_field(c, ("##" + name + " number").c_str(), x + w - 96, y - 16, 96, 32,
                                          field.text, sizeof field.text, look);
    field.typed = result.active;
    if ((result.entered || result.left) && number && *number != *now)
        change_problem(state, [&](Problem& q) { q.logits.*change.value = *number; });
}

void scores_tab(const Canvas& c, AppState& state, float x, float y, float w) {
    std::size_t n = 0;
    for (const LogitChange& change : logit_changes()) {
        logit_section(c, state, change, state.form.logits[n++], x, y + 8, w);
        y += 64;
    }
    y += c.paragraph(x, y + 4, w, "In this order: scale, softcap, bias, mask, maximum.", size::small,
                     c.theme->t3, 2) +
         28;
    const Problem& p = *state.problem;
    const int H = query_heads(p), H_kv = key_heads(p);
    const std::string heads = p.heads ? "Head " + str(shown_head(p)) + " of " + str(H) + ", " + str(H_kv) +
                                            (H_kv == 1 ? " key head" : " key heads")
                                      : std::string("One head");
    const float button_w = button_width("Heads");
    c.text_within(x, y + 16, w - button_w - 12, heads, size::body, c.theme->t2);
    if (button(c, "##heads card", x + w - button_w, y, button_w, 32, "Heads",
               {.tooltip = "All heads: which share K and V (Shift H)"}))
        state.heads.open = true;
}

void bytes_section(const Canvas& c, AppState& state, float x, float y, float w) {
    static constexpr int sizes[] = {4, 2, 1};
    c.text(x, y, "Element", 14, c.theme->t2);
    int at = static_cast<int>(std::ranges::find(sizes, state.problem->element_bytes) - std::begin(sizes));
    std::vector<std::string> labels{"4 B fp32", "2 B fp16", "1 B fp8"};
    if (62 + segmented_width(labels, 13) > w) labels = {"4 B", "2 B", "1 B"};
    if (segmented(c, "##bytes", x + 62, y - 16, labels, at, 13))
        change_problem(state, [&](Problem& q) { q.element_bytes = sizes[at]; });
}

// One word for each position, shown beside the rows and columns of S and P.
void words_section(const Canvas& c, AppState& state, float x, float y, float w) {
    c.text(x, y, "Words", 14, c.theme->t2);
    if (!state.form.words_typed) {
        std::snprintf(state.form.words, sizeof state.form.words, "%s",
                      joined(state.problem->tokens, " ").c_str());
    }
    const int positions = std::max(state.problem->N(), state.problem->N_kv());
    const std::string hint =
        positions == 1 ? "a word for the token" : str(positions) + " words, one for each token";
    const FieldResult field = text_field(c, "##words", x + 62, y - 16, w - 62, 32, state.form.words,
                                         sizeof state.form.words, {.hint = hint.c_str(), .size = 14});
    state.form.words_typed = field.active;
    if (field.entered || field.left) set_words(state, state.form.words);
}

void fill_randomly(AppState& state) {
    const ProblemForm& f = state.form;
    auto problem = random_problem(f.random_N, f.random_d, static_cast<std::uint64_t>(f.seed));
    if (!problem) return notify(state, problem.error);
    problem->causal = state.problem->causal;
    problem->window = state.problem->window;
    problem->element_bytes = state.problem->element_bytes;
    set_problem(state, std::move(*problem));
}

void random_section(const Canvas& c, AppState& state, float x, float y, float w) {
    ProblemForm& f = state.form;
    const float third = (w - 12) / 3, field = third - 4;
    c.text(x, y, "N", 14, c.theme->t2);
    c.text(x + third + 6, y, "d", 14, c.theme->t2);
    c.text(x + 2 * (third + 6), y, "Seed", 14, c.theme->t2);
    bool changed = stepper(c, "##N", x, y + 12, field, f.random_N, 1, 4096);
    changed |= stepper(c, "##d", x + third + 6, y + 12, field, f.random_d, 1, 1024);
    changed |= stepper(c, "##seed", x + 2 * (third + 6), y + 12, field, f.seed, 0, most_seed);
    if (changed) fill_randomly(state);
}

std::vector<Slot> shown_inputs(const AppState& state) {
    const std::span<const Slot> own = state.lesson->inputs;
    return own.empty() ? inputs_of(*state.problem) : std::vector<Slot>(own.begin(), own.end());
}

// The part of an input that fits; arrows move it where the matrix is larger.
void matrix_section(const Canvas& c, AppState& state, const Rect& a) {
    const std::vector<Slot> slots = shown_inputs(state);
    std::vector<std::string> names;
    int at = 0;
    for (std::size_t n = 0; n < slots.size(); ++n) {
        names.emplace_back(info(slots[n]).name);
        if (slots[n] == state.form.matrix) at = static_cast<int>(n);
    }
    if (segmented(c, "##matrix", a.x, a.y, names, at, 13)) {
        state.form.matrix = slots[static_cast<std::size_t>(at)];
        state.form.first_row = state.form.first_col = 0;
        state.edit.reset();
    }
    const float beside = segmented_width(names, 13) + 12;
    if (a.w - beside > 90)
        c.text_within(a.x + beside, a.y + 16, a.w - beside, "double-click to type", 13, c.theme->t3);
    const Matrix A = input(*state.lesson, *state.problem, slots[static_cast<std::size_t>(at)]);
    const float top = a.y + 46;
    const int rows = std::clamp(static_cast<int>((a.bottom() - top - 4) / 26), 1, static_cast<int>(A.rows()));
    const int cols = std::clamp(static_cast<int>((a.w - 8) / 52), 1, static_cast<int>(A.cols()));
    int& r0 = state.form.first_row;
    int& c0 = state.form.first_col;
    const ImGuiIO& io = ImGui::GetIO();
    const bool over = Rect{a.x, top, a.w, a.bottom() - top}.contains(c.mouse());
    if (over && io.MouseWheel != 0) (io.KeyShift ? c0 : r0) -= io.MouseWheel > 0 ? 1 : -1;
    r0 = std::clamp(r0, 0, static_cast<int>(A.rows()) - rows);
    c0 = std::clamp(c0, 0, static_cast<int>(A.cols()) - cols);
    const Value shown{A.block(r0, c0, rows, cols), {r0, c0, rows, cols}};
    MatrixLook look;
    look.slot = slots[static_cast<std::size_t>(at)];
    look.value = &shown;
    look.x = a.x + 4, look.y = top + 4;
    look.cw = std::min(56.0f, (a.w - 8) / px(cols));
    look.ch = 26;
    look.size = 13;
    matrix(c, state, look, "panel");
    if (rows == A.rows() && cols == A.cols()) return;
    const std::string part = "rows " + str(r0) + "–" + str(r0 + rows - 1) + " of " + str(A.rows()) +
                             ", columns " + str(c0) + "–" + str(c0 + cols - 1) + " of " + str(A.cols());
    c.text_within(a.x, a.bottom() + 12, a.w, part, 13, c.theme->t3);
}

void file_section(const Canvas& c, AppState& state, float x, float y, float w) {
    const FieldResult field =
        text_field(c, "##path", x, y, w - 2 * 66, 32, state.form.path, sizeof state.form.path,
                   {.hint = "mine.tilewalk.json, q.csv k.csv v.csv", .size = 14});
    ButtonLook plain;
    plain.tooltip =
        "A problem (.json), Q, K and V (q.csv k.csv v.csv), or one matrix for the one chosen above; "
        "files can also be dropped on the window";
    if (button(c, "##load", x + w - 128, y, 62, 32, "Load", plain) || field.entered)
        if (state.hooks.choose_file)
            state.hooks.choose_file();
        else if (state.form.path[0])
            load_files(state, {state.form.path});
    plain.tooltip = "Write the problem as JSON";
    if (button(c, "##save", x + w - 62, y, 62, 32, "Save", plain)) save_file(state, state.form.path);
}

// How the program looks, for those who have no keyboard at hand.
void view_section(const Canvas& c, AppState& state, float x, float y, float w) {
    bool motion = state.settings.motion;
    if (checkbox(c, "##motion", x, y, "Motion", motion)) state.settings.motion = motion;
    const std::string percent = std::to_string(std::lround(state.settings.zoom * 100)) + " %";
    ButtonLook look{.tooltip = "Text and drawing smaller (Ctrl −)"};
    if (icon_button(c, "##smaller", x + w - 120, y - 16, 32, 32, Icon::minus, look)) zoom(state, 1 / 1.1f);
    look.tooltip = "Text and drawing larger (Ctrl +)";
    if (icon_button(c, "##larger", x + w - 32, y - 16, 32, 32, Icon::plus, look)) zoom(state, 1.1f);
    c.text(x + w - 60, y, percent, 14, 0, Face::medium, Align::center);
    c.text(x + w - 132, y, "Size", 14, c.theme->t2, Align::right);
}

// ---- The tabs

void settings_tab(const Canvas& c, AppState& state, float x, float y, float w, float bottom) {
    y += c.paragraph(x, y, w, state.problem->watch, 14, c.theme->t2, 4) + 24;
    tiles_section(c, state, x, y, w);
    y += 76;
    mask_section(c, state, x, y, w);
    y += 44;
    scale_section(c, state, x, y, w);
    y += 44;
    bytes_section(c, state, x, y, w);
    y += 44;
    if (y + 20 <= bottom) words_section(c, state, x, y, w);
    y += 36;
    if (y + 60 > bottom) return;
    c.line({x, y + .5f}, {x + w, y + .5f}, c.theme->line);
    y += 16;
    const Problem& p = *state.problem;
    if (y + 100 <= bottom) {
        const std::string size = "Q " + str(p.N()) + " × " + str(p.d()) + ", K and V " + str(p.N_kv()) +
                                 " × " + str(p.d()) + ": " + str(p.Tr()) + " × " + str(p.Tc()) + " tiles, " +
                                 format_count(state.trace->size()) + " steps.";
        y += c.paragraph(x, y, w, size, 14, c.theme->t2, 3) + 20;
    }
    view_section(c, state, x, y + 10, w);
}

void numbers_tab(const Canvas& c, AppState& state, const Rect& a) {
    c.text(a.x, a.y + 6, "Random numbers", 14, 0, Face::medium);
    const ButtonLook fill{.tooltip = "Q, K and V of these sizes with new random numbers (the next seed)"};
    const float w = button_width("New numbers");
    if (button(c, "##fill", a.right() - w, a.y - 10, w, 32, "New numbers", fill)) {
        ++state.form.seed;
        fill_randomly(state);
    }
    random_section(c, state, a.x, a.y + 34, a.w);
    const float y = a.y + 100, files = a.bottom() - 32;
    c.line({a.x, y + .5f}, {a.right(), y + .5f}, c.theme->line);
    matrix_section(c, state, {a.x, y + 14, a.w, files - 30 - y - 14});
    file_section(c, state, a.x, files, a.w);
}

}  // namespace

void problem_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Problem", a);
    const float x = a.x + 16, w = a.w - 32;
    ButtonLook can{.enabled = !state.undo.empty(), .tooltip = "Undo (Ctrl Z)"};
    c.text_within(x, a.y + 28, w - 128, "Problem", 22, 0, Face::semibold);
    if (icon_button(c, "##undo", a.right() - 16 - 3 * 36, a.y + 12, 32, 32, Icon::undo, can)) undo(state);
    can.enabled = !state.redo.empty();
    can.tooltip = "Redo (Ctrl Y)";
    if (icon_button(c, "##redo", a.right() - 16 - 2 * 36, a.y + 12, 32, 32, Icon::redo, can)) redo(state);
    const ButtonLook close{.tooltip = "Back to the explanation (I)"};
    if (icon_button(c, "##close problem", a.right() - 16 - 32, a.y + 12, 32, 32, Icon::close, close))
        state.show_problem = false;
    int tab = state.form.tab;
    if (segmented(c, "##problem tab", x, a.y + 56, {"Settings", "Scores", "Numbers"}, tab))
        state.form.tab = static_cast<ProblemForm::Tab>(tab);
    switch (state.form.tab) {
    case ProblemForm::settings: return settings_tab(c, state, x, a.y + 104, w, a.bottom() - 12);
    case ProblemForm::scores: return scores_tab(c, state, x, a.y + 104, w);
    case ProblemForm::numbers: return numbers_tab(c, state, {x, a.y + 104, w, a.h - 104 - 12});
    }
}

}  // namespace tilewalk::ui
