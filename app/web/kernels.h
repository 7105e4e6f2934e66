// Kernels beside the page: a program of their own (cuda/browser) in a worker, which ends with its answer.
#pragma once

#include <string>

namespace tilewalk::web {

/// From now on what records a kernel asks for it there.
void run_kernels_in_worker();
/// The answer to run number `run`.
void kernels_answered(int run, std::string answer);
/// It has ended without one: why.
void kernels_ended(int run, const std::string& why);
/// Ends the run that nobody waits for any more, and forgets answers when all work is done.
void look_after_kernels();

}  // namespace tilewalk::web
