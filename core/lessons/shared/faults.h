// The deliberate faults of the tiled lessons: which there are, and what a kernel with them computes.
#pragma once

#include "core/lessons/shared/memory_model.h"
#include "core/problem/precision.h"
#include "core/walk/trace.h"

#include <span>

namespace tilewalk {

/// One switch of Problem::switches.
struct Fault {
    bool Switches::*on;
    const char* name;   ///< in files: "no_max"
    const char* title;  ///< "Leave the maximum out"
    const char* what;   ///< what the kernel computes instead
};
/// The faults that the forward lessons know, and those of the backward lessons. (Lesson::faults)
std::span<const Fault> forward_faults();
std::span<const Fault> backward_faults();

/// Query r of this kernel does not mask key c out: visible(), or with its edge one key too far right.
bool passes_mask(const Problem& problem, int r, int c);
/// Some key up to key `last` reaches query r: it is not masked out, and its tile is not skipped.
bool sees_some_key(const Problem& problem, int r, int last);
inline bool sees_some_key(const Problem& problem, int r) {
    return sees_some_key(problem, r, problem.N_kv() - 1);
}

/// The largest number of each row (rows × 1). NaN is passed over, as the hardware's max does; −∞ if there is
/// nothing else.
Matrix row_maximum(const Matrix& S);
/// Each row of A divided by its number of `divisor`, with one division per row as in the kernels; where 1 ÷ ℓ
/// itself would overflow (a sum without maximum may be that small) every element is divided.  (n × d, n × 1)
Matrix divide_rows(const Matrix& A, const Matrix& divisor);

/// The format that P̃ or dS is rounded to on its way into a product; fp64 where it is in a coarser one
/// already.
Format operand_format(const Precision& precision);

/// Q, K and V as they lie in HBM: in the format of the inputs.
void give_rounded_inputs(Recorder& rec, const Problem& problem);

}  // namespace tilewalk
