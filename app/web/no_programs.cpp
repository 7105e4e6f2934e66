// In place of what the desktop does with other programs: a user's own kernel is compiled by the host's
// compiler there.
#include "app/cli/commands.h"
#include "app/cli/own_kernel.h"

namespace tilewalk {

static constexpr const char* none_here = "A browser compiles no kernel: the program for the desktop does.";

Result<std::string> read_own_source(const std::string&) { return Failure{none_here}; }
std::string own_code_warning(const std::string&) { return ""; }
std::string own_kernel_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<inside::Record> record_own_source(const gpu::RecordRequest&, gpu::TraceFailed* how,
                                         const OwnKernelBudget&, const std::function<void()>&) {
    if (how) *how = gpu::TraceFailed::no_device;
    return Failure{none_here};
}

}  // namespace tilewalk
