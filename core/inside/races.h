// Which accesses of a launch are ordered, and which race.
//
// The lanes of a block are ordered by sync_block, those of a warp also by sync_warp, a lane's own steps by
// their order, and nothing else: shuffles, ldmatrix and mma keep the lanes of a warp together but order no
// memory (CUDA C++ programming guide, "Warp Shuffle Functions"). Clocks (order.h) say who knows of what. A
// copy in the background writes at some time between its issue and the end of the wait of the lane that
// issued it; a tile of Hopper writes until the phase of its barrier ends, and is seen by who has waited for
// that; a product reads its factors until its warp has waited for its group. Two accesses to one address, one
// of them writing, that this order leaves open are a race, whichever came first in this run. Blocks of one
// launch are not ordered at all; launches are. Atomics do not race with atomics.
//
// Registers have one owner, and one thing besides it that writes them: a product in the background. Who takes
// one of its sums before the warp has waited for it races with it. And a barrier with a number that ends
// without anybody who waits there has lost a turn: it was given twice, and nobody took it between.
#pragma once

#include "core/inside/order.h"

#include <array>
#include <map>

namespace tilewalk::inside {

/// Sees the events of a launch, each warp's in its order, and a barrier's before anything behind it.
class RaceDetector {
public:
    RaceDetector(std::int64_t shared_bytes, std::int64_t global_bytes);

    void begin_block(int block, int warps);
    /// `words`: of the lanes that take part, one after the other.
    void take(const Event& event, std::span<const std::uint32_t> words);
    std::vector<Race> races() const;
    /// The block that wrote this address of device memory last; −1: none did.
    int writer(std::uint32_t address) const;

private:
    /// An access as a later one has to know it.
    struct Access {
        std::uint32_t place = Place::none;
        std::uint32_t when = 0;  ///< by its agent's count; of a copy that has arrived: at the wait
        std::uint32_t lanes = 0, event = 0;
        int block = 0;
        std::uint16_t agent = 0;  ///< of order.h: the warp, or what it has told to read or write
        std::uint8_t warp = 0;
        Op op = Op::load;
        bool under_way = false;  ///< a copy that was not waited for yet
    };
    /// The smallest thing that is watched: two bytes.
    struct Cell {
        Access write;
        std::vector<Access> reads;  ///< since then: what each warp read last, and one of an earlier block
        std::vector<Access>
            additions;  ///< atomic ones before `write`, which is one that does not follow them
    };
    static constexpr std::uint32_t cell_bytes = 2;

    Cell& cell(std::uint32_t address);
    bool ordered(const Access& before, const Access& now) const;
    void read(Cell& cell, const Access& now, std::uint32_t address);
    void write(Cell& cell, const Access& now, std::uint32_t address);
    void arrive(Cell& cell, const Access& now);
    void note(const Access& first, const Access& second, std::uint32_t address);
    void note_unordered(const std::vector<Access>& before, const Access& now, std::uint32_t address);
    void keep_addition(Cell& cell, const Access& now) const;
    void read_bytes(const Access& now, std::uint32_t address, std::uint32_t bytes);
    void write_bytes(const Access& now, std::uint32_t address, std::uint32_t bytes);
    void access(const Event& event, std::span<const std::uint32_t> words, const Access& by);
    void fetch(std::span<const std::uint32_t> words, const Access& by);
    void multiply(const Event& event, std::span<const std::uint32_t> words, const Access& by);
    void take_sums(const Event& event, std::span<const std::uint32_t> words, const Access& by);
    void take_turn(const Event& event, std::span<const std::uint32_t> words, const Access& by);

    /// A barrier with a number, since it ended last.
    struct Turn {
        Access given;
        int threads = 0;
        bool taken = false;
    };
    std::vector<Cell> shared, global;
    std::map<std::pair<int, std::uint32_t>, Access> products;  ///< the last of a warp to these sums
    std::array<Turn, 16> turns;
    Order order;
    int block = 0;
    std::uint32_t events = 0;  ///< of this block so far
    /// A race, and the last access that counted for it: one of 16 bytes meets many cells.
    struct Found {
        Race race;
        Access last;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Found> found;  ///< by the two places
};

}  // namespace tilewalk::inside
