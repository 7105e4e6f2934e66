#include "core/inside/model_time.h"

#include "core/inside/accesses.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <stdexcept>

namespace tilewalk::inside {

namespace {

// 32 lanes through a quarter of the published lanes (multiply-adds of mma: 2048 through a quarter) each
// clock. Throughputs: CUDA C++ programming guide, "Throughput of Native Arithmetic Instructions" (special
// functions 16, shuffles 32 of a multiprocessor; conversions as 64 integer operations); tensor cores: the
// whitepapers of Turing, GA100, GA102, Ada and Hopper (512, 1024, 256, 256 and 2048 multiply-adds with float
// sums; the GeForce chips do half of what their architecture can). Bytes of HBM each clock and
// multiprocessor: bandwidth by multiprocessors by boost clock, from the data sheets of the chips named.
constexpr Costs table[] = {
    {75, "T4", 16, 8, 2, 4, 1, 6},       {80, "A100 80 GB", 8, 8, 2, 4, 1, 2},
    {86, "RTX 3090", 32, 8, 2, 4, 1, 5}, {89, "RTX 4090", 32, 8, 2, 4, 1, 10},
    {90, "H100 SXM", 4, 8, 2, 4, 1, 2},
};

/// Sectors of device memory and turns of the banks that an event takes.
int cost_of_access(const Event& event, std::span<const std::uint32_t> words, const Costs& costs) {
    int cost = 0;
    for (const Access& access : accesses_of(event, words))
        cost += access.shared ? costs.turn * bank_turns(access.addresses, access.lanes, event.bytes).turns
                              : costs.sector * sectors(access.addresses, event.bytes).touched;
    return cost;
}

int cost_of(const Event& event, std::span<const std::uint32_t> words, const Costs& costs) {
    switch (event.op) {
    case Op::load:
    case Op::store:
    case Op::atomic_add:
    case Op::load_matrices:
    case Op::load_transposed: return cost_of_access(event, words, costs);
    case Op::multiply_add: return costs.mma;
    case Op::shuffle: return costs.shuffle;
    case Op::exp2:
    case Op::exp:
    case Op::log: return costs.special;
    case Op::from_float:
    case Op::pack: return costs.convert;
    case Op::copy_arrived:
    case Op::tile_arrived:
    case Op::left_out: return 0;
    default: return 1;
    }
}

class Clockwork {
public:
    Clockwork(const BlockRecord& what, int warps, const Costs& with)
        : block(what), costs(with), now(static_cast<std::size_t>(warps)) {
        result.events.resize(block.events.size());
    }
    ModelTime run() {
        for (std::size_t n = 0; n < block.events.size(); ++n) step(n);
        for (const std::int64_t t : now) result.end = std::max(result.end, t);
        return std::move(result);
    }

private:
    void step(std::size_t n) {
        const Event& event = block.events[n];
        const auto words = block.words_of(event);
        std::int64_t& time = now[event.warp];
        Span& span = result.events[n];
        span = {time, time + cost_of(event, words, costs)};
        if (event.op == Op::copy_issued) issue(event, words, span);
        if (event.op == Op::wait_copies) wait(event, words, span);
        if (event.op == Op::wait_for) span.end = std::max(span.end, heard(words));
        if (event.op == Op::wait_products) span.end = std::max(span.end, computed(event.warp, words[1]));
        if (event.op == Op::tile_arrived) {
            span = tiles[words[0]];
            return;
        }
        if (event.op == Op::copy_arrived) {
            span = under_way[{event.warp, words[1]}];
            return;
        }
        time = span.end;
        if (event.op == Op::sync_block) meet(n);
        if (event.op == Op::fetch_tile) fetch(words, span);
        if (event.op == Op::multiply_async) multiply(event.warp, words, span);
        if (arrives(event.op)) arrive(words[0], words[1], span.end);
        if (event.op == Op::arrive_named || event.op == Op::sync_named) meet_named(n, words);
    }

