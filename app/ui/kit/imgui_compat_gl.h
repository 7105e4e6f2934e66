// For the window alone: the part of the version differences that needs ImGui's OpenGL backend.
#pragma once

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

namespace tilewalk::ui {

/// Uploads the font atlas after load_fonts() said that it was rebuilt. From 1.92 on the backend does.
inline void upload_font_texture() {
#if IMGUI_VERSION_NUM < 19200
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

}  // namespace tilewalk::ui
