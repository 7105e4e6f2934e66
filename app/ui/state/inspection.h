// Following a number back: a chosen cell, what it came from, what it feeds, and the way taken so far.
// Stepping goes on meanwhile; the inspected place stays.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/walk/origin.h"

namespace tilewalk::ui {

/// How a cell on screen belongs to the inspected one.
enum class Link {
    inspected,
    source,  ///< its formula reads it
    fed,     ///< reads it in its formula
    input    ///< given, and behind it in the end
};

/// One line of the lists: cells to follow, or a group to open.
struct LinkEntry {
    Link link;
    Patch patch;
    bool inner = false;  ///< a single cell of the open group above it
};

struct Inspection {
    std::shared_ptr<const Trace> trace;  ///< the walk that the places belong to
    std::vector<Place> path;             ///< never empty; the last one is inspected
    // Of the last place
    Explanation told;                      ///< of the step that made it, if one did
    std::vector<Patch> from, feeds, ends;  ///< sources, fed cells, given cells behind it
    bool too_many_ends = false;            ///< more than are looked for
    int open = -1;                         ///< the group that is open, counted without inner entries
    std::vector<LinkEntry> entries;        ///< as listed
    int chosen = 0;                        ///< of them
    int first_line = 0;                    ///< of the lists, at the top of their window
    bool keep_in_sight = true;             ///< scroll to the chosen entry
    std::shared_ptr<const Readers> readers;
    std::shared_ptr<Inspection> before_click;  ///< what a click replaced; a double click brings it back

    const Place& at() const { return path.back(); }
};

/// Opens the panel for a cell as it holds now.
void inspect(AppState& state, CellRef cell);
bool inspecting(const AppState& state);
/// The inspection, brought up to date with the walk that is shown; null, and ended, if the cell is not in it.
Inspection* inspection_of(AppState& state);
/// A click on a cell: inspects it, unless a first click means the row of what this step wrote.
void click_cell(AppState& state, CellRef cell);
/// The click was the first of two that open a cell for typing.
void take_back_click(AppState& state);

/// The cell to type into without a double click: the one under the pointer, else the inspected one; a
/// sentence where neither is an input's.
void edit_chosen(AppState& state);
/// A table of numbers into the matrix that the mouse or the inspection is at, else into the chosen one.
void paste_table(AppState& state, const std::string& table);
/// The edit that no view of this frame has shown ends, with a sentence.
void end_unseen_edit(AppState& state);

/// The next place of the way; a step back if it is the one before.
void follow(AppState& state, Place place);
/// Back to the n-th place of the way.
void go_back_to(AppState& state, int n);
/// Follows a single cell, opens or closes a group.
void use_entry(AppState& state, int entry);
/// Shows the step that put the value there.
void go_to_origin(AppState& state);

/// "S[0,2]", of a block on chip "O₀[0,1]".
std::string place_name(const Trace& trace, const Place& place);
/// The name of the n-th place of the way; one cell that is on it several times names its step too.
std::string crumb_name(const Inspection& in, int n);
/// "Q[0,0…3]"
std::string patch_name(const Trace& trace, const Patch& patch);
/// "step 12", "given"
std::string made_text(int step);

/// Cells of this tile to be marked.
struct LinkMark {
    Link link;
    Region cells;
};
std::vector<LinkMark> link_marks(const AppState& state, Slot slot, const Value& tile);

/// True if the key belonged to the panel.
bool answer_inspection_key(AppState& state, const KeyPress& press);

/// Which places of the way are shown where only `lines` lines of that width have room: all, or the first and
/// as many of the last as fit, with −1 for those left out.
std::vector<int> shown_crumbs(const std::vector<float>& widths, float gap, float room, int lines);

}  // namespace tilewalk::ui
