// The start page on stage: the picture of the algorithm, the moments of a lecture, and where to begin.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/start.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/tour.h"

#include <cmath>

namespace tilewalk::ui {

namespace {

void moments_row(const Canvas& c, AppState& state, const Rect& a) {
    const float count = px(moments().size()), gap = 12, w = (a.w - gap * (count - 1)) / count;
    float x = a.x;
    for (const Moment& moment : moments()) {
        if (moment_card(c, start_page(state), moment, {x, a.y, w, a.h}, true)) go_to_moment(state, moment);
        x += w + gap;
    }
}

void foot(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const float gap = 12, w = (a.w - 2 * gap) / 3;
    if (key_button(c, page, "##start tour", {a.x, a.y, w, a.h},
                   state.tour ? "Leave the tour" : "Start the tour", "U", true,
                   "A guided tour from stop to stop (U)"))
        toggle_tour(state);
    const std::string left = state.start.left ? continue_label(state) : "The worked example";
    if (key_button(c, page, "##continue", {a.x + w + gap, a.y, w, a.h}, left.c_str(),
                   state.start.left ? "Enter" : "3", false, "Back to where you were (Enter)")) {
        if (state.start.left)
            continue_from_start(state);
        else
            state.page = Page::walk;
    }
    if (key_button(c, page, "##find", {a.x + 2 * (w + gap), a.y, w, a.h}, "Find anything", "Ctrl K", false,
                   "Any action, lesson, example, fault or term (Ctrl K)"))
        state.finder = std::make_shared<Finder>();
}

}  // namespace

void start_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    PresenterPage page(canvas, state, W, H, "FlashAttention in one picture", W - 250);
    page.back = "Previous lesson", page.forward = "Next lesson";
    page.move = [&](int by) { next_lesson(state, by); };
    page.subject("Tilewalk");
    start_page(state).spots.clear();
    const float x = space::far_edge, w = W - 2 * x;
    if (H < from::presenter_page) {  // the card of a tour has the rest
        draw_algorithm(page.c, state, {x, 72, w, H - 72 - 12}, true);
        return;
    }
    constexpr float top = 68, foot_h = 52, gap = 10, edge = 16;
    const float foot_y = H - edge - foot_h, moments_h = std::floor(H * .25f),
                moments_y = foot_y - gap - moments_h;
    draw_algorithm(page.c, state, {x, top, w, moments_y - gap - top}, true);
    moments_row(page.c, state, {x, moments_y, w, moments_h});
    foot(page.c, state, {x, foot_y, w, foot_h});
}

}  // namespace tilewalk::ui
