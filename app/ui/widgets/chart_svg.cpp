// A plot as an SVG file. Each text says how wide it was on the screen, so that another typeface does not move
// it over its neighbours.
#include "app/ui/widgets/chart.h"

#include <charconv>
#include <cstdio>

namespace tilewalk::ui {

namespace {

// 12.34, whatever the locale says.
std::string number(float value) {
    char text[32];
    const auto end =
        std::to_chars(text, text + sizeof text, static_cast<double>(value), std::chars_format::fixed, 2).ptr;
    std::string out(text, end);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
    return out == "-0" ? "0" : out;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + value + "\"";
}
std::string attribute(const char* name, float value) { return attribute(name, number(value)); }

std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string colour_of(const char* name, ImU32 colour) {
    char hex[8];
    std::snprintf(hex, sizeof hex, "#%02x%02x%02x", (colour >> IM_COL32_R_SHIFT) & 255u,
                  (colour >> IM_COL32_G_SHIFT) & 255u, (colour >> IM_COL32_B_SHIFT) & 255u);
    const unsigned alpha = (colour >> IM_COL32_A_SHIFT) & 255u;
    std::string out = attribute(name, hex);
    if (alpha < 255)
        out += attribute((std::string(name) + "-opacity").c_str(), static_cast<float>(alpha) / 255);
    return out;
}

std::string points_of(const std::vector<Point>& points) {
    std::string out;
    for (const Point& p : points) out += (out.empty() ? "" : " ") + number(p.x) + "," + number(p.y);
    return attribute("points", out);
}

std::string element(const ScenePath& path) {
    if (path.filled) return "<polygon" + points_of(path.points) + colour_of("fill", path.colour) + "/>\n";
    std::string out = "<polyline" + points_of(path.points) + " fill=\"none\"" +
                      colour_of("stroke", path.colour) + attribute("stroke-width", path.width);
    if (path.dash.on > 0)
        out += attribute("stroke-dasharray", number(path.dash.on) + " " + number(path.dash.off));
    return out + " stroke-linejoin=\"round\"/>\n";
}

std::string circle(const SceneMark& m, float radius) {
    return "<circle" + attribute("cx", m.x) + attribute("cy", m.y) + attribute("r", radius);
}

std::string element(const SceneMark& m, const Theme& theme) {
    const float r = m.radius, big = r * 1.25f, x = m.x, y = m.y;
    const std::string fill = colour_of("fill", m.colour),
                      rim = colour_of("stroke", theme.panel) + " stroke-width=\"3\" paint-order=\"stroke\"";
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
        return circle(m, r) + colour_of("fill", theme.panel) + colour_of("stroke", m.colour) +
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
    const int weight = text.face == Face::semibold ? 600 : text.face == Face::medium ? 500 : 400;
    return "<text" + attribute("x", text.x) + attribute("y", text.y + .364f * text.size) +
           attribute("font-size", text.size) + attribute("font-weight", std::to_string(weight)) +
           attribute("text-anchor", anchor) + attribute("textLength", text.width) +
           " lengthAdjust=\"spacingAndGlyphs\"" + colour_of("fill", text.colour) + ">" + escaped(text.text) +
           "</text>\n";
}

}  // namespace

std::string to_svg(const ChartScene& scene, const Theme& theme) {
    const Rect all = bounds(scene);
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", all.w) + attribute("height", all.h) +
        attribute("viewBox",
                  number(all.x) + " " + number(all.y) + " " + number(all.w) + " " + number(all.h)) +
        " font-family=\"Inter, 'DejaVu Sans', sans-serif\">\n";
    for (const Rect& panel : scene.panels)
        out += "<rect" + attribute("x", panel.x) + attribute("y", panel.y) + attribute("width", panel.w) +
               attribute("height", panel.h) + " rx=\"10\"" + colour_of("fill", theme.panel) +
               colour_of("stroke", theme.line) + "/>\n";
    for (const ScenePath& path : scene.paths) out += element(path);
    for (const SceneMark& mark : scene.marks) out += element(mark, theme);
    for (const SceneText& text : scene.texts) out += element(text);
    return out + "</svg>\n";
}

}  // namespace tilewalk::ui
