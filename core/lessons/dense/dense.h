// Lessons of dense matrices: standard attention, its gradient, and one step of training.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// O = softmax(scale · Q Kᵀ + mask) V, every intermediate in full (FlashAttention, Dao et al. 2022,
/// Algorithm 0): three kernels that hand S and P to each other through HBM.
extern const Lesson attention;

/// dQ, dK, dV for a given dO (FlashAttention, Dao et al. 2022, Algorithm 3; softmax derivative as in its
/// appendix B.2), with the N × N_kv matrices P, dP and dS in HBM. P and O come from the lesson attention.
extern const Lesson attention_backward;

/// Project, attend, send the gradient back, change the weights, look again: W ← W − η dW for W_Q, W_K, W_V,
/// with the loss ⟨dO, O⟩ before and after it. Without a projection X = I and W = Q, K, V; where N ≠ N_kv keys
/// and values come from an identity of their own, X_kv. Of heads that share K and V all are walked through,
/// as one attention with their queries below each other (packed_group): what W_K and W_V learn is the sum
/// over them.
extern const Lesson training_step;

/// The three ways from the input to attention: which weights make which matrix, and their gradients.
struct WeightPath {
    Slot weight, weight_gradient, matrix, gradient;
};
inline constexpr WeightPath weight_paths[] = {{Slot::W_Q, Slot::dW_Q, Slot::Q, Slot::dQ},
                                              {Slot::W_K, Slot::dW_K, Slot::K, Slot::dK},
                                              {Slot::W_V, Slot::dW_V, Slot::V, Slot::dV}};
/// Keys and values come from other positions than queries, or from fewer than those of all heads.
bool keys_have_own_input(const Problem& problem);
/// X, or X_kv for keys and values that have an input of their own.
Slot input_of(const Problem& problem, const WeightPath& path);

}  // namespace tilewalk
