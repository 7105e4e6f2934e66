#include "app/window/window.h"

#include "app/io/end_request.h"
#include "app/io/file.h"
#include "app/render/raster.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat_gl.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/window/events.h"

#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilewalk {
namespace {

constexpr int min_width = 1024, min_height = 640;  // logical pixels
constexpr int exit_no_display = 3, exit_not_written = 4;
constexpr double longest_nap = 0.2;  // a frame must not stand for more time than this while playing

int refuse(const std::string& why) {
    std::fprintf(stderr,
                 "tilewalk: no window can be opened (%s); use 'tilewalk render' or 'tilewalk trace'.\n",
                 why.c_str());
    return exit_no_display;
}

std::string glfw_reason() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "GLFW gives no reason";
}

// Everything that must be handed back, in reverse order of its creation.
struct Session {
    bool glfw = false, platform = false, renderer = false;
    GLFWwindow* window = nullptr;

    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        if (renderer) ImGui_ImplOpenGL3_Shutdown();
        if (platform) ImGui_ImplGlfw_Shutdown();
        if (ImGui::GetCurrentContext()) ImGui::DestroyContext();
        if (window) glfwDestroyWindow(window);
        if (glfw) glfwTerminate();
    }
};

// Pixels per unit of window coordinates, times what the display asks for. On X11 and Windows window
// coordinates are pixels and the content scale counts; where they are not (macOS) the system has applied it
// already.
float display_scale(GLFWwindow* window) {
    float content = 1.0f, unused = 1.0f;
    glfwGetWindowContentScale(window, &content, &unused);
    int width = 0, pixels = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    glfwGetFramebufferSize(window, &pixels, &height);
    if (width > 0 && pixels > 0) content *= static_cast<float>(width) / static_cast<float>(pixels);
    return std::clamp(content, 0.5f, 4.0f);
}

// The size of the last time, but no larger than the screen of today.
void fit_window(GLFWwindow* window, const ui::Settings& settings, float scale) {
    int x = 0, y = 0, width = 0, height = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    const auto fitted = [scale](int wished, int available) {
        const int size = static_cast<int>(std::lround(static_cast<float>(wished) * scale));
        return available > 0 ? std::min(size, available) : size;
    };
    glfwSetWindowSize(window, fitted(settings.window_width, width), fitted(settings.window_height, height));
    glfwSetWindowSizeLimits(window, fitted(min_width, width), fitted(min_height, height), GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
}

GLFWwindow* create_window(const ui::Settings& settings) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // shown once it has its size and a picture
    return glfwCreateWindow(settings.window_width, settings.window_height, "Tilewalk", nullptr, nullptr);
}

// The reason why not, or nothing.
std::string open_session(Session& session, Events& events, const ui::Settings& settings) {
    session.glfw = glfwInit() == GLFW_TRUE;
    if (!session.glfw) return glfw_reason();
    session.window = create_window(settings);
    if (!session.window) return glfw_reason();
    glfwMakeContextCurrent(session.window);
    if (gladLoadGL(reinterpret_cast<GLADloadfunc>(glfwGetProcAddress)) == 0) return "OpenGL 3.3 is missing";
    glfwSwapInterval(1);
    fit_window(session.window, settings, display_scale(session.window));
    watch_events(session.window, events);

    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    session.platform = ImGui_ImplGlfw_InitForOpenGL(session.window, true);
    watch_keys(session.window);
    session.renderer = ImGui_ImplOpenGL3_Init("#version 330 core");
    return session.platform && session.renderer ? "" : "OpenGL cannot be set up";
}

// Fonts and style belong between frames.
void prepare_look(GLFWwindow* window, Events& events, const ui::AppState& state, bool& fonts_uploaded) {
    int width = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    const float scale = ui::ui_scale(state, static_cast<float>(width), static_cast<float>(height));
    if (ui::load_fonts(scale, state.presenter) || !fonts_uploaded) {
        ui::upload_font_texture();
        fonts_uploaded = true;
        events.frames_wanted = std::max(events.frames_wanted, 2);
    }
    ui::apply_style(state.settings.theme, scale);
}

bool is_closing(GLFWwindow* window) { return glfwWindowShouldClose(window) || asked_to_end(); }

