#include "app/ui/kit/key_events.h"
#include "app/window/events.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <string_view>

namespace tilewalk {
namespace {

using ui::Key;

// Keys with the same place and meaning on every keyboard.
std::optional<Key> fixed_key(int key) {
    switch (key) {
    case GLFW_KEY_LEFT: return Key::left;
    case GLFW_KEY_RIGHT: return Key::right;
    case GLFW_KEY_UP: return Key::up;
    case GLFW_KEY_DOWN: return Key::down;
    case GLFW_KEY_HOME: return Key::home;
    case GLFW_KEY_END: return Key::end;
    case GLFW_KEY_PAGE_UP: return Key::page_up;
    case GLFW_KEY_PAGE_DOWN: return Key::page_down;
    case GLFW_KEY_SPACE: return Key::space;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER: return Key::enter;
    case GLFW_KEY_ESCAPE: return Key::escape;
    case GLFW_KEY_TAB: return Key::tab;
    case GLFW_KEY_BACKSPACE: return Key::backspace;
    case GLFW_KEY_DELETE: return Key::del;
    case GLFW_KEY_KP_ADD: return Key::plus;
    case GLFW_KEY_KP_SUBTRACT: return Key::minus;
    case GLFW_KEY_KP_0: return Key::zero;
    case GLFW_KEY_F1: return Key::f1;
    case GLFW_KEY_F2: return Key::f2;
    case GLFW_KEY_F5: return Key::f5;
    case GLFW_KEY_F9: return Key::f9;
    case GLFW_KEY_F10: return Key::f10;
    case GLFW_KEY_F11: return Key::f11;
    default: return std::nullopt;
    }
}

// What the key prints in the user's layout. A key that prints no ASCII sign (a Greek letter, the 'à' on the
// French zero) counts as what it would be on an American keyboard; GLFW numbers those by their ASCII sign.
char printed_character(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    const std::string_view printed = name ? name : "";
    const bool ascii = printed.size() == 1 && printed[0] > ' ' && printed[0] < 127;
    if (ascii) return ui::lower_case(printed[0]);
    return key > ' ' && key < 127 ? ui::lower_case(static_cast<char>(key)) : '\0';
}

}  // namespace

std::optional<ui::KeyPress> key_press(int key, int scancode, int action, int mods, bool typing) {
    if (action == GLFW_RELEASE || (mods & GLFW_MOD_SUPER) != 0) return std::nullopt;
    const std::optional<Key> fixed = fixed_key(key);
    const std::optional<Key> known = fixed ? fixed : ui::key_labelled(printed_character(key, scancode));
    if (!known) return std::nullopt;
    const ui::KeyPress press{*known, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_CONTROL) != 0,
                             (mods & GLFW_MOD_ALT) != 0};
    return ui::press_meant(press, action == GLFW_REPEAT, typing);
}

}  // namespace tilewalk
