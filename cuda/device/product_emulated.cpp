// multiply_matrices of the emulator: what cuBLAS computes, one element after the other.
#include "cuda/device/device.h"

namespace tilewalk::gpu::on_emulator {

namespace {

/// Element (row, column) of what is multiplied.
template <class T> float element(const Operand& x, std::int64_t matrix, int row, int column) {
    const T* const begin = static_cast<const T*>(x.data) + matrix * x.next;
    return to_float(x.transposed ? begin[column * x.row + row] : begin[row * x.row + column]);
}

template <class T, class R> void multiply(const Product& p) {
    for (int matrix = 0; matrix < p.count; ++matrix)
        for (int i = 0; i < p.m; ++i)
            for (int j = 0; j < p.n; ++j) {
                float sum = 0;
                for (int k = 0; k < p.k; ++k)
                    sum += element<T>(p.A, matrix, i, k) * element<T>(p.B, matrix, k, j);
                R& c = static_cast<R*>(p.C)[matrix * p.C_next + i * p.C_row + j];
                // With beta = 0 the old C is not read: it may be NaN.
                c = from_float<R>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * to_float(c)));
            }
}

template <class T> void multiply(const Product& p) {
    return p.result_type == DType::f32 ? multiply<T, float>(p) : multiply<T, T>(p);
}

}  // namespace

void multiply_matrices(Stream& any, const Product& p) {
    auto& stream = static_cast<EmulatedStream&>(any);
    if (!stream.failure.empty() || (stream.cancelled && *stream.cancelled)) return;
    ++stream.launches;
    if (p.type == DType::f32) multiply<float>(p);
    if (p.type == DType::f16) multiply<f16>(p);
    if (p.type == DType::bf16) multiply<bf16>(p);
}

}  // namespace tilewalk::gpu::on_emulator
