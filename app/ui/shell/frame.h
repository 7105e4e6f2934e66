// The program in one function, which the window, the off-screen renderer and the tests call.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

class LetterTexture;
enum class Typefaces;

/// Lays out and draws one frame of the whole program into the current ImGui context. No window, no GPU.
void frame(AppState& state);
/// How long nothing will move by itself: 0 during a transition, the time to the next step while playing,
/// infinity when only the user can change something.
double idle_seconds(const AppState& state);
/// True while something moves: draw the next frame now.
bool animating(const AppState& state);
/// The scale of the fonts in the next frame (display × zoom; window height / 720 in presenter mode).
float ui_scale(const AppState& state, float window_width, float window_height);
/// Bakes what the next frame needs, between frames; true if the texture must be uploaded anew.
bool load_page_fonts(const AppState& state, float window_width, float window_height);
/// The same for a frame that does not wait (app/ui/kit/letters.h).
Typefaces load_page_letters(const AppState& state, float window_width, float window_height, double seconds,
                            LetterTexture* texture);

}  // namespace tilewalk::ui
