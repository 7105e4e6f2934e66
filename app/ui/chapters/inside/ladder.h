// Two rungs of the ladder on the same problem: what the record counts of each, and what the idea saved.
#pragma once

#include "app/ui/chapters/inside/page.h"
#include "core/inside/ladder.h"

namespace tilewalk::ui {

struct LadderPair {
    inside::Totals before, after;
};
struct LadderRun {
    Background<Result<LadderPair>> result;
    std::string asked;  ///< what is on its way, or was tried last
    std::optional<LadderPair> shown;
    std::string failure;
};

/// The rungs that can stand beside the chosen one: those of its direction.
std::vector<const gpu::TraceableKernel*> rungs_beside(const AppState& state);
/// The other rung: as chosen, or the one that it goes on from.
std::string ladder_against(const AppState& state);
/// Counts what has not been counted yet, beside the thread that draws.
void refresh_ladder(AppState& state);
void wait_for_ladder(AppState& state);
bool ladder_under_way(const AppState& state);
/// Arrow keys choose the rungs. False: the key means what it means on the page.
bool answer_ladder_key(AppState& state, const KeyPress& press);

}  // namespace tilewalk::ui
