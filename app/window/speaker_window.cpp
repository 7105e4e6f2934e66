#include "app/window/speaker_window.h"

#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat_gl.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/state/state.h"
#include "app/window/drawing.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tilewalk {
namespace {

constexpr int least_width = 800, least_height = 600, usual_width = 1280, usual_height = 720;  // logical

struct Area {
    int x = 0, y = 0, width = 0, height = 0;
};

Area area_of(GLFWwindow* window) {
    Area a;
    glfwGetWindowPos(window, &a.x, &a.y);
    glfwGetWindowSize(window, &a.width, &a.height);
    return a;
}

std::span<GLFWmonitor*> monitors() {
    int count = 0;
    GLFWmonitor** const all = glfwGetMonitors(&count);
    return {all, static_cast<std::size_t>(count)};
}

// The one that the middle of the window lies on.
int monitor_below(GLFWwindow* window) {
    const Area a = area_of(window);
    const int x = a.x + a.width / 2, y = a.y + a.height / 2;
    int n = 0;
    for (GLFWmonitor* monitor : monitors()) {
        int left = 0, top = 0;
        glfwGetMonitorPos(monitor, &left, &top);
        const GLFWvidmode* mode = glfwGetVideoMode(monitor);
        const bool inside = mode && x >= left && x < left + mode->width && y >= top && y < top + mode->height;
        if (inside) return n;
        ++n;
    }
    return 0;
}

void fill_screen(GLFWwindow* window, GLFWmonitor* monitor) {
    const GLFWvidmode* mode = glfwGetVideoMode(monitor);
    if (!mode || glfwGetWindowMonitor(window) == monitor) return;
    // It stays in sight while the speaker's window has the keyboard.
    glfwSetWindowAttrib(window, GLFW_AUTO_ICONIFY, GLFW_FALSE);
    glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

void lie_on(GLFWwindow* window, GLFWmonitor* monitor) {
    Area room;
    glfwGetMonitorWorkarea(monitor, &room.x, &room.y, &room.width, &room.height);
    if (room.width <= 0) return;
    glfwSetWindowMonitor(window, nullptr, room.x, room.y, room.width, room.height, GLFW_DONT_CARE);
}

}  // namespace

/// What the window has while it is open.
struct SpeakerWindow::Own {
    GLFWwindow* window = nullptr;
    ImGuiContext* context = nullptr;
    Events events;
    ui::FontsAside fonts;  // those of this window, swapped in while it is drawn
    ui::GlLetters letters;
    bool has_letters = false, shown = false;
    std::shared_ptr<ui::Speaker> speaker;  // whose keys the events are

    // The screens
    std::optional<Area> audience_before;  // it filled its screen; nothing: it was left alone
    int screen = 0;                       // that the audience's window lay on
    bool swapped = false;

