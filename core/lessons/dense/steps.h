// The steps of dense attention and of its gradient, each over whole matrices. The dense lessons are put
// together from them.
#pragma once

#include "core/walk/explain.h"
#include "core/walk/lesson.h"

namespace tilewalk {

/// O = softmax(scale · Q Kᵀ + mask) V with all N × N_kv intermediates (FlashAttention, Dao et al. 2022,
/// Algorithm 0).
struct DenseForward {
    Recorder& rec;
    const Problem& p;
    /// Loads, stores and the scale are steps of their own (lesson attention). Otherwise a step fetches from
    /// HBM what it needs and stores its result there.
    bool staged;

    void scores();  ///< S, capped where the problem has a softcap      (N × N_kv)
    void softmax();
    void divide(const Matrix& m, const Matrix& l,
                const Matrix& E);  ///< bias, mask, m, P̃ = exp(S − m), ℓ, P = P̃ ⊘ ℓ   (N × N_kv)
    void output();                 ///< O = P V                                        (N × d)

private:
    const Matrix& take(Slot slot) { return staged ? rec.read(slot) : rec.fetch(slot); }
    /// What the first kernel leaves: on chip where a store follows, else in HBM.
    void leave_scores(Matrix S);
    /// The scores for the step that begins, and where it leaves its own.
    const Matrix& take_scores(Slot where) { return where == Slot::S ? rec.read(where) : take(where); }
};

/// dQ, dK, dV from Q, K, V, dO and the P of the forward pass, all in HBM; one kernel for each product
/// (FlashAttention, Dao et al. 2022, Algorithm 3, with the softmax scale in dQ and dK). `first_phase` is the
/// lane of dV; with `one_lane` all steps stay in it.
void dense_backward(Recorder& rec, const Problem& p, int first_phase, bool one_lane);

/// Upper bound of a dense trace that holds so many numbers; saturates where the count leaves int64.
std::int64_t dense_bytes(double numbers);
/// Lesson::explain and Lesson::step_symbol of the dense lessons.
void explain_dense(const View& view);
Line dense_step_symbol(const Trace& trace, int k);

/// The scale is a step of its own.
bool scales_apart(const Trace& trace);
/// Some query must not look at some key.
bool has_masked_cells(const Problem& p);

}  // namespace tilewalk
