// The page "Memory": what the N × N matrices need, what moves through HBM, and the roofline. One file for
// each panel; all numbers are those of one Study.
#pragma once

#include "app/ui/chapters/memory/form.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/chart.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Everything below the header.
void memory_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void memory_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void memory_hierarchy(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
void memory_table(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
void memory_traffic(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// For a drawing of this width.
Chart roofline_chart(const Theme& theme, const Study& study, float w);
void memory_roofline(const Canvas& canvas, const Study& study, const Rect& area);
void memory_controls(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// Fields for the user's own hardware.
void own_hardware_fields(const Canvas& canvas, AppState& state, const Rect& area);

// Shared drawing
/// Bytes that are held: "16 MiB", with decimals only where they say something.
std::string held_text(double bytes);
/// "40 GB", as data sheets print it
std::string capacity_text(double bytes);
/// "1.555 TB/s"
std::string rate_text(double bytes_per_second);
/// Length of a bar on a logarithmic scale, 0 … 1.
float log_part(double value, double lo, double hi);
/// One bar from left to right, a piece for each share that is wide enough to be seen.
float share_bar(const Canvas& canvas, const AlgorithmStudy& study, float x, float y, float h,
                double px_per_byte, float text_size);
/// "4.0× fewer", "1.5× more" than standard attention.
std::string compared(const Study& study, Algorithm algorithm);

}  // namespace tilewalk::ui
