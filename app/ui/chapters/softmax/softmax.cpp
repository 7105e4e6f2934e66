// The softmax lessons: the row of x and V, the three algorithms side by side, and below them running values,
// derivation or proof, and how the quantities are written.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Returns the width that it took.
float notation_choice(const Canvas& c, AppState& state, float right, float y, bool brief) {
    static constexpr Notation order[] = {Notation::d_o, Notation::delta_omega, Notation::l_O};
    Options options = latest_problem(state).options;
    int chosen = static_cast<int>(std::ranges::find(order, options.notation) - order);
    std::vector<std::string> labels = {"m d′ o′", "m δ ω", "m ℓ O"};
    if (brief) labels = {"d′ o′", "δ ω", "ℓ O"};
    const float w = segmented_width(labels);
    if (segmented(c, "##notation", right - w, y, labels, chosen)) {
        options.notation = order[chosen];
        set_options(state, options);
    }
    return w;
}

void bottom_panel(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Running values", a);
    SoftmaxPage& page = state.softmax;
    const float y = a.y + 8;
    const std::vector<std::string> names = {"Running values", "Derivation", "Proof"};
    if (segmented(c, "##softmax tab", a.x + 12, y, names, page.tab)) page.line = 0;
    float right = a.right() - space::control_edge;
    right -= notation_choice(c, state, right, y, a.w < 900) + 16;
    const int d = state.problem->d();
    const float tabs = a.x + 12 + segmented_width(names) + 16;
    if (d > 1 && right - 122 > tabs) {
        const float w = 122;
        if (stepper(c, "##component", right - w, y, w, page.component, 0, d - 1)) {
            state.col = -1;  // the formula follows
            refresh_explanation(state);
        }
        const char* words = right - w - 8 - tabs > 170 ? "column of V and the output" : "column";
        if (right - w - 8 - text_width(Face::regular, size::body, words) > tabs)
            c.text(right - w - 8, y + 16, words, size::body, c.theme->t2, Align::right);
    }
    const Rect inner{a.inner_x(), y + 40, a.inner_w(), a.bottom() - y - 46};
    if (page.tab == SoftmaxPage::values)
        softmax_values(c, state, inner);
    else
        softmax_arguments(c, state, inner);
}

}  // namespace

void softmax_main(const Canvas& c, AppState& state, const Layout& layout) {
    follow_component(state);
    const Rect& a = layout.main;
    const float gap = a.h < 450 ? 8.0f : 12.0f;
    const float top = std::clamp(a.h * .165f, 76.0f, 112.0f);
    const float middle = std::clamp(a.h * .36f, 148.0f, 280.0f);
    softmax_row_panel(c, state, {a.x, a.y, a.w, top});
    const float w = (a.w - 2 * gap) / 3, y = a.y + top + gap;
    // The textbook's way stands beside the two that are next to it.
    using enum SoftmaxForm;
    const bool textbook = softmax_form(*state.trace) == dense;
    const SoftmaxForm forms[] = {textbook ? dense : three_passes, textbook ? three_passes : two_passes,
                                 textbook ? two_passes : one_pass};
    for (int n = 0; n < 3; ++n)
        softmax_pass_panel(c, state, softmax_walk(state, forms[n]), {a.x + px(n) * (w + gap), y, w, middle});
    const float below = y + middle + gap;
    bottom_panel(c, state, {a.x, below, a.w, a.bottom() - below});
}

}  // namespace tilewalk::ui
