// What the presenter pages share: title, spotlight on what the step touches, colours of a bright room.
#pragma once

#include "app/ui/kit/items.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// The buttons of presenter mode go away when the mouse has rested for this long.
constexpr float presenter_buttons_seconds = 3;
/// The mark of the program: four tiles, one lit.
struct MarkLook {
    float tile, pitch, stroke, radius;
};
void draw_mark(const Canvas& canvas, float x, float y, const MarkLook& look);
/// What every page of presenter mode begins with: the mark of the program and a title. Returns its width.
float presenter_title(const Canvas& canvas, std::string_view title);

/// 1 where this step reads or writes the slot, and everywhere without the spotlight; otherwise the part of
/// its light that stays. It moves over from the step before, if motion is on.
float light_on(const AppState& state, Slot slot);
/// The same for something else that was lit or not.
float light_of(const AppState& state, bool now, bool before);
/// As little more than that as lets a text be read on a surface that is as dark.
float readable_light(float light, ImU32 text, ImU32 surface, ImU32 page);

/// The light theme for a room with daylight: every text at least 7 : 1, fills that differ on a projector that
/// cannot show black. Other themes stay as they are.
Theme bright_room(const Theme& theme);

/// The width of a caption of at most so many lines in a room of `w`: all of it, unless a word or two would be
/// left for the last line.
float caption_width(float w, std::string_view text, float size, int max_lines);

/// A presenter page without a walk (memory, at scale, Kernel and CPU), from the colours of a bright room and
/// the title to the buttons for a mouse, which come last.
class PresenterPage {
public:
    /// `buttons`: the left edge of the buttons.
    PresenterPage(const Canvas& canvas, AppState& state, float W, float H, const char* title, float buttons);
    ~PresenterPage();
    PresenterPage(const PresenterPage&) = delete;
    PresenterPage& operator=(const PresenterPage&) = delete;

    /// What the page is of, at the right; `reserved` px beside the title stay free.
    void subject(const std::string& words, float reserved = 0) const;
    float title_width() const { return title_w; }

    const Theme theme;
    Canvas c;
    /// The back and the forward button: their tooltips, and what they do (−1 or 1).
    const char *back = "", *forward = "";
    std::function<void(int)> move;

private:
    PanelPart part;
    AppState& state;
    float W, title_w, buttons;
};

}  // namespace tilewalk::ui
