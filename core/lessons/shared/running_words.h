// What a lecturer would say at the steps that the forward passes and the softmax lessons have in common
// (Lesson::say). Empty where the explanation's own words serve.
#pragma once

#include "core/walk/explain.h"

namespace tilewalk {

/// Of lessons that carry maximum, sum and output along and re-base them.
std::string say_running(const Trace& trace, int k, const Explanation& e);
/// The same without sum and output, which the lesson treats in its own way.
std::string say_maximum(const Trace& trace, int k, const Explanation& e);
/// Of the weights alone.
std::string say_weight(const Trace& trace, int k, const Explanation& e);

/// `sum_shrinks`: something was summed that α re-bases.
std::string say_new_maximum(const Trace& trace, int k, const Explanation& e, bool sum_shrinks);
/// Nothing is divided where every weight is 0; the explanation says why.
bool empty_sum(const Trace& trace, int k, const Explanation& e);

}  // namespace tilewalk
