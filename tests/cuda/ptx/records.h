// What rungs wrote down of their tiles, and every instruction once: on this machine and on the emulator,
// which shares nothing with it. The emulator is reached through cuda/host alone.
#pragma once

#include "cuda/host/gpu.h"
#include "tests/cuda/ptx/device.h"

#include <array>
#include <string>
#include <vector>

namespace tilewalk::ptx {

/// How two records may differ: in units in the last place, of O in units of the largest of its row. 0: to the
/// bit.
struct RecordLimits {
    const char* rung;
    /// Computed as PTX says: a product and a sum in one rounding, and the sums of mma. Otherwise as the
    /// emulator's compiler has them (Machine::plain_arithmetic), so that only
    /// ex2 is left to differ.
    bool as_ptx_says;
    std::array<double, 6> ulp;  ///< S, m, α, P, ℓ, O: the order of kernel_quantities()
};

struct RecordCase {
    gpu::TraceRequest request;
    RecordLimits limits = {};
    std::string name;
    int capability = 80;
};
/// Every rung that records, with every type that it takes: ragged tiles with masks, and decoding.
std::vector<RecordCase> record_cases();

/// How far the two are apart in one quantity.
struct RecordDistance {
    std::string quantity;
    std::int64_t numbers = 0, differ = 0;
    double ulp = 0, allowed = 0;
};
/// Throws Error if they did not visit the same tiles.
std::vector<RecordDistance> compare_records(const RecordCase& c);

/// cuda/kernels/intrinsics.cu on both: what is wrong; empty: nothing.
std::string compare_intrinsics(DType type, int capability);

}  // namespace tilewalk::ptx
