// Derivation and proof: their lines at the left, the chosen one at the right with the numbers of this row.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float least_row = 17;

// A field for one line of the argument; true if it is the chosen one.
bool choice(const Canvas& c, AppState& state, int n, const Rect& a) {
    const Theme& t = *c.theme;
    const bool chosen = n == state.softmax.line;
    const Hot hot = hot_area(c, "##line " + str(n + 1), a.x, a.y, a.w, a.h);
    if (chosen || hot.hovered || hot.focused)
        c.rect(a.x, a.y, a.w, a.h, chosen ? t.raised : mix(t.panel, t.raised, .5f), 5);
    if (hot.clicked) state.softmax.line = n;
    return chosen;
}

// The titles, one under the other; the chosen one is marked.
void title_list(const Canvas& c, AppState& state, const std::vector<Argument>& lines, const Rect& a) {
    const Theme& t = *c.theme;
    const float row = std::min(26.0f, a.h / px(lines.size()));
    for (std::size_t n = 0; n < lines.size(); ++n) {
        const float y = a.y + px(n) * row, mid = y + row / 2 - .5f;
        const bool chosen = choice(c, state, static_cast<int>(n), {a.x, y, a.w, row - 1});
        c.text(a.x + 8, mid, str(n + 1), size::small, chosen ? t.t1 : t.t3, Face::semibold);
        c.text_within(a.x + 26, mid, a.w - 32, lines[n].title, size::small, chosen ? t.t1 : t.t2,
                      chosen ? Face::medium : Face::regular);
    }
}

// In a low window: their numbers in one row, and the title of the chosen one.
void title_numbers(const Canvas& c, AppState& state, const std::vector<Argument>& lines, const Rect& a) {
    const Theme& t = *c.theme;
    const float w = std::min(26.0f, a.w / px(lines.size()));
    for (std::size_t n = 0; n < lines.size(); ++n) {
        const float x = a.x + px(n) * w;
        const bool chosen = choice(c, state, static_cast<int>(n), {x, a.y, w - 1, 26});
        c.text(x + w / 2, a.y + 13, str(n + 1), size::small, chosen ? t.t1 : t.t2, Face::semibold,
               Align::center);
    }
    const int rows = std::max(1, static_cast<int>((a.h - 32) / 19));
    c.paragraph(a.x + 4, a.y + 32, a.w - 4, lines[static_cast<std::size_t>(state.softmax.line)].title,
                size::body, t.t1, rows, Face::medium, 1.3f);
}

void argument_titles(const Canvas& c, AppState& state, const std::vector<Argument>& lines, const Rect& a) {
    if (a.h >= least_row * px(lines.size())) return title_list(c, state, lines, a);
    title_numbers(c, state, lines, a);
}

// "1.368 × exp(1 − 2) + exp(2 − 2)  =  1.503"; lines break between the terms.
Line equation(const Argument& a) {
    Line line = a.numbers;
    if (line.empty()) return a.result;
    for (Span& span : line)
        if (span.text == " × " || span.text == " − ")
            span.text = "\u00A0" + span.text.substr(1, span.text.size() - 2) + "\u00A0";
    line.push_back(word(std::string("  ") + sign_before(a.numbers, a.result.back().text) + "\u00A0\u00A0"));
    line.push_back(a.result.back());
    return line;
}

void card(const Canvas& c, const Argument& a, const Rect& r) {
    const Theme& t = *c.theme;
    c.well(r.x, r.y, r.w, r.h);
    const float x = r.inner_x(), w = r.inner_w();
    const bool tight = r.h < 150;
    const float gap = tight       ? 2.0f
                      : r.h > 185 ? 14.0f
                                  : 7.0f,
                words = tight       ? 13.0f
                        : r.h > 185 ? 15.0f
                                    : 14.0f;
    const float why = paragraph_height(w, a.why, words, 0, Face::regular, size::lines);
    float y = r.y + (tight ? 6.0f : gap + 2);
    y += c.rich_paragraph(x, y, w, a.formula, fitting_size(c, a.formula, w, {18, 17, 15}), 2, t.t1,
                          size::lines) +
         gap;
    Line line = equation(a);
    float size = fitting_size(c, line, w, {18, 17, 16, 15, 14, 13});
    // On stage nobody can open the rest of it: what it comes to, and the whole sentence.
    const float room = r.bottom() - y - gap - why - 3;
    if (far_type() && rich_paragraph_height(c, w, line, size, 0, size::lines) > room)
        line = a.result, size = fitting_size(c, line, w, {18, 15, 13});
    const int least = rich_width(c, line, size) > w ? 2 : 1;
    const int rows = std::clamp(static_cast<int>((r.bottom() - y - gap - why - 4) / (size * 1.4f)), least, 4);
    y += c.rich_paragraph(x, y, w, line, size, rows, 0, size::lines) + gap;
    const int most = std::max(1, static_cast<int>((r.bottom() - 3 - y) / (words * 1.4f)));
    c.paragraph(x, y, w, a.why, words, t.t2, most, Face::regular, size::lines);
}

