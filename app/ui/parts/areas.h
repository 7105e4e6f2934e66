// The score gradient of one query: for each key of the row a box of width P from the line D to dP; its area
// is dS. Over the whole row the areas cancel.
#pragma once

#include "app/ui/kit/canvas.h"
#include "core/problem/problem.h"

#include <string>
#include <vector>

namespace tilewalk::ui {

struct Area {
    /// The keys of the tile that a step is about stand out, those of earlier tiles are hatched, those of
    /// tiles to come are dashed.
    enum class When { before, now, after };
    double width, height, area;  ///< P, dP − D, dS
    When when = When::now;
};

/// All keys of row `row`, whose mean is D, as it is written there; `chosen`: one of them, or −1. The mean is
/// called D[row], as entries are in formulas: an index below it would be the number of a block.
void areas(const Canvas& canvas, const Problem& problem, const Rect& pane, const std::vector<Area>& list,
           int chosen, int row, const std::string& D);

}  // namespace tilewalk::ui
