#include "core/base/numbers.h"
#include "core/study/memory_study.h"
#include "tests/core/hardware.h"
#include "tests/core/problems.h"

#include "tests/contains.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

// The same sizes as a problem with matrices and as a shape without.
struct Both {
    Problem problem;
    Shape shape;
};
Both any_sizes(Random& random) {
    Both b;
    const int n = pick(random, 1, 40), n_kv = pick(random, 1, 40), d = pick(random, 1, 20);
    const int bytes[] = {1, 2, 4};
    b.shape = {n, n_kv, d, pick(random, 1, 50), pick(random, 1, 50), bytes[pick(random, 0, 2)]};
    b.problem.Q = Matrix::Zero(n, d);
    b.problem.K = b.problem.V = Matrix::Zero(n_kv, d);
    b.problem.Br = static_cast<int>(b.shape.Br);
    b.problem.Bc = static_cast<int>(b.shape.Bc);
    b.problem.element_bytes = b.shape.element_bytes;
    return b;
}

StudyInput one_head(std::int64_t N) {
    StudyInput in;
    in.N = N;
    in.heads = in.batch = 1;
    return in;
}

// FlashAttention's Algorithm 1, counted loop by loop (arXiv:2205.14135).
std::int64_t counted_flash1(const Shape& s) {
    const std::int64_t row = s.d * s.element_bytes;
    std::int64_t bytes = s.N * (row + 8);  // O = 0, ℓ = 0, m = −∞
    for (std::int64_t c = 0; c < s.N_kv; c += s.Bc) {
        bytes += 2 * std::min(s.Bc, s.N_kv - c) * row;  // K and V
        for (std::int64_t r = 0; r < s.N; r += s.Br) {
            const std::int64_t rows = std::min(s.Br, s.N - r);
            bytes += rows * (2 * row + 8) + rows * (row + 8);  // Q, O, m, ℓ in; O, m, ℓ out
        }
    }
    return bytes;
}

bool finite(const Bound& b) {
    for (double v : {b.bytes, b.flops, b.memory_s, b.compute_s, b.intensity, b.attainable})
        if (!std::isfinite(v) || v < 0) return false;
    return true;
}

}  // namespace

