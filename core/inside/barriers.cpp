#include "core/inside/barriers.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/inside/meeting.h"

#include <algorithm>
#include <bit>

namespace tilewalk::inside {

namespace {

bool is_named(Op op) { return op == Op::arrive_named || op == Op::sync_named; }
bool is_about_barrier(Op op) {
    return arrives(op) || is_named(op) || op == Op::wait_for || op == Op::init_barrier;
}

constexpr int lanes_of_warp = 32;

}  // namespace

std::uint32_t Barriers::key_of(const Event& event, std::span<const std::uint32_t> words) {
    return is_named(event.op) ? first_named + words[0] : words[0];
}

Barriers::Phase& Barriers::OfBarrier::phase(std::uint32_t n) {
    if (phases.size() <= n) phases.resize(std::size_t{n} + 1);
    return phases[n];
}

// Barriers with a number are told apart in the order of the record: each opens when so many threads have
// come.
Barriers::Barriers(const Record& record, const BlockRecord& block, const Steps& steps,
                   const Origins& origins) {
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        const int k = origins.step_number(n);
        if (!is_about_barrier(event.op) || k < 0) continue;
        const auto words = block.words_of(event);
        const int slot = steps.slot(event.warp, k);
        if (is_named(event.op))
            note_named(event, words, slot);
        else
            note(event, words, event.warp, k, slot);
    }
    note_fetches(record, block, steps, origins);
    end_phases();
}

void Barriers::note(const Event& event, std::span<const std::uint32_t> words, int warp, int k, int slot) {
    OfBarrier& of = all[key_of(event, words)];
    if (event.op == Op::init_barrier) of.arrivals = static_cast<int>(words[1]);
    if (event.op == Op::wait_for) of.waits.push_back({slot, warp, k, words[1]});
    if (!arrives(event.op)) return;
    Phase& phase = of.phase(words[1]);
    phase.came.push_back({slot, warp, std::popcount(event.lanes), false});
    if (event.op == Op::expect_bytes) phase.expected.push_back({slot, words[2]});
}

void Barriers::note_named(const Event& event, std::span<const std::uint32_t> words, int slot) {
    OfBarrier& of = all[key_of(event, words)];
    of.arrivals = static_cast<int>(words[1]) / lanes_of_warp;
    const auto came = [&] {
        int threads = 0;
        for (const Came& one : of.phases.back().came) threads += one.threads;
        return threads;
    };
    if (of.phases.empty() || came() >= static_cast<int>(words[1])) of.phases.emplace_back();
    of.phases.back().came.push_back(
        {slot, event.warp, std::popcount(event.lanes), event.op == Op::sync_named});
}

// A barrier that tiles are told of says that they have come. One that is waited for before a tile is asked
// for says that its buffer is free: of what came there before.
void Barriers::note_fetches(const Record& record, const BlockRecord& block, const Steps& steps,
                            const Origins& origins) {
    std::map<std::uint32_t, std::vector<BarrierTile>> of_buffer;  // by address, one after the other
    for (int w = 0; w < steps.warps(); ++w) {
        OfBarrier* waited = nullptr;
        for (int k = 0; k < steps.count(w); ++k) {
            const std::uint32_t n = steps.event(w, k);
            const Event& event = block.events[n];
            const auto words = block.words_of(event);
            if (event.op == Op::wait_for) waited = &all[words[0]];
            if (event.op != Op::fetch_tile) continue;
            const TileFetch fetch(words);
            OfBarrier& of = all[fetch.barrier];
            of.use = BarrierState::Use::full;
            Phase& phase = of.phase(fetch.phase);
            phase.asked.push_back({steps.slot(w, k), fetch.box_bytes});
            const BarrierTile tile{origins.matter(n), tile_of_box(record, fetch)};
            if (std::ranges::find(phase.tiles, tile) == phase.tiles.end()) phase.tiles.push_back(tile);
            if (waited && waited != &of) waited->use = BarrierState::Use::free, waited->buffer = fetch.to;
            waited = nullptr;
            of_buffer[fetch.to].push_back(tile);
        }
    }
    for (auto& [key, of] : all) {
        if (!of.buffer) continue;
        const auto& tiles = of_buffer[*of.buffer];
        for (std::uint32_t n = 0; n < tiles.size(); ++n) of.phase(n).tiles = {tiles[n]};
    }
}

