// Barriers that count, of Hopper: what each is there for, and how far it is at a moment. An mbarrier is eight
// bytes of shared memory and counts arrivals and the bytes of tiles; a barrier with a number counts threads.
#pragma once

#include "core/inside/origin.h"

#include <map>

namespace tilewalk::inside {

/// One tile that a barrier is about.
struct BarrierTile {
    Matter matter = Matter::none;
    int number = -1;
    bool operator==(const BarrierTile&) const = default;
};

/// From one opening to the next one.
struct BarrierPhase {
    int number = -1;                       ///< from 0; −1: there is none
    std::uint32_t came = 0;                ///< warps that have arrived, bits
    int arrivals = 0;                      ///< that have come
    std::int64_t expected = 0, asked = 0;  ///< bytes: that it shall have, and that were asked for
    bool over = false;
    std::vector<BarrierTile> tiles{};  ///< that it is about
    int parity() const { return number & 1; }
};

struct BarrierState {
    enum class Use : std::uint8_t {
        full,  ///< a tile has come
        free,  ///< its buffer may be written over
        turn   ///< with a number: one group lets another go on
    };
    Use use = Use::turn;
    std::uint32_t id = 0;      ///< its address, or its number
    int arrivals = 0;          ///< that end a phase, of warps or of single lanes
    BarrierPhase before, now;  ///< the last phase that is over, and the one that goes on
    std::uint32_t waits = 0;   ///< warps that stand before it, bits
    BarrierPhase about;        ///< the phase that the step is about: one of both
};

/// Of a block, looked up once for all: a state is found without going through its events.
class Barriers {
public:
    Barriers(const Record& record, const BlockRecord& block, const Steps& steps, const Origins& origins);
    /// Of the barrier that a step arrives at, waits for or makes, when all warps have come to its slot;
    /// nothing: it is about none.
    std::optional<BarrierState> at(const BlockRecord& block, const Steps& steps, int warp, int k) const;
    bool any() const { return !all.empty(); }

private:
    struct Came {
        int slot, warp, threads;
        bool waits;  ///< with a number: and goes on when it opens
    };
    struct Asked {
        int slot;
        std::int64_t bytes;
    };
    struct Phase {
        std::vector<Came> came;
        std::vector<Asked> expected, asked;
        std::vector<BarrierTile> tiles;
        int over = -1;  ///< slot from which on it is known to be; −1: never
    };
    struct Wait {
        int slot, warp, step;
        std::uint32_t phases;  ///< that were over
    };
    struct OfBarrier {
        BarrierState::Use use = BarrierState::Use::turn;
        int arrivals = 0;
        std::vector<Phase> phases;
        std::vector<Wait> waits;
        std::optional<std::uint32_t> buffer;  ///< that is free with it
        Phase& phase(std::uint32_t n);
    };
    static constexpr std::uint32_t first_named = 0xFFFF0000;  ///< keys of those with a number
    static std::uint32_t key_of(const Event& event, std::span<const std::uint32_t> words);
    void note(const Event& event, std::span<const std::uint32_t> words, int warp, int k, int slot);
    void note_fetches(const Record& record, const BlockRecord& block, const Steps& steps,
                      const Origins& origins);
    void note_named(const Event& event, std::span<const std::uint32_t> words, int slot);
    void end_phases();
    BarrierPhase told(const OfBarrier& of, int number, int slot) const;

    std::map<std::uint32_t, OfBarrier> all;
};

/// "tile 1 of K", "tile 0 of K and V"; empty: not known.
std::string tiles_text(const std::vector<BarrierTile>& tiles);
/// What the step does at the barrier, with its numbers, in one or two sentences.
std::string barrier_sentence(const BarrierState& state, Op op);

}  // namespace tilewalk::inside
