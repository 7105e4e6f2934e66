// Keys by what they print and by their names.
#pragma once

#include "app/ui/state/app_state.h"

#include <optional>
#include <string_view>

namespace tilewalk::ui {

/// '\0' if it prints nothing.
char printed_by(Key key);
std::optional<Key> key_printing(char lower_case);

/// "q", "?", "right", "shift+n", "ctrl+shift+tab".
std::optional<KeyPress> press_named(std::string_view name);

/// A shortcut even where a text field has the caret, which keeps all the others.
bool works_while_typing(const KeyPress& press);

}  // namespace tilewalk::ui
