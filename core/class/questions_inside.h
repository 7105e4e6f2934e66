// Questions about the next step of a kernel's run: who holds a number, what an access costs, who waits for a
// copy. The answers are those of the record, and can be worked out from what the text says.
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

}  // namespace tilewalk
