// Whether a kernel is right, before it is timed.
#pragma once

#include "core/engine/engine.h"

#include <functional>

namespace tilewalk {

/// `error` is the largest |x − x₆₄| over what was looked at, in the tensor where it is largest in relation to
/// its limit; x₆₄ is dense attention in fp64 on the same float32 inputs.
struct KernelVerdict {
    bool passed = false;
    double error = 0, limit = 0;
    std::string sentence;  ///< when it failed: which tensor, where, how far off
};

/// Small sizes, all elements: odd lengths, N_q ≠ N_kv, N = 1, rows that see no key, large logits (of a kernel
/// for few queries, as many as it takes), with the
/// d, mask and direction of `like`, its heads to a key head, and up to two key heads. The rule: the error is
/// at most 2 times (gradients 3 times) that of standard attention in the same precision on the same inputs
/// (reference.h), plus two roundings of the largest element (2⁻²³ in float32, 2⁻¹⁰ in f16, 2⁻⁷ in bf16),
/// which covers outputs that the standard happens to get exactly. L is always float32; below 16-bit inputs
/// its two roundings count eight times, because tensor cores cut their sums off instead of rounding them. The
/// standard adds over d in four orders and the largest error counts: which one a library takes is chance, and
/// the largest of a few errors would be chance as well. Stopped, it has not passed.
KernelVerdict verify_small(Engine& engine, const KernelInfo& kernel, const Workload& like,
                           std::stop_token stop);

/// All elements of what a kernel wrote for a small workload, by the rule above. What is known of the kernel
/// decides what its standard does: one that materialises stores S in the type of the workload, and L is that
/// of such scores, and at full size its O may be added one key after the other, as a library's product with
/// one row is; where P comes from L alone, L's rounding is the standard's as well.
KernelVerdict verify_outputs(const Tensors& out, const Workload& workload, const Tensors& inputs,
                             const KernelInfo& kernel = {});

/// What prepared.run() just wrote at full size: sampled rows of O, L and dQ in every head and, backward,
/// sampled rows of dK and dV in one head, by the same rule against standard attention of those rows.
KernelVerdict verify_rows(Prepared& prepared, const Workload& workload, const Tensors& inputs,
                          std::uint64_t seed, std::stop_token stop, const KernelInfo& kernel = {});

}  // namespace tilewalk
