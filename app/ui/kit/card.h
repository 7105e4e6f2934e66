// Cards that lie over the page: windows of ImGui without its furniture, drawn by us.
#pragma once

#include "app/ui/kit/items.h"

#include <functional>

namespace tilewalk::ui {

/// Where a card of w × h hides as little as possible of `keep_free`: in a corner or at an edge of the window.
Rect place_card(float w, float h, float W, float H, const Rect& keep_free);
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

}  // namespace tilewalk::ui
