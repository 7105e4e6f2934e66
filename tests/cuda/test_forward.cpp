// Forward rungs: masks of two sides, and what each asks of a device. The case matrix has all else.
#include "tests/cuda/kernel_cases.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::gpu;

namespace {

constexpr int before = 17, after = 5;

// Row i of O of the only head and behind it L, in double; `held`: S, P and O are rounded to the type on the
// way.
std::vector<double> row_of(const KernelCase& c, const Tensors& in, std::int64_t i, bool held) {
    const auto as_held = [&](double x) { return held ? rounded(static_cast<float>(x), c.w.dtype) : x; };
    std::vector<double> P = scores_of(c.w, in, 0, i, before, after);
    double m = -INFINITY, l = 0;
    for (double& s : P) m = std::max(m, s = as_held(s / std::sqrt(static_cast<double>(c.w.d))));
    for (double& s : P) l += s = std::isinf(s) ? 0 : std::exp(s - m);
    std::vector<double> O;
    for (std::int64_t column = 0; column < c.w.d; ++column) {
        double sum = 0;
        for (std::size_t key = 0; key < P.size(); ++key)
            sum += as_held(l > 0 ? P[key] / l : 0) *
                   in.V[key * static_cast<std::size_t>(c.w.d) + static_cast<std::size_t>(column)];
        O.push_back(as_held(sum));
    }
    O.push_back(m + std::log(l));
    return O;
}

}  // namespace