    ~Own() {
        fonts.swap();  // it puts the audience's back
        if (context) {
            const InContext inside(context);
            if (window) glfwMakeContextCurrent(window);
            end_drawing();
            ImGui::DestroyContext(context);
        }
        if (window) glfwDestroyWindow(window);
    }
};

SpeakerWindow::SpeakerWindow(GLFWwindow* audience, Events& events, FrameTimes& times)
    : audience_(audience), audience_events_(events), times_(times) {}
SpeakerWindow::~SpeakerWindow() {
    if (!own_) return;
    own_.reset();
    glfwMakeContextCurrent(audience_);
}

std::string SpeakerWindow::open(ui::AppState& state) {
    auto own = std::make_unique<Own>();
    const float scale = display_scale(audience_);
    const auto scaled = [scale](int length) { return static_cast<int>(static_cast<float>(length) * scale); };
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_FALSE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    own->window =
        glfwCreateWindow(scaled(usual_width), scaled(usual_height), "Tilewalk speaker", nullptr, nullptr);
    if (!own->window) return glfw_reason();
    glfwSetWindowSizeLimits(own->window, least_width, least_height, GLFW_DONT_CARE, GLFW_DONT_CARE);
    own->speaker = state.speaker;
    own->context = ImGui::CreateContext();
    {
        const InContext inside(own->context);
        std::string missing = begin_drawing(own->window);
        // The audience's window waits for its display; waiting for both would halve the pace.
        if (missing.empty()) glfwSwapInterval(0);
        if (!missing.empty()) return missing;
    }
    own->events.state = &state;
    own->events.keys = &own->speaker->keys;
    own->events.context = own->context;
    own->events.leader = &audience_events_;
    watch_events(own->window, own->events);
    own->screen = monitor_below(audience_);
    own_ = std::move(own);
    return {};
}

void SpeakerWindow::close(ui::AppState& state) {
    if (own_->audience_before) {
        const Area& a = *own_->audience_before;
        glfwSetWindowMonitor(audience_, nullptr, a.x, a.y, a.width, a.height, GLFW_DONT_CARE);
    }
    own_.reset();
    glfwMakeContextCurrent(audience_);
    audience_events_.frames_wanted = 3;
    state.speaker->keys.clear();
}

void SpeakerWindow::follow(ui::AppState& state) {
    state.screens = static_cast<int>(monitors().size());
    if (own_ && glfwWindowShouldClose(own_->window) && state.speaker->open) toggle_speaker(state);
    const bool wanted = speaker_in_window(state);
    if (own_ && !wanted) close(state);
    if (!wanted) return;

    const bool opens = !own_;
    if (opens) {
        const std::string problem = open(state);
        glfwMakeContextCurrent(audience_);
        if (!own_) {
            state.speaker->no_window = true;
            return notify(state, "The speaker's window cannot be opened (" + problem + "): it is a panel.");
        }
    }
    if (state.screens > 1 && (opens || own_->swapped != state.speaker->swapped)) {
        own_->swapped = state.speaker->swapped;
        if (!own_->audience_before) own_->audience_before = area_of(audience_);
        const auto [audience, speaker] = ui::choose_screens(own_->screen, state.screens, own_->swapped);
        fill_screen(audience_, monitors()[static_cast<std::size_t>(audience)]);
        lie_on(own_->window, monitors()[static_cast<std::size_t>(speaker)]);
    }
}

int SpeakerWindow::draw(ui::AppState& state, bool slept, const std::string& screenshot) {
    if (!own_ || glfwGetWindowAttrib(own_->window, GLFW_ICONIFIED)) return 0;
    int width = 0, height = 0, code = 0;
    glfwGetWindowSize(own_->window, &width, &height);
    glfwMakeContextCurrent(own_->window);
    own_->fonts.swap();
    {
        const InContext inside(own_->context);
        release_keys(own_->window, own_->events);
        times_.measure(FrameTimes::fonts, state, [&] {
            const auto w = static_cast<float>(width), h = static_cast<float>(height);
            const float scale = display_scale(own_->window);
            if (!screenshot.empty()) {
                if (ui::load_speaker_fonts(state, scale, w, h)) own_->letters.upload();
                own_->has_letters = true;
                return;
            }
            const ui::Typefaces now =
                ui::load_speaker_letters(state, scale, w, h, ui::letters_seconds, &own_->letters);
            own_->has_letters |= now != ui::Typefaces::standing_in;
            if (now != ui::Typefaces::ready)
                audience_events_.frames_wanted = std::max(audience_events_.frames_wanted, 2);
        });
        if (own_->has_letters) code = draw_page(state, slept, screenshot);
    }
    own_->fonts.swap();
    glfwMakeContextCurrent(audience_);
    return code;
}

// In its context, with its letters. It is shown once there is something to see.
int SpeakerWindow::draw_page(ui::AppState& state, bool slept, const std::string& screenshot) {
    ui::apply_style(state.settings.theme, ui::font_scale());
    begin_frame(slept);
    times_.measure(FrameTimes::speaker, state, [&] { ui::speaker_frame(state); });
    draw_frame(own_->window, ui::theme(state.settings.theme).bg);
    const int code = screenshot.empty() ? 0 : save_screenshot(own_->window, screenshot);
    glfwSwapBuffers(own_->window);
    if (!std::exchange(own_->shown, true)) glfwShowWindow(own_->window);
    return code;
}

}  // namespace tilewalk
