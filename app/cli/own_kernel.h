// A kernel of the user's own: its source is compiled with the host's compiler in a private folder, and runs
// there in a process of its own, recorded (docs/inside.md, "Your own kernel").
#pragma once

#include "cuda/host/gpu.h"

#include <functional>
#include <string>

namespace tilewalk {

/// What may be taken of the machine's time, in seconds.
struct OwnKernelBudget {
    double compiling = 120;  ///< of the wall
    int computing = 10;      ///< of the CPU
    double running = 300;    ///< of the wall
};

/// The text of a source that could be compiled; a sentence if it is not there or has no kernel to run.
Result<std::string> read_own_source(const std::string& path);
/// Foreign code runs as whoever calls this: a sentence that says so.
std::string own_code_warning(const std::string& path);

/// The name under which its record and its source go: "my.cu".
std::string own_kernel_name(const std::string& path);

/// `request.kernel` is the path of the source. Refused with a sentence: no compiler, no kernel, what the
/// compiler says first, a kernel that does not end, reads or writes outside of its memory, or waits forever.
/// While it is compiled `request.blocks_done` is −1, then blocks are counted there as ever; `meanwhile` is
/// called many times a second.
Result<inside::Record> record_own_source(const gpu::RecordRequest& request, gpu::TraceFailed* how = nullptr,
                                         const OwnKernelBudget& budget = {},
                                         const std::function<void()>& meanwhile = {});

/// File of the private folder in which the process that runs it counts its blocks.
constexpr const char* own_kernel_progress = "progress";
/// The same, in which gcc says which pointers it reports (core/inside/reported.h); other compilers leave
/// none.
constexpr const char* own_kernel_dump = "own.ubsan";
/// What the program that runs it, this one, is called with. Does what they ask, and ends the process; returns
/// if they are other words.
void run_as_own_kernel(int argc, char** argv);

}  // namespace tilewalk
