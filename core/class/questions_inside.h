// Questions about the next step of a kernel's run: who holds a number, what an access costs, who waits for a
// copy; for a course also which barrier stands between two accesses. The answers are those of the record, and
// can be worked out from what the text says.
#pragma once

#include "core/class/questions.h"
#include "core/inside/origin.h"

namespace tilewalk {

/// A launch of a record that is walked through.
struct InsideRun {
    const inside::Record& record;
    const inside::BlockRecord& block;
    const inside::Steps& steps;
    const inside::Origins& origins;
};

/// One question of each kind that suits step k of the warp, the same every time.
std::vector<Question> questions_inside(const InsideRun& run, int warp, int k);

/// The same for paper, which shows nothing but the question: cells have the names of the whole matrix,
/// S[21,13], and an access to shared memory is also asked about as if its rows lay one behind the other.
std::vector<Question> questions_inside_alone(const InsideRun& run, int warp, int k);
/// Which line makes sure that what some warps have written is there when others read it, and that it was read
/// when it is written over: one for each two places of the source that a barrier stands between.
std::vector<Question> questions_between(const InsideRun& run);

}  // namespace tilewalk
