// Results of benchmarks as files: JSON, which is read back, and CSV and Markdown, which are for others.
#pragma once

#include "core/base/result.h"
#include "core/engine/report.h"

#include <string>
#include <string_view>

namespace tilewalk {

/// {"schema":"tilewalk-bench-1", "date", "command", "complete", "peak_flops", "machine", "build", "points"}.
/// A point that was not measured has null for its times and the reason under "skipped".
std::string bench_to_json(const BenchReport& report);

/// Reads the same format. Times, percentiles and states must fit together; unknown keys are refused, keys
/// that begin with "x-" or "comment" passed over. Every sentence begins with `where`, which becomes the
/// source of the report.
Result<BenchReport> bench_from_json(std::string_view text, const std::string& where);
Result<BenchReport> load_bench_file(const std::string& path);
/// True if the text names the schema of results.
bool is_bench_json(std::string_view text);

/// The results of assets/bench, in the order of their names; each has "assets/bench/NAME.json" for a source.
const std::vector<BenchReport>& recorded_results();

/// One line for each point, with a heading; reports below each other, told apart by their first columns.
std::string bench_to_csv(std::span<const BenchReport> reports);
/// A row of a table for people, and its headings: N, kernel, median, percentiles with `between` them, GFLOP/s
/// and share of the peak (where the yardstick was measured GB/s and share of reading), where PyTorch was
/// measured how many times as long that takes, workspace, model, `error`; or why it was not measured.
std::vector<std::string> point_columns(const BenchReport& shape, const std::string& spread,
                                       const std::string& error);
std::vector<std::string> point_cells(const BenchReport& shape, const Point& point, const std::string& between,
                                     const std::string& error);
/// For people: what was found, the machine, a table for each report, and how to repeat it.
std::string bench_to_markdown(std::span<const BenchReport> reports);

}  // namespace tilewalk
