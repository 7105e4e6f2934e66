// What is remembered of marks: breakpoints, bookmarks, and whether a step is shown as it was before it.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/walk/condition.h"

#include <array>

namespace tilewalk::ui {

struct Bookmark {
    int step = 0, row = 0;
};
constexpr int most_bookmarks = 9;
using Bookmarks = std::array<std::optional<Bookmark>, most_bookmarks>;

struct Marks {
    std::vector<Condition> breakpoints;          ///< one on an op is "op == scores"
    std::map<std::string, Bookmarks> bookmarks;  ///< by lesson and problem
    int before_step = -1;                        ///< the step whose slots are shown as they were before it

    // The card
    bool card = false;
    char text[96] = "";
    std::string error;
    bool focus = false;  ///< the field takes the caret in the next frame
    int chosen = -1;     ///< of the list; −1: the field

    // Which steps a breakpoint stops at, worked out once per walk
    mutable std::shared_ptr<const Trace> stops_of;
    mutable std::vector<bool> stops;
};

/// The step is seen from before it.
inline bool shows_before(const AppState& state) {
    return state.marks && state.page == Page::walk && state.marks->before_step == state.cursor.step;
}

}  // namespace tilewalk::ui
