// What happens to files that are opened in, or dropped on, the window.
#pragma once

#include "core/problem/problem.h"
#include "core/walk/playback.h"

#include <string>
#include <vector>

namespace tilewalk {

/// One .json file gives a whole problem. Matrix files replace matrices in a copy of `current`: each goes
/// where its name says (q.csv, my_keys.npy); a single file whose name does not say it goes to `target` (Q, K
/// or V). dO is dropped when Q no longer fits it. The result is not yet validated as a whole.
Result<Problem> load_dropped_files(const std::vector<std::string>& paths, const Problem& current, Slot target,
                                   SavedView* view = nullptr);

}  // namespace tilewalk
