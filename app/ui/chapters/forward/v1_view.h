// The lesson of FlashAttention-1: the views of the forward pass, and beside the step FlashAttention-2 on the
// same problem, as many tiles far.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void v1_main(const Canvas& canvas, AppState& state, const Layout& layout);

/// The step of `second` (FlashAttention-2) that stands beside step k of `first` (FlashAttention-1): as many
/// tiles are done, and in the tile under way the same op is reached. −1: before its first step.
int step_beside(const Trace& first, int k, const Trace& second);
/// Tiles that are done after step k; skipped ones do not count.
int tiles_done(const Trace& trace, int k);

}  // namespace tilewalk::ui
