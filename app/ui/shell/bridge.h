// Between a step of flash-forward, or a cell of the page Kernel and CPU, and the place in a kernel that does
// it.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// From the lesson or a compared cell to the kernel; on the page Inside back to the lesson's step, or to the
/// cell that led there. Says so where there is no way.
void cross_bridge(AppState& state);
/// This page, or this lesson, has another side.
bool has_bridge(const AppState& state);

}  // namespace tilewalk::ui
