#include "core/compare/kernel_compare.h"

#include "core/base/numbers.h"
#include "core/problem/mask.h"

#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/good.h"
#include <cmath>

#include <limits>

using namespace tilewalk::test;
using Quantity = KernelFault::Quantity;

namespace {

// A kernel in plain float, with a place for a fault at every step: what is compared with the CPU's walk here.
struct Imitation {
    KernelTrace t;
    const Problem& p = t.problem;
    Format narrow;
    Matrix Q, K, V;
    std::vector<float> m, l, O;

    Imitation(const Problem& problem, DType type, const KernelFault& fault) : narrow(format_of(type)) {
        t.kernel = "imitation", t.dtype = type, t.problem = problem, t.fault = fault;
        t.kernel_d = problem.d();
        Q = round_to(narrow, p.Q), K = round_to(narrow, p.K), V = round_to(narrow, p.V);
        t.O.resize(static_cast<std::size_t>(p.N() * p.d()));
        for (int i = 0; i < p.Tr(); ++i) walk_block(i);
    }
    float at(const Matrix& A, int r, int c) const { return static_cast<float>(A(r, c)); }
    float wrong(Quantity quantity, const KernelTile& tile, int row, int column, float x) const {
        const KernelFault& f = t.fault;
        const bool here = f.quantity == quantity && f.i == tile.i && f.j == tile.j && f.row == row &&
                          (f.column < 0 || f.column == column);
        return here ? x * static_cast<float>(1 + f.amount) : x;
    }
    void walk_block(int i) {
        const int rows = tile_rows(p, i), d = p.d();
        const float none = -std::numeric_limits<float>::infinity();
        m.assign(static_cast<std::size_t>(rows), none), l.assign(static_cast<std::size_t>(rows), 0);
        O.assign(static_cast<std::size_t>(rows * d), 0);
        for (int j = 0; j < p.Tc(); ++j) {
            KernelTile tile{i, j, tile_cover(p, i, j) != TileCover::none, {}, {}, {}, {}, {}, {}};
            for (int r = 0; r < rows && tile.visited; ++r) walk_row(tile, r);
            t.tiles.push_back(tile);
        }
        for (int r = 0; r < rows; ++r) {
            const auto n = static_cast<std::size_t>(r);
            t.L.push_back(l[n] == 0 ? none : m[n] + std::log(l[n]));
            for (int c = 0; c < d; ++c) {
                const float x = l[n] == 0 ? 0 : O[static_cast<std::size_t>(r * d + c)] / l[n];
                t.O[static_cast<std::size_t>((i * p.Br + r) * d + c)] =
                    static_cast<float>(round_to(narrow, x));
            }
        }
    }
    void walk_row(KernelTile& tile, int r) {
        const int columns = tile_columns(p, tile.j), d = p.d();
        const auto n = static_cast<std::size_t>(r);
        const auto scale = static_cast<float>(p.softmax_scale());
        std::vector<float> P;
        const KeyRange seen = visible_keys(p, tile.i * p.Br + r);
        float m_new = m[n];
        for (int c = 0; c < columns; ++c) {
            const int key = tile.j * p.Bc + c;
            float s = 0;
            for (int e = 0; e < d; ++e) s += at(Q, tile.i * p.Br + r, e) * at(K, key, e);
            s = key >= seen.first && key <= seen.last ? s * scale : -std::numeric_limits<float>::infinity();
            s = wrong(Quantity::S, tile, r, c, s);
            tile.S.push_back(s);
            P.push_back(s);
            m_new = std::max(m_new, s);
        }
        m_new = wrong(Quantity::m, tile, r, 0, m_new);
        const float base = std::isinf(m_new) ? 0 : m_new;
        const float alpha = wrong(Quantity::alpha, tile, r, 0, std::exp2((m[n] - base) * 1.442695041f));
        m[n] = m_new, l[n] *= alpha;
        for (int c = 0; c < columns; ++c) {
            float& x = P[static_cast<std::size_t>(c)];
            x = std::exp2((x - base) * 1.442695041f);
            l[n] += x;
            x = wrong(Quantity::P, tile, r, c, static_cast<float>(round_to(narrow, x)));
            tile.P.push_back(x);
        }
        l[n] = wrong(Quantity::l, tile, r, 0, l[n]);
        for (int e = 0; e < d; ++e) {
            float& o = O[static_cast<std::size_t>(r * d + e)];
            o *= alpha;
            for (int c = 0; c < columns; ++c)
                o += P[static_cast<std::size_t>(c)] * at(V, tile.j * p.Bc + c, e);
            o = wrong(Quantity::O, tile, r, e, o);
            tile.O.push_back(o);
        }
        tile.m.push_back(m[n]), tile.l.push_back(l[n]), tile.alpha.push_back(alpha);
    }
};

KernelTrace imitate(const Problem& problem, DType type, const KernelFault& fault = {}) {
    return Imitation(problem, type, fault).t;
}
KernelComparison compared(const KernelTrace& trace) {
    return good(compare_kernel(std::make_shared<KernelTrace>(trace)));
}

Problem sized(int N, int N_kv, int d, int Br, int Bc, std::uint64_t seed) {
    Problem p = *random_problem(std::max(N, N_kv), d, seed);
    p.Q = p.Q.topRows(N).eval();
    keep_keys(p, N_kv);
    p.dO.reset();
    p.Br = Br, p.Bc = Bc;
    p.scale.kind = Scale::Kind::sqrt;
    return p;
}

std::vector<Problem> healthy_problems() {
    std::vector<Problem> all = {sized(4, 4, 4, 128, 128, 1), sized(1, 1, 1, 16, 16, 2),
                                sized(33, 65, 16, 16, 32, 3), sized(64, 64, 64, 16, 16, 4)};
    for (std::size_t n = 0; n < 4; ++n) {
        Problem p = causal(n == 2 ? sized(40, 20, 8, 16, 8, 5) : all[n]);  // rows that see nothing
        if (n == 3) p.window = 9;
        all.push_back(p);
    }
    Problem large = sized(48, 48, 32, 16, 16, 6);  // logits of hundreds
    large.Q *= 8, large.K *= 8;
    all.push_back(large);
    Problem negative = sized(32, 48, 16, 16, 16, 7);
    negative.scale = {Scale::Kind::number, -0.4};
    all.push_back(negative);
    return all;
}

}  // namespace

