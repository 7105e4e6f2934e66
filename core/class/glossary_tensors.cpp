#include "core/class/glossary.h"

namespace tilewalk {

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<GlossaryCard> tensor_cards() {
    return {
        {.id = "queries",
         .slots = {Slot::Q, Slot::Qi},
         .shape = "N × d; a block Qᵢ: Br × d",
         .text = "One row per position: what that position asks of the others. Flash attention loads a block "
                 "of Br rows at a time.",
         .from = {source::attention, "§3.2.1, equation (1)"},
         .words = "query",
         .related = {"keys", "values", "scores", "block-rows"}},
        {.id = "keys",
         .slots = {Slot::K, Slot::Kj, Slot::K_in},
         .shape = "N × d; a block Kⱼ: Bc × d",
         .text = "One row per position: what a query is held against. Their dot product is the score.",
         .from = {source::attention, "§3.2.1, equation (1)"},
         .words = "key",
         .related = {"queries", "values", "scores", "block-columns"}},
        {.id = "values",
         .slots = {Slot::V, Slot::Vj, Slot::V_in},
         .shape = "N × d; a block Vⱼ: Bc × d",
         .text =
             "One row per position: what it hands on. The output of a query is the average of these rows, "
             "weighted by the softmax of its scores.",
         .from = {source::attention, "§3.2.1, equation (1)"},
         .words = "value",
         .related = {"keys", "weights", "output"}},
        {.id = "scores",
         .slots = {Slot::S, Slot::S_hbm},
         .shape = "N × N; a tile: Br × Bc",
         .text = "S = Q Kᵀ, scaled and masked: how well each key answers each query. Standard attention "
                 "writes all of it to HBM, flash attention keeps one tile on chip.",
         .from = {source::flash1, "§2.2 and Algorithm 0, line 1; a tile: Algorithm 1, line 9"},
         .words = "logits QK^T score matrix",
         .related = {"queries", "keys", "scale", "mask", "tile"}},
        {.id = "unnormalised-weights",
         .term = "undivided weights",
         .slots = {Slot::P, Slot::E},
         .shape = "Br × Bc",
         .text = "P̃ = exp(S − m) with the maximum known so far. Divided by the row sum ℓ at the end, it is "
                 "the softmax.",
         .from =
             {source::flash2,
              "Algorithm 1, line 9; in the first paper Algorithm 1, line 10, with the tile's own maximum"},
         .words = "P tilde exponentials numerator",
         .related = {"weights", "running-max", "running-sum"}},
        {.id = "weights",
         .term = "attention weights",
         .slots = {Slot::Prob, Slot::P_hbm},
         .shape = "N × N; a tile: Br × Bc",
         .text =
             "P = softmax(S), row by row: not negative, and each row sums to 1. The backward pass of flash "
             "attention makes it again from S and L.",
         .from = {source::flash1,
                  "§2.2 and Algorithm 0, line 2; from L: arXiv:2307.08691, Algorithm 2, line 11"},
         .words = "probabilities softmax",
         .related = {"scores", "unnormalised-weights", "log-sum-exp", "recomputation"}},
        {.id = "output",
         .slots = {Slot::O},
         .shape = "N × d",
         .text = "O = P V: for each query the average of the values, weighted by its row of P.",
         .from = {source::attention,
                  "§3.2.1, equation (1); as O = P V: arXiv:2205.14135, Algorithm 0, line 3"},
         .words = "result attention",
         .related = {"weights", "values", "accumulator"}},
        {.id = "accumulator",
         .term = "output accumulator",
         .slots = {Slot::Oi},
         .shape = "Br × d",
         .text =
             "The sum P̃ V over the tiles seen so far, not yet divided by ℓ. When a maximum rises, the old "
             "sum is first multiplied by α.",
         .from = {source::flash2, "Algorithm 1, lines 10 and 12"},
         .words = "Oi partial output",
         .related = {"output", "correction", "normalisation", "rescaling"}},
        {.id = "layer-input",
         .term = "input of the layer",
         .slots = {Slot::X, Slot::X_kv},
         .shape = "N × d_model",
         .text =
             "The rows that Q, K and V are projected from. With cross-attention keys and values come from "
             "another input, X_kv.",
         .from = {source::attention, "§3.2.2 (projections), §3.2.3 (where keys and values come from)"},
         .words = "X Xkv embedding hidden cross-attention",
         .related = {"query-projection", "key-projection", "value-projection"}},
        {.id = "query-projection",
         .term = "weights of the queries",
         .slots = {Slot::W_Q},
         .shape = "d_model × d",
         .text = "Q = X W_Q. Learned; the training step changes it by its gradient.",
         .from = {source::attention, "§3.2.2"},
         .words = "WQ W^Q projection",
         .related = {"layer-input", "queries", "query-projection-gradient"}},
        {.id = "key-projection",
         .term = "weights of the keys",
         .slots = {Slot::W_K},
         .shape = "d_model × d",
         .text = "K = X W_K. Learned, like the other two projections.",
         .from = {source::attention, "§3.2.2"},
         .words = "WK W^K projection",
         .related = {"layer-input", "keys", "key-projection-gradient"}},
        {.id = "value-projection",
         .term = "weights of the values",
         .slots = {Slot::W_V},
         .shape = "d_model × d",
         .text = "V = X W_V. Learned, like the other two projections.",
         .from = {source::attention, "§3.2.2"},
         .words = "WV W^V projection",
         .related = {"layer-input", "values", "value-projection-gradient"}},
    };
}

}  // namespace tilewalk
