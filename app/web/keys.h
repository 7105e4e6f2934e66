// What a key of the browser means to the program.
#pragma once

#include "app/ui/kit/key.h"

#include <optional>
#include <string>

namespace tilewalk::web {

enum Modifiers { with_shift = 1, with_ctrl = 2, with_alt = 4, with_meta = 8 };

/// A KeyboardEvent: `printed` is its key ("a", "ArrowLeft"), `code` its place ("KeyA").
struct KeyEvent {
    std::string printed, code;
    int modifiers = 0;
    bool again = false;  ///< held down
};

/// The press that it means, or nothing: a repeat of a key that does not repeat, a key that the program does
/// not know. `typing`: a text field has the keyboard and keeps what belongs to it.
std::optional<ui::KeyPress> key_press(const KeyEvent& event, bool typing);
/// The ImGuiKey by which its text fields know it, or −1.
int editing_key(const KeyEvent& event);
/// Reload, close, address, zoom, developer's tools and what only the clipboard needs: never swallowed.
bool belongs_to_browser(const KeyEvent& event);

}  // namespace tilewalk::web
