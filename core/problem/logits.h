// What some models do to the scores between the scale and the mask, and beside the keys. A sink is one more
// logit, learned, that every query sees and that has no value: it takes a share of the softmax and gives
// nothing. Softcap and bias come in the order of
// FlashAttention's kernel (flash_fwd_kernel.h from version 2.6 on, softcap and then apply_mask, which adds
// the bias): scale, softcap, ALiBi bias, mask.
#pragma once

#include "core/problem/problem.h"

#include <span>
#include <string_view>

namespace tilewalk {

/// One of them, for files, options, links and panels: all that is known of it beside what the lessons
/// compute.
struct LogitChange {
    std::optional<double> Logits::*value;
    const char* name;    ///< in files, links and options: "softcap"
    const char* title;   ///< "Softcap"
    const char* phrase;  ///< "a softcap"
    const char* what;    ///< "S becomes cap · tanh(S ÷ cap)"
    double usual;        ///< what the panel begins with
};
std::span<const LogitChange> logit_changes();

/// cap · tanh(S ÷ cap): close to S where it is small, never beyond ±cap. Without a softcap the scores
/// themselves.
double capped(const Problem& problem, double score);
Matrix capped(const Problem& problem, const Matrix& S);
/// 1 − (S ÷ cap)², the slope of the softcap, from the capped score.
Matrix cap_slope(const Problem& problem, const Matrix& capped);

/// How many positions lie between query r and key c; the last query stands at the last key's position.
int distance(const Problem& problem, int r, int c);
/// S − slope · distance; S begins at this row and column of the whole matrix.
Matrix biased(const Problem& problem, const Matrix& S, int row, int col);

/// The score of query r and key c as the mask finds it.
double score_before_mask(const Problem& problem, int r, int c);

/// Why no kernel of this program can run on the problem: they have none of these. Nothing where it has none.
std::optional<std::string> kernels_lack(const Problem& problem);

/// A sentence for a number that cannot be meant.
std::optional<std::string> check_logits(const Problem& problem);

}  // namespace tilewalk
