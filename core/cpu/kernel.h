// The CPU kernels as the CPU engine sees them.
#pragma once

#include "core/cpu/memory.h"
#include "core/cpu/stored.h"
#include "core/engine/engine.h"
#include "core/engine/pool.h"

namespace tilewalk::cpu {

/// Views of the tensors of a workload (shapes: core/engine/engine.h), in its type; L is float32.
struct Views {
    Elements Q, K, V, dO;  ///< dO may be null forward
    WritableElements O;
    float* L;                     ///< m + ln ℓ; rows that see no key: O = 0, L = −∞
    WritableElements dQ, dK, dV;  ///< null forward
};

/// One kernel, made for one workload; all its memory is taken from `memory` when it is made, so that no run
/// allocates.
class Kernel {
public:
    virtual ~Kernel() = default;
    /// Writes O and L. When stopped it returns early and they are unfinished.
    virtual void forward(const Views& views, std::stop_token stop) = 0;
    /// Writes dQ, dK, dV. Reads O and L, and whatever forward() of this object kept.
    virtual void backward(const Views& views, std::stop_token stop) = 0;
};

/// A rung of the ladder of CPU kernels.
struct Rung {
    KernelInfo info;
    /// Closed form of the bytes of `memory` that make() takes.
    std::int64_t (*workspace)(const Workload& workload, int threads);
    std::unique_ptr<Kernel> (*make)(const Workload& workload, ThreadPool& pool, CountedMemory& memory);
};

template <class T>
std::unique_ptr<Kernel> make_kernel(const Workload& workload, ThreadPool& pool, CountedMemory& memory) {
    return std::make_unique<T>(workload, pool, memory);
}

/// One function for each file; the ladder lists them from slow to fast.
const Rung& standard();     ///< standard.cpp
const Rung& flash_eigen();  ///< flash_eigen.cpp
const Rung& flash();        ///< flash.cpp
const Rung& read_kv();      ///< read_kv.cpp; few queries, as the next
const Rung& split_kv();     ///< split_kv.cpp

/// "AVX-512", "AVX2", "SSE4", "NEON": what flash() uses on this machine.
std::string instruction_set();
/// What the library under standard() is: "OpenBLAS 0.3.21" or "Eigen 3.4.0".
std::string product_library();
/// Multiply-adds with all registers full and nothing else to do, on all threads of the pool; FLOP/s, the best
/// of several short runs.
double multiply_add_peak(ThreadPool& pool, std::stop_token stop);

/// The engine of these kernels. `threads` 0: all that the machine has.
std::unique_ptr<Engine> make_engine(int threads = 0);

}  // namespace tilewalk::cpu
