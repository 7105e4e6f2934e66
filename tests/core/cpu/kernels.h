// What the tests of the CPU kernels share: workloads by chance, and a kernel of the ladder held against dense
// attention.
#pragma once

#include "core/cpu/kernel.h"
#include "tests/core/cpu/dense.h"

#include <functional>
#include <random>

namespace tilewalk::test {

using namespace tilewalk;  // for the tests that say `using namespace tilewalk::test`

/// Tensors of 16 bits in memory.
struct Halves {
    std::vector<std::uint16_t> Q, K, V, dO, O, dQ, dK, dV;
};

/// A kernel with its pool, memory and tensors. Outputs begin as NaN: what is not written is found. Where the
/// workload is of 16 bits, the kernel has `halves`; `t` are their values.
struct Setup {
    Setup(const cpu::Rung& rung, const Workload& workload, const Tensors& inputs, int threads);
    void run(std::stop_token stop = {});
    cpu::Views views();
    /// Outputs are NaN again.
    void forget();

    Workload w;
    Tensors t;
    Halves halves;
    cpu::ThreadPool pool;
    cpu::CountedMemory memory;
    std::unique_ptr<cpu::Kernel> kernel;
};
bool same_outputs(const Tensors& a, const Tensors& b);

/// Of O, L, dQ, dK, dV; forward of the first two alone.
using AllErrors = std::vector<Errors>;
AllErrors errors_of(const Setup& ran, const DenseTensors<float>& standard, const DenseTensors<double>& truth);
/// By the rule of core/bench/verify.h.
void check(const AllErrors& errors);

/// All instruction sets in turn, and the best one again at the end.
void on_every_instruction_set(const std::function<void()>& check);
/// Of what was asked to stop before it began.
std::stop_token stopped();

/// For messages: all of its sizes.
std::string named(const Workload& workload);
/// Small, with every combination of grouped heads, masks and ragged lengths; now and then rows without keys.
Workload random_workload(std::mt19937& random, Direction direction);
/// Checks all outputs of the kernel by the rule of core/bench/verify.h, each element, outputs that start as
/// NaN, and that it took the memory of its closed form. `spread`: of the logits.
void check_kernel(const cpu::Rung& rung, const Workload& workload, std::uint64_t seed, int threads,
                  float spread = 1);
/// Runs it several times, with 1 to 8 threads; checks that the bits of all outputs are the same every time
/// for one number of threads, and whether for all.
void check_repetition(const cpu::Rung& rung, const Workload& workload);
/// Asks it to stop before and amid its work: checks that it returns, and works again afterwards.
void check_stopping(const cpu::Rung& rung);

}  // namespace tilewalk::test
