// Partial results: one query looked at different keys in different places, and what each place found is
// merged. How keys are split into parts, the steps of a merge, and their words.
//
// A lesson that merges (merge, split-kv, cascade, ring) keeps its parts in tiles of the slots m_part, w_part,
// l_part, O_part or, where parts are normalised, w_part, O_part, L_part. Tile t is the part t; its rows stand
// in a table of all parts, part below part: row t · n + r of the table is row r of its n queries.
// `merge_steps` records the steps; `explain_merge` explains them, with the letters that the lesson's `symbol`
// gives the tiles.
#pragma once

#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <functional>

namespace tilewalk {

// ---- Keys in parts

/// Of `keys` so many parts, the first ones larger by one where they do not divide.
Result<std::vector<int>> even_parts(int keys, int parts);

/// Keys of one part: a range of the rows of K and V, maybe an empty one.
struct KeyPart {
    int first = 0, count = 0;
    int last() const { return first + count - 1; }
};
/// The problem's split, or so many even parts (fewer where there are fewer keys).
std::vector<KeyPart> key_parts(const Problem& problem, int parts);

/// Parts have letters, "A", "B" …, as their numbers would look like columns: O₀. Behind Z comes AA.
std::string part_letter(int part);
/// What is merged of neighbours: "AB", of more "A…D"; no dash, which beside letters would be a minus.
std::string merged_letters(int first, int last);

// ---- The order of merging

/// One merge: the parts, by their tiles, become the tile `into`.
struct MergeNode {
    std::vector<int> parts;
    int into = 0;
    int first = 0, last = 0;  ///< of the parts that are in it by then
};
/// Merges of `parts` parts, the last of them the whole; tiles of partial merges follow those of the parts.
std::vector<MergeNode> merge_plan(int parts, MergeOrder order);

// ---- Steps

/// A merge of partial results of the queries `q` (rows of Q). `whole`: into m, ℓ, O (or O, L) on chip in
/// place of a further part.
struct Merge {
    std::vector<int> parts;
    int into = 0;
    bool whole = true;
    Region q;
    int i = -1, j = -1;  ///< of the steps
    /// Where the parts and the result stand in the table of all parts; empty: by their tiles.
    std::vector<int> places = {};
    /// A kernel of its own: what a fault leaves out of the one before, the maximum, it has.
    bool own_kernel = false;
};
/// Where part `tile` of n queries stands in the table of all parts.
Region part_region(int tile, int n, int cols);
/// m ← maxᵢ mᵢ, wᵢ ← exp(mᵢ − m), ℓ ← Σ wᵢ ℓᵢ, O ← Σ wᵢ Oᵢ; or L ← m + ln Σ exp(Lᵢ − m), wᵢ ← exp(Lᵢ − L),
/// O ← Σ wᵢ Oᵢ. A part that has seen no key has m = −∞ (L = −∞) and weighs nothing. What a step writes is
/// rounded once: m, w, ℓ and L to the format of the softmax, O to that of the accumulators.
void merge_steps(Recorder& rec, const Problem& problem, const Merge& merge, PartForm form);

/// What some keys give their queries, found in one step: m = rowmax(S), ℓ = rowsum P̃ and O = P̃ V with
/// P̃ = exp(S − m), each rounded as the tiled forward pass rounds it. A sink is a key without a value.
struct PartFound {
    Matrix m, l, O;
};
PartFound find_part(const Problem& problem, const Matrix& S, const Matrix& V, double sink = minus_infinity);
/// L = m + ln ℓ of such a part, or of a row.
Matrix log_sum_of(const Problem& problem, const Matrix& m, const Matrix& l);

/// The words of these steps.
struct MergeWords {
    const char* part = "part";  ///< what is merged: "split", "shard"
    bool own_kernel = false;    ///< as of the Merge
    /// What a tile is called within a sentence, if not "part B".
    std::function<std::string(int tile)> name = {};
    /// Where the lesson has a better sentence (or title, or kind) for a sound step.
    std::function<void()> tell = {};
};
void explain_merge(const View& v, const MergeWords& words);

/// Parts have been merged as they are into row `row` of a result, on this worker or in this kernel, and it
/// mattered: they were measured from different bases.
bool merged_without_weights(const View& v, int row);

/// How a part is made, in numbers: the scores of a row (row `row` of what was read of `scores`), measured
/// from their own maximum, and the values of the same keys. A step that has read the sink counts it as a key
/// without a value.
struct PartAtWork {
    const View& v;
    Slot scores_slot, values_slot;
    int row = 0;
    const Value& S = v.read(scores_slot);
    double best_key = best_score();
    bool sink = reads_sink();
    double most = sink ? std::max(best_key, *v.problem.logits.sink) : best_key;
    double base = base_of_weights();  ///< what is subtracted before exp

    /// The mask hides every key, or every score has overflowed to −∞ (or is NaN).
    bool blind() const { return best_key == minus_infinity; }
    bool from_sink() const { return most > best_key && !v.problem.switches.no_max; }
    Numbers scores() const;
    /// Rounded as they are written.
    Expr maximum_of_scores() const;
    Expr sum_of_weights() const;
    /// In the column of the cell that is explained.
    Expr weighted_values() const;
    /// m stays 0, and what comes of it.
    void tell_no_maximum(const std::string& query, const Line& m) const;

private:
    bool reads_sink() const;
    double best_score() const;
    double base_of_weights() const;
    Expr score(int key) const;
    Expr weight_of(const Expr& score) const;
    template <class Term> Numbers of_all_keys(const Term& term) const;
};
/// "[2]" behind the letter of a part that has several columns, "[0,2]" of one with several rows.
std::string part_index(const View& v);
/// The same of a cell of this part that step `made` has found: "[2,0]", its row among those of the part; no
/// row where the part has but one, unless that is one of a shard.
std::string part_index(const Trace& trace, const CellRef& cell, const Region& part, int made);
inline bool is_merge(Op op) { return op >= Op::merge_max && op <= Op::merge_output; }

/// m₁, w₁ …: of a slot of parts with the name of the tile below; nothing for other slots.
Line part_symbol(Slot slot, const std::string& tile);
inline bool is_of_parts(Slot slot) { return slot >= Slot::m_part && slot <= Slot::L_parts; }

}  // namespace tilewalk
