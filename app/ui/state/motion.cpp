#include "app/ui/state/motion.h"

#include "app/ui/state/marks_kept.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

namespace {

constexpr float usual_motion = 1.2f;
constexpr float while_computing = .72f;  // of the motion of a step that also sends its result to HBM
constexpr struct {
    Op op;
    float seconds;
} motions[] = {{Op::load_q, 1.5f},    {Op::load_kv, 1.6f},     {Op::load_state, 1.6f},
               {Op::load, 1.5f},      {Op::init, .8f},         {Op::skip, .6f},
               {Op::project, 2.4f},   {Op::scores, 2.6f},      {Op::correction, 1.8f},
               {Op::row_sum, 2.6f},   {Op::output, 2.8f},      {Op::exponentials, 2.0f},
               {Op::normalize, 1.8f}, {Op::recompute, 2.0f},   {Op::dv, 2.4f},
               {Op::dp, 2.4f},        {Op::dq, 2.4f},          {Op::dk, 2.4f},
               {Op::add_share, 2.0f}, {Op::store_state, 1.8f}, {Op::store, 1.8f}};

// Whoever goes on within this time wants to be somewhere else, not to watch.
constexpr float hurry_seconds = .6f;
constexpr float most_of_a_beat = .8f;  // while playing, of the time between two steps

bool stands(const AppState& state) { return state.still || !state.settings.motion || state.moves_for <= 0; }

// Of all that the step does. Seen from before it, it has not begun.
float whole_phase(const AppState& state) {
    if (shows_before(state)) return not_begun;
    return stands(state) ? 1 : std::clamp(state.step_age / state.moves_for, 0.0f, 1.0f);
}

}  // namespace

float motion_of(Op op) {
    const auto row = std::ranges::find(motions, op, [](const auto& m) { return m.op; });
    return row == std::end(motions) ? usual_motion : row->seconds;
}

float motion_to(const AppState& state, Cursor next) {
    const int k = next.step;
    const bool whole = next.done == step_units(*state.trace, k);
    if (k != state.cursor.step + 1 || !whole) return 0;
    const float seconds = motion_of(*state.trace, k);
    if (state.player.playing) {
        const bool too_fast = state.settings.speed >= 4;
        return too_fast ? 0 : std::min(seconds, most_of_a_beat / static_cast<float>(state.settings.speed));
    }
    const bool hurried = state.step_age < std::max(state.moves_for, hurry_seconds);
    return hurried ? 0 : seconds;
}

float motion_of(const Trace& trace, int k) {
    return motion_of(trace.step(k).op) / (sends(trace, k) ? while_computing : 1);
}

bool sends(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    // Dense lessons do not say what lies on chip: there, nothing comes from it.
    if (info(step.op).kind != OpKind::compute || step.traffic.sram_live == 0) return false;
    return std::ranges::any_of(trace.writes(k), [](const Access& a) { return info(a.slot).hbm; });
}

float phase(const AppState& state) {
    const float whole = whole_phase(state);
    return sends(*state.trace, state.cursor.step) ? std::min(whole / while_computing, 1.0f) : whole;
}

float sent(const AppState& state) {
    if (!sends(*state.trace, state.cursor.step)) return 1;
    return over(whole_phase(state), {while_computing, 1});
}

float over(float phase, Stretch s) {
    const float t = std::clamp((phase - s.from) / (s.to - s.from), 0.0f, 1.0f);
    return t * t * (3 - 2 * t);
}

float turn_of(float phase, Stretch s, std::size_t n, std::size_t count) {
    const float each = (s.to - s.from) / static_cast<float>(count);
    const float from = s.from + each * static_cast<float>(n);
    return over(phase, {from, from + each});
}

}  // namespace tilewalk::ui
