#include "core/class/glossary.h"

namespace tilewalk {

namespace {

// The running output that waits for its division, in each of the three notations.
GlossaryCard deferred(const char* id, const char* term, const char* out) {
    return {.id = id,
            .term = term,
            .letter = letter(out, Role::O, true),
            .shape = "d",
            .text = "The output so far without the division by the sum: it becomes α times itself plus p V, "
                    "and is divided once, after the last element.",
            .from = {source::flash2, "§3.1.1, first change"},
            .words = "tilde deferred normalisation",
            .related = {"accumulator", "normalisation", "output-o-prime"}};
}

}  // namespace

std::vector<GlossaryCard> statistics_cards() {
    return {
        {.id = "tile-max",
         .term = "row maximum of this tile",
         .slots = {Slot::m_tile},
         .shape = "Br",
         .text = "m̃ = rowmax(S): the largest score of each row within the tile that is on chip.",
         .from = {source::flash1, "Algorithm 1, line 10"},
         .words = "m tilde rowmax local maximum",
         .related = {"running-max", "scores"}},
        {.id = "running-max",
         .term = "running row maximum",
         .slots = {Slot::m, Slot::m_hbm},
         .shape = "Br; all rows: N",
         .text = "The largest score of each row over all tiles so far: m = max(m, m̃). All exponentials are "
                 "measured from it, so none is above 1.",
         .from = {source::flash2, "Algorithm 1, line 9; in the first paper Algorithm 1, line 11"},
         .words = "m_new m_old rowmax",
         .related = {"tile-max", "correction", "safe-softmax"}},
        {.id = "running-sum",
         .term = "running row sum",
         .slots = {Slot::l, Slot::l_hbm},
         .shape = "Br; all rows: N",
         .text = "ℓ = α ℓ + rowsum(P̃): the denominator of the softmax over all tiles so far, measured from "
                 "the current maximum.",
         .from = {source::flash2, "Algorithm 1, line 9; in the first paper Algorithm 1, line 11"},
         .words = "l ell rowsum denominator normaliser",
         .related = {"running-max", "correction", "normalisation"}},
        {.id = "correction",
         .term = "correction factor",
         .slots = {Slot::alpha},
         .shape = "Br",
         .text = "α = exp(m_old − m): brings ℓ and O from the old maximum to the new one. It is 1 where "
                 "the maximum stays, and below 1 where it rises.",
         .from = {source::flash2, "Algorithm 1, lines 9 and 10, as the factor exp(m_old − m_new); the letter "
                                  "α is this program's"},
         .words = "alpha rescale factor",
         .related = {"running-max", "running-sum", "accumulator", "rescaling"}},
        {.id = "log-sum-exp",
         .term = "log-sum-exp of the row",
         .slots = {Slot::L, Slot::Li},
         .shape = "N; a block: Br",
         .text = "L = m + ln ℓ: one number per row in which maximum and sum are both contained. The backward "
                 "pass needs nothing else to make P again: P = exp(S − L).",
         .from = {source::flash2, "§3.1.1 and Algorithm 1, line 13"},
         .words = "LSE logsumexp",
         .related = {"running-max", "running-sum", "recomputation"}},
    };
}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<GlossaryCard> row_cards() {
    return {
        {.id = "row-of-scores",
         .term = "one row of scores",
         .slots = {Slot::x},
         .shape = "N",
         .text = "The scores of one query, element by element: the row that the softmax lessons read once, "
                 "twice or three times.",
         .from = {source::online, "§2, equation (1)"},
         .words = "logits",
         .related = {"scores", "safe-softmax", "online-softmax"}},
        {.id = "sum-d",
         .term = "sum of the row",
         .letter = letter("d", Role::l),
         .text = "The sum of exp(x − m) with the final maximum m, the denominator of safe softmax. Elsewhere "
                 "in the program it is ℓ.",
         .from = {source::online, "Algorithm 2, line 7"},
         .words = "denominator normaliser",
         .related = {"sum-d-prime", "running-sum", "safe-softmax"}},
        {.id = "sum-d-prime",
         .term = "corrected sum",
         .letter = letter("d′", Role::l),
         .text =
             "The sum so far, measured from the maximum so far; at the last element it is d. Each rise of "
             "the maximum multiplies it by α.",
         .from = {source::online,
                  "Algorithm 3, line 5 (there d); the name d′: Ye 2023, section Online Softmax"},
         .words = "d' surrogate sequence",
         .related = {"sum-d", "sum-delta", "correction", "online-softmax"}},
        {.id = "sum-delta",
         .term = "corrected sum, as δ",
         .letter = letter("δ", Role::l),
         .text = "Another letter for d′: the sum of exponentials so far, measured from the maximum so far.",
         .from = {source::online, "Algorithm 3, line 5 (there d)"},
         .words = "delta",
         .related = {"sum-d-prime", "output-omega"}},
        {.id = "output-row",
         .term = "output of the row",
         .letter = letter("o", Role::O),
         .shape = "d",
         .text = "The sum of the values so far, each times its final weight. One row of O when the last "
                 "element is in it.",
         .from = {source::notes, "section FlashAttention, the algorithm Multi-pass Self-Attention"},
         .related = {"output", "output-o-prime", "share"}},
        {.id = "output-o-prime",
         .term = "corrected output",
         .letter = letter("o′", Role::O),
         .shape = "d",
         .text =
             "The output so far, as if the row ended here: measured from the maximum so far and divided by "
             "the sum so far. It depends only on its own predecessor, which makes one pass enough.",
         .from = {source::notes, "section FlashAttention, the algorithm FlashAttention"},
         .words = "o' surrogate",
         .related = {"output-row", "output-omega", "output-deferred", "online-softmax"}},
        {.id = "output-omega",
         .term = "corrected output, as ω",
         .letter = letter("ω", Role::O),
         .shape = "d",
         .text = "Another letter for o′: the normalised output of the elements so far.",
         .from = {source::notes, "section FlashAttention, the algorithm FlashAttention (there o′)"},
         .words = "omega",
         .related = {"output-o-prime", "sum-delta"}},
        deferred("output-deferred", "undivided output", "o"),
        deferred("output-deferred-O", "undivided output, as Õ", "O"),
        deferred("output-deferred-omega", "undivided output, as ω̃", "ω"),
        {.id = "element-weight",
         .term = "weight of an element",
         .letter = letter("p", Role::S),
         .text = "p = exp(x − m): one exponential, before the division by the sum.",
         .from = {source::online, "Algorithm 3, line 5, second term"},
         .related = {"unnormalised-weights", "share"}},
        {.id = "share",
         .term = "share of an element",
         .letter = letter("a", Role::S),
         .text = "a = exp(x − m) ÷ d with the final maximum and sum: one attention weight of this row.",
         .from = {source::notes, "section (Safe) Softmax, the algorithm 3-pass safe softmax"},
         .words = "attention weight",
         .related = {"weights", "element-weight"}},
    };
}

std::vector<GlossaryCard> idea_cards() {
    return {
        {.id = "safe-softmax",
         .text = "The maximum of the row is subtracted before the exponentials. The quotient stays the same, "
                 "and no exponential overflows, as it does in the textbook's softmax where exp of a score is "
                 "larger than any number of the machine.",
         .from = {source::online, "§2, equation (2) and Algorithm 2"},
         .words = "numerically stable textbook overflow",
         .related = {"online-softmax", "running-max", "sum-d"}},
        {.id = "online-softmax",
         .text = "Maximum and sum in the same pass: when the maximum rises, the sum so far is multiplied by "
                 "exp(m_old − m). This is what lets a row be read in tiles.",
         .from = {source::online, "§3, Algorithm 3; of two parts: §3.1"},
         .words = "streaming incremental",
         .related = {"safe-softmax", "sum-d-prime", "correction", "tiling"}},
        {.id = "rescaling",
         .text =
             "What was summed from an old maximum is multiplied by α, so that it is measured from the new "
             "one. Nothing has to be read again.",
         .from = {source::flash1, "§3.1, Tiling"},
         .words = "correction re-basing",
         .related = {"correction", "accumulator", "running-sum"}},
        {.id = "normalisation",
         .term = "deferred normalisation",
         .letter = letter("÷ ℓ", Role::l),
         .text = "O is divided by ℓ once, after the last tile, instead of after every one.",
         .from = {source::flash2, "§3.1.1 and Algorithm 1, line 12"},
         .words = "division divide normalize",
         .related = {"accumulator", "running-sum"}},
        {.id = "start-values",
         .text = "Before the first tile m = −∞, ℓ = 0 and O = 0, so that the first correction, α = exp(−∞) = "
                 "0, removes nothing.",
         .from = {source::flash2, "Algorithm 1, line 5"},
         .words = "init initial",
         .related = {"running-max", "running-sum", "accumulator"}},
        {.id = "lazy-softmax",
         .text = "Sum up weighted values and weights, and divide at the end; with the maximum carried along, "
                 "attention needs no N × N memory. Published before FlashAttention, without its traffic "
                 "savings.",
         .from = {source::lazy,
                  "§2 (the sums), §3 (the maximum); compared in arXiv:2205.14135, Appendix B.5"},
         .words = "memory-efficient attention",
         .related = {"online-softmax", "normalisation"}},
    };
}

}  // namespace tilewalk
