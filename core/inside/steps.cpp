#include "core/inside/steps.h"

#include "core/inside/origin.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tilewalk::inside {

namespace {

std::size_t index(std::integral auto n) { return static_cast<std::size_t>(n); }

/// How many of the sorted steps are at or before k.
int reached(const std::vector<int>& sorted, int k) {
    return static_cast<int>(std::ranges::upper_bound(sorted, k) - sorted.begin());
}

int region_of(const Record& record, std::uint32_t address) {
    for (std::size_t n = 0; n < record.regions.size(); ++n)
        if (record.regions[n].holds(address)) return static_cast<int>(n);
    return -1;
}

/// Where whole warps or lanes of them wait for others.
bool is_barrier(Op op) { return op == Op::sync_block || op == Op::sync_named || op == Op::wait_for; }

/// Slots of those that arrive at the barriers of Hopper, which those that wait come behind.
class Arrivals {
public:
    /// The slot that an event cannot be before.
    int least(const Event& event, std::span<const std::uint32_t> words) const {
        int slot = 0;
        if (event.op != Op::wait_for) return slot;
        for (auto at = told.lower_bound({words[0], 0}); at != told.end() && at->first.first == words[0]; ++at)
            if (at->first.second < words[1]) slot = std::max(slot, at->second + 1);
        return slot;
    }
    /// `next`: of each warp, moved on where a barrier with a number lets it go.
    void note(const Event& event, std::span<const std::uint32_t> words, int slot, std::vector<int>& next) {
        if (arrives(event.op)) arrive(words[0], words[1], slot);
        if (event.op == Op::fetch_tile) arrive(TileFetch(words).barrier, TileFetch(words).phase, slot);
        if (event.op != Op::arrive_named && event.op != Op::sync_named) return;
        Named& barrier = named[words[0]];
        barrier.last = std::max(barrier.last, slot);
        barrier.threads += std::popcount(event.lanes);
        if (event.op == Op::sync_named) barrier.waiting.push_back(event.warp);
        if (barrier.threads < static_cast<int>(words[1])) return;
        for (const std::size_t w : barrier.waiting) next[w] = std::max(next[w], barrier.last + 1);
        barrier = {};
    }

private:
    struct Named {
        int last = 0, threads = 0;
        std::vector<std::size_t> waiting;
    };
    void arrive(std::uint32_t barrier, std::uint32_t phase, int slot) {
        int& last = told[{barrier, phase}];
        last = std::max(last, slot);
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> told;  ///< by barrier and phase
    std::map<std::uint32_t, Named> named;
};

}  // namespace

Steps::Steps(const Record& record, const Launch& launch, const BlockRecord& block,
             std::optional<HeldBack> held)
    : of_warp(index(launch.warps())), tile_begins(of_warp.size()), barrier_steps(of_warp.size()) {
    lay_out(block, held);
    find_lines(record, block);
    find_tiles(block);
    find_flights(record, block);
    find_tile_flights(record, block);
    count_flights();
    find_products(block);
}

// Each warp goes on by itself up to a barrier; behind it all stand in one slot again.
void Steps::lay_out(const BlockRecord& block, const std::optional<HeldBack>& held) {
    int least_slot = 0;
    if (held) {
        lay_out(block, std::nullopt);
        least_slot = slot_of(held->first) + 1;
        const auto warps_here = of_warp.size();
        of_warp.assign(warps_here, {}), arrived.clear(), meetings.clear(), last_slot = 0;
    }
    std::vector<int> next(of_warp.size());
    std::vector<bool> waits(of_warp.size());
    std::vector<std::uint32_t> left(of_warp.size());
    std::vector<std::vector<std::uint32_t>> arrive(of_warp.size());
    Arrivals arrivals_at;
    for (const Event& event : block.events) ++left[event.warp];
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        const std::size_t w = event.warp;
        --left[w];
        if (event.op == Op::copy_arrived) {
            arrive[w].push_back(static_cast<std::uint32_t>(of_warp[w].size()));
            arrived.push_back(n);
            continue;
        }
        if (event.op == Op::tile_arrived) continue;  // seen where it is waited for
        const auto words = block.words_of(event);
        next[w] = std::max(next[w], arrivals_at.least(event, words));
        if (held && n == held->second) next[w] = std::max(next[w], least_slot);
        of_warp[w].push_back({n, next[w]++, 0, 0, 0});
        arrivals_at.note(event, words, next[w] - 1, next);
        last_slot = std::max(last_slot, next[w]);
        if (event.op == Op::sync_block) waits[w] = true;
        meet(next, waits, left);
    }
    // What arrived was noted in the order of the record; now warp after warp.
    std::ranges::stable_sort(arrived, {}, [&](std::uint32_t n) { return block.events[n].warp; });
    std::uint32_t at = 0;
    for (std::size_t w = 0; w < of_warp.size(); ++w)
        for (const std::uint32_t behind : arrive[w]) {
            Step& step = of_warp[w][behind == 0 ? 0 : behind - 1];
            if (step.arrived_end == 0) step.arrivals = at;
            step.arrived_end = ++at;
        }
}

