#include "app/window/events.h"

#include "app/ui/state/app_state.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <utility>

namespace tilewalk {
namespace {

// ImGui needs a frame to see an event, one to react, and one to lay out what changed.
constexpr int frames_to_settle = 3;

Events& events_of(GLFWwindow* window) { return *static_cast<Events*>(glfwGetWindowUserPointer(window)); }

void wake(GLFWwindow* window) {
    Events& events = events_of(window);
    (events.leader ? *events.leader : events).frames_wanted = frames_to_settle;
}

// Wakes the window up, and passes the event on in its context.
template <auto callback, class... Argument> void pass_on(GLFWwindow* window, Argument... arguments) {
    wake(window);
    const InContext inside(events_of(window).context);
    callback(window, arguments...);
}

void on_character(GLFWwindow* window, unsigned code_point) {
    wake(window);
    const InContext inside(events_of(window).context);
    ImGui_ImplGlfw_CharCallback(window, code_point);
    // Where '?' and ':' lie, and with which modifiers, only the layout knows.
    if (ImGui::GetIO().WantTextInput) return;
    if (code_point == '?') events_of(window).keys->push_back({ui::Key::question});
    if (code_point == ':') events_of(window).keys->push_back({ui::Key::colon});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
    wake(window);
    ui::AppState& state = *events_of(window).state;
    for (int i = 0; i < count; ++i) state.dropped.emplace_back(paths[i]);
}

void on_scale(GLFWwindow* window, float, float) {
    wake(window);
    events_of(window).scale_changed = true;
}

// Shortcuts are taken from the events, not from ImGui's state of the keyboard: ImGui before 1.87 looks at the
// keys once per frame and would miss a key that goes down and up between two slow frames. For the same reason
// its text fields see what is let go in a frame in which a key was pressed one frame late.
void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    wake(window);
    Events& events = events_of(window);
    const InContext inside(events.context);
    if (auto press = key_press(key, scancode, action, mods, ImGui::GetIO().WantTextInput))
        events.keys->push_back(*press);

    // Of Ctrl A, too, where Ctrl is let go in the frame that A is pressed in.
    if (action == GLFW_RELEASE && events.pressed) {
        events.releases.push_back({key, scancode, action, mods});
        return;
    }
    if (action == GLFW_PRESS) events.pressed = true;
    ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
}

}  // namespace

InContext::InContext(ImGuiContext* context) : before_(ImGui::GetCurrentContext()) {
    ImGui::SetCurrentContext(context);
}
InContext::~InContext() { ImGui::SetCurrentContext(before_); }

void watch_events(GLFWwindow* window, Events& events) {
    glfwSetWindowUserPointer(window, &events);
    glfwSetCharCallback(window, on_character);
    glfwSetKeyCallback(window, on_key);
    glfwSetDropCallback(window, on_drop);
    glfwSetWindowContentScaleCallback(window, on_scale);
    glfwSetCursorEnterCallback(window, pass_on<ImGui_ImplGlfw_CursorEnterCallback, int>);
    glfwSetMouseButtonCallback(window, pass_on<ImGui_ImplGlfw_MouseButtonCallback, int, int, int>);
    glfwSetScrollCallback(window, pass_on<ImGui_ImplGlfw_ScrollCallback, double, double>);
    glfwSetWindowFocusCallback(window, pass_on<ImGui_ImplGlfw_WindowFocusCallback, int>);
#if IMGUI_VERSION_NUM < 18700
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { wake(w); });
#else
    glfwSetCursorPosCallback(window, pass_on<ImGui_ImplGlfw_CursorPosCallback, double, double>);
#endif
    glfwSetWindowRefreshCallback(window, wake);
    glfwSetWindowCloseCallback(window, wake);
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { wake(w); });
}

void release_keys(GLFWwindow* window, Events& events) {
    if (!events.releases.empty()) wake(window);
    for (const auto& [key, scancode, action, mods] : std::exchange(events.releases, {}))
        ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
    events.pressed = false;
}

}  // namespace tilewalk
