// All state of the user interface in one struct. The window, the off-screen renderer and the tests drive the
// same `frame(AppState&)`.
#pragma once

#include "app/ui/state/compare_form.h"
#include "app/ui/state/memory_form.h"
#include "app/ui/state/scale_form.h"
#include "app/ui/state/timeline_view.h"
#include "app/ui/state/trace_look.h"
#include "core/base/background.h"
#include "core/walk/compare.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"
#include "core/walk/playback.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {
struct BenchReport;
}

namespace tilewalk::ui {

struct ChartScene;
struct ComparePage;
struct Glossary;
struct Inspection;
struct Marks;
struct MatrixMenu;
struct Quiz;
struct SaveCard;
struct ScalePage;
struct Theme;
struct Tour;

enum class ThemeId { dark, light, contrast };
/// Hues of the quantities: the usual ones, or ones that stay apart without red, green or blue cones.
enum class Palette { usual, safe };
/// Letters of the softmax lessons where the problem leaves them open: m, ℓ, O as in the papers on
/// FlashAttention, m, d′, o′ as in those on online softmax, or m, δ, ω.
enum class Letters { l_O, d_o, delta_omega };
/// What the window shows below its header: a lesson with its walk, or a page without one.
enum class Page { walk, memory, scale, compare };

/// Keys that the program answers to. The window translates its own events; tests push them directly.
enum class Key {
    left,
    right,
    up,
    down,
    home,
    end,
    page_up,
    page_down,
    space,
    enter,
    escape,
    tab,
    backspace,
    del,
    plus,
    minus,
    zero,
    question,
    one,
    two,
    three,
    four,
    five,
    six,
    seven,
    eight,
    nine,
    period,
    f1,
    f5,
    f9,
    f10,
    f11,
    a,
    b,
    c,
    d,
    e,
    f,
    g,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    o,
    p,
    q,
    r,
    s,
    t,
    u,
    v,
    w,
    x,
    y,
    z
};
/// 1 … 9 of a key with a digit; 0 of any other.
constexpr int digit_of(Key key) {
    return key < Key::one || key > Key::nine ? 0 : static_cast<int>(key) - static_cast<int>(Key::one) + 1;
}
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
    Palette palette = Palette::usual;
    Letters letters = Letters::d_o;
    int digits = 4;              ///< significant digits of shown numbers, 3 … 6
    bool decimal_comma = false;  ///< 3,14 in place of 3.14
    bool spotlight = true;       ///< presenter mode dims what the step does not touch
    bool subtitles = false;      ///< presenter mode says the step in a sentence
    bool question_each = false;  ///< questions: before every step, not only now and then
    bool tour_offered = false;   ///< the program has mentioned the tour once
    int window_width = 1600, window_height = 900;
    std::string example =
        "worked-4x4";  ///< name of the last example; empty: `problem_json` holds the last problem
    std::string problem_json;
};

/// A step of the problem's history, for undo and redo.
using ProblemPtr = std::shared_ptr<const Problem>;

struct AppState;

/// What the interface may ask of the outside world; absent hooks disable the buttons that need them.
struct Hooks {
    /// One problem file gives a whole problem. Matrix files (.csv, .tsv, .npy) replace matrices of `current`:
    /// a single file the one named by its name (q.csv, my_keys.npy) or else `target` (Q, K or V); several
    /// files at once the ones that their names say.
    /// A problem file may say where its walk stood.
    std::function<Result<Problem>(const std::vector<std::string>& paths, const Problem& current, Slot target,
                                  SavedView* view)>
        load_files;
    /// Writes a problem file with where the walk stands; a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const Problem& problem,
                                             const SavedView& view)>
        save_problem;
    /// Files of measured results, one report each; all or none.
    std::function<Result<std::vector<BenchReport>>(const std::vector<std::string>& paths)> load_results;
    /// Results that the program brings along.
    std::function<std::vector<BenchReport>()> recorded_results;
    /// Writes them as "csv", "json" or "report" (Markdown); a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const std::vector<BenchReport>& reports,
                                             const std::string& kind)>
        save_results;
    /// Writes what plots show as "svg" or "png"; a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const ChartScene& scene,
                                             const Theme& theme, const std::string& kind)>
        save_plot;
    /// Runs of a kernel with what it wrote down of itself.
    std::function<bool(const std::string& path)> is_bundle;
    std::function<Result<KernelTrace>(const std::string& path)> load_bundle;
    std::function<std::optional<std::string>(const std::string& path, const KernelTrace& trace)> save_bundle;
    /// A picture of the window in so many px, as its ending says: .png or .svg; a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const AppState& state, int width,
                                             int height)>
        save_picture;
    /// The whole walk as its ending says: .html, .md or .tex; a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const AppState& state)> export_walk;
    /// Answers to questions as CSV; a sentence if that failed.
    std::function<std::optional<std::string>(const std::string& path, const std::string& csv)> save_quiz;
    /// A tour from a file, or the program's own if the path is empty.
    std::function<Result<Tour>(const std::string& path)> read_tour;
};

