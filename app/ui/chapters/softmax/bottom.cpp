// Below the three algorithms: running values, derivation or proof, and how the quantities are written.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void notation_choice(const Canvas& c, AppState& state, float right, float y, bool brief) {
    static constexpr Notation order[] = {Notation::d_o, Notation::delta_omega, Notation::l_O};
    Options options = latest_problem(state).options;
    int chosen = static_cast<int>(std::find(std::begin(order), std::end(order), options.notation) - order);
    const std::vector<std::string> labels = brief ? std::vector<std::string>{"d′ o′", "δ ω", "ℓ O"}
                                                  : std::vector<std::string>{"m d′ o′", "m δ ω", "m ℓ O"};
    if (!segmented(c, "##notation", right - segmented_width(labels), y, labels, chosen)) return;
    options.notation = order[chosen];
    set_options(state, options);
}

}  // namespace

void softmax_bottom_panel(const Canvas& c, AppState& state, const Rect& a) {
    begin_panel(c, "Running values", a.x, a.y, a.w, a.h);
    SoftmaxPage& page = state.softmax;
    const float y = a.y + 8;
    if (segmented(c, "##softmax tab", a.x + 12, y, {"Running values", "Derivation", "Proof"}, page.tab))
        page.line = 0;
    float right = a.right() - 12;
    const bool brief = a.w < 900;
    notation_choice(c, state, right, y, brief);
    right -= segmented_width(brief ? std::vector<std::string>{"d′ o′", "δ ω", "ℓ O"}
                                   : std::vector<std::string>{"m d′ o′", "m δ ω", "m ℓ O"}) +
             16;
    const int d = state.problem->d();
    const float tabs = a.x + 12 + segmented_width({"Running values", "Derivation", "Proof"}) + 16;
    if (d > 1 && right - 122 > tabs) {
        const float w = 122;
        if (stepper(c, "##component", right - w, y, w, page.component, 0, d - 1)) {
            state.col = -1;  // the formula follows
            refresh_explanation(state);
        }
        const char* words = right - w - 8 - tabs > 170 ? "column of V and the output" : "column";
        if (right - w - 8 - text_width(Face::regular, 14, words) > tabs)
            c.text(right - w - 8, y + 16, words, 14, c.theme->t2, Face::regular, Align::right);
    }
    const Rect inner{a.x + 16, y + 40, a.w - 32, a.bottom() - y - 46};
    if (page.tab == SoftmaxPage::values)
        softmax_values(c, state, inner);
    else
        softmax_arguments(c, state, inner);
    end_panel(c);
}

}  // namespace tilewalk::ui
