// Chooses among the instruction sets that core/cpu/eigen is compiled for.
#include "core/cpu/eigen/functions.h"

namespace tilewalk::cpu {

namespace baseline {
extern const EigenFunctions functions;
}
#ifdef TILEWALK_EIGEN_LEVELS
namespace avx2 {
extern const EigenFunctions functions;
}
namespace avx512 {
extern const EigenFunctions functions;
}
#endif

const EigenFunctions& eigen_functions() {
#ifdef TILEWALK_EIGEN_LEVELS
    static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    static const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                                   __builtin_cpu_supports("avx512vl");
    if (has_avx512) return avx512::functions;
    if (has_avx2) return avx2::functions;
#endif
    return baseline::functions;
}

}  // namespace tilewalk::cpu