TEST_SUITE("memory study") {
    // Seed 004, Part II, "The Quadratic Bottleneck". The table's megabytes are 2²⁰ bytes in its first two
    // rows and 10⁶ (10⁹) bytes in the others.
    TEST_CASE("the tutorial's N² table") {
        struct Row {
            std::int64_t N;
            double scores, unit, printed, last_digit;
        };
        const Row rows[] = {{512, 262e3, 1 << 20, 0.5, 0.1},
                            {2048, 4.2e6, 1 << 20, 8, 1},
                            {8192, 67e6, 1e6, 134, 1},
                            {32768, 1.07e9, 1e9, 2.1, 0.1},
                            {131072, 17.2e9, 1e9, 34, 1}};
        const Study s = study(one_head(512));
        for (const Row& row : rows) {
            const auto found =
                std::find_if(s.rows.begin(), s.rows.end(), [&](const ScoreRow& r) { return r.N == row.N; });
            REQUIRE(found != s.rows.end());
            CHECK(std::abs(found->one_head / row.unit - row.printed) <= row.last_digit / 2);
            CHECK(found->one_head / 2 == doctest::Approx(row.scores).epsilon(0.005));
            CHECK(found->all == 2 * found->one_head);
        }
        CHECK(s.rows.front().one_head == 512.0 * 512 * 2);
        CHECK(s.rows.back().N == 131072);
    }
    // Seed 004, Part II: "contexts lengths of 100K+ tokens. The N² matrices alone would exceed GPU memory!"
    TEST_CASE("at 131 072 tokens the N² matrices exceed the memory, already of a few heads") {
        StudyInput in = one_head(131072);
        CHECK_FALSE(study(in).rows.back().fits);  // S and P of one head: 69 GB of 40
        in.hardware = hardware("h200");
        CHECK(study(in).rows.back().fits);
        in.heads = 3;
        CHECK_FALSE(study(in).rows.back().fits);
    }
    TEST_CASE("the first N that does not fit is the first") {
        for (const Hardware& h : hardware_list())
            for (int e : {1, 2, 4})
                for (std::int64_t heads : {1, 3, 16, 128}) {
                    StudyInput in;
                    in.hardware = h, in.element_bytes = e, in.heads = heads, in.batch = 2;
                    const Study s = study(in);
                    const auto need = [&](std::int64_t N) { return 2 * N * N * e * heads * 2; };
                    CHECK(need(s.first_N_too_large) > static_cast<std::int64_t>(h.capacity.value));
                    CHECK(need(s.first_N_too_large - 1) <= static_cast<std::int64_t>(h.capacity.value));
                    const auto kept = [&](std::int64_t N) { return N * (4 * in.d * e + 4) * heads * 2; };
                    CHECK(kept(s.first_N_too_large_flash) > static_cast<std::int64_t>(h.capacity.value));
                    CHECK(kept(s.first_N_too_large_flash - 1) <= static_cast<std::int64_t>(h.capacity.value));
                    for (const ScoreRow& row : s.rows) CHECK(row.fits == (row.N < s.first_N_too_large));
                }
        // Of 16 heads in fp16 64 N² bytes fill 40 GiB between N = 25 905 and 25 906.
        CHECK(study(StudyInput{}).first_N_too_large == 25906);
    }
    TEST_CASE("the traffic equals the models that the traces are held against") {
        Random random(51);
        for (int n = 0; n < 2000; ++n) {
            const auto [problem, shape] = any_sizes(random);
            for (const auto& [algorithm, model] : {std::pair{Algorithm::flash2, flash_forward_model(problem)},
                                                   {Algorithm::flash1, flash_forward_v1_model(problem)}}) {
                const TrafficModel mine = forward_traffic(algorithm, shape);
                CHECK(mine.hbm_read == model.hbm_read);
                CHECK(mine.hbm_write == model.hbm_write);
                CHECK(mine.sram_peak == model.sram_peak);
            }
            const TrafficModel standard = standard_forward_model(problem),
                               ours = forward_traffic(Algorithm::standard, shape);
            CHECK(ours.hbm_read == standard.hbm_read);
            CHECK(ours.hbm_write == standard.hbm_write);
            CHECK(forward_traffic(Algorithm::flash1, shape).total() == counted_flash1(shape));
        }
    }
    // Seed 004, Part II, "Standard Attention Memory Access Pattern"
    TEST_CASE("three kernels: the N × N matrices cross HBM four times, and the trips add up") {
        Random random(52);
        for (int n = 0; n < 200; ++n) {
            const Shape s = any_sizes(random).shape;
            std::int64_t read = 0, write = 0;
            for (const Trip& trip : standard_trips(s)) read += trip.read, write += trip.write;
            CHECK(read == forward_traffic(Algorithm::standard, s).hbm_read);
            CHECK(write == forward_traffic(Algorithm::standard, s).hbm_write);
            std::int64_t scores = 0;
            for (const Share& share : forward_shares(Algorithm::standard, s))
                if (share.role == Role::S) scores += share.total();
            CHECK(scores == 4 * s.N * s.N_kv * s.element_bytes);
        }
    }
    TEST_CASE("N = 16 384, d = 64 in fp16 with 128 × 128 tiles") {
        const Study s = study(StudyInput{});
        CHECK(s.of(Algorithm::standard).traffic.total() == 4LL * 16384 * 16384 * 2 + 4LL * 16384 * 64 * 2);
        CHECK(s.of(Algorithm::flash2).traffic.total() == (2 + 2 * 128) * 16384LL * 64 * 2 + 4 * 16384);
        CHECK(s.saving(Algorithm::flash2) == doctest::Approx(3.99).epsilon(0.01));
        CHECK(s.saving(Algorithm::flash1) == doctest::Approx(2.55).epsilon(0.02));
        CHECK(s.of(Algorithm::standard).bound.intensity == doctest::Approx(31.9).epsilon(0.01));
        CHECK(ridge(s.input.hardware, 2) == doctest::Approx(200.6).epsilon(0.001));
        CHECK(s.of(Algorithm::flash2).bound.memory_bound());
        CHECK(s.fit == TileFit::registers);
        CHECK(format_large_size(static_cast<double>(s.of(Algorithm::standard).traffic.total())) ==
              "2.01 GiB");
    }
    TEST_CASE("the roofline is the smaller of the two limits") {
        const Hardware& h = hardware_list().front();
        const double edge = ridge(h, 2);
        for (double intensity : {edge / 1000, edge / 2, edge, edge * 2, edge * 1000}) {
            const Bound b = bound(1e9, 1e9 * intensity, h, 2);
            CHECK(b.attainable == doctest::Approx(std::min(h.peak(2), h.bandwidth.value * intensity)));
            CHECK(b.memory_bound() == (intensity < edge));
            CHECK(b.seconds() == doctest::Approx(b.flops / b.attainable));
        }
        CHECK(finite(bound(0, 0, h, 2)));
        CHECK(finite(bound(1, 1, Hardware{}, 2)));
        CHECK(ridge(Hardware{}, 2) == 0);
    }
    // FlashAttention, Algorithm 1, line 1, and Theorem 2
    TEST_CASE("the paper's tile and its growth") {
        const Tile tile = paper_tile(164 * 1024, 64, 2);  // M = 83 968 elements
        CHECK(tile.Bc == 328);
        CHECK(tile.Br == 64);
        CHECK(paper_tile(1024, 64, 2).Bc == 2);
        CHECK(paper_tile(1024, 64, 2).Br == 2);
        CHECK(paper_tile(1, 1024, 4).Bc == 1);
        const Shape s{16384, 16384, 64, 64, 328, 2};
        const Growth g = growth(s, 164 * 1024);
        CHECK(g.standard == 16384.0 * 64 + 16384.0 * 16384);
        CHECK(g.flash == 16384.0 * 16384 * 64 * 64 / 83968);
        CHECK(g.stated);
        CHECK_FALSE(growth({8, 8, 64, 1, 1, 2}, 164 * 1024).stated);  // M > N d
        CHECK(growth(s, 0).flash == 0);
        // With the paper's tiles Algorithm 1 moves Θ(N² d² / M): the quotient hardly depends on N, d or M.
        for (std::int64_t N : {1 << 16, 1 << 20})
            for (std::int64_t d : {32, 64, 128})
                for (double M : {64e3, 164e3, 228e3}) {
                    const Tile t = paper_tile(M, d, 2);
                    const Shape shape{N, N, d, t.Br, t.Bc, 2};
                    const double accesses =
                        static_cast<double>(forward_traffic(Algorithm::flash1, shape).total()) / 2;
                    CHECK(accesses / growth(shape, M).flash == doctest::Approx(13.5).epsilon(0.15));
                }
    }
    TEST_CASE("the largest square tile fits, and the next does not") {
        for (double M : {1e3, 48e3, 100.0 * 1024, 164.0 * 1024, 228.0 * 1024})
            for (std::int64_t d : {1, 16, 64, 256})
                for (int e : {1, 2, 4}) {
                    const Tile t = square_tile(M, d, e);
                    CHECK(t.Br == t.Bc);
                    const auto need = [&](std::int64_t B) {
                        return static_cast<double>(tile_need({B, B, d, B, B, e}).total());
                    };
                    CHECK((t.Br == 1 || need(t.Br) <= M));
                    CHECK(need(t.Br + 1) > M);
                }
        CHECK(square_tile(164 * 1024, 64, 2).Br == 109);
    }
    TEST_CASE("where a tile lies: shared memory, with sums in registers, or nowhere") {
        const Hardware& a100 = hardware_list().front();
        CHECK(tile_fit({4096, 4096, 64, 64, 64, 2}, a100) == TileFit::shared);
        CHECK(tile_fit({4096, 4096, 64, 128, 128, 2}, a100) == TileFit::registers);
        CHECK(tile_fit({4096, 4096, 64, 256, 256, 2}, a100) == TileFit::none);
        // A tile larger than the matrix is as large as the matrix.
        CHECK(tile_fit({16, 16, 64, 4096, 4096, 2}, a100) == TileFit::shared);
    }
    TEST_CASE("where standard attention moves fewer bytes the verdict says so") {
        StudyInput in = one_head(1024);
        in.d = 128;
        in.tile = {32, 32};
        const Study small = study(in);
        CHECK(small.saving(Algorithm::flash2) < 1);
        CHECK(contains(verdict(small), "Standard attention moves fewer bytes"));
        in.tile = {64, 64};
        const Study middle = study(in);
        CHECK(middle.saving(Algorithm::flash2) > 1);
        CHECK(middle.saving(Algorithm::flash1) < 1);
        CHECK(contains(verdict(middle), "FlashAttention-1 more"));
        in.tile = {128, 128};
        CHECK(contains(verdict(study(in)), "fewer bytes than standard"));
    }
    TEST_CASE("the verdict counts what the study counts") {
        StudyInput in;
        CHECK(
            contains(verdict(study(in)), "16 heads would take 16 GiB, which fits into 40 GiB (A100 40 GB)"));
        in.N = 25906;
        CHECK(contains(verdict(study(in)), "more than 40 GiB (A100 40 GB)"));
        in.element_bytes = 4;
        CHECK(contains(verdict(study(in)), "limited by arithmetic"));
    }
    TEST_CASE("the largest sizes neither overflow nor divide by zero") {
        for (const auto& [N, d, heads, batch, Br] :
             {std::array<std::int64_t, 5>{131072 * 64, 256, 128, 64, 1},
              {largest_N, largest_d, largest_heads, largest_batch, 1},
              {largest_N, largest_d, largest_heads, largest_batch, largest_N},
              {1, 1, 1, 1, 1},
              {1, largest_d, largest_heads, 1, largest_N}})
            for (int e : {1, 2, 4})
                for (TileRule rule : {TileRule::given, TileRule::square, TileRule::paper})
                    for (const Hardware& h : hardware_list()) {
                        StudyInput in;
                        in.hardware = h, in.N = N, in.d = d, in.heads = heads, in.batch = batch;
                        in.element_bytes = e, in.rule = rule, in.tile = {Br, Br};
                        REQUIRE_FALSE(refuse(in));
                        const Study s = study(in);
                        const double exact =
                            4.0 * static_cast<double>(N) * static_cast<double>(N) * static_cast<double>(e) +
                            4.0 * static_cast<double>(N) * static_cast<double>(d) * static_cast<double>(e);
                        CHECK(static_cast<double>(s.of(Algorithm::standard).traffic.total()) ==
                              doctest::Approx(exact));
                        for (Algorithm a : algorithms) {
                            CHECK(finite(s.of(a).bound));
                            CHECK(s.of(a).traffic.total() > 0);
                            CHECK(std::isfinite(s.saving(a)));
                            for (const Share& share : s.of(a).shares)
                                CHECK((share.read >= 0 && share.write >= 0));
                        }
                        for (const ScoreRow& row : s.rows) CHECK((row.all > 0 && std::isfinite(row.all)));
                        CHECK(s.need.total() > 0);
                        CHECK(verdict(s).size() > 40);
                    }
    }
    TEST_CASE("what is out of range is named") {
        const auto with = [](auto change) {
            StudyInput in;
            change(in);
            return refuse(in).value_or("");
        };
        CHECK(with([](StudyInput&) {}).empty());
        CHECK(with([](StudyInput& in) { in.N = 0; }) == "N is 0, expected 1 to 16777216.");
        CHECK(with([](StudyInput& in) { in.N = INT64_MAX; }).starts_with("N is 9223372036854775807"));
        CHECK(with([](StudyInput& in) { in.d = 1025; }).starts_with("d is 1025"));
        CHECK(with([](StudyInput& in) { in.heads = 0; }).starts_with("The number of heads is 0"));
        CHECK(with([](StudyInput& in) { in.batch = -1; }).starts_with("The batch is -1"));
        CHECK(with([](StudyInput& in) { in.tile.Bc = 0; }).starts_with("Bc is 0"));
        CHECK(with([](StudyInput& in) { in.lengths = {512, -3}; }).starts_with("N is -3"));
        CHECK(with([](StudyInput& in) { in.element_bytes = 3; }).starts_with("An element has 3 bytes"));
        CHECK(contains(with([](StudyInput& in) { in.hardware.bandwidth.value = 0; }), "bandwidth"));
        CHECK(contains(with([](StudyInput& in) { in.hardware.capacity.value = NAN; }), "capacity"));
        CHECK(contains(with([](StudyInput& in) { in.hardware.fp16.value = -1; }), "peak"));
    }
}
