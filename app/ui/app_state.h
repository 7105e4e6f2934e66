// All state of the user interface in one struct. The window, the off-screen renderer and the tests drive the
// same `frame(AppState&)`.
#pragma once

#include "core/explain.h"
#include "core/lessons/lesson.h"
#include "core/playback.h"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk::ui {

enum class ThemeId { dark, light, contrast };

/// Keys that the program answers to. The window translates its own events; tests push them directly.
enum class Key {
    left, right, up, down, home, end, page_up, page_down, space, enter, escape, tab, backspace, del,
    plus, minus, zero, question, f1, f5, f11,
    a, b, c, e, g, h, i, l, m, n, o, p, r, s, t, v, y, z
};
struct KeyPress {
    Key key;
    bool shift = false, ctrl = false, alt = false;
};

/// What is remembered from one start to the next.
struct Settings {
    ThemeId theme = ThemeId::dark;
    float zoom = 1.0f;  ///< Ctrl + and Ctrl −, on top of the display's own scale
    bool motion = true;
    double speed = 1.0;  ///< steps per second while playing
    int window_width = 1600, window_height = 900;
    std::string example = "worked-4x4";  ///< name of the last example; empty: `problem_json` holds the last problem
    std::string problem_json;
};

/// A step of the problem's history, for undo and redo.
using ProblemPtr = std::shared_ptr<const Problem>;

/// What the interface may ask of the outside world; absent hooks disable the buttons that need them.
struct Hooks {
    std::function<Result<Problem>(const std::string& path)> load_problem;
    std::function<std::optional<std::string>(const std::string& path, const Problem&)> save_problem;  ///< error sentence
};

/// A cell being typed into: its place and the text so far.
struct CellEdit {
    CellRef cell;
    char text[64] = "";
    bool just_opened = true;
    std::string widget;  ///< which view opened it ("hbm", "panel")
};

struct AppState {
    // The lesson and its walk
    const Lesson* lesson = nullptr;
    std::vector<Problem> examples;
    ProblemPtr problem;
    std::shared_ptr<const Trace> trace;
    Cursor cursor;
    Player player;
    int row = 0, col = 0;          ///< the chosen row and column of the whole matrix for the formula
    std::optional<CellRef> hover;  ///< cell under the mouse in this frame
    float step_age = 1e9f;         ///< seconds since the step changed, for the one transition
    int previous_step = -1;

    // Editing
    std::vector<ProblemPtr> undo, redo;
    std::optional<CellEdit> edit;

    // What is on screen
    Settings settings;
    bool presenter = false;
    float display_scale = 1.0f;  ///< HiDPI factor of the display
    bool show_help = false, show_problem = false, show_goto = false;
    std::string notice;          ///< one sentence at the bottom of the window, with its age
    float notice_age = 1e9f;

    // Events of this frame, emptied by frame()
    std::vector<KeyPress> keys;
    std::vector<std::string> dropped;  ///< paths of files dropped on the window

    Hooks hooks;
    bool quit = false;
};

/// Lays out and draws one frame of the whole program into the current ImGui context. No window, no GPU.
void frame(AppState& state);
/// True while something moves (playing, the 160 ms of a transition, a notice that fades): draw the next frame now.
bool animating(const AppState& state);
/// The scale that fonts must be loaded for in the next frame (display × zoom, or window height / 720 in
/// presenter mode).
float ui_scale(const AppState& state, float window_width, float window_height);

/// A new problem: rebuilds the trace, keeps the step if possible, adds to undo when asked. If the problem is
/// refused the old one stays and the notice says why.
bool set_problem(AppState& state, Problem problem, bool remember = true);

}  // namespace tilewalk::ui
