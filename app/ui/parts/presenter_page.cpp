#include "app/ui/parts/presenter_page.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/state/state.h"

namespace tilewalk::ui {

PresenterPage::PresenterPage(const Canvas& canvas, AppState& of, float W_of, float H, const char* title,
                             float buttons_of)
    : theme(bright_room(*canvas.theme)), c(canvas), state(of), W(W_of), buttons(buttons_of) {
    c.theme = &theme;
    begin_region(c, "Presenter", 0, 0, W, H);
    title_w = presenter_title(c, title);
}

PresenterPage::~PresenterPage() {
    float x = buttons;
    const auto icon = [&](const char* id, Icon which, const char* tip) {
        const bool clicked =
            icon_button(c, id, x, 14, space::far_icon, space::far_icon, which, {.tooltip = tip});
        x += 50;
        return clicked;
    };
    if (state.mouse_age <= presenter_buttons_seconds) {
        if (icon("##back", Icon::back, back)) move(-1);
        if (icon("##forward", Icon::forward, forward)) move(1);
        if (icon("##theme", Icon::theme, "Theme (T)")) next_theme(state);
        if (icon("##leave", Icon::close, "Leave presenter mode (Esc)")) state.presenter = false;
    }
    end_panel(c);
}

void PresenterPage::subject(const std::string& words, float reserved) const {
    const float right = W - space::far_edge;
    c.text_within(right, 36, right - 72 - title_w - reserved, words, size::far, c.theme->t2, Face::medium,
                  Align::right);
}

}  // namespace tilewalk::ui
