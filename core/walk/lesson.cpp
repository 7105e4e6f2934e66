#include "core/walk/lesson.h"

#include "core/base/numbers.h"
#include "core/lessons/backward/explain.h"
#include "core/lessons/backward/flash_backward.h"
#include "core/lessons/dense/attention.h"
#include "core/lessons/dense/backward.h"
#include "core/lessons/dense/explain.h"
#include "core/lessons/dense/model.h"
#include "core/lessons/dense/training_step.h"
#include "core/lessons/forward/explain_scores.h"
#include "core/lessons/forward/explain_v1.h"
#include "core/lessons/forward/flash_forward.h"
#include "core/lessons/forward/flash_forward_v1.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/flash_model.h"
#include "core/lessons/softmax/explain.h"
#include "core/lessons/softmax/walk.h"

#include <algorithm>

namespace tilewalk {

namespace {

std::string query_block(const Problem&, int phase) { return "Query block " + std::to_string(phase); }

std::string key_block(const Problem&, int phase) { return "Key block " + std::to_string(phase); }
std::string outer_block(const Problem& p, int phase) {
    return p.options.order == BackwardOrder::key_outer ? key_block(p, phase) : query_block(p, phase);
}

constexpr Slot forward_results[] = {Slot::O, Slot::L};
constexpr Slot softmax_results[] = {Slot::O, Slot::m, Slot::l};
constexpr Slot attention_results[] = {Slot::O, Slot::P_hbm};
constexpr Slot backward_results[] = {Slot::dQ, Slot::dK, Slot::dV};
constexpr Slot training_results[] = {Slot::W_Q, Slot::W_K, Slot::W_V, Slot::dQ, Slot::dK, Slot::dV, Slot::O};
constexpr Slot v1_results[] = {Slot::O, Slot::m_hbm, Slot::l_hbm};
constexpr Slot gradients[] = {Slot::dQ, Slot::dK, Slot::dV};

}  // namespace

std::span<const Lesson> lessons() {
    static const Lesson table[] = {
        {"attention", "Attention",
         "Standard attention: three kernels that hand the N × N scores and weights to each other through "
         "HBM.",
         attention, attention_bytes, attention_code, explain_dense, standard_forward_model, nullptr,
         attention_lane, true, attention_results},
        {"softmax-3pass", "Softmax in three passes",
         "One row of attention the safe way: the maximum, then the sum, then the output; every score is read "
         "three times.",
         softmax_3pass, softmax_bytes<3>, softmax_code<3>, explain_softmax, softmax_model<3>, nullptr,
         softmax_lane<3>, false, softmax_results},
        {"softmax-2pass", "Online softmax, two passes",
         "Maximum and sum in one pass: the sum is re-based whenever the maximum rises.", softmax_2pass,
         softmax_bytes<2>, softmax_code<2>, explain_softmax, softmax_model<2>, nullptr, softmax_lane<2>,
         false, softmax_results},
        {"softmax-1pass", "Attention in one pass",
         "Maximum, sum and output together, every score read once: FlashAttention for one row.",
         softmax_1pass, softmax_bytes<1>, softmax_code<1>, explain_softmax, softmax_model<1>, nullptr,
         softmax_lane<1>, false, softmax_results},
        {"flash-forward", "Flash forward",
         "The tiled forward pass: online softmax with m, ℓ and the rescaled O, tile by tile "
         "(FlashAttention-2 order).",
         flash_forward, flash_forward_bytes, flash_forward_code, explain_forward, flash_forward_model,
         standard_forward_model, query_block, false, forward_results, forward_faults()},
        {"flash-forward-v1", "Flash forward, first version",
         "The same pass with the key blocks outside: O, m and ℓ go through HBM in every tile "
         "(FlashAttention-1 order).",
         flash_forward_v1, flash_forward_v1_bytes, flash_forward_v1_code, explain_v1, flash_forward_v1_model,
         standard_forward_model, key_block, false, v1_results, forward_faults()},
        {"backward", "Backward",
         "The gradients of standard attention: dV, dP, the softmax's dS, dQ and dK, from dO and the stored "
         "P.",
         backward, backward_bytes, backward_code, explain_dense, backward_model, nullptr, backward_lane, true,
         backward_results},
        {"flash-backward", "Flash backward",
         "The tiled backward pass: P is recomputed from L tile by tile, and gives dV, dP, dS, dQ and dK.",
         flash_backward, flash_backward_bytes, flash_backward_code, explain_flash_backward,
         flash_backward_model, backward_model, outer_block, false, gradients, backward_faults()},
        {"training-step", "Training step",
         "Where the gradients go: one update of W_Q, W_K and W_V, and the loss before and after it.",
         training_step, training_step_bytes, training_step_code, explain_dense, training_step_model, nullptr,
         training_step_lane, true, training_results},
    };
    return table;
}

const Lesson* find_lesson(std::string_view id) {
    for (const Lesson& lesson : lessons())
        if (id == lesson.id) return &lesson;
    return nullptr;
}

const Lesson& default_lesson() { return *find_lesson("flash-forward"); }

bool breaks(const Lesson& lesson, const Problem& p) {
    if (lesson.faults.empty()) return false;
    return p.precision.any() ||
           std::ranges::any_of(lesson.faults, [&](const Fault& fault) { return p.switches.*fault.on; });
}

const Lesson& lesson_of(const Trace& trace) { return *find_lesson(trace.lesson()); }

std::optional<std::string> refuse(const Lesson& lesson, const Problem& problem) {
    if (auto sentence = validate(problem)) return sentence;
    if (std::ranges::find(lesson.results, Slot::dQ) != lesson.results.end())
        if (auto sentence = validate_gradients(problem)) return sentence;
    if (std::ranges::find(lesson.results, Slot::W_Q) != lesson.results.end())
        if (auto sentence = validate_update(problem)) return sentence;
    const std::int64_t need = lesson.estimate(problem);
    if (need <= step_budget_bytes) return {};
    return "Walking through N = " + format_count(problem.N()) + ", N_kv = " + format_count(problem.N_kv()) +
           ", d = " + std::to_string(problem.d()) + " with " + std::to_string(problem.Br) + " × " +
           std::to_string(problem.Bc) + " tiles would record about " + format_size(need) + "; the limit is " +
           format_size(step_budget_bytes) + ". Choose a smaller problem or larger tiles.";
}

Result<std::shared_ptr<const Trace>> build_trace(const Lesson& lesson, const Problem& problem) {
    if (auto sentence = refuse(lesson, problem)) return Failure{*sentence};
    return lesson.build(problem);
}

}  // namespace tilewalk
