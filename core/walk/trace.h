// The trace: everything that happened while a lesson ran, as facts. Text and pictures are derived from it.
//
// Every tile that is loaded or computed is an immutable Value in a pool; a Step names the values that it read
// and wrote. What a slot held at step k is found in the slot's own history (step, value), sorted by step:
// full snapshots for the reader, one small entry per write in memory, any step reachable directly, in any
// order.
#pragma once

#include "core/base/numbers.h"
#include "core/problem/problem.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tilewalk {

struct Lesson;  // core/walk/lesson.h

/// A named place for a tensor. HBM slots hold one value per tile; SRAM slots hold one value, reused.
enum class Slot : std::uint8_t {
    Q,
    K,
    V,
    O,
    L,  // HBM
    Qi,
    Kj,
    Vj,
    S,
    m_tile,
    m,
    alpha,
    P,
    l,
    Oi,  // SRAM
    // HBM, backward and training
    dO,
    D,
    dQ,
    dK,
    dV,
    sink,
    dsink,
    X,
    X_kv,
    W_Q,
    W_K,
    W_V,
    dW_Q,
    dW_K,
    dW_V,
    // HBM, what standard attention (or FlashAttention-1) also keeps there
    S_hbm,
    P_hbm,
    dP_hbm,
    dS_hbm,
    m_hbm,
    l_hbm,
    x,  // one row of scores, element by element
    // SRAM, backward and standard attention
    E,
    Prob,
    dOi,
    Li,
    Di,
    dP,
    dS,
    dQi,
    dKj,
    dVj,
    S_cap,
    loss,
    // SRAM, partial results of one query over different keys, a tile for each
    m_part,
    w_part,
    l_part,
    O_part,
    L_part,
    // HBM, where one kernel leaves them for another
    O_parts,
    L_parts,
    // HBM of a rank, what another rank has sent
    K_in,
    V_in,
    dK_in,
    dV_in,
    // HBM of a rank, what its queries add to the gradients of a shard: a row for each key and each rank
    dK_part,
    dV_part,
    dsink_in,  ///< what the ranks up to this one add to the gradient of the sink
    count
};
constexpr int slot_count = static_cast<int>(Slot::count);

/// The quantity that a slot holds; it decides the hue on screen (Q, Qi and dQ share one).
enum class Role : std::uint8_t { none, Q, K, V, S, m, l, alpha, O, D };
constexpr int role_count = 10;

struct SlotInfo {
    const char* name;      ///< in files: "m_tile"
    const char* symbol;    ///< base letter, UTF-8: "m"
    const char* sub;       ///< what stands below it: "Q" of W_Q; mostly empty
    bool tilde;            ///< drawn with a tilde above: m̃, P̃
    bool hbm;              ///< lives in HBM (otherwise in SRAM)
    bool counts_elements;  ///< counted with Problem::element_bytes (tiles of Q, K, V, O); otherwise 4 bytes
                           ///< each
    Role role;
    const char* what;  ///< a few words: "scores", "running maximum"
};
const SlotInfo& info(Slot slot);
/// One number for each row: m, ℓ, α, L, D.
bool one_column(Slot slot);

/// One kind of step; `skip` is a tile that the mask removes whole. What is known of each stands in one table
/// (trace.cpp). Within a tile the ops follow each other in this order; the timeline relies on it.
enum class Op : std::uint8_t {
    load_q,
    init,
    exchange,
    exchange_gradients,
    load_kv,
    load_state,
    preprocess,
    load,
    load_x,
    project,
    scores,
    scale,
    softcap,
    bias,
    mask,
    row_max,
    tile_max,
    new_max,
    correction,
    exponentials,
    row_sum,
    divide,
    output,
    normalize,
    part,
    merge_max,
    merge_lse,
    merge_weights,
    merge_sum,
    merge_output,
    recompute,
    loss,
    dv,
    dp,
    row_dot,
    sink_gradient,
    ds,
    cap_gradient,
    dq,
    dk,
    add_share,
    weight_gradient,
    update,
    store_state,
    store,
    skip,
    count
};
constexpr int op_count = static_cast<int>(Op::count);