TEST_CASE("healthy kernels are within rounding and within the rule") {
    for (DType type : {DType::f32, DType::bf16, DType::f16})
        for (const Problem& problem : healthy_problems()) {
            CAPTURE(int(type));
            CAPTURE(problem.N());
            CAPTURE(problem.N_kv());
            CAPTURE(problem.causal);
            const KernelComparison c = compared(imitate(problem, type));
            CHECK_MESSAGE(!c.finding, finding_text(c));
            for (const OutputVerdict& v : c.outputs) CHECK_MESSAGE(v.passed(), formula_text(v));
            CHECK(c.passed());
            for (const TileComparison& tile : c.tiles) CHECK(tile.visited == tile.in_the_walk);
        }
}

TEST_CASE("what a kernel does not record is carried on, not missed") {
    const Problem problem = sized(48, 48, 16, 16, 16, 9);
    KernelTrace trace = imitate(problem, DType::bf16);
    for (KernelTile& tile : trace.tiles) tile.S.clear(), tile.P.clear(), tile.O.clear();
    const KernelComparison c = compared(trace);
    CHECK_MESSAGE(!c.finding, finding_text(c));
    CHECK_FALSE(c.tiles[0][Quantity::S].recorded);
    trace.tiles[4].l[3] *= 1.05f;
    const KernelComparison wrong = compared(trace);
    CHECK(wrong.finding.quantity == Quantity::l);
    CHECK(wrong.finding.row == 3);
}

