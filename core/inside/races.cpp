#include "core/inside/races.h"

#include <algorithm>

namespace tilewalk::inside {

RaceDetector::RaceDetector(std::int64_t shared_bytes, std::int64_t global_bytes)
    : shared(static_cast<std::size_t>(shared_bytes / cell_bytes + 1)),
      global(static_cast<std::size_t>(global_bytes / cell_bytes + 1)) {}

void RaceDetector::begin_block(int number, int warps) {
    block = number;
    at_barrier = 0;
    clocks.assign(static_cast<std::size_t>(warps),
                  std::vector<std::uint32_t>(static_cast<std::size_t>(warps)));
    for (std::size_t w = 0; w < clocks.size(); ++w) clocks[w][w] = 1;
    std::fill(shared.begin(), shared.end(), Cell{});
}

RaceDetector::Cell& RaceDetector::cell(std::uint32_t address) {
    return is_shared(address) ? shared[address / cell_bytes] : global[(address - global_base) / cell_bytes];
}

bool RaceDetector::ordered(const Access& before, const Access& now) const {
    if (before.block != now.block || before.under_way) return false;
    if (before.warp == now.warp && before.lanes == now.lanes) return true;  // one lane's own steps
    return clocks[now.warp][before.warp] > before.when;
}

void RaceDetector::note(const Access& first, const Access& second, std::uint32_t address) {
    const auto side = [](const Access& a) { return RaceAccess{a.place, a.op, a.block, a.warp, a.lanes}; };
    const auto [at, is_new] =
        found.try_emplace({first.place, second.place}, Race{side(first), side(second), address, 0});
    Race& race = at->second;
    ++race.times;
    const auto add = [is_new = is_new](RaceAccess& to, const Access& from) {
        if (!is_new && to.block == from.block && to.warp == from.warp) to.lanes |= from.lanes;
    };
    add(race.first, first), add(race.second, second);
}

void RaceDetector::read(Cell& c, const Access& now, std::uint32_t address) {
    if (c.write.place != Place::none && !ordered(c.write, now)) note(c.write, now, address);
    // Of what earlier blocks read, one reader is as good as all: none of them is ordered with this block. Of
    // what a warp read, the last is: what comes after it comes after the others.
    if (c.reads.size() > 1 && c.reads.back().block != now.block) c.reads.resize(1);
    std::erase_if(c.reads, [&now](const Access& r) {
        return r.block == now.block && r.warp == now.warp && r.when < now.when;
    });
    for (Access& r : c.reads)
        if (r.block == now.block && r.warp == now.warp && r.place == now.place) {
            r.lanes |= now.lanes;
            return;
        }
    c.reads.push_back(now);
}

void RaceDetector::write(Cell& c, const Access& now, std::uint32_t address) {
    const bool adds = now.op == Op::atomic_add;
    if (c.write.place != Place::none && !ordered(c.write, now) && !(adds && c.write.op == Op::atomic_add))
        note(c.write, now, address);
    for (const Access& r : c.reads)
        if (!ordered(r, now)) note(r, now, address);
    c.write = now;
    c.reads.clear();
}

void RaceDetector::arrive(Cell& c, const Access& now) {
    Access& w = c.write;
    if (w.under_way && w.block == now.block && w.warp == now.warp && w.lanes == now.lanes)
        w.under_way = false, w.when = now.when;
}

void RaceDetector::pass_barrier() {
    if (++at_barrier < static_cast<int>(clocks.size())) return;
    at_barrier = 0;
    // Each warp's own entry is the largest that there is of it.
    std::vector<std::uint32_t> all(clocks.size());
    for (std::size_t w = 0; w < all.size(); ++w) all[w] = ++clocks[w][w];
    clocks.assign(clocks.size(), all);
}

void RaceDetector::take(const Event& event, std::span<const std::uint32_t> words) {
    if (event.op == Op::sync_block) return pass_barrier();
    auto& clock = clocks[event.warp];
    if (event.op == Op::sync_warp) {
        ++clock[event.warp];
        return;
    }
    const OpInfo& of = info(event.op);
    const bool copies = event.op == Op::copy_issued, arrives = event.op == Op::copy_arrived;
    if (!of.reads && !of.writes && !arrives) return;
    std::size_t next = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(event.lanes >> lane & 1)) continue;
        const std::span<const std::uint32_t> own = words.subspan(next, event.words);
        next += event.words;
        const Access now{event.place, clock[event.warp], 1u << lane, block, event.warp, event.op, copies};
        for (std::uint32_t b = 0; b < event.bytes; b += cell_bytes) {
            const std::uint32_t address = own[0] + b;
            if (arrives)
                arrive(cell(address), now);
            else if (of.writes)
                write(cell(address), now, address);
            else
                read(cell(address), now, address);
            if (!copies || own[2] == 0) continue;
            Access source = now;
            source.under_way = false;
            read(cell(own[1] + b), source, own[1] + b);
        }
    }
}

std::vector<Race> RaceDetector::races() const {
    std::vector<Race> all;
    for (const auto& [places, race] : found) all.push_back(race);
    std::sort(all.begin(), all.end(), [](const Race& a, const Race& b) { return a.times > b.times; });
    return all;
}

}  // namespace tilewalk::inside
