// Lesson: partial results of one query over different keys become one. This is the rule that FlashAttention's
// loop, decoding with split keys, shared prefixes and rings are made of (FlashInfer's merge_state, arXiv
// 2501.01005, section 2.2; vLLM's merge_attn_states).
//
// The lesson starts from the scores of one row (Options::row), as the softmax lessons do. The row is cut into
// parts (Options::splits, two halves without one); each becomes (m, ℓ, O), or (L, O) with O divided
// (Options::parts), and these are merged in the order that Options::merge says.
#pragma once

#include "core/lessons/shared/parts.h"

namespace tilewalk {

extern const Lesson merge_lesson;

/// The parts of the row, and how they are merged.
std::vector<KeyPart> merge_parts(const Problem& problem);
/// The parts that are in a tile by then, as it is called below a letter: "0", "0–2".
std::string merge_name(const Problem& problem, int tile);
/// The part or merge that step k is about, by its tile; the number of the last merge for what follows it.
int merge_tile(const Trace& trace, int k);

}  // namespace tilewalk