TEST_CASE("a relative fault of 1e-3 is located to its tile and step") {
    std::mt19937_64 random(7);
    int located = 0, hidden = 0;
    for (int round = 0; round < 180; ++round) {
        const DType type = std::array{DType::f32, DType::bf16, DType::f16}[std::size_t(round) % 3];
        Problem p = sized(24 + int(random() % 30), 24 + int(random() % 30), 16, 16, 16, random());
        p.causal = random() % 2;
        const Quantity quantity = kernel_quantities()[random() % 6];
        const bool whole = random() % 2;
        KernelFault fault{quantity,
                          int(random() % std::uint64_t(p.Tr())),
                          int(random() % std::uint64_t(p.Tc())),
                          0,
                          -1,
                          random() % 2 ? 1e-3 : -1e-3};
        fault.row = int(random() % std::uint64_t(tile_rows(p, fault.i)));
        const KernelTrace healthy = imitate(p, type);
        if (!whole) fault.column = int(random() % std::uint64_t(quantity_width(healthy, quantity, fault.j)));
        const KernelTrace faulty = imitate(p, type, fault);
        const KernelComparison c = compared(faulty);
        CAPTURE(describe(fault));
        CAPTURE(int(type));
        CAPTURE(finding_text(c));

        // Whether anything is to be seen: what was hit, and how large it is beside what it is rounded from
        const KernelTile& tile = *find_tile(healthy, fault.i, fault.j);
        const Matrix hit = tile_values(c, quantity, fault.i, fault.j).exact;
        double most = 0, scale = 1;
        for (int col = 0; col < hit.cols() && fault.row < hit.rows(); ++col)
            if (fault.column < 0 || fault.column == col)
                if (std::isfinite(hit(fault.row, col))) most = std::max(most, std::abs(hit(fault.row, col)));
        if (quantity == Quantity::O) scale = tile.visited ? double(tile.l[std::size_t(fault.row)]) : 1;
        const bool first_alpha =
            quantity == Quantity::alpha &&
            (fault.j == 0 || !find_tile(healthy, fault.i, fault.j - 1)->visited ||
             std::isinf(find_tile(healthy, fault.i, fault.j - 1)->m[std::size_t(fault.row)]));
        const bool visible = tile.visited && !first_alpha && most > 0.3 * scale * (quantity != Quantity::P);
        if (visible && (quantity != Quantity::P || most > 1e-5)) {
            REQUIRE(c.finding.kind == KernelFinding::Kind::value);
            CHECK(c.finding.quantity == quantity);
            CHECK(c.finding.i == fault.i);
            CHECK(c.finding.j == fault.j);
            CHECK(c.finding.row == fault.row);
            if (fault.column >= 0) CHECK(c.finding.column == fault.column);
            CHECK(c.cpu->step(c.finding.step).i == fault.i);
            CHECK(c.cpu->step(c.finding.step).j == fault.j);
            CHECK(c.cpu->step(c.finding.step).op ==
                  (quantity == Quantity::S && tile_cover(p, fault.i, fault.j) == TileCover::partial
                       ? Op::mask
                       : info(quantity).op));
            ++located;
        } else if (!c.finding) {
            CHECK_FALSE(fault_text(c).empty());
            ++hidden;
        }
    }
    CHECK(located > 80);
    CHECK(hidden > 5);
}

TEST_CASE("the first correction of a row multiplies nothing") {
    const Problem problem = sized(32, 32, 8, 16, 16, 3);
    const KernelComparison c = compared(imitate(problem, DType::bf16, {Quantity::alpha, 0, 0, 2, -1, 0.5}));
    CHECK_FALSE(c.finding);
    CHECK(contains(fault_text(c), "multiplies 0"));
    CHECK(fault_text(compared(imitate(problem, DType::bf16))) == "");
}

TEST_CASE("the verdict is the ratio to standard attention") {
    const Problem problem = sized(64, 64, 32, 16, 16, 11);
    const KernelComparison healthy = compared(imitate(problem, DType::bf16));
    const OutputVerdict& O = healthy.outputs[0];
    CHECK(O.slot == Slot::O);
    CHECK(O.factor == 2);
    CHECK(O.standard > 0);
    CHECK(O.ratio() == doctest::Approx(O.error / O.standard));
    const double largest = output_values(healthy, Slot::O).exact.cwiseAbs().maxCoeff();
    CHECK(O.floor == largest / 128);  // two roundings of bf16, 2⁻⁸ each
    // The limit of the page, with the decimals of its parts
    CHECK(limit_text(O).size() > three_digits(O.limit()).size());
    CHECK(contains(formula_text(O), three_digits(O.standard) + " + " + three_digits(O.floor) + " "));
    CHECK(formula_text(O).ends_with(" " + limit_text(O)));
    const KernelComparison single = compared(imitate(problem, DType::f32));
    CHECK(single.outputs[0].floor < 1e-6);
    CHECK(single.outputs[0].standard < 1e-5);

    KernelTrace wrong = imitate(problem, DType::f32);
    wrong.O[70] += 0.01f;
    const KernelComparison c = compared(wrong);
    CHECK_FALSE(c.passed());
    CHECK(&c.nearest() == &c.outputs[0]);
    CHECK(c.outputs[0].worst.row == 2);
    CHECK(c.outputs[0].worst.column == 6);
    CHECK(c.finding.kind == KernelFinding::Kind::output);
    CHECK(c.finding.row == 2);
    CHECK(contains(formula_text(c.outputs[0]), " > 2 · "));
    wrong.O[70] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(compared(wrong).passed());
    CHECK(std::isinf(compared(wrong).outputs[0].ratio()));
}

