// The kernels, from slow to fast: whether each is right, and how it compares at the chosen length.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Rung {
    std::string name, title, teaches;
    Sign sign = Sign::pending;
    std::string reason = {};  ///< in place of what it teaches
};

const KernelInfo* known(const Engine& engine, const std::string& name) {
    for (const KernelInfo& one : engine.kernels())
        if (one.name == name) return &one;
    return nullptr;
}

// What became of a kernel over all lengths of a report.
void judge(Rung& rung, const ShownReport& shown) {
    const Record *failed = nullptr, *skipped = nullptr, *no_memory = nullptr;
    bool any = false;
    for (const Record& r : shown.report.points) {
        if (r.kernel != rung.name) continue;
        any |= r.state == Record::State::measured;
        if (r.state == Record::State::failed && !failed) failed = &r;
        if (r.state == Record::State::skipped && !skipped) skipped = &r;
        const bool shorter = !no_memory || r.workload.N_kv < no_memory->workload.N_kv;
        if (r.state == Record::State::no_memory && shorter) no_memory = &r;
    }
    if (failed) {
        rung.sign = Sign::failed;
        rung.reason = failed->reason;
    } else if (skipped && !any) {
        rung.sign = Sign::none;
        rung.reason = "not supported: " + skipped->reason;
    } else {
        rung.sign = any ? Sign::verified : Sign::pending;
        if (no_memory) rung.reason = "no memory from N = " + format_count(no_memory->workload.N_kv);
    }
}

// The kernels of the engine; of a report that others made, its own.
std::vector<Rung> rungs(AppState& state) {
    const Engine& engine = scale_engine(state);
    const ShownReport* shown = chosen_report(state);
    std::vector<Rung> out;
    const bool foreign =
        shown && !shown->report.points.empty() && shown->report.points.front().device != engine.device();
    if (!foreign)
        for (const KernelInfo* one : chosen_kernels(bench_request(state.scale), engine))
            out.push_back({one->name, one->title, one->teaches});
    const std::vector<std::string> in_report = shown ? shown->kernels() : std::vector<std::string>{};
    for (const std::string& name : in_report)
        if (foreign || !known(engine, name)) out.push_back({name, name, ""});
    for (Rung& rung : out)
        if (shown) judge(rung, *shown);
    return out;
}

void factor(const Canvas& c, const AppState& state, const Rung& rung, float right, float y) {
    const ShownReport* shown = chosen_report(state);
    const double times = shown ? times_as_fast(*shown, rung.name, chosen_length(state)) : 0;
    if (times <= 0) return;
    c.text(right, y, format_fixed(times, times < 99.95 ? 1 : 0) + "×", size::lead, c.theme->t1,
           Face::semibold, Align::right);
}

void row(const Canvas& c, AppState& state, const Rung& rung, std::size_t n, const Rect& a) {
    const Theme& t = *c.theme;
    const bool chosen = rung.name == state.scale.kernel;
    const Hot hot = hot_area(c, "##rung " + rung.name, a.x + 6, a.y + 1, a.w - 12, a.h - 2);
    if (chosen || hot.hovered)
        c.rect(a.x + 6, a.y + 1, a.w - 12, a.h - 2, chosen ? t.raised : mix(t.panel, t.raised, .5f), 8);
    if (hot.clicked) state.scale.kernel = chosen ? "" : rung.name;
    std::string below = rung.reason.empty() ? rung.teaches : rung.reason;
    if (hot.hovered) tooltip(c, below);
    const float x = a.x + 54, right = a.inner_right(), line = 13 * 1.4f;
    const bool three_lines =
        a.h >= 72 && paragraph_height(right - x, below, size::small, 2, Face::regular, size::lines) > line;
    // Rather without its last part than cut.
    const float lines = three_lines ? 2 : 1;
    const auto too_long = [&] {
        return paragraph_height(right - x, below, size::small, 0, Face::regular, size::lines) >
               (lines + .5f) * line;
    };
    for (const char* part : {", ", ": "})
        while (too_long() && below.find(part) != std::string::npos) below.resize(below.rfind(part));
    if (too_long()) below.clear();
    const bool two_lines = a.h >= 46 && !below.empty();
    const float y = three_lines ? a.middle() - 20 : two_lines ? a.middle() - 10 : a.middle();
    draw_sign(c, rung.sign, a.x + 30, a.middle());
    const KernelLook look = kernel_look(t, state, rung.name);
    const bool drawn = rung.sign == Sign::verified;
    if (drawn) {
        c.line({right - 76, y}, {right - 52, y}, look.colour, 2);
        paint_marker(c, look.marker, right - 64, y, look.colour);
    }
    factor(c, state, rung, right, y);
    const bool quiet = rung.sign == Sign::none;
    const std::string number = str(n + 1) + "  ", title = number + rung.title;
    const float room = right - (drawn ? 86 : 0) - x;
    const bool fits = text_width(Face::medium, size::body, title) <= room;
    const std::string brief = number + kernel_words(rung.name), &shown = fits ? title : brief;
    const float size = text_width(Face::medium, size::body, shown) <= room ? size::body : size::small;
    c.text_within(x, y, room, shown, size, quiet ? t.t3 : t.t1, Face::medium);
    const ImU32 ink = rung.sign == Sign::failed ? t.danger : chosen ? t.t2 : t.t3;
    if (two_lines)
        c.paragraph(x, y + (three_lines ? 12 : 11.5f), right - x, below, size::small, ink,
                    three_lines ? 2 : 1, Face::regular, size::lines);
}

}  // namespace

void scale_ladder(const Canvas& c, AppState& state, const Rect& a) {
    const std::vector<Rung> all = rungs(state);
    const bool wide = a.w > 330;
    const Panel panel(c, "Ladder", a, "Kernel ladder",
                      wide ? "each must be right before it is timed" : "right, then timed");
    const float top = a.y + 42, room = a.bottom() - 8 - top;
    const float pitch = std::clamp(room / px(std::max<std::size_t>(all.size(), 1)), 22.0f, 78.0f);
    const auto fit = static_cast<std::size_t>(room / pitch + .01f);
    for (std::size_t n = 0; n < std::min(all.size(), fit); ++n) {
        const float y = top + pitch * px(n);
        row(c, state, all[n], n, {a.x, y, a.w, pitch});
        if (n > 0) rule(c, a, y);
    }
    // What the factors are of, where there is room for it.
    const float end = top + pitch * px(all.size());
    if (chosen_report(state) && end + 26 < a.bottom())
        c.text_within(a.inner_x(), a.bottom() - 18, a.inner_w(),
                      "× as fast as " + standard_in(chosen_report(state)->report) +
                          " at N = " + format_count(chosen_length(state)),
                      size::small, c.theme->t3);
}

}  // namespace tilewalk::ui
