// Everything that differs between Dear ImGui 1.86 and 1.92. The only place that asks for its version.
#pragma once

#include <imgui.h>
#include <string_view>

namespace tilewalk::ui {

// Fonts. Sizes in device px.
float line_height(const ImFont* font);
/// From the top of a line to its baseline.
float ascent(const ImFont* font);
float glyph_advance(const ImFont* font, unsigned code_point);
bool has_glyph(const ImFont* font, unsigned code_point);
/// ImGui::PushFont at the font's own size.
void push_font(ImFont* font);

/// Coverage of the font atlas, one byte per pixel, owned by ImGui. Builds the atlas if need be.
struct AtlasPixels {
    const unsigned char* alpha = nullptr;
    int width = 0, height = 0;
};
AtlasPixels atlas_pixels(ImFontAtlas& atlas);

// Input without a window. One event of a kind per frame.
void send_mouse_position(float x, float y);
void send_mouse_button(int button, bool down);
void send_mouse_wheel(float dx, float dy);
void send_key(ImGuiKey key, bool down);
void send_ctrl(bool down);
void send_text(std::string_view utf8);
/// Lets `send_key` work in a context that no window drives.
void map_keys_without_window();

/// True while the keyboard's focus frame should be drawn.
bool keyboard_focus_visible();
/// Enter was pressed in this frame.
bool enter_pressed();
/// The item that was submitted last.
ImGuiID last_item();
/// The item that holds the mouse or the caret.
ImGuiID active_item();
/// Takes mouse or caret away from it.
void release_active_item();
/// Before a text box is submitted: what was undone or could be belongs to the text that it had when it was
/// left. If it has another one now, undoing would write outside of it.
void forget_edits_of_other_text(ImGuiID item, const char* text);
/// After a frame: the caret comes to a field, or leaves it, only with the next ones.
bool caret_moves();
/// The window that is drawn into.
ImGuiID current_window();
/// Of two windows that are shown.
bool lies_above(const char* window, const char* other);
void bring_to_front(const char* window);
/// The window has been begun in this frame.
bool is_shown(const char* window);
/// The mouse has not left the place, but for a tremor.
bool rests_at(ImVec2 place);
bool rests_where_clicked();
/// Seconds that the mouse has rested on the item below it; none where it has not moved since it clicked
/// there.
float hover_seconds();

}  // namespace tilewalk::ui