// The row in miniature with the cut, which can be dragged.
void cut_strip(const Canvas& c, AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    const Theme& t = *c.theme;
    const int N = walk.N(), split = state.softmax.split;
    const float cw = a.w / px(N), x = a.x + cw * px(split);
    const ImU32 hue_x = hue(t, Role::S);
    for (int j = 0; j < N && cw >= 3; ++j) {
        const double v = walk.trace.live(Slot::x, j, 0).value->data(0, 0);
        const float gap = cw > 12 ? 2.0f : .5f, left = a.x + cw * px(j) + gap;
        const ImU32 fill = mix(t.panel, hue_x, j < split ? .34f : .14f);
        c.rect(left, a.y, cw - 2 * gap, a.h, fill, std::min(4.0f, cw / 4));
        if (std::isinf(v)) c.crossed(left + 1, a.y + 1, cw - 2 * gap - 2, a.h - 2, t.line2);
        const std::string text = format_short(v, 3);
        if (text_width(Face::mono, size::small, text) <= cw - 8)
            c.text(left + cw / 2 - gap, a.middle(), text, size::small, ink_on(t, fill), Face::mono,
                   Align::center);
    }
    if (cw < 3) {
        c.rect(a.x, a.y, a.w, a.h, mix(t.panel, hue_x, .14f), radius::bar);
        c.rect(a.x, a.y, x - a.x, a.h, mix(t.panel, hue_x, .34f), radius::bar);
    }
    const float handle = std::clamp(x, a.x + 1, a.right() - 1);
    c.line({handle, a.y - 5}, {handle, a.bottom() + 5}, t.focus, 2.4f);
    c.disc(handle, a.y - 5, 4, t.focus);
    const Hot hot = hot_area(c, "##cut", a.x - 4, a.y - 8, a.w + 8, a.h + 14);
    drop_focus_stop();  // S moves it
    if (hot.hovered) tooltip(c, "Drag the cut (S, Shift S)");
    if (hot.held)
        state.softmax.split = std::clamp(static_cast<int>(std::round((c.mouse().x - a.x) / cw)), 0, N);
}

// On stage the chosen line alone, as wide as the page.
void stage_argument(const Canvas& c, AppState& state, const SoftmaxWalk& walk,
                    const std::vector<Argument>& lines, const Rect& a) {
    const Argument& line = lines[static_cast<std::size_t>(state.softmax.line)];
    const std::string place = str(state.softmax.line + 1) + " of " + str(lines.size());
    const bool proof = state.softmax.tab == SoftmaxPage::proof;
    const float top = a.y + (proof ? 7 : 0), strip = 200;
    const float w = c.text(a.x + 4, top + 9, place, size::small, c.theme->t2);
    const float room = a.w - w - 24 - (proof ? strip + 16 : 0);
    c.text_within(a.x + w + 18, top + 9, room, line.title, size::body, 0, Face::semibold);
    // The handle of the cut stands out above and below.
    if (proof) cut_strip(c, state, walk, {a.right() - strip - 4, top + 2, strip, 15});
    card(c, line, {a.x, top + 22 + (top - a.y), a.w, a.bottom() - top - 22 - (top - a.y)});
}

}  // namespace

void softmax_arguments(const Canvas& c, AppState& state, const Rect& a) {
    SoftmaxPage& page = state.softmax;
    const SoftmaxWalk walk = softmax_walk(state);
    const bool proof = page.tab == SoftmaxPage::proof;
    if (page.split < 0 || page.split > walk.N()) page.split = walk.N() / 2;
    const int n = walk.element() > 0 ? walk.element() : walk.k == 0 ? 1 : walk.N();
    const std::vector<Argument> lines = proof ? softmax_proof(*state.problem, page.split, page.component)
                                              : softmax_derivation(*state.problem, n, page.component);
    page.line = std::clamp(page.line, 0, static_cast<int>(lines.size()) - 1);
    if (far_type()) return stage_argument(c, state, walk, lines, a);
    const float left = std::clamp(a.w * .26f, 190.0f, 300.0f);
    float y = a.y;
    if (proof) {
        const float strip = a.h < 150 ? 18 : 26;
        cut_strip(c, state, walk, {a.x + 4, y + 7, left - 8, strip});
        y += strip + 16;
    } else if (a.h > 190) {
        c.text_within(a.x + 8, y + 9, left - 8, "at element " + str(n - 1), size::small, c.theme->t3);
        y += 24;
    }
    argument_titles(c, state, lines, {a.x, y, left, a.bottom() - y});
    card(c, lines[static_cast<std::size_t>(page.line)], {a.x + left + 14, a.y, a.w - left - 14, a.h - 4});
}

}  // namespace tilewalk::ui
