// tilewalk bench: runs the kernels on large problems, or shows recorded results again.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"
#include "core/bench/bench.h"

#include <iosfwd>

namespace tilewalk {

/// What the words ask for. `threads` takes the number of CPU threads, 0 for all.
Result<BenchRequest> make_request(const BenchWords& words, int& threads);
/// The command line that asks for the same again; without the words that only say where results go.
std::string command_of(const BenchWords& words);

std::string bench_text(const BenchReport& report);

/// Ends with Exit::failed if a kernel was wrong, with Exit::interrupted after Ctrl-C: what was measured until
/// then is written all the same.
Outcome run_bench_command(const Arguments& arguments, std::ostream& out);

}  // namespace tilewalk
