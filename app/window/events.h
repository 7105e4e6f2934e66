// What GLFW reports between two frames.
#pragma once

#include "app/ui/kit/key.h"

#include <optional>
#include <vector>

struct GLFWwindow;
struct ImGuiContext;

namespace tilewalk {
namespace ui {
struct AppState;
}

/// Filled by the callbacks; the window's user pointer refers to it.
struct Events {
    ui::AppState* state = nullptr;
    std::vector<ui::KeyPress>* keys = nullptr;  ///< where the shortcuts go
    ImGuiContext* context = nullptr;            ///< that the window draws in
    Events* leader = nullptr;  ///< of the window that wakes this one up; null: it does so itself
    int frames_wanted = 0;     ///< frames until the picture has settled after the last event
    bool scale_changed = true;

    /// A key event as GLFW reports it.
    struct KeyEvent {
        int key, scancode, action, mods;
    };
    bool pressed = false;            ///< a key went down since the last frame
    std::vector<KeyEvent> releases;  ///< since then, for ImGui to see in the next frame
};

/// The press that a GLFW key event means, or nothing: a release, a repeat of a key that does not repeat, a
/// key that the program does not know. `typing`: a text field has the keyboard and keeps what belongs to it.
/// The question mark arrives as a character, not here.
std::optional<ui::KeyPress> key_press(int key, int scancode, int action, int mods, bool typing);

/// While it lives ImGui's current context is this one.
struct InContext {
    explicit InContext(ImGuiContext* context);
    ~InContext();
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

private:
    ImGuiContext* before_;
};

/// Installs the callbacks. They pass on to ImGui, which installs none: with two windows each has a context.
void watch_events(GLFWwindow* window, Events& events);
/// Hands the releases that were held back to ImGui; once per frame, before new events are read.
void release_keys(GLFWwindow* window, Events& events);

}  // namespace tilewalk
