// Checks kernels of the ladder on the emulator, as many cases as wanted:
//
//     check_kernels [KERNEL] [MOST_SCORES] [DRAWS]
//
// Ends with 1 at the first case that is wrong. Without arguments it runs all kernels over every shape of the
// case matrix, up to 4224 × 4224, which takes hours; tests/cuda/mutants.sh runs it on broken kernels.
#include "tests/cuda/kernel_cases.h"

#include <cstdlib>
#include <iostream>

using namespace tilewalk;

int main(int count, char** words) {
    const std::string wanted = count > 1 ? words[1] : "";
    const std::int64_t most_scores = count > 2 ? std::atoll(words[2]) : std::int64_t(1) << 40;
    const int draws = count > 3 ? std::atoi(words[3]) : 4;
    std::int64_t cases = 0;
    for (const auto& [kernel, type] : kernels_and_types()) {
        if (!wanted.empty() && kernel != wanted) continue;
        for (const KernelCase& c : case_matrix(kernel, type, most_scores, draws)) {
            const KernelVerdict verdict = verify_case(c);
            ++cases;
            if (verdict.passed) continue;
            std::cout << c << ":\n" << verdict.sentence << "\n";
            return 1;
        }
    }
    std::cout << cases << " cases are right.\n";
    return cases > 0 ? 0 : 2;
}
