// Where each matrix of the backward SRAM panel lies. One row of the band is one query; Kᵀ stands on the
// columns of S and P, Vᵀ on those of dP; below lie the gradients that grow. Nothing moves from step to step.
#pragma once

#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct BackwardGeometry {
    std::array<Bed, slot_count> beds;
    int digits = 4, below_digits = 4;
    float size = 15;     ///< of the numbers in the band
    float v_line = 0;    ///< y of the transfer line of V
    float labels = 0;    ///< y of the symbols above the band
    float below = 0;     ///< y of the symbols above the growing gradients
    float out_line = 0;  ///< y of the transfer line of the gradients
    Rect lens;
    const Bed& operator[](Slot slot) const { return beds[static_cast<std::size_t>(slot)]; }
    Bed& operator[](Slot slot) { return beds[static_cast<std::size_t>(slot)]; }
};

BackwardGeometry backward_geometry(const AppState& state, const Rect& panel);

}  // namespace tilewalk::ui
