// The keys.
#include "app/ui/items.h"
#include "app/ui/keys.h"
#include "app/ui/views/card.h"
#include "app/ui/views/views.h"
#include "app/ui/widgets/matrix.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// The two marks that only broken and edited walks have.
void legend(const Canvas& c, float x, float y, float w, float size) {
    const float side = size * 2, half = w / 2;
    for (int n = 0; n < 2; ++n) {
        const float X = x + half * static_cast<float>(n);
        c.rect(X + 1, y + 1, side - 2, side - 2, ramp(*c.theme, Role::S, .6f), 4);
        n == 0 ? wrong_mark(c, X, y, side, side) : edit_mark(c, X, y, side, side);
        c.text_within(X + side + 12, y + side / 2, half - side - 20,
                      n == 0 ? "differs from the true walk" : "differs from before the edit", size,
                      c.theme->t2);
    }
}

}  // namespace

void help_card(const Canvas& main, AppState& state, float W, float H) {
    const float big = state.presenter ? 1.0f : 0.0f;
    const std::span<const Shortcut> keys = shortcuts();
    const float size = big > 0 ? 27 : 14, marks = size * 2 + 16, room = H - 24 - 76 - 14 - marks;
    const bool two_columns = big > 0 || 31 * static_cast<float>(keys.size()) > room;
    const int per_column =
        two_columns ? static_cast<int>(keys.size() + 1) / 2 : static_cast<int>(keys.size());
    const float row = std::min(big > 0       ? 58.0f
                               : two_columns ? 36.0f
                                             : 31.0f,
                               room / static_cast<float>(per_column));
    const float w = std::min(W - 32, big > 0       ? 1240.0f
                                     : two_columns ? 820.0f
                                                   : 520.0f),
                h = 76 + row * static_cast<float>(per_column) + 14 + marks;
    const float x = (W - w) / 2, y = (H - h) / 2;
    main.rect(0, 0, W, H, with_alpha(main.theme->bg, .6f));
    if (begin_card(main, "Help", {x, y, w, h})) {
        const Canvas c = main.in_window();
        begin_panel(c, "Help", x, y, w, h);
        c.text(x + 20, y + 34, "Keys", big > 0 ? 34 : 22, 0, Face::semibold);
        if (icon_button(c, "##close help", x + w - 48, y + 16, 32, 32, Icon::close)) state.show_help = false;
        const float column = (w - 40) / (two_columns ? 2 : 1), keys_w = big > 0 ? 230 : 148;
        for (std::size_t n = 0; n < keys.size(); ++n) {
            const int i = static_cast<int>(n);
            const float X = x + 20 + column * static_cast<float>(i / per_column),
                        Y = y + 76 + row * static_cast<float>(i % per_column) + row / 2 - 6;
            c.text_within(X, Y, keys_w - 8, keys[n].keys, size, 0, Face::medium);
            c.text_within(X + keys_w, Y, column - keys_w - 12, keys[n].action, size, c.theme->t2);
        }
        legend(c, x + 20, y + h - 14 - size * 2, w - 40, size);
        end_panel(c);
    }
    end_card();
}

}  // namespace tilewalk::ui
