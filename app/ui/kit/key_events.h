// What window and page make of the events of their keyboards alike.
#pragma once

#include "app/ui/kit/key.h"

namespace tilewalk::ui {

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The key that carries this sign. '=' is the one with '+' on an American keyboard; question mark and colon
/// arrive as characters, because only the layout knows where they lie.
inline std::optional<Key> key_labelled(char label) {
    if (label == '=') return Key::plus;
    return label == '?' || label == ':' ? std::nullopt : key_printing(label);
}

/// Held down, it goes on.
constexpr bool repeats(Key key) {
    return key == Key::left || key == Key::right || key == Key::up || key == Key::down ||
           key == Key::page_up || key == Key::page_down;
}

/// The press, unless a key that does not repeat is held down, or a text field has the keyboard and keeps it.
inline std::optional<KeyPress> press_meant(const KeyPress& press, bool held, bool typing) {
    if ((held && !repeats(press.key)) || (typing && !works_while_typing(press))) return std::nullopt;
    return press;
}

}  // namespace tilewalk::ui