TEST_CASE("tiles that only one side computes") {
    const Problem problem = causal(sized(32, 32, 8, 16, 16, 12));
    KernelTrace trace = imitate(problem, DType::f16);
    REQUIRE_FALSE(trace.tiles[1].visited);
    trace.tiles[2].visited = false;
    KernelComparison c = compared(trace);
    CHECK(c.finding.kind == KernelFinding::Kind::missing_tile);
    CHECK(finding_text(c).find("tile (1, 0) was left out") == 0);
    CHECK(c.finding.step >= 0);
    trace = imitate(problem, DType::f16);
    KernelTile& extra = trace.tiles[1];
    extra = trace.tiles[0];
    extra.j = 1;
    c = compared(trace);
    CHECK(c.finding.kind == KernelFinding::Kind::extra_tile);
    CHECK(finding_text(c).find("tile (0, 1) was computed") == 0);
}

TEST_CASE("gradients are judged by three times the standard's error") {
    Problem problem = causal(sized(20, 28, 8, 16, 16, 13));
    problem.dO = random_problem(20, 8, 14)->Q;
    KernelTrace trace;
    trace.kernel = "b2", trace.problem = problem, trace.dtype = DType::bf16, trace.backward = true;
    const auto floats = [](const Matrix& A) { return std::vector<float>(A.data(), A.data() + A.size()); };
    trace.dQ.resize(160), trace.dK.resize(224), trace.dV.resize(224);
    KernelComparison c = compared(trace);
    CHECK_FALSE(c.passed());
    trace.dQ = floats(output_values(c, Slot::dQ).cpu), trace.dK = floats(output_values(c, Slot::dK).cpu);
    trace.dV = floats(output_values(c, Slot::dV).cpu);
    c = compared(trace);
    CHECK(c.passed());
    REQUIRE(c.outputs.size() == 3);
    CHECK(c.outputs[1].slot == Slot::dK);
    CHECK(c.outputs[1].factor == 3);
    CHECK(c.outputs[1].standard > 0);
    CHECK(c.outputs[1].apart.largest == 0);
    CHECK(c.tiles.empty());
    CHECK(finding_text(c) == "no tiles were recorded");
    trace.dK[9] *= 1.5f;
    CHECK_FALSE(compared(trace).passed());
}

TEST_CASE("where P comes from a large float32 L, its rounding is no fault, and a fault is still one") {
    // Scores near 1000: one rounding of L, 2⁻²⁴ · 1000, is one part in 17,000 of every weight.
    Problem problem = sized(12, 12, 8, 16, 16, 21);
    problem.Q *= 20, problem.K *= 20;
    for (int r = 0; r < 12; ++r) problem.Q.row(r) = problem.Q.row(r).array() + 25;
    problem.K.array() += 5;
    problem.dO = random_problem(12, 8, 22)->Q;
    KernelTrace trace;
    trace.kernel = "b1-recompute-fp32", trace.problem = problem, trace.dtype = DType::f32;
    trace.backward = trace.P_from_L = true;
    trace.dQ.resize(96), trace.dK.resize(96), trace.dV.resize(96);
    // A kernel that is exact but for L, which is off by one rounding of fp32 up or down in each row.
    const Problem p = rounded_problem(trace);
    const Matrix S = p.softmax_scale() * p.Q * p.K.transpose(), dO = output_gradient(p);
    const auto gradients = [&](double roundings) {
        Matrix P(12, 12);
        double largest = 0;
        for (int r = 0; r < 12; ++r) {
            const double m = S.row(r).maxCoeff(), L = m + std::log((S.row(r).array() - m).exp().sum());
            const double off = std::ldexp(roundings * std::abs(L), -24) * (r % 2 == 0 ? 1 : -1);
            P.row(r) = (S.row(r).array() - L - off).exp();
            largest = std::max(largest, std::abs(L));
        }
        CHECK(largest > 700);
        CHECK(largest < 5000);
        Matrix exact(12, 12);
        for (int r = 0; r < 12; ++r)
            exact.row(r) = (S.row(r).array() - S.row(r).maxCoeff()).exp(), exact.row(r) /= exact.row(r).sum();
        const Matrix dP = dO * p.V.transpose(), D = exact.cwiseProduct(dP).rowwise().sum(),
                     dS = P.cwiseProduct(dP.colwise() - D.col(0));
        const auto floats = [](const Matrix& A) { return std::vector<float>(A.data(), A.data() + A.size()); };
        KernelTrace out = trace;
        out.dQ = floats(p.softmax_scale() * dS * p.K), out.dV = floats(P.transpose() * dO);
        out.dK = floats(p.softmax_scale() * dS.transpose() * p.Q);
        return out;
    };
    KernelTrace one = gradients(1);
    CHECK(compared(one).passed());
    CHECK(compared(gradients(2)).passed());  // two products with log₂ e
    // The rule of a kernel that keeps P calls this wrong: the term is needed.
    one.P_from_L = false;
    CHECK_FALSE(compared(one).passed());
    // Twenty roundings are beyond it, and so is a dV that misses a thousandth of itself.
    CHECK_FALSE(compared(gradients(20)).passed());
    KernelTrace wrong = gradients(0);
    CHECK(compared(wrong).passed());
    for (float& v : wrong.dV) v *= 1.001f;
    CHECK_FALSE(compared(wrong).passed());
}

