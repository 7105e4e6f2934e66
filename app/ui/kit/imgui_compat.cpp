#include "app/ui/kit/imgui_compat.h"

#include <imgui_internal.h>

#include <cmath>
#include <cstring>
#include <string>

namespace tilewalk::ui {

#if IMGUI_VERSION_NUM >= 19200

namespace {
ImFontBaked* baked(const ImFont* font) { return const_cast<ImFont*>(font)->GetFontBaked(font->LegacySize); }
}  // namespace

float line_height(const ImFont* font) { return font->LegacySize; }
float ascent(const ImFont* font) { return baked(font)->Ascent; }
float glyph_advance(const ImFont* font, unsigned code_point) {
    return baked(font)->GetCharAdvance(static_cast<ImWchar>(code_point));
}
bool has_glyph(const ImFont* font, unsigned code_point) {
    return baked(font)->FindGlyphNoFallback(static_cast<ImWchar>(code_point)) != nullptr;
}
void push_font(ImFont* font) { ImGui::PushFont(font, font->LegacySize); }

#else

float line_height(const ImFont* font) { return font->FontSize; }
float ascent(const ImFont* font) { return font->Ascent; }
float glyph_advance(const ImFont* font, unsigned code_point) {
    return font->GetCharAdvance(static_cast<ImWchar>(code_point));
}
bool has_glyph(const ImFont* font, unsigned code_point) {
    return font->FindGlyphNoFallback(static_cast<ImWchar>(code_point)) != nullptr;
}
void push_font(ImFont* font) { ImGui::PushFont(font); }

#endif

AtlasPixels atlas_pixels(ImFontAtlas& atlas) {
    AtlasPixels out;
    unsigned char* texels = nullptr;
    atlas.GetTexDataAsAlpha8(&texels, &out.width, &out.height);
    out.alpha = texels;
    return out;
}

#if IMGUI_VERSION_NUM >= 18700

void send_mouse_position(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }
void send_mouse_button(int button, bool down) { ImGui::GetIO().AddMouseButtonEvent(button, down); }
void send_mouse_wheel(float dx, float dy) { ImGui::GetIO().AddMouseWheelEvent(dx, dy); }
void send_key(ImGuiKey key, bool down) { ImGui::GetIO().AddKeyEvent(key, down); }
void send_ctrl(bool down) { ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, down); }
void map_keys_without_window() {}

#else

void send_mouse_position(float x, float y) { ImGui::GetIO().MousePos = {x, y}; }
void send_mouse_button(int button, bool down) {
    if (button >= 0 && button < 5) ImGui::GetIO().MouseDown[button] = down;
}
void send_mouse_wheel(float dx, float dy) {
    ImGui::GetIO().MouseWheelH += dx;
    ImGui::GetIO().MouseWheel += dy;
}
void send_key(ImGuiKey key, bool down) {
    ImGuiIO& io = ImGui::GetIO();
    if (key >= 0 && key < ImGuiKey_COUNT && io.KeyMap[key] >= 0) io.KeysDown[io.KeyMap[key]] = down;
}
void send_ctrl(bool down) { ImGui::GetIO().KeyCtrl = down; }
void map_keys_without_window() {
    for (int key = 0; key < ImGuiKey_COUNT; ++key) ImGui::GetIO().KeyMap[key] = key;
}

#endif

void send_text(std::string_view utf8) { ImGui::GetIO().AddInputCharactersUTF8(std::string(utf8).c_str()); }

bool keyboard_focus_visible() {
#if IMGUI_VERSION_NUM >= 19140
    return ImGui::GetCurrentContext()->NavCursorVisible;
#else
    return !ImGui::GetCurrentContext()->NavDisableHighlight;
#endif
}

bool enter_pressed() {
#if IMGUI_VERSION_NUM >= 18700
    return ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
#else
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)) ||
           ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter));
#endif
}

ImGuiID last_item() { return ImGui::GetItemID(); }

ImGuiID active_item() { return ImGui::GetCurrentContext()->ActiveId; }

void release_active_item() { ImGui::ClearActiveID(); }

void forget_edits_of_other_text(ImGuiID item, const char* text) {
#if IMGUI_VERSION_NUM < 19200
    ImGuiInputTextState& edits = ImGui::GetCurrentContext()->InputTextState;
    if (edits.ID != item || item == active_item() || edits.TextW.empty()) return;
    // As ImGui keeps it while it is edited
    ImVector<ImWchar> wide;
    wide.resize(edits.TextW.Size);
    const int letters = ImTextStrFromUtf8(wide.Data, wide.Size, text, nullptr);
    if (letters == edits.CurLenW &&
        std::memcmp(wide.Data, edits.TextW.Data, sizeof(ImWchar) * static_cast<std::size_t>(letters)) == 0)
        return;
    edits.ID = 0;
#else
    (void)item, (void)text;  // it looks for itself
#endif
}

bool caret_moves() {
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    return g.NavMoveSubmitted || g.NavNextActivateId != 0 ||
           (g.WantTextInputNextFrame == 1) != g.IO.WantTextInput;
}

ImGuiID current_window() { return ImGui::GetCurrentWindowRead()->ID; }

bool lies_above(const char* window, const char* other) {
    for (const ImGuiWindow* each : ImGui::GetCurrentContext()->Windows) {
        if (each->ID == ImHashStr(window)) return false;
        if (each->ID == ImHashStr(other)) return true;
    }
    return false;
}

void bring_to_front(const char* window) { ImGui::BringWindowToDisplayFront(ImGui::FindWindowByName(window)); }

bool is_shown(const char* name) {
    const ImGuiWindow* window = ImGui::FindWindowByName(name);
    return window && window->Active;
}

bool rests_at(ImVec2 place) {
    constexpr float still = 3;
    const ImVec2& now = ImGui::GetIO().MousePos;
    return std::abs(now.x - place.x) < still && std::abs(now.y - place.y) < still;
}

bool rests_where_clicked() { return rests_at(ImGui::GetIO().MouseClickedPos[0]); }

float hover_seconds() { return rests_where_clicked() ? 0 : ImGui::GetCurrentContext()->HoveredIdTimer; }

}  // namespace tilewalk::ui
