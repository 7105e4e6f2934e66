// A broken walk beside the true one: the same steps, other values. Where they part, and what comes of it.
#pragma once

#include "core/walk/explain.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

/// One cell of both walks.
struct Difference {
    int step = -1;
    CellRef cell;
    double truth = 0, broken = 0;
};
/// |a − b|; 0 for the same number (also NaN and NaN), ∞ where one of two different ones is not finite.
double distance(double a, double b);

/// Two walks of one lesson, held against each other once.
struct Comparison {
    std::string mismatch;         ///< why they cannot be compared, a sentence; empty if they can
    std::vector<double> largest;  ///< per step: the largest distance of the cells that it wrote
    std::vector<bool> lost;       ///< per step: it wrote NaN or ∞ where the true walk has a finite number
    Difference worst;             ///< the results' element that is furthest off, infinities and NaN left out
    int elements = 0, not_finite = 0;  ///< of the results (O, or dQ, dK, dV)
    std::string sentence;              ///< what happened, told with the numbers of these walks
    std::string verdict;               ///< how the results came out

    bool differs() const;
};
Comparison compare(const Trace& truth, const Trace& broken);

/// What a fault tells its story from: by the first step that shows it (Fault::told).
struct Walks {
    const Trace &truth, &broken;
    const Comparison& comparison;

    /// The cell that is furthest off in the first step of this kind that differs.
    std::optional<Difference> first(Op op) const;
    std::string step(const Difference& d) const;     ///< "step 5"
    std::string instead(const Difference& d) const;  ///< "m[0] is 0 instead of 2"
};

/// What an edit changed from which step on: "Step 5 is the first of 24 steps (of 40) that write other
/// numbers." Empty if the walks cannot be compared.
std::string edit_sentence(const Trace& before, const Trace& after);

/// The first step after step k that differs (that lost a number); −1 if there is none.
int next_difference(const Comparison& comparison, int k);
int next_lost(const Comparison& comparison, int k);

/// The cell of step k that is furthest off; nothing if the step wrote the same numbers.
std::optional<Difference> largest_difference(const Trace& truth, const Trace& broken, int k);

/// What the true walk holds in this cell after step k; nothing if it holds nothing there.
std::optional<double> true_value(const Trace& truth, const CellRef& cell, int k);

}  // namespace tilewalk