/// A cell being typed into: its place and the text so far.
struct CellEdit {
    CellRef cell;
    char text[64] = "";
    bool just_opened = true;
    std::string widget;  ///< which view opened it ("hbm", "panel")
};

/// How a new problem enters the history.
enum class History { none, add, undo, redo };

/// What is built for a problem: the walk and, if it is broken on purpose, the true one to hold it against.
struct BuiltWalk {
    std::shared_ptr<const Trace> trace, truth;
    TraceLook look;
    std::shared_ptr<const Comparison> comparison;
    std::string note;  ///< what an edit changed
};

/// A trace that is being built in the background, because it is too large for one frame.
struct PendingTrace {
    const Lesson* lesson = nullptr;
    ProblemPtr problem;
    History history = History::none;
    bool edit = false;  ///< an element of an input was changed
    Background<BuiltWalk> result;
};

/// Fields of the problem panel that are no part of the problem itself.
struct ProblemForm {
    bool numbers_tab = false;
    int random_N = 8, random_d = 4, seed = 1;
    char path[512] = "";
    char scale[32] = "";
    char words[512] = "";
    bool words_typed = false;  ///< the field of the words has the caret
    Slot matrix = Slot::Q;     ///< the input shown for editing
    int first_row = 0, first_col = 0;
};

/// The softmax lessons: what is chosen below the three panels, and the walks that stand beside the shown one.
struct SoftmaxPage {
    enum Tab { values, derivation, proof };
    int tab = values;
    int line = 0;        ///< of derivation or proof, from 0
    int component = 0;   ///< the column of V and of the output that is shown
    int split = -1;      ///< the proof cuts the row behind this element; −1: in the middle
    ProblemPtr problem;  ///< the walks are of this problem
    std::array<std::shared_ptr<const Trace>, 3> traces;  ///< by passes − 1
};

/// The lesson of FlashAttention-1: FlashAttention-2's walk on the same problem, and how far apart their O
/// are.
struct FlashBeside {
    bool shown = true;  ///< in place of the drawing of the step
    std::shared_ptr<const Trace> first, second;
    double largest_difference = 0;
};

struct AppState {
    // The lesson and its walk
    const Lesson* lesson = nullptr;
    std::vector<Problem> examples;
    ProblemPtr problem;
    std::shared_ptr<const Trace> trace;
    TraceLook look;                      ///< value ranges and text widths of this trace
    std::shared_ptr<const Trace> truth;  ///< the same walk without faults; null while nothing is broken
    std::shared_ptr<const Comparison> comparison;  ///< of the two
    std::shared_ptr<const Trace> before_edit;  ///< the walk before the latest change of an input's element
    std::shared_ptr<PendingTrace> pending;     ///< takes the place of problem and trace when it is done
    Cursor cursor;
    Player player;
    int row = 0;                         ///< the chosen row of what the step writes, from 0
    int col = -1;                        ///< the chosen column of it; −1 leaves it to the step
    std::map<std::string, int> left_at;  ///< the step at which each lesson was left, to come back to
    std::map<std::string, std::string> chapter_lessons;  ///< the lesson shown last of each chapter
    std::optional<CellRef> hover;                        ///< the cell under the mouse
    std::optional<CellRef> hover_now;                    ///< the same, while the frame is being drawn
    std::vector<CellRef> hover_sources;                  ///< the cells it came from
    float mouse_age = 1e9f;   ///< seconds since the mouse moved: presenter mode shows its buttons for a while
    float step_age = 1e9f;    ///< seconds since the step changed, for the one transition
    Explanation explanation;  ///< of the current step and the chosen cell, made anew when they change

