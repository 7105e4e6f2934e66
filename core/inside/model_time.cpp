#include "core/inside/model_time.h"

#include "core/inside/accesses.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <stdexcept>

namespace tilewalk::inside {

namespace {

// 32 lanes through a quarter of the published lanes (multiply-adds of mma: 2048 through a quarter) each
// clock. Throughputs: CUDA C++ programming guide, "Throughput of Native Arithmetic Instructions" (special
// functions 16, shuffles 32 of a multiprocessor; conversions as 64 integer operations); tensor cores: the
// whitepapers of Turing, GA100, GA102, Ada and Hopper (512, 1024, 256, 256 and 2048 multiply-adds with float
// sums; the GeForce chips do half of what their architecture can). Bytes of HBM each clock and
// multiprocessor: bandwidth by multiprocessors by boost clock, from the data sheets of the chips named. No
// data sheet has a latency of HBM, and none is made up: 0.
constexpr Costs table[] = {
    {75, "T4", 16, 8, 2, 4, 1, 6, 0},       {80, "A100 80 GB", 8, 8, 2, 4, 1, 2, 0},
    {86, "RTX 3090", 32, 8, 2, 4, 1, 5, 0}, {89, "RTX 4090", 32, 8, 2, 4, 1, 10, 0},
    {90, "H100 SXM", 4, 8, 2, 4, 1, 2, 0},
};

/// What an event asks of both memories: turns of the banks, sectors of HBM.
struct Asked {
    int turns = 0, sectors = 0;
};
Asked asked_by(const Event& event, std::span<const std::uint32_t> words) {
    Asked all;
    for (const Access& access : accesses_of(event, words))
        if (access.shared)
            all.turns += bank_turns(access.addresses, access.lanes, event.bytes).turns;
        else
            all.sectors += sectors(access.addresses, event.bytes).touched;
    return all;
}

bool is_access(Op op) { return (info(op).reads || info(op).writes) && op != Op::copy_arrived; }

/// Of the warp itself, without HBM.
int cost_of(const Event& event, const Asked& asked, const Costs& costs) {
    switch (event.op) {
    case Op::load:
    case Op::store:
    case Op::atomic_add:
    case Op::load_matrices:
    case Op::load_transposed: return asked.turns > 0 ? costs.turn * asked.turns : 1;
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

/// Of each warp its events, in its order; the warp that is earliest goes on, so that whoever asks first is
/// served first.
class Clockwork {
public:
    Clockwork(const BlockRecord& what, int warps, const Costs& with)
        : block(what), costs(with), now(static_cast<std::size_t>(warps)), stands(now.size()),
          left(now.size()) {
        result.events.resize(block.events.size());
        for (std::size_t n = 0; n < block.events.size(); ++n) {
            const Event& event = block.events[n];
            left[event.warp].push_back(n);
            const auto words = block.words_of(event);
            if (arrives(event.op)) ++expected[{words[0], words[1]}];
            if (event.op == Op::fetch_tile) ++expected[{TileFetch(words).barrier, TileFetch(words).phase}];
        }
    }
    ModelTime run() {
        for (std::size_t done = 0; done < block.events.size(); ++done) {
            const std::size_t w = earliest();
            step(left[w][next_of[w]++]);
        }
        for (const std::int64_t t : now) result.end = std::max(result.end, t);
        result.end = std::max(result.end, hbm);
        return std::move(result);
    }

private:
    // None can go on only where the record ends in the midst of it: then its own order does.
    std::size_t earliest() const {
        std::optional<std::size_t> first, recorded;
        for (std::size_t w = 0; w < now.size(); ++w) {
            if (next_of[w] == left[w].size()) continue;
            if (!recorded || left[w][next_of[w]] < left[*recorded][next_of[*recorded]]) recorded = w;
            if (can_go_on(w) && (!first || now[w] < now[*first])) first = w;
        }
        return first ? *first : *recorded;
    }
    bool can_go_on(std::size_t w) const {
        if (stands[w]) return false;
        const Event& event = block.events[left[w][next_of[w]]];
        return event.op != Op::wait_for || expected_before(block.words_of(event)) == 0;
    }
    /// Arrivals at the phases that it waits for which are still to come.
    int expected_before(std::span<const std::uint32_t> words) const {
        int all = 0;
        for (auto at = expected.lower_bound({words[0], 0});
             at != expected.end() && at->first.first == words[0]; ++at)
            if (at->first.second < words[1]) all += at->second;
        return all;
    }

    void step(std::size_t n) {
        const Event& event = block.events[n];
        const auto words = block.words_of(event);
        const Asked asked = is_access(event.op) ? asked_by(event, words) : Asked{};
        std::int64_t& time = now[event.warp];
        Span& span = result.events[n];
        span = {time, time + cost_of(event, asked, costs)};
        if (event.op == Op::copy_issued)
            issue(event, words, asked, span);
        else if (asked.sectors > 0)
            ask(event, asked, span);
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

    // HBM serves whoever asks for sectors one after the other; the result: when the last of these has come.
    std::int64_t serve(std::int64_t sectors, std::int64_t asked_at) {
        hbm = std::max(hbm, asked_at) + costs.sector * sectors;
        return hbm + costs.latency;
    }
    // A warp waits for what it loads, and not for what it stores.
    void ask(const Event& event, const Asked& asked, Span& span) {
        const std::int64_t served = serve(asked.sectors, span.begin);
        if (!info(event.op).writes) span.end = std::max(span.end, served);
    }
    void issue(const Event& event, std::span<const std::uint32_t> words, const Asked& asked,
               const Span& span) {
        Span& copy = under_way.try_emplace({event.warp, words[3]}, Span{span.begin, 0}).first->second;
        const std::int64_t brought = asked.sectors > 0 ? serve(asked.sectors, span.end) : span.end;
        copy.end = std::max(copy.end, brought + costs.turn * std::int64_t(asked.turns));
    }
    void fetch(std::span<const std::uint32_t> words, const Span& span) {
        const TileFetch tile(words);
        const std::int64_t brought = serve(tile.sectors(), span.end);
        tiles[tile.to] = {span.begin, brought};
        arrive(tile.barrier, tile.phase, brought);
    }
    // Of Hopper: the products of the warps that share a quarter come one after the other.
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
        --expected[{barrier, phase}];
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
        if (event.op == Op::sync_named) barrier.waiting.push_back(n), stands[event.warp] = true;
        if (barrier.threads < static_cast<int>(words[1])) return;
        for (const std::size_t w : barrier.waiting) {
            result.events[w].end = now[block.events[w].warp] = barrier.last;
            stands[block.events[w].warp] = false;
        }
        barrier = {};
    }
    void wait(const Event& event, std::span<const std::uint32_t> words, Span& span) {
        for (const auto& [key, copy] : under_way)
            if (key.first == event.warp && key.second < words[1]) span.end = std::max(span.end, copy.end);
    }
    void meet(std::size_t n) {
        waiting.push_back(n);
        stands[block.events[n].warp] = true;
        if (waiting.size() < now.size()) return;
        std::int64_t last = 0;
        for (const std::size_t w : waiting) last = std::max(last, result.events[w].end);
        for (const std::size_t w : waiting) result.events[w].end = last;
        std::fill(now.begin(), now.end(), last);
        std::fill(stands.begin(), stands.end(), false);
        waiting.clear();
    }

    const BlockRecord& block;
    const Costs& costs;
    std::vector<std::int64_t> now;  ///< of each warp
    std::vector<bool> stands;       ///< at a barrier
    std::vector<std::vector<std::size_t>> left;
    std::vector<std::size_t> next_of = std::vector<std::size_t>(now.size());
    std::int64_t hbm = 0;  ///< when it has served all that was asked
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> expected;  ///< arrivals, by barrier and phase
    std::map<std::pair<int, std::uint32_t>, Span> under_way;          ///< by warp and group
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
