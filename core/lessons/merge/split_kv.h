// Lesson: decoding with split keys (flash-decoding: Dao, Haziza, Massa, Sizov 2023). One query (Options::row)
// is one row of work, which keeps one worker busy, and a few of them (Options::queries) are one tile of rows
// that keeps no more busy. So the keys are split, each worker attends to its splits and leaves O, divided,
// and L of every query in HBM, and a second kernel merges them, query by query.
#pragma once

#include "core/lessons/shared/parts.h"

namespace tilewalk {

extern const Lesson split_kv;

/// The queries that are decoded together, one tile of rows.                                         (n × d)
Region decoded_queries(const Problem& problem);

/// Key blocks of one split: whole ones, as kernels have it.
struct SplitBlocks {
    int first = 0, count = 0;
};
/// Options::splits brought to whole key blocks (a split begins with the block that its first key lies in), or
/// as many as num_splits() says.
std::vector<SplitBlocks> split_blocks(const Problem& problem);
/// Tiles that a worker each could take without a split: one for every query head, or for every group.
int tiles_of_work(const Problem& problem);
/// How many workers have a split.
int busy_workers(const Problem& problem);

/// How FlashAttention chooses the number of splits (num_splits_heuristic of its flash_api.cpp): one where the
/// rows of work nearly fill the workers; else of those numbers that make smaller splits the least whose waves
/// are filled at least 85 % as well as those of the best.
int num_splits(int rows_of_work, int workers, int key_blocks, int most = 128);
/// Of the workers in all waves that they take, the part that has something to do: n ÷ W ÷ ⌈n ÷ W⌉.
double wave_efficiency(int tasks, int workers);

/// The same queries with flash-forward, as one tile in one go on one worker.
TrafficModel flash_of_these_queries(const Problem& problem);

/// "one query", "3 queries"
std::string queries_in_words(const Problem& problem);

/// The split that step k works on; −1 in the combining kernel.
int split_of(const Trace& trace, int k);

}  // namespace tilewalk
