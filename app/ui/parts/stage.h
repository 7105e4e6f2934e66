// The stage of presenter mode: every step as before → operation → after. What it reads stands in the order of
// the formula, with the signs between, the drawing to scale beside or below, what it writes at the right.
#pragma once

#include "app/ui/parts/matrix.h"

#include <span>
#include <vector>

namespace tilewalk::ui {

/// One matrix of the equation.
struct StageTerm {
    Slot slot;
    const Value* value;       ///< as it was read, or as it was written
    int made = -1;            ///< the step that wrote it; −1: given
    const char* before = "";  ///< what stands at its left: "⊙", "exp("
    const char* after = "";   ///< a bracket that closes behind it
    bool transposed = false;
    bool result = false;
    bool old = false;  ///< the slot holds something else after this step
};
/// What step k reads, as its formula has it, then what it writes. A load has what arrives, a store what goes.
std::vector<StageTerm> stage_terms(const Trace& trace, int k);

/// How a chapter draws what lies on its stage.
struct StageView {
    MatrixLook (*look)(const AppState&, Slot);
    void (*lens)(const Canvas&, AppState&, const Rect&);
};
void stage(const Canvas& canvas, AppState& state, const Rect& area, const StageView& view);

}  // namespace tilewalk::ui
