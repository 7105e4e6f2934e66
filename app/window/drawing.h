// What every window of the program does with OpenGL, in the ImGui context that is current.
#pragma once

#include <imgui.h>
#include <string>

struct GLFWwindow;

namespace tilewalk {

/// Why GLFW failed last.
std::string glfw_reason();
/// Nothing if OpenGL 3.3 is there for the window's context, which becomes current; otherwise what is missing.
std::string begin_drawing(GLFWwindow* window);
void end_drawing();

/// Pixels per unit of window coordinates, times what the display asks for.
float display_scale(GLFWwindow* window);
/// Begins a frame; after a sleep no time has passed for what is about to move.
void begin_frame(bool slept);
/// Ends it and draws what it laid out.
void draw_frame(GLFWwindow* window, ImU32 background);
/// Writes what was drawn last; an exit code.
int save_screenshot(GLFWwindow* window, const std::string& path);

}  // namespace tilewalk
