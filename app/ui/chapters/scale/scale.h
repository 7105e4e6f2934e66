// The page "At scale": real kernels on large problems, what they took, and what they needed. One file for
// each panel; every number is one of a report.
#pragma once

#include "app/ui/chapters/scale/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Everything below the header.
void scale_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void scale_presenter(const Canvas& canvas, AppState& state, float W, float H);
/// The slide `by` further there, as far as there is one.
ScaleSlide slide_beside(ScaleSlide slide, int by);

// The panels
void scale_ladder(const Canvas& canvas, AppState& state, const Rect& area);
void scale_sizes(const Canvas& canvas, AppState& state, const Rect& area);
void scale_table(const Canvas& canvas, AppState& state, const Rect& area);
void scale_controls(const Canvas& canvas, AppState& state, const Rect& area);
/// Lays them out where something changed, and draws them with what is chosen.
void scale_time_plot(const Canvas& canvas, AppState& state, const Rect& area);
void scale_memory_plot(const Canvas& canvas, AppState& state, const Rect& area);
/// The heights that ladder and table ask for.
float scale_table_height(const AppState& state, float room);
/// The full record of the point under the mouse, or of the chosen one.
void scale_card(const Canvas& canvas, AppState& state, float W, float H);
/// Chooses what a record is of.
void choose_record(AppState& state, int number);

// Small parts
enum class Sign { verified, failed, none, pending };
/// Ring with a tick, danger diamond with a cross, dashed ring with a line, dashed ring.
void draw_sign(const Canvas& canvas, Sign sign, float x, float y);

// ---- Words and looks that several panels share (text.cpp, plots.cpp)

/// "forward, f32, d = 64, 8 heads, causal"
std::string shape_text(const Workload& workload);
/// "this run" or "recorded: results.json, AMD EPYC, 2026-11-21 22:10, commit 1a2b3c4"
std::string origin_text(const ShownReport& shown);
/// What it ran on: "AMD EPYC, 2 threads"; empty where the report does not say.
std::string machine_text(const BenchReport& report);
/// A kernel of the CPU's ladder by the words that its title begins with: "flash, simple"; others by name.
std::string kernel_words(const std::string& kernel);
/// The last part of a path.
std::string file_name(const std::string& path);
/// Times that stand in one column have one unit, so that they compare at a glance: 830 ms below 1060 ms.
struct TimeUnit {
    double seconds = 1;
    const char* name = "s";
};
TimeUnit unit_of_times(const std::vector<double>& seconds);
std::string time_text(double seconds, const TimeUnit& unit);
/// Of what a report has measured at a length.
TimeUnit unit_at(const ShownReport& shown, std::int64_t N);
/// What a cell of the table says: a time, or why there is none.
std::string cell_text(const Record* record, const TimeUnit& unit);
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

/// Whether the chosen report, or what the form asks for, is of few queries: what counts is the rate of
/// reading.
bool shows_decoding(const AppState& state);

/// The two plots. Of a report of rings they are over its ranks, at the chosen length (ring_plots.cpp).
Chart time_chart(const Theme& theme, const AppState& state);
Chart memory_chart(const Theme& theme, AppState& state);
bool has_ring(const ShownReport* shown);
/// That of a ring says how its sequence is cut; none for other kernels.
std::optional<KernelLook> ring_look(const Theme& theme, const std::string& kernel);
Chart ring_time_chart(const Theme& theme, const AppState& state, const ShownReport& shown);
Chart ring_memory_chart(const Theme& theme, const AppState& state, const ShownReport& shown);

}  // namespace tilewalk::ui
