// GLFW's keys as the program's keys, by what is printed on the user's own keyboard.
#pragma once

#include "app/ui/kit/key.h"

#include <optional>

namespace tilewalk {

/// The press that a GLFW key event means, or nothing: a release, a repeat of a key that does not repeat, a
/// key that the program does not know. `typing`: a text field has the keyboard and keeps what belongs to it.
/// The question mark arrives as a character, not here.
std::optional<ui::KeyPress> key_press(int key, int scancode, int action, int mods, bool typing);

}  // namespace tilewalk
