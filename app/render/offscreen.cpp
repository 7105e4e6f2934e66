#include "app/render/offscreen.h"

#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/letters.h"
#include "app/ui/shell/frame.h"
#include "app/ui/shell/panels.h"
#include "app/ui/shell/speaker.h"

#include <cfloat>
#include <optional>
#include <utility>

namespace tilewalk {

HeadlessContext::HeadlessContext(ImFontAtlas* shared_fonts) : previous_(ImGui::GetCurrentContext()) {
    own_ = ImGui::CreateContext(shared_fonts);
    ImGui::SetCurrentContext(own_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.ConfigInputTextCursorBlink = false;  // the same frame, the same pixels
    ui::map_keys_without_window();
    ui::send_mouse_position(-FLT_MAX, -FLT_MAX);
}

HeadlessContext::~HeadlessContext() {
    ImGui::DestroyContext(own_);
    ImGui::SetCurrentContext(previous_);
}

void HeadlessContext::enter() {
    previous_ = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(own_);
}
void HeadlessContext::leave() { ImGui::SetCurrentContext(previous_); }

void run_frame(int width, int height, float seconds, const std::function<void()>& draw) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = seconds > 0 ? seconds : 1.0f / 60;
    ImGui::NewFrame();
    draw();
    ImGui::Render();
}

Image picture_of_frame(int width, int height, ImU32 background) {
    const ui::AtlasPixels atlas = ui::atlas_pixels(*ImGui::GetIO().Fonts);
    return rasterise(*ImGui::GetDrawData(), {atlas.alpha, atlas.width, atlas.height}, width, height,
                     background);
}

void draw_rows_of_frame(Image& image, ImU32 background, int first, int end) {
    const ui::AtlasPixels atlas = ui::atlas_pixels(*ImGui::GetIO().Fonts);
    rasterise_rows(*ImGui::GetDrawData(), {atlas.alpha, atlas.width, atlas.height}, image, background, first,
                   end);
}

// The speaker's window, and what its keys do to the page.
static void draw_speaker(ui::AppState& state) {
    state.speaker->keys = std::exchange(state.keys, {});
    ui::speaker_frame(state);
    ui::answer_keys(state);
}

bool settle_frame(ui::AppState& state, int width, int height, int passes) {
    if (width < 64 || height < 64 || width > 16384 || height > 16384) return false;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    const bool alone = ui::speaker_in_window(state);
    if (alone)
        ui::load_speaker_fonts(state, state.display_scale, w, h);
    else
        ui::load_page_fonts(state, w, h);

    // A picture shows the step, not the way to it.
    const bool still = std::exchange(state.still, true);
    const bool playing = std::exchange(state.player.playing, false);
    for (int pass = 0; pass < passes; ++pass)
        run_frame(width, height, 1.0f / 60, [&] { alone ? draw_speaker(state) : ui::frame(state); });
    state.still = still;
    state.player.playing = playing;
    return true;
}

bool Settling::bit(ui::AppState& state, int width, int height) {
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    if (ui::load_page_letters(state, w, h, ui::letters_seconds, nullptr) == ui::Typefaces::standing_in)
        return false;
    if (passes_ + 1 < settling_passes) {
        settle_frame(state, width, height, 1);
        ++passes_;
        return false;
    }
    passes_ = 0;
    return true;
}

Image render_frame(ui::AppState& state, int width, int height) {
    std::optional<HeadlessContext> context;
    if (!ImGui::GetCurrentContext()) context.emplace();
    if (!settle_frame(state, width, height)) return {};
    return picture_of_frame(width, height, ui::theme(state.settings.theme).bg);
}

Image moving_frame(ui::AppState& state, float seconds, int width, int height) {
    constexpr float passes = 1.0f / 60;  // while the frame is drawn
    run_frame(width, height, passes, [&] {
        state.step_age = seconds - passes;
        ui::frame(state);
    });
    return picture_of_frame(width, height, ui::theme(state.settings.theme).bg);
}

}  // namespace tilewalk
