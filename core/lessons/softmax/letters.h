// How the softmax lessons write their quantities: m, d′, o′ (online softmax), m, δ, ω or m, ℓ, O. Only the
// letters differ.
#pragma once

#include "core/walk/explain.h"

namespace tilewalk {

/// Letters for the running sum and the running output of one lesson.
struct SoftmaxLetters {
    const char* sum;   ///< "d", "d′", "δ", "ℓ"
    const char* out;   ///< "o", "o′", "ω", "O"
    bool tilde;        ///< over `out`: not yet divided by the sum
    const char* done;  ///< the finished output: "o", "O"
};
/// A prime marks what is re-based on the way (d′ of two passes, o′ of one); without it the value is measured
/// from the final maximum.
SoftmaxLetters softmax_letters(const Problem& problem, int passes);
/// 3, 2 or 1; 0 for other lessons.
int softmax_passes(const Trace& trace);

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

}  // namespace tilewalk
