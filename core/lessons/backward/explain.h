// The words and numbers of the lesson flash-backward. Called by explain().
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_flash_backward(const View& v);

// The gradients of one tile, dv to dk (explain_flash_backward_gradients.cpp)
void explain_dv(const View& v);
void explain_dp(const View& v);
void explain_ds(const View& v);
void explain_dq(const View& v);
void explain_dk(const View& v);

}  // namespace tilewalk
