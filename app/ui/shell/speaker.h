// The speaker's view (app/ui/state/speaker.h): its window, its panel beside the page, its keys.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/speaker.h"

namespace tilewalk::ui {

class LetterTexture;
enum class Typefaces;

// ---- A window of its own

/// Lays out and draws one frame of the window into the current ImGui context. Keys that are not the view's
/// own go to the page.
void speaker_frame(AppState& state);
/// Bakes what that frame needs, in the current context; true if the texture must be uploaded anew.
bool load_speaker_fonts(const AppState& state, float display_scale, float width, float height);

/// The same for a frame that does not wait (app/ui/kit/letters.h).
Typefaces load_speaker_letters(const AppState& state, float display_scale, float width, float height,
                               double seconds, LetterTexture* texture);

// ---- A panel at the right of the page

/// What is left of the window for the page; all of it where there is no panel. Device px.
float page_width(const AppState& state, float width, float height);
/// Sizes that the panel needs beside those of the page, which are baked for `scale`.
std::vector<FontSize> panel_fonts(const AppState& state, float scale, float width, float height);
void speaker_panel(const Canvas& page, AppState& state);

/// True if the key is one of the view's own: those that open and close it, and others while it is open.
bool answer_speaker_key(AppState& state, const KeyPress& press);
/// The picker, while it is open, has most keys. True if the key was for it.
bool answer_picker_key(AppState& state, const KeyPress& press);

}  // namespace tilewalk::ui
