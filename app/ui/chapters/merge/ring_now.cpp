#include "app/ui/chapters/merge/merge.h"
#include "app/ui/chapters/merge/ring.h"

#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

RingNow::RingNow(const AppState& state)
    : held(state.trace), trace(*held), backward(&trace.lesson() == &ring_backward), stage(state.presenter),
      k(state.cursor.step), ring(trace.problem()),
      clock(ring, backward ? RingPass::backward : RingPass::forward), rank(step().when.worker),
      tick(step().when.start), round(round_at(k)) {}

bool RingNow::of_sink(int step) const {
    const Step& s = trace.step(step);
    return s.op == Op::sink_gradient || (s.op == Op::exchange_gradients && s.j < 0);
}

int RingNow::round_at(int step) const {
    const Step& s = trace.step(step);
    if (of_sink(step)) return ring.ranks;
    if (s.op == Op::load_q || (backward && s.j < 0 && s.op != Op::store)) return 0;
    if (s.j < 0) return ring.ranks;
    const bool home = s.op == Op::exchange_gradients && s.j == s.when.worker;
    return home ? ring.ranks : ring.round_of(s.when.worker, s.j) - (s.op == Op::exchange ? 1 : 0);
}

int RingNow::clock_round_of(int other) const {
    if (other == rank) return std::min(round, clock.rounds() - 1);
    int t = 0;
    while (t + 1 < clock.rounds() && clock.begin(other, t + 1) <= tick) ++t;
    return t;
}

bool RingNow::sends(int other) const {
    const int t = clock_round_of(other);
    return clock.keys(other, t).contains(tick) || clock.gradients(other, t).contains(tick);
}

Line RingNow::message_from(int other) const {
    const int t = clock_round_of(other);
    const auto both = [](Slot of_keys, Slot of_values, int owner) {
        return pieces(slot_symbol(of_keys, owner), " ", slot_symbol(of_values, owner));
    };
    if (clock.keys(other, t).contains(tick)) return both(Slot::K, Slot::V, ring.owner(other, t));
    if (clock.gradients(other, t).contains(tick)) return both(Slot::dK, Slot::dV, ring.owner(other, t - 1));
    return {};
}

std::int64_t RingNow::received() const {
    const Op op = step().op;
    std::int64_t bytes = 0;
    if (op == Op::exchange || op == Op::exchange_gradients)
        for (const Access& a : trace.writes(k))
            bytes +=
                trace.value(a.value).data.size() * (op == Op::exchange ? trace.problem().element_bytes : 4);
    return bytes;
}

int RingNow::gradients_at(int other) const {
    const int t = clock_round_of(other);
    if (!backward || t == 0) return -1;
    // The stage has what is before the hand-over beside what comes of it; the page ends with all at home.
    const bool home = step().op == Op::exchange_gradients && over();
    const int until = home && !stage ? step().when.end : tick;
    const bool came = clock.gradients(ring.before(other), t).end <= until;
    return ring.owner(other, came ? t : t - 1);
}

int RingNow::first_of_rank() const {
    int first = k;
    while (first > 0 && trace.step(first - 1).phase == step().phase) --first;
    return first;
}

int RingNow::first_of_round() const {
    const int begin = first_of_rank();
    int first = k;
    while (first > begin && round_at(first - 1) == round) --first;
    return first;
}

double RingNow::busy(int other) const {
    int ticks = 0;
    for (int n = 0; n < trace.size(); ++n) {
        const When& when = trace.step(n).when;
        if (when.worker == other && !when.beneath) ticks += when.end - when.start;
    }
    return static_cast<double>(ticks) / trace.ticks();
}

std::string percent(double part) { return format_fixed(100 * part, 0) + " %"; }

void choose_ring(AppState& state, int ranks, ShardKind shards) {
    Problem changed = latest_problem(state);
    Options options = changed.options;
    options.ranks = ranks, options.shards = shards;
    changed.options = options;
    if (!validate(changed)) choose_merge(state, options);
}

}  // namespace tilewalk::ui
