// Running totals: bytes moved so far and at the end, against standard attention, and what SRAM holds.
#include "app/ui/kit/items.h"
#include "app/ui/shell/panels.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

float part(std::int64_t value, std::int64_t whole) {
    return whole > 0 ? std::clamp(px(static_cast<double>(value) / static_cast<double>(whole)), 0.0f, 1.0f)
                     : 0;
}

}  // namespace

void meters_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Meters", a);
    const Theme& t = *c.theme;
    const Traffic now = state.trace->step(state.cursor.step).traffic;
    const TrafficModel flash = state.lesson->model(*state.problem);
    const Rival& rival = state.lesson->rival;
    const bool compared = rival.name != nullptr;
    const TrafficModel standard = compared ? rival.model(*state.problem) : TrafficModel{};
    const std::int64_t whole = std::max(flash.total(), standard.total());
    const float x = a.inner_x(), w = a.inner_w(), row = (a.h - 12) / 3, bar = a.h < 160 ? 9 : 12;
    const auto line_y = [&](int n) { return a.y + 18 + row * px(n); };
    const auto bar_y = [&](int n) { return line_y(n) + 13; };
    const auto well = [&](int n) { c.rect(x, bar_y(n), w, bar, t.well, 3); };
    // The amounts in full, or only the first of them where there is no room beside the name.
    const auto amounts = [&](int n, const char* name, const Line& full, const Line& brief) {
        const bool fits = rich_width(c, full, 14) + text_width(Face::medium, size::body, name) + 12 <= w;
        c.text(x, line_y(n), name, 14, n == 0 ? t.t1 : t.t2, Face::medium);
        c.rich(x + w, line_y(n), fits ? full : brief, size::body, Align::right);
        well(n);
    };

    // This run: what has moved, and how far it will go.
    const Line moved{strong(format_traffic(now.hbm_read)), word(" read, "),
                     strong(format_traffic(now.hbm_write)), word(" written")};
    const Line total{strong(format_traffic(now.hbm_read + now.hbm_write)), word(" moved")};
    amounts(0, "HBM bytes", moved, total);
    const float done = part(now.hbm_read + now.hbm_write, whole), end = part(flash.total(), whole);
    if (end > done) c.dashed_frame(x + w * done, bar_y(0) + .5f, w * (end - done), bar - 1, t.t3, 1, {4, 3});
    c.rect(x, bar_y(0), w * done, bar, t.t1, 3);
    if (row > 50)
        c.text(x + w * std::max(end, .45f), bar_y(0) + bar + 10, format_traffic(flash.total()) + " when done",
               13, t.t3, Align::right);

    // What it is held against, on the same problem. Where that moves less, the bar says so.
    if (compared) {
        c.text(x, line_y(1), rival.name, size::body, t.t2, Face::medium);
        c.text(x + w, line_y(1), format_traffic(standard.total()), size::body, 0, Face::semibold,
               Align::right);
        well(1);
        c.hatch(x, bar_y(1), w * part(standard.total(), whole), bar, t.t3, 7, 1.4f);
        c.frame(x + .5f, bar_y(1) + .5f, w * part(standard.total(), whole) - 1, bar - 1, t.line2, 1, 3);
        if (row > 50) {
            const double ratio = static_cast<double>(standard.total()) / static_cast<double>(flash.total());
            const std::string verdict =
                ratio >= 1 ? format_number(ratio, 3) + "× the bytes of this run" : rival.why_less;
            c.text_within(x, bar_y(1) + bar + 10, w, verdict, size::small, t.t3);
        }
    }

    if (flash.sram_peak == 0) {  // dense matrices: what lies on chip is not told
        const std::int64_t all = state.trace->step(state.trace->size() - 1).traffic.flops;
        const Line count{strong(format_count(now.flops)), word(" of " + format_count(all))};
        amounts(2, "Operations", count, count);
        return c.rect(x, bar_y(2), w * part(now.flops, all), bar, t.t2, 3);
    }

    // On chip
    const Line used{strong(format_size(now.sram_live)),
                    word(" of " + format_size(flash.sram_peak) + " at most")};
    amounts(2, "SRAM in use", used, {used.front()});
    c.rect(x, bar_y(2), w * part(now.sram_live, flash.sram_peak), bar, t.t2, 3);
}

}  // namespace tilewalk::ui
