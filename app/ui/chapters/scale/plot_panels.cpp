// The two plots in their panels: laid out anew only where something changed.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/empty.h"
#include "app/ui/kit/items.h"

#include <cstdio>

namespace tilewalk::ui {

namespace {

// All that a plot depends on.
std::string made_for(const Canvas& c, const AppState& state, const Rect& a) {
    const ScaleForm& f = state.scale;
    const ScalePage& page = *state.bench;
    char text[512];
    std::snprintf(
        text, sizeof text, "%s %g %g %g %g %g %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %s",
        c.theme->name, double(c.s), double(a.x), double(a.y), double(a.w), double(a.h), state.presenter,
        page.changes, f.report, f.measure, f.linear[0], f.linear[1], f.linear[2], f.linear_memory, f.backward,
        f.causal, f.decode, f.queries, f.d, f.heads, f.kv_heads, f.threads, f.gpu, static_cast<int>(f.type()),
        f.preset, page.running * 2 + page.devices.has_value(), f.lengths);
    return text + std::string(" ") + std::to_string(chosen_length(state));
}

ChartLook look_for(const Rect& a, float buttons) {
    ChartLook look;
    look.title_room = a.inner_w() - buttons;
    look.x_title = a.h > 240;
    return look;
}

void renew(ScalePage::Drawn& drawn, const Canvas& c, const AppState& state, const Rect& a,
           const ChartLook& look, const std::function<Chart()>& make) {
    const std::string now = made_for(c, state, a);
    if (drawn.made_for == now) return;
    Chart chart = make();
    // A title that does not fit beside the buttons says less.
    if (text_width(Face::semibold, size::lead, chart.title) > look.title_room)
        chart.title = chart.title.ends_with("decoding")        ? "Decoding"
                      : chart.title.ends_with("backward pass") ? "Backward"
                                                               : "Forward";
    if (text_width(Face::semibold, size::lead, chart.title) > look.title_room) chart.title.clear();
    drawn = {now, lay_out(chart, a, look, *c.theme)};
}

// The chosen point, and the one under the mouse.
void marks(const Canvas& c, AppState& state, const ChartScene& scene) {
    ScalePage& page = *state.bench;
    const Point mouse = c.mouse();
    const Rect& p = scene.plot;
    const bool over = mouse.x >= p.x - 8 && mouse.x <= p.right() + 8 && mouse.y >= p.y - 8 &&
                      mouse.y <= p.bottom() + 8 && ImGui::IsWindowHovered();
    const SceneMark* near = over ? mark_near(scene, mouse) : nullptr;
    if (near) {
        page.hovered = near->record, page.hovered_at = {near->x, near->y};
        c.ring(near->x, near->y, near->radius + 5, c.theme->t2, 1.5f);
        if (ImGui::IsMouseClicked(0)) choose_record(state, near->record);
    }
    const ShownReport* shown = chosen_report(state);
    const Record* chosen = shown ? shown->find(state.scale.kernel, chosen_length(state)) : nullptr;
    const int number = chosen ? number_of(page, *chosen) : -1;
    for (const SceneMark& mark : scene.marks)
        if (number >= 0 && mark.record == number) c.ring(mark.x, mark.y, mark.radius + 4, c.theme->focus, 2);
}

void log_button(const Canvas& c, const char* id, float right, float y, bool& linear) {
    const ButtonLook look{.active = !linear, .tooltip = "Logarithmic or linear axis (L)"};
    if (button(c, id, right - 44, y, 44, space::control, "log", look)) linear = !linear;
}

// In the place of the plot as long as nothing was measured.
void nothing_measured(const Canvas& c, AppState& state, const Rect& a) {
    const EmptyState empty{
        .words = std::string(run_label(state.scale)) +
                 " measures the kernels on this machine; Open shows results that were recorded.",
        .first = {"##scale-start", std::string(run_label(state.scale)) + " (Space)",
                  "Measure on this machine (Space)"}};
    if (empty_state(c, a, empty).first) start_bench(state);
}

}  // namespace

void choose_record(AppState& state, int number) {
    const ShownReport* shown = nullptr;
    const Record* record = record_of(scale_page(state), number, &shown);
    if (!record) return;
    state.scale.N = record->workload.N_kv;
    state.scale.kernel = record->kernel;
    state.scale.report = static_cast<int>(shown - state.bench->reports.data());
}

void scale_time_plot(const Canvas& c, AppState& state, const Rect& a) {
    ScalePage& page = scale_page(state);
    scale_engine(state);  // the looks of the kernels follow its ladder
    const bool empty = page.reports.empty() && !page.running;
    const Panel panel(c, "Time", a, empty ? "Nothing measured yet" : "");
    if (empty) return nothing_measured(c, state, a);
    const bool wide = a.w > 400;
    const bool read = shows_decoding(state);
    const std::vector<std::string> measures = {"time", read ? "GB/s" : "GFLOP/s",
                                               !wide  ? "%"
                                               : read ? "% of reading"
                                                      : "% of peak"};
    const float w = segmented_width(measures);
    renew(page.time, c, state, a, look_for(a, w + 50), [&] { return time_chart(*c.theme, state); });
    paint(c, page.time.scene);
    segmented(c, "##scale-measure", a.right() - 10 - 48 - w, a.y + space::control_top, measures,
              state.scale.measure);
    log_button(c, "##scale-log-time", a.right() - 10, a.y + space::control_top,
               state.scale.linear[static_cast<std::size_t>(state.scale.measure)]);
    marks(c, state, page.time.scene);
}

void scale_memory_plot(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Memory", a);
    ScalePage& page = scale_page(state);
    renew(page.memory, c, state, a, look_for(a, 50), [&] { return memory_chart(*c.theme, state); });
    paint(c, page.memory.scene);
    log_button(c, "##scale-log-memory", a.right() - 10, a.y + space::control_top, state.scale.linear_memory);
    marks(c, state, page.memory.scene);
}

}  // namespace tilewalk::ui
