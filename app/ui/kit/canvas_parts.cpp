// Panels, labels, meters: furniture made of shapes and text.
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/key_cap.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {
namespace {

constexpr float chip_symbol = size::body, chip_note = size::small;

}  // namespace

void Canvas::panel(float x, float y, float w, float h, std::string_view title,
                   std::string_view subtitle) const {
    rect(x, y, w, h, theme->panel, radius::panel);
    frame(x + .5f, y + .5f, w - 1, h - 1, theme->line, 1, radius::panel);
    if (!title.empty()) this->title(x, y, w, title, subtitle);
}

void Canvas::title(float x, float y, float w, std::string_view title, std::string_view subtitle) const {
    const float em = baked_em(Face::semibold, size::lead),
                middle = y + std::max(space::title, em * .75f + 10);
    const float width =
        text_within(x + space::pad, middle, w - 2 * space::pad, title, size::lead, theme->t1, Face::semibold);
    const float room = w - 2 * space::pad - width - 10;
    if (!subtitle.empty() && room > 24)
        text_within(x + 26 + width, middle + .5f, room, subtitle, size::body, theme->t3);
}

void Canvas::well(float x, float y, float w, float h, float radius) const {
    rect(x, y, w, h, theme->well, radius);
    frame(x + .5f, y + .5f, w - 1, h - 1, theme->line, 1, radius);
}

float Canvas::pill(float x, float y, std::string_view label, float size, ImU32 fill, ImU32 colour,
                   Align align) const {
    const float h = baked_em(Face::medium, size) + 11, w = pill_width(label, size),
                left = aligned(x, w, align);
    rect(left, y - h / 2, w, h, fill ? fill : theme->raised, h < 30 ? h / 2 : 8);
    text(left + 9, y, label, size, colour ? colour : theme->t2, Face::medium);
    return w;
}

float Canvas::chip(float x, float y, const Line& symbol, std::string_view note, Align align) const {
    const float h = std::max(24.0f, baked_em(Face::regular, chip_note) + 11);
    const float w = chip_width(*this, symbol, note), left = aligned(x, w, align);
    rect(left, y - h / 2, w, h, theme->panel, h / 2);
    frame(left + .5f, y - h / 2 + .5f, w - 1, h - 1, theme->line, 1, h / 2);
    const float symbol_end = left + 12 + rich(left + 12, y, symbol, chip_symbol);
    text(symbol_end + 6, y, note, chip_note, theme->t3);
    return w;
}

float Canvas::key_cap(float x, float y, std::string_view key) const {
    return draw_key_cap(*this, x, y, key, size::small);
}

void Canvas::progress(float x, float y, float w, float h, float part, ImU32 fill) const {
    rect(x, y, w, h, theme->well, radius::bar);
    const float done = part > 0 ? std::min(part, 1.0f) : 0.0f;
    rect(x, y, w * done, h, fill ? fill : theme->t1, radius::bar);
}

float pill_width(std::string_view text, float size) { return text_width(Face::medium, size, text) + 18; }
float chip_width(const Canvas& canvas, const Line& symbol, std::string_view note) {
    return rich_width(canvas, symbol, chip_symbol) + text_width(Face::regular, chip_note, note) + 30;
}
float key_cap_width(std::string_view key) { return key_cap_width(key, size::small); }

// On stage with as much room round the letters as in small text.
float key_cap_height(float text) { return std::max(22.0f, baked_em(Face::medium, text) + 9 * text / 16 + 1); }

float key_cap_width(std::string_view key, float text) {
    return std::ceil(std::max(key_cap_height(text), text_width(Face::medium, text, key) + 12));
}

float draw_key_cap(const Canvas& c, float x, float y, std::string_view key, float text) {
    const float w = key_cap_width(key, text), h = key_cap_height(text),
                line = std::max(1.0f, text / size::far * 1.5f);
    c.frame(x + line / 2, y - h / 2 + line / 2, w - line, h - line, c.theme->line2, line,
            std::max(5.0f, text / 4));
    c.text(x + w / 2, y, key, text, c.theme->t2, Face::medium, Align::center);
    return w;
}

// Calls each(key, where it begins) for keys that two spaces part. Returns the width of all.
template <class Each> static float for_each_cap(std::string_view keys, float text, const Each& each) {
    constexpr std::string_view between = "  ";
    float x = 0;
    while (!keys.empty()) {
        const std::size_t end = std::min(keys.find(between), keys.size());
        if (x > 0) x += .3f * text;
        each(keys.substr(0, end), x);
        x += key_cap_width(keys.substr(0, end), text);
        keys.remove_prefix(std::min(end + between.size(), keys.size()));
    }
    return x;
}

float key_caps_width(std::string_view keys, float text) {
    return for_each_cap(keys, text, [](std::string_view, float) {});
}

void draw_key_caps(const Canvas& c, float x, float y, std::string_view keys, float text) {
    for_each_cap(keys, text, [&](std::string_view key, float at) { draw_key_cap(c, x + at, y, key, text); });
}

}  // namespace tilewalk::ui
