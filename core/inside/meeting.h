// What a barrier of the block is there for: which accesses to shared memory before it meet which behind it.
// Nothing else orders these: without the barrier they would race (core/inside/races.h).
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// Accesses of two places of the source to the same bytes, the first before the barrier, the second behind
/// it.
struct Protected {
    bool first_writes = true;  ///< false: what was read is written over
    bool second_writes = false;
    std::uint32_t first_place = 0, second_place = 0;
    Op first_op = Op::store, second_op = Op::load;
    std::uint32_t first_warps = 0, second_warps = 0;  ///< bits
    Matter first = Matter::none, second = Matter::none;
    std::int64_t bytes = 0;                           ///< that both touch
    std::uint32_t begin = 0, end = 0;                 ///< addresses between which these lie
    std::uint32_t first_event = 0, second_event = 0;  ///< the first pair of them
    int first_lane = 0, second_lane = 0;
};

/// The warps' way between two barriers: steps of each warp, the end not included.
struct Stretch {
    struct Of {
        int begin = 0, end = 0;
    };
    std::vector<Of> warps{};
};

/// A meeting of all warps.
struct Meeting {
    Stretch before, behind;           ///< up to the barrier before, and to the next one
    std::vector<int> steps{};         ///< of each warp, from the barrier before to this one
    std::vector<Protected> orders{};  ///< by bytes, the most first
    int last() const;                 ///< the warp that comes last
    bool together() const;            ///< all come after equally many steps
};
/// Of the barrier that this step is (Op::sync_block); nothing where it is none.
std::optional<Meeting> meeting_at(const BlockRecord& block, const Steps& steps, const Origins& origins,
                                  int warp, int k);

/// "warp 3", "warps 0–3"
std::string warps_text(std::uint32_t warps);
/// "K" or, of what warps have computed, the name that the source gives to it; empty: neither.
std::string stored_name(std::string_view source_line);

}  // namespace tilewalk::inside
