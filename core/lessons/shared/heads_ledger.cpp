#include "core/lessons/shared/heads_ledger.h"

#include "core/problem/heads.h"
#include "core/walk/lesson.h"

#include <algorithm>

namespace tilewalk {

namespace {

// A step that moves nothing has found K and V on chip.
std::int64_t keys_read(const Trace& trace, int k) {
    const std::int64_t before = k > 0 ? trace.step(k - 1).traffic.hbm_read : 0;
    if (trace.step(k).traffic.hbm_read == before) return 0;
    std::int64_t out = 0;
    for (const Access& a : trace.reads(k))
        if (a.slot == Slot::K || a.slot == Slot::V) out += trace.value(a.value).data.size();
    return out * trace.problem().element_bytes;
}

bool has_key_gradients(const Lesson& lesson) {
    return std::ranges::find(lesson.results, Slot::dK) != lesson.results.end();
}

}  // namespace

HeadsLedger heads_ledger(const Trace& trace) {
    const Problem& p = trace.problem();
    const int H = query_heads(p), H_kv = key_heads(p);
    HeadsLedger out;
    for (int k = 0; k < trace.size(); ++k) out.keys += keys_read(trace, k);
    if (trace.size() > 0) {
        const Traffic& all = trace.step(trace.size() - 1).traffic;
        out.one = all.hbm_read + all.hbm_write;
    }
    if (H > H_kv && has_key_gradients(trace.lesson()))
        out.sums = key_value_cache(p, H) + key_value_cache(p, H_kv);
    const std::int64_t gradients = out.sums > 0 ? key_value_cache(p, 1) : 0;
    out.again = H * out.one + out.sums;
    out.once = H * out.one - (H - H_kv) * (out.keys + gradients);
    return out;
}

std::int64_t key_value_cache(const Problem& p, int heads) {
    return 2LL * heads * p.N_kv() * p.d() * p.element_bytes;
}

}  // namespace tilewalk
