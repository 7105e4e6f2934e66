// The page "Kernel and CPU": a kernel's own numbers beside the CPU's walk of the same tiles. One file for
// each panel; every number is one of a KernelComparison.
#pragma once

#include "app/ui/chapters/compare/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Everything below the header.
void compare_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void compare_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void compare_verdict(const Canvas& canvas, AppState& state, const Rect& area);
void compare_rows(const Canvas& canvas, AppState& state, const Rect& area);
void compare_map(const Canvas& canvas, AppState& state, const Rect& area);
/// In the place of these three as long as nothing was compared.
void compare_to_come(const Canvas& canvas, AppState& state, const Rect& area);
/// Kernel, type, device, fault, problem: the line at the top.
void compare_choices(const Canvas& canvas, AppState& state, const Rect& area);
/// Run, cancel, how far it is, the file.
void compare_controls(const Canvas& canvas, AppState& state, const Rect& area);
/// What runs, or what is shown.
std::string compare_status(const AppState& state);

// Small parts
/// Where it ran: "emulator, runs the kernel's source on the CPU", "NVIDIA H200".
std::string device_text(const KernelRun& run);
/// "0.40 ×"; of many times without decimals.
std::string times_text(double ratio);
/// The verdict and its rule in one sentence: "0.40 × the error of standard attention in bf16; the rule: 2 ×
/// and 2 roundings". `brief`: without the format.
std::string verdict_words(const KernelComparison& comparison, bool brief = false);
/// What the two sides are called everywhere, wherever the kernel ran.
constexpr const char *cpu_side = "CPU", *kernel_side = "kernel";
/// So many significant digits.
std::string significant(double x, int digits, bool zeros = false);
/// A float with as many digits as it takes, and where it begins to differ from the other.
struct Digits {
    std::string text;
    std::size_t same = 0;  ///< bytes that both have in common
};
Digits digits_of(double x, double other, int digits = 9);
/// The number with the digits that differ on a bright ground. Returns the width.
float draw_digits(const Canvas& canvas, float x, float y, const Digits& digits, float size);
/// "0", "1.5", "12", "8e3": units of the last place, shortly; where they have room "8 389".
std::string ulp_text(double ulp);
std::string ulp_count(double ulp);
/// What was found, as a sentence.
std::string finding_words(const KernelComparison& comparison);
/// The error, standard attention's and the limit, as lengths; above it the ratio of the first two.
void error_gauge(const Canvas& canvas, const OutputVerdict& verdict, const Rect& area, float size);
/// Cells of the map as colours; at most so many rows and columns as have room, the largest of each group.
/// Returns the rectangle that was filled.
Rect heat_map(const Canvas& canvas, const Map& map, const Rect& area);
/// What its rows and columns are, outside of what was filled: "query" at the left, "column" or "key" above,
/// with their numbers; of the rows only `told` and the last, if it is one.
void map_axes(const Canvas& canvas, const AppState& state, const Map& map, const Rect& filled, float size,
              int told = -1);
/// The room that they take there.
constexpr float axis_left(float size) { return size * 4.2f; }
constexpr float axis_top(float size) { return size * 1.5f; }
/// "How far O is from fp64"
Line map_title(const Map& map);
/// The colours in one line, from the least difference to the largest; nothing where they have no room.
void map_scale(const Canvas& canvas, const Map& map, const Rect& area, float size);
/// Which colour is how far, and where the rule's limit lies, with text of this size.
void map_legend(const Canvas& canvas, const Map& map, const Rect& area, float size);
/// A frame round a cell, seen on every colour of the map, and beside it how far it is, within `room`; where
/// no cell differs, words that say so.
void mark_cell(const Canvas& canvas, const AppState& state, const Map& map, const MapCell& at,
               const Rect& filled, const Rect& room, float size, bool with_number = true);
/// "7 of 16 384 cells differ", "all as the CPU has it"
/// `explained`: by rounding alone, in the words of the finding.
std::string unlike_words(const Map& map, bool explained = false);
/// The place of a cell in it.
Rect heat_cell(const Map& map, const Rect& filled, int row, int column);

}  // namespace tilewalk::ui
