// From a cell of a step of the lesson flash-forward to the number that a kernel has in its place, and back.
// The lesson's tiles may be others than the kernel's: scores are the same in any, but m, α, ℓ, P̃ and O are
// those of the keys seen so far, and the kernel has them behind its own tiles only.
#pragma once

#include "core/inside/bridge.h"
#include "core/walk/explain.h"

namespace tilewalk::inside {

/// What a step of the walk is in a kernel: a number that its twin writes down, or an element of device
/// memory.
struct KernelNumber {
    std::optional<Number> number;
    std::string region{};     ///< of an element: "Q"; else empty
    int row = 0, column = 0;  ///< of the element
    bool writes = false;      ///< the kernel writes it; otherwise it reads it
    Number beside{};          ///< m of a row that the same block computes: block_of finds the block
    double value = 0;         ///< of the lesson
    double factor = 1;  ///< the kernel's number times this is the lesson's: kernels keep S and m unscaled
    bool same = true;   ///< it is the same number; otherwise it is one of other keys
};
/// A sentence where a step has no place in a kernel: m ← −∞ is plain code, a tile that is skipped is nowhere.
/// `record` says what tiles the kernel has.
Result<KernelNumber> kernel_number(const Trace& walk, int step, const CellRef& cell, const Record& record);
/// Why the kernel's number is another one: "f5-flash2 takes 64 keys at once: its m is that of keys 0–63, the
/// step's that of keys 0–3." Empty if it is the same.
std::string other_keys_text(const Trace& walk, int step, const KernelNumber& number, const Record& record);

struct LessonCell {
    int step = -1;  ///< −1: the walk has none
    CellRef cell{};
};
LessonCell lesson_cell(const Trace& walk, const Number& number, const Record& record);
/// An element of Q, K, V, O or L; `query`: a row of the block that reads it.
LessonCell lesson_cell(const Trace& walk, const std::string& region, int row, int column, int query);

/// The number where the kernel holds it, as the lesson has it: scaled.
inline double scaled(const KernelNumber& number, const HeldAt& held) { return number.factor * held.value; }
/// "there −5.409, times 0.125 −0.676"; `place`: "there".
std::string there_text(const KernelNumber& number, const HeldAt& held, const std::string& place);
/// How it is held: "the step gives it", "lanes 12–15 have a part of it each".
std::string held_text(const HeldAt& held);
/// "warp 0, lane 12"
std::string lane_text(const HeldAt& held);

}  // namespace tilewalk::inside