/// What a step does: it only moves numbers from HBM into SRAM, or back; it puts start values there; it
/// computes; or it passes over a tile.
enum class OpKind : std::uint8_t { load, store, start, compute, skip };

struct OpInfo {
    Op op;
    const char* name;   ///< in files: "tile_max"
    const char* title;  ///< "Tile maximum"; a lesson may call a step otherwise: Explanation::title
    OpKind kind;
    const char* word;           ///< on the timeline: "÷ ", "load"; may be empty
    std::array<Slot, 2> slots;  ///< behind it, as symbols; Slot::count: none
    const char* card;           ///< of the glossary, for what is no single tensor; else empty
};
const OpInfo& info(Op op);
inline const char* name(Op op) { return info(op).name; }
inline const char* title(Op op) { return info(op).title; }
inline bool is_load(Op op) { return info(op).kind == OpKind::load; }
inline bool is_store(Op op) { return info(op).kind == OpKind::store; }

/// A tile and the place of its top left corner in the whole matrix (S of tile (i, j) lies at i·Br, j·Bc).
struct Value {
    Matrix data;
    Region region;
};

/// One slot touched by a step: which tile of it (0 for SRAM slots) and the value that was there then.
struct Access {
    Slot slot;
    std::int32_t tile;
    std::int32_t value;
};

/// Totals since the first step, up to and including this one.
struct Traffic {
    std::int64_t hbm_read = 0;   ///< bytes
    std::int64_t hbm_write = 0;  ///< bytes
    std::int64_t sram_live = 0;  ///< bytes held on chip after this step (not a running total)
    std::int64_t flops = 0;      ///< additions, multiplications, divisions, comparisons, exp, ln: one each
    std::int64_t sent = 0;  ///< bytes between ranks that have arrived by the clock when this step ends, at
                            ///< the last step all; a message counts here alone, not as HBM bytes
    std::int64_t total() const { return hbm_read + hbm_write; }

    bool operator==(const Traffic&) const = default;
};

/// What a closed form says of a whole walk.
struct TrafficModel {
    std::int64_t hbm_read = 0, hbm_write = 0;  ///< bytes
    std::int64_t sram_peak = 0;                ///< bytes to reserve on chip: the largest tile of every buffer
    std::int64_t sent = 0;                     ///< bytes between ranks
    std::int64_t total() const { return hbm_read + hbm_write; }
};

/// Where and when a step runs, in walks whose work is done side by side: on which worker (an SM, a rank of a
/// ring), from which tick to which. Steps are recorded worker after worker, so that what lies on chip is that
/// of the worker at hand; their ticks tell what happens at the same time.
struct When {
    std::int32_t worker = -1;  ///< −1: one after another, without a clock
    std::int32_t start = 0, end = 0;
    bool beneath = false;  ///< beside what the worker computes: a message on its way
    explicit operator bool() const { return worker >= 0; }
    /// By the clock it is over when a step of another worker begins, though it may be told later.
    bool over_before(const When& other) const {
        return *this && other && worker != other.worker && end <= other.start;
    }
};

struct Step {
    Op op;
    std::int32_t i = -1;     ///< query block, −1 if the step belongs to none
    std::int32_t j = -1;     ///< key block (softmax lessons: element), −1 if the step belongs to none
    std::int32_t phase = 0;  ///< the lane of the timeline: query block, key block, pass or kernel
    std::int32_t first_access = 0, reads = 0, writes = 0;
    Traffic traffic;
    When when = {};
};

/// What a slot holds: the value and the step that put it there.
struct Held {
    int step = -1;
    const Value* value = nullptr;
    explicit operator bool() const { return value != nullptr; }
};