int Steps::slot_of(std::uint32_t event) const {
    for (const auto& all : of_warp)
        for (const Step& step : all)
            if (step.event == event) return step.slot;
    return -1;
}

void Steps::meet(std::vector<int>& next, std::vector<bool>& waits, const std::vector<std::uint32_t>& left) {
    bool any = false;
    for (std::size_t w = 0; w < waits.size(); ++w) {
        if (!waits[w] && left[w] > 0) return;
        any |= waits[w];
    }
    if (!any) return;
    const int slot = *std::ranges::max_element(next);
    meetings.push_back(slot - 1);
    std::ranges::fill(next, slot);
    waits.assign(waits.size(), false);
}

void Steps::find_lines(const Record& record, const BlockRecord& block) {
    std::map<std::pair<std::string, int>, int> known;
    std::vector<int> of_place;
    for (const Place& place : record.places) {
        const auto [at, is_new] = known.try_emplace({place.file, place.line}, static_cast<int>(lines.size()));
        if (is_new) lines.push_back({place.file, place.line, std::vector<std::vector<int>>(of_warp.size())});
        of_place.push_back(at->second);
    }
    for (std::size_t w = 0; w < of_warp.size(); ++w)
        for (std::size_t k = 0; k < of_warp[w].size(); ++k) {
            Step& step = of_warp[w][k];
            step.line = of_place[block.events[step.event].place];
            lines[index(step.line)].at[w].push_back(static_cast<int>(k));
        }
}

// The first barrier that a warp comes to again is that of its loop; but scores that begin anew say it better:
// S, and not dP, which b4 asks for before it has waited for S.
void Steps::find_tiles(const BlockRecord& block) {
    for (std::size_t w = 0; w < of_warp.size(); ++w) {
        std::map<std::uint32_t, std::vector<int>> by_place;
        std::uint32_t loop = Place::none;
        std::vector<int> anew;
        bool waited = true;  // for products
        for (std::size_t k = 0; k < of_warp[w].size(); ++k) {
            const Event& event = block.events[of_warp[w][k].event];
            waited |= event.op == Op::wait_products;
            if (waited && event.op == Op::multiply_async && !TileProduct(block.words_of(event)).adds)
                anew.push_back(static_cast<int>(k)), waited = false;
            if (!is_barrier(event.op) && event.op != Op::left_out) continue;
            barrier_steps[w].push_back(static_cast<int>(k));
            by_place[event.place].push_back(static_cast<int>(k));
            if (loop == Place::none && by_place[event.place].size() == 2) loop = event.place;
        }
        if (!anew.empty())
            tile_begins[w] = anew;
        else if (loop != Place::none)
            tile_begins[w] = by_place[loop];
        else if (!barrier_steps[w].empty())
            tile_begins[w] = {barrier_steps[w].front()};
    }
}

