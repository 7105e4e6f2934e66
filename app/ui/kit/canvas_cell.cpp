#include "app/ui/kit/canvas_cell.h"

#include "app/ui/kit/items.h"

#include <algorithm>

namespace tilewalk::ui {
namespace {

void draw_pending(const Canvas& c, float x, float y, float w, float h, const CellLook& look) {
    c.rect(x + 1, y + 1, w - 2, h - 2, c.theme->well, look.radius);
    c.frame(x + 1.5f, y + 1.5f, w - 3, h - 3, with_alpha(c.theme->line, .8f), 1, look.radius);
}

void draw_nan(const Canvas& c, float x, float y, float w, float h) {
    const float band = std::min(12.0f, h * .22f);
    if (h < 24) return;
    c.hatch(x + 2, y + 1.5f, w - 4, band, c.theme->inv, 6, 2);
    c.hatch(x + 2, y + h - 1.5f - band, w - 4, band, c.theme->inv, 6, 2);
}

void draw_value(const Canvas& c, float x, float y, float w, float h, const CellLook& look, ImU32 fill) {
    if (look.text.empty()) return;
    const bool written = look.state == CellState::written || look.bold;
    // From the back row an old number is read like any other.
    const bool past = look.state == CellState::discarded && look.size < size::far;
    const bool quiet = !look.nan && !written && (look.dim || past);
    const ImU32 ink = look.nan ? c.theme->inv : ink_on(*c.theme, fill, quiet);
    const Face face = written || look.nan ? Face::mono_bold : Face::mono;
    const Canvas now = c.faded(written ? look.fade : 1);
    if (look.before.empty()) {
        // Nothing runs through a number that is to be read from the back row.
        const bool hatched = look.state == CellState::discarded || look.masked;
        if (const float tw = text_width(face, look.size, look.text); hatched && look.size >= size::far)
            now.rect(x + (w - tw) / 2 - 4, y + h / 2 - look.size * .55f, tw + 8, look.size * 1.1f, fill, 3);
        now.text(x + w / 2, y + h / 2, look.text, look.size, ink, face, Align::center);
        return;
    }
    const float old_size = std::min(c.min_text, look.size), old_y = y + h * .29f;
    const ImU32 old_ink = ink_on(*c.theme, fill, true);
    const float old_w = c.text(x + w / 2, old_y, look.before, old_size, old_ink, Face::mono, Align::center);
    c.line({x + (w - old_w) / 2 - 2, old_y}, {x + (w + old_w) / 2 + 2, old_y}, old_ink, 1.2f);
    now.text(x + w / 2, y + h * .69f, look.text, look.size, ink, face, Align::center);
}

}  // namespace

void selection(const Canvas& c, float x, float y, float w, float h) {
    const float width = focus_width();
    const float out = width / 2 - 1;  // the cell itself ends 1 px within its place
    c.frame(x - out, y - out, w + 2 * out, h + 2 * out, c.theme->focus, width, radius::cell);
}

float focus_width() { return far_type() ? 3 / size::far_growth : 3; }

ImU32 cell_fill(const Theme& theme, const CellLook& look) {
    if (look.nan) return theme.danger;
    if (look.state == CellState::pending) return theme.well;
    if (look.masked) return ramp(theme, look.role, 0, true);
    return look.with_sign ? signed_ramp(theme, look.role, look.t, look.dim)
                          : ramp(theme, look.role, look.t, look.dim);
}

void cell(const Canvas& c, float x, float y, float w, float h, const CellLook& look) {
    if (look.state == CellState::pending) return draw_pending(c, x, y, w, h, look);
    const Theme& t = *c.theme;
    const ImU32 fill = cell_fill(t, look);
    const bool written = look.state == CellState::written;
    c.rect(x + 1, y + 1, w - 2, h - 2, fill, look.radius);
    if (look.nan) draw_nan(c, x, y, w, h);
    if (look.state == CellState::discarded)
        c.hatch(x + 2, y + 2, w - 4, h - 4, with_alpha(mix(fill, t.t3, .55f), .8f), 7);
    if (look.masked) c.crossed(x + 2, y + 2, w - 4, h - 4, t.line2, 8);
    if (look.state == CellState::read)
        c.dashed_frame(x + 2, y + 2, w - 4, h - 4, hue(t, look.role), 2, {5, 3});
    if (written) selection(c, x, y, w, h);
    draw_value(c, x, y, w, h, look, fill);
    if (look.hover) c.frame(x + 1.5f, y + 1.5f, w - 3, h - 3, t.t2, 1.5f, look.radius);
}

}  // namespace tilewalk::ui
