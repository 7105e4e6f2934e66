// Lessons: ring attention (Liu, Zaharia and Abbeel 2023, arXiv:2310.01889). R ranks each hold a shard of Q, K
// and V. In round t rank r has the keys of rank (r − t) mod R, merges what they give into what it has, and
// hands them on meanwhile. Who holds what, and who sees whose keys when, is that of core/distributed, which
// runs the same ring on many machines.
#pragma once

#include "core/lessons/ring/ranks.h"
#include "core/lessons/shared/parts.h"

namespace tilewalk {

extern const Lesson ring_attention;
/// Backward: dK and dV go round with their shard, each rank adds its share, and after R rounds they go home;
/// dQ stays. L and O are what ring_attention left with each rank.
extern const Lesson ring_backward;

}  // namespace tilewalk
