#include "cuda/host/emulator.h"
#include "tests/cuda/attention_case.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::gpu;
using test::AttentionCase;
using test::Outputs;
using test::Shape;

namespace {

constexpr int all = Arguments::unlimited;

std::unique_ptr<Device> emulated(emulator::Options::Copies copies = emulator::Options::Copies::late) {
    emulator::Options options;
    options.copies = copies;
    return open_emulator(options);
}

/// The rule of the flash-attention tests: twice the error of standard attention in the same type.
void check_against_reference(Device& device, const Rung& rung, const Shape& shape) {
    CAPTURE(rung.name);
    CAPTURE(test::text(shape));
    AttentionCase attention(device, shape);
    REQUIRE(rung.refuse(attention.arguments, shape.type, device.chip).empty());
    const Outputs got = attention.run(rung);
    REQUIRE(device.failure() == "");
    const Outputs exact = attention.reference(), standard = attention.reference(true);
    CHECK(test::distance(got.O, exact.O) <= 2 * test::distance(standard.O, exact.O) + 2e-6);
    CHECK(test::distance(got.L, exact.L) <=
          2 * test::distance(standard.L, exact.L) + 2e-6 * (1 + shape.large * 10));
}

/// Sizes that no tile divides: masks on both sides, shared key heads, more queries than keys and fewer.
const Shape shapes[] = {
    {.N_q = 70, .N_kv = 45, .d = 64},
    {.heads = 4, .kv_heads = 2, .N_q = 33, .N_kv = 130, .d = 32, .after = 0},
    {.batch = 2, .heads = 2, .N_q = 100, .N_kv = 61, .d = 64, .after = 0},
    {.N_q = 150, .N_kv = 140, .d = 128, .before = 17, .after = 5},
    {.N_q = 1, .N_kv = 1, .d = 128},
    {.N_q = 20, .N_kv = 200, .d = 64, .large = 3000},
};

}  // namespace

TEST_SUITE("cuda/forward") {
    TEST_CASE("every forward rung computes attention") {
        for (const auto copies : {emulator::Options::Copies::late, emulator::Options::Copies::early}) {
            const auto device = emulated(copies);
            for (const Rung* const rung : device->ladder()) {
                if (rung->direction != Direction::forward) continue;
                for (Shape shape : shapes)
                    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
                        Arguments sizes;
                        sizes.d = shape.d;
                        if (!rung->refuse(sizes, type, device->chip).empty()) continue;
                        shape.type = type;
                        check_against_reference(*device, *rung, shape);
                    }
            }
        }
    }

    TEST_CASE("a rung says which sizes it does not take") {
        const auto device = emulated();
        const auto reason = [&](const char* rung, DType type, int d, const Chip& chip,
                                bool recording = false) {
            Arguments a;
            a.d = d;
            a.trace.tiles_i = recording ? 1 : 0;
            return test::rung_of(*device, rung).refuse(a, type, chip);
        };
        const Chip hopper, turing{75, 64 << 10, 40}, ada{89, 99 << 10, 76};
        CHECK(reason("f0-materialise", DType::f16, 64, hopper) == "16-bit elements (it computes in f32)");
        CHECK(reason("f0-materialise", DType::f32, 257, hopper) == "head dimension 257 (it takes up to 256)");
        CHECK(reason("f0-cublas", DType::f32, 1000, turing) == "");
        CHECK(reason("f0-cublas", DType::bf16, 64, turing) ==
              "bf16 below compute capability 8.0 (f16 works)");
        CHECK(reason("f1-online-row", DType::f32, 256, turing) == "");
        CHECK(reason("f2-tiled-fp32", DType::f32, 80, hopper) ==
              "head dimension 80 (it takes 32, 64, 96, 128)");
        CHECK(reason("f3-warp-rows", DType::f32, 128, turing) == "");
        CHECK(reason("f3-warp-rows", DType::f32, 96, hopper, true) ==
              "to record at head dimension 96 (it takes 32, 64, 128)");
        CHECK(reason("f4-tensor-core", DType::f32, 64, hopper) ==
              "f32 (tensor cores multiply f16 and bf16 here)");
        CHECK(reason("f4-tensor-core", DType::f16, 256, turing) ==
              "99 KiB of shared memory for a block, where the device has 64");
        CHECK(reason("f4-tensor-core", DType::f16, 256, ada) == "");
        CHECK(reason("f5-flash2", DType::f16, 64, turing) ==
              "compute capability below 8.0, which copies nothing in the background");
        CHECK(reason("f5-flash2", DType::bf16, 64, turing).starts_with("bf16 "));
    }

    TEST_CASE("the tile is as large as the device has shared memory for") {
        const auto device = emulated();
        const auto tile = [&](const char* rung, DType type, int d, int kilobytes) {
            Arguments a;
            a.d = d;
            const Tile t = test::rung_of(*device, rung).tile(a, type, {80, kilobytes << 10, 40});
            return std::pair{t.Br, t.Bc};
        };
        CHECK(tile("f2-tiled-fp32", DType::f32, 64, 64) == std::pair{64, 64});
        CHECK(tile("f2-tiled-fp32", DType::f32, 128, 99) == std::pair{64, 64});
        CHECK(tile("f2-tiled-fp32", DType::f32, 128, 64) == std::pair{32, 32});
        CHECK(tile("f3-warp-rows", DType::f32, 128, 99) == std::pair{128, 32});
        CHECK(tile("f3-warp-rows", DType::f32, 128, 64) == std::pair{64, 16});
        CHECK(tile("f4-tensor-core", DType::f16, 128, 99) == std::pair{64, 64});
        CHECK(tile("f1-online-row", DType::f32, 128, 99) == std::pair{0, 0});
    }

    TEST_CASE("the smaller tiles compute attention as well") {
        const auto device = open_emulator({}, {75, 64 << 10, 40});
        for (const char* const rung : {"f2-tiled-fp32", "f3-warp-rows"})
            check_against_reference(*device, test::rung_of(*device, rung),
                                    {.N_q = 90, .N_kv = 75, .d = 128, .after = 0});
    }

    TEST_CASE("standard attention needs S and P, the others nothing") {
        const auto device = emulated();
        Arguments a;
        a.batch = 2, a.heads = 6, a.kv_heads = 3, a.N_q = 100, a.N_kv = 61, a.d = 64;
        const auto bytes = [&](const char* rung, DType type) {
            return test::rung_of(*device, rung).workspace(a, type);
        };
        CHECK(bytes("f0-materialise", DType::f32) == 2 * 4 * 12 * 100 * 61);
        CHECK(bytes("f0-cublas", DType::f32) == 2 * 4 * 12 * 100 * 64);  // rows begin at 16 bytes
        CHECK(bytes("f0-cublas", DType::bf16) == 2 * 2 * 12 * 100 * 64);
        for (const char* const rung : {"f1-online-row", "f2-tiled-fp32", "f3-warp-rows"})
            CHECK(bytes(rung, DType::f32) == 0);
        for (const char* const rung : {"f4-tensor-core", "f5-flash2"}) CHECK(bytes(rung, DType::bf16) == 0);
    }
}
