// A race of tiles of Hopper: one that comes by itself writes shared memory, and a product in the background
// reads it. The record has no numbers of either; what a product has read is told by what it has summed up.
#pragma once

#include "core/inside/crossing.h"
#include "core/inside/tiles.h"

namespace tilewalk::inside {

/// What writes to memory, by itself as well.
inline bool puts(Op op) { return info(op).writes || op == Op::fetch_tile; }

class TileCrossings {
public:
    /// `races`: of this block.
    TileCrossings(const BlockRun& broken, const BlockRun& sound, std::span<const Race* const> races);

    /// The order of the source is that of the sound run: who asks for tiles and who computes do not come to
    /// the same barriers. Nothing: the block has no tiles, or nothing is left out.
    std::optional<bool> before(std::uint32_t a, std::uint32_t b) const;
    /// Of a product that races with a tile: crossed where its sums are other ones than in the sound run.
    std::optional<Crossing> of_product(std::uint32_t n) const;
    /// What a tile brings to an address.
    Content brought(std::uint32_t fetch, std::uint32_t address) const;
    /// What the tile that was asked for last before a product has brought there.
    Content found(std::uint32_t product, std::uint32_t address) const;

private:
    static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
    struct Fetch {
        std::uint32_t event, twin;
        TileFetch tile;
        bool meant = false;  ///< the wait that is left out is about it: places are the same for all tiles
    };
    struct WrongSum {
        int lane = 0, reg = 0;
        bool number = false;  ///< not NaN
        bool any = false;
    };
    /// An address that a product reads, with the tile that races with this there.
    struct Meeting {
        std::uint32_t address = 0;
        const Fetch* writer = nullptr;
        bool writes_first = false;
        std::int64_t pairs = 0;
    };
    std::uint32_t twin_of(std::uint32_t n) const { return twins[n]; }
    WrongSum wrong_sum(std::uint32_t n) const;
    std::vector<std::uint32_t> addresses(std::uint32_t n, const WrongSum& sum) const;
    Meeting meeting(std::uint32_t n, const WrongSum& sum) const;
    std::int64_t pairs_of(const Event& product, const Event& fetch) const;
    const Fetch* last_before(std::uint32_t address, std::uint32_t twin) const;
    const Fetch* first_behind(std::uint32_t address, std::uint32_t twin) const;

    const BlockRun &broken, &sound;
    std::vector<const Race*> races;
    std::vector<std::uint32_t> twins;  ///< by event: the same step of the sound run
    std::vector<int> step_of;
    std::vector<Fetch> fetches;      ///< in the order of the sound run
    std::vector<bool> left_out;      ///< by warp: it goes without something
    std::optional<Op> what_is_left;  ///< what it is in the sound run
};

}  // namespace tilewalk::inside
