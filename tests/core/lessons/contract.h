// What every lesson promises, held against the trace, a parser of its own and a dense computation.
#pragma once

#include "core/lessons/table.h"
#include "core/walk/explain.h"

namespace tilewalk::test {

/// Every cell that a step wrote, at most `most_cells` of each value, and every step as a whole: all parts of
/// its explanation are there; the printed numbers come to the shown result; the result is the stored number,
/// or the bytes that the step moved; what is printed are the sources, and the step read them; the line of
/// pseudocode is the one of that op; it can be spoken and has a card in the glossary. Returns how many
/// formulas were worked out.
int check_explanations(const Trace& trace, int most_cells = 1 << 30);
/// The bytes are those of the closed form and of what each step wrote, the operations those of its sizes, and
/// memory stays within the estimate. True where the peak on chip had to be just what the closed form
/// reserves: a tile of the largest size came by.
bool check_costs(const Trace& trace);
/// What a step wrote is what stands there; moves of the cursor are each other's inverse; lanes are named in
/// order.
void check_walk(const Trace& trace);
/// The problem without what the lesson does not take: a sink in the lessons of one row, a mask where
/// sequences decide.
Problem as_taken(const Lesson& lesson, Problem problem);
/// The results of a walk that is not broken are those of dense attention. Returns how many were compared:
/// none where exp alone cannot hold the scores and the lesson has nothing else.
int check_results(const Trace& trace);

}  // namespace tilewalk::test
