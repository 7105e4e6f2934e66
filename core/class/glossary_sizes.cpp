#include "core/class/glossary.h"

namespace tilewalk {

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<GlossaryCard> length_cards() {
    return {
        {.id = "sequence-length",
         .letter = letter("N"),
         .text = "Number of positions, and so of rows of Q, K, V and O. With cross-attention the keys have a "
                 "length of their own, N_kv.",
         .from = {source::flash1, "§2.2"},
         .words = "N_kv tokens positions context",
         .related = {"head-dimension", "scores"}},
        {.id = "head-dimension",
         .letter = letter("d"),
         .text = "Number of columns of Q, K, V and O of one head.",
         .from = {source::flash1, "§2.2; as d_k: arXiv:1706.03762, §3.2.1"},
         .words = "d_k width",
         .related = {"sequence-length", "scale", "heads"}},
        {.id = "model-dimension",
         .letter = letter("d"),
         .below = "model",
         .text = "Number of columns of the layer's input, before the projections.",
         .from = {source::attention, "§3.2.2"},
         .words = "d_model hidden size",
         .related = {"layer-input", "head-dimension"}},
        {.id = "block-rows",
         .term = "query rows per tile",
         .letter = letter("B"),
         .below = "r",
         .text =
             "How many query rows a tile has. The first paper takes min(⌈M/4d⌉, d) for M elements of SRAM.",
         .from = {source::flash1, "Algorithm 1, line 1"},
         .words = "Br block size",
         .related = {"block-columns", "query-blocks", "tile", "sram"}},
        {.id = "block-columns",
         .term = "key rows per tile",
         .letter = letter("B"),
         .below = "c",
         .text = "How many key rows, and so columns of S, a tile has. The first paper takes ⌈M/4d⌉ for M "
                 "elements of SRAM.",
         .from = {source::flash1, "Algorithm 1, line 1"},
         .words = "Bc block size",
         .related = {"block-rows", "key-blocks", "tile", "sram"}},
        {.id = "query-blocks",
         .term = "number of query blocks",
         .letter = letter("T"),
         .below = "r",
         .text = "⌈N / Br⌉. A query block is numbered i, from 0 in this program and from 1 in the papers.",
         .from = {source::flash1, "Algorithm 1, line 3"},
         .words = "Tr i outer loop",
         .related = {"block-rows", "key-blocks", "loop-order"}},
        {.id = "key-blocks",
         .term = "number of key blocks",
         .letter = letter("T"),
         .below = "c",
         .text = "⌈N / Bc⌉. A key block is numbered j, from 0 in this program and from 1 in the papers.",
         .from = {source::flash1, "Algorithm 1, line 3"},
         .words = "Tc j inner loop",
         .related = {"block-columns", "query-blocks", "loop-order"}},
        {.id = "tile",
         .shape = "Br × Bc",
         .text = "The part of S between one query block and one key block, (i, j): small enough to stay on "
                 "chip.",
         .from = {source::flash1, "§3.1, Tiling, and figure 1"},
         .words = "block",
         .related = {"tiling", "block-rows", "block-columns", "skipped-tile"}},
        {.id = "tiling",
         .text = "Attention computed block by block, so that the N × N matrices never exist as a whole.",
         .from = {source::flash1, "§3.1"},
         .words = "blocks flash attention",
         .related = {"tile", "online-softmax", "hbm-traffic"}},
        {.id = "loop-order",
         .term = "order of the loops",
         .text = "FlashAttention-1 has key blocks outside and stores O, m and ℓ after every tile. "
                 "FlashAttention-2 has query blocks outside, so they stay on chip until a block is done.",
         .from =
             {source::flash2,
              "§3.2 and Algorithm 1, lines 3 and 6; before: arXiv:2205.14135, Algorithm 1, lines 5 and 7"},
         .words = "outer inner flash1 flash2",
         .related = {"query-blocks", "key-blocks", "hbm-traffic"}},
    };
}

std::vector<GlossaryCard> logit_cards() {
    return {
        {.id = "scale",
         .term = "softmax scale",
         .text = "The factor in front of Q Kᵀ, mostly 1/√d: it keeps the spread of the scores independent of "
                 "d.",
         .from = {source::attention, "§3.2.1, equation (1)"},
         .words = "1/sqrt(d) temperature tau scaling",
         .related = {"scores", "head-dimension"}},
        {.id = "softcap",
         .slots = {Slot::S_cap},
         .text = "Scores become cap · tanh(S ÷ cap): almost themselves near 0, and never beyond the cap. "
                 "Going back, a "
                 "gradient is multiplied by the slope 1 − (S ÷ cap)². It comes before the bias and the mask.",
         .from = {"Gemma Team 2024, arXiv:2408.00118",
                  "§2, Logit soft-capping; the order: flash_fwd_kernel.h of "
                  "FlashAttention from version 2.6 on"},
         .words = "soft cap logit soft-capping tanh gemma",
         .related = {"scores", "scale", "alibi"}},
        {.id = "alibi",
         .term = "ALiBi bias",
         .text = "Every score loses slope · distance, the distance between the positions of query and key: "
                 "the farther "
                 "a key, the less it counts, without an embedding of positions. Each head has a slope of its "
                 "own.",
         .from = {"Press, Smith and Lewis 2021, arXiv:2108.12409", "§3"},
         .words = "linear biases slope distance position relative",
         .related = {"scores", "softcap", "mask"}},
        {.id = "sink",
         .slots = {Slot::sink},
         .text = "One more logit for every query, learned, without a value: it takes a share of the softmax "
                 "and gives "
                 "nothing, so a query need not attend to any key. m starts at it and ℓ at exp(0) = 1.",
         .from = {"OpenAI 2025, gpt-oss, arXiv:2508.10925",
                  "Architecture, Attention; the name: Xiao et al. 2023, "
                  "arXiv:2309.17453"},
         .words = "attention sink learned bias denominator gpt-oss off-by-one",
         .related = {"running-max", "running-sum", "sink-gradient"}},
        {.id = "sink-gradient",
         .term = "gradient of the sink",
         .slots = {Slot::dsink, Slot::dsink_in},
         .text = "dsink = −Σ P D over all queries, P the sink's weight in the row: without a value its dP is "
                 "0, and dS = "
                 "P (dP − D) is −P D.",
         .from = {source::flash1, "follows from appendix B.2, equation for dS"},
         .words = "dsink",
         .related = {"sink", "scores"}},
    };
}

std::vector<GlossaryCard> mask_cards() {
    return {
        {.id = "mask",
         .letter = letter("−∞"),
         .text = "Scores that a query must not see are set to −∞, so that their exponential is 0. Shown "
                 "crossed.",
         .from = {source::attention, "§3.2.3, last point; in tiles: arXiv:2205.14135, Algorithm 2, line 11"},
         .words = "masked minus infinity",
         .related = {"causal-mask", "window", "skipped-tile", "fully-masked-row"}},
        {.id = "causal-mask",
         .text =
             "A query sees no later position. Here it is aligned at the bottom right: the last query sees "
             "the last key.",
         .from = {source::flash2, "§3.1.1, Causal masking"},
         .words = "autoregressive triangular",
         .related = {"mask", "skipped-tile", "window"}},
        {.id = "window",
         .term = "sliding window",
         .letter = letter("W"),
         .text = "A query sees at most W positions before its own (and, without a causal mask, after it).",
         .from = {"Beltagy, Peters and Cohan 2020, arXiv:2004.05150", "§3.1, Sliding Window"},
         .words = "local attention",
         .related = {"mask", "causal-mask", "skipped-tile"}},
        {.id = "skipped-tile",
         .text = "A tile of which the mask leaves nothing is neither loaded nor computed.",
         .from = {source::flash2, "§3.1.1, Causal masking, first point"},
         .words = "skip block-sparse",
         .related = {"causal-mask", "window", "tile"}},
        {.id = "fully-masked-row",
         .text =
             "A query that sees no key at all: its maximum stays −∞ and its sum 0. Its output is set to 0 "
             "instead of the undefined 0 ÷ 0.",
         .from = {source::attention,
                  "follows from §3.2.3; the papers leave the case open, 0 is this program's choice"},
         .words = "NaN empty row",
         .related = {"mask", "running-max", "running-sum"}},
    };
}

std::vector<GlossaryCard> head_cards() {
    return {
        {.id = "heads",
         .letter = letter("H"),
         .text = "Attention runs once per head, each with its own Q, K and V of d columns. Heads do not "
                 "depend on each other.",
         .from = {source::attention, "§3.2.2"},
         .words = "multi-head MHA batch",
         .related = {"kv-heads", "head-dimension"}},
        {.id = "kv-heads",
         .term = "key-value heads",
         .letter = letter("H"),
         .below = "kv",
         .text = "Grouped-query attention: several query heads share the keys and values of one head. With a "
                 "single one it is multi-query attention.",
         .from = {"Ainslie et al. 2023, arXiv:2305.13245", "§2.2; in tiles: arXiv:2307.08691, §3.1.2"},
         .words = "GQA MQA grouped-query multi-query kv",
         .related = {"heads", "keys", "values"}},
    };
}

}  // namespace tilewalk
