// The words and numbers of the forward lesson's ops. Called by explain(), which fills title, place and
// target.
#pragma once

#include "core/explain.h"

namespace tilewalk {

void explain_forward(const Trace& trace, int k, Explanation& out);

}  // namespace tilewalk
