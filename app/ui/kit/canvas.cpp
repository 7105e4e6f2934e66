#include "app/ui/kit/canvas.h"

#include "app/ui/kit/items.h"
#include "app/ui/kit/vector_picture.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {
namespace {

float nearest_pixel(float v) { return std::floor(v + .5f); }
float stroke_pixels(const Canvas& c, float width) { return std::max(1.0f, nearest_pixel(width * c.s)); }
bool is_odd(float pixels) { return std::fmod(pixels, 2.0f) == 1.0f; }

/// Middle of a crisp stroke nearest to v: on half pixels at odd widths, between pixels at even ones.
float stroke_middle(float v, float pixels) {
    return is_odd(pixels) ? std::floor(v + .01f) + .5f : nearest_pixel(v);
}

using Kind = VectorShape::Kind;

/// Into the vector picture, if one is being made.
void record_shape(const Canvas& c, Kind kind, std::vector<ImVec2> points, ImU32 colour, float width = 0,
                  float radius = 0, bool closed = false) {
    record(*c.dl, {.kind = kind,
                   .points = std::move(points),
                   .colour = c.tint(colour),
                   .width = width,
                   .radius = radius,
                   .closed = closed});
}

struct DeviceBox {
    ImVec2 min, max;
};
/// Where the middle of an outline runs. What must move to get onto the pixel grid moves inwards.
DeviceBox outline(const Canvas& c, float x, float y, float w, float h, float pixels) {
    const ImVec2 a = c.device(x, y), b = c.device(x + w, y + h);
    const float shift = is_odd(pixels) ? .5f : 0.0f;
    auto low = [&](float v) { return std::ceil(v - shift - .01f) + shift; };
    auto high = [&](float v) { return std::floor(v + shift + .01f) - shift; };
    return {{low(a.x), low(a.y)}, {std::max(low(a.x), high(b.x)), std::max(low(a.y), high(b.y))}};
}

void fill(const Canvas& c, float x0, float y0, float x1, float y1, ImU32 colour) {
    c.dl->AddRectFilled({x0, y0}, {x1, y1}, c.tint(colour));
}

/// A horizontal or vertical stroke from `from` to `to` along its axis.
void straight(const Canvas& c, bool horizontal, float from, float to, float middle, float pixels,
              ImU32 colour) {
    const float a = nearest_pixel(std::min(from, to)), b = nearest_pixel(std::max(from, to));
    const float low = middle - pixels / 2;
    if (horizontal)
        fill(c, a, low, b, low + pixels, colour);
    else
        fill(c, low, a, low + pixels, b, colour);
}

/// From one dash to the next, stretched a little so that both ends carry one: corners then close.
float dash_count(float length, float on, float off) {
    return std::min(4096.0f, std::max(1.0f, std::round((length + off) / (on + off))));
}
float dash_period(float length, float on, float off) {
    const float count = dash_count(length, on, off);
    return count > 1 ? (length - on) / (count - 1) : length;
}

template <class Draw> void each_dash(float length, float on, float off, Draw draw) {
    if (!(length > 0) || !(on > 0) || !(off >= 0)) return;
    const float count = dash_count(length, on, off), period = dash_period(length, on, off);
    for (float k = 0; k < count; ++k) draw(k * period, std::min(length, k * period + on));
}

void dashed_straight(const Canvas& c, bool horizontal, float from, float to, float middle, float pixels,
                     ImU32 colour, Dash dash) {
    const float start = std::min(from, to);
    each_dash(std::abs(to - from), dash.on * c.s, dash.off * c.s, [&](float a, float b) {
        straight(c, horizontal, start + a, start + b, middle, pixels, colour);
    });
}

/// Dashed lines of equal length, given by pairs of ends.
void record_dashes(const Canvas& c, std::vector<ImVec2> ends, float length, float pixels, ImU32 colour,
                   Dash dash) {
    const float on = dash.on * c.s, off = dash.off * c.s;
    if (!(length > 0) || !(on > 0) || !(off >= 0)) return;
    record(*c.dl, {.kind = Kind::lines,
                   .points = std::move(ends),
                   .colour = c.tint(colour),
                   .width = pixels,
                   .dash_on = on,
                   .dash_off = std::max(0.0f, dash_period(length, on, off) - on)});
}

/// A slanting line.
void slanting(const Canvas& c, ImVec2 p, ImVec2 q, ImU32 colour, float pixels) {
    c.dl->AddLine({p.x - .5f, p.y - .5f}, {q.x - .5f, q.y - .5f}, c.tint(colour), pixels);
}

std::vector<ImVec2> device_points(const Canvas& c, std::span<const Point> points) {
    std::vector<ImVec2> out;
    for (const Point& p : points) out.push_back(c.device(p.x, p.y));
    return out;
}

/// The first part of a polyline, `share` (0 … 1) of its length.
std::vector<Point> first_part(std::span<const Point> points, float share) {
    float total = 0;
    for (std::size_t k = 1; k < points.size(); ++k)
        total += std::hypot(points[k].x - points[k - 1].x, points[k].y - points[k - 1].y);
    float left = total * std::clamp(share, 0.0f, 1.0f);
    std::vector<Point> out;
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (k == 0) {
            out.push_back(points[0]);
            continue;
        }
        const Point a = points[k - 1], b = points[k];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (length == 0) continue;
        const float part = std::min(1.0f, left / length);
        out.push_back({a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part});
        if (part < 1) break;
        left -= length;
    }
    return out;
}

