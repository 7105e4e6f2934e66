// What the drawing needs to know about a whole trace: value ranges, so that a colour means the same at every
// step, text widths, so that the layout does not jump from step to step, and the grid of the timeline.
#pragma once

#include "app/ui/timeline_grid.h"
#include "core/trace.h"

#include <array>

namespace tilewalk::ui {

struct SlotLook {
    double lo = 0, hi = 0;         ///< smallest and largest finite value; the range always includes 0
    std::array<int, 3> letters{};  ///< longest number, in letters, with 4, 3 and 2 significant digits
    int letters_with(int digits) const { return letters[static_cast<std::size_t>(4 - digits)]; }
    bool with_sign() const { return lo < 0; }
    /// Place of a value on the colour ramp: 0 … 1, or −1 … 1 when the slot holds negative numbers.
    float place(double value) const;
};

struct TraceLook {
    std::array<SlotLook, slot_count> slots;
    TimelineGrid grid;
    const SlotLook& operator[](Slot slot) const { return slots[static_cast<std::size_t>(slot)]; }
};
TraceLook look_of(const Trace& trace);

/// Letters of UTF-8 text (a combining tilde counts as none).
int letter_count(const std::string& text);

}  // namespace tilewalk::ui
