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
    std::uint32_t place = Place::none;  ///< where numbers are first stored that the warps have computed
    std::uint32_t row_bytes = 0;        ///< from row to row, where nobody writes between them; 0: as one
    bool holds(std::uint32_t address) const { return address >= begin && address < end; }
    std::int64_t bytes() const { return std::int64_t(end) - begin; }
};

/// Row and column of a number in an area, by the gaps between its rows; column −1: it has none.
struct PlaceInArea {
    int row = 0, column = -1;
};
PlaceInArea place_in(const SharedArea& area, std::uint32_t address, int element_bytes);

/// A piece of 16 bytes: `unused` is never written, a `partly` filled one is not yet there as a whole, and
/// what is on its way may write over what is there at any time.
enum class Piece : std::uint8_t { unused, empty, partly, on_its_way, there };

/// Of a matrix, those that are there or on their way; −1: not known.
struct RowRange {
    int first = -1, last = -1;
    void take(int row);
};

/// What lies in an area at a moment.
struct SharedContent {
    std::vector<Piece> pieces{};                          ///< from its first address on
    bool any = false;                                     ///< something was written to it
    Matter matter = Matter::none, coming = Matter::none;  ///< of what is there, and of what is on its way
    RowRange rows{}, rows_coming{};
    int issued = -1;  ///< slot in which the first copy was begun that is on its way; −1: none is
    int count(Piece state) const;
};

/// A tile of Hopper: when it was asked for, and when somebody first knew that it had come.
struct TileTimes {
    std::uint32_t event = 0;
    int issued = 0, arrived = -1;  ///< slots; −1: nobody waits for it
};

class SharedMap {
public:
    SharedMap(const BlockRecord& block, const Steps& steps, const Origins& origins);
    const std::vector<SharedArea>& areas() const { return all; }
    /// In the order in which they were asked for.
    const std::vector<TileTimes>& tiles() const { return asked; }
    /// Null: nobody ever writes there.
    const SharedArea* area_of(std::uint32_t address) const;

private:
    void find_tiles(const BlockRecord& block, const Steps& steps);
    void find_rows(const std::vector<bool>& written);
    std::vector<SharedArea> all;
    std::vector<TileTimes> asked;
};
/// When all warps have come to a slot and have done what they do there.
SharedContent content_of(const Record& record, const BlockRecord& block, const Steps& steps,
                         const Origins& origins, const SharedMap& map, const SharedArea& area, int slot);

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
