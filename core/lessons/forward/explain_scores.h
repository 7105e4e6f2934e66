// The words and numbers of the forward lesson's ops. Called by explain(), which fills title, place and
// target.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_forward(const View& v);

}  // namespace tilewalk
