// The stage of presenter mode: every step as before → operation → after. What it reads stands in the order of
// the formula, with the signs between, the drawing to scale beside or below, what it writes at the right.
#pragma once

#include "app/ui/parts/stage_terms.h"

namespace tilewalk::ui {

void stage(const Canvas& canvas, AppState& state, const Rect& area, const StageView& view);

// ---- Matrices too large for numbers (zoom.cpp)

/// Of each operand that line, large and with numbers; the whole of the scores as a map at the left of it.
/// False, and nothing drawn, without room.
bool zoom(const Canvas& canvas, AppState& state, const Rect& area, const StageView& view);

/// With how many digits its numbers have room in such an area, with the map or without.
int zoom_digits(const AppState& state, Rect area, bool map);
/// The rows leave the drawing room, beside the map.
bool zoom_draws(const AppState& state, Rect area);

/// The chapter's drawing to scale, enlarged.
void stage_lens(const Canvas& canvas, AppState& state, const Rect& area, const StageView& view);
/// It has the equation in one line, and room for its drawing below.
bool stage_draws_below(const AppState& state, float width, float height);
/// What does not fit with numbers into such a stage, in one line or in two, is told by zoom.
bool stage_zooms(const AppState& state, float width, float height);
/// All its numbers have room with all digits of the settings; with the strip of HBM beside it.
bool stage_has_all_digits(const AppState& state, float width, float height);
bool strip_stage_has_all_digits(const AppState& state, float width, float height);

}  // namespace tilewalk::ui