TEST_CASE("units of the last place") {
    CHECK(ulp_distance(Format::fp32, 1.0, 1.0 + 0x1p-23) == 1);
    CHECK(ulp_distance(Format::bf16, 1.0, 1.0 + 0x1p-7) == 1);
    CHECK(ulp_distance(Format::fp32, 1.9375, 1.9375) == 0);
    CHECK(ulp_distance(Format::fp32, -INFINITY, -INFINITY) == 0);
    CHECK(std::isinf(ulp_distance(Format::fp32, -INFINITY, 1)));
}

TEST_CASE("records that do not fit together are refused") {
    const KernelTrace whole = imitate(sized(32, 32, 8, 16, 16, 3), DType::f16);
    const auto error = [](const KernelTrace& trace) {
        return compare_kernel(std::make_shared<KernelTrace>(trace)).error;
    };
    CHECK(error(whole).empty());
    const std::pair<void (*)(KernelTrace&), const char*> damages[] = {
        {[](KernelTrace& t) { t.tiles.pop_back(); }, "There are 3 tiles; expected 4."},
        {[](KernelTrace& t) { t.tiles[1].m.pop_back(); }, "m of tile (0, 1) has 15 numbers; expected 16."},
        {[](KernelTrace& t) { t.O.clear(); }, "O has 0 numbers; expected 256."},
        {[](KernelTrace& t) { std::swap(t.tiles[0], t.tiles[1]); },
         "Where tile (0, 0) should stand is tile (0, 1)."},
        {[](KernelTrace& t) { t.P_from_L = true; },
         "P_from_L is true of a forward kernel; only a backward kernel takes P from L."},
        {[](KernelTrace& t) { t.problem.Q(1, 1) = 70000; }, "Q holds 70000, more than fp16 can (65504)."},
        {[](KernelTrace& t) { t.problem.Br = 0; }, "Br is 0; a tile needs at least one query row."},
        {[](KernelTrace& t) { t.tiles.resize(1); }, "There is 1 tile; expected 4."},
        {[](KernelTrace& t) { t.tiles[3].j = 0; }, "Where tile (1, 1) should stand is tile (1, 0)."},
        {[](KernelTrace& t) { t.split_blocks = -1; }, "A split has -1 key blocks; expected 0 or more."},
        {[](KernelTrace& t) { t.L.pop_back(); }, "L has 31 numbers; expected 32."}};
    for (const auto& [damage, sentence] : damages) {
        KernelTrace bad = whole;
        damage(bad);
        CHECK(error(bad) == sentence);
    }
}

