#include "core/inside/races.h"

#include "core/inside/tiles.h"

#include <algorithm>
#include <bit>

namespace tilewalk::inside {

RaceDetector::RaceDetector(std::int64_t shared_bytes, std::int64_t global_bytes)
    : shared(static_cast<std::size_t>(shared_bytes / cell_bytes + 1)),
      global(static_cast<std::size_t>(global_bytes / cell_bytes + 1)) {}

void RaceDetector::begin_block(int number, int warps) {
    block = number;
    order = Order(warps);
    events = 0;
    products.clear(), turns = {};
    std::fill(shared.begin(), shared.end(), Cell{});
}

RaceDetector::Cell& RaceDetector::cell(std::uint32_t address) {
    return is_shared(address) ? shared[address / cell_bytes] : global[(address - global_base) / cell_bytes];
}

bool RaceDetector::ordered(const Access& before, const Access& now) const {
    if (before.block != now.block || before.under_way) return false;
    const bool own_step = before.agent == before.warp && before.warp == now.warp && before.lanes == now.lanes;
    return own_step || order.knows(now.warp, now.lanes, before.agent, before.when);
}

void RaceDetector::note(const Access& first, const Access& second, std::uint32_t address) {
    const auto side = [](const Access& a) {
        return RaceAccess{a.place, a.op, a.block, a.warp, a.lanes, a.event};
    };
    Found& one =
        found.try_emplace({first.place, second.place}, Found{{side(first), side(second), address, 0}, {}})
            .first->second;
    Race& race = one.race;
    Access& last = one.last;
    if (last.block != second.block || last.warp != second.warp || last.event != second.event ||
        last.lanes != second.lanes || race.times == 0)
        ++race.times;
    last = second;
    // Whose lanes are told is the two events at the one address: others race elsewhere.
    const auto add = [&](RaceAccess& to, const Access& from) {
        if (address == race.address && to.block == from.block && to.warp == from.warp &&
            to.event == from.event)
            to.lanes |= from.lanes;
    };
    add(race.first, first), add(race.second, second);
}

void RaceDetector::read(Cell& c, const Access& now, std::uint32_t address) {
    if (c.write.place != Place::none && !ordered(c.write, now)) note(c.write, now, address);
    note_unordered(c.additions, now, address);
    // Of what earlier blocks read, one reader is as good as all: none of them is ordered with this block. Of
    // what a warp read, the last is: what comes after it comes after the others.
    if (c.reads.size() > 1 && c.reads.back().block != now.block) c.reads.resize(1);
    std::erase_if(c.reads, [&now](const Access& r) {
        return r.block == now.block && r.agent == now.agent && r.when < now.when;
    });
    for (Access& r : c.reads)
        if (r.block == now.block && r.agent == now.agent && r.place == now.place) {
            r.lanes |= now.lanes;
            return;
        }
    c.reads.push_back(now);
}

void RaceDetector::note_unordered(const std::vector<Access>& before, const Access& now,
                                  std::uint32_t address) {
    for (const Access& a : before)
        if (!ordered(a, now)) note(a, now, address);
}

// Additions do not race with each other, so many may stand open; whoever reads has to come after all of
// them. Of earlier blocks one is as good as all, and lanes of one instruction go together.
void RaceDetector::keep_addition(Cell& c, const Access& now) const {
    std::erase_if(c.additions, [&](const Access& a) { return ordered(a, now); });
    if (ordered(c.write, now)) return;
    for (Access& a : c.additions) {
        const bool same = a.block == c.write.block && a.agent == c.write.agent && a.when == c.write.when &&
                          a.place == c.write.place;
        if (same) return void(a.lanes |= c.write.lanes);
        if (a.block != now.block && c.write.block != now.block) return;
    }
    c.additions.push_back(c.write);
}

void RaceDetector::write(Cell& c, const Access& now, std::uint32_t address) {
    const bool was_written = c.write.place != Place::none,
               both_add = now.op == Op::atomic_add && c.write.op == Op::atomic_add;
    if (was_written && !both_add && !ordered(c.write, now)) note(c.write, now, address);
    note_unordered(c.reads, now, address);
    if (was_written && both_add) {
        keep_addition(c, now);
    } else {
        note_unordered(c.additions, now, address);
        c.additions.clear();
    }
    c.write = now;
    c.reads.clear();
}

void RaceDetector::arrive(Cell& c, const Access& now) {
    Access& w = c.write;
    if (w.under_way && w.block == now.block && w.warp == now.warp && w.lanes == now.lanes)
        w.under_way = false, w.when = now.when;
}

void RaceDetector::read_bytes(const Access& now, std::uint32_t address, std::uint32_t bytes) {
    for (std::uint32_t b = 0; b < bytes; b += cell_bytes) read(cell(address + b), now, address + b);
}

void RaceDetector::write_bytes(const Access& now, std::uint32_t address, std::uint32_t bytes) {
    for (std::uint32_t b = 0; b < bytes; b += cell_bytes) write(cell(address + b), now, address + b);
}

// What a warp tells others to do is theirs: it goes on, and does not know when they are done.
void RaceDetector::fetch(std::span<const std::uint32_t> words, const Access& by) {
    const TileFetch tile(words);
    Access now = by;
    now.agent = static_cast<std::uint16_t>(order.tiles_of(tile.barrier)), now.when = tile.phase;
    write_bytes(now, tile.to, tile.box_bytes);
    for (std::uint32_t r = 0; r < tile.rows; ++r)
        read_bytes(now, tile.from + r * tile.stride, tile.row_bytes);
}

void RaceDetector::multiply(const Event& event, std::span<const std::uint32_t> words, const Access& by) {
    constexpr std::uint32_t chunk = 16;
    const TileProduct product(words);
    Access now = by;
    now.agent = static_cast<std::uint16_t>(order.products_of(event.warp)), now.when = product.group;
    products[{event.warp, product.sums}] = now;
    for (const std::uint32_t address : product.chunks_of_A(event.warp)) read_bytes(now, address, chunk);
    for (const std::uint32_t address : product.chunks_of_B()) read_bytes(now, address, chunk);
}

// What was made of a sum that was not there is told with the product whose sum it was, while that runs.
void RaceDetector::take_sums(const Event& event, std::span<const std::uint32_t> words, const Access& by) {
    for (int lane = 0; lane < 32; ++lane) {
        if (!event.has(lane)) continue;
        const auto own = words.first(event.words);
        words = words.subspan(event.words);
        for (const std::uint32_t word : taken_numbers(event.op, own)) {
            const auto at = marked(word);
            const auto product = at ? products.find({event.warp, at->sums}) : products.end();
            if (product == products.end()) continue;
            Access now = by;
            now.lanes = 1u << lane;
            if (!ordered(product->second, now)) note(product->second, now, address_of(*at));
        }
    }
}

void RaceDetector::take_turn(const Event& event, std::span<const std::uint32_t> words, const Access& by) {
    Turn& turn = turns[words[0] % turns.size()];
    if (turn.threads == 0) turn.given = by;
    turn.taken = turn.taken || event.op == Op::sync_named;
    turn.threads += std::popcount(event.lanes);
    if (turn.threads < static_cast<int>(words[1])) return;
    if (!turn.taken) note(turn.given, by, numbered_base + words[0]);
    turn = {};
}

void RaceDetector::access(const Event& event, std::span<const std::uint32_t> words, const Access& by) {
    const OpInfo& of = info(event.op);
    const bool copies = event.op == Op::copy_issued, arrives = event.op == Op::copy_arrived;
    std::size_t next = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(event.lanes >> lane & 1)) continue;
        const std::span<const std::uint32_t> own = words.subspan(next, event.words);
        next += event.words;
        Access now = by;
        now.lanes = 1u << lane, now.under_way = copies;
        for (std::uint32_t b = 0; arrives && b < event.bytes; b += cell_bytes) arrive(cell(own[0] + b), now);
        if (of.writes) write_bytes(now, own[0], event.bytes);
        if (of.reads && !of.writes) read_bytes(now, own[0], event.bytes);
        if (!copies || own[2] == 0) continue;
        now.under_way = false;
        read_bytes(now, own[1], event.bytes);
    }
}

