#include "cuda/emulator/emulator.h"
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
}
