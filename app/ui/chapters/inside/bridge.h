// From a step of the lesson flash-forward, or a cell of the page Kernel and CPU, to the place in the kernel
// that does it: which lane holds the number, and behind which of its steps. Found by what the kernel's twin
// wrote down (core/inside/bridge), beside the thread that draws.
#pragma once

#include "app/ui/chapters/inside/page.h"
#include "core/inside/lesson_step.h"

namespace tilewalk::ui {

/// What is to be found in the kernel that the page walks through.
struct InsideTarget {
    // A cell of a step of the walk …
    std::shared_ptr<const Trace> walk{};
    int step = -1;
    CellRef cell{};
    // … or a number that was compared
    std::optional<inside::KernelNumber> number{};
    Page from = Page::walk;
};
/// Where the bridge has led, and what it led from.
struct InsideArrival {
    InsideTarget from;
    inside::KernelNumber number;
    inside::HeldAt held;
    std::string symbol;  ///< "α of row 3"
    std::string other;   ///< why the number there is another one; empty: it is the same
};

struct BridgeRun {
    Background<Result<std::shared_ptr<const inside::Bridge>>> result;
    std::shared_ptr<const InsideWalk> of;
};

/// The page goes there as soon as the kernel has run.
void ask_inside(AppState& state, InsideTarget target);
/// Runs the twin of what is shown, and goes where was asked for once it is known.
void refresh_bridge(AppState& state);
void wait_for_bridge(AppState& state);
bool bridge_under_way(const AppState& state);
/// Null: not there yet, or this kernel has none.
const inside::Bridge* inside_bridge(const AppState& state);

/// What the chosen lane's step is in the lesson: the number that it gives, or the lane's next one; an element
/// of Q, K, V, O or L that it reads or writes.
struct LessonNumber {
    std::optional<inside::Bridge::Entry> entry{};
    std::string region{};
    int row = 0, column = 0;
    std::string symbol{};  ///< "α of row 3"
};
std::optional<LessonNumber> lesson_number(const AppState& state);

/// "α of row 3", "S of row 3, column 5"
std::string symbol_text(Slot slot, int row, int column);

}  // namespace tilewalk::ui
