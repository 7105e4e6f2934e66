// Slides as PDF: of the steps of a walk, or of the stops of a tour.
#pragma once

#include "app/cli/hand_out.h"
#include "app/settings/settings.h"
#include "core/class/tour.h"

#include <optional>
#include <string>

namespace tilewalk {

struct SlideLook {
    Size size{1280, 720};
    ui::ThemeId theme = ui::ThemeId::light;
    ui::Palette palette = ui::Palette::usual;
};
/// A file holds no more; more of them would be no slides any more.
constexpr int most_slides = 5000;

/// A page with the title, then one for each step that the words name, "11-20" or "1,5,11-20"; without words
/// for all. Written to `path` by the last piece of work.
FileWork slides_of_walk(const std::string& path, ui::AppState state, const std::optional<std::string>& steps,
                        const SlideLook& look);
/// A page with the title, one for each stop, then one for the notes of each stop that has some.
FileWork slides_of_tour(const std::string& path, const TourScript& tour, const SlideLook& look);

/// What the window shows: the stops of its tour, or else the steps of its walk, of which a marked range
/// counts.
FileWork slides_of_view(const std::string& path, const ui::AppState& state);

}  // namespace tilewalk
