// The matrices of a problem that one can type into, by the slot that shows them.
#pragma once

#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <optional>
#include <vector>

namespace tilewalk::ui {

/// The input that a slot shows: Q for Q and its tile on chip; nothing for what is computed.
std::optional<Slot> input_of(Slot slot);
/// The inputs of a problem in the order in which they are shown: X and the weights where Q, K, V come from
/// them, else Q, K, V; then dO.
std::vector<Slot> inputs_of(const Problem& problem);
/// One of Q, K, V, dO, X, W_Q, W_K, W_V, as the lesson shows it: of heads that are walked through together
/// the rows of all. Where the problem has no X it is I, and the weights are Q, K, V.
Matrix input(const Lesson& lesson, const Problem& problem, Slot slot);
/// Changes one element, and Q, K, V if they are made from it; a sentence if that element cannot be changed.
Result<void> set_input(const Lesson& lesson, Problem& problem, CellRef cell, double value);

}  // namespace tilewalk::ui
