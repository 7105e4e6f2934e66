#include "core/lessons/shared/heads_ledger.h"

#include "core/problem/heads.h"
#include "core/walk/lesson.h"

#include <algorithm>

namespace tilewalk {

namespace {

std::int64_t elements_of(const Trace& trace, std::span<const Access> accesses, Slot one, Slot other) {
    std::int64_t out = 0;
    for (const Access& a : accesses)
        if (a.slot == one || a.slot == other) out += trace.value(a.value).data.size();
    return out;
}

// Bytes of K and V. A step that moves nothing has found them on chip.
std::int64_t keys_read(const Trace& trace, int k) {
    const std::int64_t before = k > 0 ? trace.step(k - 1).traffic.hbm_read : 0;
    if (trace.step(k).traffic.hbm_read == before) return 0;
    return elements_of(trace, trace.reads(k), Slot::K, Slot::V) * trace.problem().element_bytes;
}

// Bytes of dK and dV, which cross HBM once, or, with queries outside, in every tile.
std::int64_t key_gradients_moved(const Trace& trace, int k) {
    const Traffic before = k > 0 ? trace.step(k - 1).traffic : Traffic{}, after = trace.step(k).traffic;
    std::int64_t out = 0;
    if (after.hbm_read != before.hbm_read) out += elements_of(trace, trace.reads(k), Slot::dK, Slot::dV);
    if (after.hbm_write != before.hbm_write) out += elements_of(trace, trace.writes(k), Slot::dK, Slot::dV);
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
    out.shared = trace.walked().packed > 1 || (p.heads && p.heads->once);
    std::int64_t gradients = 0;
    for (int k = 0; k < trace.size(); ++k)
        out.keys += keys_read(trace, k), gradients += key_gradients_moved(trace, k);
    if (trace.size() > 0) {
        const Traffic& all = trace.step(trace.size() - 1).traffic;
        out.one = all.hbm_read + all.hbm_write;
    }
    if (H > H_kv && has_key_gradients(trace.lesson()))
        out.sums = key_value_cache(p, H) + key_value_cache(p, H_kv);
    if (trace.lesson().uses(packs_heads)) {  // that of a group, dK and dV already whole
        out.once = H_kv * out.one;
        out.again = out.once + (H - H_kv) * out.keys + (out.sums > 0 ? 2 * key_value_cache(p, H) : 0);
        return out;
    }
    out.again = H * out.one + out.sums;
    out.once = H * out.one - (H - H_kv) * (out.keys + gradients);
    return out;
}

std::int64_t key_value_cache(const Problem& p, int heads) {
    return 2LL * heads * p.N_kv() * p.d() * p.element_bytes;
}

}  // namespace tilewalk
