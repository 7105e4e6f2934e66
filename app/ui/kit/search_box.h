// What is typed to find something in a card. It takes the characters while the card is open, without a caret
// to be placed first, so that arrow keys and Escape stay with the card.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/key.h"

#include <string>

namespace tilewalk::ui {

/// Takes the characters of this frame; true if the text changed. Nothing while a text field has the caret.
bool type_into(std::string& text);
/// Backspace, and letters and digits, which arrive as characters as well; false if the key is none of these.
bool answer_search_key(std::string& text, const KeyPress& press);
/// A field with what was typed, or the hint. `name`: in the list of what a frame showed.
void draw_search(const Canvas& canvas, const char* name, float x, float y, float w, float h,
                 const std::string& text, const char* hint);

}  // namespace tilewalk::ui
