// A recorded frame as an SVG file: text stays text, and says how wide it was on the screen, so that another
// typeface does not move it over its neighbours.
#include "app/ui/kit/svg_parts.h"
#include "app/ui/kit/vector_picture.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tilewalk::ui {
namespace {

using svg::attribute;
using svg::number;
using svg::paint;
using Kind = VectorShape::Kind;

std::string pair(ImVec2 p, char between = ' ') { return number(p.x) + between + number(p.y); }

std::string rectangle(ImVec2 min, ImVec2 max) {
    return "<rect" + attribute("x", min.x) + attribute("y", min.y) + attribute("width", max.x - min.x) +
           attribute("height", max.y - min.y);
}

std::string rectangle(const VectorShape& shape) {
    const ImVec2 min = shape.points[0], max = shape.points[1];
    std::string out = rectangle(min, max);
    if (shape.radius <= 0) return out;
    return out + attribute("rx", std::min({shape.radius, (max.x - min.x) / 2, (max.y - min.y) / 2}));
}

std::string circle(const VectorShape& shape) {
    return "<circle" + attribute("cx", shape.points[0].x) + attribute("cy", shape.points[0].y) +
           attribute("r", shape.radius);
}

std::string points(const VectorShape& shape) {
    std::string out;
    for (const ImVec2 p : shape.points) out += (out.empty() ? "" : " ") + pair(p, ',');
    return attribute("points", out);
}

std::string stroke(const VectorShape& shape) {
    std::string out = " fill=\"none\"" + paint("stroke", shape.colour);
    if (shape.width != 1) out += attribute("stroke-width", shape.width);
    if (shape.dash_on > 0)
        out += attribute("stroke-dasharray", number(shape.dash_on) + " " + number(shape.dash_off));
    return out;
}

std::string bezier(const VectorShape& shape) {
    const auto& p = shape.points;
    return "<path" +
           attribute("d", "M" + pair(p[0]) + "C" + pair(p[1]) + " " + pair(p[2]) + " " + pair(p[3]));
}

// ---- Text

std::string letters(const VectorRun& run) {
    std::string out = attribute("font-size", run.em);
    if (svg::is_mono(run.face)) out += attribute("font-family", svg::mono_family);
    if (svg::weight(run.face) != 400) out += attribute("font-weight", str(svg::weight(run.face)));
    if (svg::is_italic(run.face)) out += " font-style=\"italic\"";
    return out + paint("fill", run.colour);
}

// Of a single letter the place says enough.
std::string length(const VectorRun& run) {
    std::string_view rest = run.text;
    next_code_point(rest);
    if (rest.empty() || run.width <= 0) return {};
    return attribute("textLength", run.width) + " lengthAdjust=\"spacingAndGlyphs\"";
}

// Spaces at the beginning or several of them would shrink to one or none. Browsers ask each text for it.
std::string keep_spaces(const VectorShape& shape) {
    const bool any = std::ranges::any_of(shape.runs, [](const VectorRun& run) {
        return run.text.starts_with(' ') || run.text.ends_with(' ') ||
               run.text.find("  ") != std::string::npos;
    });
    return any ? " xml:space=\"preserve\"" : "";
}

std::string text(const VectorShape& shape) {
    const VectorRun& first = shape.runs.front();
    if (shape.runs.size() > 1) {
        std::string out = "<text" + keep_spaces(shape) + ">";
        for (const VectorRun& run : shape.runs)
            out += "<tspan" + attribute("x", run.at.x) + attribute("y", run.at.y) + letters(run) +
                   length(run) + ">" + svg::escaped(run.text) + "</tspan>";
        return out + "</text>";
    }
    std::string out = "<text" + keep_spaces(shape) + attribute("x", first.at.x + first.width * shape.anchor) +
                      attribute("y", first.at.y);
    if (shape.anchor > 0) out += attribute("text-anchor", shape.anchor < 1 ? "middle" : "end");
    return out + letters(first) + length(first) + ">" + svg::escaped(first.text) + "</text>";
}

std::string element(const VectorShape& shape) {
    switch (shape.kind) {
    case Kind::rect: return rectangle(shape) + paint("fill", shape.colour) + "/>";
    case Kind::frame: return rectangle(shape) + stroke(shape) + "/>";
    case Kind::polygon: return "<polygon" + points(shape) + paint("fill", shape.colour) + "/>";
    case Kind::polyline:
        return (shape.closed ? "<polygon" : "<polyline") + points(shape) + stroke(shape) + "/>";
    case Kind::disc: return circle(shape) + paint("fill", shape.colour) + "/>";
    case Kind::ring: return circle(shape) + stroke(shape) + "/>";
    case Kind::bezier: return bezier(shape) + stroke(shape) + "/>";
    case Kind::lines:
    case Kind::text: break;
    }
    return text(shape);
}

// ---- Neighbours that one path can hold

bool joinable(const VectorShape& shape) {
    return shape.kind == Kind::lines || (shape.kind == Kind::rect && shape.radius <= 0);
}

std::string path_data(const VectorShape& shape) {
    const auto& p = shape.points;
    std::string out;
    if (shape.kind == Kind::rect) {
        const std::string w = number(p[1].x - p[0].x);
        return "M" + pair(p[0]) + "h" + w + "v" + number(p[1].y - p[0].y) + "h-" + w + "z";
    }
    for (std::size_t k = 0; k + 1 < p.size(); k += 2) {
        out += "M" + pair(p[k]);
        out += p[k].y == p[k + 1].y   ? "H" + number(p[k + 1].x)
               : p[k].x == p[k + 1].x ? "V" + number(p[k + 1].y)
                                      : "L" + pair(p[k + 1]);
    }
    return out;
}

std::string path_style(const VectorShape& shape) {
    return shape.kind == Kind::rect ? paint("fill", shape.colour) : stroke(shape);
}

// Where two translucent strokes cross they are darker; one path would not be.
bool joins(const VectorShape& a, const VectorShape& b) {
    const bool opaque = (a.colour >> IM_COL32_A_SHIFT) == 255u;
    return a.kind == b.kind && a.colour == b.colour && a.width == b.width && a.dash_on == b.dash_on &&
           a.dash_off == b.dash_off && opaque;
}

// ---- The file

struct Clips {
    std::map<std::pair<std::pair<float, float>, std::pair<float, float>>, std::string> ids;
    std::string prefix, definitions;

