// What the explanations of the tiled lessons say about broken arithmetic: NaN, ∞ and rounding.
#pragma once

#include "core/lessons/shared/tile_steps.h"
#include "core/walk/explain_view.h"

#include <algorithm>
#include <string>

namespace tilewalk {

/// Writes the numbers of the target cell; to be called when sources and why are set. Where the result is NaN,
/// ∞ or overflowed, `why` says instead how that came about; where rounding changed the result, `why` ends
/// with what it was.
void set_numbers(const View& v, const Expr& e);
/// `why` ends with this sentence as well; rows that say it have kinds of their own.
void add_sentence(const View& v, const std::string& sentence);

/// The element of an input as the problem has it, and as it lies in HBM: says so where rounding changed it.
void tell_input_rounding(const View& v, const Matrix& given);
/// A copy that lost digits on its way: `before` is what was copied.
void tell_copy_rounding(const View& v, Format format, double before);
/// Says in which format P̃ or dS enters the product, if it is a coarser one than its own.
void tell_operand(const View& v, const char* what);
/// P̃ or dS as it enters the product.
Numbers operands(const View& v, Numbers numbers);
/// The last key of this step's tile.
inline int last_key(const View& v) {
    if (const Held keys = v.trace.live(Slot::Kj, v.k))
        return keys.value->region.row + keys.value->region.rows - 1;
    return std::min((v.step.j + 1) * v.problem.Bc, v.problem.N_kv()) - 1;
}
/// A fault that the lesson knows is on.
bool has_fault(const View& v);
/// "the largest number of fp16, 65 504": what overflows here.
std::string largest_text(Format format);
/// The largest exponent whose exp the format still holds: "11.09" of fp16.
std::string largest_exponent_text(Format format);

/// Kinds of rows beside those of a maximum that stays, rises, starts or is not there yet.
enum FaultKind { faulty = 8, rounded_row = 16, accident_row = 32 };

}  // namespace tilewalk
