// The one place that knows GLFW and OpenGL: a window around ui::frame().
#pragma once

#include "app/window/window_options.h"

namespace tilewalk {
namespace ui {
struct AppState;
}

/// Opens the window and runs the program in it until it is closed. Returns an exit code: 0, or 3 if no window
/// can be opened, or 4 if the screenshot cannot be written; then one sentence stands on stderr. The size of
/// the window is read from and kept in state.settings.
int run_window(ui::AppState& state, const WindowOptions& options);

}  // namespace tilewalk
