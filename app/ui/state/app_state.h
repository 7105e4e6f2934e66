// All state of the user interface. Window, off-screen renderer and tests drive the same `frame(AppState&)`.
#pragma once

#include "app/settings/pages.h"
#include "app/settings/settings.h"
#include "app/ui/kit/key.h"
#include "app/ui/state/forms.h"
#include "app/ui/state/hooks.h"
#include "app/ui/state/trace_look.h"
#include "core/base/words.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"
#include "core/walk/playback.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {
struct Comparison;
enum class Gaps : std::uint8_t;
}  // namespace tilewalk

namespace tilewalk::ui {

struct BrokenShown;
struct ComparePage;
struct Focus;
struct InsidePage;
struct Inspection;
struct LensKept;
struct Marks;
struct MatrixMenu;
struct PendingTrace;
struct Quiz;
struct ScalePage;
struct StartPage;
struct Speaker;
struct Tour;

/// The list of keys: what was typed to find one, and how far it is scrolled; forgotten when it closes.
struct KeySearch {
    std::string text;
    float scroll = 0;
    float page = 400;  ///< how much of it shows
};

/// The walk and the place in it: what a tour leaves, and leads back to.
struct WalkView {
    const Lesson* lesson = nullptr;
    ProblemPtr problem;
    std::shared_ptr<const Trace> trace;
    TraceLook look;                      ///< value ranges and text widths of this trace
    std::shared_ptr<const Trace> truth;  ///< the same walk without faults; null while nothing is broken
    std::shared_ptr<const Comparison> comparison;  ///< of the two
    std::shared_ptr<const Trace> before_edit;  ///< the walk before the latest change of an input's element
    Cursor cursor;
    int row = 0;                         ///< the row of what the step writes that is told, from 0
    bool row_chosen = false;             ///< it stays in other steps; else each step tells its telling_row
    int col = -1;                        ///< the chosen column of it; −1 leaves it to the step
    std::map<std::string, int> left_at;  ///< the step at which each lesson was left, to come back to
    std::map<std::string, std::string> chapter_lessons;  ///< the lesson shown last of each chapter
    std::vector<ProblemPtr> undo, redo;
    Page page = Page::walk;
    bool presenter = false;
    bool show_problem = false;               ///< the right panel shows the problem instead of the explanation
    bool show_break = false;                 ///< the right panel shows the switches and number formats
    mutable StageMemory stage;               ///< of this walk
    TimelineView timeline;                   ///< its zoom, and the range that is looped
    std::shared_ptr<Inspection> inspection;  ///< a cell whose origin is followed; null: the step is explained
};

/// A moment that was gone to, and what was left for it.
struct Departure {
    WalkView from;
    ProblemPtr to;
};

struct AppState : WalkView {
    // The walk on its way
    std::vector<Problem> examples;
    std::shared_ptr<PendingTrace> pending;  ///< takes the place of problem and trace when it is done
    std::vector<Departure> departures;      ///< the latest at the end: Ctrl Z leads back
    Player player;
    std::optional<CellRef> hover;        ///< the cell under the mouse
    std::optional<CellRef> hover_now;    ///< the same, while the frame is being drawn
    std::string hover_widget;            ///< the view that shows it ("hbm0", "panel")
    std::vector<CellRef> hover_sources;  ///< the cells it came from
    float mouse_age = 1e9f;   ///< seconds since the mouse moved: presenter mode shows its buttons for a while
    float step_age = 1e9f;    ///< seconds since the step changed, for transition and motion
    float moves_for = 0;      ///< seconds that the motion of this step takes; 0: it stands there at once
    Explanation explanation;  ///< of the current step and the chosen cell, made anew when they change

    // Editing
    std::optional<CellEdit> edit;
    KeyCell key_cell;

    // What is on screen
    Settings settings;
    bool still = false;            ///< drawn as a picture: as if nothing moved
    bool to_take_along = false;    ///< drawn for slides or a film: without what only a window can press
    float display_scale = 1.0f;    ///< HiDPI factor of the display
    std::shared_ptr<Focus> focus;  ///< the keyboard's; made by the first frame
    bool show_help = false, show_goto = false, show_settings = false, show_menu = false;
    bool blank = false;                ///< presenter mode: nothing, until the next key
    bool menu_open = false;            ///< the list of examples; it takes the arrow keys, Enter and Escape
    int menu_at = 0;                   ///< the entry that Enter chooses
    std::optional<Key> menu_key;       ///< Enter or Escape, for the list to answer in this frame
    MemoryForm memory;                 ///< what the page about memory and traffic asks
    ScaleForm scale;                   ///< what the page about large problems asks
    std::shared_ptr<ScalePage> bench;  ///< what it has measured and loaded; made when it is first shown
    CompareForm compare;               ///< what the page Kernel and CPU asks
    std::shared_ptr<ComparePage> comparing;  ///< what it has compared; made when it is first shown
    InsideForm inside;                       ///< what the page Inside asks, and where its walk stands
    std::shared_ptr<InsidePage>
        kernel_walk;                      ///< the record that it walks through; made when it is first shown
    StartForm start;                      ///< what the start page leads back to
    std::shared_ptr<StartPage> starting;  ///< what it draws from; made when it is first shown
    std::optional<WalkPlace> going_to;    ///< where its cell comes from, while that walk is being built
    int break_tab = 0;                    ///< of that panel: faults, formats, savings, effect
    StageLists lists;                     ///< presenter mode: faults, and the problem
    std::shared_ptr<BrokenShown> broken;  ///< the step that its panes show, as it was worked out last
    mutable std::shared_ptr<LensKept> lens;  ///< what the lens has computed of the step at hand
    bool row_over_tiles = false;             ///< the lens shows m, ℓ and O of one row over all tiles
    SoftmaxPage softmax;
    HeadsCard heads;
    char goto_text[16] = "";
    bool goto_focus = false;  ///< put the caret into it in the next frame
    KeySearch key_search;
    FlashBeside beside;
    std::shared_ptr<Marks> marks;             ///< breakpoints and bookmarks; made when first needed
    std::shared_ptr<Tour> tour;               ///< null: none is running
    std::shared_ptr<Quiz> quiz;               ///< null: no questions
    Gaps gaps{};                              ///< how many numbers they ask for, as the answers go
    std::shared_ptr<Glossary> glossary;       ///< null: closed
    std::shared_ptr<SaveCard> saving;         ///< null: closed
    std::shared_ptr<MatrixMenu> matrix_menu;  ///< null: closed
    std::shared_ptr<Finder> finder;           ///< null: closed
    std::shared_ptr<Speaker> speaker;         ///< made when its view is first shown
    int screens = 1;                          ///< that the windows may lie on
    ProblemForm form;                         ///< what is typed into the problem panel
    std::string notice;                       ///< one sentence at the bottom of the window, with its age
    float notice_age = 1e9f;
    bool ask_path = false;  ///< the page's field for a file takes the caret

    // Events of this frame, emptied by frame()
    std::vector<KeyPress> keys;
    std::vector<std::string> dropped;  ///< paths of files dropped on the window

    Hooks hooks;
    bool quit = false;
};

/// How far the transition of the current step has come, 0 … 1 (ease-out).
float transition(const AppState& state);

}  // namespace tilewalk::ui
