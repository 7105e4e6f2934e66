// Which row of a large tile is worth telling: the one that something happens to.
#pragma once

#include "core/walk/trace.h"

namespace tilewalk {

/// Of tiles with more rows than a stage shows whole.
inline constexpr int many_rows = 8;
/// Of tiles of which a stage shows one row.
inline constexpr int many_cells = 36;
/// A row of what step k computes, from 0: of a large tile the one whose maximum rises most in this tile (in
/// the first tile of a lane: in the next one), else the first that is not all zeros. Of small tiles and of
/// steps that compute nothing the first one.
int telling_row(const Trace& trace, int k);
/// The column of a row, both from 0, to begin with: the first whose number is a tenth of the largest at
/// least; −1: no such choice (small tiles, steps that compute nothing, what the mask has hidden).
int telling_col(const Trace& trace, int k, int row);

}  // namespace tilewalk
