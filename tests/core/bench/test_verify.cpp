#include "core/bench/verify.h"

#include "core/bench/reference.h"
#include "tests/core/bench/fake_engine.h"
#include "tests/core/cpu/kernels.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace tilewalk::test;

namespace {

template <class T> double largest_difference(const std::vector<T>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) largest = std::max(largest, std::abs(a[k] - b[k]));  // −∞ equals −∞
    return largest;
}

const Workload backward{.direction = Direction::backward,
                        .heads = 4,
                        .kv_heads = 2,
                        .N_q = 150,
                        .N_kv = 170,
                        .d = 16,
                        .causal = true};

// How the engine is broken: which of its results, and when.
using Spoil = std::function<void(const Workload&, Tensors&)>;
FakeEngine broken(const Spoil& spoil) {
    FakeEngine engine;
    engine.spoil = [spoil](const std::string&, const Workload& w, Tensors& out) { spoil(w, out); };
    return engine;
}

KernelVerdict small_verdict(const Spoil& spoil) {
    FakeEngine engine = broken(spoil);
    return verify_small(engine, engine.kernels()[1], backward, {});
}
KernelVerdict rows_verdict(const Spoil& spoil, const Workload& w = backward) {
    FakeEngine engine = broken(spoil);
    const Tensors in = make_inputs(w, 4);
    const auto prepared = engine.prepare(engine.kernels()[1], w, in, {});
    REQUIRE(prepared->run({}));
    return verify_rows(*prepared, w, in, 9, {});
}
void expect_failure(const KernelVerdict& verdict, const std::string& tensor) {
    CHECK_FALSE(verdict.passed);
    CHECK(verdict.error > verdict.limit);
    CHECK(verdict.sentence.starts_with(tensor + " is off by "));
}

}  // namespace

TEST_CASE("the reference is dense attention, whole and row by row") {
    std::mt19937 random(21);
    for (unsigned k = 0; k < 40; ++k) {
        const Workload w = random_workload(random, Direction::backward);
        INFO(named(w));
        const Tensors in = make_inputs(w, k);
        const auto truth = dense_attention<double>(w, in);
        const auto all = reference_outputs<double>(w, in, w.d / 3);
        CHECK(largest_difference(all.O, truth.O) < 1e-12);
        CHECK(largest_difference(all.L, truth.L) < 1e-12);
        CHECK(largest_difference(all.dQ, truth.dQ) < 1e-11);
        CHECK(largest_difference(all.dK, truth.dK) < 1e-11);
        CHECK(largest_difference(all.dV, truth.dV) < 1e-11);
        CHECK(largest_difference(reference_outputs<float>(w, in).O, truth.O) < 1e-4);
    }
}

TEST_CASE("rows of dK and dV from L and D of the reference are those of dense attention") {
    std::mt19937 random(22);
    cpu::ThreadPool pool(3);
    for (unsigned k = 0; k < 20; ++k) {
        Workload w = random_workload(random, Direction::backward);
        w.heads = w.kv_heads, w.batch = 1;
        const Tensors in = make_inputs(w, k);
        const auto truth = dense_attention<double>(w, in);
        for (std::int64_t head = 0; head < w.heads; ++head) {
            const ReferenceHead<double> h(w, in, head);
            const ReferenceSums sums = reference_sums(h, pool, {});
            for (std::int64_t j = 0; j < w.N_kv; ++j) {
                const auto row = reference_key_row(h, sums, j);
                for (std::int64_t c = 0; c < w.d; ++c) {
                    const auto at = static_cast<std::size_t>((head * w.N_kv + j) * w.d + c);
                    CHECK(row.dK[c] == doctest::Approx(truth.dK[at]).epsilon(1e-9));
                    CHECK(row.dV[c] == doctest::Approx(truth.dV[at]).epsilon(1e-9));
                }
            }
        }
    }
}

