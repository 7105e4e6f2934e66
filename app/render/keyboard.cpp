// Keys for the program without a window.
#include "app/render/offscreen.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/state/app_state.h"

namespace tilewalk {
namespace {

using ui::Key;

// The keys of ours that ImGui's text fields react to.
std::optional<ImGuiKey> imgui_key(Key key) {
    switch (key) {
    case Key::left: return ImGuiKey_LeftArrow;
    case Key::right: return ImGuiKey_RightArrow;
    case Key::up: return ImGuiKey_UpArrow;
    case Key::down: return ImGuiKey_DownArrow;
    case Key::home: return ImGuiKey_Home;
    case Key::end: return ImGuiKey_End;
    case Key::enter: return ImGuiKey_Enter;
    case Key::escape: return ImGuiKey_Escape;
    case Key::tab: return ImGuiKey_Tab;
    case Key::backspace: return ImGuiKey_Backspace;
    case Key::del: return ImGuiKey_Delete;
    case Key::a: return ImGuiKey_A;
    case Key::c: return ImGuiKey_C;
    case Key::v: return ImGuiKey_V;
    case Key::y: return ImGuiKey_Y;
    case Key::z: return ImGuiKey_Z;
    default: return std::nullopt;
    }
}

}  // namespace

void press_key(ui::AppState& state, const ui::KeyPress& press, const std::function<void()>& frame) {
    if (!ImGui::GetIO().WantTextInput || ui::works_while_typing(press)) state.keys.push_back(press);
    const char printed = ui::printed_by(press.key);
    if (printed && !press.ctrl && !press.alt) ui::send_text({&printed, 1});
    const auto key = imgui_key(press.key);
    if (press.ctrl) ui::send_ctrl(true);
    if (key) ui::send_key(*key, true);
    frame();
    if (key) ui::send_key(*key, false);
    if (press.ctrl) ui::send_ctrl(false);
    // Windows of ImGui know their content's size one frame late.
    for (int n = 0; n < 2; ++n) frame();
}

}  // namespace tilewalk
