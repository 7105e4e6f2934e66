// A window around ui::frame(), and what the command line may ask of it. Nothing but window.cpp knows OpenGL.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace tilewalk::ui {
struct AppState;
}

namespace tilewalk {

struct WindowOptions {
    int frames = 0;          ///< close after so many frames; 0: stay open until the user closes the window
    std::string screenshot;  ///< write the last frame as PNG to this path (with `frames` 0: the fifth frame);
                             ///< that of the speaker's window as "…-speaker.png"
    /// Called a moment after the problem or the lesson changed, so that they are back after whatever ends the
    /// program; empty: nothing is kept meanwhile.
    std::function<void(ui::AppState&)> keep{};
    /// Say on stderr how long the first frame took to appear, and which frames took longer than 16 ms.
    bool timing = false;
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

/// Shows the state in a window until it is closed; returns an exit code and has printed why, if it is not 0.
using WindowRunner = std::function<int(ui::AppState&, const WindowOptions&)>;

/// Opens the window and runs the program in it until it is closed. Returns an exit code: 0, or 3 if no window
/// can be opened, or 4 if the screenshot cannot be written; then one sentence stands on stderr. The size of
/// the window is read from and kept in state.settings.
int run_window(ui::AppState& state, const WindowOptions& options);

}  // namespace tilewalk
