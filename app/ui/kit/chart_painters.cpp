// The two painters of plots: on the canvas, and as an SVG file. There each text says how wide it was, so that
// another typeface does not move it over its neighbours.
#include "app/ui/kit/chart.h"
#include "app/ui/kit/svg_parts.h"

namespace tilewalk::ui {

// ---- Canvas

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

// ---- SVG

namespace {

using svg::attribute;
using svg::number;
using svg::paint;

std::string points_of(const std::vector<Point>& points) {
    std::string out;
    for (const Point& p : points) out += (out.empty() ? "" : " ") + number(p.x) + "," + number(p.y);
    return attribute("points", out);
}

std::string element(const ScenePath& path) {
    if (path.filled) return "<polygon" + points_of(path.points) + paint("fill", path.colour) + "/>\n";
    std::string out = "<polyline" + points_of(path.points) + " fill=\"none\"" + paint("stroke", path.colour) +
                      attribute("stroke-width", path.width);
    if (path.dash.on > 0)
        out += attribute("stroke-dasharray", number(path.dash.on) + " " + number(path.dash.off));
    return out + " stroke-linejoin=\"round\"/>\n";
}

std::string circle(const SceneMark& m, float radius) {
    return "<circle" + attribute("cx", m.x) + attribute("cy", m.y) + attribute("r", radius);
}

std::string element(const SceneMark& m, const Theme& theme) {
    const float r = m.radius, big = r * 1.25f, x = m.x, y = m.y;
    const std::string fill = paint("fill", m.colour),
                      rim = paint("stroke", theme.panel) + " stroke-width=\"3\" paint-order=\"stroke\"";
    switch (m.marker) {
    case Marker::none: return {};
    case Marker::square:
        return "<rect" + attribute("x", x - r) + attribute("y", y - r) + attribute("width", 2 * r) +
               attribute("height", 2 * r) + fill + rim + "/>\n";
    case Marker::triangle:
        return "<polygon" + points_of({{x, y - big}, {x + big, y + r}, {x - big, y + r}}) + fill + rim +
               "/>\n";
    case Marker::diamond:
        return "<polygon" + points_of({{x, y - big}, {x + big, y}, {x, y + big}, {x - big, y}}) + fill + rim +
               "/>\n";
    case Marker::ring:
        return circle(m, r) + paint("fill", theme.panel) + paint("stroke", m.colour) +
               attribute("stroke-width", r * .38f) + "/>\n";
    case Marker::disc: return circle(m, r) + fill + rim + "/>\n";
    case Marker::cross:
        return element(ScenePath{{{x - r, y - r}, {x + r, y + r}}, m.colour, r * .45f}) +
               element(ScenePath{{{x - r, y + r}, {x + r, y - r}}, m.colour, r * .45f});
    }
    return {};
}

std::string element(const SceneText& text) {
    const char* anchor = text.align == Align::left ? "start" : text.align == Align::center ? "middle" : "end";
    return "<text" + attribute("x", text.x) + attribute("y", text.y + .364f * text.size) +
           attribute("font-size", text.size) + attribute("font-weight", str(svg::weight(text.face))) +
           attribute("text-anchor", anchor) + attribute("textLength", text.width) +
           " lengthAdjust=\"spacingAndGlyphs\"" + paint("fill", text.colour) + ">" + svg::escaped(text.text) +
           "</text>\n";
}

}  // namespace

std::string to_svg(const ChartScene& scene, const Theme& theme) {
    const Rect all = bounds(scene);
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", all.w) + attribute("height", all.h) +
        attribute("viewBox",
                  number(all.x) + " " + number(all.y) + " " + number(all.w) + " " + number(all.h)) +
        attribute("font-family", svg::sans_family) + ">\n";
    for (const Rect& panel : scene.panels)
        out += "<rect" + attribute("x", panel.x) + attribute("y", panel.y) + attribute("width", panel.w) +
               attribute("height", panel.h) + " rx=\"10\"" + paint("fill", theme.panel) +
               paint("stroke", theme.line) + "/>\n";
    for (const ScenePath& path : scene.paths) out += element(path);
    for (const SceneMark& mark : scene.marks) out += element(mark, theme);
    for (const SceneText& text : scene.texts) out += element(text);
    return out + "</svg>\n";
}

}  // namespace tilewalk::ui
