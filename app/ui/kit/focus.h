// The keyboard's focus: Tab walks over everything that can be pressed, in reading order, Enter and Space
// press it, the arrow keys change it. ImGui's own navigation stays off, because the arrow keys belong to the
// walk while nothing has the focus.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/key.h"

#include <imgui.h>
#include <memory>

namespace tilewalk::ui {

/// What has the focus, and what the last frame showed. The interface keeps it.
struct Focus;
/// That which the functions below are about, from here on; made if there is none yet.
void use_focus(std::shared_ptr<Focus>& focus);

/// A key was pressed: what is shown because the mouse rests somewhere goes until it moves.
void note_key();
bool rests_since_key();
/// True if the key belonged to the focus. It acts on what the last frame showed.
bool answer_focus_key(const KeyPress& press);
/// The ring round what has the focus, over everything else. At the end of a frame.
void draw_focus_ring(const Canvas& canvas);
/// What has the focus; 0 while nothing has, or while it is not shown because the mouse is used.
ImGuiID focused_item();
/// To the next row of stops, down or up (by = ±1), as the arrow keys go through a card.
void focus_next_row(int by);
void clear_focus();

// ---- For the controls (items*.cpp) and cards

struct FocusAnswer {
    bool focused = false;  ///< and to be shown
    bool pressed = false;  ///< by Enter or Space, in this frame
    bool entered = false;  ///< a field that has just been reached: it takes the caret
};
/// Notes one thing to press, in the ImGui window and the region that are open. `field`: it takes a caret.
FocusAnswer focus_stop(ImGuiID id, ImVec2 min, ImVec2 max, bool field = false);
/// Takes the latest stop out again: it answers to where the mouse is, and has keys of its own.
void drop_focus_stop();
/// The same for one that is switched off; the list of what a frame showed says so.
void switch_off_stop();

struct Arrow {
    int x = 0, y = 0;
    explicit operator bool() const { return x != 0 || y != 0; }
};
/// The latest stop is changed by arrow keys (`both`: up and down as well); what this frame pressed.
Arrow focus_arrow(ImGuiID id, bool both = false);
/// Where an arrow key moves a slider to, from its place of 0 … 1. The caller may round what it is given, so
/// steps are taken from where the last one led, unless the value has gone elsewhere since.
float stepped_place(ImGuiID id, float place, int by);
/// Moves the focus there, as an arrow key does within a group.
void focus_on(ImGuiID id);

/// Stops of one panel follow each other, row by row.
void begin_focus_region();
void end_focus_region();
/// While the ImGui window that is open shows, no other has stops: a card over a dimmed page, a list.
void keep_focus_here(bool popup = false);
/// Escape was pressed while a list was open.
bool focus_closes_popup();

}  // namespace tilewalk::ui
