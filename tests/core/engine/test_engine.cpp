#include "core/engine/engine.h"

#include <doctest/doctest.h>
#include <random>

using namespace tilewalk;

TEST_CASE("the visible scores of a workload are those that a count row by row finds") {
    std::mt19937 random(7);
    const auto up_to = [&](int most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
    };
    for (int k = 0; k < 2000; ++k) {
        Workload w;
        w.batch = 1 + up_to(2), w.heads = 1 + up_to(3), w.kv_heads = 1;
        w.N_q = 1 + up_to(40), w.N_kv = 1 + up_to(40), w.d = 8;
        w.causal = random() % 2 == 0;
        if (random() % 2 == 0) w.window = up_to(30);
        // The mask as FlashAttention states it: key j of query i, aligned bottom-right.
        std::int64_t counted = 0;
        for (std::int64_t i = 0; i < w.N_q; ++i) {
            std::int64_t row = 0;
            for (std::int64_t j = 0; j < w.N_kv; ++j) {
                const std::int64_t ahead = j - (i + w.N_kv - w.N_q);
                const bool seen = (!w.causal || ahead <= 0) && (!w.window || std::abs(ahead) <= *w.window);
                row += seen;
                CHECK(seen == (j >= w.first_key(i) && j <= w.last_key(i)));
            }
            counted += row;
        }
        CHECK(visible_scores(w) == counted * w.batch * w.heads);
    }
}

TEST_CASE("a causal square has N (N + 1) / 2 scores, and 4 d or 10 d operations for each") {
    Workload w{.heads = 8, .kv_heads = 8, .N_q = 2048, .N_kv = 2048, .d = 64, .causal = true};
    CHECK(visible_scores(w) == 8 * (2048LL * 2049 / 2));
    CHECK(flops(w) == 4.0 * 64 * 8 * (2048.0 * 2049 / 2));
    w.direction = Direction::backward;
    CHECK(flops(w) == 10.0 * 64 * 8 * (2048.0 * 2049 / 2));
}

TEST_CASE("workloads whose sizes do not fit together are refused with a sentence") {
    const Workload good;
    CHECK_FALSE(refuse(good));
    Workload w = good;
    w.kv_heads = 3;
    CHECK(*refuse(w) == "kv-heads is 3, expected a divisor of heads (8).");
    w = good, w.N_q = 0;
    CHECK(*refuse(w) == "the number of queries is 0, expected 1 to 16777216.");
    w = good, w.window = -1;
    CHECK(refuse(w)->starts_with("window is -1"));
}

TEST_CASE("inputs are the same for the same seed and others for another") {
    const Workload w{.heads = 2, .kv_heads = 1, .N_q = 5, .N_kv = 7, .d = 3};
    const Tensors a = make_inputs(w, 1), b = make_inputs(w, 1), c = make_inputs(w, 2);
    CHECK(a.Q == b.Q);
    CHECK(a.V == b.V);
    CHECK(a.Q != c.Q);
    CHECK(a.Q.size() == 2 * 5 * 3);
    CHECK(a.K.size() == 1 * 7 * 3);
    CHECK(a.dO.empty());
}

TEST_CASE("a workload in words: what it has by itself is left out") {
    Workload w;
    CHECK(describe(w) == "forward, f32, batch 1, 8 heads, d = 64");
    w.heads = w.kv_heads = 1, w.causal = true, w.N_q = 1;
    CHECK(describe(w) == "forward, f32, batch 1, 1 head, d = 64, causal, 1 query");
    w.heads = 4, w.kv_heads = 2, w.window = 128, w.N_q = 16, w.direction = Direction::backward,
    w.dtype = DType::bf16;
    CHECK(describe(w) ==
          "backward, bf16, batch 1, 4 heads (2 of K and V), d = 64, causal, window 128, 16 queries");
    CHECK(kv_bytes(w) == 2 * 2 * 1024 * 64 * 2);
}

TEST_CASE("workloads that no memory holds are refused before anything is multiplied") {
    Workload w;
    for (std::int64_t Workload::*size : {&Workload::batch, &Workload::heads, &Workload::kv_heads,
                                         &Workload::N_q, &Workload::N_kv, &Workload::d})
        for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
            Workload bad = w;
            bad.*size = n;
            const auto sentence = refuse(bad);
            REQUIRE(sentence);
            CHECK(sentence->find(std::to_string(n) + ", expected 1 to ") != std::string::npos);
        }
    w.batch = w.heads = w.kv_heads = 1 << 16;
    CHECK(refuse(w) == "Q, K, V of this size have more than 2⁴⁰ elements.");
    w = {.batch = 1, .heads = 1 << 14, .kv_heads = 1, .N_q = 1 << 20, .N_kv = 1 << 22, .d = 1};
    CHECK(refuse(w) == "S and P of this size have more than 2⁵² elements each.");
    w.N_q = 1 << 10, w.heads = 1, w.kv_heads = 1 << 16, w.batch = 1;
    CHECK(refuse(w) == "kv-heads is 65536, expected a divisor of heads (1).");
    w = {.heads = 65536, .kv_heads = 65536, .N_q = 1, .N_kv = 1 << 24, .d = 2};
    CHECK(refuse(w) == "Q, K, V of this size have more than 2⁴⁰ elements.");
}
