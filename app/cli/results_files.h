// What the page At scale asks of the outside world: results and plots in files.
#pragma once

#include "core/base/result.h"
#include "core/engine/report.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewalk::ui {
struct ChartScene;
struct Hooks;
struct Theme;
}  // namespace tilewalk::ui

namespace tilewalk {

/// One report for each file; the first that cannot be read is the failure of all.
Result<std::vector<BenchReport>> load_results(const std::vector<std::string>& paths);
/// "csv" and "report" (Markdown) hold all reports; "json" those of this process as one, or, if there are
/// none, the others. A sentence if they cannot be one, or the file cannot be written.
std::optional<std::string> save_results(const std::string& path, const std::vector<BenchReport>& reports,
                                        const std::string& kind);
/// "svg" or "png".
std::optional<std::string> save_plot(const std::string& path, const ui::ChartScene& scene,
                                     const ui::Theme& theme, const std::string& kind);

}  // namespace tilewalk
