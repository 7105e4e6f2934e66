// Motion: a step while it happens. What is drawn of it follows from the walk, the step and the phase alone,
// so the window and a film show the same.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Seconds that the motion of an op takes.
float motion_of(Op op);
/// The same for step k, with the way to HBM of what it computes.
float motion_of(const Trace& trace, int k);
/// Going from the step that is shown to the next one: for how long that will move.
float motion_to(const AppState& state, Cursor next);

/// The phase of a step that is seen from before it.
inline constexpr float not_begun = -1;
/// How far the motion of the current step has come, 0 … 1; 1 is the step as pictures show it.
float phase(const AppState& state);
/// Step k computes what goes to HBM at once, as a gradient that grows there.
bool sends(const Trace& trace, int k);
/// How far it has come on its way, 0 … 1, once it is computed; 1 for all other steps.
float sent(const AppState& state);

/// A part of the phase.
struct Stretch {
    float from, to;
};
/// When in a step what happens.
namespace during {

constexpr Stretch loading{.04f, .72f};    ///< tiles from HBM to SRAM
constexpr Stretch made{.02f, .16f};       ///< what a store makes before it sends it
constexpr Stretch storing{.18f, .72f};    ///< tiles from SRAM to HBM
constexpr Stretch terms{.05f, .66f};      ///< pairs, points and bars, one after another
constexpr Stretch shrinking{.05f, .36f};  ///< the old value by α
constexpr Stretch appending{.38f, .66f};  ///< what is added to it
constexpr Stretch sum{.66f, .72f};        ///< what all that makes
constexpr Stretch arrival{.72f, .94f};    ///< the result in its place
constexpr Stretch alone{.06f, .94f};      ///< a result that no drawing leads up to, cell by cell

}  // namespace during

/// How much of the stretch is over, 0 … 1, slow at both ends.
float over(float phase, Stretch stretch);
/// The same for the nth of so many that share the stretch one after another.
float turn_of(float phase, Stretch stretch, std::size_t n, std::size_t count);

}  // namespace tilewalk::ui
