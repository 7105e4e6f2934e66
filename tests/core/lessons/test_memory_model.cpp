#include "core/lessons/shared/memory_model.h"
#include "core/problem/mask.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <array>
#include <climits>
#include <cmath>

using namespace tilewalk::test;

namespace {

Problem sized(int n, int n_kv, int d, int Br, int Bc) {
    Problem p;
    p.Q = Matrix::Zero(n, d);
    p.K = p.V = Matrix::Zero(n_kv, d);
    p.Br = Br;
    p.Bc = Bc;
    return p;
}

Problem any_mask(Random& random) {
    Problem p = sized(pick(random, 1, 8), pick(random, 1, 8), 1, pick(random, 1, 9), pick(random, 1, 9));
    p.causal = pick(random, 0, 1) == 1;
    const int window = pick(random, -4, 9);
    if (window >= 0) p.window = window;
    if (window == 9) p.window = INT_MAX - pick(random, 0, 1);
    return p;
}

TileCover cover_by_counting(const Problem& p, int i, int j) {
    int seen = 0, all = 0;
    for (int r = 0; r < p.N(); ++r)
        for (int c = 0; c < p.N_kv(); ++c)
            if (r / p.Br == i && c / p.Bc == j) ++all, seen += sees(p, r, c);
    return seen == 0 ? TileCover::none : seen == all ? TileCover::full : TileCover::partial;
}

}  // namespace

TEST_SUITE("masks") {
    TEST_CASE("the visible keys of a row are those that its elements see one by one") {
        Random random(30);
        for (int n = 0; n < 4000; ++n) {
            const Problem p = any_mask(random);
            for (int r = 0; r < p.N(); ++r) {
                const KeyRange keys = visible_keys(p, r);
                if (keys.first <= keys.last) {
                    CHECK(keys.first >= 0);
                    CHECK(keys.last < p.N_kv());
                }
                for (int c = 0; c < p.N_kv(); ++c) {
                    const bool expected = sees(p, r, c);
                    if (visible(p, r, c) != expected || (c >= keys.first && c <= keys.last) != expected)
                        FAIL_CHECK(describe(p), ", query ", r, ", key ", c);
                }
            }
        }
    }
    TEST_CASE("what a mask leaves of a tile is what a count of its elements says") {
        Random random(31);
        int kinds[3] = {};
        for (int n = 0; n < 4000; ++n) {
            const Problem p = any_mask(random);
            for (int i = 0; i < p.Tr(); ++i)
                for (int j = 0; j < p.Tc(); ++j) {
                    const TileCover expected = cover_by_counting(p, i, j);
                    ++kinds[static_cast<int>(expected)];
                    if (tile_cover(p, i, j) != expected) FAIL_CHECK(describe(p), ", tile ", i, ", ", j);
                }
        }
        for (int count : kinds) CHECK(count > 500);
    }
    TEST_CASE("the last query sees the last key") {
        for (int n : {1, 3, 5})
            for (int n_kv : {1, 3, 5}) {
                Problem p = causal(sized(n, n_kv, 1, 2, 2));
                p.window = 0;
                CHECK(visible(p, n - 1, n_kv - 1));
                CHECK_FALSE((n_kv > 1 && visible(p, n - 1, n_kv - 2)));
            }
    }
}

TEST_SUITE("memory model") {
    TEST_CASE("4 × 4 with 2 × 2 tiles: 512 bytes the standard way, 400 tiled") {
        const Problem p = worked_example();
        CHECK(standard_forward_model(p).total() == 512);
        CHECK(flash_forward_model(p).total() == 400);
        CHECK(flash_forward_steps(p) == 40);
    }
    TEST_CASE("without a mask the traffic is FlashAttention-2's closed form") {
        for (const auto& [n, n_kv, d, Br, Bc] : {std::array{1000, 1000, 64, 48, 100},
                                                 {4096, 4096, 128, 128, 64},
                                                 {7, 9, 3, 2, 4},
                                                 {1, 1, 1, 1, 1},
                                                 {5, 3, 2, 100, 100}})
            for (int e : {1, 2, 4, 8}) {
                Problem p = sized(n, n_kv, d, Br, Bc);
                p.element_bytes = e;
                const std::int64_t Nde = std::int64_t{n} * d * e;
                const auto passes = static_cast<std::int64_t>(std::ceil(static_cast<double>(n) / Br));
                const TrafficModel model = flash_forward_model(p);
                CHECK(model.hbm_read == Nde + passes * 2 * n_kv * d * e);
                CHECK(model.hbm_write == Nde + 4 * std::int64_t{n});
            }
    }
    TEST_CASE("standard attention moves S and P four times in all") {
        const Problem p = sized(300, 500, 64, 2, 2);
        const TrafficModel model = standard_forward_model(p);
        CHECK(model.hbm_read == 4LL * (300 * 64 + 500 * 64 + 300 * 500 + 300 * 500 + 500 * 64));
        CHECK(model.hbm_write == 4LL * (300 * 500 + 300 * 500 + 300 * 64));
    }
    TEST_CASE("bytes on chip: Q, K, V tiles by element, the rest in four bytes") {
        Problem p = sized(128, 128, 64, 16, 32);
        p.element_bytes = 2;
        // Q; K and V; S and P; O; m, l, m_tile, alpha
        CHECK(flash_forward_model(p).sram_peak ==
              2 * 16 * 64 + 2 * 2 * 32 * 64 + 4 * 2 * 16 * 32 + 4 * 16 * 64 + 4 * 4 * 16);
    }
    TEST_CASE("extreme tile sizes and windows do not overflow") {
        Problem p = sized(5, 7, 3, INT_MAX, INT_MAX);
        CHECK(flash_forward_steps(p) == 12);
        CHECK(flash_forward_model(p).hbm_read == (5 + 2 * 7) * 3 * 4);
        for (bool causal : {false, true}) {
            p.causal = causal;
            p.window = INT_MAX;
            CHECK(flash_forward_steps(p) == 12 + causal);
            CHECK(flash_forward_model(p).hbm_read == (5 + 2 * 7) * 3 * 4);
        }
        p.Br = INT_MAX - 1;
        p.Bc = 4;
        CHECK(tile_cover(p, 0, 0) == TileCover::partial);
        CHECK(tile_cover(p, 0, 1) == TileCover::partial);
    }
}
