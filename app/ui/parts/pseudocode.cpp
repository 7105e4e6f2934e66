#include "app/ui/parts/pseudocode.h"

#include "app/ui/state/app_state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float least_code_row = 15, part_code_row = 19;

struct FittedCode {
    std::string text;
    float size;
};

// A line that is too long has smaller letters; then it loses its remark.
FittedCode fitted_code(const std::string& text, float room, Face face) {
    constexpr float usual = 13, least = 11;
    for (const std::string& words : {text, std::string(without_remark(text))})
        for (float size = usual; size >= least; size -= .5f)
            if (text_width(face, size, words) <= room) return {words, size};
    return {text, least};
}

// Pseudocode with the current line; the combining tilde is drawn by the canvas.
void lines(const Canvas& c, const AppState& state, const Rect& a) {
    const Theme& t = *c.theme;
    const std::vector<ShownCode> shown = shown_code(*state.lesson, *state.problem);
    // A long algorithm shows the part round its current line, and that with more air.
    const bool whole = px(shown.size()) * least_code_row <= a.h;
    const std::size_t fit =
        whole ? shown.size()
              : std::min(shown.size(), static_cast<std::size_t>(std::max(1.0f, a.h / part_code_row)));
    std::size_t first = 0;
    while (first + fit < shown.size() && shown[first + fit / 2].line < state.explanation.code_line) ++first;
    const float row = std::min(22.0f, a.h / px(fit)), indent = 15;
    float at = a.y;
    // What is left out above and below is said in the place of the first and the last line.
    const bool says = fit >= 5;
    const std::size_t above = says && first > 0 ? first + 1 : 0,
                      below = says && first + fit < shown.size() ? shown.size() - first - fit + 1 : 0;
    for (std::size_t place = first; place < first + fit; ++place) {
        const ShownCode& code = shown[place];
        if ((above && place == first) || (below && place == first + fit - 1)) {
            c.text(a.x + 12, at + row / 2,
                   "… " + counted(place == first ? above : below, "line") +
                       (place == first ? " above" : " below"),
                   size::small, t.t3);
            at += row;
            continue;
        }
        const bool current = code.line == state.explanation.code_line;
        const float y = at, x = a.x + 12 + indent * px(code.indent);
        at += row;
        if (current) c.rect(a.x, y, a.w, row, t.t1, 5);
        for (int level = 0; level < code.indent && !current; ++level) {
            const float guide = a.x + 15 + indent * px(level);
            c.line({guide + .5f, y}, {guide + .5f, y + row}, t.line);
        }
        const Face face = current ? Face::mono_bold : Face::mono;
        const FittedCode fitted = fitted_code(code.text, a.right() - x - 4, face);
        c.text_within(x, y + row / 2, a.right() - x - 4, fitted.text, fitted.size, current ? t.inv : t.t2,
                      face);
    }
}

float height_of(const AppState& state, float panel_h) {
    return px(state.lesson->code(*state.problem).size()) * (panel_h > 700 ? 22.0f : 20.0f);
}

}  // namespace

std::vector<ShownCode> shown_code(const Lesson& lesson, const Problem& problem) {
    std::vector<ShownCode> shown;
    int line = 0;
    for (const CodeLine& code : lesson.code(problem)) {
        if (!code.if_masked() || problem.causal || problem.window) {
            std::string text = replaced(code.text, "Tr−1", str(problem.Tr() - 1));
            text = replaced(std::move(text), "Tc−1", str(problem.Tc() - 1));
            if (problem.softmax_scale() == 1) text = replaced(std::move(text), "scale · ", "");
            if (problem.logits.softcap) text = replaced(std::move(text), "dS ← P", "dS_cap ← P");
            shown.push_back({line, code.indent, std::move(text)});
        }
        ++line;
    }
    return shown;
}

float pseudocode(const Canvas& c, const AppState& state, const Rect& a, float panel_h) {
    const float h = std::min(height_of(state, panel_h), a.h);
    lines(c, state, {a.x, a.y, a.w, h});
    return a.y + h;
}

float least_pseudocode_height(const AppState& state) {
    return 18 + 12 + px(shown_code(*state.lesson, *state.problem).size()) * least_code_row;
}

void pseudocode_below(const Canvas& c, const AppState& state, const Rect& a, float y) {
    const std::size_t count = state.lesson->code(*state.problem).size();
    const float code_y = y + 18, left = a.bottom() - 12 - code_y;
    // The current line between its neighbours is worth the room.
    if (left < px(std::min<std::size_t>(count, 3)) * part_code_row) return;
    const float code_h = height_of(state, a.h), top = std::max(code_y, a.bottom() - 12 - code_h);
    c.line({a.x + 16, top - 9.5f}, {a.right() - 16, top - 9.5f}, c.theme->line);
    lines(c, state, {a.x + 12, top, a.w - 24, std::min(code_h, left)});
}

}  // namespace tilewalk::ui
