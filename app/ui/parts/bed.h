// A matrix in its place: where it lies and how large its cells are.
#pragma once

#include "app/ui/kit/layout.h"
#include "app/ui/parts/matrix.h"

namespace tilewalk::ui {

struct Bed {
    float x = 0, y = 0, cw = 0, ch = 0;
    int rows = 0, cols = 0;  ///< as drawn (Kᵀ has d rows)
    bool numbers = false;
    float width() const { return cw * px(cols); }
    float height() const { return ch * px(rows); }
    float right() const { return x + width(); }
    float bottom() const { return y + height(); }
    float center() const { return (x + right()) / 2; }
    float middle() const { return (y + bottom()) / 2; }
    Rect area() const { return {x, y, width(), height()}; }
};
/// Of Kᵀ and V: a matrix that stands on the columns of another, with its foot at `bottom`.
Bed standing(const Bed& on, float bottom, float ch, int rows);
/// Puts a matrix into its bed, as large as it is, with numbers of so many digits. An empty buffer keeps its
/// place.
void lay(MatrixLook& look, const Bed& bed, int digits, float size);
/// The same on a presenter page, drawn; what it held before would be too small to read.
void far_matrix(const Canvas& canvas, AppState& state, MatrixLook look, const Bed& bed, int digits,
                float size);

}  // namespace tilewalk::ui
