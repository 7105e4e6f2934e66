// Where the value of a cell comes from and where it goes: the explanations of single steps, linked through
// the whole trace.
#pragma once

#include "core/walk/explain.h"

#include <compare>
#include <memory>
#include <optional>
#include <vector>

namespace tilewalk {

/// A cell together with the step that put its value there; −1: it was given. A slot is written many times, so
/// one cell has many places.
struct Place {
    CellRef cell;
    int step = -1;
    bool operator==(const Place&) const = default;
};
bool operator<(const Place& a, const Place& b);

/// Neighbouring cells of one slot that the same step put there: "Q[0,0…3]".
struct Patch {
    Slot slot = Slot::count;
    int step = -1;
    Region cells;
    bool operator==(const Patch&) const = default;
};

/// The place of what the cell holds after step k; nothing if it holds nothing then.
std::optional<Place> place_of(const Trace& trace, const CellRef& cell, int k);
double value_of(const Trace& trace, const Place& place);
/// The tile that the place lies in; null if there is no such place in this trace.
const Value* tile_with(const Trace& trace, const Place& place);

/// What the explanation of this place names as sources, in its order, each as the step found it: of a cell
/// that a step reads and then overwrites, the version before. None for what was given, for start values and
/// for masked scores, which are −∞ whatever was there before.
std::vector<Place> sources(const Trace& trace, const Place& place);
/// The given cells that a place comes from in the end, sorted; nothing if more than `most` places lie
/// between.
std::optional<std::vector<Place>> inputs_of(const Trace& trace, const Place& place, int most = 1 << 24);

/// The places as rectangles, in the order of their first cells.
std::vector<Patch> patches(const std::vector<Place>& places);

/// Which steps read which version of a tile. One pass over the trace when it is made.
class Readers {
public:
    explicit Readers(std::shared_ptr<const Trace> trace);
    const std::shared_ptr<const Trace>& trace() const { return trace_; }
    /// The cells whose explanation names this place among its sources, step after step; at most `most`
    /// patches.
    std::vector<Patch> fed_by(const Place& place, int most = 1 << 24) const;

private:
    struct Use {
        Slot slot;
        std::int32_t tile, made, reader;
        auto operator<=>(const Use&) const = default;  // NOLINT(modernize-use-nullptr)
    };
    std::shared_ptr<const Trace> trace_;
    std::vector<Use> uses_;  // sorted
};

}  // namespace tilewalk
