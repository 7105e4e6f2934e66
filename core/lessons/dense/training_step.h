// Lesson: one step of training: project, attend, send the gradient back, change the weights, look again.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// W ← W − η dW for W_Q, W_K, W_V, with the loss ⟨dO, O⟩ before and after. Without a projection X = I and
/// W = Q, K, V; where N ≠ N_kv keys and values come from an identity of their own, X_kv.
std::shared_ptr<const Trace> training_step(const Problem& problem);
std::int64_t training_step_bytes(const Problem& problem);
std::span<const CodeLine> training_step_code(const Problem& problem);
/// "Forward", "Backward", "Weights", "Forward again"
std::string training_step_lane(const Problem& problem, int phase);

/// The three ways from the input to attention: which weights make which matrix, and their gradients.
struct WeightPath {
    Slot weight, weight_gradient, matrix, gradient;
};
inline constexpr WeightPath weight_paths[] = {{Slot::W_Q, Slot::dW_Q, Slot::Q, Slot::dQ},
                                              {Slot::W_K, Slot::dW_K, Slot::K, Slot::dK},
                                              {Slot::W_V, Slot::dW_V, Slot::V, Slot::dV}};
/// X, or X_kv for keys and values that have an input of their own.
Slot input_of(const Problem& problem, const WeightPath& path);

}  // namespace tilewalk
