// What the drawing needs to know about a whole trace: value ranges, so that a colour means the same at every
// step, text widths, so that the layout does not jump from step to step, and the grid of the timeline.
#pragma once

#include "app/ui/state/timeline_grid.h"
#include "core/base/numbers.h"
#include "core/walk/trace.h"

#include <array>
#include <vector>

namespace tilewalk::ui {

struct SlotLook {
    double lo = 0, hi = 0;  ///< smallest and largest finite value; the range always includes 0
    MatrixDigits digits;
    int whole = 1;     ///< most letters before the point, with the sign
    int words = 0;     ///< letters of −∞ or NaN, if there is one
    double least = 0;  ///< smallest without its sign, above 0
    /// Letters of the longest number.
    int letters_with(int digits) const;
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

/// How numbers may be shown where room is short, best first: at 15, 14 and 13 px with all digits of the
/// user's choice, then at 13 with fewer, down to 3.
struct NumberSize {
    float size;
    int digits;
};
std::vector<NumberSize> number_sizes();
/// The digits of the user's choice, then fewer, down to `least`.
std::vector<int> digit_choices(int least = 3);

/// Letters of UTF-8 text (a combining tilde counts as none).
int letter_count(const std::string& text);

}  // namespace tilewalk::ui
