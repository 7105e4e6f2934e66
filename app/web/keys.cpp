#include "app/web/keys.h"

#include "app/ui/kit/key_events.h"

#include <imgui.h>

#include <algorithm>
#include <string_view>

namespace tilewalk::web {
namespace {

using ui::Key;

// Keys with the same place and meaning on every keyboard.
constexpr std::pair<std::string_view, Key> fixed_keys[] = {{"ArrowLeft", Key::left},
                                                           {"ArrowRight", Key::right},
                                                           {"ArrowUp", Key::up},
                                                           {"ArrowDown", Key::down},
                                                           {"Home", Key::home},
                                                           {"End", Key::end},
                                                           {"PageUp", Key::page_up},
                                                           {"PageDown", Key::page_down},
                                                           {" ", Key::space},
                                                           {"Enter", Key::enter},
                                                           {"Escape", Key::escape},
                                                           {"Tab", Key::tab},
                                                           {"Backspace", Key::backspace},
                                                           {"Delete", Key::del},
                                                           {"+", Key::plus},
                                                           {"-", Key::minus},
                                                           {"F1", Key::f1},
                                                           {"F2", Key::f2},
                                                           {"F9", Key::f9},
                                                           {"F10", Key::f10},
                                                           {"F11", Key::f11}};

// By which ImGui's text fields go
constexpr std::pair<std::string_view, ImGuiKey_> editing_keys[] = {{"ArrowLeft", ImGuiKey_LeftArrow},
                                                                   {"ArrowRight", ImGuiKey_RightArrow},
                                                                   {"ArrowUp", ImGuiKey_UpArrow},
                                                                   {"ArrowDown", ImGuiKey_DownArrow},
                                                                   {"PageUp", ImGuiKey_PageUp},
                                                                   {"PageDown", ImGuiKey_PageDown},
                                                                   {"Home", ImGuiKey_Home},
                                                                   {"End", ImGuiKey_End},
                                                                   {"Insert", ImGuiKey_Insert},
                                                                   {"Delete", ImGuiKey_Delete},
                                                                   {"Backspace", ImGuiKey_Backspace},
                                                                   {" ", ImGuiKey_Space},
                                                                   {"Enter", ImGuiKey_Enter},
                                                                   {"Escape", ImGuiKey_Escape},
                                                                   {"Tab", ImGuiKey_Tab},
                                                                   {"a", ImGuiKey_A},
                                                                   {"c", ImGuiKey_C},
                                                                   {"x", ImGuiKey_X},
                                                                   {"y", ImGuiKey_Y},
                                                                   {"z", ImGuiKey_Z}};

// What the key prints in the reader's layout; one that prints no ASCII sign counts as what it would be on an
// American keyboard, by its place.
char printed_character(const KeyEvent& event) {
    if (event.printed.size() == 1 && event.printed[0] > ' ' && event.printed[0] < 127)
        return ui::lower_case(event.printed[0]);
    const std::string_view code = event.code;
    if (event.printed.size() > 4 || event.printed == "Dead") {
        if (event.printed != "Dead") return '\0';  // "Shift", "CapsLock"
    }
    if (code.starts_with("Key") && code.size() == 4) return ui::lower_case(code[3]);
    if (code.starts_with("Digit") && code.size() == 6) return code[5];
    return '\0';
}

std::optional<Key> known_key(const KeyEvent& event) {
    const auto* const found = std::ranges::find(fixed_keys, std::string_view(event.printed),
                                                [](const auto& row) { return row.first; });
    if (found != std::end(fixed_keys)) return found->second;
    if (event.code == "Numpad0" || event.printed == "0") return Key::zero;
    // With Shift a digit prints something else, and is meant all the same.
    const char shifted =
        (event.modifiers & with_shift) != 0 && event.code.starts_with("Digit") ? event.code[5] : '\0';
    const char character = shifted != '\0' ? shifted : printed_character(event);
    return character == '\0' ? std::nullopt : ui::key_labelled(character);
}

}  // namespace

bool belongs_to_browser(const KeyEvent& event) {
    const bool command = (event.modifiers & (with_ctrl | with_meta)) != 0;
    if (event.printed == "F5" || event.printed == "F12" || event.printed == "F6" || event.printed == "F11")
        return true;
    if (event.printed == "Insert" && (event.modifiers & with_shift) != 0) return true;  // pastes
    if (!command) return false;
    const char c = printed_character(event);
    // New and closed windows and tabs, reload, address, zoom; copying and pasting arrive as events of their
    // own.
    return std::string_view("nwtrjulp+-0v").find(c) != std::string_view::npos && c != '\0' &&
           !(c == 'l' && (event.modifiers & with_ctrl) != 0);
}

std::optional<ui::KeyPress> key_press(const KeyEvent& event, bool typing) {
    if ((event.modifiers & with_meta) != 0 || belongs_to_browser(event)) return std::nullopt;
    const std::optional<Key> known = known_key(event);
    if (!known) return std::nullopt;
    const ui::KeyPress press{*known, (event.modifiers & with_shift) != 0, (event.modifiers & with_ctrl) != 0,
                             (event.modifiers & with_alt) != 0};
    return ui::press_meant(press, event.again, typing);
}

int editing_key(const KeyEvent& event) {
    if (belongs_to_browser(event)) return -1;
    std::string name = event.printed;
    if (name.size() == 1) name[0] = ui::lower_case(name[0]);
    const auto* const found =
        std::ranges::find(editing_keys, std::string_view(name), [](const auto& row) { return row.first; });
    return found == std::end(editing_keys) ? -1 : static_cast<int>(found->second);
}

}  // namespace tilewalk::web