void Steps::find_flights(const Record& record, const BlockRecord& block) {
    std::map<std::pair<std::uint32_t, int>, std::size_t> known;
    std::map<std::pair<std::uint32_t, int>, std::vector<std::size_t>> of_group;  ///< by group and warp
    for (int w = 0; w < warps(); ++w)
        for (int k = 0; k < count(w); ++k) {
            const Event& e = block.events[event(w, k)];
            const auto words = block.words_of(e);
            if (e.op == Op::copies_committed)
                for (const std::size_t n : of_group[{words[0], w}])
                    copies[n].committed = std::max(copies[n].committed, slot(w, k));
            if (e.op == Op::copy_issued) {
                const int region = region_of(record, words[1]);
                const auto [at, is_new] = known.try_emplace({words[3], region}, copies.size());
                if (is_new) copies.push_back({words[3], region, slot(w, k), -1, -1, 0, words[0], 0, -1});
                Flight& flight = copies[at->second];
                flight.issued = std::min(flight.issued, slot(w, k));
                flight.bytes += std::popcount(e.lanes) * e.bytes;
                block.each_lane(e, [&flight](int, auto own) {
                    flight.to = std::min(flight.to, own[0]);
                    if (own[2] != 0 && (flight.from == 0 || own[1] < flight.from)) flight.from = own[1];
                });
                auto& group = of_group[{words[3], w}];
                if (std::ranges::find(group, at->second) == group.end()) group.push_back(at->second);
            }
            for (const std::uint32_t n : arrivals(w, k))
                for (const std::size_t f : of_group[{block.words_of(block.events[n])[1], w}])
                    copies[f].arrived = std::max(copies[f].arrived, slot(w, k));
        }
    for (Flight& flight : copies)
        if (const auto first = flight.from != 0 ? element_of(record, flight.from) : std::nullopt)
            flight.tile = tile_of_row(record, matter_of(record, flight.from), first->row);
    std::ranges::stable_sort(copies, {}, &Flight::issued);
}

// A tile is there when somebody has waited for the phase of its barrier.
void Steps::find_tile_flights(const Record& record, const BlockRecord& block) {
    std::map<std::uint32_t, std::vector<std::size_t>> of_barrier;
    const auto each = [&](Op op, const auto& f) {
        for (int w = 0; w < warps(); ++w)
            for (int k = 0; k < count(w); ++k)
                if (const Event& e = block.events[event(w, k)]; e.op == op) f(block.words_of(e), slot(w, k));
    };
    each(Op::fetch_tile, [&](const auto& words, int at) {
        const TileFetch tile(words);
        const int region = region_of(record, tile.from);
        auto& all = of_barrier[tile.barrier];
        // Of a barrier that two matrices come to each is one.
        auto of = all.rbegin();
        while (of != all.rend() && copies[*of].group == tile.phase && copies[*of].region != region) ++of;
        const bool known = of != all.rend() && copies[*of].group == tile.phase;
        const std::size_t n = known ? *of : copies.size();
        if (!known) {
            all.push_back(n);
            copies.push_back(
                {tile.phase, region, at, at, -1, 0, tile.to, tile.from, tile_of_box(record, tile)});
        }
        copies[n].bytes += tile.box_bytes, copies[n].committed = at;
    });
    each(Op::wait_for, [&](const auto& words, int at) {
        for (const std::size_t n : of_barrier[words[0]]) {
            Flight& flight = copies[n];
            if (flight.group < words[1] && (flight.arrived < 0 || at < flight.arrived)) flight.arrived = at;
        }
    });
    std::ranges::stable_sort(copies, {}, &Flight::issued);
}

void Steps::count_flights() {
    std::map<int, int> change;  // by slot
    for (const Flight& f : copies)
        ++change[f.issued], --change[f.arrived < 0 ? last_slot + 1 : f.arrived + 1];
    int now = 0;
    for (const auto& [slot, by] : change) now += by, most_copies = std::max(most_copies, now);
}

