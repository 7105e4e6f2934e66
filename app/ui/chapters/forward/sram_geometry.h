// Where each matrix of the SRAM panel lies. One row of the band is one query; left to right is the algorithm;
// Kᵀ stands on the columns of S, V on those of O. The places depend on the problem and the panel only, never
// on the step, so nothing jumps while walking; but O takes the room of the others while it is made, where all
// have none.
#pragma once

#include "app/ui/kit/layout.h"
#include "app/ui/parts/bed.h"

#include <array>
#include <span>

namespace tilewalk::ui {

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
    int digits = 4, output_digits = 4;  ///< of all but O; of O
    float size = 15;                    ///< of the numbers
    float v_line = 0;                   ///< y of the transfer line of V
    float labels = 0;                   ///< y of the symbols above the band
    float out_line = 0;                 ///< y of the transfer line of O and L
    Rect lens;
};

SramGeometry sram_geometry(const AppState& state, const Rect& panel, bool tight);

}  // namespace tilewalk::ui
