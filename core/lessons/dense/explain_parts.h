// Pieces that the explanations of the dense lessons share.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk::dense {

/// Sums with more terms than this are not written out.
constexpr int most_terms = 256;

/// How many keys the target's row sees.
int keys_seen(const View& v);
/// This step reads the slot.
bool reads(const View& v, Slot slot);
/// The one of the two that this step reads: scores on chip or in HBM.
Slot read_one_of(const View& v, Slot first, Slot second);
/// "W_Q[0,1] = 0.94", in one piece up to the number.
Line result_line(const View& v, Slot slot, double value);
/// The numbers of a sum, multiplied by `scale` if that is not 1; nothing where it has too many terms.
void set_sum(const View& v, const Expr& sum, double scale = 1);

/// “it” or token 3 (query 3 where queries and keys are different positions); a word that occurs twice carries
/// its position: “the” (4).
std::string query_name(const View& v, int r);
std::string key_name(const View& v, int c);
/// "61 %"; never rounded to 0 % or 100 % unless it is.
std::string percent(double part);

/// Positions of the largest term; all of them where several tie.
std::vector<int> largest(const Numbers& terms);
/// "token 1", "tokens 1 and 3", "“cat” and “mat”", "5 tokens"; `name` is query_name or key_name.
std::string names(const View& v, const std::vector<int>& which, std::string (*name)(const View&, int));

// explain_forward.cpp
void load(const View& v);
void store(const View& v);
void scores(const View& v);
void scale(const View& v);
void mask(const View& v);
void row_max(const View& v);
void exponentials(const View& v);
void row_sum(const View& v);
// explain_weights.cpp
void divide(const View& v);
void output(const View& v);
// explain_backward.cpp
void dv(const View& v);
void dp(const View& v);
void row_dot(const View& v);
void sink_gradient(const View& v);
void ds(const View& v);
void dq(const View& v);
void dk(const View& v);
// explain_training.cpp
void project(const View& v);
void loss(const View& v);
void weight_gradient(const View& v);
void update(const View& v);

}  // namespace tilewalk::dense
