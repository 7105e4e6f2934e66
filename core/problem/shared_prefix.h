// Several sequences that begin with the same keys, as requests behind one system prompt do: which queries and
// which further keys belong to which of them, in which blocks the keys are taken, and where those lie in HBM.
#pragma once

#include "core/problem/mask.h"

namespace tilewalk {

/// Keys that are loaded together.
struct KeyBlock {
    int first = 0, keys = 0;
};

/// One sequence: its queries, and its own keys (the suffix) behind those that all share.
struct Sequence {
    int first_query = 0, queries = 0, first_key = 0, keys = 0;
};

/// Queries, and the keys behind the prefix, are divided among the sequences in order, the first ones larger
/// by one where they do not divide. A block holds keys of the prefix or of one sequence alone: a page, where
/// keys lie in pages, else at most Bc keys.
struct SharedPrefix {
    explicit SharedPrefix(const Problem& problem);

    int prefix = 0;  ///< keys that all sequences share
    std::vector<Sequence> sequences;
    std::vector<KeyBlock> blocks;  ///< of the prefix, then of each sequence
    std::vector<int> places;       ///< where each of them lies in HBM; without pages in order

    int count() const { return static_cast<int>(sequences.size()); }
    const Sequence& of(int sequence) const { return sequences[static_cast<std::size_t>(sequence)]; }
    /// Blocks of the prefix (−1) or of one sequence, as numbers from first to first + count − 1.
    struct Range {
        int first = 0, count = 0;
        int end() const { return first + count; }
    };
    Range blocks_of(int sequence) const { return ranges_[static_cast<std::size_t>(sequence + 1)]; }
    const KeyBlock& block(int number) const { return blocks[static_cast<std::size_t>(number)]; }
    int place(int number) const { return places[static_cast<std::size_t>(number)]; }
    /// The block that lies at this place.
    int block_at(int place) const;
    int sequence_of_query(int row) const;
    /// −1: a key of the prefix.
    int sequence_of_key(int key) const;
    /// Query `row` belongs to a sequence that has this key.
    bool sees(int row, int key) const;

    // ---- A causal mask and a window within each sequence: the prefix, then its own keys

    /// Where they stand in their sequence. The last query stands at the last key; those of a sequence with
    /// more queries than keys of its own begin within the prefix, or before it.
    int position_of_query(int row) const;
    int position_of_key(int key) const;
    int distance(int row, int key) const;
    /// The sequence has the key, and neither a causal mask nor a window hides it.
    bool visible(int row, int key) const;
    /// As the kernel has it: a broken mask lets one key too many through where it cuts a block.
    bool passes_mask(int row, int key) const;
    /// What the mask leaves of a block for these queries, all of whose sequences have it: without a window
    /// never nothing, as the last query of a sequence sees every key of it.
    TileCover cover(int block, const Region& queries) const;
    /// The queries of the pass over the prefix (−1), or over the own keys of one sequence.
    Region queries_of(int sequence) const;
    bool is_skipped(int sequence, int block) const {
        return cover(block, queries_of(sequence)) == TileCover::none;
    }

private:
    // Positions that the query in this row sees, whoever has keys there.
    KeyRange positions_seen(int row) const;

    std::vector<Range> ranges_;
    int columns_;
    bool causal_, edge_too_far_;
    std::optional<int> window_;
};

/// Where so many pages lie unless a table says it: pages 1, 3, 5 … at the places 0, 1, 2 …, behind them pages
/// 0, 2, 4 …: no two neighbours lie side by side in order.
std::vector<int> scattered(int pages);

}  // namespace tilewalk
