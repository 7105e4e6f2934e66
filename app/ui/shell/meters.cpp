// Running totals: bytes moved so far and at the end, against standard attention, and what SRAM holds.
#include "app/ui/kit/items.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/shell/panels.h"
#include "core/base/numbers.h"
#include "core/walk/traffic.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

float part(std::int64_t value, std::int64_t whole) {
    return whole > 0 ? std::clamp(px(static_cast<double>(value) / static_cast<double>(whole)), 0.0f, 1.0f)
                     : 0;
}

// Three lines: an amount, and a bar below it
struct Meters {
    const Canvas& c;
    const AppState& state;
    const Rect& a;
    const Theme& t = *c.theme;
    Traffic now = moved_when_done(*state.trace, state.cursor.step);
    const Rival& rival = state.lesson->rival;
    TrafficModel flash = state.lesson->model(*state.problem),
                 standard = rival.name ? rival.model(*state.problem) : TrafficModel{};
    std::int64_t whole = std::max(flash.total(), standard.total());
    float x = a.inner_x(), w = a.inner_w(), row = (a.h - 12) / 3, bar = a.h < 160 ? 9 : 12;

    float line_y(int n) const { return a.y + 18 + row * px(n); }
    float bar_y(int n) const { return line_y(n) + 13; }
    bool tall() const { return row > 50; }  // there is room for words below a bar
    void well(int n) const { c.rect(x, bar_y(n), w, bar, t.well, 3); }

    // The amounts in full, or only the first of them where there is no room beside the name.
    void amounts(int n, const std::string& name, const Line& full, const Line& brief) const {
        const bool fits = rich_width(c, full, 14) + text_width(Face::medium, size::body, name) + 12 <= w;
        c.text(x, line_y(n), name, 14, n == 0 ? t.t1 : t.t2, Face::medium);
        c.rich(x + w, line_y(n), fits ? full : brief, size::body, Align::right);
        well(n);
    }

    // Beside bytes a little more of them is no other unit.
    static std::string size_beside(std::int64_t bytes, std::int64_t other) {
        constexpr std::int64_t kib = 1024;
        return other < kib && bytes < 10 * kib ? format_count(bytes) + " B" : format_size(bytes);
    }

    // What has moved, and how far it will go.
    void this_run() const {
        const Line moved{strong(format_size(now.hbm_read)), word(" read, "),
                         strong(format_size(now.hbm_write)), word(" written")};
        const Line total{strong(format_size(now.total())), word(" moved")};
        // Beside the clock of all ranks or workers stand the bytes of all of them.
        const std::string all = all_workers(state);
        amounts(0, all.empty() ? "HBM bytes" : "HBM, " + all, moved, total);
        const float done = part(now.total(), whole), end = part(flash.total(), whole);
        if (end > done) c.to_come(x + w * done, bar_y(0), w * (end - done), bar);
        c.rect(x, bar_y(0), w * done, bar, t.t1, 3);
        if (tall())
            c.text(x + w * std::max(end, .45f), bar_y(0) + bar + 10,
                   size_beside(flash.total(), standard.total()) + " when done", 13, t.t3, Align::right);
    }

    // What it is held against, on the same problem. Where that moves less, the bar says so.
    void against() const {
        c.text(x, line_y(1), rival.name, size::body, t.t2, Face::medium);
        c.text(x + w, line_y(1), format_size(standard.total()), size::body, 0, Face::semibold, Align::right);
        well(1);
        c.rect(x, bar_y(1), w * part(standard.total(), whole), bar, mix(t.panel, t.t3, .3f), radius::bar);
        c.frame(x + .5f, bar_y(1) + .5f, w * part(standard.total(), whole) - 1, bar - 1, t.line2, 1, 3);
        if (!tall()) return;
        const double ratio = static_cast<double>(standard.total()) / static_cast<double>(flash.total());
        c.text_within(x, bar_y(1) + bar + 10, w,
                      ratio >= 1 ? format_number(ratio, 3) + "× the bytes of this run" : rival.why_less,
                      size::small, t.t3);
    }

    void on_chip() const {
        const Line used{strong(format_size(now.sram_live)),
                        word(" of " + format_size(flash.sram_peak) + " at most")};
        amounts(2, "SRAM in use", used, {used.front()});
        c.rect(x, bar_y(2), w * part(now.sram_live, flash.sram_peak), bar, t.t2, 3);
    }

    // Of dense matrices, where what lies on chip is not told
    void operations() const {
        const std::int64_t all = state.trace->step(state.trace->size() - 1).traffic.flops;
        const Line count{strong(format_count(now.flops)), word(" of " + format_count(all))};
        amounts(2, "Operations", count, count);
        c.rect(x, bar_y(2), w * part(now.flops, all), bar, t.t2, 3);
    }
};

}  // namespace

void meters_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Meters", a);
    const Meters meters{c, state, a};
    meters.this_run();
    if (state.lesson->rival.name) meters.against();
    if (meters.flash.sram_peak == 0)
        meters.operations();
    else
        meters.on_chip();
}

}  // namespace tilewalk::ui
