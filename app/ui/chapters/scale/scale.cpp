// The page as a whole, and its first line: which devices there are.
#include "app/ui/chapters/scale/scale.h"

#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

std::string cpu_words(const ScaleDevices& devices) {
    const Machine& m = devices.machine;
    std::string text = m.cpu;
    const int threads = m.threads > 0 ? m.threads : m.cores;
    if (threads > 0) text += ", " + counted(threads, "thread");
    if (!m.instructions.empty()) text += ", " + m.instructions;
    return text;
}

void tick_mark(const Canvas& c, float x, float y) {
    constexpr float size = 5;
    const Point tick[] = {{x - size, y}, {x - size * .3f, y + size * .7f}, {x + size, y - size * .7f}};
    c.polyline(tick, c.theme->t1, 2);
}

void devices_strip(const Canvas& c, AppState& state, const Rect& a) {
    const Theme& t = *c.theme;
    const std::optional<ScaleDevices>& devices = scale_page(state).devices;
    constexpr const char* title = "Devices";
    const Panel panel(c, title, a, title);
    const float y = a.title_y(), middle = a.x + std::floor(a.w * .44f);
    float x = a.inner_x() + text_width(Face::semibold, size::lead, title) + 24;
    x += c.text(x, y, "CPU", size::body, t.t1, Face::semibold) + 8;
    const std::string cpu = devices ? cpu_words(*devices) : "…";
    x += c.text_within(x, y, middle - 30 - x, cpu, size::body, t.t2) + 14;
    if (devices) tick_mark(c, x, y);
    c.line({middle + .5f, a.y + 10}, {middle + .5f, a.bottom() - 10}, t.line);
    x = middle + 16;
    x += c.text(x, y, "GPU", size::body, t.t1, Face::semibold) + 8;
    const float room = a.inner_right() - x;
    if (!devices)
        c.text_within(x, y, room, "being looked for …", size::body, t.t3);
    else if (!devices->gpu.empty())
        tick_mark(c, x + c.text_within(x, y, room - 24, devices->gpu, size::body, t.t2) + 14, y);
    else
        c.text_within(x, y, room, "none: " + devices->why_no_gpu, size::body, t.t2);
}

}  // namespace

void draw_sign(const Canvas& c, Sign sign, float x, float y) {
    const Theme& t = *c.theme;
    constexpr float r = 11;
    switch (sign) {
    case Sign::verified: c.ring(x, y, r, t.t2, 1.5f); return tick_mark(c, x, y);
    case Sign::failed:
        c.polygon({{x, y - r - 2}, {x + r + 2, y}, {x, y + r + 2}, {x - r - 2, y}}, t.danger);
        return c.cross(x, y, 4, t.panel, 2.2f);
    case Sign::none:
    case Sign::pending:
        for (float part = 0; part < 1; part += .125f) {
            const float a = part * 6.2832f, b = a + .5f;
            c.line({x + r * std::cos(a), y + r * std::sin(a)}, {x + r * std::cos(b), y + r * std::sin(b)},
                   t.t3, 1.5f);
        }
        if (sign == Sign::none) c.line({x - 5, y}, {x + 5, y}, t.t3, 2);
    }
}

void scale_view(const Canvas& c, AppState& state, const Rect& a) {
    ScalePage& page = scale_page(state);
    page.hovered = -1;
    constexpr float gap = space::margin;
    const PageFrame frame = page_frame_below(a, Foot::bar, true);
    const Rect& body = frame.body;
    const float left = std::clamp(std::floor(a.w * .24f), 250.0f, 400.0f);
    devices_strip(c, state, frame.strip);
    const bool with_gpu = page.devices && !page.devices->gpu.empty();
    const float sizes = (a.h > from::high_page ? 290.0f : 260.0f) + (with_gpu ? 40.0f : 0.0f);
    scale_ladder(c, state, {body.x, body.y, left, body.h - gap - sizes});
    scale_sizes(c, state, {body.x, body.bottom() - sizes, left, sizes});

    const float x = body.x + left + gap, right = body.right() - x, half = std::floor((right - gap) / 2),
                table = scale_table_height(state, body.h), plots = body.h - gap - table;
    scale_time_plot(c, state, {x, body.y, half, plots});
    scale_memory_plot(c, state, {x + half + gap, body.y, right - half - gap, plots});
    scale_table(c, state, {x, body.y + plots + gap, right, table});
    scale_controls(c, state, frame.foot);
    scale_card(c, state, a.w, a.bottom());
}

}  // namespace tilewalk::ui
