// The parts of the speaker's view: what stands where, and the drawing of each (speaker.h puts them together).
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

#include <memory>

namespace tilewalk::ui {

struct Focus;

// ---- Where what stands. All lengths in px of 1280 × 720 or more; the panel is one column.

namespace speaker_size {
constexpr float row_h = 30, stops_head = 46;
}  // namespace speaker_size

/// The page that is shown beforehand, as large as the audience has it: a window of its own about so.
struct AudiencePage {
    float w = 1280, h = 720;
};

struct SpeakerLayout {
    AudiencePage page;
    bool narrow = false, pictured = true;
    float title, sentence;  ///< text sizes
    Rect head = {}, now = {}, notes = {}, next = {}, picture = {}, stops = {};
};
/// `long_notes` take the room of the picture in the panel.
SpeakerLayout speaker_layout(const AppState& state, float W, float H, const AudiencePage& page,
                             bool long_notes = false);
/// The notes of the panel have no room beside the picture.
bool notes_need_room(const Canvas& canvas, AppState& state, const Rect& notes);

// ---- The parts

void speaker_head(const Canvas& canvas, AppState& state, const SpeakerLayout& layout);
void speaker_now(const Canvas& canvas, AppState& state, const SpeakerLayout& layout);
void speaker_notes_view(const Canvas& canvas, AppState& state, const SpeakerLayout& layout);
/// `focus` is the one that the page, drawn smaller, gives back.
void speaker_next(const Canvas& canvas, AppState& state, const SpeakerLayout& layout,
                  std::shared_ptr<Focus>& focus);

// ---- Places to go

void speaker_stops(const Canvas& canvas, AppState& state, const SpeakerLayout& layout);
void open_picker(AppState& state);

}  // namespace tilewalk::ui
