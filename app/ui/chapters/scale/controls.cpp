// Run, cancel, how far it is, and the files.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/open_field.h"
#include "app/ui/kit/page_frame.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

std::string duration_text(double seconds) {
    if (seconds < 90) return str(std::max(1, static_cast<int>(std::lround(seconds)))) + " s";
    return str(static_cast<int>(std::lround(seconds / 60))) + " min";
}

std::string standing(const ScalePage& page) {
    const BenchProgress& p = page.progress;
    std::string text = str(p.done) + " of " + str(p.points) + " points";
    if (page.running && p.seconds_left) text += ", about " + duration_text(*p.seconds_left) + " left";
    return text;
}

// What a run would measure.
std::string plan(AppState& state) {
    const auto lengths = chosen_lengths(state.scale);
    if (lengths.empty()) return "The list of lengths cannot be read.";
    const std::size_t kernels = chosen_kernels(bench_request(state.scale), scale_engine(state)).size();
    return counted(kernels * lengths.size(), "point") + ": " + counted(kernels, "kernel") +
           " at N = " + format_count(lengths.front()) +
           (lengths.size() > 1 ? " … " + format_count(lengths.back()) : "");
}

void progress(const Canvas& c, AppState& state, float x, float y, float w) {
    const Theme& t = *c.theme;
    const ScalePage& page = scale_page(state);
    const bool started = page.running || page.progress.points > 0;
    const std::string right = started ? standing(page) : "", left = page.cancelling ? "cancelling …"
                                                                    : started       ? page.progress.doing
                                                                                    : plan(state);
    float right_w = text_width(Face::regular, size::small, right);
    if (right_w > w * .7f) right_w = 0;
    c.text_within(x, y - 11, w - right_w - (right_w > 0 ? 12 : 0), left, size::small, t.t1, Face::medium);
    if (right_w > 0) c.text(x + w, y - 11, right, size::small, t.t2, Align::right);
    if (!started) {
        const std::string note =
            "each verified, then timed for about " + duration_text(BenchRequest{}.seconds_per_kernel);
        c.text_within(x, y + 11, w, note, size::small, t.t3);
        return;
    }
    c.progress(x, y + 6, w, 9, px(page.progress.part));
    c.frame(x + .5f, y + 6.5f, w - 1, 8, t.line2, 1, radius::bar);
}

struct Export {
    const char *kind, *label, *tooltip;
};
constexpr Export exports[] = {{"csv", "CSV", "All points as a table"},
                              {"json", "JSON", "All reports, to be opened again"},
                              {"report", "Report", "A report in Markdown"},
                              {"svg", "SVG", "Both plots as SVG"},
                              {"png", "PNG", "Both plots as PNG"}};

float files_width(float gap) {
    float w = 60;
    for (const Export& one : exports) w += text_width(Face::medium, size::body, one.label) + 18 + gap;
    return w;
}

void files(const Canvas& c, AppState& state, float x, float y, float field) {
    constexpr float gap = 6;
    const bool opens = state.hooks.load_results != nullptr;
    const OpenField open{
        "##scale-path",
        "##scale-open",
        "results.json",
        opens ? "Show the results in this file beside the others; files can also be dropped on the window"
              : "Files cannot be opened here",
        opens,
        std::exchange(state.ask_path, false),
        &state.hooks.choose_file};
    if (open_field(c, x, y, field, state.scale.path, sizeof state.scale.path, open))
        load_results(state, {with_json_ending(state.scale.path)});
    x += field + 2 * open_gap + open_button_w;
    for (const Export& one : exports) {
        const float w = text_width(Face::medium, size::body, one.label) + 18;
        const char* why_not = why_no_export(state, one.kind);
        const ButtonLook save{.enabled = !why_not, .tooltip = why_not ? why_not : one.tooltip};
        if (button(c, std::string("##export ") + one.kind, x, y - space::bar / 2, w, space::bar, one.label,
                   save))
            export_results(state, one.kind);
        x += w + gap;
    }
}

}  // namespace

void scale_controls(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Run", a);
    const ScalePage& page = scale_page(state);
    const float y = a.middle();
    float x = a.inner_x();
    ButtonLook run{.primary = true, .enabled = !page.running, .tooltip = "Measure on this machine (Space)"};
    if (button(c, "##scale-run", x, y - run_button::h / 2, run_button::w, run_button::h,
               run_label(state.scale), run))
        start_bench(state);
    x += run_button::w + run_button::gap;
    const ButtonLook stop{.enabled = page.running && !page.cancelling,
                          .tooltip = "Stop; what is measured stays (Esc)"};
    if (button(c, "##scale-cancel", x, y - run_button::h / 2, run_button::w, run_button::h,
               page.cancelling ? "cancelling …" : "Cancel", stop))
        cancel_bench(state);
    x += run_button::w + 16;
    const float buttons = files_width(6),
                field = std::clamp(a.inner_right() - x - buttons - 12 - 320, 90.0f, 220.0f),
                from = a.inner_right() - buttons - field - 6;
    progress(c, state, x, y, from - 16 - x);
    files(c, state, from, y, field);
}

}  // namespace tilewalk::ui
