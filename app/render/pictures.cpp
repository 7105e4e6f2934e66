// Pictures as files: of the program, of the view that its window shows, and of plots.
#include "app/render/offscreen.h"
#include "app/ui/kit/chart.h"
#include "app/ui/state/app_state.h"

#include <cmath>
#include <imgui.h>
#include <utility>

namespace tilewalk {

namespace {

// Records while it lives.
struct Recording {
    ui::VectorPicture picture;
    ui::VectorPicture* before = std::exchange(ui::vector_picture, &picture);
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { ui::vector_picture = before; }
};

void draw(const ui::ChartScene& scene, const ui::Theme& theme, const ui::Rect& all) {
    ui::Canvas canvas;
    canvas.dl = ImGui::GetBackgroundDrawList();
    canvas.theme = &theme;
    canvas.s = ui::font_scale();
    canvas = canvas.moved(-all.x, -all.y);
    for (const ui::Rect& panel : scene.panels) canvas.panel(panel.x, panel.y, panel.w, panel.h);
    ui::paint(canvas, scene);
}

}  // namespace

bool is_svg_path(std::string_view path) { return lower_case(path).ends_with(".svg"); }

ui::VectorPicture vectors_of_frame(ui::AppState& state, int width, int height, int passes) {
    std::optional<HeadlessContext> context;
    if (!ImGui::GetCurrentContext()) context.emplace();
    Recording recording;
    if (!settle_frame(state, width, height, passes)) return {};
    ui::order_layers(recording.picture, *ImGui::GetDrawData());
    return std::move(recording.picture);
}

std::string svg_of_frame(ui::AppState& state, int width, int height, const std::string& prefix, int passes) {
    const ui::VectorPicture picture = vectors_of_frame(state, width, height, passes);
    return picture.shapes.empty() ? "" : ui::to_svg(picture, width, height, prefix);
}

ui::VectorPicture vectors_of(int width, int height, float scale, bool presenter, const ui::Theme& theme,
                             const std::function<void(const ui::Canvas&)>& draw) {
    ui::load_fonts(scale, presenter);
    Recording recording;
    run_frame(width, height, 1.0f / 60, [&] {
        ui::Canvas canvas;
        canvas.dl = ImGui::GetBackgroundDrawList();
        canvas.theme = &theme;
        canvas.s = ui::font_scale();
        draw(canvas);
    });
    ui::order_layers(recording.picture, *ImGui::GetDrawData());
    return std::move(recording.picture);
}

DrawingApart::DrawingApart()
    : items_(std::exchange(ui::item_registry, nullptr)), places_(std::exchange(ui::place_list, nullptr)),
      vectors_(std::exchange(ui::vector_picture, nullptr)) {}

DrawingApart::~DrawingApart() {
    resume();
    ui::item_registry = items_;
    ui::place_list = places_;
    ui::vector_picture = vectors_;
}

void DrawingApart::swap() {
    std::swap(ui::item_registry, items_);
    std::swap(ui::place_list, places_);
    std::swap(ui::vector_picture, vectors_);
    fonts_.swap();
}

void DrawingApart::pause() {
    if (std::exchange(paused_, true)) return;
    swap();
    context_.leave();
}

void DrawingApart::resume() {
    if (!std::exchange(paused_, false)) return;
    swap();
    context_.enter();
}

ui::AppState view_alone(const ui::AppState& state) {
    ui::AppState shown = state;
    shown.saving.reset();
    shown.speaker.reset();
    shown.pending.reset();  // its result belongs to the window
    shown.show_menu = false;
    shown.notice.clear();
    shown.keys.clear();
    shown.hover.reset();
    shown.mouse_age = ui::AppState{}.mouse_age;
    return shown;
}

Image picture_of_plots(const ui::ChartScene& scene, const ui::Theme& theme) {
    ImFontAtlas* const shared = ImGui::GetCurrentContext() ? ImGui::GetIO().Fonts : nullptr;
    const HeadlessContext context(shared);
    if (!shared) ui::load_fonts(2, false);
    const ui::Rect all = ui::bounds(scene);
    const int width = static_cast<int>(std::lround(all.w * ui::font_scale())),
              height = static_cast<int>(std::lround(all.h * ui::font_scale()));
    if (width < 1 || height < 1) return {};
    run_frame(width, height, 1.0f / 60, [&] { draw(scene, theme, all); });
    return picture_of_frame(width, height, theme.bg);
}

}  // namespace tilewalk