TEST_SUITE("cuda/forward") {
    TEST_CASE("a query may look further to one side than to the other") {
        for (const auto& [kernel, type] : kernels_and_types()) {
            if (kernel[0] == 'b') continue;
            const KernelCase c{kernel,
                               {.dtype = type, .heads = 1, .kv_heads = 1, .N_q = 150, .N_kv = 140, .d = 128}};
            CAPTURE(c);
            const Tensors in = inputs_of(c);
            std::string wrong;
            const Tensors out = run_case(
                c, in, wrong, {}, [](Arguments& a, const Rung&) { a.before = before, a.after = after; });
            REQUIRE(wrong == "");
            // The rule of the flash-attention tests: twice the error of standard attention in the same type.
            double error = 0, standard = 0, error_of_L = 0, standard_of_L = 0;
            const auto look = [](double& largest, double x, double exact) {
                if (x == exact) return;  // −∞ for the L of a row that sees no key
                REQUIRE(std::isfinite(x));
                largest = std::max(largest, std::abs(x - exact));
            };
            for (std::int64_t i = 0; i < c.w.N_q; ++i) {
                const std::vector<double> exact = row_of(c, in, i, false), held = row_of(c, in, i, true);
                for (std::size_t column = 0; column + 1 < exact.size(); ++column) {
                    look(error, out.O[static_cast<std::size_t>(i * c.w.d) + column], exact[column]);
                    look(standard, held[column], exact[column]);
                }
                look(error_of_L, out.L[static_cast<std::size_t>(i)], exact.back());
                look(standard_of_L, held.back(), exact.back());
            }
            CHECK(error <= 2 * standard + 2e-6);
            CHECK(error_of_L <= 2 * standard_of_L + 2e-5);
        }
    }

    TEST_CASE("a rung says which sizes it does not take") {
        const auto device = open_emulator();
        const auto reason = [&](const char* rung, DType type, int d, const Chip& chip,
                                bool recording = false) {
            Arguments a;
            a.d = d;
            a.trace.tiles_i = recording ? 1 : 0;
            return rung_called(*device, rung).refuse(a, type, chip);
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

    TEST_CASE("rows that do not begin at 16 bytes are refused where 16 bytes are read at a time") {
        const auto device = open_emulator();
        Arguments a;
        a.d = 64;
        const auto reason = [&](const std::string& kernel, DType type) {
            return rung_called(*device, kernel).refuse(a, type, device->chip);
        };
        const std::string unaligned = "rows that do not begin at multiples of 16 bytes";
        alignas(16) static unsigned char memory[32];
        for (const auto& [the_kernel, type] : kernels_and_types()) {
            const auto& kernel = the_kernel;
            CAPTURE(kernel);
            const bool wide = kernel != "f0-materialise" && kernel != "f0-cublas" &&
                              kernel != "f1-online-row" && kernel != "f2-tiled-fp32" &&
                              kernel != "b0-materialise";
            const int chunk = type == DType::f32 ? 4 : 8;  // elements of 16 bytes
            for (std::int64_t Tensor::*stride : {&Tensor::batch, &Tensor::head, &Tensor::row}) {
                a.V.*stride = 64 + chunk;
                CHECK(reason(kernel, type) == "");
                a.V.*stride = 64 + chunk - 1;
                CHECK(reason(kernel, type) == (wide ? unaligned : ""));
                a.V.*stride = 0;
            }
            a.dK.data = memory + 8;
            CHECK(reason(kernel, type) == (wide ? unaligned : ""));
            a.dK.data = memory + 16;
            CHECK(reason(kernel, type) == "");
            a.dK.data = nullptr;
        }
    }

    TEST_CASE("the tile is as large as the device has shared memory for") {
        const auto device = open_emulator();
        const auto tile = [&](const char* rung, DType type, int d, int kilobytes, int keys = 4096) {
            Arguments a;
            a.d = d, a.N_kv = keys;
            const Tile t = rung_called(*device, rung).tile(a, type, {80, kilobytes << 10, 40});
            return std::pair{t.Br, t.Bc};
        };
        CHECK(tile("f2-tiled-fp32", DType::f32, 64, 64) == std::pair{64, 64});
        CHECK(tile("f2-tiled-fp32", DType::f32, 128, 99) == std::pair{64, 64});
        CHECK(tile("f2-tiled-fp32", DType::f32, 128, 64) == std::pair{32, 32});
        CHECK(tile("f3-warp-rows", DType::f32, 128, 99) == std::pair{128, 32});
        CHECK(tile("f3-warp-rows", DType::f32, 128, 64) == std::pair{64, 16});
        CHECK(tile("f4-tensor-core", DType::f16, 128, 99) == std::pair{64, 64});
        CHECK(tile("f5-flash2", DType::f16, 64, 99) == std::pair{128, 128});
        CHECK(tile("f5-flash2", DType::f16, 64, 163, 129) == std::pair{128, 128});
        CHECK(tile("f5-flash2", DType::f16, 64, 163, 128) == std::pair{128, 64});
        CHECK(tile("f5-flash2", DType::f16, 128, 163) == std::pair{128, 64});
        CHECK(tile("f5-flash2", DType::f16, 128, 99) == std::pair{128, 32});
        CHECK(tile("f1-online-row", DType::f32, 128, 99) == std::pair{0, 0});
    }

    TEST_CASE("standard attention needs S and P, the others nothing") {
        const auto device = open_emulator();
        Arguments a;
        a.batch = 2, a.heads = 6, a.kv_heads = 3, a.N_q = 100, a.N_kv = 61, a.d = 64;
        const auto bytes = [&](const char* rung, DType type) {
            return rung_called(*device, rung).workspace(a, type);
        };
        CHECK(bytes("f0-materialise", DType::f32) == 2 * 4 * 12 * 100 * 61);
        CHECK(bytes("f0-cublas", DType::f32) == 2 * 4 * 12 * 100 * 64);  // rows begin at 16 bytes
        CHECK(bytes("f0-cublas", DType::bf16) == 2 * 2 * 12 * 100 * 64);
        for (const char* const rung : {"f1-online-row", "f2-tiled-fp32", "f3-warp-rows"})
            CHECK(bytes(rung, DType::f32) == 0);
        for (const char* const rung : {"f4-tensor-core", "f5-flash2"}) CHECK(bytes(rung, DType::bf16) == 0);
    }
}
