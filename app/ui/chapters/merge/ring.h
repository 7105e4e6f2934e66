// What the parts of the ring's page share: where all ranks are at the tick of the current step.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"
#include "core/lessons/ring/clock.h"
#include "core/lessons/ring/ring.h"

namespace tilewalk::ui {

struct RingNow {
    explicit RingNow(const AppState& state);
    RingNow(const RingNow&) = delete;  // the clock looks at its ring
    RingNow& operator=(const RingNow&) = delete;

    std::shared_ptr<const Trace> held;  ///< a button may replace that of the state
    const Trace& trace;
    bool backward, stage;
    int k;
    Ring ring;
    RingClock clock;
    int rank, tick;
    int round;  ///< of the rank at hand; as many as there are ranks: it has come to its end

    const Step& step() const { return trace.step(k); }
    /// All rounds of the rank are over.
    bool over() const { return round >= ring.ranks; }
    /// The gradient of the sink, which goes from rank to rank when all rounds are over.
    bool of_sink(int step) const;
    /// dK and dV of its own keys come back to the rank.
    bool comes_home() const { return step().op == Op::exchange_gradients && step().j == rank; }
    /// The round that a step belongs to. A message is that of the round in which it travels.
    int round_at(int step) const;
    /// In which round a rank is at this tick; behind the last one backward, while gradients go home.
    int clock_round_of(int other) const;
    int round_of(int other) const { return std::min(clock_round_of(other), ring.ranks - 1); }
    /// A message from this rank to the next is on its way.
    bool sends(int other) const;
    /// What is in it: "K₁ V₁", "dK₁ dV₁"; empty: there is none.
    Line message_from(int other) const;
    /// Bytes of the message that the step is about; 0: it is about none.
    std::int64_t received() const;
    /// Whose dK and dV a rank has at this tick: of a hand-over those that it hands on, but for the last one
    /// on the page; −1: none yet.
    int gradients_at(int other) const;
    /// The first step of this rank, and of its round.
    int first_of_rank() const;
    int first_of_round() const;
    /// Of the time until all are through, the part in which this rank computes.
    double busy(int other) const;
};

std::string percent(double part);
/// A changed choice, where the problem allows it.
void choose_ring(AppState& state, int ranks, ShardKind shards);

// The parts, one file each
/// Ranks in a circle, arrows between them; below, the bytes that have gone from rank to rank.
void ring_panel(const Canvas& canvas, AppState& state, const RingNow& now, const Rect& area);
void draw_ring(const Canvas& canvas, const RingNow& now, const Rect& area);
/// Below `sent_h` without a line for this step.
constexpr float sent_h = 54;
void draw_sent(const Canvas& canvas, const RingNow& now, const Rect& area);
/// Who has whose keys in which round.
void rounds_panel(const Canvas& canvas, const RingNow& now, const Rect& area);
/// On stage at the left; returns what they leave.
Rect draw_rounds_beside(const Canvas& canvas, const RingNow& now, const Rect& area);
/// How busy the ranks are with a causal mask, for each way to deal the sequence out.
void balance_panel(const Canvas& canvas, AppState& state, const RingNow& now, const Rect& area);
/// The same on stage, where nothing is pressed.
void draw_deals(const Canvas& canvas, const RingNow& now, const Rect& area);
/// What the rank has on chip.
void chip_panel(const Canvas& canvas, AppState& state, const RingNow& now, const Rect& area);
/// On stage: what a message has brought.
void draw_arriving(const Canvas& canvas, AppState& state, const RingNow& now, const Rect& area);

}  // namespace tilewalk::ui
