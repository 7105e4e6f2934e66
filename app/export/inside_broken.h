// What comes of a run with a fault, in words: for the command, for hand-outs.
#pragma once

#include "core/inside/damage.h"
#include "core/inside/faults.h"

#include <string>
#include <vector>

namespace tilewalk {

/// A run with a fault: what it goes without and in which order, and what came of it.
struct BrokenWords {
    std::string fault;    ///< "Barrier of line 78 off (f5_flash2.cu:78): all warps are done with K_j"
    std::string order;    ///< "copies arrive at once, warps take turns; 1 order tried"
    std::string numbers;  ///< "O: 12 of 8192 numbers are wrong"
    std::vector<std::string> cells;  ///< "the worst: O[3, 5] is 1.25 in place of 0.8"
    std::string banks;               ///< their turns, where these are others; else empty
};
BrokenWords words_of_broken(const inside::Record& sound, const inside::Record& broken,
                            const inside::Damage& damage, int orders_tried);
/// The same for the head of a text, and for its end.
std::string broken_head(const BrokenWords& words);
std::string broken_end(const BrokenWords& words);

/// What the kernel's comments say of the step that is left out; else what is done in its place.
std::string meaning_of(const inside::Fault& fault);

}  // namespace tilewalk