    // Editing
    std::vector<ProblemPtr> undo, redo;
    std::optional<CellEdit> edit;

    // What is on screen
    Settings settings;
    bool presenter = false;
    bool still = false;          ///< drawn as a picture: as if nothing moved
    float display_scale = 1.0f;  ///< HiDPI factor of the display
    bool show_help = false, show_goto = false, show_settings = false, show_menu = false;
    bool blank = false;           ///< presenter mode: nothing, until the next key
    bool menu_open = false;       ///< the list of examples; it takes the arrow keys, Enter and Escape
    int menu_at = 0;              ///< the entry that Enter chooses
    std::optional<Key> menu_key;  ///< Enter or Escape, for the list to answer in this frame
    bool show_problem = false;    ///< the right panel shows the problem instead of the explanation
    Page page = Page::walk;
    MemoryForm memory;                       ///< what the page about memory and traffic asks
    ScaleForm scale;                         ///< what the page about large problems asks
    std::shared_ptr<ScalePage> bench;        ///< what it has measured and loaded; made when it is first shown
    CompareForm compare;                     ///< what the page CPU vs GPU asks
    std::shared_ptr<ComparePage> comparing;  ///< what it has compared; made when it is first shown
    std::optional<WalkPlace> going_to;       ///< where its cell comes from, while that walk is being built
    bool show_break = false;                 ///< the right panel shows the switches and number formats
    int break_tab = 0;                       ///< of that panel: faults, formats, effect
    bool show_code = false;                  ///< narrow windows: the pseudocode in place of the formula
    bool row_over_tiles = false;             ///< the lens shows m, ℓ and O of one row over all tiles
    SoftmaxPage softmax;
    char goto_text[16] = "";
    bool goto_focus = false;  ///< put the caret into it in the next frame
    FlashBeside beside;
    TimelineView timeline;                   ///< its zoom, and the range that is looped
    std::shared_ptr<Inspection> inspection;  ///< a cell whose origin is followed; null: the step is explained
    std::shared_ptr<Marks> marks;            ///< breakpoints and bookmarks; made when first needed
    std::shared_ptr<Tour> tour;              ///< null: none is running
    std::shared_ptr<Quiz> quiz;              ///< null: no questions
    std::shared_ptr<Glossary> glossary;      ///< null: closed
    std::shared_ptr<SaveCard> saving;        ///< null: closed
    std::shared_ptr<MatrixMenu> matrix_menu;  ///< null: closed
    ProblemForm form;                         ///< what is typed into the problem panel
    std::string notice;                       ///< one sentence at the bottom of the window, with its age
    float notice_age = 1e9f;

    // Events of this frame, emptied by frame()
    std::vector<KeyPress> keys;
    std::vector<std::string> dropped;  ///< paths of files dropped on the window

    Hooks hooks;
    bool quit = false;
};

/// Lays out and draws one frame of the whole program into the current ImGui context. No window, no GPU.
void frame(AppState& state);
/// The buttons of presenter mode go away when the mouse has rested for this long.
constexpr float presenter_buttons_seconds = 3;
/// How long nothing will move by itself: 0 during a transition, the time to the next step while playing,
/// infinity when only the user can change something.
double idle_seconds(const AppState& state);
/// True while something moves: draw the next frame now.
bool animating(const AppState& state);
/// How far the transition of the current step has come, 0 … 1 (ease-out).
float transition(const AppState& state);
/// The scale that fonts must be loaded for in the next frame (display × zoom, or window height / 720 in
/// presenter mode).
float ui_scale(const AppState& state, float window_width, float window_height);

/// A new problem: rebuilds the trace, keeps the step if possible, adds to undo when asked. If the problem is
/// refused the old one stays and the notice says why.
bool set_problem(AppState& state, Problem problem, bool remember = true);

}  // namespace tilewalk::ui