void Steps::find_products(const BlockRecord& block) {
    for (int w = 0; w < warps(); ++w) {
        std::map<std::uint32_t, std::size_t> of_group;
        for (int k = 0; k < count(w); ++k) {
            const Event& e = block.events[event(w, k)];
            const auto words = block.words_of(e);
            if (e.op == Op::multiply_async &&
                of_group.try_emplace(TileProduct(words).group, running.size()).second)
                running.push_back({w, k, slot(w, k), -1});
            if (e.op != Op::wait_products) continue;
            for (const auto& [group, n] : of_group)
                if (group < words[1] && running[n].waited < 0) running[n].waited = slot(w, k);
        }
    }
}

std::span<const std::uint32_t> Steps::arrivals(int warp, int k) const {
    const Step& step = steps(warp)[index(k)];
    return std::span(arrived).subspan(step.arrivals, step.arrived_end - step.arrivals);
}

int Steps::at_slot(int warp, int slot) const {
    const auto& all = steps(warp);
    const auto behind = std::ranges::upper_bound(all, slot, {}, slot_visited);
    return std::max(0, static_cast<int>(behind - all.begin()) - 1);
}

int Steps::at_slot(int warp, int slot, int from) const {
    const auto& all = steps(warp);
    // A step takes a slot at least.
    const std::ptrdiff_t most = std::max(0, slot - all[index(from)].slot) + 1;
    const auto begin = all.begin() + from, end = begin + std::min(most, all.end() - begin);
    // Between two barriers it takes just one, and no search is needed.
    if (slot_visited(*(end - 1)) <= slot) return static_cast<int>(end - all.begin()) - 1;
    const auto behind =
        std::upper_bound(begin, end, slot, [](int s, const Step& step) { return s < slot_visited(step); });
    return std::max(from, static_cast<int>(behind - all.begin()) - 1);
}

int Steps::tile(int warp, int k) const { return reached(tile_begins[index(warp)], k) - 1; }

int Steps::tiles() const {
    std::size_t most = 0;
    for (const auto& begins : tile_begins) most = std::max(most, begins.size());
    return static_cast<int>(most);
}

int Steps::go(int warp, int k, Stride stride, int by) const {
    const int last = count(warp) - 1;
    if (last < 0) return 0;
    if (stride == Stride::instruction) return std::clamp(k + by, 0, last);
    if (stride == Stride::line) {
        const int now = line(warp, k);
        int to = k;
        if (by > 0) {
            while (to < last && line(warp, to) == now) ++to;
            return to;
        }
        while (to > 0 && line(warp, to - 1) == now) --to;
        if (to < k || to == 0) return to;  // first to where this line began
        const int before = line(warp, --to);
        while (to > 0 && line(warp, to - 1) == before) --to;
        return to;
    }
    const auto& stops = stride == Stride::tile ? tile_begins[index(warp)] : barrier_steps[index(warp)];
    const auto at = by > 0 ? std::ranges::upper_bound(stops, k) : std::ranges::lower_bound(stops, k);
    if (by > 0) return at == stops.end() ? last : *at;
    return at == stops.begin() ? 0 : *(at - 1);
}

const Steps::Line* Steps::find_line(const std::string& file, int line) const {
    const auto found =
        std::ranges::find_if(lines, [&](const Line& one) { return one.line == line && one.file == file; });
    return found == lines.end() ? nullptr : &*found;
}

int Steps::next_in_line(int warp, int k, const std::string& file, int source_line) const {
    const Line* const found = find_line(file, source_line);
    if (!found || found->at[index(warp)].empty()) return -1;
    const auto& at = found->at[index(warp)];
    const auto behind = std::ranges::upper_bound(at, k);
    return behind == at.end() ? at.front() : *behind;
}

int Steps::find(const BlockRecord& block, const StepQuery& query) const {
    if (query.warp < 0 || query.warp >= warps()) return -1;
    int left = query.n;
    for (int k = 0; k < count(query.warp); ++k)
        if (!query.op || block.events[event(query.warp, k)].op == *query.op)
            if (--left == 0) return k;
    return -1;
}

}  // namespace tilewalk::inside
