// What one rank computes in one round: its queries with the keys of one shard, by the tiles of `flash`
// (core/cpu), each part merged into what was there before.
#pragma once

#include "core/cpu/flash_tasks.h"
#include "core/cpu/memory.h"
#include "core/distributed/shards.h"
#include "core/engine/pool.h"

namespace tilewalk::ring {

/// The queries of a rank and what becomes of them. Between rounds O is not yet divided by ℓ, and m has no
/// scale, as in the tiles of flash; finish() makes O and L of them and leaves 1/ℓ in l.
struct QueryShard {
    const float *Q, *dO;  ///< [heads][rows][d]; dO null forward
    float *O, *L, *m, *l;
    float *D, *dQ;  ///< null forward
};
/// A shard of keys that is at a rank for a round: K and V, [kv_heads][rows][d] each.
struct KeyShard {
    const float *K, *V;
    std::vector<Run> runs;
    std::int64_t rows;
};

/// Works for one rank; its scratch memory is taken once.
class ShardAttention {
public:
    /// `w` is the whole problem, of which this rank has the queries at `runs`.
    ShardAttention(const Workload& w, std::vector<Run> runs, cpu::ThreadPool& pool,
                   cpu::CountedMemory& memory);
    /// Bytes that this takes of `memory`.
    static std::int64_t model_bytes(const Workload& w, std::int64_t rows, int threads);

    // Forward: begin, one merge for each shard of keys, finish
    void begin(const QueryShard& queries);
    void merge(const QueryShard& queries, const KeyShard& keys, std::stop_token stop);
    void finish(const QueryShard& queries);

    // Backward, after finish(): D and dQ = 0, then for each shard of keys its dK and dV, which are written,
    // and dQ, which grows.
    void begin_backward(const QueryShard& queries);
    void gradients(const QueryShard& queries, const KeyShard& keys, float* dK, float* dV,
                   std::stop_token stop);

private:
    struct Block {
        std::int64_t row;  ///< its first row in the shard
        Run run;
    };
    void merge_block(const QueryShard& queries, const KeyShard& keys, std::int64_t head, const Block& block,
                     float* scratch, const std::stop_token& stop);
    void key_gradients(const QueryShard& queries, const KeyShard& keys, std::int64_t kv_head,
                       const Block& block, float* dK, float* dV, float* scratch, const std::stop_token& stop);
    static std::vector<Block> blocks_of(const std::vector<Run>& runs, std::int64_t rows);

    const Workload w;  ///< one head of the whole problem
    const std::int64_t heads, kv_heads, rows;
    const std::vector<Run> runs;
    cpu::ThreadPool& pool;
    const cpu::ForwardTiles query_tiles;
    const cpu::BackwardTiles key_tiles;
    std::vector<cpu::Buffer> scratch;  ///< of each thread
};

}  // namespace tilewalk::ring
