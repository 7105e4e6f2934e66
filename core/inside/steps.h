// The walk through a block's record: each warp's steps in their order, where they stand beside those of the
// other warps, and where the next line, barrier or tile begins. All of it is looked up, nothing is searched
// through, however long the record is.
#pragma once

#include "core/inside/record.h"

#include <optional>

namespace tilewalk::inside {

/// How far one goes at once. A tile begins where a warp comes to the same barrier again, or where a product
/// in the background begins new sums, the first since the warp has waited for products.
enum class Stride { instruction, line, barrier, tile };

/// A step that is looked for, and the lane that is looked at there.
struct StepQuery {
    std::optional<Op> op;  ///< none: the n-th step of the warp
    int n = 1;             ///< from 1
    int warp = 0, lane = 13, cell = 0;
    int launch = 0;  ///< from 1, of those that are walked through; 0: the one that does the main work
    bool operator==(const StepQuery&) const = default;
};

/// Copies of one group from one matrix, of all warps together; or the tile of one matrix of Hopper, which
/// arrives where it is first waited for.
struct Flight {
    std::uint32_t group = 0;  ///< of a tile: the phase of its barrier
    int region = -1;          ///< of Record::regions; −1: memory without a name
    int issued = 0, committed = -1,
        arrived = -1;  ///< slots of the first issue, and the last arrival; −1: none
    std::int64_t bytes = 0;
    std::uint32_t to = 0;    ///< the lowest address in shared memory
    std::uint32_t from = 0;  ///< the lowest address in device memory that was read; 0: none was
    int tile = -1;           ///< of its matrix; −1: not known
};

/// A group of products that run in the background of their warp.
struct Running {
    int warp = 0, step = 0;       ///< of the first one
    int issued = 0, waited = -1;  ///< slots; −1: nobody waits
};

/// Of two events the one that this run did first, whatever slots their warps would have reached.
struct HeldBack {
    std::uint32_t first = 0, second = 0;
};

/// Steps are what warps issue. What a copy brings is none: it arrives by itself, in the slot of the wait.
class Steps {
public:
    /// `held`: the second of both events stands behind the slot of the first, and so does all that follows
    /// it.
    Steps(const Record& record, const Launch& launch, const BlockRecord& block,
          std::optional<HeldBack> held = std::nullopt);

    int warps() const { return static_cast<int>(of_warp.size()); }
    int count(int warp) const { return static_cast<int>(steps(warp).size()); }
    std::uint32_t event(int warp, int k) const { return step(warp, k).event; }

    // Slots stand for the order of issue: one slot, one step. Behind a barrier all warps begin anew; behind
    // one of Hopper who waits begins behind those that arrive.
    int slots() const { return last_slot; }
    int slot(int warp, int k) const { return step(warp, k).slot; }
    /// The step in this slot, or the last one before it; the first, if there is none.
    int at_slot(int warp, int slot) const;
    /// The same for who goes on: of the steps from `from` on, which stands in this slot or before it.
    int at_slot(int warp, int slot, int from) const;
    /// Slots in which the last warp has come to a barrier.
    const std::vector<int>& barriers() const { return meetings; }
    const std::vector<Flight>& flights() const { return copies; }
    /// How many of them are on their way at once, at most.
    int flights_at_once() const { return most_copies; }
    const std::vector<Running>& products() const { return running; }
    /// Of what arrives with a step that waits: events, as many as this warp's lanes have issued.
    std::span<const std::uint32_t> arrivals(int warp, int k) const;

    /// The tile that a step belongs to, from 0; −1 before the first one.
    int tile(int warp, int k) const;
    int tiles() const;
    /// Where one comes to by going on (by 1) or back (by −1): another step, or the same at the end.
    int go(int warp, int k, Stride stride, int by) const;

    // Lines of the source
    int line(int warp, int k) const { return step(warp, k).line; }
    /// The warp's next step in this line behind k, or the first one; −1: it never comes there.
    int next_in_line(int warp, int k, const std::string& file, int source_line) const;

    /// −1: there is no such step.
    int find(const BlockRecord& block, const StepQuery& query) const;

private:
    struct Step {
        std::uint32_t event;
        int slot, line;
        std::uint32_t arrivals, arrived_end;  ///< in `arrived`
    };
    struct Line {
        std::string file;
        int line;
        std::vector<std::vector<int>> at;  ///< of each warp: its steps here
    };
    const std::vector<Step>& steps(int warp) const { return of_warp[static_cast<std::size_t>(warp)]; }
    const Step& step(int warp, int k) const {
        ++events_visited;
        return steps(warp)[static_cast<std::size_t>(k)];
    }
    static int slot_visited(const Step& step) { return ++events_visited, step.slot; }
    void lay_out(const BlockRecord& block, const std::optional<HeldBack>& held);
    int slot_of(std::uint32_t event) const;
    void meet(std::vector<int>& next, std::vector<bool>& waits, const std::vector<std::uint32_t>& left);
    void find_flights(const Record& record, const BlockRecord& block);
    void find_tile_flights(const Record& record, const BlockRecord& block);
    void count_flights();
    void find_products(const BlockRecord& block);
    void find_lines(const Record& record, const BlockRecord& block);
    void find_tiles(const BlockRecord& block);
    const Line* find_line(const std::string& file, int line) const;

    std::vector<std::vector<Step>> of_warp;
    std::vector<std::vector<int>> tile_begins, barrier_steps;  ///< of each warp
    std::vector<std::uint32_t> arrived;                        ///< events, warp after warp
    std::vector<int> meetings;
    std::vector<Flight> copies;
    std::vector<Running> running;
    std::vector<Line> lines;
    int last_slot = 0, most_copies = 0;
};

}  // namespace tilewalk::inside
