// Standard attention with the vendor's products: in how many calls it asks for them. That the results are
// right in every layout is what the case matrix looks at.
#include "cuda/emulator/stream.h"
#include "tests/cuda/kernel_cases.h"

#include <doctest/doctest.h>

#include <vector>

using namespace tilewalk;
using namespace tilewalk::gpu;

namespace {

constexpr int batch = 3, N = 4, d = 8;

/// Elements of [batch][heads][N][d], or of [batch][N][heads][d].
Tensor tensor(void* data, int heads, bool by_rows) {
    if (by_rows) return {data, std::int64_t(N) * heads * d, d, std::int64_t(heads) * d};
    return {data, std::int64_t(heads) * N * d, std::int64_t(N) * d, d};
}

/// Launches of a rung, its softmax among them.
std::int64_t launches(const char* name, int heads, int kv_heads, bool by_rows, bool prepare = false) {
    const auto device = open_emulator();
    const Rung& rung = rung_called(*device, name);
    std::vector<float> memory(std::size_t{1} << 16);
    const auto piece = [&](std::size_t n) { return memory.data() + 4096 * n; };
    Arguments a;
    a.batch = batch, a.heads = heads, a.kv_heads = kv_heads, a.N_q = a.N_kv = N, a.d = d;
    a.Q = tensor(piece(0), heads, by_rows), a.O = tensor(piece(1), heads, by_rows);
    a.dO = tensor(piece(2), heads, by_rows), a.dQ = tensor(piece(3), heads, by_rows);
    a.K = tensor(piece(4), kv_heads, by_rows), a.V = tensor(piece(5), kv_heads, by_rows);
    a.dK = tensor(piece(6), kv_heads, by_rows), a.dV = tensor(piece(7), kv_heads, by_rows);
    a.L = piece(8);
    a.workspace = piece(9);
    EmulatedStream stream;
    (prepare ? rung.prepare : rung.launch)(a, DType::f32, stream);
    REQUIRE(stream.failure == "");
    return stream.launches;
}

}  // namespace

TEST_SUITE("cuda/standard") {
    TEST_CASE("all heads of all batch entries are one product where they lie behind each other") {
        for (const auto& [heads, the_kv_heads] : {std::pair{4, 4}, {4, 2}, {4, 1}}) {
            const auto& kv_heads = the_kv_heads;
            CAPTURE(kv_heads);
            CHECK(launches("f0-cublas", heads, kv_heads, false) == 2 + 1);
            CHECK(launches("b0-materialise", heads, kv_heads, false, true) == 1 + 1);
            CHECK(launches("b0-materialise", heads, kv_heads, false) == 4 + 1);
        }
    }

    TEST_CASE("where they do not, there are more") {
        // With [batch][N][heads][d] a batch entry is a call of its own …
        CHECK(launches("f0-cublas", 4, 4, true) == 2 * batch + 1);
        // … and so is, within it, what shares a K
        CHECK(launches("f0-cublas", 4, 2, true) == 2 * batch * 2 + 1);
    }
}
