// Lesson: a prefix that several sequences share (FlashInfer's cascade, arXiv:2501.01005; Hydragen, Juravsky
// et al. 2024, arXiv:2402.05099). One kernel takes the queries of all sequences over the keys of the prefix,
// which so are read once, and leaves O, divided, and L in HBM. A second one takes each sequence over its own
// keys and merges both partial results of every row. Keys may lie in pages: other addresses, the same
// numbers.
#pragma once

#include "core/lessons/shared/parts.h"
#include "core/problem/shared_prefix.h"

namespace tilewalk {

extern const Lesson cascade;

/// Tiles of the partial results of one sequence: what the prefix has given, and its own keys.
constexpr int shared_part = 0, own_part = 1;

/// The plain way: each sequence attends to the prefix and its own keys in one go, and reads the blocks of
/// both that the mask leaves it.
TrafficModel each_sequence_alone(const Problem& problem);
/// Bytes that sharing saves: the prefix for all sequences but one. And what it costs: the queries once more,
/// and O and L of the prefix, written and read.
std::int64_t saved_by_sharing(const Problem& problem);
std::int64_t price_of_sharing(const Problem& problem);
/// The shortest prefix that pays; 0 where nothing is shared, as there is one sequence, or where a window
/// decides how much of it is read.
std::int64_t prefix_that_pays(const Problem& problem);

/// The sequence that step k works for; −1: all of them, at the prefix.
int sequence_of(const Trace& trace, int k);

}  // namespace tilewalk
