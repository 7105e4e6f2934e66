#include "tests/cuda/stubs/tensor_maps.h"

#include "cuda/device/device.h"

#include <cstring>

namespace tilewalk::stubs {

AskedMap ask_for_map(const gpu::Tensor& t, DType type, int d, int N, int heads, int batch, int rows) {
    using namespace gpu::on_cuda;
    gpu::CudaStream stream;
    const TensorMap map = type == DType::f16 ? tensor_map<f16>(stream, t, d, N, heads, batch, rows)
                                             : tensor_map<bf16>(stream, t, d, N, heads, batch, rows);
    AskedMap asked;
    std::memcpy(&asked.map, &map, sizeof asked.map);
    asked.error = stream.error, asked.where = stream.where;
    return asked;
}

}  // namespace tilewalk::stubs
