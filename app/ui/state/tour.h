// A guided tour: stops in lessons and pages, each with a place on screen and a few sentences.
#pragma once

#include "app/ui/kit/items.h"
#include "app/ui/state/app_state.h"
#include "core/base/numbers.h"
#include "core/class/tour.h"

namespace tilewalk::ui {

struct Tour {
    TourScript script;
    bool own = false;  ///< the program's, whose stop is remembered from one start to the next
    int at = 0;
    WalkView back;           ///< where the user was when it began; leaving it leads back there
    KernelFault fault_back;  ///< and what was wrong in the kernel of the page compare, …
    InsideForm inside_back;  ///< … and where the page Inside stood
    bool arriving = false;   ///< the walk of this stop is being built
    bool in_full = false;    ///< on stage: all of a stop's words, not their first lines
    std::vector<Line> text;  ///< of this stop, filled with numbers
    int text_of = -1;        ///< the stop that `text` was made for, in this style
    NumberStyle style;
    std::vector<NamedPlace> places;  ///< what the frame under way has shown where
    std::optional<Rect> place;       ///< what the stop points at, as the last frame showed it; logical px
    Rect ring;                       ///< the middle of the line round it
    Rect card;
    std::vector<Rect> dimmed;  ///< panels that the card cuts and that the stop is not about

    const TourStop& stop() const { return script.stops[static_cast<std::size_t>(at)]; }
    int stops() const { return static_cast<int>(script.stops.size()); }
};

/// By its name in files; without one it is the walk.
Page page_of(std::string_view name);
/// Begins the program's own tour, where it was left the last time, or leaves the one that runs.
void toggle_tour(AppState& state);
void start_tour(AppState& state, Tour tour);
/// The stop of the program's own tour to go on with, from 0; none: it begins anew.
std::optional<int> stop_left(const AppState& state);
/// Goes to stop n, from 0; behind the last one the tour ends.
void go_to_stop(AppState& state, int n);
/// To the next (+1) chapter, or to the beginning of this or the previous one (−1); a sentence where there is
/// none.
void go_to_chapter(AppState& state, int by);
/// Everything is as it was before the tour, except for the settings.
void leave_tour(AppState& state);
/// Goes on to the step of the stop once its walk, built in the background, is there.
void settle_tour(AppState& state);
/// The window still shows what the stop speaks of.
bool at_stop(const AppState& state);

/// One file that may be a tour, by its ending.
bool is_tour(const std::vector<std::string>& paths);
/// Reads it and begins it; a notice if it cannot be read.
void open_tour(AppState& state, const std::string& path);

/// The stop that the walk stands at points at this panel.
bool points_at(const AppState& state, std::string_view panel);
/// The stop is about the foot of presenter mode's page, so that its card lies along the top.
bool speaks_of_the_foot(const Tour& tour);

}  // namespace tilewalk::ui
