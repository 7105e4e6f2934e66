// Ring attention (arXiv:2310.01889): every rank keeps its queries; the keys and values go round. In round t
// rank r has the shard of rank (r − t) mod R, merges what it gives into its queries, and hands it on while
// it computes. Backward dK and dV travel with their shard and come home after R rounds.
#pragma once

#include "core/distributed/shard_attention.h"
#include "core/distributed/transport.h"

#include <array>
#include <optional>

namespace tilewalk::ring {

/// What all ranks must agree about. N_q = N_kv, no window, f32.
struct Problem {
    Workload workload;
    Shards shards = Shards::zigzag;
};
/// A sentence if a ring of so many ranks cannot run it.
std::optional<std::string> refuse(const Problem& problem, int ranks);

/// Bytes between all ranks in one run of the direction: K and V of every shard go to R − 1 ranks; backward
/// dK and dV as well, and home. K and V may have elements of another size; gradients on their way are sums,
/// in float32.
std::int64_t bytes_between(const Problem& problem, int ranks, int element_bytes = sizeof(float));
/// Bytes that a rank holds: its tensors, K and V of others twice on their way, and scratch.
std::int64_t bytes_of_rank(const Problem& problem, int ranks, int rank, int threads);

/// What goes wrong on purpose, for tests.
struct Accident {
    enum class Kind { die, cut, stall, stop } kind = Kind::die;
    int rank = -1, round = 0;
};

/// What one run cost one rank.
struct Cost {
    double seconds = 0, computing = 0, waiting = 0;  ///< waiting: for messages, with nothing to compute
    std::int64_t sent = 0;                           ///< bytes of keys and gradients
};

/// One rank: its shards and buffers, all in counted memory.
class Rank {
public:
    Rank(const Problem& problem, Transport& transport, cpu::ThreadPool& pool, cpu::CountedMemory& memory);

    /// How the rounds are run: all ranks at once, or, to see what one rank would need for all of it, one
    /// after the other.
    enum class Pace { together, in_turn };
    /// The direction of the problem; backward begins from what the last forward() left.
    Cost run(Pace pace = Pace::together);
    Cost forward(Pace pace = Pace::together);
    Cost backward(Pace pace = Pace::together);

    const std::vector<Run>& positions() const { return runs; }
    std::int64_t rows() const { return own_rows; }
    /// [heads][rows][d], K and V [kv_heads][rows][d]; to be filled before the first run.
    float* Q() { return queries[0].data(); }
    float* dO() { return gradients_of_queries[0].data(); }
    float* K() { return own_keys.data(); }
    float* V() { return own_keys.data() + kv_floats(own_rows); }
    const float* O() const { return queries[1].data(); }
    const float* L() const { return row_sums[0].data(); }
    const float* dQ() const { return gradients_of_queries[1].data(); }
    const float* dK() const { return home->data(); }
    const float* dV() const { return home->data() + kv_floats(own_rows); }

    std::optional<Accident> accident;

private:
    std::int64_t kv_floats(std::int64_t rows) const { return kv_heads * rows * problem.workload.d; }
    KeyShard shard(int owner, const cpu::Buffer& keys) const;
    QueryShard views();
    void round(Cost& cost, Pace pace, int number, const std::function<void(std::stop_token)>& compute);
    void compute_while_messages_travel(Cost& cost, const std::function<void(std::stop_token)>& compute);
    void hand_on(Cost& cost, Tag tag, const cpu::Buffer& from, std::int64_t rows, int round);
    void take(Tag tag, cpu::Buffer& to, std::int64_t rows);

    const Problem problem;
    Transport& transport;
    const int ranks, rank;
    const std::int64_t kv_heads, own_rows;
    const std::vector<Run> runs;
    std::array<cpu::Buffer, 2> queries;               ///< Q, O
    std::array<cpu::Buffer, 3> row_sums;              ///< L, m, ℓ
    cpu::Buffer own_keys;                             ///< K, then V
    std::array<cpu::Buffer, 2> travelling;            ///< keys of others: in use, and on their way here
    std::array<cpu::Buffer, 2> gradients_of_queries;  ///< dO, dQ
    cpu::Buffer D;
    std::array<cpu::Buffer, 3> gradients;  ///< dK, then dV: computed now, being sent, on their way here
    cpu::Buffer* home = nullptr;           ///< of the own shard, once they are complete
    ShardAttention attention;
};

}  // namespace tilewalk::ring