/// An immutable recording. Steps count from 0 here; people and files see them from 1.
class Trace {
public:
    const Problem& problem() const { return problem_; }
    /// What its rows are those of: the problem, or the heads of a group below each other (packed_group).
    const Problem& walked() const { return packed_ ? *packed_ : problem_; }
    const Lesson& lesson() const { return *lesson_; }
    int size() const { return static_cast<int>(steps_.size()); }
    const Step& step(int k) const { return steps_[static_cast<std::size_t>(k)]; }
    std::span<const Access> reads(int k) const;
    std::span<const Access> writes(int k) const;
    const Value& value(std::int32_t id) const { return values_[static_cast<std::size_t>(id)]; }
    std::size_t value_count() const { return values_.size(); }
    /// Workers that have steps, and the tick at which the last of them is through; 0 in a walk without a
    /// clock.
    int workers() const;
    int ticks() const;

    /// What `slot` (tile `tile` of it) holds after step k; nothing if it was never written up to then.
    /// What was given is there from the start (step −1).
    Held live(Slot slot, int tile, int k) const;
    /// What the problem says to watch is about maximum and correction: only where the walk has them, in
    /// tiles, and nothing is broken.
    bool tells_what_to_watch() const;
    Held live(Slot slot, int k) const { return live(slot, 0, k); }
    int tiles(Slot slot) const { return static_cast<int>(histories_[static_cast<std::size_t>(slot)].size()); }

    /// The tiles of a slot as they lie after the last step, put together: O (N × d), L (N × 1). Of a lesson
    /// about one row, that row alone: O (1 × d).
    Matrix result(Slot slot) const { return together(slot, size()); }

    /// What lay in an HBM slot before the first step, put together.
    Matrix given(Slot slot) const { return together(slot, -1); }

    /// How the numbers of a slot are written, the same at every step and in every tile.
    const MatrixDigits& digits(Slot slot) const { return digits_[static_cast<std::size_t>(slot)]; }

    /// What an element of the slot is counted with, in bytes: Problem::element_bytes, or 4.
    std::int64_t element_bytes(Slot slot) const;

    /// Memory that the trace takes, in bytes (values, steps, accesses, histories).
    std::size_t bytes() const;

private:
    friend class Recorder;
    Matrix together(Slot slot, int k) const;
    /// The first step of the kernel, or of the worker, that step k belongs to: what was on chip before is
    /// gone.
    int chip_start(int k) const;
    struct Event {
        std::int32_t step, value;
    };
    using History = std::vector<Event>;

    Problem problem_;
    std::optional<Problem> packed_;
    const Lesson* lesson_ = nullptr;
    std::deque<Value> values_;
    std::vector<Step> steps_;
    std::vector<Access> accesses_;
    std::array<std::vector<History>, slot_count> histories_;
    std::array<MatrixDigits, slot_count> digits_;
    std::array<bool, slot_count> fp32_{};  ///< sums that grow in HBM
    std::vector<int> chip_starts_;         ///< steps, ascending, at which nothing lies on chip
};

/// Matrices, and the places on chip (or in HBM) that hold tiles of them: one range of colours, one number of
/// decimals.
std::span<const std::pair<Slot, Slot>> matrices_and_tiles();

/// Writes a Trace while an algorithm runs: give(…) what lies in HBM, then for each step begin(op, i, j),
/// read/fetch/load/write/store, end(flops).
class Recorder {
public:
    Recorder(const Problem& problem, const Lesson& lesson);
    const Problem& walked() const { return trace_->walked(); }

