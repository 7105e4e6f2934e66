// Cards that lie over the page: windows of ImGui without its furniture, drawn by us.
#pragma once

#include "app/ui/kit/items.h"

namespace tilewalk::ui {

/// Where a card of w × h hides as little as possible of `keep_free`: in a corner or at an edge of the window.
Rect place_card(float w, float h, float W, float H, const Rect& keep_free);
/// The middle of the window.
inline Rect centred(float w, float h, float W, float H) { return {(W - w) / 2, (H - h) / 2, w, h}; }
/// Clicked, and not on the card that is being drawn: a list closes.
bool clicked_beside();
/// Lays the windows of cards over each other in this order, lowest first. ImGui has on top what was touched
/// last.
void stack_cards(std::span<const char* const> names);

enum class Below { lit, dimmed };
/// Opens the window of a card and its panel; close_card() in any case. Over a dimmed page Tab stays in the
/// card.
bool open_card_window(const Canvas& canvas, const char* name, const Rect& area, Below below);
void close_card_window(bool open);

/// A card: `draw` gets the canvas of its window.
template <class Draw>
void show_card(const Canvas& main, const char* name, const Rect& area, Draw draw, Below below = Below::lit) {
    const bool open = open_card_window(main, name, area, below);
    if (open) draw(main.in_window());
    close_card_window(open);
}

}  // namespace tilewalk::ui
