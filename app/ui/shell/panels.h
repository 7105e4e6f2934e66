// The panels that all lessons share, one file each. Every view draws into the rectangle that it is given.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void header_view(const Canvas& canvas, AppState& state, const Rect& area);
void timeline_view(const Canvas& canvas, AppState& state, const Rect& area);
void meters_view(const Canvas& canvas, AppState& state, const Rect& area);

// ---- Lanes and cells of the timeline, shared by the normal and the presenter view

struct LaneStyle {
    float lane = 28, gap = 9;  ///< height of a lane and the space below it
    float name_w = 96;         ///< room for "Query block 0"; 0: no names
    bool symbols = true;       ///< write the op into its cell where it fits
    bool heads = true;         ///< "key block 0" above the lanes
    bool stage = false;        ///< over the cells the name of the lane and the marks, below them the blocks
    bool title = false;        ///< there, too, the name of the current step: no head of the page has it
    /// Cells are as wide as their symbols: as many as fit, round the current step, and the whole walk as a
    /// thin bar below.
    bool whole_symbols = false;
};
/// One lane per query block, one cell per step; clicking or dragging goes there, with Shift it marks a range
/// to loop, the wheel zooms. Follows the current step when not everything fits.
void lanes(const Canvas& canvas, AppState& state, const Rect& area, const LaneStyle& style);
/// J marks the looped range, + and − zoom. True if the key was one of them.
bool answer_timeline_key(AppState& state, const KeyPress& press);

// ---- The panel at the right

/// "Gradient of W_Q" with its index below the line.
Line title_line(const std::string& title);
/// The title of a step; returns its width.
float step_title(const Canvas& canvas, float x, float y, float room, const std::string& title, float size);
void explain_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight);
void problem_view(const Canvas& canvas, AppState& state, const Rect& area);
/// Faults and number formats, and what comes of them.
void break_view(const Canvas& canvas, AppState& state, const Rect& area);
/// "Broken on purpose" while a fault, "Rounded on purpose" while only a format is chosen; `right` is where it
/// ends. Draws nothing otherwise. Returns its width.
float broken_pill(const Canvas& canvas, const AppState& state, float right, float y, float size);
/// The same without drawing.
float broken_pill_width(const AppState& state, float size);
/// An inspected cell.
void inspect_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight);

// ---- The whole window

/// Carries out the key presses of this frame and empties the queue.
void answer_keys(AppState& state);

/// An ImGui window that fills all there is, in the theme of the settings; what is drawn into it.
Canvas begin_page(const AppState& state, const char* name);
/// Presenter mode, 1280 × 720 logical px (or wider, or higher).
void presenter_view(const Canvas& canvas, AppState& state, float W, float H);
/// An inspected cell in the place of its formula: the way, the value, and the chosen entry.
void inspect_presenter(const Canvas& canvas, AppState& state, const Rect& area);
/// Things that lie over everything: cards, the value under the mouse, the notice.
void overlays(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui
