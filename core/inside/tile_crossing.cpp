#include "core/inside/tile_crossing.h"

#include "core/base/shared_tiles.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tilewalk::inside {

namespace {

// What memory has where nothing has come: a number of 16 bits that is none, of either type.
constexpr Content nothing_came{0x7FFF, 2};

}  // namespace

TileCrossings::TileCrossings(const BlockRun& with_fault, const BlockRun& without,
                             std::span<const Race* const> of_block)
    : broken(with_fault), sound(without), races(of_block.begin(), of_block.end()),
      twins(broken.block.events.size(), nowhere), step_of(broken.block.events.size(), -1),
      left_out(static_cast<std::size_t>(broken.steps.warps())) {
    std::set<std::uint32_t> barriers, behind;  // not waited for; fetches behind what is left out
    for (int w = 0; w < broken.steps.warps() && w < sound.steps.warps(); ++w) {
        bool guarded = false;
        for (int k = 0; k < broken.steps.count(w) && k < sound.steps.count(w); ++k) {
            const std::uint32_t n = broken.steps.event(w, k), m = sound.steps.event(w, k);
            const Op op = broken.block.events[n].op, then = sound.block.events[m].op;
            step_of[n] = k;
            if (op == then) twins[n] = m;
            if (then == Op::wait_for) guarded = op == Op::left_out;
            if (op == Op::fetch_tile && guarded) behind.insert(n);
            if (op != Op::left_out) continue;
            left_out[static_cast<std::size_t>(w)] = true;
            if (then != Op::left_out) what_is_left = then;
            if (then == Op::wait_for) barriers.insert(sound.block.words_of(sound.block.events[m])[0]);
        }
    }
    for (std::uint32_t n = 0; n < broken.block.events.size(); ++n)
        if (const Event& event = broken.block.events[n]; event.op == Op::fetch_tile && twins[n] != nowhere)
            fetches.push_back({n, twins[n], TileFetch(broken.block.words_of(event)), behind.contains(n)});
    for (Fetch& f : fetches) f.meant |= what_is_left != Op::wait_for || barriers.contains(f.tile.barrier);
    std::ranges::sort(fetches, {}, &Fetch::twin);
}

std::optional<bool> TileCrossings::before(std::uint32_t a, std::uint32_t b) const {
    if (fetches.empty() || !what_is_left || twins[a] == nowhere || twins[b] == nowhere) return std::nullopt;
    return twins[a] < twins[b];
}

Content TileCrossings::brought(std::uint32_t fetch, std::uint32_t address) const {
    const TileFetch tile(broken.block.words_of(broken.block.events[fetch]));
    const std::uint32_t from = tile.holds(address) ? tile.source(address) : 0;
    return from != 0 ? Content{0, 0, from} : Content{0, 2};
}

Content TileCrossings::found(std::uint32_t product, std::uint32_t address) const {
    const Fetch* const last = last_before(address, twins[product]);
    return last ? brought(last->event, address) : nothing_came;
}

const TileCrossings::Fetch* TileCrossings::last_before(std::uint32_t address, std::uint32_t twin) const {
    const Fetch* last = nullptr;
    for (const Fetch& f : fetches)
        if (f.twin < twin && f.tile.holds(address)) last = &f;
    return last;
}

const TileCrossings::Fetch* TileCrossings::first_behind(std::uint32_t address, std::uint32_t twin) const {
    for (const Fetch& f : fetches)
        if (f.twin > twin && f.tile.holds(address)) return &f;
    return nullptr;
}

// Where its warp waits for the product, or, where it goes without that, for the next one to the same sums.
TileCrossings::WrongSum TileCrossings::wrong_sum(std::uint32_t n) const {
    const Event& event = broken.block.events[n];
    const TileProduct product(broken.block.words_of(event));
    for (int k = step_of[n] + 1; step_of[n] >= 0 && k < broken.steps.count(event.warp); ++k) {
        const std::uint32_t wait = broken.steps.event(event.warp, k);
        const Event& waits = broken.block.events[wait];
        if (waits.op != Op::wait_products || twins[wait] == nowhere) continue;
        const TileSums sums(waits, broken.block.words_of(waits));
        if (sums.sums() != product.sums || sums.groups() <= product.group) continue;
        const Event& then = sound.block.events[twins[wait]];
        const TileSums right(then, sound.block.words_of(then));
        WrongSum wrong;
        for (int lane = 0; lane < 32 && !wrong.number; ++lane)
            for (int reg = 0; reg < std::min(sums.registers(), right.registers()); ++reg) {
                const float got = sums.at(lane, reg);
                const bool number = !std::isnan(got);
                if (got == right.at(lane, reg) || (wrong.any && !number)) continue;
                wrong = {lane, reg, number, true};
                if (number) break;
            }
        return wrong;
    }
    return {};
}

// Of B and of A what a sum takes in first.
std::vector<std::uint32_t> TileCrossings::addresses(std::uint32_t n, const WrongSum& sum) const {
    const Event& event = broken.block.events[n];
    const TileProduct product(broken.block.words_of(event));
    const FragmentCell cell = TileSums::cell(sum.lane, sum.reg);
    const auto row = static_cast<std::uint32_t>(cell.row), column = static_cast<std::uint32_t>(cell.column);
    const TileDescriptor B(product.B), A(product.A);
    if (product.A_in_registers) return {B.along_rows(0, column)};
    const auto first = static_cast<std::uint32_t>(event.warp % 4) * 16;
    return {B.along_columns(column, 0), A.along_columns(first + row, 0)};
}

std::int64_t TileCrossings::pairs_of(const Event& product, const Event& fetch) const {
    const auto is = [](const RaceAccess& access, const Event& event) {
        return access.place == event.place && access.op == event.op;
    };
    for (const Race* race : races)
        if ((is(race->first, product) && is(race->second, fetch)) ||
            (is(race->second, product) && is(race->first, fetch)))
            return race->times;
    return 0;
}

// Who does not wait comes second; but who does not wait for its own products lets go of the tile too early.
TileCrossings::Meeting TileCrossings::meeting(std::uint32_t n, const WrongSum& sum) const {
    const Event& event = broken.block.events[n];
    const bool own = left_out[event.warp] && what_is_left != Op::wait_products;
    for (const std::uint32_t address : addresses(n, sum))
        for (const bool writes_first : {own, !own}) {
            const bool may_be = writes_first == own || what_is_left == Op::sync_block;
            const Fetch* const writer =
                writes_first ? last_before(address, twins[n]) : first_behind(address, twins[n]);
            if (!may_be || !writer || !writer->meant) continue;
            if (const auto pairs = pairs_of(event, broken.block.events[writer->event]))
                return {address, writer, writes_first, pairs};
        }
    return {};
}

std::optional<Crossing> TileCrossings::of_product(std::uint32_t n) const {
    const Event& event = broken.block.events[n];
    if (event.op != Op::multiply_async || !what_is_left || twins[n] == nowhere) return std::nullopt;
    const WrongSum wrong = wrong_sum(n);
    const Meeting at = meeting(n, wrong);
    if (!at.writer) return std::nullopt;
    const Event& fetch = broken.block.events[at.writer->event];
    const Content puts = brought(at.writer->event, at.address), should = found(n, at.address);
    // A number comes of another tile: of the one that is too early, or of the one before
    Content got = should;
    if (wrong.any) {
        const Fetch* const before = at.writes_first ? last_before(at.address, at.writer->twin) : at.writer;
        got = wrong.number && before ? brought(before->event, at.address) : nothing_came;
    }
    const CrossingSide writer{
        at.writer->event, fetch.place, fetch.op, fetch.warp, std::countr_zero(fetch.lanes), true, puts, puts},
        reader{n, event.place, event.op, event.warp, wrong.lane, false, got, should};
    return Crossing{
        at.address, at.writes_first ? writer : reader, at.writes_first ? reader : writer, true, wrong.any,
        at.pairs};
}

}  // namespace tilewalk::inside
