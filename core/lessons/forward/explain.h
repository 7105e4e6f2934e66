// The words and numbers of the tiled forward passes. Called by explain(), which fills title, place, target
// and line.
#pragma once

#include "core/lessons/shared/explain_logits.h"
#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_forward(const View& v);
void explain_v1(const View& v);

/// A score of the tile; `why` says what becomes of it.
void explain_score(const View& v, const std::string& why);
LogitWords tile_words(const View& v);
// From correction to skip (explain_update.cpp)
void explain_correction(const View& v);
void explain_exponentials(const View& v, const char* division = "The division by ℓ comes at the end.");
void explain_row_sum(const View& v);
void explain_output(const View& v);
/// Words for the division in place of those for a whole row: `why` for a sound one, `fault` for what has
/// spoiled what it divides. (Empty: the step's own.)
struct DivisionWords {
    std::string why = {}, fault = {};
};
void explain_normalize(const View& v, const DivisionWords& words = {});
/// `fault`: what is wrong with what is stored, where the step itself cannot know it.
void explain_store(const View& v, const std::string& fault = {});
/// Where what is stored has been told: the bytes of so many rows of O and L.
void tell_stored_bytes(const View& v, int rows);
void explain_skip(const View& v);

/// The maximum of the row has risen since its start values, and nothing brought the old weights to the new
/// one.
bool mixes_maxima(const View& v, int row);

/// How the maximum of the target's row moved in this tile.
struct Move {
    double old, now;
    Kind kind;
    std::string from, to;
};
Move move_of(const View& v);
/// The product P̃ Vⱼ of the target cell behind the first term, which holds the old output.
Expr weighted_values(const View& v, Expr first);
/// What a broken forward kernel does to the row's old sums in this tile, `what` is "sum" or "output"; empty
/// where it does what it should.
std::string broken_rebase(const View& v, const std::string& what);

}  // namespace tilewalk
