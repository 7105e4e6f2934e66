// The stage while a step moves: tiles on their way between HBM and SRAM, results that are made cell by cell.
#pragma once

#include "app/ui/parts/bed.h"
#include "app/ui/parts/stage_terms.h"

namespace tilewalk::ui {

/// A matrix that lies on the stage.
struct OnStage : StageTerm {
    Bed bed{};
    int done = std::numeric_limits<int>::max();  ///< cells that are there, while they come one by one
    Rect lit{};                                  ///< what the next of them is made from
    int rows() const { return transposed ? value->region.cols : value->region.rows; }
    int cols() const { return transposed ? value->region.rows : value->region.cols; }
};

/// What this step loads, stores or computes for HBM has not arrived yet.
bool on_its_way(const AppState& state);
/// How much of a tile that this step loads is there, before its numbers are: all of it when it has landed.
/// What has no place on the strip appears where it will lie.
float landed(const AppState& state, const Value& value, const std::vector<StripPlace>& strip);
/// The tiles between their places on the strip and on the stage. Those that are loaded go straight; those
/// that are stored go below all that stands there, above the floor.
void draw_flights(const Canvas& canvas, const AppState& state, std::span<OnStage* const> stage,
                  const StageView& view);
/// The same of a computed result that goes to HBM at once, from the row of it that stands there.
void draw_sent(const Canvas& canvas, const AppState& state, const Rect& row,
               const std::vector<StripPlace>& strip);
/// The hues of its cells, without their numbers.
void draw_bare_tile(const Canvas& canvas, const AppState& state, Slot slot, const Value& value,
                    const Rect& area);
/// The bed of a result that is not there yet.
void draw_empty_bed(const Canvas& canvas, const Bed& bed);

/// Sets what is there of a result that is made cell by cell, and what its next cell is made from; `lens`: a
/// drawing shows the step, too.
void light_up(const AppState& state, std::span<OnStage* const> stage, bool lens);

}  // namespace tilewalk::ui
