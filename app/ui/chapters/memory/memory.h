// The page "Memory": what the N × N matrices need, what moves through HBM, and the roofline. One file for
// each panel; all numbers are those of one Study.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/chart.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"
#include "core/study/memory_study.h"

#include <array>

namespace tilewalk::ui {

// ---- What comes of the form, and what keys and clock do (form.cpp)

/// The hardware that is chosen; the user's own where its fields can be read, and for the rest the A100.
Hardware chosen_hardware(const MemoryForm& form);
/// True when a field of the user's own hardware holds a positive number below 10¹².
bool readable(const char* field);
StudyInput memory_input(const MemoryForm& form);

/// N to the next (+1) or previous (−1) power of two from 512 to 131 072 (further on: to 2²⁴).
void step_N(MemoryForm& form, int by);
/// Shows one kernel more (+1) or less (−1) of standard attention, and stops playing.
void step_trip(MemoryForm& form, int by);
void play_trips(MemoryForm& form);

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_memory_key(AppState& state, const KeyPress& press);
std::vector<Shortcut> memory_keys();
/// Lets the time of a frame pass.
void pass_memory_time(AppState& state, float seconds);
/// As idle_seconds: when something on the page will move by itself.
double memory_idle_seconds(const AppState& state);
/// How much of the last kernel's bytes is drawn, 0 … 1.
float trip_progress(const AppState& state);

// ---- What is drawn

/// Everything below the header.
void memory_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void memory_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void memory_hierarchy(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// Its drawing alone: SRAM above HBM above the host's memory.
void memory_levels(const Canvas& canvas, const Study& study, const Rect& area);
void memory_table(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
void memory_traffic(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// For a drawing of this width.
Chart roofline_chart(const Theme& theme, const Study& study, float w);
/// The place beside the traffic: what was chosen there, or what a tour points at.
void memory_plots(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
MemoryPlot memory_plot(const AppState& state);
void choose_memory_plot(const Canvas& canvas, AppState& state, const Rect& panel);
void memory_roofline(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// Bytes against the height of the tiles.
void memory_tile_height(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);
/// What a decoder keeps, against the number of key heads.
void memory_kv_cache(const Canvas& canvas, AppState& state, const Study& study, const Rect& area);

// Shared drawing
/// "1.555 TB/s"
std::string rate_text(double bytes_per_second);
/// A bar of bytes, `w` px long; one that goes on beyond its room ends in an arrow.
void size_bar(const Canvas& canvas, float x, float y, float w, float room, float h, bool fits, bool current);
/// Of rows with numbers and bars
struct RowsLook {
    float text, head, bar, most_pitch;
};
/// Rows of tile heights: what FlashAttention-2 moves, and standard attention's bytes over it, drawn to scale.
void tile_height_rows(const Canvas& canvas, const Study& study, const Rect& area, const RowsLook& look);
/// "From Br = 32 on …": where flash begins to move fewer bytes.
std::string height_that_pays(const Study& study, bool brief = false);
/// "Without a cache, 16 heads: Standard 22.2 ms, FlashAttention-1 8.70 ms, …", or the names of the ends
/// alone.
std::string best_times(const Study& study, bool brief);
/// What the lowest tile that does not fit needs, and what there is of that; empty where all fit.
std::string why_not_on_chip(const Study& study);
/// Rows of key heads: bytes of K and V of all tokens, drawn to scale.
void kv_cache_rows(const Canvas& canvas, const Study& study, const Rect& area, const RowsLook& look);
/// "Every new token reads all of it once, at best in …"
std::string cache_sentence(const Study& study, bool brief = false);
/// One bar from left to right, a piece for each share that is wide enough to be seen.
float share_bar(const Canvas& canvas, const AlgorithmStudy& study, float x, float y, float h,
                double px_per_byte, float text_size);
/// Of a bar what is too thin for its name, longer and shorter: "of which Q, O, L 4.26 MB"; empty: nothing.
std::vector<std::string> nameless_shares(const AlgorithmStudy& study, double px_per_byte, float text_size);
/// The longest of them that has room.
void draw_nameless(const Canvas& canvas, const std::vector<std::string>& words, float x, float right, float y,
                   float size);
/// "4.0× fewer", "1.5× more" than standard attention.
std::string compared(const Study& study, Algorithm algorithm);

}  // namespace tilewalk::ui
