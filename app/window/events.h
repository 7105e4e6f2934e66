// What GLFW reports between two frames.
#pragma once

#include <vector>

struct GLFWwindow;

namespace tilewalk {
namespace ui {
struct AppState;
}

/// Filled by the callbacks; the window's user pointer refers to it.
struct Events {
    ui::AppState* state = nullptr;
    int frames_wanted = 0;  ///< frames until the picture has settled after the last event
    bool scale_changed = true;

    /// A key event as GLFW reports it.
    struct KeyEvent {
        int key, scancode, action, mods;
    };
    std::vector<int> pressed;        ///< keys that went down since the last frame
    std::vector<KeyEvent> releases;  ///< of those, for ImGui to see in the next frame
};

/// Installs the callbacks that ImGui chains to; before ImGui_ImplGlfw_InitForOpenGL.
void watch_events(GLFWwindow* window, Events& events);
/// Takes the key callback over from ImGui; after ImGui_ImplGlfw_InitForOpenGL.
void watch_keys(GLFWwindow* window);
/// Hands the releases that were held back to ImGui; once per frame, before new events are read.
void release_keys(GLFWwindow* window, Events& events);

}  // namespace tilewalk
