// Where each matrix of the SRAM panel lies. One row of the band is one query; left to right is the algorithm;
// Kᵀ stands on the columns of S, V on those of O. The places depend on the problem and the panel only, never
// on the step, so nothing jumps while walking.
#pragma once

#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

#include <array>

namespace tilewalk::ui {

struct Bed {
    float x = 0, y = 0, cw = 0, ch = 0;
    int rows = 0, cols = 0;  ///< as drawn (Kᵀ has d rows)
    bool numbers = false;
    float right() const { return x + cw * static_cast<float>(cols); }
    float bottom() const { return y + ch * static_cast<float>(rows); }
    float center() const { return (x + right()) / 2; }
};

struct SramGeometry {
    std::array<Bed, slot_count> beds;
    int digits = 4;
    float size = 15;     ///< of the numbers
    float v_line = 0;    ///< y of the transfer line of V
    float labels = 0;    ///< y of the symbols above the band
    float out_line = 0;  ///< y of the transfer line of O and L
    Rect lens;
    const Bed& operator[](Slot slot) const { return beds[static_cast<std::size_t>(slot)]; }
    Bed& operator[](Slot slot) { return beds[static_cast<std::size_t>(slot)]; }
};

SramGeometry sram_geometry(const AppState& state, const Rect& panel, bool tight);

}  // namespace tilewalk::ui
