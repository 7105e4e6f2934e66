// One of the algorithms: its passes over the row, and what it knows by now.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct FormWords {
    const char *title, *subtitle;
    const char* passes[3];
};
const FormWords& words_of(SoftmaxForm form) {
    static constexpr FormWords table[] = {
        {"Textbook", "no maximum", {"sum", "output", ""}},
        {"Three passes", "safe softmax", {"max", "sum", "output"}},
        {"Two passes", "online softmax", {"max + sum", "output", ""}},
        {"One pass", "FlashAttention", {"max + sum + output", "", ""}},
    };
    return table[static_cast<std::size_t>(form)];
}

MatrixDigits digits_of_scores(const SoftmaxWalk& walk) {
    MatrixDigits all;
    for (int j = 0; j < walk.N(); ++j) all.take(walk.trace.live(Slot::x, j, 0).value->data(0, 0));
    return all;
}

// Elements of x that this pass has read: filled; the current one: dashed; the rest: empty frames.
void elements(const Canvas& c, const SoftmaxWalk& walk, int pass, const Rect& a) {
    const Theme& t = *c.theme;
    const Step& step = walk.step();
    const bool here = step.phase == pass, past = pass < step.phase;
    const int last = static_cast<int>(walk.trace.size()) - 1;
    const bool over = here && step.j < 0 && (walk.k == last || step.op == Op::normalize);
    const int done = past || over ? walk.N() : here ? std::max(0, step.j + (step.j < 0 ? 0 : 1)) : 0;
    const float cw = std::min(46.0f, a.w / px(walk.N())), x0 = a.right() - cw * walk.N();
    if (cw < 6) {  // too many to be told apart
        c.rect(a.x, a.y + 4, a.w, a.h - 8, t.well, radius::bar);
        c.rect(a.x, a.y + 4, a.w * px(done) / px(walk.N()), a.h - 8, mix(t.panel, hue(t, Role::S), .4f),
               radius::bar);
        return;
    }
    const float gap = cw > 20 ? 2.0f : cw > 8 ? 1.0f : .5f;
    const MatrixDigits all = digits_of_scores(walk);
    bool numbers = cw >= 28 && a.h >= 18;
    for (int j = 0; j < walk.N() && numbers; ++j)
        numbers =
            text_width(Face::mono, size::small,
                       all.text(walk.trace.live(Slot::x, j, 0).value->data(0, 0), 3)) <= cw - 2 * gap - 4;
    for (int j = 0; j < walk.N(); ++j) {
        const double x = walk.trace.live(Slot::x, j, 0).value->data(0, 0);
        const Rect b{x0 + px(j) * cw + gap, a.y, cw - 2 * gap, a.h};
        const bool now = here && step.j == j;
        const ImU32 fill = now ? mix(t.panel, hue(t, Role::S), .45f) : j < done ? t.raised : t.well;
        c.rect(b.x, b.y, b.w, b.h, fill, std::min(4.0f, b.w / 4));
        if (now && cw > 16)
            c.dashed_frame(b.x + 1, b.y + 1, b.w - 2, b.h - 2, hue(t, Role::S), 2, {5, 3});
        else if (j >= done && cw > 7)
            c.frame(b.x + .5f, b.y + .5f, b.w - 1, b.h - 1, t.line, 1, std::min(4.0f, b.w / 4));
        if (std::isinf(x) && cw > 7) c.crossed(b.x + 2, b.y + 2, b.w - 4, b.h - 4, t.line2);
        if (numbers)
            c.text(b.x + b.w / 2, b.middle(), all.text(x, 3), size::small,
                   now || j < done ? ink_on(t, fill) : ink_on(t, fill, true), Face::mono, Align::center);
    }
}

// Title, and a click on it leads to that lesson, at the step that is shown here.
void head(const Canvas& c, AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    const FormWords& about = words_of(walk.form);
    const Line reads = reads_of_x(walk.passes * walk.N());
    const float right = rich_width(c, reads, size::body), y = a.y + 21;
    c.rich(a.right() - 14, y, reads, size::body, Align::right);
    const float room = a.w - 28 - right - 10;
    const float w = c.text_within(a.x + 14, y, room, about.title, size::lead, 0, Face::semibold);
    if (text_width(Face::regular, size::body, about.subtitle) <= room - w - 10)
        c.text(a.x + 24 + w, y + .5f, about.subtitle, size::body, c.theme->t3);
    if (walk.live) return;
    const Lesson& lesson = softmax_lesson(walk.form);
    const std::string id = std::string("##") + lesson.id;
    const Hot hot = hot_area(c, id, a.x + 6, a.y + 4, a.w - 12, 32);
    if (hot.hovered || hot.focused) c.frame(a.x + 6, a.y + 5, a.w - 12, 31, c.theme->line2, 1, 8);
    if (hot.hovered) tooltip(c, "Walk through this one");
    if (!hot.clicked) return;
    state.left_at[lesson.id] = walk.k;
    set_lesson(state, lesson);
}

// When the output is divided: only one pass has the choice.
void form_choice(const Canvas& c, AppState& state, const Rect& a) {
    Options options = latest_problem(state).options;
    int form = options.normalised ? 0 : 1;
    const float w = segmented_width({"at every element", "at the end"}, size::small);
    const bool full = w <= a.w;
    if (a.h < 32) return;
    const float y = a.bottom() - 32;
    const bool labelled = a.h >= 56;
    if (labelled) c.text(a.x, y - 12, "divide by the sum", size::small, c.theme->t2);
    const char* each = full ? "at every element" : "each time";
    if (!segmented(c, "##form", a.x, y, {each, "at the end"}, form, size::small)) return;
    options.normalised = form == 0;
    set_options(state, options);
}

}  // namespace

const char* form_title(SoftmaxForm form) { return words_of(form).title; }

void softmax_pass_panel(const Canvas& c, AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    const FormWords& about = words_of(walk.form);
    const Panel panel(c, about.title, a);
    const Theme& t = *c.theme;
    if (walk.live) c.frame(a.x + 1, a.y + 1, a.w - 2, a.h - 2, t.t2, 1.6f, radius::panel);
    head(c, state, walk, a);
    const bool low = a.h < 180;
    const float card_h = low ? 32.0f : a.h < 240 ? 40.0f : 50.0f, known_h = low ? 0.0f : 26.0f;
    const float cards_y = a.bottom() - 12 - card_h, line = cards_y - known_h - (low ? 5 : 9);
    const float first = a.y + 40, room = line - 4 - first;
    const float row = std::min(38.0f, room / 3), cell_h = std::min(28.0f, row - 4);

    float names = 0;
    for (int pass = 0; pass < walk.passes; ++pass)
        names = std::max(names, text_width(Face::medium, size::body, about.passes[pass]));
    const float name_x = a.x + 34, cells_x = std::min(name_x + names + 12, a.x + a.w * .6f);
    for (int pass = 0; pass < walk.passes; ++pass) {
        const float y = first + px(pass) * row + row / 2;
        const bool now = walk.step().phase == pass, future = walk.step().phase < pass;
        const ImU32 ink = now ? t.t1 : future ? t.t3 : t.t2;
        c.text(a.inner_x(), y, str(pass + 1), size::body, ink, Face::semibold);
        const char* name = about.passes[pass];
        if (text_width(Face::medium, size::body, name) > cells_x - name_x - 4)
            name = walk.passes == 1 ? "all three" : name;
        c.text_within(name_x, y, cells_x - name_x - 4, name, size::body, ink,
                      now ? Face::medium : Face::regular);
        elements(c, walk, pass, {cells_x, y - cell_h / 2, a.right() - 14 - cells_x, cell_h});
    }
    if (walk.passes == 1) {
        const float y = first + row + 2;
        form_choice(c, state, {a.inner_x(), y, a.inner_w(), line - 6 - y});
    }

    if (!low) {
        rule(c, a, line, 14);
        const int reads = walk.reads();
        c.text_within(a.inner_x(), line + 16, a.inner_w(),
                      reads == 0 ? std::string("Before the first read")
                                 : "Known after " + counted(reads, "read"),
                      size::small, t.t2);
    }
    const float gap = a.w < 260 ? 5.0f : 8.0f, w = (a.w - 24 - 2 * gap) / 3;
    for (int which = 0; which < 3; ++which)
        draw_card(c, {a.x + 12 + px(which) * (w + gap), cards_y, w, card_h}, softmax_card(state, walk, which),
                  low || w < 92 ? 15.0f : 17.0f);
}

}  // namespace tilewalk::ui