    // Of Hopper: tiles come one after the other, the products of the warps that share a quarter as well.
    void fetch(std::span<const std::uint32_t> words, const Span& span) {
        const TileFetch tile(words);
        fetched = std::max(fetched, span.end) + costs.sector * tile.sectors();
        tiles[tile.to] = {span.begin, fetched};
        arrive(tile.barrier, tile.phase, fetched);
    }
    void multiply(int warp, std::span<const std::uint32_t> words, const Span& span) {
        const TileProduct product(words);
        std::int64_t& busy = tensor_core[static_cast<std::size_t>(warp) % tensor_core.size()];
        busy = std::max(busy, span.end) + std::int64_t(costs.mma) * product.columns / 8;
        products[{warp, product.group}] = busy;
    }
    std::int64_t computed(int warp, std::uint32_t groups) const {
        std::int64_t end = 0;
        for (auto at = products.lower_bound({warp, 0}); at != products.end() && at->first.first == warp; ++at)
            if (at->first.second < groups) end = std::max(end, at->second);
        return end;
    }
    void arrive(std::uint32_t barrier, std::uint32_t phase, std::int64_t when) {
        std::int64_t& last = told[{barrier, phase}];
        last = std::max(last, when);
    }
    std::int64_t heard(std::span<const std::uint32_t> words) const {
        std::int64_t end = 0;
        for (auto at = told.lower_bound({words[0], 0}); at != told.end() && at->first.first == words[0]; ++at)
            if (at->first.second < words[1]) end = std::max(end, at->second);
        return end;
    }
    void meet_named(std::size_t n, std::span<const std::uint32_t> words) {
        const Event& event = block.events[n];
        Named& barrier = named[words[0]];
        barrier.last = std::max(barrier.last, result.events[n].end);
        barrier.threads += std::popcount(event.lanes);
        if (event.op == Op::sync_named) barrier.waiting.push_back(n);
        if (barrier.threads < static_cast<int>(words[1])) return;
        for (const std::size_t w : barrier.waiting)
            result.events[w].end = now[block.events[w].warp] = barrier.last;
        barrier = {};
    }
    // HBM sends the copies of a block one after the other.
    void issue(const Event& event, std::span<const std::uint32_t> words, const Span& span) {
        fetched = std::max(fetched, span.end) + cost_of_access(event, words, costs);
        Span& copy = under_way.try_emplace({event.warp, words[3]}, Span{span.begin, 0}).first->second;
        copy.end = fetched;
    }
    void wait(const Event& event, std::span<const std::uint32_t> words, Span& span) {
        for (const auto& [key, copy] : under_way)
            if (key.first == event.warp && key.second < words[1]) span.end = std::max(span.end, copy.end);
    }
    void meet(std::size_t n) {
        waiting.push_back(n);
        if (waiting.size() < now.size()) return;
        std::int64_t last = 0;
        for (const std::size_t w : waiting) last = std::max(last, result.events[w].end);
        for (const std::size_t w : waiting) result.events[w].end = last;
        std::fill(now.begin(), now.end(), last);
        waiting.clear();
    }

    const BlockRecord& block;
    const Costs& costs;
    std::vector<std::int64_t> now;  ///< of each warp
    std::int64_t fetched = 0;
    std::map<std::pair<int, std::uint32_t>, Span> under_way;  ///< by warp and group
    std::vector<std::size_t> waiting;
    struct Named {
        std::int64_t last = 0;
        int threads = 0;
        std::vector<std::size_t> waiting;
    };
    std::map<std::uint32_t, Named> named;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> told;  ///< by barrier and phase
    std::map<std::uint32_t, Span> tiles;                                   ///< by where they go
    std::map<std::pair<int, std::uint32_t>, std::int64_t> products;        ///< by warp and group
    std::array<std::int64_t, 4> tensor_core{};                             ///< when each is free
    ModelTime result;
};

}  // namespace

std::span<const Costs> all_costs() { return table; }

const Costs& costs_of(int capability) {
    for (const Costs& costs : table)
        if (costs.capability == capability) return costs;
    throw std::invalid_argument("no costs for this compute capability");
}

ModelTime model_time(const BlockRecord& block, int warps, const Costs& costs) {
    return Clockwork(block, warps, costs).run();
}

}  // namespace tilewalk::inside
