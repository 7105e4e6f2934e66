// Partial results and how they become one.
#include "core/class/glossary.h"

namespace tilewalk {

namespace {

constexpr const char* flashinfer = "Ye et al. 2025, FlashInfer, arXiv:2501.01005";
constexpr const char* flash_decoding =
    "Dao, Haziza, Massa, Sizov 2023, Flash-Decoding for long-context inference";
constexpr const char* batch_invariance =
    "He 2025, Defeating Nondeterminism in LLM Inference, thinkingmachines.ai";

}  // namespace

std::vector<GlossaryCard> merge_cards() {
    return {
        {.id = "partial-result",
         .slots = {Slot::O_part, Slot::O_parts},
         .shape = "parts × d",
         .text =
             "What a query finds in one part of the keys: m, ℓ and an O that is not divided, or L and the O "
             "that is. Any two partial results over different keys can be merged.",
         .from = {flashinfer, "§2.2, Attention Composition"},
         .words = "attention state",
         .related = {"merge", "part-weight", "part-lse"}},
        {.id = "part-max",
         .term = "maximum of a part",
         .slots = {Slot::m_part},
         .shape = "parts",
         .text = "The largest score of one part of the keys; −∞ where the part is empty or masked whole. The "
                 "sums of "
                 "the part are measured from it.",
         .from = {source::online, "§3.1, equation (4)"},
         .related = {"running-max", "part-sum", "merge"}},
        {.id = "part-sum",
         .term = "sum of a part",
         .slots = {Slot::l_part},
         .shape = "parts",
         .text = "The weights of one part of the keys, measured from the maximum of that part, added up.",
         .from = {source::online, "§3.1, equation (4)"},
         .related = {"running-sum", "part-max", "part-weight"}},
        {.id = "part-lse",
         .term = "log-sum-exp of a part",
         .slots = {Slot::L_part, Slot::L_parts},
         .shape = "parts",
         .text = "Lᵢ = mᵢ + ln ℓᵢ: the logarithm of the sum of all exponentials of a part. Kernels store it "
                 "beside "
                 "the divided O, so that the parts can be merged.",
         .from = {flashinfer, "§2.2, Attention Composition"},
         .words = "LSE",
         .related = {"log-sum-exp", "part-weight", "merge"}},
        {.id = "part-weight",
         .term = "weight of a part",
         .slots = {Slot::w_part},
         .shape = "parts",
         .text = "w = exp(mᵢ − m) brings the sums of a part to the common maximum; of normalised parts it is "
                 "exp(Lᵢ − L), the share of the part, and all shares add up to 1.",
         .from = {flashinfer, "§2.2, Attention Composition"},
         .words = "w rescale",
         .related = {"correction", "merge", "partial-result"}},
        {.id = "merge",
         .term = "merge of partial results",
         .text = "m = max mᵢ, ℓ = Σ exp(mᵢ − m) ℓᵢ, O = Σ exp(mᵢ − m) Oᵢ. Associative and commutative: any "
                 "order and "
                 "any tree over the parts gives the same, up to rounding.",
         .from = {flashinfer, "§2.2, Attention Composition"},
         .words = "merge_state combine",
         .related = {"partial-result", "part-weight", "rescaling", "batch-invariance"}},
        {.id = "split-kv",
         .term = "split keys",
         .text = "One query is one row of work and keeps one worker busy. So its keys are split, workers "
                 "attend to "
                 "the splits side by side, and a second kernel merges what they found.",
         .from = {flash_decoding, "the section on splitting the keys"},
         .words = "flash-decoding decode num_splits",
         .related = {"merge", "partial-result", "part-lse"}},
        {.id = "batch-invariance",
         .text = "A row of a batch comes out with the same bits whatever else is in the batch. Parts of a "
                 "fixed size "
                 "keep the tree of merges; a number of parts that follows the load does not.",
         .from = {batch_invariance, "section Batch-invariant attention"},
         .words = "determinism nondeterminism",
         .related = {"merge", "ulp"}},
    };
}

}  // namespace tilewalk
