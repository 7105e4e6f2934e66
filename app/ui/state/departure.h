// The way back from what was gone to in one press.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// What is shown was gone to from there: undo() leads back, as far as what was left takes few bytes.
void remember_departure(AppState& state, const WalkView& from);

}  // namespace tilewalk::ui
