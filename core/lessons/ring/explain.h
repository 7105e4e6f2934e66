// The words and numbers of the lesson `ring`.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_ring(const View& v);

}  // namespace tilewalk
