// What the rungs have in common on the host's side: sizes into template parameters, and reasons to refuse.
#pragma once

#include "cuda/device/device.h"
#include "cuda/launch/arguments.h"

#include <type_traits>

namespace tilewalk::gpu::BACKEND {

template <int n> using Size = std::integral_constant<int, n>;
template <class T> struct Of { using Type = T; };

/// Calls f(Size<n>) with the n of the list that equals `d`; false if there is none.
template <int... sizes, class F> bool with_d(int d, F&& f) {
    return ((d == sizes && (f(Size<sizes>{}), true)) || ...);
}
/// Calls f(Of<f16>) or f(Of<bf16>).
template <class F> void with_half(DType type, F&& f) {
    if (type == DType::f16) f(Of<f16>{});
    if (type == DType::bf16) f(Of<bf16>{});
}

/// Empty, or: "head dimension 80 (it takes 32, 64, 96, 128)"
template <int... sizes> std::string refuse_d(int d) {
    if (((d == sizes) || ...)) return "";
    std::string list;
    ((list += (list.empty() ? "" : ", ") + std::to_string(sizes)), ...);
    return "head dimension " + std::to_string(d) + " (it takes " + list + ")";
}
/// Twins that record are built for fewer head dimensions.
template <int... sizes> std::string refuse_traced_d(const Arguments& a) {
    const std::string reason = a.trace.tiles_i > 0 ? refuse_d<sizes...>(a.d) : "";
    return reason.empty() ? "" : "to record at " + reason;
}
inline std::string refuse_wide(int d, int most) {
    if (d <= most) return "";
    return "head dimension " + std::to_string(d) + " (it takes up to " + std::to_string(most) + ")";
}
inline std::string refuse_all_but_f32(DType type) {
    return type == DType::f32 ? "" : "16-bit elements (it computes in f32)";
}
inline std::string refuse_f32(DType type) {
    return type == DType::f32 ? "f32 (tensor cores multiply f16 and bf16 here)" : "";
}
/// bf16 fragments came with compute capability 8.0.
inline std::string refuse_old_bf16(DType type, const Chip& chip) {
    return type == DType::bf16 && chip.capability < 80 ? "bf16 below compute capability 8.0 (f16 works)" : "";
}
/// cp.async came with it, too.
inline std::string refuse_before_ampere(const Chip& chip) {
    return chip.capability < 80 ? "compute capability below 8.0, which copies nothing in the background" : "";
}
inline std::string refuse_shared(std::int64_t bytes, const Chip& chip) {
    if (bytes <= chip.shared_per_block) return "";
    return std::to_string(bytes / 1024) + " KiB of shared memory for a block, where the device has " +
           std::to_string(chip.shared_per_block / 1024);
}
/// For kernels that read and write 16 bytes at a time: every row begins at a multiple of them. Tensors that
/// are not there lie at 0.
inline std::string refuse_unaligned(const Arguments& a, DType type) {
    const std::int64_t width = type == DType::f32 ? 4 : 2;
    for (const Tensor* t : {&a.Q, &a.K, &a.V, &a.O, &a.dO, &a.dQ, &a.dK, &a.dV})
        for (const std::int64_t bytes : {static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t->data)),
                                         width * t->batch, width * t->head, width * t->row})
            if (bytes % 16 != 0) return "rows that do not begin at multiples of 16 bytes";
    return "";
}
/// Blocks of a grid in y and in z.
constexpr std::int64_t most_blocks = 65535;
/// For kernels whose grid has all heads of all batches in one direction.
inline std::string refuse_many_heads(const Arguments& a) {
    return std::int64_t(a.batch) * a.heads > most_blocks ? "more than 65,535 heads in all batches" : "";
}
/// The first reason that there is.
inline std::string first_of(std::initializer_list<std::string> reasons) {
    for (const std::string& reason : reasons)
        if (!reason.empty()) return reason;
    return "";
}

inline int blocks_of(int N, int rows) { return (N + rows - 1) / rows; }
inline std::int64_t no_workspace(const Arguments&, DType) { return 0; }
inline Tile no_tile(const Arguments&, DType, const Chip&) { return {}; }

/// Row 0 of one head of a tensor.
template <class T> DEVICE T* head_of(const Tensor& t, int batch, int head) {
    return static_cast<T*>(t.data) + batch * t.batch + head * t.head;
}

constexpr float log2_e = 1.4426950408889634f;

}  // namespace tilewalk::gpu::BACKEND
