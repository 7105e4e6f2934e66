#include "app/window/drawing.h"

#include "app/io/exit.h"
#include "app/io/file.h"
#include "app/render/raster.h"

#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cstdio>

namespace tilewalk {
namespace {

// OpenGL's rows start at the bottom.
Image read_pixels(GLFWwindow* window) {
    Image image;
    glfwGetFramebufferSize(window, &image.width, &image.height);
    const std::size_t row = static_cast<std::size_t>(image.width) * 4;
    image.rgba.resize(row * static_cast<std::size_t>(image.height));
    for (int y = 0; y < image.height; ++y)
        glReadPixels(0, image.height - 1 - y, image.width, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                     image.rgba.data() + row * static_cast<std::size_t>(y));
    return image;
}

}  // namespace

std::string glfw_reason() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "GLFW gives no reason";
}

std::string begin_drawing(GLFWwindow* window) {
    glfwMakeContextCurrent(window);
    if (gladLoadGL(reinterpret_cast<GLADloadfunc>(glfwGetProcAddress)) == 0) return "OpenGL 3.3 is missing";
    ImGui::GetIO().IniFilename = nullptr;
    // Events arrive through our own callbacks, which know the context that they are for.
    const bool there =
        ImGui_ImplGlfw_InitForOpenGL(window, false) && ImGui_ImplOpenGL3_Init("#version 330 core");
    return there ? "" : "OpenGL cannot be set up";
}

void end_drawing() {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
    if (io.BackendPlatformUserData) ImGui_ImplGlfw_Shutdown();
}

// On X11 and Windows window coordinates are pixels and the content scale counts; where they are not (macOS)
// the system has applied it already.
float display_scale(GLFWwindow* window) {
    float content = 1.0f, unused = 1.0f;
    glfwGetWindowContentScale(window, &content, &unused);
    int width = 0, pixels = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    glfwGetFramebufferSize(window, &pixels, &height);
    if (width > 0 && pixels > 0) content *= static_cast<float>(width) / static_cast<float>(pixels);
    return std::clamp(content, 0.5f, 4.0f);
}

void begin_frame(bool slept) {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    float& seconds = ImGui::GetIO().DeltaTime;
    seconds = slept ? 1.0f / 60 : std::clamp(seconds, 1e-4f, 0.25f);
    ImGui::NewFrame();
}

void draw_frame(GLFWwindow* window, ImU32 background) {
    ImGui::Render();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window, &width, &height);
    const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(background);
    glViewport(0, 0, width, height);
    glClearColor(colour.x, colour.y, colour.z, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

int save_screenshot(GLFWwindow* window, const std::string& path) {
    const auto saved = write_file_atomic(path, encode_png(read_pixels(window)));
    if (saved) return 0;
    std::fprintf(stderr, "tilewalk: %s\n", saved.error.c_str());
    return static_cast<int>(Exit::not_written);
}

}  // namespace tilewalk
