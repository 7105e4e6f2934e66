// What the window asks of the outside world (app/ui/state/hooks.h): files that are opened in it, and what it
// saves.
#pragma once

#include "app/ui/state/tour.h"
#include "core/engine/report.h"

#include <string>
#include <vector>

namespace tilewalk::ui {
struct ChartScene;
struct Theme;
}  // namespace tilewalk::ui

namespace tilewalk {

/// dO is dropped when Q no longer fits it. The result is not yet validated as a whole.
Result<Problem> load_dropped_files(const std::vector<std::string>& paths, const Problem& current, Slot target,
                                   SavedView* view = nullptr);
/// For Ctrl V, in the place of one matrix: rows in lines; between the numbers tabs, commas, semicolons or
/// spaces.
Result<Problem> take_table(const std::string& table, const Problem& current, Slot target);

/// The tour may be one of the program, by its name.
Result<ui::Tour> read_tour(const std::string& name_or_path);

/// A line that leads to what is shown (app/io/link.h); a sentence if the problem is too large for one.
Result<std::string> link_of(const ui::AppState& state);

/// What the machine's clock shows, and one that stands still: a picture is the same every time.
ui::ClockTime time_now();
ui::ClockTime time_of_pictures();

Result<std::vector<BenchReport>> load_results(const std::vector<std::string>& paths);
/// "json" holds those of this process as one, or, if there are none, the others.
Result<void> save_results(const std::string& path, const std::vector<BenchReport>& reports,
                          const std::string& kind);
Result<void> save_plot(const std::string& path, const ui::ChartScene& scene, const ui::Theme& theme,
                       const std::string& kind);

}  // namespace tilewalk
