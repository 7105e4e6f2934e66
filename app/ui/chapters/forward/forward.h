// The tiled forward pass: HBM, the tiles on chip with the drawing of the step, and the presenter page.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void forward_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

void hbm_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The current step drawn to scale, inside the SRAM panel.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The same with `reserved` px at the right of its title left free.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area, float reserved);
/// ℓ ← α ⊙ ℓ + rowsum(P̃) and O ← α ⊙ O + P̃ V in one row, the old value before the new terms; O ← O ⊘ ℓ.
Stack row_sum_stack(const Around& around);
Stack output_stack(const Around& around);
Stack normalize_stack(const Around& around);
/// In place of the lens where a tour points at "Proof": that any split of the row comes to the same.
void draw_split_proof(const Canvas& canvas, const AppState& state, const Rect& area);
/// `lens` draws what stands below the tiles.
void sram_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight,
               void (*lens)(const Canvas&, AppState&, const Rect&) = lens_view);

// ---- FlashAttention-1: the same views, and beside the step FlashAttention-2 on the same problem, as many
// tiles far (v1_view.cpp)

void v1_main(const Canvas& canvas, AppState& state, const Layout& layout);

/// The step of `second` (FlashAttention-2) that stands beside step k of `first` (FlashAttention-1): as many
/// tiles are done, and in the tile under way the same op is reached. −1: before its first step.
int step_beside(const Trace& first, int k, const Trace& second);
/// Tiles that are done after step k; skipped ones do not count.
int tiles_done(const Trace& trace, int k);

}  // namespace tilewalk::ui
