// What the presenter pages without a walk (memory, at scale, CPU vs GPU) have in common.
#pragma once

#include "app/ui/kit/items.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Such a page, from the colours of a bright room and the title to the buttons for a mouse, which come last.
class PresenterPage {
public:
    /// `buttons`: the left edge of the buttons.
    PresenterPage(const Canvas& canvas, AppState& state, float W, float H, const char* title, float buttons);
    ~PresenterPage();
    PresenterPage(const PresenterPage&) = delete;
    PresenterPage& operator=(const PresenterPage&) = delete;

    /// What the page is of, at the right; `reserved` px beside the title stay free.
    void subject(const std::string& words, float reserved = 0) const;

    const Theme theme;
    Canvas c;
    /// The back and the forward button: their tooltips, and what they do (−1 or 1).
    const char *back = "", *forward = "";
    std::function<void(int)> move;

private:
    PanelPart part;
    AppState& state;
    float W, title_w, buttons;
};

}  // namespace tilewalk::ui
