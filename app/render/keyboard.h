// Keys for the program without a window.
#pragma once

#include "app/ui/kit/key.h"

#include <functional>

namespace tilewalk {
namespace ui {
struct AppState;
}

/// Presses and releases a key in the current ImGui context, as the window would report it: a text field that
/// has the caret keeps what belongs to it. `frame` draws one.
void press_key(ui::AppState& state, const ui::KeyPress& press, const std::function<void()>& frame);

}  // namespace tilewalk
