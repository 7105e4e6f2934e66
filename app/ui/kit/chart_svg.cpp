// A plot as an SVG file. Each text says how wide it was, so that another typeface does not move it.
#include "app/ui/kit/chart.h"
#include "app/ui/kit/svg_parts.h"

namespace tilewalk::ui {

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
           attribute("font-size", text.size) +
           attribute("font-weight", std::to_string(svg::weight(text.face))) +
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