struct ArrowLook {
    float width, head;
    ImU32 colour;
    bool dashed;
};
ArrowLook arrow_look(const Theme& t, ArrowStyle style, ImU32 colour) {
    const ImU32 quiet = with_alpha(t.t3, .75f);
    switch (style) {
    case ArrowStyle::idle: return {1.4f, 7, colour ? colour : quiet, false};
    case ArrowStyle::future: return {1.4f, 7, colour ? colour : quiet, true};
    case ArrowStyle::active: return {3, 10, colour ? colour : t.t1, false};
    case ArrowStyle::link: break;
    }
    return {2, 7, colour ? colour : t.focus, false};
}

}  // namespace

Enlarged::Enlarged(const Canvas& page, Point origin, float factor)
    : c(page.moved(origin.x, origin.y)), growth_before(set_type_growth(type_growth() * factor)) {
    c.s *= factor;
    c.min_text = size::small;
}
Enlarged::~Enlarged() { set_type_growth(growth_before); }

Canvas Canvas::moved(float dx, float dy) const {
    Canvas out = *this;
    out.x0 += dx * s;
    out.y0 += dy * s;
    return out;
}

Canvas Canvas::faded(float factor) const {
    Canvas out = *this;
    out.opacity *= std::clamp(factor, 0.0f, 1.0f);
    return out;
}

Canvas Canvas::in_window() const {
    Canvas out = *this;
    out.dl = ImGui::GetWindowDrawList();
    return out;
}

Point Canvas::mouse() const {
    const ImVec2 p = ImGui::GetIO().MousePos;
    return {(p.x - x0) / s, (p.y - y0) / s};
}

void Canvas::rect(float x, float y, float w, float h, ImU32 colour, float radius) const {
    const ImVec2 a = device(x, y), b = device(x + w, y + h);
    const ImVec2 min = {nearest_pixel(a.x), nearest_pixel(a.y)},
                 max = {nearest_pixel(b.x), nearest_pixel(b.y)};
    if (max.x <= min.x || max.y <= min.y) return;
    dl->AddRectFilled(min, max, tint(colour), radius * s);
    note_fill(min, max, tint(colour));
    if (vector_picture) record_shape(*this, Kind::rect, {min, max}, colour, 0, radius * s);
}

