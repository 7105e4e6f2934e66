// What the parts of the softmax view share: three lessons side by side at one place of the row.
#pragma once

#include "app/ui/kit/canvas_cell.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"
#include "core/lessons/softmax/softmax.h"

namespace tilewalk::ui {

void softmax_main(const Canvas& canvas, AppState& state, const Layout& layout);
void softmax_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

/// One of the lessons and the step at which it stands.
struct SoftmaxWalk {
    const Trace& trace;
    SoftmaxForm form;
    int k;
    bool live;  ///< the lesson that is shown
    int passes = softmax_passes(form);
    SoftmaxLetters letters = softmax_letters(trace.problem(), form);

    const Step& step() const { return trace.step(k); }
    int N() const { return trace.problem().N_kv(); }
    int row() const { return softmax_row(trace.problem()); }
    int element() const { return step().j + 1; }  ///< from 1; 0 between the elements
    int reads() const;                            ///< of elements of x, up to this step
    double number(Slot slot, int at) const;       ///< what a slot of one number holds after step `at`
};

/// The lesson of this form. The shown one stands at the cursor. The others stand where they have read
/// x as often as the shown one has (those that read it less often are through), at the same kind of step
/// within the element.
SoftmaxWalk softmax_walk(AppState& state, SoftmaxForm form);
/// "Two passes"
const char* form_title(SoftmaxForm form);
/// The lesson that is shown.
SoftmaxWalk softmax_walk(AppState& state);
/// The step of `there` that stands beside step k of `here`, as above.
int linked_step(const Trace& here, int k, const Trace& there);

/// What a lesson knows: the running maximum (0), sum (1) and output (2) in a card.
struct SoftmaxCard {
    Line symbol;
    std::string text, brief;  ///< the number, and with fewer digits; empty: not known yet
    std::string old;          ///< on stage: what it was before this step; empty if it stays
    std::string note;         ///< "pass 2" where it is not known yet
    Role role = Role::none;
    bool written = false;
    float fade = 1;
};
SoftmaxCard softmax_card(const AppState& state, const SoftmaxWalk& walk, int which);
ImU32 card_fill(const Theme& theme, const SoftmaxCard& card);
void draw_card(const Canvas& canvas, const Rect& area, const SoftmaxCard& card, float size);

/// The column of the output that the plots show and the one that the formula is about are the same.
void follow_component(AppState& state);

/// "12 reads of x"
Line reads_of_x(int count);
/// One element of x or of V, as a cell without its number.
struct SoftmaxElement {
    CellRef ref;
    double value;
    CellLook look;
};
/// A score beyond what the format of the walk holds, not one that the mask has hidden.
bool overflowed(const SoftmaxWalk& walk, int j, double score);
SoftmaxElement softmax_element(const AppState& state, const SoftmaxWalk& walk, Slot slot, int j);
/// Elements that fit, around the current one: first (from 0) and how many.
struct ElementWindow {
    int first, count;
};
ElementWindow window_around(int element, int N, int most);

// The parts, one file each
void softmax_row_panel(const Canvas& canvas, AppState& state, const Rect& area);
void softmax_pass_panel(const Canvas& canvas, AppState& state, const SoftmaxWalk& walk, const Rect& area);
void softmax_arguments(const Canvas& canvas, AppState& state, const Rect& area);
void softmax_values(const Canvas& canvas, AppState& state, const Rect& area);
/// One of them: the maximum (0), the sum (1) or the output (2).
void softmax_running(const Canvas& canvas, AppState& state, int which, const Rect& area);

/// A changed option is a changed problem, and can be undone.
void set_options(AppState& state, const Options& options);

}  // namespace tilewalk::ui
