// The words and numbers of the lessons `ring` and `ring-backward`.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_ring(const View& v);
void explain_ring_backward(const View& v);

}  // namespace tilewalk
