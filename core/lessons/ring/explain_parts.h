// What the explanations of both passes of a ring have in common: a step of a rank, and the words for its
// shards.
#pragma once

#include "core/lessons/ring/clock.h"
#include "core/lessons/shared/explain_logits.h"
#include "core/walk/explain_view.h"

namespace tilewalk {

/// One step of a rank; the cell's row is one of its shard.
struct RingView {
    const View& v;
    Ring ring{v.problem};
    int rank = v.step.when.worker, owner = v.step.j, round = owner < 0 ? -1 : ring.round_of(rank, owner);

    int query_at(int row) const { return ring.queries_of(rank).positions[static_cast<std::size_t>(row)]; }
    int key_at(int row) const { return ring.keys_of(owner).positions[static_cast<std::size_t>(row)]; }
    std::string query_words(const char* kind, int position) const;
    std::string query() const { return query_words("query ", query_at(v.row)); }
    std::string first_query() const { return query_words("Query ", query_at(v.row)); }
    std::string key(int col) const { return key_words("key ", col); }
    std::string first_key(int col) const { return key_words("Key ", col); }
    std::string owners_keys() const;

private:
    std::string key_words(const char* kind, int col) const;
};

std::string rank_name(int rank);
/// "position 3", "positions 0–1"
std::string rows_text(const std::vector<int>& positions);
/// "rank 0, round 1"; a message is that of the round in which it travels.
std::string place_on_ring(const RingView& r);

/// What travels, and whether the rank waits for it.
void explain_keys_handed_on(const RingView& r, const RingClock& clock);
void explain_shard(const RingView& r);
void explain_shard_score(const RingView& r);
void explain_shard_mask(const RingView& r);
/// The target's score for softcap, bias and the gradient through the softcap.
LogitWords shard_words(const RingView& r, Slot scores = Slot::S);
void explain_nothing_to_see(const RingView& r);

}  // namespace tilewalk
