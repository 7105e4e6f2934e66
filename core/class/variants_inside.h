// Questions about a kernel's run for a course: of one record, each with another step, lane or cell for every
// student.
#pragma once

#include "core/class/questions_inside.h"
#include "core/class/variants.h"

namespace tilewalk {

/// One question of each kind that these runs have, dealt out anew where there are fewer than variants.
std::vector<AskedOfAll> make_inside_variants(std::span<const InsideRun> runs, int variants,
                                             std::uint64_t seed);

}  // namespace tilewalk
