// Guided tours as Markdown that a lecturer writes (docs/tour-format.md).
#pragma once

#include "core/base/result.h"
#include "core/class/tour.h"

#include <string>
#include <string_view>

namespace tilewalk {

constexpr std::size_t most_tour_stops = 200;
/// Of one stop's text and heading: what the card holds in presenter mode.
constexpr int most_stop_letters = 440, most_heading_letters = 36;
/// Of a chapter's name: what stands above the heading, with its number and that of the stop.
constexpr int most_chapter_letters = 24;
/// Of its notes: what a page of them holds.
constexpr int most_notes_letters = 600;

/// Every stop is tried: its problem, lesson, step, cell and numbers exist. A sentence says in which line they
/// do not. Problem files are looked for beside the tour, in `folder`.
Result<TourScript> parse_tour(std::string_view text, const std::string& where, const TourNames& names,
                              const std::string& folder = {});
Result<TourScript> load_tour_file(const std::string& path, const TourNames& names);
/// One of assets/tour, by its name without the ending, or else a file.
Result<TourScript> load_tour(const std::string& name, const TourNames& names);
/// Its name, where none is asked for.
constexpr const char* default_tour = "flash-attention";

}  // namespace tilewalk
