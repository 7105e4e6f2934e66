// The program in a page: a canvas around ui::frame(). page.js hands it what the browser reports, and draws no
// frame that it did not ask for.
#pragma once

#include "app/cli/arguments.h"
#include "app/io/settings.h"
#include "app/ui/kit/imgui_compat_gl.h"
#include "app/ui/state/app_state.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace tilewalk::web {

/// What the page was opened with.
struct Opening {
    std::string link;  ///< "tilewalk:…", or nothing
    std::string left;  ///< what stood open when the page was left to be loaded again (app/cli/left_open.h)
    bool presenter = false;  ///< the stage
    // What the reader's system prefers, for a first start
    std::string theme;   ///< "dark", "light"
    bool motion = true;  ///< false: it asks for less of it
    bool drawn = true;   ///< false: there is no WebGL 2, so that the walk is told in words alone
};

class Page {
public:
    /// Null if not even an empty page can be begun.
    static Page* open(const Opening& opening);

    /// Draws, and says in how many seconds it wants to draw again; a negative number: not before something
    /// happens.
    double frame(double seconds);

    // What the browser reports. Positions in px of the canvas.
    void resized(int width, int height, float device_px);
    void pointer(float x, float y, int buttons, double seconds);
    void wheel(float dx, float dy);
    /// True if the program answers to the key, so that the browser should not.
    bool key(const std::string& printed, const std::string& code, bool down, int modifiers, bool again);
    void text(const std::string& utf8);
    void pasted(const std::string& utf8);
    void dropped(const std::string& path);
    void follow(const std::string& link);
    /// What the graphics card held is gone, or may be made anew.
    void context_lost();
    void context_restored();
    /// Settings, problem and place are in the file that page.js keeps.
    void keep(bool open);
    void wake() { frames_wanted = 3; }

    /// The walk in words, for a screen reader; a line each.
    std::string words() const;
    /// Another number whenever they have changed.
    int telling() const { return times_told; }
    std::string link() const;
    bool light() const { return state.settings.theme == ui::ThemeId::light; }
    std::string title() const;
    std::string left() const;
    const std::string& clipboard() const { return pasted_text; }

private:
    explicit Page(ui::AppState begun, LoadedSettings settings)
        : state(std::move(begun)), loaded(std::move(settings)) {}
    void begin_imgui();
    void prepare_look();
    void release_keys();
    void look_for_changes();
    void draw();
    double point(double seconds);
    void begin_paste();
    void end_paste();

    ui::AppState state;
    LoadedSettings loaded;
    std::string settings_file, pasted_text;
    bool moved = false, drawing = false, fonts_uploaded = false, slept = true;
    ui::GlLetters letters;
    bool in_words = false;  ///< alone: nothing is drawn
    int width = 0, height = 0, frames_wanted = 3, times_told = 0;
    std::string told_last;
    double last_frame = 0, keep_due = -1;
    std::vector<int> pressed, releases;
    bool paste_due = false;
    std::array<bool, 512> held{};  ///< keys, while a paste has the frame
    std::array<bool, 3> held_modifiers{};
    struct Pointed {
        float x, y;
        int buttons;
        double seconds;
    };
    std::deque<Pointed> pointed;  ///< that no frame has seen yet
    int buttons_down = 0;
    ui::ProblemPtr kept_problem;
    const Lesson* kept_lesson = nullptr;
};

/// The walk that a link leads to as JSON, or a sentence.
std::string trace_of(const std::string& link);

}  // namespace tilewalk::web
