// The tiled forward pass: HBM, the tiles on chip with the drawing of the step, and the presenter page.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

struct AppState;

void forward_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

void hbm_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The current step drawn to scale, inside the SRAM panel.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The same with `reserved` px at the right of its title left free.
void lens_view(const Canvas& canvas, AppState& state, const Rect& area, float reserved);
/// `lens` draws what stands below the tiles.
void sram_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight,
               void (*lens)(const Canvas&, AppState&, const Rect&) = lens_view);

}  // namespace tilewalk::ui