    std::string id_of(const VectorShape& shape) {
        const ImVec2 a = shape.clip_min, b = shape.clip_max;
        const auto [place, fresh] = ids.try_emplace({{a.x, a.y}, {b.x, b.y}});
        if (fresh) {
            place->second = prefix + "clip" + str(ids.size());
            definitions +=
                "<clipPath" + attribute("id", place->second) + ">" + rectangle(a, b) + "/></clipPath>\n";
        }
        return place->second;
    }
};

bool is_clipped(const VectorShape& shape) { return shape.clip_max.x > shape.clip_min.x; }
bool same_clip(const VectorShape& a, const VectorShape& b) {
    return a.clip_min.x == b.clip_min.x && a.clip_min.y == b.clip_min.y && a.clip_max.x == b.clip_max.x &&
           a.clip_max.y == b.clip_max.y;
}

/// Shapes [k, end) that one element can hold; returns it and moves k behind them.
std::string next_element(const std::vector<VectorShape>& shapes, std::size_t& k) {
    const VectorShape& first = shapes[k++];
    if (!joinable(first)) return element(first);
    std::string data = path_data(first);
    const auto fits = [&](const VectorShape& next) {
        return joinable(next) && same_clip(first, next) && joins(first, next);
    };
    if (first.kind == Kind::rect && (k == shapes.size() || !fits(shapes[k]))) return element(first);
    while (k < shapes.size() && fits(shapes[k])) data += path_data(shapes[k++]);
    return "<path" + attribute("d", data) + path_style(first) + "/>";
}

}  // namespace

std::string to_svg(const VectorPicture& picture, int width, int height, const std::string& prefix) {
    const std::vector<VectorShape>& shapes = picture.shapes;
    Clips clips{{}, prefix, {}};
    std::string body;
    for (std::size_t k = 0; k < shapes.size();) {
        const VectorShape& first = shapes[k];
        const bool clipped = is_clipped(first);
        if (clipped) body += "<g" + attribute("clip-path", "url(#" + clips.id_of(first) + ")") + ">\n";
        while (k < shapes.size() && same_clip(first, shapes[k])) body += next_element(shapes, k) + "\n";
        if (clipped) body += "</g>\n";
    }
    const std::string w = str(width), h = str(height);
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", w) +
                      attribute("height", h) + attribute("viewBox", "0 0 " + w + " " + h) +
                      attribute("font-family", svg::sans_family) + ">\n";
    if (!clips.definitions.empty()) out += "<defs>\n" + clips.definitions + "</defs>\n";
    return out + body + "</svg>\n";
}

}  // namespace tilewalk::ui