TEST_CASE("gradients of the reference are central differences of its forward pass") {
    const Workload w{.direction = Direction::backward,
                     .heads = 2,
                     .kv_heads = 1,
                     .N_q = 6,
                     .N_kv = 5,
                     .d = 3,
                     .causal = true};
    Tensors in = make_inputs(w, 8);
    const auto exact = reference_outputs<double>(w, in);
    // ⟨dO, O⟩ as a function of one element of Q, K or V. A step of 2⁻⁹ is exact in float.
    const auto loss = [&] {
        const auto out = reference_outputs<double>(w, in);
        double sum = 0;
        for (std::size_t k = 0; k < out.O.size(); ++k) sum += in.dO[k] * out.O[k];
        return sum;
    };
    const auto check = [&](std::vector<float>& x, const std::vector<double>& gradient) {
        for (std::size_t k = 0; k < x.size(); ++k) {
            const float before = x[k], up = before + 0x1p-9f, down = before - 0x1p-9f;
            x[k] = up;
            const double above = loss();
            x[k] = down;
            const double below = loss();
            x[k] = before;
            CHECK(gradient[k] ==
                  doctest::Approx((above - below) / (static_cast<double>(up) - down)).epsilon(1e-4).scale(1));
        }
    };
    check(in.Q, exact.dQ);
    check(in.K, exact.dK);
    check(in.V, exact.dV);
}

TEST_CASE("standard attention in float32 passes, small and at full size") {
    CHECK(small_verdict([](const Workload&, Tensors&) {}).passed);
    const KernelVerdict verdict = rows_verdict([](const Workload&, Tensors&) {});
    CHECK(verdict.passed);
    CHECK(verdict.error > 0);
    CHECK(verdict.error <= verdict.limit);
    CHECK(verdict.sentence.empty());
}

TEST_CASE("the kernels of the CPU pass, forward and backward, with every mask") {
    const auto engine = cpu::make_engine(2);
    Workload w{.heads = 4, .kv_heads = 2, .N_q = 260, .N_kv = 260};
    for (const KernelInfo& kernel : engine->kernels())
        for (const Direction direction : {Direction::forward, Direction::backward})
            for (const bool causal : {false, true}) {
                w.direction = direction, w.causal = causal, w.d = causal ? 16 : 40;
                w.window = causal ? std::nullopt : std::optional<std::int64_t>(60);
                CAPTURE(kernel.name);
                CAPTURE(name_of(direction));
                CAPTURE(causal);
                w.N_q = kernel.most_queries > 0 ? kernel.most_queries : 260;
                if (engine->why_not(kernel, w)) continue;
                CHECK(verify_small(*engine, kernel, w, {}).sentence == "");
                const Tensors in = make_inputs(w, 2);
                const auto prepared = engine->prepare(kernel, w, in, {});
                REQUIRE(prepared->run({}));
                const KernelVerdict rows = verify_rows(*prepared, w, in, 3, {}, kernel);
                CHECK(rows.sentence == "");
                CHECK(rows.passed);
            }
}

TEST_CASE("one query over thousands of keys: standard attention may add them one after the other, and no "
          "other kernel") {
    const Workload w{.heads = 8, .kv_heads = 8, .N_q = 1, .N_kv = 4096, .d = 64};
    const auto engine = cpu::make_engine(2);
    for (std::uint64_t seed = 0; seed < 6;
         ++seed) {  // OpenBLAS adds so; by groups of sums it would fail in three
        const Tensors in = make_inputs(w, seed);
        for (const KernelInfo& kernel : engine->kernels()) {
            if (engine->why_not(kernel, w)) continue;
            CAPTURE(kernel.name);
            CAPTURE(seed);
            const auto prepared = engine->prepare(kernel, w, in, {});
            REQUIRE(prepared->run({}));
            CHECK(verify_rows(*prepared, w, in, 3, {}, kernel).sentence == "");
        }
    }
}

TEST_CASE("one wrong element fails the small sizes, whichever tensor it is in") {
    const auto nudge = [](std::vector<float>& x) { x[x.size() * 2 / 3] += 2e-3f; };
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { nudge(t.O); }), "O");
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { t.L.front() += 1e-3f; }), "L");
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { nudge(t.dQ); }), "dQ");
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { nudge(t.dK); }), "dK");
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { nudge(t.dV); }), "dV");
}

TEST_CASE("NaN and infinities fail, also where a row sees no key, and so does a tensor that is missing") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_failure(small_verdict([&](const Workload&, Tensors& t) { t.dV.back() = nan; }), "dV");
    expect_failure(rows_verdict([&](const Workload&, Tensors& t) { t.O.back() = nan; }), "O");
    // Rows without keys, of which small sizes have some: L = 0 instead of −∞
    const auto finite = [](const Workload&, Tensors& t) {
        for (float& L : t.L)
            if (std::isinf(L)) L = 0;
    };
    expect_failure(small_verdict(finite), "L");
    expect_failure(small_verdict([](const Workload&, Tensors& t) { t.dK.clear(); }), "dK");
}