void Canvas::frame(float x, float y, float w, float h, ImU32 colour, float width, float radius) const {
    const float pixels = stroke_pixels(*this, width);
    const auto [min, max] = outline(*this, x, y, w, h, pixels);
    const float half = pixels / 2;
    // Where opposite sides touch nothing lies inside; round corners would make it thicker than it is.
    if (std::min(max.x - min.x, max.y - min.y) < pixels) {
        const ImVec2 low = {min.x - half, min.y - half}, high = {max.x + half, max.y + half};
        dl->AddRectFilled(low, high, tint(colour));
        if (vector_picture) record_shape(*this, Kind::rect, {low, high}, colour);
        return;
    }
    if (vector_picture) record_shape(*this, Kind::frame, {min, max}, colour, pixels, radius * s);
    if (radius > 0) {
        dl->PathRect(min, max, radius * s);
        dl->PathStroke(tint(colour), ImDrawFlags_Closed, pixels);
        return;
    }
    straight(*this, true, min.x - half, max.x + half, min.y, pixels, colour);
    straight(*this, true, min.x - half, max.x + half, max.y, pixels, colour);
    straight(*this, false, min.y + half, max.y - half, min.x, pixels, colour);
    straight(*this, false, min.y + half, max.y - half, max.x, pixels, colour);
}

void Canvas::dashed_frame(float x, float y, float w, float h, ImU32 colour, float width, Dash dash) const {
    const float pixels = stroke_pixels(*this, width), half = pixels / 2;
    const auto [min, max] = outline(*this, x, y, w, h, pixels);
    // The sides meet in the corners without covering each other, so that translucent colours stay even.
    for (float middle : {min.y, max.y})
        dashed_straight(*this, true, min.x - half, max.x + half, middle, pixels, colour, dash);
    const Dash sides = {std::max(.5f, dash.on - pixels / 2 / s), dash.off};
    for (float middle : {min.x, max.x})
        dashed_straight(*this, false, min.y + half, max.y - half, middle, pixels, colour, sides);
    if (!vector_picture) return;
    const float left = min.x - half, right = max.x + half, top = min.y + half, bottom = max.y - half;
    record_dashes(*this, {{left, min.y}, {right, min.y}, {left, max.y}, {right, max.y}}, right - left, pixels,
                  colour, dash);
    record_dashes(*this, {{min.x, top}, {min.x, bottom}, {max.x, top}, {max.x, bottom}}, bottom - top, pixels,
                  colour, sides);
}

void Canvas::line(Point a, Point b, ImU32 colour, float width) const {
    const ImVec2 p = device(a.x, a.y), q = device(b.x, b.y);
    const float pixels = stroke_pixels(*this, width);
    if (std::abs(p.y - q.y) < .01f) {
        const float y = stroke_middle(p.y, pixels);
        straight(*this, true, p.x, q.x, y, pixels, colour);
        if (vector_picture)
            record_shape(*this, Kind::lines, {{nearest_pixel(p.x), y}, {nearest_pixel(q.x), y}}, colour,
                         pixels);
    } else if (std::abs(p.x - q.x) < .01f) {
        const float x = stroke_middle(p.x, pixels);
        straight(*this, false, p.y, q.y, x, pixels, colour);
        if (vector_picture)
            record_shape(*this, Kind::lines, {{x, nearest_pixel(p.y)}, {x, nearest_pixel(q.y)}}, colour,
                         pixels);
    } else {
        slanting(*this, p, q, colour, std::max(1.0f, width * s));
        if (vector_picture) record_shape(*this, Kind::lines, {p, q}, colour, std::max(1.0f, width * s));
    }
}

