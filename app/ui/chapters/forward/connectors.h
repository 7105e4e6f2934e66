// Lines of the SRAM panels: transfers from and to HBM, and what flows where in the current step.
#pragma once

#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/canvas.h"

namespace tilewalk::ui {

/// Lines from the HBM panel (left of `panel`) to Q, K, V and back from O and L, each with its bytes and step.
void transfers(const Canvas& canvas, const AppState& state, const SramGeometry& geometry, const Rect& panel);
/// The bed of rows that are there: of a ragged last block not as high as that of a full one.
Bed as_drawn(const AppState& state, Slot slot, Bed bed);
/// From the matrices that this step reads to the one that it writes.
void connectors(const Canvas& canvas, const AppState& state, const SramGeometry& geometry);

/// α bends down from its column to what it corrects, with its value in a gap of the line. `room` is the free
/// height below the band, `size` that of the label.
void alpha_curve(const Canvas& canvas, const AppState& state, const Bed& alpha, const Bed& target, float room,
                 float size = 14);

// ---- What the panels of both directions draw alike

struct Transfer {
    int step = -1;           ///< when it happens or happened
    std::int64_t bytes = 0;  ///< of this slot alone, or of the whole step
};
/// The load of the block on chip, or the next one if that block is used up or not there yet.
Transfer load_of(const AppState& state, Slot slot, CellState now);
/// All that step k moves, both ways.
Transfer all_of(const Trace& trace, int k);
/// "32 B, at step 24"
std::string note(const AppState& state, Transfer transfer);
/// Idle, yet to come, or on its way.
void flow(const Canvas& canvas, const AppState& state, std::initializer_list<Point> points, int step,
          Role role);
/// From the edge of the panel to Q.
void query_flow(const Canvas& canvas, const AppState& state, const Bed& Q, float edge, Transfer transfer);
/// The first of the notes that ends before `right`, or none.
void chip_before(const Canvas& canvas, Point at, const Line& symbol, std::initializer_list<std::string> notes,
                 float right);

/// One arrow per query row, to the right or to the left; for many rows one stands for all.
void row_arrows(const Canvas& canvas, const AppState& state, const Bed& from, const Bed& to,
                const char* sign = nullptr);
/// Beside `label`, the symbol above `to`, where that is narrow.
void down_arrow(const Canvas& canvas, const Bed& from, const Bed& to, const Line& label = {});

/// The symbol above a matrix and, where they fit before `right`, a few words.
void slot_label(const Canvas& canvas, const AppState& state, Slot slot, Point at, const Line& symbol,
                std::string_view words, float right);
/// Beside a matrix that stands on the columns of another.
void transposed_label(const Canvas& canvas, const Bed& bed, const Line& symbol);
/// "q₄" with its left end at x.
void row_name(const Canvas& canvas, const Problem& problem, float x, float y, const char* letter, int row,
              ImU32 colour);

}  // namespace tilewalk::ui
