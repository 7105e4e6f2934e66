// The grid of the timeline: which lane and which column each step of a walk has.
#pragma once

#include "core/walk/trace.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilewalk::ui {

// Where each step stands: one lane per phase of the walk (a query block, a key block, a pass), and the same
// columns for the same inner block in each lane, so that lanes can be compared. An op that any lane has in a
// block keeps its column in all of them; a skipped tile is one wide cell. Phases without inner blocks (the
// kernels of standard attention) are few steps with nothing to compare: they stand one after the other in one
// lane.
struct TimelineGrid {
    struct Group {
        std::vector<Op> ops;  // in the order of the columns
        int first = 0;        // its first column
    };
    std::vector<int> first;     // first step of each lane, and one past the last step of all
    std::vector<Group> blocks;  // one for each inner block
    std::vector<int> phases;  // first step of each, and one past the last of all; empty where each is a lane
    std::vector<int> column, width;
    std::vector<bool> beneath,
        shares;  ///< timed: steps beside the work of their lane, and lanes with such steps
    std::vector<std::vector<std::pair<int, int>>> gaps;  ///< timed: of each lane, from tick to tick
    int start = 0, finish = 0;                           // columns before and after the blocks
    int columns = 0;
    bool timed = false;       ///< columns are ticks: what runs side by side stands below each other
    bool by_element = false;  ///< a lane is a pass over the elements of one row
    bool by_query = true;  // a lane is a query block (or a pass): the inner blocks are key blocks (elements)
    int count() const { return static_cast<int>(first.size()) - 1; }
    int begin(int lane) const { return first[static_cast<std::size_t>(lane)]; }
    int end(int lane) const { return first[static_cast<std::size_t>(lane) + 1]; }
    int lane_of(int k) const {
        return static_cast<int>(std::upper_bound(first.begin(), first.end() - 1, k) - first.begin()) - 1;
    }
    /// Timed: steps of several workers.
    bool is_shared(const Trace& trace, int lane) const;
    int column_of(int k) const { return column[static_cast<std::size_t>(k)]; }
    int width_of(int k) const { return width[static_cast<std::size_t>(k)]; }
};

TimelineGrid timeline_grid(const Trace& trace);

}  // namespace tilewalk::ui
