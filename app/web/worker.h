// Kernels at scale beside the page: a browser gives no threads here, but a worker, in which this program runs
// once more, without a page. They send each other JSON.
#pragma once

#include <string>

namespace tilewalk::web {

/// In the page: from now on runs of the CPU's kernels begin in a worker, and end with it when they are
/// cancelled.
void run_in_worker();
/// In the page: what the worker of that run tells, and that it has ended (a sentence if something went
/// wrong).
void worker_told(int run, const std::string& told);
void worker_ended(int run, const std::string& why);

/// In the worker: runs what was asked for, and tells the page at every change.
void work(const std::string& request);

}  // namespace tilewalk::web
