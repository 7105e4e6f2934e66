// Keys that the program answers to, by what they print and by their names. The window translates its own
// events; tests push key presses directly.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

enum class Key {
    left,
    right,
    up,
    down,
    home,
    end,
    page_up,
    page_down,
    space,
    enter,
    escape,
    tab,
    backspace,
    del,
    plus,
    minus,
    zero,
    question,
    one,
    two,
    three,
    four,
    five,
    six,
    seven,
    eight,
    nine,
    period,
    colon,
    f1,
    f2,
    f5,
    f9,
    f10,
    f11,
    a,
    b,
    c,
    d,
    e,
    f,
    g,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    o,
    p,
    q,
    r,
    s,
    t,
    u,
    v,
    w,
    x,
    y,
    z
};

struct KeyPress {
    Key key;
    bool shift = false, ctrl = false, alt = false;
};

/// A line of the list of keys.
struct Shortcut {
    const char* group;                   ///< "Walk"; those of a group follow each other
    const char* keys;                    ///< as shown: "Shift →"
    const char* action;                  ///< "next tile"
    std::vector<KeyPress> presses = {};  ///< what `keys` means
};

/// 1 … 9 of a key with a digit; 0 of any other.
constexpr int digit_of(Key key) {
    return key < Key::one || key > Key::nine ? 0 : static_cast<int>(key) - static_cast<int>(Key::one) + 1;
}
/// Arrows, Home, End, Page Up and Page Down.
constexpr bool is_direction(Key key) { return key <= Key::page_down; }
/// '\0' if it prints nothing.
char printed_by(Key key);
std::optional<Key> key_printing(char lower_case);
/// It prints one of these.
bool prints_one_of(Key key, std::string_view letters);

/// "q", "?", "right", "shift+n", "ctrl+shift+tab".
std::optional<KeyPress> press_named(std::string_view name);

/// A shortcut even where a text field has the caret, which keeps all the others.
bool works_while_typing(const KeyPress& press);

}  // namespace tilewalk::ui
