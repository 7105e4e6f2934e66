// What the lessons of this folder are put together from (walk.cpp).
#pragma once

#include "core/lessons/softmax/softmax.h"

namespace tilewalk {

void explain_softmax(const View& view);
Line softmax_step_symbol(const Trace& trace, int k);
const char* softmax_card(const Trace& trace, int k);

std::int64_t softmax_bytes(const Problem& problem, SoftmaxForm form);
std::span<const CodeLine> softmax_code(const Problem& problem, SoftmaxForm form);
TrafficModel softmax_model(const Problem& problem, SoftmaxForm form);
std::string softmax_lane(SoftmaxForm form, int phase);

}  // namespace tilewalk
