// Which accesses of a launch are ordered, and which race.
//
// The lanes of a block are ordered by sync_block, those of a warp also by sync_warp, a lane's own steps by
// their order, and nothing else: shuffles, ldmatrix and mma keep the lanes of a warp together but order no
// memory (CUDA C++ programming guide, "Warp Shuffle Functions"). Each warp has a vector clock; it counts the
// barriers that the warp has passed, and a barrier tells all that wait at it what the others have seen. A
// copy in the background writes at some time between its issue and the end of the wait of the lane that
// issued it. Two accesses to one address, one of them writing, that this order leaves open are a race,
// whichever came first in this run. Blocks of one launch are not ordered at all; launches are. Atomics do not
// race with atomics.
#pragma once

#include "core/inside/record.h"

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

private:
    /// An access as a later one has to know it.
    struct Access {
        std::uint32_t place = Place::none;
        std::uint32_t when = 0;  ///< its warp's own clock; of a copy that has arrived: that of the wait
        std::uint32_t lanes = 0;
        int block = 0;
        std::uint8_t warp = 0;
        Op op = Op::load;
        bool under_way = false;  ///< a copy that was not waited for yet
    };
    /// The smallest thing that is watched: two bytes.
    struct Cell {
        Access write;
        std::vector<Access> reads;  ///< since then: what each warp read last, and one of an earlier block
    };
    static constexpr std::uint32_t cell_bytes = 2;

    Cell& cell(std::uint32_t address);
    bool ordered(const Access& before, const Access& now) const;
    void read(Cell& cell, const Access& now, std::uint32_t address);
    void write(Cell& cell, const Access& now, std::uint32_t address);
    void arrive(Cell& cell, const Access& now);
    void note(const Access& first, const Access& second, std::uint32_t address);
    void pass_barrier();  ///< one more warp has come to it

    std::vector<Cell> shared, global;
    std::vector<std::vector<std::uint32_t>> clocks;  ///< [warp][warp of the same block]
    int at_barrier = 0;
    int block = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Race> found;  ///< by the two places
};

}  // namespace tilewalk::inside
