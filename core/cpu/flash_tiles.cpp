#include "core/cpu/flash_tasks.h"

#include "core/cpu/lanes.h"
#include "core/engine/heads.h"

#include <algorithm>

namespace tilewalk::cpu {

namespace {

std::int64_t blocks_of(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }
std::int64_t rounded_up(std::int64_t size, std::int64_t step) { return blocks_of(size, step) * step; }

// As many rows as `floats` hold, between the limits: at large d the tiles are lower, not larger
std::int64_t rows_of(std::int64_t floats, std::int64_t d, std::int64_t least, std::int64_t most) {
    return std::clamp(floats / d, least, most);
}

// Qᵢ and Oᵢ stay in the L2 cache; the higher, the less often K and V come from beyond it. Kⱼ and Vⱼ pass
// through it once for each panel.
ForwardTiles largest_forward_tiles(const Workload& w) {
    return {.panel = panel_width(),
            .Br = rows_of(65536, w.d, 32, 512),
            .Bc = rows_of(16384, w.d, 32, 128),
            .blocks = 1,
            .converted = w.dtype != DType::f32};
}

// Blocks of the same height, in whole panels
void even_out(ForwardTiles& tiles, std::int64_t rows) {
    tiles.Br = rounded_up(blocks_of(rows, blocks_of(rows, tiles.Br)), tiles.panel);
    tiles.blocks = blocks_of(rows, tiles.Br);
}

}  // namespace

ForwardTiles forward_tiles(const Workload& w, int threads) {
    ForwardTiles tiles = largest_forward_tiles(w);
    // Several tasks for each thread, or the last ones to end leave the others idle
    const std::int64_t groups = w.batch * w.kv_heads, rows = GroupRows(w).count();
    while (tiles.Br > 64 && groups * blocks_of(rows, tiles.Br) < 8 * std::int64_t{threads}) tiles.Br /= 2;
    even_out(tiles, rows);
    return tiles;
}

ForwardTiles decode_tiles(const Workload& w) {
    ForwardTiles tiles = largest_forward_tiles(w);
    even_out(tiles, GroupRows(w).count());
    return tiles;
}

BackwardTiles backward_tiles(const Workload& w) {
    BackwardTiles tiles;
    tiles.panel = panel_width();
    tiles.Br = rows_of(16384, w.d, 32, 128);
    tiles.Bc = 64;
    // Kⱼ, Vⱼ, dKⱼ, dVⱼ stay in the L2 cache; the more keys, the less often Q, dO and dQ come from beyond it
    tiles.Bs = rows_of(32768, w.d, 64, 512);
    const std::int64_t heads = w.batch * w.kv_heads;
    while (tiles.Bs > 64 && heads * blocks_of(w.N_kv, tiles.Bs) < 64) tiles.Bs /= 2;
    tiles.Bs = rounded_up(std::min(tiles.Bs, w.N_kv), tiles.panel);
    tiles.Bc = std::min(tiles.Bc, tiles.Bs);
    tiles.blocks = blocks_of(w.N_kv, tiles.Bs);
    tiles.padded = rounded_up(w.d, tiles.panel);
    tiles.converted = w.dtype != DType::f32;
    return tiles;
}

}  // namespace tilewalk::cpu
