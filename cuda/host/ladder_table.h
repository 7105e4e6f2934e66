// The kernels of the ladder by name, for where none of them can be asked: a browser. A test compares it with
// what the kernels say of themselves.
#pragma once

#include "core/engine/engine.h"

namespace tilewalk::gpu {

struct LadderRow {
    const char *name, *title;
    Direction direction;
    bool tiles;           ///< records its tiles
    bool f32, f16, bf16;  ///< what it takes
};

inline constexpr LadderRow ladder_table[] = {
    {"f0-materialise", "Standard attention, three kernels of our own", Direction::forward, false, true, false,
     false},
    {"f0-cublas", "Standard attention with the vendor's products", Direction::forward, false, true, true,
     true},
    {"f1-online-row", "Online softmax, a warp for each query", Direction::forward, false, true, false, false},
    {"f2-tiled-fp32", "Tiles in shared memory", Direction::forward, true, true, false, false},
    {"f3-warp-rows", "A warp owns its rows", Direction::forward, true, true, false, false},
    {"f4-tensor-core", "Tensor cores", Direction::forward, true, false, true, true},
    {"f4b-copies-ahead", "Copies in the background", Direction::forward, true, false, true, true},
    {"f5-flash2", "FlashAttention-2", Direction::forward, true, false, true, true},
    {"f6-split", "Split keys, then combine", Direction::forward, true, false, true, true},
    {"f7-hopper", "FlashAttention-3, forward", Direction::forward, true, false, true, true},
    {"b0-materialise", "Backward of standard attention", Direction::backward, false, true, true, true},
    {"b1-recompute-fp32", "Backward by recomputation", Direction::backward, false, true, false, false},
    {"b2-tensor-core", "Backward with tensor cores", Direction::backward, false, false, true, true},
    {"b3-deterministic", "Backward with the same bits every time", Direction::backward, false, false, true,
     true},
    {"b4-hopper", "FlashAttention-3, backward", Direction::backward, false, false, true, true},
};

}  // namespace tilewalk::gpu
