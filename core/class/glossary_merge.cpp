// Partial results and how they become one.
#include "core/class/glossary.h"

namespace tilewalk {

namespace {

constexpr const char* flashinfer = "Ye et al. 2025, FlashInfer, arXiv:2501.01005";
constexpr const char* flash_decoding =
    "Dao, Haziza, Massa, Sizov 2023, Flash-Decoding for long-context inference";
constexpr const char* ring_attention = "Liu, Zaharia, Abbeel 2023, arXiv:2310.01889";
constexpr const char* striped_attention = "Brandon et al. 2023, arXiv:2311.09431";
constexpr const char* llama = "Llama team 2024, The Llama 3 herd of models, arXiv:2407.21783";
constexpr const char* hydragen = "Juravsky et al. 2024, Hydragen, arXiv:2402.05099";
constexpr const char* paged = "Kwon et al. 2023, PagedAttention, arXiv:2309.06180";
constexpr const char* batch_invariance =
    "He 2025, Defeating Nondeterminism in LLM Inference, thinkingmachines.ai";

}  // namespace

std::vector<GlossaryCard> part_cards() {
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
    };
}

std::vector<GlossaryCard> merge_cards() {
    return {
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
         .text =
             "One query, or a few, are one tile of work and keep one worker busy. So their keys are split, "
             "workers attend to the splits side by side, and a second kernel merges what they found.",
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
        {.id = "cascade",
         .term = "shared prefix",
         .text =
             "Requests behind one system prompt begin with the same keys. All their queries attend to these "
             "together, each to its own keys alone, and both parts of a row are merged: the prefix is read "
             "once.",
         .from = {hydragen, "§3, Hydragen: decomposition and inter-sequence batching"},
         .words = "cascade inference system prompt prefix caching hydragen",
         .related = {"merge", "partial-result", "page-table", "part-lse"}},
        {.id = "page-table",
         .text =
             "Keys lie in pages of a few positions, at whatever place of HBM was free; a table says which "
             "page lies where. Addresses change, numbers do not, and sequences may share pages.",
         .from = {paged, "§4.1, PagedAttention"},
         .words = "block table paged attention vllm kv cache",
         .related = {"cascade", "hbm"}},
    };
}

std::vector<GlossaryCard> ring_cards() {
    return {
        {.id = "ring",
         .term = "ring of ranks",
         .text =
             "R ranks hold a shard of Q, K and V each. In round t rank r has the keys of rank (r − t) mod R, "
             "merges what they give, and hands them on meanwhile. No rank ever has all of K and V.",
         .from = {ring_attention, "§3, Ring Attention"},
         .words = "ring attention context parallelism sequence parallelism",
         .related = {"merge", "partial-result", "zig-zag", "striped"}},
        {.id = "gradients-on-a-ring",
         .term = "gradients on a ring",
         .text =
             "Backward dK and dV follow their keys one round behind. Each rank adds its share to the sum "
             "that "
             "arrives, and after R rounds one more hand-over brings them home. dQ stays with its queries.",
         .from = {ring_attention, "§3 and Appendix A"},
         .words = "ring attention backward dK dV home",
         .related = {"ring", "key-share", "key-gradient"}},
        {.id = "key-share",
         .term = "share of dK",
         .slots = {Slot::dK_part},
         .shape = "of one shard: N ÷ R × d",
         .text = "ΔK = scale · dSᵀ Q over the queries of one rank: what they add to dK of the shard that is "
                 "with them. It waits in HBM for the sum of the ranks before.",
         .from = {ring_attention, "§3 and Appendix A"},
         .words = "delta K dK_part",
         .related = {"gradients-on-a-ring", "key-gradient", "value-share"}},
        {.id = "value-share",
         .term = "share of dV",
         .slots = {Slot::dV_part},
         .shape = "of one shard: N ÷ R × d",
         .text =
             "ΔV = Pᵀ dO over the queries of one rank: what they add to dV of the shard that is with them.",
         .from = {ring_attention, "§3 and Appendix A"},
         .words = "delta V dV_part",
         .related = {"gradients-on-a-ring", "value-gradient", "key-share"}},
        {.id = "zig-zag",
         .term = "zig-zag shards",
         .text =
             "Of 2 R pieces of the sequence rank r has the r-th and the r-th from behind, an early and a "
             "late "
             "one. With a causal mask every rank then has as much to compute as the others, in every round.",
         .from = {llama, "§3.3.2, context parallelism"},
         .words = "load balance causal zigzag",
         .related = {"ring", "causal-mask", "striped"}},
        {.id = "striped",
         .term = "striped shards",
         .text = "Rank r has every R-th position, beginning with the r-th. With a causal mask a rank then "
                 "has nearly "
                 "as much to compute as any other: a row differs by one key at most.",
         .from = {striped_attention, "§3, Striped Attention"},
         .words = "load balance causal stripe",
         .related = {"ring", "causal-mask", "zig-zag"}},
    };
}

}  // namespace tilewalk
