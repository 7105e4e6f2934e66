// The moments of a lecture: pictures that one key leads to, from everywhere, on stage too. One table: the
// keys, their list, the start page, the palette of commands and the tests read it.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/key.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

#include <span>

namespace tilewalk::ui {

struct Sheet;

struct Moment {
    const char* id;      ///< of its button
    const char* title;   ///< "What breaks"
    const char* brief;   ///< on stage, beside its key
    const char* action;  ///< what is seen then, for the list of keys
    const char* keys;    ///< "Alt 1"
    KeyPress press;
    void (*picture)(const Sheet&);  ///< on the start page

    // What it sets; what is empty stays as it is
    Page page = Page::walk;
    const char* lesson = "";
    const char* example = "";
    /// The walk stands at the first of these steps from where a weight corrects numbers that are there.
    Op op = Op::count;
    bool Switches::*fault = nullptr;
    std::int64_t N = 0;  ///< of the page about memory
};

/// The length at which memory is shown, by its moment and on the start page.
inline constexpr std::int64_t long_text = 16384;

std::span<const Moment> moments();
/// The moment of this key; null if there is none.
const Moment* moment_of(const KeyPress& press);
/// Shows it, in the view that is on: the stage stays the stage. Ctrl Z leads back to the problem before.
void go_to_moment(AppState& state, const Moment& moment);
/// The step at which it stands in this walk; 0 if the walk has no such step.
int step_of(const Moment& moment, const Trace& trace);
/// Its lines of the list of keys.
std::vector<Shortcut> moment_keys();

}  // namespace tilewalk::ui
