// One cell of a matrix in each of its states.
#pragma once

#include "app/ui/kit/canvas.h"

namespace tilewalk::ui {

enum class CellState { idle, read, written, discarded, pending };

struct CellLook {
    CellState state = CellState::idle;
    Role role = Role::none;
    float t = 0;             ///< place on the value ramp, 0 … 1 (−1 … 1 with `with_sign`)
    bool with_sign = false;  ///< use the ramp that tells negative from positive
    bool dim = false;        ///< its matrix is not in this step
    bool masked = false;     ///< −∞: crossed
    bool nan = false;
    bool hover = false;
    float size = size::lead;  ///< of the number, in logical px
    float radius = radius::cell;
    bool bold = false;          ///< written, with a frame round all cells and none of its own
    std::string_view text{};    ///< the number; empty: fill only
    std::string_view before{};  ///< the value before this step, struck through; empty: none
    float fade = 1;             ///< 0 … 1: how far the transition of this step has come
};

/// The fill that `cell` gives this look.
ImU32 cell_fill(const Theme& theme, const CellLook& look);
/// The one frame round what a step wrote, or round the cell of it that the formula is about; it lies outside
/// the cell, so no number touches it.
void selection(const Canvas& canvas, float x, float y, float w, float h);
/// Its width: the same where a drawing of the normal view is enlarged.
float focus_width();
/// Draws a cell. Draw written, hovered and selected ones last: their outlines reach over their neighbours.
void cell(const Canvas& canvas, float x, float y, float w, float h, const CellLook& look);

}  // namespace tilewalk::ui
