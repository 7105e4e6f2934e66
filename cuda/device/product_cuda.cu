// multiply_matrices on a GPU: cuBLAS, loaded when it is first needed, so that the program starts without it.
#include "cuda/device/cublas_numbers.h"
#include "cuda/device/cublas_places.h"
#include "cuda/device/device.h"
#include "cuda/device/not_tried.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tilewalk::gpu::on_cuda {

namespace {

// What is called of cuBLAS, as its documentation has it: the header comes with a library of half a gigabyte.
using Handle = void*;
using Status = int;
using Multiply = Status(Handle, int, int, int m, int n, int k, const void* alpha, const void* A,
                        cudaDataType A_type, int A_row, long long A_next, const void* B, cudaDataType B_type,
                        int B_row, long long B_next, const void* beta, void* C, cudaDataType C_type,
                        int C_row, long long C_next, int count, int computes_in, int algorithm);

/// The functions of cuBLAS that are called; `library` is null where there is none.
struct Cublas {
    void* library = open();
    Status (*create)(Handle*) = find<decltype(create)>("cublasCreate_v2");
    Status (*destroy)(Handle) = find<decltype(destroy)>("cublasDestroy_v2");
    Status (*set_stream)(Handle, cudaStream_t) = find<decltype(set_stream)>("cublasSetStream_v2");
    Status (*set_math_mode)(Handle, int) = find<decltype(set_math_mode)>("cublasSetMathMode");
    Status (*set_workspace)(Handle, void*,
                            std::size_t) = find<decltype(set_workspace)>("cublasSetWorkspace_v2");
    Multiply* multiply = find<Multiply*>("cublasGemmStridedBatchedEx");

    bool complete() const {
        return create && destroy && set_stream && set_workspace && set_math_mode && multiply;
    }

private:
    static void* open() {
        for (const std::string& place : cublas_places([](const char* name) { return std::getenv(name); }))
            if (void* const found = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
        return nullptr;
    }
    template <class F> F find(const char* name) const {
        return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
    }
};

const Cublas& cublas() {
    static const Cublas functions;
    return functions;
}

void fail(CudaStream& stream, const std::string& where, cudaError_t error = cudaErrorSharedObjectInitFailed) {
    stream.error = error;
    stream.where = where;
}

/// Sums stay in float: parts of a long sum may not be added in 16 bits. The workspace is set after the
/// stream, which takes it away.
bool prepare(Handle handle, const CudaStream& stream) {
    const auto well = [](Status status) { return status == cublas_success; };
    return well(cublas().set_stream(handle, stream.handle)) &&
           (!stream.product_memory ||
            well(cublas().set_workspace(handle, stream.product_memory, stream.product_bytes))) &&
           well(cublas().set_math_mode(handle, cublas_sums_not_reduced));
}

/// The stream's handle, made at its first product; null after a failure.
Handle handle_of(CudaStream& stream) {
    if (stream.cublas) return static_cast<Handle>(stream.cublas);
    if (!cublas().complete()) {
        fail(stream,
             "it needs cuBLAS, and neither libcublas.so.13 nor .12 nor .11 was found (TILEWALK_CUBLAS may "
             "name the file)",
             no_cublas);
        return nullptr;
    }
    Handle handle = nullptr;
    const Status status = cublas().create(&handle);
    if (status != cublas_success) {
        fail(stream, "starting cuBLAS (status " + std::to_string(status) + ")");
        return nullptr;
    }
    if (!prepare(handle, stream)) {
        cublas().destroy(handle);
        fail(stream, "preparing cuBLAS");
        return nullptr;
    }
    stream.cublas = handle;  // not before it is as it must be: the next product takes it as it is
    return handle;
}

cudaDataType_t type_of(DType type) {
    return type == DType::f32 ? CUDA_R_32F : type == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
}
int operation(const Operand& x) { return x.transposed ? cublas_transposed : cublas_as_it_is; }

}  // namespace

// cuBLAS counts columns first: what is C = A B in rows is Cᵀ = Bᵀ Aᵀ to it, the same memory read its way.
void multiply_matrices(Stream& any, const Product& p) {
    auto& stream = static_cast<CudaStream&>(any);
    if (stream.error != cudaSuccess) return;
    const Handle handle = handle_of(stream);
    if (!handle) return;
    const Status status = cublas().multiply(handle, operation(p.B), operation(p.A), p.n, p.m, p.k, &p.alpha,
                                            p.B.data, type_of(p.type), static_cast<int>(p.B.row), p.B.next,
                                            p.A.data, type_of(p.type), static_cast<int>(p.A.row), p.A.next,
                                            &p.beta, p.C, type_of(p.result_type), static_cast<int>(p.C_row),
                                            p.C_next, p.count, cublas_in_float, cublas_any_algorithm);
    if (status != cublas_success)
        fail(stream, "multiplying with cuBLAS (status " + std::to_string(status) + ")");
}

void release_cublas(CudaStream& stream) {
    if (stream.cublas) cublas().destroy(static_cast<Handle>(stream.cublas));
    stream.cublas = nullptr;
}

}  // namespace tilewalk::gpu::on_cuda
