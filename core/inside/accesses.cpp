#include "core/inside/accesses.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tilewalk::inside {

namespace {

/// The different words of the warp's lanes in one phase, sorted.
int turns_of(std::vector<std::uint32_t>& words) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::array<int, banks> asked{};
    for (const std::uint32_t word : words) ++asked[word % banks];
    return *std::max_element(asked.begin(), asked.end());
}

}  // namespace

BankTurns bank_turns(std::span<const std::uint32_t> addresses, std::uint32_t lanes, int bytes) {
    const int phases = bytes <= 4 ? 1 : bytes / 4, lanes_of_phase = 32 / phases;
    BankTurns result;
    std::vector<std::uint32_t> words;
    std::size_t next = 0;
    for (int phase = 0; phase < phases; ++phase) {
        words.clear();
        for (int l = phase * lanes_of_phase; l < (phase + 1) * lanes_of_phase; ++l) {
            if (!(lanes >> l & 1)) continue;
            const std::uint32_t address = addresses[next++];
            for (int b = 0; b < bytes; b += bank_bytes)
                words.push_back((address + static_cast<std::uint32_t>(b)) / bank_bytes);
        }
        if (words.empty()) continue;
        const int turns = turns_of(words);
        result.turns += turns;
        result.least += 1;
        result.ways = std::max(result.ways, turns);
    }
    return result;
}

std::vector<BankHit> bank_hits(std::span<const std::uint32_t> addresses, std::uint32_t lanes, int bytes) {
    const int phases = bytes <= 4 ? 1 : bytes / 4, lanes_of_phase = 32 / phases;
    std::vector<BankHit> hits;
    std::size_t next = 0;
    for (int phase = 0; phase < phases; ++phase) {
        std::array<std::vector<std::uint32_t>, banks> asked;
        for (int l = phase * lanes_of_phase; l < (phase + 1) * lanes_of_phase; ++l) {
            if (!(lanes >> l & 1)) continue;
            const std::uint32_t address = addresses[next++];
            for (int b = 0; b < bytes; b += bank_bytes) {
                const std::uint32_t word = (address + static_cast<std::uint32_t>(b)) / bank_bytes;
                auto& words = asked[word % banks];
                const auto at = std::ranges::find(words, word);
                const int turn = static_cast<int>(at - words.begin());
                if (at == words.end()) words.push_back(word);
                hits.push_back({l, static_cast<int>(word % banks), phase, turn, word});
            }
        }
    }
    return hits;
}

Sectors sectors(std::span<const std::uint32_t> addresses, int bytes) {
    std::vector<std::uint32_t> sorted(addresses.begin(), addresses.end());
    std::sort(sorted.begin(), sorted.end());
    Sectors result;
    std::uint32_t end = 0;                   // of the bytes so far
    std::uint32_t last_sector = 0xFFFFFFFF;  // of those counted
    for (const std::uint32_t address : sorted) {
        const std::uint32_t until = address + static_cast<std::uint32_t>(bytes);
        if (until > end) result.bytes += static_cast<int>(until - std::max(end, address));
        end = std::max(end, until);
        for (std::uint32_t s = address / sector_bytes; s <= (until - 1) / sector_bytes; ++s)
            if (last_sector == 0xFFFFFFFF || s > last_sector) ++result.touched, last_sector = s;
    }
    return result;
}

std::vector<Access> accesses_of(const Event& event, std::span<const std::uint32_t> words) {
    const OpInfo& of = info(event.op);
    if (!of.reads && !of.writes) return {};
    Access shared{true}, global{false};
    const auto add = [&](int lane, std::uint32_t address) {
        Access& to = is_shared(address) ? shared : global;
        to.lanes |= 1u << lane;
        to.addresses.push_back(address);
    };
    std::size_t at = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(event.lanes >> lane & 1)) continue;
        add(lane, words[at]);
        if (event.op == Op::copy_issued && words[at + 2] != 0) add(lane, words[at + 1]);
        at += event.words;
    }
    std::vector<Access> all;
    for (Access* access : {&shared, &global})
        if (access->lanes != 0) all.push_back(std::move(*access));
    return all;
}

std::optional<std::uint32_t> stored_behind(const BlockRecord& block, std::uint32_t pack, int lane) {
    constexpr int nearby = 4;                  // steps of the warp
    constexpr std::uint32_t reach = 1u << 12;  // events of all warps
    const Event& event = block.events[pack];
    const auto packed = block.words_of(event, lane);
    if (packed.empty()) return std::nullopt;
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(block.events.size(), pack + reach));
    int seen = 0;
    for (std::uint32_t n = pack + 1; n < end && seen < nearby; ++n) {
        const Event& e = block.events[n];
        if (e.warp != event.warp || e.op == Op::copy_arrived || e.op == Op::tile_arrived) continue;
        ++seen;
        if (e.op == Op::store && e.has(lane) && block.words_of(e, lane)[1] == packed[2]) return n;
    }
    return std::nullopt;
}

}  // namespace tilewalk::inside
