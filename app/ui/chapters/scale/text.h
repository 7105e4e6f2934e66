// Words and looks that several panels of the page about large problems share.
#pragma once

#include "app/ui/chapters/scale/page.h"

namespace tilewalk::ui {

/// "forward, d = 64, 8 heads, causal"
std::string shape_text(const Workload& workload);
/// "this run" or "recorded: results.json, AMD EPYC, 2026-11-21 22:10, commit 1a2b3c4"
std::string origin_text(const ShownReport& shown);
/// The last part of a path.
std::string file_name(const std::string& path);
/// 0.249, 16.3, 1 204: milliseconds without their unit.
std::string ms_text(double seconds);
/// What a cell of the table says: a time, or why there is none.
std::string cell_text(const Record* record);
/// The largest error of a kernel as a part of what the rule allows; 0 if nothing was verified.
double largest_error(const ShownReport& shown, const std::string& kernel);
/// How many times as fast as standard attention at that length; 0 if it cannot be told.
double times_as_fast(const ShownReport& shown, const std::string& kernel, std::int64_t N);
/// The table and the finding, for the clipboard.
std::string scale_as_text(AppState& state);

/// Colour and shape of a kernel, the same in plots, ladder and table.
struct KernelLook {
    ImU32 colour = 0;
    Marker marker = Marker::none;
};
KernelLook kernel_look(const Theme& theme, const AppState& state, const std::string& kernel);

/// The two plots.
Chart time_chart(const Theme& theme, const AppState& state);
Chart memory_chart(const Theme& theme, AppState& state);

}  // namespace tilewalk::ui
