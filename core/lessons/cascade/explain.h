// The words and numbers of the lesson `cascade`.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_cascade(const View& v);

}  // namespace tilewalk
