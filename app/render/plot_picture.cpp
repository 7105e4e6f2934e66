#include "app/render/plot_picture.h"

#include "app/render/offscreen.h"
#include "app/ui/kit/chart.h"

#include <cmath>
#include <imgui.h>

namespace tilewalk {

namespace {

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
