// What the program does with a GPU, from opening it to the outputs, for tests that let it fail somewhere.
#pragma once

#include "core/bench/verify.h"
#include "cuda/host/gpu.h"

#include <stdexcept>

namespace tilewalk::test {

inline const KernelInfo& kernel_called(const Engine& engine, const std::string& name) {
    for (const KernelInfo& info : engine.kernels())
        if (info.name == name) return info;
    throw std::invalid_argument(name);
}

/// A workload that has two blocks of queries and of keys, masks and grouped heads.
inline Workload small(const std::string& kernel, DType type) {
    Workload w{.dtype = type, .heads = 2, .kv_heads = 1, .N_q = 70, .N_kv = 90, .d = 64, .causal = true};
    if (kernel == "f5-flash2") w.d = 256;  // more shared memory than a kernel has unasked
    w.direction = kernel[0] == 'b' ? Direction::backward : Direction::forward;
    return w;
}

/// Prepares, runs twice with cold caches, and holds the outputs against fp64: empty, or what was wrong.
/// Throws what an engine throws.
inline std::string verify_with(Engine& engine, const std::string& name, DType type) {
    const Workload w = small(name, type);
    const KernelInfo& kernel = kernel_called(engine, name);
    const Tensors in = make_inputs(w, 3);
    const auto prepared = engine.prepare(kernel, w, in, {});
    prepared->run({});
    prepared->run({});
    const KernelVerdict verdict = verify_outputs(prepared->outputs(), w, in, kernel);
    return verdict.passed ? "" : verdict.sentence;
}

/// The whole way, with a GPU that is opened for it: empty, or the sentence of what went wrong.
inline std::string sentence_of(const std::string& name, DType type) {
    try {
        const auto engine = gpu::make_engine(gpu::Where::cuda);
        if (const auto reason = engine->why_not()) return *reason;
        return verify_with(*engine, name, type);
    } catch (const NoMemory& failure) {
        return failure.what();
    } catch (const std::runtime_error& failure) {
        return failure.what();
    }
}

}  // namespace tilewalk::test
