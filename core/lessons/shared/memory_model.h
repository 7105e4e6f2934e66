// Closed forms: bytes moved and held, without running anything. The traces are held against them by test.
#pragma once

#include "core/problem/problem.h"

#include <cstdint>

namespace tilewalk {

/// What a mask leaves of tile (i, j).
enum class TileCover : std::uint8_t { full, partial, none };
TileCover tile_cover(const Problem& problem, int i, int j);

/// Key columns [first, last] that query row r sees; first > last when it sees none.
struct KeyRange {
    int first, last;
};
KeyRange visible_keys(const Problem& problem, int r);

struct TrafficModel {
    std::int64_t hbm_read = 0, hbm_write = 0;  ///< bytes
    std::int64_t sram_peak = 0;                ///< bytes to reserve on chip: the largest tile of every buffer
    std::int64_t total() const { return hbm_read + hbm_write; }
};
/// FlashAttention-2 order: Q once, K and V once per query block that sees them, O and L once.
TrafficModel flash_forward_model(const Problem& problem);
/// Three kernels through HBM: S = QKᵀ written; S read, P written; P, V read, O written.
TrafficModel standard_forward_model(const Problem& problem);

/// Number of steps of the lesson flash-forward.
std::int64_t flash_forward_steps(const Problem& problem);

}  // namespace tilewalk
