// The start page: one picture of the algorithm, of which every part is a door, the moments, and what to begin
// or to go on with.
#pragma once

#include "app/ui/chapters/start/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

struct Chapter;
struct Moment;

/// Everything below the header.
void start_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void start_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
/// The algorithm, and the chapters that hang on it.
void start_algorithm(const Canvas& canvas, AppState& state, const Rect& area);
void start_moments(const Canvas& canvas, AppState& state, const Rect& area);
/// The tour, what was left, what can be opened.
void start_side(const Canvas& canvas, AppState& state, const Rect& area);

// What both views share
/// The picture itself, on stage with letters for the back row.
void draw_algorithm(const Canvas& canvas, AppState& state, const Rect& area, bool big);
/// A part of the picture that opens the n-th chapter: its frame, number and title. Returns what they leave.
Rect draw_door(const Canvas& canvas, AppState& state, std::size_t n, const Rect& area, bool big);
bool moment_card(const Canvas& canvas, StartPage& page, const Moment& moment, const Rect& area, bool big);
/// To be pressed, and found by the arrow keys.
Hot start_spot(const Canvas& canvas, StartPage& page, const std::string& id, const Rect& area);
/// A button with its key at the right. True when pressed.
bool key_button(const Canvas& canvas, StartPage& page, const std::string& id, const Rect& area,
                const char* label, const char* key, bool primary, const char* tooltip);
/// "Flash forward, step 17 of 40: Row sum", or the page that was left.
std::string left_place(const AppState& state);
std::string continue_label(const AppState& state);

}  // namespace tilewalk::ui
