// One race of a run with a fault as two orders beside each other: the one that the barrier or the wait makes,
// and the one that this run took, or may as well have taken.
//
// Which of both it took is told by what the reader got, not by the order of the record: within a few steps
// that is the order in which warps meet, not in which memory was touched.
#pragma once

#include "core/inside/steps.h"

#include <optional>

namespace tilewalk::inside {

/// A number at an address of memory: as the reader finds it, or as the writer puts it there.
struct Content {
    std::uint32_t word = 0;
    int bytes = 0;                        ///< 0: not known
    std::optional<std::uint32_t> from{};  ///< the element of device memory that it is, by address
    bool operator==(const Content& other) const { return word == other.word && bytes == other.bytes; }
};
/// "K[117, 32] = 0.344", "1.25", "NaN: nothing has come"; of a number that is no element of device memory
/// with the name that it has where it lies, if there is one: "S[3, 17] = 1.25".
std::string content_text(const Record& record, const Content& content, const std::string& place = "");

/// One of the two accesses.
struct CrossingSide {
    std::uint32_t event = 0;  ///< of the block
    std::uint32_t place = 0;
    Op op = Op::load;
    int warp = 0, lane = 0;  ///< the lane that gives the address
    bool writes = false;
    Content content;  ///< what it reads or writes in this run …
    Content sound;    ///< … and in the sound one
};

struct Crossing {
    std::uint32_t address = 0;
    CrossingSide first, second;  ///< in the order that the source makes
    bool ordered = false;        ///< the source makes one: the left-out step lies between them
    bool crossed = false;        ///< this run took the other one: what was read is not what should have been
    std::int64_t pairs = 0;      ///< of these two places that race
};

/// The event with which an access has happened: of a copy its issue where copies arrive at once, else the
/// wait that brings it. Nothing: nobody waits for it.
std::optional<std::uint32_t> happened_with(const BlockRecord& block, const Steps& steps,
                                           const Schedule& schedule, const CrossingSide& side);
/// What this run did first and what second, where their slots say otherwise.
std::optional<HeldBack> turned_in_slots(const BlockRecord& block, const Steps& steps,
                                        const Schedule& schedule, const Crossing& crossing);

/// A block of a run, with all that is looked up in it.
struct BlockRun {
    const Record& record;
    const Launch& launch;
    const BlockRecord& block;
    const Steps& steps;
    int number = 0;  ///< of the block in its launch
};
/// The read that got a number which the sound run does not have there, with the write that races with it: a
/// number if there is one, else NaN. Where all reads are right by luck, one of the races. Nothing: no two
/// accesses of this block race.
std::optional<Crossing> crossing_of(const BlockRun& broken, const BlockRun& sound);

}  // namespace tilewalk::inside
