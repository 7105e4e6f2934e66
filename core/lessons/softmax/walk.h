// Lessons: one row of attention, o = softmax(x) V, element by element in three passes, in two and in one
// (Milakov and Gimelshein 2018; Ye 2023, "From Online Softmax to FlashAttention", Algorithms 1 to 5).
//
// The lessons start from the scores: x (1 × N_kv) is row R of scale · Q Kᵀ, −∞ where masked, and lies in HBM
// element by element. Formulas count the elements from 1, as the sources do; step.j counts them from 0.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// Maximum, then sum, then output: every element of x is read three times.
std::shared_ptr<const Trace> softmax_3pass(const Problem& problem);
/// Online softmax: maximum and sum in one pass, output in a second.
std::shared_ptr<const Trace> softmax_2pass(const Problem& problem);
/// FlashAttention: maximum, sum and output in a single pass.
std::shared_ptr<const Trace> softmax_1pass(const Problem& problem);

/// The query row of these lessons: Options::row, or the last row if there are fewer.
int softmax_row(const Problem& problem);
/// Its scores x, −∞ where masked.                                                          (1 × N_kv)
Matrix softmax_scores(const Problem& problem);

// What the table of lessons asks for (softmax_model.cpp)
std::int64_t softmax_bytes(const Problem& problem, int passes);
std::span<const CodeLine> softmax_code(const Problem& problem, int passes);
TrafficModel softmax_model(const Problem& problem, int passes);
std::string softmax_lane(int passes, int phase);

// The same with the number of passes fixed
template <int passes> std::int64_t softmax_bytes(const Problem& p) { return softmax_bytes(p, passes); }
template <int passes> std::span<const CodeLine> softmax_code(const Problem& p) {
    return softmax_code(p, passes);
}
template <int passes> TrafficModel softmax_model(const Problem& p) { return softmax_model(p, passes); }
template <int passes> std::string softmax_lane(const Problem&, int phase) {
    return softmax_lane(passes, phase);
}

}  // namespace tilewalk
