// Plots of what a loop carries along: the running maximum as a line, sums as bars that shrink and grow. One
// column per element (softmax lessons) or per key tile (tiled lessons).
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "core/base/beside_matrix.h"

#include <string>
#include <vector>

namespace tilewalk::ui {

struct PlotColumn {
    std::string label, brief;  ///< "i = 3", and "3" where there is less room
    bool there = false;        ///< computed by now
    bool now = false;          ///< the element under way
    bool skipped = false;      ///< the mask removed the whole tile: nothing was computed
    bool masked = false;       ///< −∞ all over: weighs nothing
    double score = 0;          ///< the largest score that this column brings
    double before = 0;         ///< the value before it (−∞ for a maximum that has not begun)
    double kept = 0;           ///< what is left of `before` after the correction
    double value = 0;          ///< the value after it
    double alpha = 1;          ///< below 1: everything before was rescaled here

    /// What `before` is multiplied by; NaN where that is no number. An average shrinks by more than α.
    double shrink() const;
};

struct RunningPlot {
    Line symbol;
    std::string words;  ///< "running sum"
    Role role = Role::l;
    const char* fresh_words = "";  ///< "new weight": what each column adds
    std::vector<PlotColumn> columns{};
    const MatrixDigits* digits = nullptr;  ///< of the slot whose value it is
    bool average = false;                  ///< divided by ℓ all along: every column takes a share of it

    /// A line with the scores as points; otherwise bars.
    bool maximum() const { return role == Role::m; }
};

/// Columns that can be told apart in this width.
int most_columns(float width);
void running_plot(const Canvas& canvas, const Rect& area, const RunningPlot& plot);

}  // namespace tilewalk::ui
