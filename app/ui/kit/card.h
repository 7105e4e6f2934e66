// Cards that lie over the page: windows of ImGui without its furniture, drawn by us.
#pragma once

#include "app/ui/kit/items.h"
#include "app/ui/kit/key.h"

#include <array>
#include <functional>
#include <span>

namespace tilewalk::ui {

/// Where a card of w × h may lie: in the corners and at the edges of the window, best first.
std::array<Rect, 8> card_places(float w, float h, float W, float H);
/// How much of `keep_free` a card would cover, px².
float hidden_by(const Rect& card, std::span<const Rect> keep_free);
/// The middle of the window.
inline Rect centred(float w, float h, float W, float H) { return {(W - w) / 2, (H - h) / 2, w, h}; }
/// Clicked, and not on the card that is being drawn: a list closes.
bool clicked_beside();
/// Lays the windows of cards over each other, lowest first. ImGui has on top what was touched last.
void stack_cards(std::span<const char* const> names);

enum class Below { lit, dimmed };
/// A window of its own and a panel in it; `draw` gets its canvas. Over a dimmed page Tab stays in the card.
void show_card(const Canvas& main, const char* name, const Rect& area,
               const std::function<void(const Canvas&)>& draw, Below below = Below::lit);

// ---- What is typed to find something in a card. It takes the characters while the card is open, without a
// caret to be placed first, so that arrow keys and Escape stay with the card.

/// Takes the characters of this frame; true if the text changed. Nothing while a text field has the caret.
bool type_into(std::string& text);
/// Backspace, and letters and digits, which arrive as characters as well; false if the key is none of these.
bool answer_search_key(std::string& text, const KeyPress& press);
/// A field with what was typed, or the hint. `name`: in the list of what a frame showed.
void draw_search(const Canvas& canvas, const char* name, float x, float y, float w, float h,
                 const std::string& text, const char* hint);

}  // namespace tilewalk::ui
