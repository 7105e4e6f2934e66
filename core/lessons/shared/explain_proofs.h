// Short proofs beside the steps that they are about, as asides: the same in symbols and with this row's
// numbers.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

/// Why α is the right factor: an old weight times α is the weight against the new maximum. For a row whose
/// maximum rises from `old` to `now` in this tile.
void tell_why_alpha(const View& v, double old, double now);
/// ℓ as one sum over the whole row, against its last maximum; for rows of few keys.
void tell_sum_in_one_go(const View& v);
/// dS in two lines from the derivative of softmax: a weight rises with its own score, and the others pay for
/// it.
void tell_competition(const View& v, double P, double dP, double D);
/// P × (dP − D) of the target cell, with the decimals that a cell of its tile needs at most, from what the
/// step reads of these slots: all cells of a tile that can be read stand beside each other.
void write_score_gradient(const View& v, Slot P, Slot dP, Slot D, Format format);

}  // namespace tilewalk
