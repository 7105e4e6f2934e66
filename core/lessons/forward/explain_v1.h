// The words and numbers of the lesson flash-forward-v1. Called by explain().
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_v1(const View& v);

}  // namespace tilewalk
