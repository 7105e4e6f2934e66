#include "app/render/offscreen.h"

#include "app/ui/app_state.h"
#include "app/ui/fonts.h"
#include "app/ui/theme.h"

#include <imgui.h>

namespace tilewalk {

Image render_frame(ui::AppState& state, int width, int height) {
    if (width < 64 || height < 64 || width > 16384 || height > 16384) return {};
    const HeadlessContext context;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    ui::load_fonts(ui::ui_scale(state, w, h), state.presenter);
    // Windows of ImGui know their content's size one frame late, popups two.
    for (int pass = 0; pass < 3; ++pass) run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); });
    return picture_of_frame(width, height, ui::theme(state.settings.theme).bg);
}

}  // namespace tilewalk
