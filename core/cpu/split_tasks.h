// What split_kv() hands out to its threads where the rows are too few for the tiles of flash().
#pragma once

#include "core/cpu/flash_tasks.h"

namespace tilewalk::cpu {

/// Tiles of few rows: the elements of a row lie in the lanes.
struct RowTiles {
    std::int64_t padded;  ///< d, up to whole panels
    std::int64_t Bc;      ///< keys of a tile
    bool copied;          ///< Kⱼ and Vⱼ are not read where they lie, but from a copy in float32
    std::int64_t scratch_floats(std::int64_t rows) const {
        return rows * (2 * padded + Bc + 2) + (copied ? Bc * padded : 0);
    }
};
/// Rows of K and V that are no whole panels are copied, with zeros behind each. Those of 16 bits also where
/// several rows of Q meet them: each would convert them again.
RowTiles row_tiles(const Workload& workload);

/// All rows of a group of heads and some of its keys. Pointers are those of the group's first head.
struct SplitTask {
    const Workload& w;
    const RowTiles& tiles;
    Elements Q, K, V;
    KeyRange keys;
    Partial part;
    float* scratch;
};
void split_rows(const SplitTask& task, const std::stop_token& stop);

}  // namespace tilewalk::cpu
