#include "core/lessons/shared/heads_ledger.h"

#include "core/problem/heads.h"
#include "core/walk/lesson.h"
#include "core/walk/traffic.h"

#include <algorithm>
#include <array>
#include <map>

namespace tilewalk {

namespace {

std::int64_t bytes_of(const Trace& trace, const Access& a) {
    return trace.value(a.value).data.size() * trace.element_bytes(a.slot);
}

template <class Wanted>
std::int64_t bytes_of(const Trace& trace, std::span<const Access> accesses, const Wanted& wanted) {
    std::int64_t out = 0;
    for (const Access& a : accesses)
        if (wanted(a.slot)) out += bytes_of(trace, a);
    return out;
}

bool is_key(Slot s) { return s == Slot::K || s == Slot::V || s == Slot::K_in || s == Slot::V_in; }
bool is_share(Slot s) { return s == Slot::dK_part || s == Slot::dV_part; }
bool is_key_gradient(Slot s) {
    return s == Slot::dK || s == Slot::dV || s == Slot::dK_in || s == Slot::dV_in || is_share(s);
}
bool belongs_to_keys(Slot s) { return is_key(s) || is_key_gradient(s); }
bool is_message(Op op) { return op == Op::exchange || op == Op::exchange_gradients; }

// A step that moves nothing has found what it reads on chip; a message is none of HBM.
bool reads_hbm(const Trace& trace, int k) {
    return traffic_until(trace, k).hbm_read != traffic_until(trace, k - 1).hbm_read;
}
bool writes_hbm(const Trace& trace, int k) {
    return traffic_until(trace, k).hbm_write != traffic_until(trace, k - 1).hbm_write;
}

// What a head, or a group, moves that belongs to keys.
struct OfKeys {
    std::int64_t keys = 0;  // K and V, loaded
    std::int64_t gradients =
        0;  // dK and dV, as a kernel writes them, and reads them again where they grow in HBM
    std::int64_t on_way = 0;  // dK and dV of a shard, added to at every rank
    std::int64_t sent = 0;
};
OfKeys of_keys(const Trace& trace) {
    OfKeys out;
    for (int k = 0; k < trace.size(); ++k) {
        const Op op = trace.step(k).op;
        if (is_message(op)) {
            out.sent += bytes_of(trace, trace.writes(k), belongs_to_keys);
            continue;
        }
        std::int64_t& gradients = op == Op::add_share ? out.on_way : out.gradients;
        if (reads_hbm(trace, k)) {
            out.keys += bytes_of(trace, trace.reads(k), is_key);
            gradients += bytes_of(trace, trace.reads(k), is_key_gradient);
        }
        if (writes_hbm(trace, k)) gradients += bytes_of(trace, trace.writes(k), is_key_gradient);
    }
    return out;
}

// dK and dV as a kernel leaves them: on a ring the shares of every rank.
std::int64_t key_gradients_left(const Trace& trace) {
    std::int64_t out = 0;
    const bool shares = trace.tiles(Slot::dK_part) > 0;
    for (const Slot slot : {shares ? Slot::dK_part : Slot::dK, shares ? Slot::dV_part : Slot::dV})
        for (int tile = 0; tile < trace.tiles(slot); ++tile)
            if (const Held held = trace.live(slot, tile, trace.size() - 1))
                out += held.value->data.size() * trace.element_bytes(slot);
    return out;
}

bool has_key_gradients(const Lesson& lesson) {
    return std::ranges::find(lesson.results, Slot::dK) != lesson.results.end();
}

}  // namespace

HeadsLedger heads_ledger(const Trace& trace) {
    const Problem& p = trace.problem();
    const int H = query_heads(p), H_kv = key_heads(p);
    const OfKeys of = of_keys(trace);
    const Traffic all = traffic_until(trace, trace.size() - 1);
    HeadsLedger out;
    out.shared = trace.walked().packed > 1 || (p.heads && p.heads->once);
    out.keys = of.keys;
    out.one = all.total();
    out.sent_one = all.sent;
    out.sent_ungrouped = H * all.sent;
    out.sent = out.sent_ungrouped - (H - H_kv) * of.sent;
    const std::int64_t left = has_key_gradients(trace.lesson()) ? key_gradients_left(trace) : 0;
    if (H > H_kv) out.sums = (H + H_kv) * left;  // each read, their sums written
    if (trace.lesson().uses(packs_heads)) {      // that of a group, dK and dV already whole
        out.once = H_kv * out.one;
        out.again = out.once + (H - H_kv) * out.keys + (out.sums > 0 ? 2 * H * left : 0);
        return out;
    }
    // A rank adds up the shares of a group before it adds them to what has arrived.
    out.again = H * out.one - (H - H_kv) * of.on_way + out.sums;
    out.once = H * out.one - (H - H_kv) * (of.keys + of.gradients + of.on_way);
    return out;
}

// ---- What is loaded together

namespace {

// Positions of what a step reads of some slots.
template <class Wanted> std::vector<int> positions_read(const Trace& trace, int k, const Wanted& wanted) {
    std::vector<int> out;
    for (const Access& a : trace.reads(k)) {
        if (!wanted(a.slot)) continue;
        const Region& rows = trace.value(a.value).region;
        for (int row = rows.row; row < rows.row + rows.rows; ++row) out.push_back(row);
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

bool loads(const Trace& trace, int k) { return !is_message(trace.step(k).op) && reads_hbm(trace, k); }

}  // namespace

LoadedTile loaded_tile(const Trace& trace, int k) {
    LoadedTile out;
    const auto last = [&](std::vector<int>& of, int at, const auto& wanted) {
        if (of.empty()) of = positions_read(trace, at, wanted);
    };
    for (int at = k; at >= 0 && trace.step(at).phase == trace.step(k).phase; --at) {
        if (!loads(trace, at)) continue;
        last(out.queries, at, [](Slot s) { return s == Slot::Q; });
        last(out.keys, at, is_key);
    }
    return out;
}

std::vector<KeyLoad> key_loads(const Trace& trace) {
    std::map<std::vector<int>, std::array<std::int64_t, 2>> found;  // of K, of V
    for (int k = 0; k < trace.size(); ++k) {
        if (!loads(trace, k)) continue;
        const auto is_K = [](Slot s) { return s == Slot::K || s == Slot::K_in; };
        const auto is_V = [](Slot s) { return is_key(s) && s != Slot::K && s != Slot::K_in; };
        std::vector<int> keys = positions_read(trace, k, is_key);
        if (keys.empty()) continue;
        auto& [K, V] = found[std::move(keys)];
        K = std::max(K, bytes_of(trace, trace.reads(k), is_K));
        V = std::max(V, bytes_of(trace, trace.reads(k), is_V));
    }
    std::vector<KeyLoad> out;
    for (const auto& [keys, bytes] : found) out.push_back({keys, bytes[0] + bytes[1]});
    return out;
}

std::int64_t key_value_cache(const Problem& p, int heads) {
    return 2LL * heads * p.N_kv() * p.d() * p.element_bytes;
}

}  // namespace tilewalk
