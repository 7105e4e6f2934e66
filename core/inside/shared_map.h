// Shared memory as a space: which matrix lies where, what of it is there at a moment, and by which rule its
// chunks are swapped. All of it is read off the writes of the record.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

constexpr std::uint32_t chunk_bytes = 16;

/// A part of shared memory into which the same is written all along: Q's tile, or a buffer that K and V take
/// in turns.
struct SharedArea {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t matters = 0;          ///< bits: by Matter, all that are ever written here
    std::uint32_t place = Place::none;  ///< where numbers are stored that the warps have computed
    bool holds(std::uint32_t address) const { return address >= begin && address < end; }
    std::int64_t bytes() const { return std::int64_t(end) - begin; }
};

/// What lies in an area at a moment.
struct SharedContent {
    bool any = false;                   ///< something was written to it
    Matter matter = Matter::none;       ///< of what was written last
    int first_row = -1, last_row = -1;  ///< of the matrix; −1: not known
};

class SharedMap {
public:
    SharedMap(const BlockRecord& block, const Origins& origins);
    const std::vector<SharedArea>& areas() const { return all; }
    /// Null: nobody ever writes there.
    const SharedArea* area_of(std::uint32_t address) const;

private:
    std::vector<SharedArea> all;
};
/// What an event finds there.
SharedContent content_of(const Record& record, const BlockRecord& block, const Origins& origins,
                         const SharedArea& area, std::uint32_t before);

/// Where a lane's chunk of 16 bytes lies in its row, and why there: place = chunk XOR flip.
struct Swizzle {
    Matter matter = Matter::none;
    int row = 0, chunk = 0;  ///< in the matrix; counted in chunks of 16 bytes
    int flip = 0, place = 0;
    bool halved = false;  ///< flip = row / 2 mod 4 instead of row mod 8
    int first_bank = 0;   ///< of four
};
/// Nothing: the access has no chunks, or the rule does not hold for one of its lanes.
std::optional<Swizzle> swizzle_of(const Record& record, const BlockRecord& block, const Origins& origins,
                                  const SharedMap& map, std::uint32_t event, int lane);

}  // namespace tilewalk::inside
