// split-kv and its yardstick, on every instruction set of this machine.
#include "core/bench/verify.h"
#include "core/engine/heads.h"
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

using namespace tilewalk::cpu;
using namespace tilewalk::test;

namespace {

Workload decoding(std::int64_t N_q, std::int64_t N_kv, std::int64_t d, std::int64_t heads = 1,
                  std::int64_t kv_heads = 1, bool causal = false) {
    return {.heads = heads, .kv_heads = kv_heads, .N_q = N_q, .N_kv = N_kv, .d = d, .causal = causal};
}

void check_on_all(const Workload& w, std::uint64_t seed, int threads, float spread = 1) {
    on_every_instruction_set([&] { check_kernel(split_kv(), w, seed, threads, spread); });
}

const KernelInfo& info_of(const Engine& engine, const std::string& name) {
    for (const KernelInfo& info : engine.kernels())
        if (info.name == name) return info;
    FAIL("no such kernel");
    return engine.kernels().front();
}

}  // namespace

TEST_SUITE("split-kv") {
    TEST_CASE("random workloads equal dense attention, with 1 to 3 threads") {
        std::mt19937 random(51);
        const auto up_to = [&](std::int64_t most) {
            return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
        };
        constexpr std::int64_t groups[] = {1, 1, 2, 3, 4, 8};
        for (unsigned n = 0; n < 40; ++n) {
            Workload w = decoding(up_to(16), up_to(1200), 3 + up_to(random() % 4 == 0 ? 140 : 40));
            w.batch = up_to(2), w.kv_heads = up_to(2), w.heads = w.kv_heads * groups[random() % 6];
            w.causal = random() % 2 == 0;
            if (random() % 3 == 0) w.window = up_to(700) - 1;
            check_on_all(w, n, 1 + static_cast<int>(n % 3));
        }
    }

    TEST_CASE("lengths around the splits and the tiles; one query, one key, every d") {
        for (const std::int64_t N : {1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 511, 513})
            check_on_all(decoding(1, N, 64, 2, 1), 1, 2);
        for (std::int64_t d = 1; d <= 34; ++d) check_on_all(decoding(2, 300, d), 2, 2);
        for (const std::int64_t d : {63, 64, 65, 96, 128, 192, 256, 1000, 1024})
            check_on_all(decoding(3, 70, d), 3, 1);
        check_on_all(decoding(1, 20000, 32), 4, 3);  // splits of more than the least
    }

    TEST_CASE("few rows and many: every number of queries, groups of up to 8 heads") {
        for (std::int64_t N_q = 1; N_q <= 16; ++N_q) check_on_all(decoding(N_q, 600, 24, 1, 1, true), 5, 2);
        for (const std::int64_t group : {2, 3, 4, 8})
            for (const std::int64_t N_q : {1, 7, 16})
                check_on_all(decoding(N_q, 530, 16, 2 * group, 2, N_q > 1), 6, 3);
    }

    TEST_CASE("the mask is aligned bottom-right; splits that a query does not see count for nothing") {
        check_on_all(decoding(16, 257, 8, 1, 1, true), 7,
                     2);  // the last split has one key, for the last query
        Workload w = decoding(16, 2000, 8, 4, 2);
        w.window = 3;
        check_on_all(w, 8, 2);
        w.window = 900, w.causal = true;
        check_on_all(w, 9, 2);
        check_on_all(decoding(16, 9, 12, 2, 1, true), 10, 3);
    }

    TEST_CASE("rows that see no key, and no row that sees any: O is 0, L is −∞") {
        Workload all_hidden = decoding(3, 5, 12);
        all_hidden.N_q = 16, all_hidden.N_kv = 2, all_hidden.causal = true;
        on_every_instruction_set([&] {
            Setup s(split_kv(), all_hidden, make_inputs(all_hidden, 1), 2);
            s.run();
            for (std::size_t i = 0; i < 14; ++i) {
                CHECK(s.t.L[i] == -std::numeric_limits<float>::infinity());
                for (std::size_t k = 0; k < 12; ++k) CHECK(s.t.O[i * 12 + k] == 0);
            }
        });
        check_on_all(all_hidden, 2, 2);
    }

    TEST_CASE("where one split has all the weight, the others add nothing and lose nothing") {
        Workload w = decoding(2, 1500, 16, 2, 1);
        Tensors in = make_inputs(w, 11);
        // One key is the sum of the queries of its group, many times over.
        for (std::size_t k = 0; k < 16; ++k)
            in.K[700 * 16 + k] = 60 * (in.Q[k] + in.Q[16 + k] + in.Q[48 + k]);
        const auto truth = dense_attention<double>(w, in);
        const auto standard = dense_attention<float>(w, in);
        on_every_instruction_set([&] {
            Setup s(split_kv(), w, in, 2);
            s.run();
            check(errors_of(s, standard, truth));
        });
    }

    TEST_CASE("the same bits every time, with any number of threads") {
        for (const Workload& w : {decoding(1, 3000, 64, 4, 2), decoding(16, 1111, 20, 8, 1, true)})
            on_every_instruction_set([&] { check_repetition(split_kv(), w); });
    }

    TEST_CASE("stopped before it begins it writes nothing, and runs again afterwards") {
        const Workload w = decoding(4, 5000, 32, 2, 1);
        const Tensors in = make_inputs(w, 12);
        Setup undisturbed(split_kv(), w, in, 3), s(split_kv(), w, in, 3);
        undisturbed.run();
        s.run(stopped());
        for (const float x : s.t.L) CHECK(std::isnan(x));
        s.run();
        CHECK(same_outputs(s.t, undisturbed.t));
    }

    TEST_CASE("its memory is the partial results of some hundred splits, however many keys there are") {
        for (const std::int64_t N : {1 << 10, 1 << 16, 1 << 20}) {
            const Workload w = decoding(1, N, 64, 8, 2);
            const std::int64_t splits = N == 1 << 10 ? 4 : N == 1 << 16 ? 64 : 256;
            const std::int64_t one = split_kv().workspace(w, 1), two = split_kv().workspace(w, 2);
            // For each of 2 groups and each split: 4 rows of O, m and ℓ
            CHECK(one - (two - one) == 4 * 2 * splits * 4 * (64 + 2));
        }
    }
}

