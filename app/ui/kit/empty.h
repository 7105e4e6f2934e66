// What stands in the place of results as long as there are none: the same on every page.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/layout.h"

#include <string>

namespace tilewalk::ui {

/// A button below the words; without a label there is none.
struct EmptyButton {
    const char* id = "";
    std::string label;
    const char* tooltip = nullptr;
    bool primary = true;
};
struct EmptyState {
    std::string words;          ///< what is missing, and what would be there
    std::string progress = {};  ///< how far the run is that brings it
    EmptyButton first = {}, second = {};
};
struct EmptyAnswer {
    bool first = false, second = false;  ///< which was pressed
    Rect button;                         ///< where the first one is
};
/// In a panel, below its title, which says what the panel is of.
EmptyAnswer empty_state(const Canvas& canvas, const Rect& panel, const EmptyState& empty);
/// The same on a presenter page, where keys do what the buttons do.
void far_empty_state(const Canvas& canvas, float W, std::string_view words);

}  // namespace tilewalk::ui
