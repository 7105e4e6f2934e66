// What the window asks of the outside world: files that are opened in it, and what it saves.
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

/// One .json file gives a whole problem. Matrix files replace matrices in a copy of `current`: each goes
/// where its name says (q.csv, my_keys.npy); a single file whose name does not say it goes to `target` (Q, K
/// or V). dO is dropped when Q no longer fits it. The result is not yet validated as a whole.
Result<Problem> load_dropped_files(const std::vector<std::string>& paths, const Problem& current, Slot target,
                                   SavedView* view = nullptr);

/// A tour of the program by its name, or else a file; the program's own if nothing is named.
Result<ui::Tour> read_tour(const std::string& name_or_path);

/// The walk that the window shows, in the format that the ending says; a sentence if that failed.
Result<void> export_walk(const std::string& path, const ui::AppState& state);

/// One report for each file; the first that cannot be read is the failure of all.
Result<std::vector<BenchReport>> load_results(const std::vector<std::string>& paths);
/// "csv" and "report" (Markdown) hold all reports; "json" those of this process as one, or, if there are
/// none, the others. A sentence if they cannot be one, or the file cannot be written.
Result<void> save_results(const std::string& path, const std::vector<BenchReport>& reports,
                          const std::string& kind);
/// "svg" or "png".
Result<void> save_plot(const std::string& path, const ui::ChartScene& scene, const ui::Theme& theme,
                       const std::string& kind);

}  // namespace tilewalk
