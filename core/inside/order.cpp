#include "core/inside/order.h"

#include <algorithm>
#include <bit>

namespace tilewalk::inside {

namespace {

std::size_t place_in(int n) { return static_cast<std::size_t>(n); }

}  // namespace

Order::Order(int warps) : of_warp(place_in(warps)), of_lanes(place_in(warps)) {
    for (int w = 0; w < warps; ++w) raise(clock_of(w), w, 1);
}

int Order::tiles_of(std::uint32_t barrier) {
    return barriers.try_emplace(barrier, 2 * warps() + static_cast<int>(barriers.size())).first->second;
}

std::uint32_t Order::at(const Clock& clock, int agent) {
    return place_in(agent) < clock.size() ? clock[place_in(agent)] : 0;
}

void Order::raise(Clock& clock, int agent, std::uint32_t to) {
    if (clock.size() <= place_in(agent)) clock.resize(place_in(agent) + 1);
    clock[place_in(agent)] = std::max(clock[place_in(agent)], to);
}

void Order::join(Clock& to, const Clock& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t n = 0; n < from.size(); ++n) to[n] = std::max(to[n], from[n]);
}

const Order::Clock& Order::known(int warp, std::uint32_t lanes) const {
    for (const Private& p : of_lanes[place_in(warp)])
        if ((lanes & ~p.lanes) == 0) return p.clock;
    return of_warp[place_in(warp)];
}

bool Order::knows(int warp, std::uint32_t lanes, int agent, std::uint32_t when) const {
    return at(known(warp, lanes), agent) > when;
}

void Order::meet(int warp) {
    for (const Private& p : of_lanes[place_in(warp)]) join(clock_of(warp), p.clock);
    of_lanes[place_in(warp)].clear();
}

// A lane that arrives alone speaks for itself and for what its warp did before it met last.
void Order::release(const Event& event, Clock& to) {
    if (event.lanes == whole_warp) raise(clock_of(event.warp), event.warp, now(event.warp) + 1);
    join(to, known(event.warp, event.lanes));
}

void Order::acquire(const Event& event, const Clock& from) {
    auto& alone = of_lanes[event.warp];
    if (event.lanes == whole_warp) {
        join(clock_of(event.warp), from);
        for (Private& p : alone) join(p.clock, from);
        return;
    }
    const auto same = std::ranges::find(alone, event.lanes, &Private::lanes);
    if (same == alone.end())
        alone.push_back({event.lanes, known(event.warp, event.lanes)}), join(alone.back().clock, from);
    else
        join(same->clock, from);
}

void Order::sync_block() {
    if (++at_barrier < warps()) return;
    at_barrier = 0;
    Clock all;
    for (int w = 0; w < warps(); ++w) {
        meet(w);
        raise(clock_of(w), w, now(w) + 1);
        join(all, clock_of(w));
    }
    of_warp.assign(of_warp.size(), all);
}

void Order::sync_named(const Event& event, std::span<const std::uint32_t> words) {
    Named& barrier = named[words[0] % named.size()];
    meet(event.warp);
    release(event, barrier.gathered);
    if (event.op == Op::sync_named) barrier.waiting.push_back(event.warp);
    barrier.threads += std::popcount(event.lanes);
    if (barrier.threads < static_cast<int>(words[1])) return;
    for (const int w : barrier.waiting) join(clock_of(w), barrier.gathered);
    barrier = {};
}

bool Order::take(const Event& event, std::span<const std::uint32_t> words) {
    switch (event.op) {
    case Op::sync_block: sync_block(); return true;
    case Op::sync_warp:
        meet(event.warp);
        raise(clock_of(event.warp), event.warp, now(event.warp) + 1);
        return true;
    case Op::arrive_named:
    case Op::sync_named: sync_named(event, words); return true;
    case Op::wait_products: raise(clock_of(event.warp), products_of(event.warp), words[1]); return true;
    case Op::arrive_at:
    case Op::expect_bytes: release(event, told[words[0]][words[1]]); return true;
    case Op::wait_for: {
        Clock heard;
        for (const auto& [phase, clock] : told[words[0]])
            if (phase < words[1]) join(heard, clock);
        raise(heard, tiles_of(words[0]), words[1]);
        acquire(event, heard);
        return true;
    }
    default: return false;
    }
}

}  // namespace tilewalk::inside
