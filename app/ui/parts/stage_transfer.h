// A load or a store on stage: HBM at the left, at the right what lies on chip, between them an arrow with its
// bytes for each matrix that goes; below, the traffic of the walk as one bar.
#pragma once

#include "app/ui/parts/stage_terms.h"

namespace tilewalk::ui {

/// Where the parts of the picture lie.
struct TransferPlan {
    Rect hbm;    ///< empty: the strip of HBM stands beside the stage
    Rect lanes;  ///< the arrows
    Rect chip;
    Rect tiles;  ///< in it, what arrives or goes
    Rect bytes;  ///< empty: no room
};

/// A step is told so if it loads or stores, unless a question or a tour asks for something else.
bool pictures_transfer(const AppState& state);
/// The arrows take no more than their words need where the tiles would lose digits.
enum class Lanes { usual, narrow };
/// `strip`: the strip of HBM stands at the left of the area; `bytes`: with the bar below.
TransferPlan transfer_plan(const Rect& area, bool strip, bool bytes, Lanes lanes = Lanes::usual);
/// Where what moves lies in the box of HBM: from there tiles come, and there they go.
std::vector<StripPlace> places_in_hbm(const AppState& state, const TransferPlan& plan);
/// All but the tiles.
void draw_transfer(const Canvas& canvas, AppState& state, const TransferPlan& plan);

/// A computing step that reads from HBM what it writes back there, as dQ grows.
bool exchanges(const AppState& state);
constexpr float least_exchange_w = 380, least_exchange_h = 146;
/// Both ways with their bytes, from the strip of HBM at the left of the area, and the traffic of the walk.
void draw_exchange(const Canvas& canvas, const AppState& state, const Rect& area);

/// "both workers", "all ranks"; empty: one after another.
std::string all_workers(const AppState& state);
/// Whose bytes these are: "so far", "both workers by now", "all ranks by now".
std::string whose_bytes(const AppState& state);

/// A slide has one unit: bytes, as its formula counts them, as long as they can be read at a glance.
std::string bytes_text(std::int64_t bytes);

/// What a load or a store moves, each matrix once: "K₁, V₁".
Line moved_symbols(const Trace& trace, int k);
/// The bytes of one tile that it moves; 0 where the step moves less than all its tiles have (a tile that is
/// on chip already).
std::int64_t moved_bytes(const Trace& trace, int k, const Access& access);

}  // namespace tilewalk::ui
