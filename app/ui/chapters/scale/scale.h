// The page "At scale": real kernels on large problems, what they took, and what they needed. One file for
// each panel; every number is one of a report.
#pragma once

#include "app/ui/chapters/scale/form.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Everything below the header.
void scale_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void scale_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void scale_devices(const Canvas& canvas, AppState& state, const Rect& area);
void scale_ladder(const Canvas& canvas, AppState& state, const Rect& area);
void scale_sizes(const Canvas& canvas, AppState& state, const Rect& area);
void scale_table(const Canvas& canvas, AppState& state, const Rect& area);
void scale_controls(const Canvas& canvas, AppState& state, const Rect& area);
/// Lays them out where something changed, and draws them with what is chosen.
void scale_time_plot(const Canvas& canvas, AppState& state, const Rect& area);
void scale_memory_plot(const Canvas& canvas, AppState& state, const Rect& area);
/// The heights that ladder and table ask for.
float scale_table_height(const AppState& state, float room);
/// The full record of the point under the mouse, or of the chosen one.
void scale_card(const Canvas& canvas, AppState& state, float W, float H);
/// Chooses what a record is of.
void choose_record(AppState& state, int number);

// Small parts
enum class Sign { verified, failed, none, pending };
/// Ring with a tick, danger diamond with a cross, dashed ring with a line, dashed ring.
void draw_sign(const Canvas& canvas, Sign sign, float x, float y);
void tick_mark(const Canvas& canvas, float x, float y, ImU32 colour, float size = 5);

}  // namespace tilewalk::ui
