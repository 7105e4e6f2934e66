// The words and numbers of softcap and ALiBi bias, and of the gradient through the softcap: the same steps in
// tiled and in dense lessons, which name queries and keys in their own ways.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

/// How the lesson calls the target's query and key, where it reads the scores, what it rounds to, and how far
/// apart the two are where the cell's row and column are no positions.
struct LogitWords {
    std::string query, key;
    Slot scores = Slot::S;
    Format format = Format::fp64;
    std::optional<int> apart = {};
};

void explain_softcap(const View& v, const LogitWords& words);
void explain_bias(const View& v, const LogitWords& words);
void explain_cap_gradient(const View& v, const LogitWords& words);

/// The start values with a sink: as if a key without a value had been seen.
void tell_sink_start(const View& v, const Line& m, const Line& l, const Line& O);
/// dsink from what each query gave the sink, times its D. Sums with too many terms are not written out.
void tell_sink_gradient(const View& v, Numbers terms, Format format = Format::fp64);
/// exp(sink − m) ÷ ℓ: what is left of 1 for the sink in the target's row.
double sink_share(const View& v, double m, double l);

}  // namespace tilewalk
