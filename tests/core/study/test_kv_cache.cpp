#include "core/study/kv_cache.h"

#include <doctest/doctest.h>

using namespace tilewalk;

TEST_CASE("KV cache: two matrices of N × d for each key head and sequence") {
    StudyInput in;
    in.d = 128, in.batch = 3, in.element_bytes = 2;
    CHECK(kv_cache(in, 1000, 8) == 2.0 * 8 * 1000 * 128 * 2 * 3);
    CHECK(kv_cache(in, 1000, 8) == 8 * kv_cache(in, 1000, 1));
}

TEST_CASE("KV cache: key heads are halved as long as they divide the query heads, down to one") {
    CHECK(key_head_choices(16) == std::vector<std::int64_t>{16, 8, 4, 2, 1});
    CHECK(key_head_choices(12) == std::vector<std::int64_t>{12, 6, 3, 1});
    CHECK(key_head_choices(1) == std::vector<std::int64_t>{1});
}
