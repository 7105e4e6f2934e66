// How inspected cells and those linked with them look among the others: told apart by shape, not by hue.
#include "app/ui/parts/matrix.h"
#include "app/ui/state/inspection.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Four corners of a frame.
void corners(const Canvas& c, float x, float y, float w, float h, ImU32 colour, float width) {
    const float arm = std::min({10.0f, w * .4f, h * .4f});
    for (const float cx : {x, x + w})
        for (const float cy : {y, y + h}) {
            const float dx = cx == x ? arm : -arm, dy = cy == y ? arm : -arm;
            c.line({cx, cy}, {cx + dx, cy}, colour, width);
            c.line({cx, cy}, {cx, cy + dy}, colour, width);
        }
}

}  // namespace

void draw_link_mark(const Canvas& c, Link link, Role role, float x, float y, float w, float h) {
    const Theme& t = *c.theme;
    const ImU32 colour = role == Role::none ? t.t1 : hue(t, role);
    switch (link) {
    case Link::inspected: selection(c, x, y, w, h); return;
    case Link::source:
    case Link::input: c.dashed_frame(x + 1, y + 1, w - 2, h - 2, colour, 2.4f, {5, 3}); return;
    case Link::fed:
        corners(c, x + .5f, y + .5f, w - 1, h - 1, t.panel, 3.6f);
        corners(c, x + .5f, y + .5f, w - 1, h - 1, t.t1, 2);
        return;
    }
}

}  // namespace tilewalk::ui