TEST_CASE("the rows of a group are its queries in order, the heads of each side by side") {
    const Workload w{.heads = 6, .kv_heads = 2, .N_q = 5};
    const GroupRows rows(w);
    REQUIRE(rows.count() == 15);
    std::set<std::int64_t> places;
    for (std::int64_t row = 0; row < 15; ++row) {
        CHECK(rows.query(row) == row / 3);
        CHECK(rows.place(row) % 5 == row / 3);  // in memory each head has its five queries together
        places.insert(rows.place(row));
    }
    CHECK(places.size() == 15);
    CHECK(*places.rbegin() == 14);
}

TEST_CASE("flash: heads that share K and V give the bits of heads with a K and V of their own each") {
    const Workload shared{.heads = 6, .kv_heads = 2, .N_q = 70, .N_kv = 300, .d = 20, .causal = true};
    Workload apart = shared;
    apart.kv_heads = 6;
    const Tensors in = make_inputs(shared, 13);
    Tensors copies = in;
    copies.K.clear(), copies.V.clear();
    const std::ptrdiff_t one = 300 * 20;
    for (std::ptrdiff_t head = 0; head < 6; ++head) {
        const std::ptrdiff_t from = head / 3 * one;
        copies.K.insert(copies.K.end(), in.K.begin() + from, in.K.begin() + from + one);
        copies.V.insert(copies.V.end(), in.V.begin() + from, in.V.begin() + from + one);
    }
    on_every_instruction_set([&] {
        Setup a(flash(), shared, in, 2), b(flash(), apart, copies, 2);
        a.run(), b.run();
        CHECK(a.t.O == b.t.O);
        CHECK(a.t.L == b.t.L);
    });
}

TEST_CASE("the yardstick reads every word of K and V, and a word that it did not read is found") {
    const auto engine = make_engine(2);
    const KernelInfo& info = info_of(*engine, reading_kv);
    CHECK(info.yardstick);
    const Workload w = decoding(1, 5000, 67, 3, 3);
    Tensors in = make_inputs(w, 14);
    on_every_instruction_set([&] {
        const auto prepared = engine->prepare(info, w, in, {});
        REQUIRE(prepared->run({}));
        CHECK(prepared->workspace_bytes() == 0);
        const Tensors out = prepared->outputs();
        CHECK(verify_outputs(out, w, in, info).passed);
        for (std::vector<float>* const tensor : {&in.K, &in.V})
            for (const std::size_t at : {std::size_t{0}, tensor->size() / 2, tensor->size() - 1}) {
                const float before = std::exchange((*tensor)[at], 0.0f);
                const KernelVerdict verdict = verify_outputs(out, w, in, info);
                CHECK_FALSE(verdict.passed);
                CHECK(verdict.sentence == "Not every word of K and V was read once.");
                (*tensor)[at] = before;
            }
    });
}

TEST_CASE("the kernels for decoding say what they do not take") {
    const auto engine = make_engine(1);
    for (const char* name : {reading_kv, "split-kv"}) {
        const KernelInfo& info = info_of(*engine, name);
        Workload w = decoding(16, 100, 8);
        CHECK_FALSE(engine->why_not(info, w));
        CHECK(verify_small(*engine, info, w, {}).passed);
        w.N_q = 17;
        CHECK(*engine->why_not(info, w) == "it takes up to 16 queries");
        w.N_q = 1, w.direction = Direction::backward;
        CHECK(*engine->why_not(info, w) == "it computes forward only");
    }
    Workload w = decoding(1, 100, 8);
    w.window = 5;
    CHECK(engine->why_not(info_of(*engine, reading_kv), w));
    CHECK_FALSE(engine->why_not(info_of(*engine, "split-kv"), w));
}