int RaceDetector::writer(std::uint32_t address) const {
    const Access& last = global[(address - global_base) / cell_bytes].write;
    return last.place == Place::none ? -1 : last.block;
}

void RaceDetector::take(const Event& event, std::span<const std::uint32_t> words) {
    constexpr std::uint32_t barrier_bytes = 8;
    const Access by{event.place, order.now(event.warp), event.lanes, events++, block, event.warp, event.warp,
                    event.op};
    // Arrivals and waits change a barrier, but never against each other.
    if (event.op == Op::init_barrier) return write_bytes(by, words[0], barrier_bytes);
    if (arrives(event.op) || event.op == Op::wait_for) read_bytes(by, words[0], barrier_bytes);
    if (event.op == Op::arrive_named || event.op == Op::sync_named) take_turn(event, words, by);
    if (order.take(event, words)) return;
    take_sums(event, words, by);
    if (event.op == Op::fetch_tile) return fetch(words, by);
    if (event.op == Op::multiply_async) return multiply(event, words, by);
    const OpInfo& of = info(event.op);
    if (of.reads || of.writes || event.op == Op::copy_arrived) access(event, words, by);
}

std::vector<Race> RaceDetector::races() const {
    std::vector<Race> all;
    for (const auto& [places, one] : found) all.push_back(one.race);
    std::sort(all.begin(), all.end(), [](const Race& a, const Race& b) { return a.times > b.times; });
    return all;
}

}  // namespace tilewalk::inside
