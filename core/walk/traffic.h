// What of a walk's bytes has moved by one of its steps.
#pragma once

#include "core/walk/trace.h"

namespace tilewalk {

/// When step k has ended, in the order of the walk; −1: nothing yet.
Traffic traffic_until(const Trace& trace, int k);
/// Bytes of HBM that step k itself moves.
std::int64_t moved_by(const Trace& trace, int k);

/// Step n has ended when step k has: where workers or ranks run side by side by the clock, else in the order
/// of the walk.
bool is_done_with(const Trace& trace, int n, int k);
/// The step's traffic, with the bytes of HBM that all workers together have moved by then.
Traffic moved_when_done(const Trace& trace, int k);
/// Bytes of HBM that had moved, of all workers together, before step k began.
std::int64_t moved_before(const Trace& trace, int k);

}  // namespace tilewalk
