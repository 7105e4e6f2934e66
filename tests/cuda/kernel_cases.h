// Kernels of the ladder on the emulator, over many shapes, layouts and kinds of inputs.
#pragma once

#include "core/bench/verify.h"
#include "core/engine/engine.h"
#include "cuda/host/emulator.h"

#include <functional>
#include <ostream>

namespace tilewalk {

/// How the rows of the tensors lie in memory.
enum class Layout {
    bhsd,    ///< [batch][heads][N][d]
    bshd,    ///< [batch][N][heads][d]
    packed,  ///< Q, K and V of a position side by side: [batch][N][3][heads][d]
    padded   ///< as bhsd, with gaps between rows, others for each tensor, and three rows between heads, all
             ///< NaN
};

enum class Inputs {
    normal,
    overflow,    ///< Q × 5, K × 3, V × 3
    outliers,    ///< N(0, 1) + N(0, 100) · Bernoulli(0.001)
    equal_rows,  ///< of Q and of K: all scores are the same
    one_logit,   ///< one key whose scores are far above all others
    large,       ///< scores of ±10⁴
    denormals    ///< V, and in f32 Q and K, below the smallest normal number
};

struct KernelCase {
    std::string kernel;
    Workload w;
    Layout layout = Layout::bhsd;
    Inputs inputs = Inputs::normal;
    gpu::emulator::Options::Copies copies = gpu::emulator::Options::Copies::late;
    std::uint64_t seed = 1;
};
std::ostream& operator<<(std::ostream& out, const KernelCase& c);

Tensors inputs_of(const KernelCase& c);
/// Changes the arguments before the run: a mask, a scale, a window to record into.
using Adjust = std::function<void(gpu::Arguments&, const gpu::Rung&)>;
/// What the kernel writes (backward: with O and L of the best forward kernel), as float in the layout of
/// Tensors. `wrong` is the emulator's sentence, or that something outside of the tensors was written.
Tensors run_case(const KernelCase& c, const Tensors& inputs, std::string& wrong, const gpu::Chip& chip = {},
                 const Adjust& adjust = {});
/// The same on a device that is there already. `far`: its memory is not the host's.
Tensors run_case_on(gpu::Device& device, bool far, const KernelCase& c, const Tensors& inputs,
                    std::string& wrong, const Adjust& adjust = {});
/// Row i of S of a query head, unscaled, in double; −∞ where a query may not look that far before and after.
std::vector<double> scores_of(const Workload& w, const Tensors& inputs, std::int64_t head, std::int64_t i,
                              int before, int after);
/// The rung of a device's ladder; throws if there is none.
const gpu::Rung& rung_called(const gpu::Device& device, const std::string& name);
/// Runs it and holds it against fp64. The reason why the kernel does not take it, if it does not.
std::optional<std::string> refused(const KernelCase& c, const gpu::Chip& chip = {});
KernelVerdict verify_case(const KernelCase& c, const gpu::Chip& chip = {});
KernelVerdict verify_case_on(gpu::Device& device, bool far, const KernelCase& c);

/// The shapes of the FlashAttention tests (N_q, N_kv) up to so many scores.
std::vector<std::pair<std::int64_t, std::int64_t>> shapes(std::int64_t most_scores);
/// All kernels with the types that they take on this chip.
std::vector<std::pair<std::string, DType>> kernels_and_types(const gpu::Chip& chip = {});
/// Every shape with and without a causal mask, with copies late and early; d, window, heads, batch and layout
/// are drawn from all that the kernel takes, `draws` times.
std::vector<KernelCase> case_matrix(const std::string& kernel, DType type, std::int64_t most_scores,
                                    int draws);

}  // namespace tilewalk
