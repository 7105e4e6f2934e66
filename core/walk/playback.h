// The cursor of a walk: where we are, and where the arrow keys lead. A value without hidden state.
#pragma once

#include "core/walk/trace.h"

#include <string>
#include <vector>

namespace tilewalk {

/// How far one press of an arrow key goes: one row (or one cell) of one op, one op, one tile (i, j), one lane
/// of the timeline (a query block, a key block, a pass, a kernel).
enum class Level { micro, step, tile, block };

/// `done` counts the rows of this step's tile that are already computed (its cells, in lessons that go cell
/// by cell), 1 … step_units; a step seen as a whole has all of them.
struct Cursor {
    int step = 0;
    int done = 1;
    bool operator==(const Cursor&) const = default;
};

/// Rows (or cells) that step k computes one after another (Br rows of that block, fewer in a ragged tail); 1
/// for loads, stores and skips.
int step_units(const Trace& trace, int k);
/// Step k (clamped to the trace), seen as a whole.
Cursor at_step(const Trace& trace, int k);
Cursor first(const Trace& trace);
Cursor last(const Trace& trace);
Cursor forward(const Trace& trace, Cursor cursor, Level level);
Cursor backward(const Trace& trace, Cursor cursor, Level level);
bool at_end(const Trace& trace, Cursor cursor);

/// Step k is the one that takes a new maximum, and the maximum of some row rises in it.
bool maximum_rises(const Trace& trace, int k);

/// Where a saved walk stands; every part may be absent.
struct SavedView {
    std::string lesson;  ///< id; empty: not said
    int step = 0;        ///< from 1; 0: not said
    int row = 0;         ///< the chosen row, from 0
    bool presenter = false;
    std::string panel{};  ///< "explanation", "problem" or "break"; empty: not said
    struct Bookmark {
        int number = 0, step = 0, row = 0;  ///< 1 … 9; step from 1, row from 0
        bool operator==(const Bookmark&) const = default;
    };
    std::vector<Bookmark> bookmarks = {};       ///< of this lesson
    std::vector<std::string> breakpoints = {};  ///< conditions, core/walk/condition.h
    bool operator==(const SavedView&) const = default;
};

/// Steps from `first` to `last`, both counted; unset it holds none.
struct StepRange {
    int first = -1, last = -1;
    bool set() const { return first >= 0 && first <= last; }
    bool holds(int k) const { return k >= first && k <= last; }
    bool operator==(const StepRange&) const = default;
};

/// Playing: time that has passed is turned into steps of the chosen level.
struct Player {
    bool playing = false;
    Level level = Level::step;
    double steps_per_second = 1.0;
    double elapsed = 0.0;  ///< seconds since the last step
};
/// Advances by `dt` seconds; stops at the end, or goes round in `loop` if it is set. Returns the new cursor.
Cursor advance(Player& player, const Trace& trace, Cursor cursor, double dt, const StepRange& loop = {});

}  // namespace tilewalk