// With bytes a phase is over when somebody has waited for it; else with its last arrival.
void Barriers::end_phases() {
    for (auto& [key, of] : all)
        for (std::uint32_t n = 0; n < of.phases.size(); ++n) {
            Phase& phase = of.phases[n];
            std::ranges::stable_sort(phase.came, {}, &Came::slot);
            for (const Wait& wait : of.waits)
                if (wait.phases > n && (phase.over < 0 || wait.slot < phase.over)) phase.over = wait.slot;
            const bool complete = of.arrivals > 0 && std::ssize(phase.came) >= of.arrivals;
            if (phase.asked.empty() && complete)
                phase.over = phase.came[static_cast<std::size_t>(of.arrivals) - 1].slot;
        }
}

BarrierPhase Barriers::told(const OfBarrier& of, int number, int slot) const {
    BarrierPhase out;
    if (number < 0) return out;
    out.number = number;
    if (static_cast<std::size_t>(number) >= of.phases.size()) return out;
    const Phase& phase = of.phases[static_cast<std::size_t>(number)];
    for (const Came& one : phase.came)
        if (one.slot <= slot) out.came |= 1u << one.warp, ++out.arrivals;
    for (const Asked& one : phase.expected)
        if (one.slot <= slot) out.expected += one.bytes;
    for (const Asked& one : phase.asked)
        if (one.slot <= slot) out.asked += one.bytes;
    out.over = phase.over >= 0 && phase.over <= slot;
    out.tiles = phase.tiles;
    return out;
}

std::optional<BarrierState> Barriers::at(const BlockRecord& block, const Steps& steps, int warp,
                                         int k) const {
    const Event& event = block.events[steps.event(warp, k)];
    if (!is_about_barrier(event.op)) return std::nullopt;
    const auto words = block.words_of(event);
    const auto found = all.find(key_of(event, words));
    if (found == all.end()) return std::nullopt;
    const OfBarrier& of = found->second;
    const int slot = steps.slot(warp, k);
    BarrierState out;
    out.use = of.use, out.id = words[0], out.arrivals = of.arrivals;
    int over = 0;
    while (static_cast<std::size_t>(over) < of.phases.size() &&
           of.phases[static_cast<std::size_t>(over)].over >= 0 &&
           of.phases[static_cast<std::size_t>(over)].over <= slot)
        ++over;
    out.before = told(of, over - 1, slot), out.now = told(of, over, slot);
    // Who has nothing to do before it, and is not let go in the next slot
    for (int w = 0; w < steps.warps(); ++w) {
        if (steps.count(w) == 0) continue;
        const int last = steps.at_slot(w, slot), next = steps.slot(w, last) <= slot ? last + 1 : last;
        if (next >= steps.count(w) || steps.slot(w, next) <= slot + 1) continue;
        const Event& e = block.events[steps.event(w, next)];
        if (e.op == Op::wait_for && block.words_of(e)[0] == out.id) out.waits |= 1u << w;
    }
    if (is_named(event.op) && !out.now.over && out.now.number >= 0 &&
        static_cast<std::size_t>(out.now.number) < of.phases.size())
        for (const Came& one : of.phases[static_cast<std::size_t>(out.now.number)].came)
            if (one.waits && one.slot <= slot) out.waits |= 1u << one.warp;
    // A wait is about the phase that it has waited for, an arrival about its own.
    const bool is_before =
        event.op == Op::wait_for ||
        (out.before.came >> warp & 1 && !(out.now.came >> warp & 1) && event.op != Op::init_barrier);
    out.about = is_before ? out.before : out.now;
    return out;
}

