// What happened before what: vector clocks of a block's warps and of all that runs beside them.
//
// Whoever does something is an agent and counts. Warps count the barriers that they have passed; the products
// of a warp their groups; a barrier of shared memory its phases, in which the tiles arrive that it was told
// of. A clock says how far its owner knows each agent to be. Part of a warp's lanes may know more than the
// others: what one lane has waited for the rest hear of where the warp meets.
#pragma once

#include "core/inside/record.h"

#include <array>
#include <map>

namespace tilewalk::inside {

class Order {
public:
    using Clock = std::vector<std::uint32_t>;

    explicit Order(int warps = 0);
    int warps() const { return static_cast<int>(of_warp.size()); }

    // Agents
    int products_of(int warp) const { return warps() + warp; }
    int tiles_of(std::uint32_t barrier);
    /// What an agent counts now.
    std::uint32_t now(int warp) const { return at(of_warp[static_cast<std::size_t>(warp)], warp); }

    /// Whether these lanes of a warp know that an agent is beyond `when`.
    bool knows(int warp, std::uint32_t lanes, int agent, std::uint32_t when) const;

    /// Takes an event that orders something; false: it does not.
    bool take(const Event& event, std::span<const std::uint32_t> words);

private:
    struct Private {
        std::uint32_t lanes;
        Clock clock;
    };
    struct Named {
        Clock gathered;
        int threads = 0;
        std::vector<int> waiting;
    };
    static std::uint32_t at(const Clock& clock, int agent);
    static void raise(Clock& clock, int agent, std::uint32_t to);
    static void join(Clock& to, const Clock& from);
    Clock& clock_of(int warp) { return of_warp[static_cast<std::size_t>(warp)]; }
    const Clock& known(int warp, std::uint32_t lanes) const;
    void meet(int warp);  ///< its lanes know what each of them knew
    void release(const Event& event, Clock& to);
    void acquire(const Event& event, const Clock& from);
    void sync_block();
    void sync_named(const Event& event, std::span<const std::uint32_t> words);

    std::vector<Clock> of_warp;
    std::vector<std::vector<Private>> of_lanes;
    std::map<std::uint32_t, int> barriers;                         ///< numbers, by address
    std::map<std::uint32_t, std::map<std::uint32_t, Clock>> told;  ///< by barrier and phase
    std::array<Named, 16> named;
    int at_barrier = 0;
};

}  // namespace tilewalk::inside
