// What a decoder keeps: K and V of all tokens, in as many heads as there are key heads.
#pragma once

#include "core/study/memory_study.h"

#include <vector>

namespace tilewalk {

/// 2 · H_kv · N · d elements for each sequence of the batch, in bytes.
double kv_cache(const StudyInput& in, std::int64_t N, std::int64_t key_heads);

/// From one key head for each query head (multi-head) by halves to a single one (multi-query).
std::vector<std::int64_t> key_head_choices(std::int64_t heads);

}  // namespace tilewalk
