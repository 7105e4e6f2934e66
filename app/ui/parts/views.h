// The panels of the window, one file each. Every view draws into the rectangle that it is given.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void header_view(const Canvas& canvas, AppState& state, const Rect& area);
void hbm_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The current step drawn to scale, inside the SRAM panel.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The same with `reserved` px at the right of its title left free.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area, float reserved);
/// `lens` draws what stands below the tiles.
void sram_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight,
               void (*lens)(const Canvas&, AppState&, const Rect&) = lens_view);
void explain_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight);
/// At the foot of a panel, from y at most; nothing where it has no room.
void pseudocode_below(const Canvas& canvas, const AppState& state, const Rect& panel, float y);
void problem_view(const Canvas& canvas, AppState& state, const Rect& area);
void timeline_view(const Canvas& canvas, AppState& state, const Rect& area);
void meters_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode, 1280 × 720 logical px (or wider, or higher).
void presenter_view(const Canvas& canvas, AppState& state, float W, float H);
/// What every page of presenter mode begins with: the mark of the program and a title. Returns its width.
float presenter_title(const Canvas& canvas, std::string_view title);

/// All keys.
void help_card(const Canvas& canvas, AppState& state, float W, float H);
/// Things that lie over everything: cards, go to step, the notice.
void overlays(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui
