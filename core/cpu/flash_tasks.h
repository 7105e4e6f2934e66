// What flash() hands out to its threads: tiles that fit the caches, and the tasks made of them.
#pragma once

#include "core/cpu/stored.h"
#include "core/engine/engine.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stop_token>

namespace tilewalk::cpu {

/// How the forward pass is cut. A row is a query of one of the heads that share K and V (GroupRows); a panel
/// is as many rows as two vectors have lanes.
struct ForwardTiles {
    std::int64_t panel;   ///< rows side by side in the lanes
    std::int64_t Br, Bc;  ///< rows of a task, in whole panels; keys that stream past them at a time
    std::int64_t blocks;  ///< query blocks of a group of heads
    bool converted;       ///< Kⱼ and Vⱼ are converted, into tiles of their own
    std::int64_t scratch_floats(std::int64_t d) const {
        return 2 * Br * d + Bc * panel + 2 * Br + (converted ? 2 * Bc * d : 0);
    }
};
ForwardTiles forward_tiles(const Workload& workload, int threads);
/// For few rows against many keys: as many rows in a task as there is room for, so that K and V are read
/// once.
ForwardTiles decode_tiles(const Workload& workload);

/// How the backward pass is cut. Here the keys stay and lie in the lanes, and the queries stream past. The
/// same for any number of threads, and so are the bits of the results.
struct BackwardTiles {
    std::int64_t panel;   ///< keys side by side in the lanes
    std::int64_t Bs;      ///< keys of a task, in whole panels: a super-block of several key blocks
    std::int64_t Bc, Br;  ///< keys and queries of a tile
    std::int64_t blocks;  ///< super-blocks of a head
    std::int64_t padded;  ///< d, up to whole panels
    bool converted;       ///< Qᵢ and dOᵢ are converted, into tiles of their own
    std::int64_t scratch_floats(std::int64_t d) const {
        return 4 * Bs * d + (Bs + Br) * padded + 2 * Br * Bc + (converted ? 2 * Br * d : 0);
    }
};
BackwardTiles backward_tiles(const Workload& workload);

/// Keys from `first` to before `end`.
struct KeyRange {
    std::int64_t first, end;
};

/// What the keys of one split come to, for all rows of a group: rows × d, and a number for each row. O is not
/// divided by ℓ, and m is without the scale.
struct Partial {
    float *O, *m, *l;
};

/// One query block of the heads that share K and V. Pointers are those of the first of these heads.
struct ForwardTask {
    const Workload& w;
    const ForwardTiles& tiles;
    Elements Q, K, V;
    WritableElements O;
    float* L;
    float *m, *over_l;  ///< m and 1/ℓ for the backward pass, or null
    std::int64_t i;     ///< query block
    float* scratch;
};
void flash_forward(const ForwardTask& task, const std::stop_token& stop);
/// The same with some of the keys alone; O and L of the task are left, and `part` is written.
void flash_partial(const ForwardTask& task, KeyRange keys, const Partial& part, const std::stop_token& stop);

/// Super-blocks of one head add to the same dQ, each when the one before it is through with that query block:
/// a sum in fixed order has the same bits every time.
/// Tasks begin in this order, so the one before is always at work or done; who waits sleeps.
class Turn {
public:
    Turn(std::atomic<std::int32_t>* before_me, std::atomic<std::int32_t>& my_own)
        : before(before_me), mine(my_own) {}
    ~Turn() { pass(all_steps); }  // also when stopped half-way: nobody waits for ever
    Turn(const Turn&) = delete;
    /// Until the super-block before has done `step`.
    void wait_for(std::int64_t step) const {
        if (!before) return;
        for (std::int32_t done; (done = before->load(std::memory_order_acquire)) <= step;)
            before->wait(done, std::memory_order_acquire);
    }
    /// This super-block has done `step`.
    void done(std::int64_t step) { pass(static_cast<std::int32_t>(step + 1)); }

private:
    static constexpr std::int32_t all_steps = 0x7fffffff;
    void pass(std::int32_t steps) {
        mine.store(steps, std::memory_order_release);
        mine.notify_all();
    }
    std::atomic<std::int32_t>* before;
    std::atomic<std::int32_t>& mine;
};

/// One key super-block of one key-value head, with all query heads that share it. Pointers are those of the
/// first of these heads; the others follow.
struct BackwardTask {
    const Workload& w;
    const BackwardTiles& tiles;
    Elements Q, K, V, dO;
    const float *m, *over_l, *D;
    float* dQ;  ///< a sum over the super-blocks, float32 whatever the type
    WritableElements dK, dV;
    std::int64_t s;  ///< super-block
    float* scratch;
};
void flash_backward(const BackwardTask& task, Turn& turn, const std::stop_token& stop);

/// D = rowsum(dO ⊙ O) and dQ = 0 for up to a panel of rows. Pointers are those of the first row.
struct PreprocessTask {
    Elements dO, O;
    float *D, *dQ;
    std::int64_t rows, d;
    float* scratch;  ///< (d + panel) × panel, and d × panel where dO is converted
};
void flash_preprocess(const PreprocessTask& task);

/// scale · log₂e: exp(scale · x) = 2 to the power of this times x. The same in both directions, so that the
/// backward pass finds the weights of the forward pass.
inline float exponent_factor(std::int64_t d) {
    return static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(d)));
}

/// L = scale · m + ln ℓ, in double: scale · m would lose a digit that S has. −∞ of a row that saw no key.
inline float log_sum_exp(double m, double l, std::int64_t d) {
    return l == 0 ? -std::numeric_limits<float>::infinity()
                  : static_cast<float>(m / std::sqrt(static_cast<double>(d)) + std::log(l));
}

/// Takes the place of −∞: scores lie above `lowest_score`, a masked one far below, and nothing that is
/// computed from them overflows. A row that has seen no key yet has m = lowest_score, and its weights are 0.
constexpr float lowest_score = -1e30f, masked_score = -1e38f;

}  // namespace tilewalk::cpu