void Canvas::dashed_line(Point a, Point b, ImU32 colour, float width, Dash dash) const {
    const ImVec2 p = device(a.x, a.y), q = device(b.x, b.y);
    const float pixels = stroke_pixels(*this, width), length = std::hypot(q.x - p.x, q.y - p.y);
    if (std::abs(p.y - q.y) < .01f) {
        const float y = stroke_middle(p.y, pixels), from = std::min(p.x, q.x), to = std::max(p.x, q.x);
        dashed_straight(*this, true, from, to, y, pixels, colour, dash);
        if (vector_picture) record_dashes(*this, {{from, y}, {to, y}}, length, pixels, colour, dash);
    } else if (std::abs(p.x - q.x) < .01f) {
        const float x = stroke_middle(p.x, pixels), from = std::min(p.y, q.y), to = std::max(p.y, q.y);
        dashed_straight(*this, false, from, to, x, pixels, colour, dash);
        if (vector_picture) record_dashes(*this, {{x, from}, {x, to}}, length, pixels, colour, dash);
    } else {
        const float thick = std::max(1.0f, width * s);
        const ImVec2 u = {(q.x - p.x) / length, (q.y - p.y) / length};
        each_dash(length, dash.on * s, dash.off * s, [&](float from, float to) {
            slanting(*this, {p.x + u.x * from, p.y + u.y * from}, {p.x + u.x * to, p.y + u.y * to}, colour,
                     thick);
        });
        if (vector_picture) record_dashes(*this, {p, q}, length, thick, colour, dash);
    }
}

// Slanting lines through a rectangle, rising to the right or falling.
static void slants(const Canvas& c, const Rect& r, ImU32 colour, float pitch, float width, bool rises) {
    if (!(pitch > 0) || !(r.w > 0) || !(r.h > 0) || r.w + r.h > 4096 * pitch) return;
    const float thick = std::max(1.0f, width * c.s);
    std::vector<ImVec2> ends;
    for (float k = -r.h + pitch / 2; k < r.w; k += pitch) {
        // Cut where they leave the rectangle.
        const float from = std::max(k, 0.0f), to = std::min(k + r.h, r.w);
        if (to - from < 1) continue;
        const auto y = [&](float x) { return rises ? r.bottom() - (x - k) : r.y + (x - k); };
        const ImVec2 p = c.device(r.x + from, y(from)), q = c.device(r.x + to, y(to));
        slanting(c, p, q, colour, thick);
        if (vector_picture) ends.insert(ends.end(), {p, q});
    }
    if (!ends.empty()) record_shape(c, Kind::lines, std::move(ends), colour, thick);
}

void Canvas::hatch(float x, float y, float w, float h, ImU32 colour, float pitch, float width) const {
    slants(*this, {x, y, w, h}, colour, pitch, width, true);
}

void Canvas::crossed(float x, float y, float w, float h, ImU32 colour, float pitch, float width) const {
    for (const bool rises : {true, false}) slants(*this, {x, y, w, h}, colour, pitch, width, rises);
}

void Canvas::to_come(float x, float y, float w, float h) const {
    frame(x + .5f, y + .5f, w - 1, h - 1, with_alpha(theme->t3, .6f), 1, radius::bar);
}

void Canvas::meanwhile(float x, float y, float w, float h, float radius) const {
    rect(x + 1, y + 1, w - 2, h - 2, mix(theme->panel, theme->raised, .6f), radius);
}

void Canvas::polygon(std::span<const Point> corners, ImU32 colour) const {
    std::vector<ImVec2> points = device_points(*this, corners);
    if (points.size() < 3) return;
    // ImGui's soft edge lies outside only if the corners run clockwise.
    float area = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const ImVec2 p = points[k], q = points[(k + 1) % points.size()];
        area += p.x * q.y - p.y * q.x;
    }
    if (area < 0) std::ranges::reverse(points);
    dl->AddConvexPolyFilled(points.data(), static_cast<int>(points.size()), tint(colour));
    if (vector_picture) record_shape(*this, Kind::polygon, std::move(points), colour);
}

void Canvas::polygon(std::initializer_list<Point> corners, ImU32 colour) const {
    polygon(std::span(corners.begin(), corners.size()), colour);
}

void Canvas::polyline(std::span<const Point> points, ImU32 colour, float width, bool closed) const {
    const std::vector<ImVec2> path = device_points(*this, points);
    dl->AddPolyline(path.data(), static_cast<int>(path.size()), tint(colour),
                    closed ? ImDrawFlags_Closed : ImDrawFlags_None, std::max(1.0f, width * s));
    if (vector_picture)
        record_shape(*this, Kind::polyline, path, colour, std::max(1.0f, width * s), 0, closed);
}

