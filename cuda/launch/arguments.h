// What every kernel is given, and what the host knows of a kernel. Plain C++17: nvcc and the host's compiler
// both read it.
#pragma once

#include "core/base/dtype.h"

#include <cstdint>
#include <string>

namespace tilewalk::gpu {

/// Where a tensor lies on the device: its first element and the elements from one batch, one head, one row
/// to the next. The elements of a row lie side by side.
struct Tensor {
    void* data = nullptr;
    std::int64_t batch = 0, head = 0, row = 0;
};

/// What a traced kernel records, for the heads and tiles of a window, and the fault that it is told to make.
/// Every array holds one slot for each tile of the window, in the order head, i, j; null: not asked for.
struct TraceWindow {
    int first_head = 0, heads = 0;                       ///< of batch · heads + head
    int first_i = 0, tiles_i = 0;                        ///< query blocks
    int first_j = 0, tiles_j = 0;                        ///< key blocks
    int Br = 0, Bc = 0, d = 0;                           ///< of the kernel's tiles
    float *m = nullptr, *l = nullptr, *alpha = nullptr;  ///< Br each; m in unscaled scores Q Kᵀ
    float* S = nullptr;                                  ///< Br × Bc, unscaled, −∞ where masked
    float* P = nullptr;                                  ///< Br × Bc, as fed to the product with V
    float* O = nullptr;                                  ///< Br × d, not yet divided by ℓ

    /// A number that is made wrong on purpose: x becomes x · (1 + amount).
    enum class Quantity { none, S, m, alpha, P, l, O };
    Quantity fault = Quantity::none;
    int fault_head = 0, fault_i = 0, fault_j = 0, fault_row = 0;
    int fault_column = -1;  ///< −1: the whole row
    float fault_amount = 0;
};

/// Attention as the kernels see it. Q, O, dO, dQ have N_q rows for each of `heads`, K, V, dK, dV N_kv rows
/// for each of `kv_heads`. Query i sees the keys from i + N_kv − N_q − before to i + N_kv − N_q + after.
struct Arguments {
    Tensor Q, K, V, O, dO, dQ, dK, dV;
    float* L = nullptr;  ///< [batch][heads][N_q], m + ln ℓ
    int batch = 1, heads = 1, kv_heads = 1;
    int N_q = 0, N_kv = 0, d = 0;
    float scale = 1;  ///< S = scale · Q Kᵀ
    int before = unlimited, after = unlimited;
    void* workspace = nullptr;  ///< as many bytes as Rung::workspace says, aligned to 256
    TraceWindow trace;

    static constexpr int unlimited = 1 << 30;
    std::int64_t q_rows() const { return std::int64_t(batch) * heads * N_q; }
    std::int64_t kv_rows() const { return std::int64_t(batch) * kv_heads * N_kv; }
};

/// What a kernel has to know of the device that it is launched on.
struct Chip {
    int capability = 90;                        ///< compute capability, 10 · major + minor
    std::int64_t shared_per_block = 227 << 10;  ///< bytes of shared memory that a block may ask for
    int multiprocessors = 132;
};

/// Tile sizes of a launch.
struct Tile {
    int Br = 0, Bc = 0;
};

/// Takes launches; each back end derives its own.
class Stream {
public:
    Chip chip;

protected:
    Stream() = default;
    ~Stream() = default;
};

/// One rung of the ladder, by one back end.
struct Rung {
    const char *name, *title, *teaches, *file;
    Direction direction;
    bool materialises;  ///< holds N × N matrices
    bool traced;        ///< has a twin that records its tiles
    /// Why it does not take these sizes, as a phrase; empty if it does. Pointers are not looked at.
    std::string (*refuse)(const Arguments& a, DType type, const Chip& chip);
    /// Bytes that it needs beside inputs and outputs.
    std::int64_t (*workspace)(const Arguments& a, DType type);
    /// Its tiles; {0, 0} where it has none.
    Tile (*tile)(const Arguments& a, DType type, const Chip& chip);
    /// Queues all its launches. With a.trace.tiles_i > 0 the traced twin is launched.
    void (*launch)(const Arguments& a, DType type, Stream& stream);
    /// What the forward pass leaves in the workspace for this backward pass, if it leaves anything; once.
    void (*prepare)(const Arguments& a, DType type, Stream& stream) = nullptr;
    /// Key blocks of a split, if it splits the keys: m, ℓ and O begin anew in each; 0: one walk over all.
    int (*split_blocks)(const Arguments& a) = nullptr;
    int most_queries = 0;  ///< that it is made for; it takes more. 0: any number
};

}  // namespace tilewalk::gpu
