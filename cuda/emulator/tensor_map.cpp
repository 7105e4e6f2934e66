#include "cuda/emulator/stream.h"

namespace tilewalk::gpu::emulator {

TensorMap tensor_map(EmulatedStream& stream, const Tensor& t, int d, int N, int heads, int batch, int rows) {
    TensorMap map;
    map.data = static_cast<const unsigned char*>(t.data);
    map.size = {d, N, heads, batch};
    map.stride = {2, 2 * t.row, 2 * t.head, 2 * t.batch};
    map.rows = rows;
    std::string& failure = stream.failure;
    constexpr int most_rows = 256;
    constexpr std::int64_t most_bytes = std::int64_t(1) << 40;
    if (failure.empty() && (rows < 1 || rows > most_rows))
        failure = "A tensor map for boxes of " + std::to_string(rows) + " rows; 1 to 256 are possible.";
    for (std::size_t n = 1; n < 4; ++n)
        if (failure.empty() && map.size[n] > 1 && (map.stride[n] % 16 != 0 || map.stride[n] >= most_bytes))
            failure = "A tensor map with strides of " + std::to_string(map.stride[n]) +
                      " bytes; multiples of 16 below 2^40 are possible.";
    return map;
}

}  // namespace tilewalk::gpu::emulator
