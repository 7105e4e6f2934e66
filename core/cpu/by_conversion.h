// Kernels that know float32 alone. Tensors of 16 bits are converted before them and after them, in each run.
#pragma once

#include "core/cpu/kernel.h"

namespace tilewalk::cpu {

/// Views as core/cpu/kernel.h has them, in float32.
struct FloatViews {
    const float *Q, *K, *V, *dO;
    float *O, *L;
    float *dQ, *dK, *dV;
};

/// A Kernel but for its views.
class FloatKernel {
public:
    virtual ~FloatKernel() = default;
    virtual void forward(const FloatViews& views, std::stop_token stop) = 0;
    virtual void backward(const FloatViews& views, std::stop_token stop) = 0;
};

/// The kernel with conversions around it, and with tensors in float32 of its own where those are of 16 bits.
std::unique_ptr<Kernel> by_conversion(const Workload& workload, ThreadPool& pool, CountedMemory& memory,
                                      std::unique_ptr<FloatKernel> kernel);
/// Closed form of the bytes that this takes for itself.
std::int64_t conversion_bytes(const Workload& workload);

template <class T>
std::unique_ptr<Kernel> make_by_conversion(const Workload& workload, ThreadPool& pool,
                                           CountedMemory& memory) {
    return by_conversion(workload, pool, memory, std::make_unique<T>(workload, pool, memory));
}

}  // namespace tilewalk::cpu
