// What an access of a warp costs its memory: turns of the banks, sectors of HBM.
#pragma once

#include "core/inside/record.h"

namespace tilewalk::inside {

constexpr int banks = 32, bank_bytes = 4, sector_bytes = 32;

/// A warp's access to shared memory: 32 banks of 4 bytes answer at once. Lanes with 8 bytes each go by halves
/// of the warp, with 16 bytes (ldmatrix: eight rows) by quarters; each such phase takes as many turns as a
/// bank has different words in it.
struct BankTurns {
    int turns = 0, least = 0;  ///< of all phases, and if no bank were asked twice
    int ways = 0;              ///< turns of the worst phase; 1: no conflict
};
/// `addresses`: of each lane that takes part, in their order; `lanes`: which these are.
BankTurns bank_turns(std::span<const std::uint32_t> addresses, std::uint32_t lanes, int bytes);

/// One word that a lane asks of a bank, and in which of its phase's turns it gets it. Lanes that ask for the
/// same word get it together.
struct BankHit {
    int lane = 0, bank = 0, phase = 0, turn = 0;  ///< turn: from 0, of this phase
    std::uint32_t word = 0;                       ///< address / 4
};
std::vector<BankHit> bank_hits(std::span<const std::uint32_t> addresses, std::uint32_t lanes, int bytes);

/// A warp's access to device memory: it comes in sectors of 32 bytes.
struct Sectors {
    int touched = 0;
    int bytes = 0;  ///< different bytes that were asked for
    int least() const { return (bytes + sector_bytes - 1) / sector_bytes; }
};
Sectors sectors(std::span<const std::uint32_t> addresses, int bytes);

/// What the lanes of an event ask of one memory.
struct Access {
    bool shared = false;
    std::uint32_t lanes = 0;
    std::vector<std::uint32_t> addresses{};  ///< of these lanes
};
/// One for shared memory and one for device memory, if there are any. A copy in the background is both, when
/// it is issued; where it lies outside it reads nothing.
std::vector<Access> accesses_of(const Event& event, std::span<const std::uint32_t> words);

/// Among the next steps of a packing's warp the store that writes just what this lane has packed; nothing:
/// none of them does.
std::optional<std::uint32_t> stored_behind(const BlockRecord& block, std::uint32_t pack, int lane);

}  // namespace tilewalk::inside
