// What the steps of the dense lessons mean: attention, backward, training-step.
#pragma once

namespace tilewalk {

struct View;

void explain_dense(const View& view);

}  // namespace tilewalk
