// What HBM panels of tiled lessons share: a matrix with its tiles, the N × N matrices that never come.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct Thumb {
    Slot slot;
    bool input;  ///< given from the start; otherwise drawn as far as it is stored
    int rows, cols, block;
    float x, y, cw, ch;
    int current = -1;      ///< the block that the walk is at, −1 before the first
    bool skipped = false;  ///< the walk is at that block, but the block stays where it is
    int digits = 3;        ///< of its numbers, at most
};
constexpr float least_numbered = 15;  ///< height of a cell that shows its number
/// The matrix cut into blocks of rows: in use, used, and still to come. A stored block that will be written
/// again is hatched: a partial sum. Transfers of this step take the full hue, what it stores the white frame.
void thumb(const Canvas& canvas, AppState& state, const Thumb& thumb);

/// The sink at the right of a panel's title line, and its gradient where the walk makes one: a number of HBM
/// for all rows. Nothing where the problem has none.
void sink_in_title(const Canvas& canvas, AppState& state, const Rect& panel);
/// What stands behind the title "HBM", where it has room for it beside the sink.
const char* hbm_subtitle(const AppState& state, const Rect& panel);

/// Some block of this matrix will be stored again.
bool still_growing(const AppState& state, Slot slot);
/// What the hatching of such a block means, below the matrices that end at `bottom`.
void draw_growing(const Canvas& canvas, const Rect& panel, float bottom);

/// S of the whole problem at (x, y), at most w × h: which tile is on chip now, which were, which are yet to
/// come or skipped, as far as `trace` has come at step k. `hide_skips`: those that will be skipped look like
/// those yet to come.
void ghost(const Canvas& canvas, const Trace& trace, int k, float x, float y, float w, float h,
           bool hide_skips);
/// The lower part of the panel: a rule at y, the title, the ghost with its legend, a caption if it fits.
void ghost_section(const Canvas& canvas, const AppState& state, const Rect& panel, float y, const Line& title,
                   const char* caption);

// ---- The strip at the left of presenter pages: HBM as letters and blocks

void strip_head(const Canvas& canvas, const Rect& area);
/// Its letter: dimmed where the step leaves it alone, but never too dark to be read.
void strip_name(const Canvas& canvas, const AppState& state, Slot slot, Point at, float size);
/// The blocks of one matrix. `partial_sums`: those that will be stored again are hatched.
void strip_blocks(const Canvas& canvas, const AppState& state, Slot slot, const Rect& area,
                  bool partial_sums);
/// Adds where the blocks of this matrix lie that the step moves.
void add_strip_places(std::vector<StripPlace>& places, const AppState& state, Slot slot, const Rect& area);
/// From y on: which N × N matrices never come here. Returns the square for their ghost; empty: no room.
Rect strip_foot(const Canvas& canvas, const Rect& area, float y, const Line& names, float words_x);

}  // namespace tilewalk::ui
