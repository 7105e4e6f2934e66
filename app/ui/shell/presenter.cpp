// Presenter mode: the step for the back row. Nothing under 27 px on a page of 1280 × 720. The page has the
// same head, formula and timeline in every lesson; the lesson draws the middle.
#include "app/ui/parts/presenter.h"
#include "app/ui/cards/cards.h"
#include "app/ui/kit/items.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include "core/class/spoken.h"

namespace tilewalk::ui {

namespace {

// "0.368 × 1.368 + (1.000 + 0.135)  =  1.639" in one line
Line equation(const Explanation& e) {
    if (e.numbers.empty() || e.result.empty()) return e.result;
    const Line line = pieces(e.numbers, "  =  ", e.result.back());
    const Span& unit = e.result.front();  // "bytes read"
    return unit.face == Span::Face::text ? pieces(line, " " + unit.text) : line;
}

void formula(const Canvas& c, const AppState& state, const Rect& a) {
    const Explanation& e = state.explanation;
    Line second = equation(e);
    float size = 34;
    while (size > 27 && rich_width(c, second, size) > a.w) size = size > 30 ? 30 : 27;
    // A long dot product says more as its result than cut off in the middle.
    float h = 54 + rich_paragraph_height(c, a.w, second, size, 0, 1.4f);
    if (h > a.h) {
        second = e.result;
        h = 54 + rich_paragraph_height(c, a.w, second, size = 34, 0, 1.4f);
    }
    const float y = a.bottom() - h;
    note_part(c, {a.x - 12, y, a.w + 12, h + 6}, "Explanation");
    c.rich_paragraph(a.x, y, a.w, e.formula, 36, 1, c.theme->t1, 1.4f);
    c.rich_paragraph(a.x, y + 54, a.w, second, size, 0, 0, 1.4f);
}

// For those who have only a mouse: the walk and the way out, while the mouse moves.
void mouse_buttons(const Canvas& c, AppState& state, float W) {
    if (state.mouse_age > presenter_buttons_seconds) return;
    IconRow icon{c, W / 2 - 124, 14, space::far_icon, 6};
    if (icon("##back", Icon::back, {.tooltip = "Back (←)"})) step_backward(state, state.player.level);
    if (icon("##play", state.player.playing ? Icon::pause : Icon::play, {.tooltip = "Play, pause (Space)"}))
        toggle_play(state);
    if (icon("##forward", Icon::forward, {.tooltip = "Forward (→)"})) step_forward(state, state.player.level);
    if (icon("##theme", Icon::theme, {.tooltip = "Theme (T)"})) next_theme(state);
    if (icon("##leave", Icon::close, {.tooltip = "Leave presenter mode (Esc)"})) state.presenter = false;
}

void head(const Canvas& c, const AppState& state, float W) {
    presenter_title(c, state.lesson->title);
    const float counter = c.text(W - 28, 36, str(state.cursor.step + 1) + " / " + str(state.trace->size()),
                                 size::far, c.theme->t2, Face::medium, Align::right);
    broken_pill(c, state, W - 28 - counter - 20, 36, 27);
}

// In the place of the timeline: what one would say, and how far the walk has come.
void subtitle(const Canvas& c, const AppState& state, const Rect& a) {
    const std::string text = spoken(*state.trace, state.cursor.step, state.explanation);
    const float h = paragraph_height(a.w, text, size::far_number, 2, Face::regular, 1.25f);
    c.paragraph(a.x, a.y + (a.h - 14 - h) / 2, a.w, text, size::far_number, c.theme->t1, 2, Face::regular,
                1.25f);
    const float part = px(state.cursor.step + 1) / px(state.trace->size());
    c.progress(a.x, a.bottom() - 4, a.w, 4, part);
}

void timeline(const Canvas& c, AppState& state, const Rect& a) {
    lanes(c, state, a, {.lane = 26, .gap = 10, .name_w = 0, .symbols = false, .heads = false});
}

// What the card of a question or a tour leaves of the page: it takes whole parts, the rest moves together.
struct Stage {
    float top, bottom;
    bool head = true, formula = true, lanes = true;
};
Stage stage_beside(const Canvas& c, const AppState& state, float W, float H) {
    const Rect question = question_band(c, state, W, H), tour = tour_band(c, state, W, H);
    if (question.h > 0) return {0, question.y - 12, true, false, false};
    if (tour.h == 0) return {0, H - 24};
    if (!speaks_of_the_foot(*state.tour)) return {0, tour.y - 12, true, false, false};
    const bool lanes = state.tour->stop().place.name == "Timeline";
    return {tour.bottom() + 12, H - 24, false, !lanes, lanes};
}

}  // namespace

void presenter_view(const Canvas& page, AppState& state, float W, float H) {
    const Theme theme = bright_room(*page.theme);
    Canvas c = page;
    c.theme = &theme;
    const Explanation& e = state.explanation;
    const LessonView& view = lesson_view(*state.lesson);
    const PanelPart part(c, "Presenter", {0, 0, W, H});
    const Stage stage = stage_beside(c, state, W, H);
    const float lanes_h = stage.lanes ? 74 : 0, formula_h = stage.formula ? 144 : 0, gap = 16,
                curve_h = 56;  // α bends below the matrices
    const float foot = stage.bottom - lanes_h, top = stage.head ? 70 : stage.top;
    const Rect strip{24, top, view.presenter_strip ? 228.0f : 0.0f, foot - (stage.lanes ? gap : 0) - top};
    const float x = view.presenter_strip ? 288 : 28, w = W - 28 - x;
    const float scene = stage.head ? 132 : top;
    view.presenter(c, state, strip, {x, scene, w, foot - (stage.formula ? formula_h + 30 : curve_h) - scene});
    if (stage.head) {
        head(c, state, W);
        const float title = c.text(x, 104, e.title, size::far_title, 0, Face::semibold);
        c.text_within(x + title + 20, 109, w - title - 20, e.place, size::far_text, c.theme->t2);
    }
    if (stage.formula) {
        const Rect below{x, foot - formula_h - 10, w, formula_h};
        inspecting(state) ? inspect_presenter(c, state, below) : formula(c, state, below);
    }
    if (stage.lanes) {
        const Rect strip_below{24, foot + 8, W - 52, lanes_h - 8};
        state.settings.subtitles ? subtitle(c, state, {24, foot, W - 48, lanes_h + 8})
                                 : timeline(c, state, strip_below);
    }
    mouse_buttons(c, state, W);
}

}  // namespace tilewalk::ui
