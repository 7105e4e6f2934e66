#include "core/inside/steps.h"

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

}  // namespace

Steps::Steps(const Record& record, const Launch& launch, const BlockRecord& block)
    : of_warp(index(launch.warps())), tile_begins(of_warp.size()), barrier_steps(of_warp.size()) {
    lay_out(block);
    find_lines(record, block);
    find_tiles(block);
    find_flights(record, block);
}

// Each warp goes on by itself up to a barrier; behind it all stand in one slot again.
void Steps::lay_out(const BlockRecord& block) {
    std::vector<int> next(of_warp.size());
    std::vector<bool> waits(of_warp.size());
    std::vector<std::uint32_t> left(of_warp.size());
    std::vector<std::vector<std::uint32_t>> arrive(of_warp.size());
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
        of_warp[w].push_back({n, next[w]++, 0, 0, 0});
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

// The first barrier that a warp comes to again is that of its loop.
void Steps::find_tiles(const BlockRecord& block) {
    for (std::size_t w = 0; w < of_warp.size(); ++w) {
        std::map<std::uint32_t, std::vector<int>> by_place;
        std::uint32_t loop = Place::none;
        for (std::size_t k = 0; k < of_warp[w].size(); ++k) {
            const Event& event = block.events[of_warp[w][k].event];
            if (event.op != Op::sync_block) continue;
            barrier_steps[w].push_back(static_cast<int>(k));
            by_place[event.place].push_back(static_cast<int>(k));
            if (loop == Place::none && by_place[event.place].size() == 2) loop = event.place;
        }
        if (loop != Place::none)
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
                if (is_new) copies.push_back({words[3], region, slot(w, k), -1, -1, 0, words[0], 0});
                Flight& flight = copies[at->second];
                flight.issued = std::min(flight.issued, slot(w, k));
                flight.bytes += std::popcount(e.lanes) * e.bytes;
                for (std::size_t l = 0; l < words.size(); l += e.words) {
                    flight.to = std::min(flight.to, words[l]);
                    if (words[l + 2] != 0 && (flight.from == 0 || words[l + 1] < flight.from))
                        flight.from = words[l + 1];
                }
                auto& group = of_group[{words[3], w}];
                if (std::ranges::find(group, at->second) == group.end()) group.push_back(at->second);
            }
            for (const std::uint32_t n : arrivals(w, k))
                for (const std::size_t f : of_group[{block.words_of(block.events[n])[1], w}])
                    copies[f].arrived = std::max(copies[f].arrived, slot(w, k));
        }
    std::ranges::stable_sort(copies, {}, &Flight::issued);
}

std::span<const std::uint32_t> Steps::arrivals(int warp, int k) const {
    const Step& step = steps(warp)[index(k)];
    return std::span(arrived).subspan(step.arrivals, step.arrived_end - step.arrivals);
}

int Steps::at_slot(int warp, int slot) const {
    const auto& all = steps(warp);
    const auto behind = std::ranges::upper_bound(all, slot, {}, &Step::slot);
    return std::max(0, static_cast<int>(behind - all.begin()) - 1);
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

Steps::Times Steps::times(int warp, int k, const std::string& file, int source_line) const {
    const Line* const found = find_line(file, source_line);
    if (!found) return {};
    const auto& at = found->at[index(warp)];
    return {reached(at, k), static_cast<int>(at.size())};
}

int Steps::next_in_line(int warp, int k, const std::string& file, int source_line) const {
    const Line* const found = find_line(file, source_line);
    if (!found || found->at[index(warp)].empty()) return -1;
    const auto& at = found->at[index(warp)];
    const auto behind = std::ranges::upper_bound(at, k);
    return behind == at.end() ? at.front() : *behind;
}

}  // namespace tilewalk::inside
