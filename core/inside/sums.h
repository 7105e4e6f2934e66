// The sums of products in the background (Hopper): which wait brings what a product adds to, and which cells
// of which matrix they are. The record has their values at the wait (TileSums); before it, nobody may look.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// Sums of one warp: 16 rows of the 64 that four warps have together.
struct NamedSums {
    Matter A = Matter::none, B = Matter::none, C = Matter::none;
    int row = -1, column = -1;  ///< of the first sum, in its whole matrix; −1: not known
    int first = -1, last = -1;  ///< steps of the warp: the products of the group that ends them
    int products = 0;           ///< from the first to the last one, of 16 terms each
    bool begins_anew = false;   ///< the first of them adds to nothing
    bool of_registers = false;  ///< A lies in registers: columns of the sums are those of B, else its rows
    bool known() const { return row >= 0 && column >= 0; }
};

/// The tile that was fetched last to this address before an event; nothing: none was.
std::optional<TileFetch> fetch_to(const BlockRecord& block, std::uint32_t address, std::uint32_t before);
/// The element of device memory that it has brought there.
std::optional<Element> fetched_element(const Record& record, const BlockRecord& block, std::uint32_t address,
                                       std::uint32_t before);
/// The step of this warp that brings the sums which a step is about: a product that is issued, or the wait
/// itself; −1: none does, or the step is about no sums.
int brings_sums(const BlockRecord& block, const Steps& steps, int warp, int k);
/// What the wait at step k has brought.
NamedSums named_sums(const Record& record, const BlockRecord& block, const Steps& steps,
                     const Origins& origins, int warp, int k);

}  // namespace tilewalk::inside
