#include "app/ui/shell/speaker.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/letters.h"
#include "app/ui/shell/frame.h"
#include "app/ui/shell/speaker_parts.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {

constexpr float panel_w = 400;

void speaker_view(const Canvas& c, AppState& state, float W, float H, const AudiencePage& page,
                  std::shared_ptr<Focus>& focus) {
    SpeakerLayout l = speaker_layout(state, W, H, page);
    if (l.narrow && notes_need_room(c, state, l.notes)) l = speaker_layout(state, W, H, page, true);
    speaker_head(c, state, l);
    speaker_now(c, state, l);
    speaker_notes_view(c, state, l);
    speaker_next(c, state, l, focus);
    speaker_stops(c, state, l);
}

// ---- Type

// Beside those of the normal view: titles, numbers, notes up to the chosen size, and the page in small.
std::vector<FontSize> sizes_of_view(const AppState& state, float W, float H, const AudiencePage& page) {
    const SpeakerLayout l = speaker_layout(state, W, H, page);
    std::vector<FontSize> out = font_sizes(true, l.picture.w / page.w);
    for (const float em : {16.0f, l.title, 20.0f}) out.push_back({Face::semibold, em});
    out.push_back({Face::regular, l.sentence});
    // What is told below the notes, and of the next step
    for (const float em : {14.0f, 16.0f, 18.0f})
        for (const Face face : {Face::regular, Face::semibold, Face::semibold_italic, Face::mono})
            out.push_back({face, em});
    out.push_back({Face::mono_bold, l.narrow ? 24.0f : 30.0f});
    for (const int size : notes_sizes)
        if (size <= state.settings.notes_size)
            for (const Face face :
                 {Face::regular, Face::semibold, Face::semibold_italic, Face::mono, Face::mono_bold})
                out.push_back({face, px(size)});
    return out;
}

// Larger than 1280 × 720 it grows as a whole: it is read from the lectern.
float speaker_scale(float display_scale, float width, float height) {
    return std::max(display_scale, std::min(width / 1280, height / 720));
}

// What the panel leaves of the window, in the px of its page.
AudiencePage page_beside(const AppState& state, float width, float height) {
    const float w = page_width(state, width, height), scale = ui_scale(state, width, height);
    return {w / scale, height / scale};
}

float panel_scale(const AppState& state, float width, float height) {
    const float least = std::min(state.display_scale, width / 1024);
    return std::max(least, std::min(width / 1280, height / 720));
}

}  // namespace

bool load_speaker_fonts(const AppState& state, float display_scale, float width, float height) {
    const float scale = speaker_scale(display_scale, width, height);
    return load_fonts(scale, false, sizes_of_view(state, width / scale, height / scale, {}));
}

Typefaces load_speaker_letters(const AppState& state, float display_scale, float width, float height,
                               double seconds, LetterTexture* texture) {
    const float scale = speaker_scale(display_scale, width, height);
    return load_letters(scale, false, sizes_of_view(state, width / scale, height / scale, {}), seconds,
                        texture);
}

void speaker_frame(AppState& state) {
    Speaker& speaker = *state.speaker;
    use_focus(speaker.focus);
    for (const KeyPress& press : std::exchange(speaker.keys, {})) {
        const bool own =
            answer_picker_key(state, press) || answer_focus_key(press) || answer_speaker_key(state, press);
        if (!own) state.keys.push_back(press);
    }
    const Canvas c = begin_page(state, "Tilewalk speaker");
    const float W = ImGui::GetIO().DisplaySize.x / c.s, H = ImGui::GetIO().DisplaySize.y / c.s;
    c.rect(0, 0, W, H, c.theme->bg);
    speaker_view(c, state, W, H, {}, speaker.focus);
    draw_focus_ring(c);
    ImGui::End();
}

float page_width(const AppState& state, float width, float height) {
    if (!speaker_in_panel(state)) return width;
    return std::floor(width - std::min(panel_w * panel_scale(state, width, height), width * .36f));
}

std::vector<FontSize> panel_fonts(const AppState& state, float scale, float width, float height) {
    std::vector<FontSize> out;
    if (!speaker_in_panel(state)) return out;
    const float s = panel_scale(state, width, height), panel = width - page_width(state, width, height);
    out = font_sizes(false, 1);
    for (const FontSize& size :
         sizes_of_view(state, panel / s, height / s, page_beside(state, width, height)))
        out.push_back(size);
    for (FontSize& size : out) size.em *= s / scale;
    return out;
}

void speaker_panel(const Canvas& page, AppState& state) {
    if (!speaker_in_panel(state)) return;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float s = panel_scale(state, size.x, size.y), x = page_width(state, size.x, size.y);
    page.rect(x / page.s, 0, (size.x - x) / page.s, size.y / page.s, page.theme->bg);
    const Enlarged own(page, {x / page.s, 0}, s / page.s);
    speaker_view(own.c, state, (size.x - x) / s, size.y / s, page_beside(state, size.x, size.y), state.focus);
}

bool answer_speaker_key(AppState& state, const KeyPress& press) {
    if (press.key == Key::p && press.shift && !press.alt) {
        press.ctrl ? move_speaker(state) : toggle_speaker(state);
        return true;
    }
    if (!speaker_in_window(state) && !speaker_in_panel(state)) return false;
    const bool shift = press.shift && !press.ctrl && !press.alt;
    const bool alt = press.alt && !press.ctrl;
    if (press.key == Key::g && shift) return open_picker(state), true;
    if (press.key == Key::r && shift) return pause_talk(state), true;
    if (press.key == Key::r && press.shift && press.ctrl) return restart_talk(state), true;
    if (press.key == Key::p && alt) return swap_screens(state), true;
    if (press.key == Key::plus && alt) return resize_notes(state, 1), true;
    if (press.key == Key::minus && alt) return resize_notes(state, -1), true;
    return false;
}

}  // namespace tilewalk::ui