TEST_CASE("a finding is told with its place and both numbers, and a kernel with what it ran") {
    const Problem problem = sized(32, 40, 8, 16, 16, 3);
    const KernelComparison alpha =
        compared(imitate(problem, DType::f32, {Quantity::alpha, 1, 2, 5, -1, 0.5}));
    REQUIRE(alpha.finding);
    CHECK(contains(finding_text(alpha), "first beyond rounding: α of tile (1, 2), row 5: "));
    CHECK(fault_text(alpha).empty());  // it has an effect
    const KernelFinding& f = alpha.finding;
    CHECK(f.found == doctest::Approx(1.5 * f.expected));
    const auto [found, expected] = format_apart(f.found, f.expected);
    CHECK(finding_text(alpha).ends_with(": " + found + " against " + expected));

    KernelTrace wrong = imitate(problem, DType::f32);
    wrong.O[70] += 0.01f;
    CHECK(finding_text(compared(wrong))
              .starts_with("first beyond rounding: O after the last tile, row 8, column 6: "));
    wrong = imitate(problem, DType::f32);
    wrong.L[9] += 0.1f;
    CHECK(finding_text(compared(wrong)).starts_with("first beyond rounding: L after the last tile, row 9: "));
    const KernelComparison O = compared(imitate(problem, DType::f32, {Quantity::O, 0, 1, 3, 2, 0.5}));
    CHECK(finding_text(O).starts_with("first beyond rounding: O of tile (0, 1), row 3, column 2: "));
    CHECK(finding_text(O).ends_with(", not yet divided"));
    CHECK(finding_text(compared(imitate(problem, DType::f32))) == "all within rounding");

    CHECK(describe(KernelFault{}) == "none");
    CHECK(describe(KernelFault{Quantity::P, 1, 0, 4, -1, 0.25}) ==
          "P of tile (1, 0), row 4, every column × 1.25");
    CHECK(describe(KernelFault{Quantity::S, 0, 2, 1, 7, -1e-3}) ==
          "S of tile (0, 2), row 1, column 7 × 0.999");
    CHECK(describe(KernelFault{Quantity::l, 0, 2, 1, -1, 1}) == "ℓ of tile (0, 2), row 1 × 2");

    KernelTrace of = imitate(problem, DType::bf16);
    CHECK(describe(of) == "imitation, bf16, N = 32, N_kv = 40, d = 8, tiles of 16 × 16");
    of.kernel_d = 64, of.split_blocks = 2, of.problem.causal = true, of.problem.window = 5;
    CHECK(describe(of) == "imitation, bf16, N = 32, N_kv = 40, d = 8 (filled up to 64 with zeros), "
                          "tiles of 16 × 16, splits of 2 key blocks, causal, window 5");
    of = imitate(sized(16, 16, 4, 16, 16, 1), DType::f16);
    of.tiles.clear();
    CHECK(describe(of) == "imitation, fp16, N = 16, d = 4");
}

TEST_CASE("a fault without an effect says why") {
    Problem problem = sized(32, 32, 8, 16, 16, 3);
    problem.causal = true;
    const auto told = [&](const KernelFault& fault) {
        const KernelComparison c = compared(imitate(problem, DType::bf16, fault));
        REQUIRE_FALSE(c.finding);
        return fault_text(c);
    };
    CHECK(told({Quantity::P, 0, 1, 3, 2, 0.5}).ends_with("has no effect: nothing is computed there"));
    // Above the diagonal scores are −∞ and weights 0.
    CHECK(told({Quantity::S, 0, 0, 3, 9, 0.5}).ends_with("has no effect: it multiplies −∞"));
    CHECK(told({Quantity::P, 0, 0, 3, 9, 0.5}).ends_with("has no effect: it multiplies 0"));
    CHECK(contains(told({Quantity::P, 0, 0, 3, 1, 1e-9}), "has no effect: rounding moves 0."));
}

TEST_CASE("what is asked of a tile that is none, and which cell of the walk a number of a tile is") {
    const KernelTrace trace = imitate(sized(30, 20, 8, 16, 16, 3), DType::f16);
    const auto compared = compare_kernel(std::make_shared<KernelTrace>(trace));
    REQUIRE(compared);
    for (const auto& [i, j] : {std::pair{-1, 0}, {0, -1}, {2, 0}, {0, 2}}) {
        CHECK(compared->tile(i, j) == nullptr);
        CHECK(find_tile(trace, i, j) == nullptr);
    }
    CHECK(find_tile(KernelTrace{}, 0, 0) == nullptr);
    CHECK(values_of(trace.tiles[0], Quantity::none).empty());
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const TileComparison* const tile = compared->tile(i, j);
            REQUIRE(tile);
            CHECK(tile->statistics_ulp() >= (*tile)[Quantity::m].ulp);
            // Rows are counted from the tile's first query, columns of S and P from its first key.
            CHECK(cell_of(trace, Quantity::m, i, j, 3, 0) == CellRef{Slot::m, 16 * i + 3, 0});
            CHECK(cell_of(trace, Quantity::S, i, j, 3, 2) == CellRef{Slot::S, 16 * i + 3, 16 * j + 2});
            CHECK(cell_of(trace, Quantity::P, i, j, 0, -1) == CellRef{Slot::P, 16 * i, 16 * j});
            const CellRef O = cell_of(trace, Quantity::O, i, j, 1, 99);
            CHECK(O.row == 16 * i + 1);
            CHECK(O.col == trace.problem.d() - 1);
        }
}
