// The page Inside: the run of a kernel, warp by warp, lane by lane. One file for each panel; every number is
// one of the record (core/inside).
#pragma once

#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"
#include "core/inside/accesses.h"

namespace tilewalk::ui {

/// Everything below the header.
void inside_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void inside_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void inside_source(const Canvas& canvas, AppState& state, const Rect& area);
void inside_registers(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
void inside_memory(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
void inside_step(const Canvas& canvas, AppState& state, const Rect& area);
void inside_warps(const Canvas& canvas, AppState& state, const Rect& area);

// Small parts
/// How large letters are, and how thick lines: for a desk or for the back row.
struct InsideLook {
    float small = size::small, number = size::small, line = 1;
    bool far = false;
};
/// A × B += C with what the chosen lane holds, and what the chosen cell needs. Below 24 px a row has no
/// letters.
void draw_product(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                  const InsideLook& look);
/// What lanes took or gave: 8 × 4, so that a quad is a row.
void draw_lanes(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const InsideLook& look);
/// An access to shared memory: who asks which bank, and how often each is asked.
void draw_banks(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const inside::Event& event, const InsideLook& look);
/// An access to device memory: lines of 128 bytes, their sectors, and the words that were asked for.
void draw_sectors(const Canvas& canvas, const AppState& state, const Rect& area, const InsidePlace& at,
                  const inside::Event& event, const InsideLook& look);
/// Lanes of the warps, copies behind them, barriers; clicking goes there.
void draw_warps(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const InsideLook& look);

/// The cell of C that the formula is of.
inside::FragmentCell cell_inside(const AppState& state);
/// Row and column of a cell of C in its whole matrix, where that is known; else in its fragment.
bool knows_place_inside(const InsidePlace& at);
inside::FragmentCell index_inside(const InsidePlace& at, inside::FragmentCell cell);
/// The hue of what an event is about; a quiet grey where that is not known.
ImU32 hue_of(const Theme& theme, inside::Matter matter);
/// "Q", "K" with the letters of formulas, and what stands for a part of a product.
Line matter_line(inside::Matter matter, const char* otherwise);
/// What the panel of memory shows at this step: its own access, or the one that filled the registers.
struct ShownAccess {
    const inside::Event* event = nullptr;
    int steps_ago = 0;
};
ShownAccess shown_access(const InsidePlace& at);

}  // namespace tilewalk::ui
