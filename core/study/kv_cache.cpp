#include "core/study/kv_cache.h"

namespace tilewalk {

double kv_cache(const StudyInput& in, std::int64_t N, std::int64_t key_heads) {
    return 2.0 * static_cast<double>(key_heads) * static_cast<double>(N) * static_cast<double>(in.d) *
           static_cast<double>(in.batch) * in.element_bytes;
}

std::vector<std::int64_t> key_head_choices(std::int64_t heads) {
    std::vector<std::int64_t> out{heads};
    while (out.back() % 2 == 0) out.push_back(out.back() / 2);
    if (out.back() != 1) out.push_back(1);
    return out;
}

}  // namespace tilewalk
