// What the host asks of the driver for TMA: the function is found by its name, and told how a tensor lies.
#include "core/base/dtype.h"
#include "tests/cuda/stubs/gpu.h"
#include "tests/cuda/stubs/tensor_maps.h"

#include <cuda.h>
#include <doctest/doctest.h>

using namespace tilewalk;
using stubs::ask_for_map;
using stubs::AskedMap;

TEST_SUITE("stubs/tensor_maps") {
    TEST_CASE("sizes from the columns to the batches, strides in bytes, boxes of 64 columns") {
        stubs::behave("");
        alignas(16) static std::uint16_t numbers[8];
        // Heads beside each other in a row, as in (batch, N, heads, d)
        const AskedMap asked = ask_for_map({numbers, 200 * 384, 128, 384}, DType::bf16, 128, 200, 3, 2, 128);
        CHECK(asked.error == 0);
        CHECK(asked.map.data == reinterpret_cast<std::uintptr_t>(numbers));
        CHECK(asked.map.sizes == std::array<std::uint64_t, 4>{128, 200, 3, 2});
        CHECK(asked.map.strides == std::array<std::uint64_t, 3>{768, 256, 2 * 200 * 384});
        CHECK(asked.map.box == std::array<std::uint32_t, 4>{64, 128, 1, 1});
        CHECK(asked.map.type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
        CHECK(ask_for_map({numbers, 0, 0, 64}, DType::f16, 64, 9, 1, 1, 64).map.type ==
              CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    }

    TEST_CASE("of one row, head or batch any stride will do, and of more a bad one is told") {
        stubs::behave("");
        CHECK(ask_for_map({nullptr, 3, 3, 3}, DType::bf16, 64, 1, 1, 1, 64).error == 0);
        const AskedMap asked = ask_for_map({nullptr, 0, 3, 64}, DType::bf16, 64, 9, 2, 1, 64);
        CHECK(asked.error != 0);
        CHECK(asked.where == "describing a tensor for TMA, error 1 of the driver");
        CHECK(ask_for_map({nullptr, 0, 0, 64}, DType::bf16, 64, 9, 1, 1, 512).error != 0);
    }

    TEST_CASE("a driver that does not have the function, or fails") {
        stubs::behave("cudaGetDriverEntryPointByVersion@1=cudaErrorUnknown");
        const AskedMap unknown = ask_for_map({nullptr, 0, 0, 64}, DType::bf16, 64, 9, 1, 1, 64);
        CHECK(unknown.error != 0);
        CHECK(unknown.where == "looking for the driver's cuTensorMapEncodeTiled");
        stubs::behave("no-driver");
        CHECK(ask_for_map({nullptr, 0, 0, 64}, DType::bf16, 64, 9, 1, 1, 64).error != 0);
        stubs::behave("");
    }
}
