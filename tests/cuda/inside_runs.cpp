#include "tests/cuda/inside_runs.h"

#include "tests/good.h"

namespace tilewalk::inside::test {

WalkedRun::WalkedRun(const std::string& kernel, DType type, const Problem& given)
    : problem(given), record(tilewalk::test::good(gpu::record_kernel(
                          {.kernel = kernel, .dtype = type, .problem = given, .blocks = {0}}))) {
    for (const Launch& launch : record.launches)
        if (!launch.blocks.empty()) launches.push_back(std::make_unique<WalkedLaunch>(record, launch));
}

}  // namespace tilewalk::inside::test
