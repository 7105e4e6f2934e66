#include "app/render/offscreen.h"

#include "app/ui/kit/fonts.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"

#include <imgui.h>
#include <optional>
#include <utility>

namespace tilewalk {

bool settle_frame(ui::AppState& state, int width, int height) {
    if (width < 64 || height < 64 || width > 16384 || height > 16384) return false;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    ui::load_fonts(ui::ui_scale(state, w, h), state.presenter);

    // A picture shows the step, not the way to it.
    const bool still = std::exchange(state.still, true);
    const bool playing = std::exchange(state.player.playing, false);
    // Windows of ImGui know their content's size one frame late, popups two.
    for (int pass = 0; pass < 3; ++pass) run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); });
    state.still = still;
    state.player.playing = playing;
    return true;
}

Image render_frame(ui::AppState& state, int width, int height) {
    std::optional<HeadlessContext> context;
    if (!ImGui::GetCurrentContext()) context.emplace();
    if (!settle_frame(state, width, height)) return {};
    return picture_of_frame(width, height, ui::theme(state.settings.theme).bg);
}

}  // namespace tilewalk
