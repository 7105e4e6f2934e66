// One query row over all key tiles: how m, ℓ and O grow, and where they are rescaled.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// The lesson streams key tiles past query rows.
bool has_evolution(const Lesson& lesson);
/// m, ℓ and one component of O of the chosen query row after each key tile, from the trace. A dashed line in
/// the hue of α marks a tile where what was there before is rescaled.
void evolution_view(const Canvas& canvas, const AppState& state, const Rect& area);

}  // namespace tilewalk::ui
