// What all hand-outs of a walk have in common: the matrices of a step and the lines of the pseudocode.
#pragma once

#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// A matrix that a step read or wrote, as a hand-out shows it.
struct StepMatrix {
    Slot slot = Slot::count;
    const Value* value = nullptr;
    Line symbol;       ///< "Q₀", "m"
    std::string note;  ///< "in HBM", "before", "after"; mostly empty
    bool written = false;
    int made = 0;  ///< the step that made the value, from 1; 0: given
};

/// The symbol of what step k read or wrote there, as that step's formula has it.
Line symbol_of(const Trace& trace, int k, const Access& access);
/// Step k writes this value, be it that it loads it from elsewhere.
bool writes_value(const Trace& trace, int k, std::int32_t value);
/// First what step k read, then what it wrote; without what a load passes on unchanged.
std::vector<StepMatrix> step_matrices(const Trace& trace, int k);
/// What lies in HBM before the first step, and the results after the last. The matrices are put together of
/// their tiles and live as long as this.
struct WholeMatrix {
    Slot slot;
    Value value;
};
std::vector<WholeMatrix> given_matrices(const Trace& trace);
std::vector<WholeMatrix> result_matrices_of(const Trace& trace);

/// One line of pseudocode with this problem's numbers, and which line of the lesson it is.
struct ShownCode {
    int line, indent;
    std::string text;
};
std::vector<ShownCode> shown_code(const Trace& trace);

/// The lane that begins with step k ("Query block 0"); empty if it goes on.
std::string lane_at(const Trace& trace, int k);
/// "Step 12 of 40".
std::string step_number(const Trace& trace, int k);
/// Titles come from files; none of these marks of Markdown may take effect in them.
std::string markdown_text(const std::string& text, std::string_view marks);

}  // namespace tilewalk