void Canvas::disc(float x, float y, float radius, ImU32 colour) const {
    dl->AddCircleFilled(device(x, y), radius * s, tint(colour));
    if (vector_picture) record_shape(*this, Kind::disc, {device(x, y)}, colour, 0, radius * s);
}

void Canvas::ring(float x, float y, float radius, ImU32 colour, float width) const {
    const float pixels = std::max(1.0f, width * s);
    dl->AddCircle(device(x, y), radius * s + .5f, tint(colour), 0, pixels);
    if (vector_picture) record_shape(*this, Kind::ring, {device(x, y)}, colour, pixels, radius * s);
}

void Canvas::halo(float x, float y, float w, float h, float radius) const {
    rect(x - 4, y - 4, w + 8, h + 8, with_alpha(theme->focus, min_text > 20 ? .22f : .17f), radius + 4);
}

void Canvas::corner(float x, float y, float w, float h, float side, ImU32 colour) const {
    polygon({{x + w, y + h - side}, {x + w, y + h}, {x + w - side, y + h}}, colour);
}

void Canvas::cross(float x, float y, float reach, ImU32 colour, float width) const {
    line({x - reach, y - reach}, {x + reach, y + reach}, colour, width);
    line({x - reach, y + reach}, {x + reach, y - reach}, colour, width);
}

void Canvas::head(Point tip, Point direction, ImU32 colour, float size) const {
    const float length = std::hypot(direction.x, direction.y);
    if (!(length > 0)) return;
    const float dx = direction.x / length * size, dy = direction.y / length * size;
    polygon({tip,
             {tip.x - dx - dy * .55f, tip.y - dy + dx * .55f},
             {tip.x - dx + dy * .55f, tip.y - dy - dx * .55f}},
            colour);
}

void Canvas::arrow(std::span<const Point> points, ArrowStyle style, ImU32 colour, float progress) const {
    const ArrowLook look = arrow_look(*theme, style, colour);
    const float pixels = stroke_pixels(*this, look.width);
    std::vector<Point> way = first_part(points, progress);
    if (way.size() < 2) return;
    // Onto the pixel grid, so that line, elbows and head agree.
    for (Point& p : way)
        p = {(stroke_middle(x0 + p.x * s, pixels) - x0) / s, (stroke_middle(y0 + p.y * s, pixels) - y0) / s};
    const Point tip = way.back(), before = way[way.size() - 2];
    const Point direction = {tip.x - before.x, tip.y - before.y};
    const float length = std::hypot(direction.x, direction.y);
    const float cut = std::min(length, look.head * .8f);
    if (length > 0) way.back() = {tip.x - direction.x / length * cut, tip.y - direction.y / length * cut};
    if (look.dashed)
        for (std::size_t k = 1; k < way.size(); ++k)
            dashed_line(way[k - 1], way[k], look.colour, look.width, {5, 5});
    else
        polyline(way, look.colour, pixels / s);
    head(tip, direction, look.colour, look.head);
}

void Canvas::arrow(std::initializer_list<Point> points, ArrowStyle style, ImU32 colour,
                   float progress) const {
    arrow(std::span(points.begin(), points.size()), style, colour, progress);
}

void Canvas::bezier_arrow(Point a, Point b, Point c, Point d, ImU32 colour, float width,
                          float head_size) const {
    const Point direction = {d.x - c.x, d.y - c.y};
    const float length = std::hypot(direction.x, direction.y);
    if (!(length > 0)) return;
    const float cut = .8f * head_size / length;
    const Point end = {d.x - direction.x * cut, d.y - direction.y * cut};
    const ImVec2 p[] = {device(a.x, a.y), device(b.x, b.y), device(c.x, c.y), device(end.x, end.y)};
    const float pixels = std::max(1.0f, width * s);
    dl->AddBezierCubic(p[0], p[1], p[2], p[3], tint(colour), pixels);
    if (vector_picture) record_shape(*this, Kind::bezier, {p[0], p[1], p[2], p[3]}, colour, pixels);
    head(d, direction, colour, head_size);
}

}  // namespace tilewalk::ui