// Sleeps until something happens, unless something moves. A text field's cursor blinks. A signal does not end
// the sleep, so that it is looked for now and then. Returns true if time passed in which nothing was to be
// shown.
bool wait_for_work(GLFWwindow* window, const Events& events, const ui::AppState& state) {
    const double idle = ui::idle_seconds(state);
    if (events.frames_wanted > 0 || idle <= 0) {
        glfwPollEvents();
        return false;
    }
    if (std::isfinite(idle) || ImGui::GetIO().WantTextInput)
        glfwWaitEventsTimeout(std::min(idle, longest_nap));
    else
        do glfwWaitEventsTimeout(longest_nap);
        while (events.frames_wanted == 0 && !is_closing(window));
    return !std::isfinite(idle);
}

// After a sleep no time has passed for what is about to move.
void begin_frame(bool slept) {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    float& seconds = ImGui::GetIO().DeltaTime;
    seconds = slept ? 1.0f / 60 : std::clamp(seconds, 1e-4f, 0.25f);
    ImGui::NewFrame();
}

void draw(GLFWwindow* window, const ui::AppState& state) {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window, &width, &height);
    const ImVec4 background = ImGui::ColorConvertU32ToFloat4(ui::theme(state.settings.theme).bg);
    glViewport(0, 0, width, height);
    glClearColor(background.x, background.y, background.z, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

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

int save_screenshot(GLFWwindow* window, const std::string& path) {
    const auto saved = write_file_atomic(path, encode_png(read_pixels(window)));
    if (saved) return 0;
    std::fprintf(stderr, "tilewalk: %s\n", saved.error.c_str());
    return exit_not_written;
}

void report_first_frame(const WindowOptions& options) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - options.started;
    std::fprintf(stderr, "first frame after %.3f s\n", taken.count());
}

// Kept in logical pixels, so that it means the same on another display.
void remember_size(GLFWwindow* window, ui::AppState& state) {
    if (glfwGetWindowAttrib(window, GLFW_MAXIMIZED) || glfwGetWindowAttrib(window, GLFW_ICONIFIED)) return;
    int width = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    state.settings.window_width =
        static_cast<int>(std::lround(static_cast<float>(width) / state.display_scale));
    state.settings.window_height =
        static_cast<int>(std::lround(static_cast<float>(height) / state.display_scale));
}

// Where swapping does not wait for the display (software rendering) 60 pictures a second are enough.
void pace(double frame_began, const ui::AppState& state) {
    const double spent = glfwGetTime() - frame_began;
    if (spent < 0.004 && ui::animating(state)) glfwWaitEventsTimeout(1.0 / 60 - spent);
}

int run_loop(GLFWwindow* window, Events& events, ui::AppState& state, const WindowOptions& options) {
    const int last = options.frames > 0 ? options.frames : options.screenshot.empty() ? 0 : 5;
    bool fonts_uploaded = false;
    for (int frame = 1; !is_closing(window) && !state.quit; ++frame) {
        release_keys(window, events);
        if (last > 0) events.frames_wanted = 1;
        const bool slept = wait_for_work(window, events, state);
        const double began = glfwGetTime();
        if (events.scale_changed) state.display_scale = display_scale(window);
        events.scale_changed = false;
        if (glfwGetWindowAttrib(window, GLFW_ICONIFIED)) {
            events.frames_wanted = 0;
            glfwWaitEventsTimeout(longest_nap);
            continue;
        }

        prepare_look(window, events, state, fonts_uploaded);
        begin_frame(slept);
        ui::frame(state);
        ImGui::Render();
        draw(window, state);
        events.frames_wanted = std::max(0, events.frames_wanted - 1);

        if (frame == last && !options.screenshot.empty())
            if (const int failed = save_screenshot(window, options.screenshot)) return failed;
        glfwSwapBuffers(window);
        if (frame == 1) glfwShowWindow(window);
        if (frame == 1 && options.timing) report_first_frame(options);
        if (frame == last) break;
        pace(began, state);
    }
    remember_size(window, state);
    return 0;
}

}  // namespace

int run_window(ui::AppState& state, const WindowOptions& options) {
    Events events;
    events.state = &state;
    events.frames_wanted = 3;
    Session session;
    const std::string problem = open_session(session, events, state.settings);
    if (!problem.empty()) return refuse(problem);
    return run_loop(session.window, events, state, options);
}

}  // namespace tilewalk
