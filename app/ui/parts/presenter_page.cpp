#include "app/ui/parts/presenter_page.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/state/state.h"

namespace tilewalk::ui {

PresenterPage::PresenterPage(const Canvas& canvas, AppState& of, float W_of, float H, const char* title,
                             float buttons_of)
    : theme(bright_room(*canvas.theme)), c(canvas), part(c, "Presenter", {0, 0, W_of, H}), state(of), W(W_of),
      buttons(buttons_of) {
    c.theme = &theme;
    title_w = presenter_title(c, title);
}

PresenterPage::~PresenterPage() {
    if (state.mouse_age > presenter_buttons_seconds) return;
    IconRow icon{c, buttons, 14, space::far_icon, 6};
    if (icon("##back", Icon::back, {.tooltip = back})) move(-1);
    if (icon("##forward", Icon::forward, {.tooltip = forward})) move(1);
    if (icon("##theme", Icon::theme, {.tooltip = "Theme (T)"})) next_theme(state);
    if (icon("##leave", Icon::close, {.tooltip = "Leave presenter mode (Esc)"})) state.presenter = false;
}

void PresenterPage::subject(const std::string& words, float reserved) const {
    const float right = W - space::far_edge;
    c.text_within(right, 36, right - 72 - title_w - reserved, words, size::far, c.theme->t2, Face::medium,
                  Align::right);
}

}  // namespace tilewalk::ui
