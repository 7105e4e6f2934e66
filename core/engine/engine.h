// What runs attention on large problems, as the rest of the program sees it: a workload, kernels that take
// it, and an engine (the CPU, a GPU) that has them. No trace: these are the real kernels.
#pragma once

#include "core/base/dtype.h"

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace tilewalk {

const char* name_of(Direction direction);  ///< "forward", "backward"
const char* name_of(DType type);           ///< "f32", "f16", "bf16"
std::int64_t bytes_of(DType type);
/// x in that type: to the nearest, ties to even.
float rounded(float x, DType type);

/// Multi-head attention at scale. Q, O, dO, dQ are [batch][heads][N_q][d], K, V, dK, dV are
/// [batch][kv_heads][N_kv][d], L is [batch][heads][N_q]; all row-major and dense. Scores are Q Kᵀ / √d.
struct Workload {
    Direction direction = Direction::forward;
    DType dtype = DType::f32;
    std::int64_t batch = 1;
    std::int64_t heads = 8, kv_heads = 8;  ///< heads is a multiple of kv_heads (grouped-query attention)
    std::int64_t N_q = 1024, N_kv = 1024;
    std::int64_t d = 64;
    bool causal = false;                      ///< aligned bottom-right: the last query sees the last key
    std::optional<std::int64_t> window = {};  ///< keys at most this many positions before (and after)

    /// Keys that query row i sees: first … last, none when last < first.
    std::int64_t first_key(std::int64_t i) const;
    std::int64_t last_key(std::int64_t i) const;

    std::int64_t q_rows() const { return batch * heads * N_q; }
    std::int64_t kv_rows() const { return batch * kv_heads * N_kv; }
    bool operator==(const Workload&) const = default;
};

/// "backward, f32, batch 1, 8 heads (2 of K and V), d = 64, causal, window 128"; not N, and the queries only
/// where they are not as many as the keys.
std::string describe(const Workload& workload);
/// "1 query", "16 queries"
std::string queries_text(const Workload& workload);
/// A sentence if the sizes do not fit together.
std::optional<std::string> refuse(const Workload& workload);
/// Scores that the mask leaves, over all heads: the exact triangle, not half of the square.
std::int64_t visible_scores(const Workload& workload);
/// 4 d per visible score forward (Q Kᵀ and P V), 10 d backward (five products): FlashAttention-2's count.
double flops(const Workload& workload);
/// Inputs and outputs: Q, K, V, O, L forward; also dO, dQ, dK, dV backward.
std::int64_t tensor_bytes(const Workload& workload);
/// K and V, once: what decoding has to read at the least.
std::int64_t kv_bytes(const Workload& workload);

/// A rung of the ladder.
struct KernelInfo {
    std::string name;                         ///< as on the command line: "flash"
    std::string title;                        ///< "Flash, SIMD tiles"
    std::string teaches;                      ///< one line: what this rung adds, or where it ends
    std::string file;                         ///< its source, from the top of the project
    bool materialises = false;                ///< holds N × N matrices
    std::optional<Direction> direction = {};  ///< none: both
    bool P_from_L = false;                    ///< backward: P = exp(S − L), from the float32 L alone
    std::int64_t most_queries = 0;            ///< that it is made for; 0: any number
    /// Computes no attention, but reads K and V once, as every kernel must: L[0] is the last 24 bits of the
    /// exclusive or of their elements, as they are stored.
    bool yardstick = false;
};
/// The yardstick that other kernels are set beside.
inline constexpr const char* reading_kv = "read-kv";

/// Host tensors of a workload in float32, whatever the kernel computes in.
struct Tensors {
    std::vector<float> Q, K, V, O, L, dO, dQ, dK, dV;
};
/// Inputs from a seed: unit normal values, times `spread` for Q and K, rounded to the type of the workload.
/// Unfinished when it is stopped.
Tensors make_inputs(const Workload& workload, std::uint64_t seed, float spread = 1,
                    std::stop_token stop = {});

/// Thrown where memory does not suffice: what() is a sentence.
class NoMemory : public std::bad_alloc {
public:
    explicit NoMemory(std::string why) : sentence(std::move(why)) {}
    const char* what() const noexcept override { return sentence.c_str(); }

private:
    std::string sentence;
};
/// Thrown where one kernel could not be run, and others can: what() is a sentence.
struct KernelFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// Thrown when a device fails, after which the engine runs nothing more: what() is a sentence.
struct EngineFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A kernel with its memory allocated, touched and ready to be run again and again.
class Prepared {
public:
    virtual ~Prepared() = default;
    /// Runs the direction of the workload once, on the inputs it was prepared with; seconds, or none when it
    /// was stopped half-way. What the backward pass needs from the forward pass was made when preparing.
    virtual std::optional<double> run(std::stop_token stop) = 0;
    /// O, L and, backward, dQ, dK, dV of the last run.
    virtual const Tensors& outputs() = 0;
    /// The most bytes held beyond inputs and outputs since it was prepared, counted by its allocator.
    virtual std::int64_t workspace_bytes() const = 0;
};

struct Machine;

class Engine {
public:
    virtual ~Engine() = default;
    virtual std::string device() const = 0;  ///< "cpu", "cuda"
    /// Fills in what the engine alone knows: threads, instructions, libraries, GPU (core/engine/report.h).
    virtual void describe(Machine&) const {}
    /// The reason why it cannot run here, if it cannot.
    virtual std::optional<std::string> why_not() const = 0;
    virtual std::span<const KernelInfo> kernels() const = 0;
    /// The reason why the kernel does not take this workload, as a phrase. Sizes alone, not the memory.
    virtual std::optional<std::string> why_not(const KernelInfo& kernel, const Workload& workload) const = 0;
    /// Closed form of the workspace: what the kernel will hold beyond inputs and outputs.
    virtual std::int64_t model_bytes(const KernelInfo& kernel, const Workload& workload) const = 0;
    /// Null when it was stopped. `inputs` must outlive what is returned. Throws std::bad_alloc (NoMemory),
    /// KernelFailed and EngineFailed, as running does.
    virtual std::unique_ptr<Prepared> prepare(const KernelInfo& kernel, const Workload& workload,
                                              const Tensors& inputs, std::stop_token stop) = 0;
    /// The rate of multiply-adds of this type that the device reaches with nothing else to do, FLOP/s; 0 if
    /// unknown.
    virtual double measure_peak(DType type, std::stop_token stop) = 0;
    /// Bytes that are free on a device with memory of its own, where prepared kernels hold their tensors.
    virtual std::optional<std::int64_t> memory_free() const { return std::nullopt; }
};

}  // namespace tilewalk
