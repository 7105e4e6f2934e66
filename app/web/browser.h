// What the page asks of the browser (page.js answers).
#pragma once

namespace tilewalk::web {

void copy_text(const char* text);
/// The mouse's shape as an ImGuiMouseCursor; `typing`: a text field has the caret, so that a screen keyboard
/// is wanted.
void show_cursor(int cursor, bool typing);

/// The file of settings was written: it goes where the browser keeps it.
void store_settings();

}  // namespace tilewalk::web
