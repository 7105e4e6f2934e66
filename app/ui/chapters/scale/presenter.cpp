// The page for the back row: one plot, large, and what it comes to. Nothing under 27 px on a page of
// 1280 × 720. The arrow keys change the plot.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/items.h"
#include "core/bench/findings.h"

namespace tilewalk::ui {

namespace {

std::string subject(const ShownReport& shown) {
    const std::string machine = shown.report.machine.cpu, what = shape_text(shown.shape());
    if (shown.recorded) return what + ", " + shown.name();
    return machine.empty() ? what : what + ", " + machine;
}

}  // namespace

void scale_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    scale_engine(state);
    PresenterPage page(canvas, state, W, H, "At scale", 220);
    page.back = "Time (←)", page.forward = "Memory (→)";
    page.move = [&](int to) { state.scale.memory_plot = to > 0; };
    const Canvas& c = page.c;
    const ShownReport* shown = chosen_report(state);
    if (shown) page.subject(subject(*shown), 300);
    Chart chart = state.scale.memory_plot ? memory_chart(*c.theme, state) : time_chart(*c.theme, state);
    const float x = space::far_side, w = W - 2 * x;
    c.text(x, 104, chart.title, size::far_title, c.theme->t1, Face::semibold);
    chart.title = chart.subtitle = "";
    const ChartLook look{
        .text = size::far, .label = size::far_number, .marker = 9, .line = 2, .panel = false};
    const Rect area{x, 136, w, H - 136 - 132};
    note_part(c, area, state.scale.memory_plot ? "Memory" : "Time");
    paint(c, lay_out(chart, area, look, *c.theme));
    c.paragraph(x, H - 116, w, finding(shown ? shown->report : BenchReport{}), size::far_text, c.theme->t1, 2,
                Face::regular, size::lines);
}

}  // namespace tilewalk::ui
