#include "app/ui/kit/empty.h"

#include <algorithm>

namespace tilewalk::ui {

EmptyAnswer empty_state(const Canvas& c, const Rect& a, const EmptyState& empty) {
    constexpr float top = 50, most = 520, button_h = 36;
    const Theme& t = *c.theme;
    const float x = a.inner_x(), w = std::min(a.inner_w(), most);
    float y = a.y + top;
    const float below = (!empty.first.label.empty() ? 18 + button_h : 0) +
                        (empty.progress.empty() ? 0.0f : 24.0f),
                room = a.bottom() - space::foot - below - y;
    const int lines = std::max(1, static_cast<int>(room / (size::lead * size::lines)));
    y += c.paragraph(x, y, w, empty.words, size::lead, t.t2, lines, Face::regular, size::lines);
    if (!empty.progress.empty()) {
        c.text_within(x, y + 16, w, empty.progress, size::body, t.t3);
        y += 24;
    }
    EmptyAnswer answer;
    float at = x;
    for (const EmptyButton* one : {&empty.first, &empty.second}) {
        if (one->label.empty()) continue;
        const float button_w = std::min(button_width(one->label) + 16, x + w - at);
        const ButtonLook look{
            .primary = one->primary, .quiet = one == &empty.second, .tooltip = one->tooltip};
        const Rect area{at, y + 18, button_w, button_h};
        const bool pressed = button(c, one->id, area.x, area.y, area.w, area.h, one->label, look);
        (one == &empty.first ? answer.first : answer.second) = pressed;
        if (one == &empty.first) answer.button = area;
        at += button_w + 10;
    }
    return answer;
}

void far_empty_state(const Canvas& c, float W, std::string_view words) {
    c.paragraph(space::far_side, 140, W - 2 * space::far_side, words, size::far_sign, c.theme->t1);
}

}  // namespace tilewalk::ui
