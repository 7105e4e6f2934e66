// Lessons: one row of attention, o = softmax(x) V, element by element: the textbook softmax, the safe one in
// three passes, online softmax in two and FlashAttention in one (Milakov and Gimelshein 2018; Ye 2023, "From
// Online Softmax to FlashAttention", Algorithms 1 to 5).
//
// The lessons start from the scores: x (1 × N_kv) is row R of scale · Q Kᵀ, −∞ where masked, and lies in HBM
// element by element. The sources count the elements from 1; here they have the numbers of their keys, from
// 0, and what a pass starts from has none.
#pragma once

#include "core/walk/explain.h"
#include "core/walk/lesson.h"

namespace tilewalk {

/// exp, sum, divide, without the maximum: right as long as exp does not overflow.
extern const Lesson softmax_dense;
/// Maximum, then sum, then output: every element of x is read three times.
extern const Lesson softmax_3pass;
/// Online softmax: maximum and sum in one pass, output in a second.
extern const Lesson softmax_2pass;
/// FlashAttention: maximum, sum and output in a single pass.
extern const Lesson softmax_1pass;

/// The query row of these lessons: Options::row, or the last row if there are fewer.
int softmax_row(const Problem& problem);
/// Its scores x, −∞ where masked.                                                          (1 × N_kv)
Matrix softmax_scores(const Problem& problem);

/// What one of these lessons is made of.
enum class SoftmaxForm : std::uint8_t { dense, three_passes, two_passes, one_pass };
SoftmaxForm softmax_form(const Trace& trace);
const Lesson& softmax_lesson(SoftmaxForm form);
/// How often it reads x.
constexpr int softmax_passes(SoftmaxForm form) {
    return form == SoftmaxForm::three_passes ? 3 : form == SoftmaxForm::one_pass ? 1 : 2;
}

// ---- Letters: m, d′, o′ (online softmax), m, δ, ω or m, ℓ, O. Only the letters differ.

/// Letters for the running sum and the running output of one lesson.
struct SoftmaxLetters {
    const char* sum;   ///< "d", "d′", "δ", "ℓ"
    const char* out;   ///< "o", "o′", "ω", "O"
    bool tilde;        ///< over `out`: not yet divided by the sum
    const char* done;  ///< the finished output: "o", "O"
};
/// A prime marks what is re-based on the way (d′ of two passes, o′ of one); without it the value is measured
/// from the final maximum.
SoftmaxLetters softmax_letters(const Problem& problem, SoftmaxForm form);

// Symbols with the number of the element below: m₃, x₃, α₃, p₃, a₃, V₃; d′₃ and o′₃ by the letters.
Line softmax_max(const std::string& index);
Line softmax_score(const std::string& index);
Line softmax_alpha(const std::string& index);
Line softmax_weight(const std::string& index);
Line softmax_share(const std::string& index);
Line softmax_value(const std::string& index);
Line softmax_sum(const SoftmaxLetters& letters, const std::string& index);
Line softmax_out(const SoftmaxLetters& letters, const std::string& index);
Line softmax_final(const SoftmaxLetters& letters, const std::string& index);

/// What step `step` put into the slot, or what lies in tile `tile` of one in HBM: see slot_symbol.
Line softmax_symbol(const Trace& trace, Slot slot, int step, int tile);

// ---- Why the online softmax is right, with the numbers of one row: the derivation of the recurrences
// element by element (Ye 2023, sections 3 and 4), and the proof by splitting the row in two (any two parts
// merge, so any order of tiles does). Both sides of every equation are computed, each in its own way.

/// One line of an argument. `numbers` is the right side worked out from stored values, `result` the left side
/// as it is defined; for an equation of two sums `other` is the right side's own value.
struct Argument {
    std::string title;   ///< "The surrogate d′"
    Line formula;        ///< in symbols
    NumberLine numbers;  ///< the same in numbers; empty where there is nothing to divide
    Line result;         ///< "d′₃ = 1.503"; its last span is the number
    std::string why;
    double value = 0;  ///< what `result` shows
    double other = 0;  ///< the value that `numbers` stands for, computed on its own; equal up to rounding
};

/// The six steps from the safe softmax to one pass, at element n (1 … N_kv) and output column `col`:
/// 1 d_n needs m_N, 2 the surrogate d′ and d′_N = d_N, 3 the recurrence of d′, 4 o_n needs m_N and d_N,
/// 5 the surrogate o′ and o′_N = o_N, 6 the recurrence of o′.
std::vector<Argument> softmax_derivation(const Problem& problem, int n, int col);

/// The row cut after element `split` (0 … N_kv; an empty part has m = −∞ and sums of 0): maximum, sum and
/// output of the parts, and that they merge to those of the whole row.
std::vector<Argument> softmax_proof(const Problem& problem, int split, int col);

}  // namespace tilewalk
