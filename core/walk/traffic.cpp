#include "core/walk/traffic.h"

namespace tilewalk {

Traffic traffic_until(const Trace& trace, int k) { return k < 0 ? Traffic{} : trace.step(k).traffic; }

std::int64_t moved_by(const Trace& trace, int k) {
    return traffic_until(trace, k).total() - traffic_until(trace, k - 1).total();
}

bool is_done_with(const Trace& trace, int n, int k) {
    return trace.workers() < 2 ? n <= k : trace.step(n).when.end <= trace.step(k).when.end;
}

// Of the steps that `counts` names.
template <class F> static Traffic moved_in(const Trace& trace, F counts) {
    Traffic out;
    for (int n = 0; n < trace.size(); ++n) {
        if (!counts(n)) continue;
        const Traffic until = traffic_until(trace, n), before = traffic_until(trace, n - 1);
        out.hbm_read += until.hbm_read - before.hbm_read;
        out.hbm_write += until.hbm_write - before.hbm_write;
    }
    return out;
}

Traffic moved_when_done(const Trace& trace, int k) {
    Traffic out = traffic_until(trace, k);
    if (trace.workers() < 2) return out;
    const Traffic moved = moved_in(trace, [&](int n) { return is_done_with(trace, n, k); });
    out.hbm_read = moved.hbm_read, out.hbm_write = moved.hbm_write;
    return out;
}

std::int64_t moved_before(const Trace& trace, int k) {
    if (trace.workers() < 2) return traffic_until(trace, k - 1).total();
    const int now = trace.step(k).when.start;
    return moved_in(trace, [&](int n) { return trace.step(n).when.end <= now; }).total();
}

}  // namespace tilewalk
