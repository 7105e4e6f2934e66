// The page for the back row: one plot, large, and what it comes to. Nothing under 27 px on a page of
// 1280 × 720. The arrow keys change the plot.
#include "app/ui/shell/presenter.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/chapters/scale/text.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/views.h"
#include "app/ui/state/state.h"
#include "core/bench/findings.h"

namespace tilewalk::ui {

namespace {

void head(const Canvas& c, const AppState& state, float W) {
    const float w = presenter_title(c, "At scale");
    const ShownReport* shown = chosen_report(state);
    if (!shown) return;
    const std::string machine = shown->report.machine.cpu, what = shape_text(shown->shape());
    c.text_within(W - 28, 36, W - 28 - 72 - w - 40 - 260,
                  what + (shown->recorded   ? ", " + shown->name()
                          : machine.empty() ? ""
                                            : ", " + machine),
                  27, c.theme->t2, Face::medium, Align::right);
}

void mouse_buttons(const Canvas& c, AppState& state) {
    if (state.mouse_age > presenter_buttons_seconds) return;
    float x = 220;
    const auto icon = [&](const char* id, Icon which, const char* tip) {
        const bool clicked = icon_button(c, id, x, 14, 44, 44, which, {.tooltip = tip});
        x += 50;
        return clicked;
    };
    if (icon("##back", Icon::back, "Time (←)")) state.scale.memory_plot = false;
    if (icon("##forward", Icon::forward, "Memory (→)")) state.scale.memory_plot = true;
    if (icon("##theme", Icon::theme, "Theme (T)")) next_theme(state);
    if (icon("##leave", Icon::close, "Leave presenter mode (Esc)")) state.presenter = false;
}

}  // namespace

void scale_presenter(const Canvas& page_canvas, AppState& state, float W, float H) {
    const Theme bright = bright_room(*page_canvas.theme);
    Canvas c = page_canvas;
    c.theme = &bright;
    scale_engine(state);
    begin_region(c, "Presenter", 0, 0, W, H);
    head(c, state, W);
    Chart chart = state.scale.memory_plot ? memory_chart(*c.theme, state) : time_chart(*c.theme, state);
    chart.subtitle = "";
    c.text(40, 104, chart.title, 44, c.theme->t1, Face::semibold);
    chart.title = "";
    ChartLook look{.text = 27, .label = 28, .marker = 9, .line = 2, .panel = false};
    const Rect area{40, 136, W - 80, H - 136 - 132};
    note_part(c, area, state.scale.memory_plot ? "Memory" : "Time");
    const ChartScene scene = lay_out(chart, area, look, *c.theme);
    paint(c, scene);
    const ShownReport* shown = chosen_report(state);
    c.paragraph(40, H - 116, W - 80, finding(shown ? shown->report : BenchReport{}), 30, c.theme->t1, 2,
                Face::regular, 1.4f);
    mouse_buttons(c, state);
    end_panel(c);
}

}  // namespace tilewalk::ui