std::string tiles_text(const std::vector<BarrierTile>& tiles) {
    std::vector<std::string> letters;
    int number = -1;
    for (const BarrierTile& tile : tiles) {
        if (*symbol_of(tile.matter) == 0) return {};
        letters.emplace_back(symbol_of(tile.matter));
        number = tile.number;
    }
    if (letters.empty()) return {};
    return (number < 0 ? std::string() : "tile " + str(number) + " of ") + joined(letters, " and ");
}

namespace {

std::string come_of(const BarrierState& s, const BarrierPhase& phase) {
    return counted(phase.arrivals, "arrival") + " of " + str(s.arrivals) +
           (phase.arrivals == 1 ? " has come" : " have come");
}

std::string sentence_of_wait(const BarrierState& s, const std::string& tile) {
    if (s.before.number < 0)
        return "Nobody has used the buffer yet: of a new barrier the phase before its first counts as over, "
               "and "
               "nobody waits.";
    const std::string phase = "phase " + str(s.before.number);
    if (s.use == BarrierState::Use::full)
        return "Goes on when " + (tile.empty() ? "the tile" : tile) +
               " has come: " + format_size(s.before.expected) + " end " + phase +
               ". Who waits sees all that was written before.";
    return "Goes on when all " + counted(s.arrivals, "warp") + " that compute are done with " +
           (tile.empty() ? "the buffer" : tile) + ": their arrivals end " + phase +
           ", and the buffer may be written over.";
}

std::string sentence_of_arrival(const BarrierState& s, const std::string& tile) {
    const std::string come = ": " + come_of(s, s.about) + (s.about.over ? ", and the phase ends." : ".");
    if (s.use == BarrierState::Use::full)
        return "What this warp has written beside " + (tile.empty() ? "the tile" : tile) + " is there" + come;
    return "This warp is done with " + (tile.empty() ? "the buffer" : tile) +
           " and goes on; who wants to write there waits for all" + come;
}

}  // namespace

std::string barrier_sentence(const BarrierState& s, Op op) {
    const std::string tile = tiles_text(s.about.tiles),
                      letters = tile.substr(std::min(tile.size(), tile.find(" of ") + 4));
    switch (op) {
    case Op::init_barrier:
        return s.use == BarrierState::Use::full
                   ? "It will tell that " + (tile.empty() ? "a tile" : letters) +
                         (letters.find(" and ") == letters.npos ? " has" : " have") +
                         " come: a phase ends with " + counted(s.arrivals, "arrival") +
                         " and the bytes that were announced."
                   : "It will tell that the buffer of " + (tile.empty() ? "a tile" : letters) +
                         " is free: a phase ends with " + counted(s.arrivals, "arrival") +
                         ", one of each warp that computes.";
    case Op::expect_bytes:
        return "Announces " + format_size(s.about.expected) + " for phase " + str(s.about.number) + ": " +
               (tile.empty() ? "a tile" : tile) +
               ", which is asked for next. The phase ends when they have come; the copy arrives in place of "
               "a "
               "thread.";
    case Op::wait_for: return sentence_of_wait(s, tile);
    case Op::arrive_at: return sentence_of_arrival(s, tile);
    case Op::arrive_named:
        return "Gives the turn to the other group and goes on: " + come_of(s, s.about) +
               ", of warps that give it and warps that take it.";
    case Op::sync_named:
        return "Takes its turn at the tensor cores when the other group has given it: " +
               come_of(s, s.about) +
               (s.waits == 0
                    ? "."
                    : "; " + warps_text(s.waits) + (std::popcount(s.waits) == 1 ? " waits." : " wait."));
    default: return {};
    }
}

}  // namespace tilewalk::inside