    /// Puts a matrix into HBM before the first step, cut into tiles of so many rows (and columns). Its first
    /// row or column may be a later one of the whole matrix: tiles of different sizes are given one by one.
    void give(Slot slot, const Matrix& A, int block_rows, int block_cols = 1 << 30, int first_row = 0,
              int first_col = 0);
    /// Counts this HBM slot with 4 bytes per element whatever the problem says: sums that grow in HBM.
    void count_as_fp32(Slot slot) { trace_->fp32_[static_cast<std::size_t>(slot)] = true; }
    /// Lessons of dense matrices do not say what lies on chip: `sram_live` stays 0.
    void ignore_sram() { count_sram_ = false; }
    /// Another kernel or another worker begins: nothing of what was on chip is there.
    void clear_chip();
    /// The lane of the steps that follow.
    void phase(int n) { phase_ = n; }

    // Work side by side. A walk that says worker(n) gives all its steps a clock: each begins when the one
    // before it on the same worker ends, and takes a tick. The timeline draws a lane for each worker, time to
    // the right, and hatches where it waits. Record worker after worker (the lane, phase(n), goes with it):
    // the ring is walked rank by rank, and `wait_until` makes a rank wait for a message.

    /// The worker that runs the steps that follow, and when it is free.
    void worker(int n);
    int free_at(int worker) const;
    /// It begins nothing before this tick: a kernel that is launched later, a message that must arrive.
    void wait_until(int tick);
    /// The next step takes so many ticks in place of one.
    void takes(int ticks) { takes_ = ticks; }
    /// The next step runs from here to there beside what the worker computes, whose clock stands still: a
    /// send.
    void runs_beneath(int start, int end);
    /// The next step takes this time of the worker, whose clock has left it free: recorded apart from the
    /// worker's other steps, as it needs what workers have left that are recorded later.
    void runs(int start, int end);

    void begin(Op op, int i = -1, int j = -1);
    void end(std::int64_t flops = 0);

    /// The value that `slot` holds now; noted as an input of this step. Costs no traffic, also for an HBM
    /// slot: this kernel has fetched it before.
    const Matrix& read(Slot slot, int tile = 0);
    /// The same, not noted: for the step that follows.
    const Matrix& latest(Slot slot, int tile = 0) const {
        return trace_->value(history(slot, tile).back().value).data;
    }
    /// Reads an HBM tile where it is used, without a place on chip; counts its bytes as read.
    const Matrix& fetch(Slot slot, int tile = 0);
    /// The value that `slot` held before its latest write: α needs m before and after.
    const Matrix& read_previous(Slot slot);
    /// HBM → SRAM: shares the tile, counts its bytes as read. The slot on chip may have several tiles, too.
    const Matrix& load(Slot from, int tile, Slot to, int to_tile = 0);
    /// A result computed on chip. `region` is its place in the whole matrix.
    const Matrix& write(Slot slot, Matrix data, Region region, int tile = 0);
    /// A message: the tile comes from the HBM of one rank into that of another, as the same tile of `to`; its
    /// bytes are counted as sent.
    void receive(Slot from, int tile, Slot to);
    /// The same where it becomes another tile, at another place.
    void receive(Slot from, int tile, Slot to, int to_tile, Region region);
    /// SRAM → HBM: a result leaves the chip, its bytes are counted as written.
    void store(Slot to, int tile, Matrix data, Region region);

    std::shared_ptr<const Trace> finish();

private:
    const Trace::History& history(Slot slot, int tile = 0) const {
        return trace_->histories_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(tile)];
    }
    std::int32_t add(Matrix data, Region region);
    std::int64_t bytes_of(Slot slot, const Value& value) const;
    void find_digits();
    void count_messages();
    void note_read(Slot slot, int tile, std::int32_t value);
    void note_write(Slot slot, int tile, std::int32_t value);
    When next_time();

    std::shared_ptr<Trace> trace_;
    Step step_;
    Traffic total_;
    int phase_ = 0;
    int worker_ = -1, takes_ = 1;
    std::optional<When> apart_;  ///< when the next step runs, if the worker's clock does not say it
    std::vector<int> free_;      ///< the tick at which each worker is
    bool count_sram_ = true;
    std::vector<Access> reads_, writes_;
};

}  // namespace tilewalk
