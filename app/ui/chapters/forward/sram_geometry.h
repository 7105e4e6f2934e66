// Where each matrix of the SRAM panel lies. One row of the band is one query; left to right is the algorithm;
// Kᵀ stands on the columns of S, V on those of O. The places depend on the problem and the panel only, never
// on the step, so nothing jumps while walking.
#pragma once

#include "app/ui/kit/layout.h"
#include "app/ui/parts/matrix.h"

#include <array>
#include <span>

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
/// A cell of a presenter page that holds so many letters.
float far_cell(int letters);
/// Puts a matrix into its bed, as large as it is, with numbers of so many digits. An empty buffer keeps its
/// place.
void lay(MatrixLook& look, const Bed& bed, int digits, float size);
/// The same on a presenter page, drawn; what it held before would be too small to read.
void far_matrix(const Canvas& canvas, AppState& state, MatrixLook look, const Bed& bed, int digits);

/// The beds of all slots that are drawn.
struct Beds {
    std::array<Bed, slot_count> beds;
    const Bed& operator[](Slot slot) const { return beds[static_cast<std::size_t>(slot)]; }
    Bed& operator[](Slot slot) { return beds[static_cast<std::size_t>(slot)]; }
};

/// A matrix of the band, as wide as its numbers, and the gap before it.
struct BandColumn {
    Slot slot;
    int cols;
    int group;   ///< those of one group have numbers, or lose them, together
    float wish;  ///< the gap, where there is room for it
    float gap = 0, w = 0;
    bool numbers = false;
};
float band_width(std::span<const BandColumn> columns);
/// Side by side from a place on.
void place_band(Beds& beds, std::span<const BandColumn> columns, Point at, float ch, int rows);

struct SramGeometry : Beds {
    int digits = 4;
    float size = 15;     ///< of the numbers
    float v_line = 0;    ///< y of the transfer line of V
    float labels = 0;    ///< y of the symbols above the band
    float out_line = 0;  ///< y of the transfer line of O and L
    Rect lens;
};

SramGeometry sram_geometry(const AppState& state, const Rect& panel, bool tight);

}  // namespace tilewalk::ui
