// For the window alone: the part of the version differences that needs ImGui's OpenGL backend.
#pragma once

#include "app/ui/kit/letters.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <glad/gl.h>
#endif

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewalk::ui {

/// The letters of one OpenGL context, which is current in every call. From 1.92 on the backend has them.
class GlLetters : public LetterTexture {
public:
    /// All at once, after load_fonts() said that the atlas was rebuilt.
    void upload() {
#if IMGUI_VERSION_NUM < 19200
        drop(shown_);
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
    }
    /// The context is gone, and what it had.
    void forget() { shown_ = coming_ = 0; }

    void begin(int width, int height) override {
        drop(coming_);
        glGenTextures(1, &coming_);
        const Bound bound(coming_);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    }
    void put(int x, int y, int width, int height, const unsigned char* alpha) override {
        std::vector<std::uint32_t> white(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
        for (std::uint32_t& px : white) px = IM_COL32(255, 255, 255, *alpha++);
        const Bound bound(coming_);
        glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, width, height, GL_RGBA, GL_UNSIGNED_BYTE, white.data());
    }
    void finish() override {
#if IMGUI_VERSION_NUM < 19200
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        drop(shown_);
        std::swap(shown_, coming_);
        const auto id = static_cast<std::intptr_t>(shown_);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): ImGui calls a texture by a pointer
        ImGui::GetIO().Fonts->SetTexID(reinterpret_cast<ImTextureID>(id));
#endif
    }

private:
    struct Bound {
        explicit Bound(unsigned texture) {
            glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
            glBindTexture(GL_TEXTURE_2D, texture);
        }
        Bound(const Bound&) = delete;
        Bound& operator=(const Bound&) = delete;
        ~Bound() { glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before)); }
        int before = 0;
    };
    static void drop(unsigned& texture) {
        if (texture != 0) glDeleteTextures(1, &texture);
        texture = 0;
    }
    unsigned shown_ = 0, coming_ = 0;
};

}  // namespace tilewalk::ui
