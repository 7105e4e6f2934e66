#include "app/ui/kit/chart.h"

namespace tilewalk::ui {

namespace {

void paint(const Canvas& c, const ScenePath& path) {
    if (path.filled) return c.polygon(path.points, path.colour);
    if (path.dash.on <= 0 && path.points.size() > 2) return c.polyline(path.points, path.colour, path.width);
    for (std::size_t n = 1; n < path.points.size(); ++n) {
        if (path.dash.on > 0)
            c.dashed_line(path.points[n - 1], path.points[n], path.colour, path.width, path.dash);
        else
            c.line(path.points[n - 1], path.points[n], path.colour, path.width);
    }
}

}  // namespace

// Each with a rim of the panel's colour, so that marks stay apart from lines and from each other.
void paint_marker(const Canvas& c, Marker marker, float x, float y, ImU32 colour, float r) {
    const ImU32 rim = c.theme->panel;
    const float big = r * 1.25f, out = r + 1.5f, big_out = big + 2.2f;
    switch (marker) {
    case Marker::none: return;
    case Marker::square:
        c.rect(x - out, y - out, 2 * out, 2 * out, rim, 2);
        return c.rect(x - r, y - r, 2 * r, 2 * r, colour, 1.5f);
    case Marker::triangle:
        c.polygon({{x, y - big_out - 1}, {x + big_out + 1, y + out}, {x - big_out - 1, y + out}}, rim);
        return c.polygon({{x, y - big}, {x + big, y + r}, {x - big, y + r}}, colour);
    case Marker::diamond:
        c.polygon({{x, y - big_out}, {x + big_out, y}, {x, y + big_out}, {x - big_out, y}}, rim);
        return c.polygon({{x, y - big}, {x + big, y}, {x, y + big}, {x - big, y}}, colour);
    case Marker::ring: c.disc(x, y, out, rim); return c.ring(x, y, r - .2f, colour, r * .38f);
    case Marker::disc: c.disc(x, y, out, rim); return c.disc(x, y, r, colour);
    case Marker::cross: return c.cross(x, y, r, colour, r * .45f);
    }
}

void paint(const Canvas& c, const ChartScene& scene) {
    for (const ScenePath& path : scene.paths) paint(c, path);
    for (const SceneMark& mark : scene.marks)
        paint_marker(c, mark.marker, mark.x, mark.y, mark.colour, mark.radius);
    for (const SceneText& text : scene.texts)
        c.text(text.x, text.y, text.text, text.size, text.colour, text.face, text.align);
}

}  // namespace tilewalk::ui
