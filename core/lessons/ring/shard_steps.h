// Steps that both passes of a ring have: a shard in HBM and on chip, its scores, and the keys that are handed
// on.
#pragma once

#include "core/lessons/ring/clock.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/walk/trace.h"

namespace tilewalk {

/// A matrix of all positions as the ranks hold it in HBM; the rows of one shard.
void give_shards(Recorder& rec, Slot slot, const Matrix& A, const std::vector<RingRows>& shards);
/// Fetched from HBM, as one matrix on chip with rows from 0.
void load_shard(Recorder& rec, Slot from, const RingRows& rows, Slot to);
Matrix fetch_shard(Recorder& rec, Slot from, const RingRows& rows);
/// Back to HBM, piece by piece; tiles and rows may begin later there.
void store_shard(Recorder& rec, Slot slot, const Matrix& A, const RingRows& rows, int first_tile = 0,
                 int first_row = 0);

/// The keys that this rank needs next come from the rank before it, while it computes.
void hand_on_keys(Recorder& rec, const Ring& ring, const RingClock& clock, int rank, int round);
/// S = scale · Q Kᵀ of what lies on chip, then what the problem has of softcap and ALiBi bias, and the mask
/// where it hides some of it.
void shard_scores(Recorder& rec, const Ring& ring, int rank, int round, Capped capped);

}  // namespace tilewalk
