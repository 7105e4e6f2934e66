// What the steps of the softmax lessons mean.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_softmax(const View& view);

}  // namespace tilewalk