TEST_CASE("only a length that is not a whole number of tiles is wrong: the small sizes see it") {
    const auto ragged = [](const Workload& w, Tensors& t) {
        if (w.N_kv % 32 != 0) t.dK.back() *= 1.01f;
    };
    expect_failure(small_verdict(ragged), "dK");
}

TEST_CASE("at full size a wrong last row fails, and a wrong head") {
    Workload w = backward;  // so long that chance alone would hardly look at the last row
    w.heads = w.kv_heads = 1, w.N_q = w.N_kv = 900, w.d = 8;
    expect_failure(rows_verdict([](const Workload&, Tensors& t) { t.O.back() += 1e-3f; }, w), "O");
    expect_failure(rows_verdict([](const Workload&, Tensors& t) { t.dQ.back() += 1e-3f; }, w), "dQ");
    expect_failure(rows_verdict([](const Workload&, Tensors& t) { t.dV.back() += 1e-3f; }, w), "dV");
    const auto head = [](const Workload& of, Tensors& t) {
        for (std::int64_t i = 0; i < of.N_q; ++i) t.L[static_cast<std::size_t>(2 * of.N_q + i)] += 1e-3f;
    };
    expect_failure(rows_verdict(head), "L");
    // dK alone, everywhere: which of its heads is looked at is chance
    const auto dK = [](const Workload&, Tensors& t) {
        for (float& x : t.dK) x *= 1.0001f;
    };
    expect_failure(rows_verdict(dK), "dK");
}

TEST_CASE("at full size forward, nothing of the gradients is looked at") {
    Workload w = backward;
    w.direction = Direction::forward;
    CHECK(rows_verdict([](const Workload&, Tensors&) {}, w).passed);
    expect_failure(rows_verdict([](const Workload&, Tensors& t) { t.O.front() += 1e-3f; }, w), "O");
}

TEST_CASE("a stopped verification has not passed") {
    FakeEngine engine;
    CHECK_FALSE(verify_small(engine, engine.kernels()[1], backward, stopped()).passed);
    const Tensors in = make_inputs(backward, 4);
    const auto prepared = engine.prepare(engine.kernels()[1], backward, in, {});
    REQUIRE(prepared->run({}));
    CHECK_FALSE(verify_rows(*prepared, backward, in, 9, stopped()).passed);
}

TEST_CASE("16-bit results are held against standard attention in that type, and no more is allowed") {
    for (const DType type : {DType::f16, DType::bf16}) {
        Workload w = backward;
        w.dtype = type;
        const Tensors in = make_inputs(w, 4);
        const auto exact = reference_outputs<double>(w, in);
        const auto as_stored = [type](const std::vector<double>& x) {
            std::vector<float> y(x.begin(), x.end());
            for (float& value : y) value = rounded(value, type);
            return y;
        };
        const std::vector<float> L(exact.L.begin(), exact.L.end());
        const Tensors right{{},
                            {},
                            {},
                            as_stored(exact.O),
                            L,
                            {},
                            as_stored(exact.dQ),
                            as_stored(exact.dK),
                            as_stored(exact.dV)};
        CHECK(verify_outputs(right, w, in).passed);
        // Standard attention passes its own rule, but for L, which it has from rounded scores.
        const auto standard = reference_outputs<float>(w, in);
        Tensors stored{{}, {},          {},          standard.O, standard.L_of_stored,
                       {}, standard.dQ, standard.dK, standard.dV};
        KernelInfo materialises;
        materialises.materialises = true;
        CHECK(verify_outputs(stored, w, in, materialises).passed);
        expect_failure(verify_outputs(stored, w, in), "L");
        // In float32 the same would be far off, and what is off by a few roundings is so here.
        Workload exacting = w;
        exacting.dtype = DType::f32;
        CHECK_FALSE(verify_outputs(right, exacting, in).passed);
        Tensors off = right;
        const float few = type == DType::f16 ? 0x1p-7f : 0x1p-4f;
        for (float& x : off.dK) x *= 1 + few;
        expect_failure(verify_outputs(off, w, in), "dK");
        off = right;
        for (float& x : off.O) x *= 1 + few;
        expect_failure(verify_outputs(off, w, in), "O");
    }
}
