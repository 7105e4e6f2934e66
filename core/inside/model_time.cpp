#include "core/inside/model_time.h"

#include "core/inside/accesses.h"

#include <algorithm>
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
    case Op::copy_arrived: return 0;
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
        if (event.op == Op::copy_arrived) {
            span = under_way[{event.warp, words[1]}];
            return;
        }
        time = span.end;
        if (event.op == Op::sync_block) meet(n);
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
