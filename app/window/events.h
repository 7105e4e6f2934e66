// What GLFW reports between two frames.
#pragma once

#include "app/ui/kit/key.h"

#include <optional>
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

/// The press that a GLFW key event means, or nothing: a release, a repeat of a key that does not repeat, a
/// key that the program does not know. `typing`: a text field has the keyboard and keeps what belongs to it.
/// The question mark arrives as a character, not here.
std::optional<ui::KeyPress> key_press(int key, int scancode, int action, int mods, bool typing);

/// Installs the callbacks that ImGui chains to; before ImGui_ImplGlfw_InitForOpenGL.
void watch_events(GLFWwindow* window, Events& events);
/// Takes the key callback over from ImGui; after ImGui_ImplGlfw_InitForOpenGL.
void watch_keys(GLFWwindow* window);
/// Hands the releases that were held back to ImGui; once per frame, before new events are read.
void release_keys(GLFWwindow* window, Events& events);

}  // namespace tilewalk
