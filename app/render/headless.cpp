#include "app/render/offscreen.h"

#include "app/ui/kit/imgui_compat.h"

#include <cfloat>
#include <imgui.h>

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

}  // namespace tilewalk
