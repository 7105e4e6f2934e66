#include "tests/core/lessons/dense_checks.h"

#include "core/problem/reference.h"
#include "tests/core/expression.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <string>

namespace tilewalk::test {

namespace {

std::size_t at(int n) { return static_cast<std::size_t>(n); }

Dense::Table table(int rows, int cols) {
    return Dense::Table(at(rows), std::vector<long double>(at(cols), 0));
}

Matrix small_numbers(Random& random, int rows, int cols) {
    Matrix A(rows, cols);
    for (Eigen::Index n = 0; n < A.size(); ++n) A.data()[n] = pick(random, -1500, 1500) / 1000.0;
    return A;
}

// One explanation, and what the trace holds.
struct Told {
    const Trace& trace;
    int k;
    CellRef cell;
    Explanation e;

    std::string where() const {
        return describe(trace.problem()) + ", " + trace.lesson() + ", step " + std::to_string(k) + " " +
               name(trace.step(k).op) + ", " + info(cell.slot).name + "[" + std::to_string(cell.row) + "," +
               std::to_string(cell.col) + "]: " + plain(e.numbers) + " | " + plain(e.result) + " | " + e.why;
    }
    double value(CellRef ref, int step) const {
        const Held held = trace.live(ref.slot, step);
        REQUIRE_MESSAGE(static_cast<bool>(held), where());
        return held.value->data(ref.row, ref.col);
    }
    std::int64_t bytes() const {
        const Traffic now = trace.step(k).traffic, before = k > 0 ? trace.step(k - 1).traffic : Traffic{};
        return now.hbm_read - before.hbm_read + now.hbm_write - before.hbm_write;
    }
    bool moves() const { return trace.step(k).op == Op::load || trace.step(k).op == Op::store; }
};

void check_line(const Told& t, const Line& numbers, const Line& result, double stored) {
    REQUIRE_FALSE(result.empty());
    const auto shown = read_number(result.back().text);
    if (!shown || !rounds(*shown, stored)) FAIL_CHECK("not the stored ", stored, ": ", t.where());
    if (numbers.empty() || !shown) return;
    const std::string fault = fault_of(plain(numbers), *shown, stored == std::round(stored));
    if (!fault.empty()) FAIL_CHECK(fault, ": ", t.where());
}

void check_numbers(const Told& t) {
    const double stored = t.moves() ? static_cast<double>(t.bytes()) : t.value(t.cell, t.k);
    check_line(t, t.e.numbers, t.e.result, stored);
    for (const Aside& aside : t.e.asides) {
        CHECK_FALSE(aside.label.empty());
        const auto shown = read_number(aside.result.back().text);
        REQUIRE(shown);
        const auto formula = evaluate(plain(aside.numbers));
        REQUIRE_MESSAGE(formula, plain(aside.numbers));
        CHECK_MESSAGE(std::abs(formula->value - shown->value) <=
                          std::max(shown->unit, 0.001L) + 1e-13L * formula->terms,
                      plain(aside.numbers), " is not ", aside.result.back().text, ", ", t.where());
    }
    // Only what has no arithmetic has no numbers: masks, rows without a key, sums too long to print.
    const Op op = t.trace.step(t.k).op;
    const bool none = op == Op::mask || (op == Op::divide && t.value({Slot::l, t.cell.row, 0}, t.k) == 0);
    if (t.e.numbers.empty() != none && t.e.sources.size() < 256) FAIL_CHECK("numbers: ", t.where());
}

void check_sources(const Told& t) {
    std::set<Slot> read;
    for (const Access& a : t.trace.reads(t.k)) read.insert(a.slot);
    std::vector<double> values;
    for (const CellRef& source : t.e.sources) {
        if (!read.count(source.slot)) FAIL_CHECK("a source that the step did not read: ", t.where());
        values.push_back(t.value(source, t.k - 1));
    }
    if (t.e.sources.empty() && !t.moves()) FAIL_CHECK("no sources: ", t.where());
    if (t.e.numbers.empty() || t.moves()) return;
    const auto formula = evaluate(plain(t.e.numbers));
    if (!formula) return;
    std::vector<double> allowed = values;
    allowed.push_back(t.trace.problem().softmax_scale());
    if (t.trace.step(t.k).op == Op::update) allowed.push_back(t.trace.problem().options.learning_rate);
    if (t.trace.step(t.k).op == Op::exponentials) allowed.push_back(0);  // stands in for m = −∞
    for (const Printed& n : formula->numbers)
        if (std::ranges::none_of(allowed, [&](double v) { return rounds(n, v); }))
            FAIL_CHECK("a number from nowhere, ", static_cast<double>(n.value), ": ", t.where());
    for (double v : values)
        if (std::isfinite(v) &&
            std::ranges::none_of(formula->numbers, [&](const Printed& n) { return rounds(n, v); }))
            FAIL_CHECK("a source that is not printed, ", v, ": ", t.where());
}

void check_words(const Told& t) {
    const Explanation& e = t.e;
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty() ||
        e.why.back() != '.')
        FAIL_CHECK("a part is missing: ", t.where());
    const auto code = lesson_of(t.trace).code(t.trace.problem());
    if (e.code_line <= 0 || e.code_line >= static_cast<int>(code.size()))
        FAIL_CHECK("no line of code: ", t.where());
    for (const std::string& text : {e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", "inf", "NaN", "−0 ", "−−", "  ."})
            if (text.find(bad) != std::string::npos) FAIL_CHECK("'", bad, "' in: ", t.where());
}

void check_cell(const Trace& trace, int k, CellRef cell) {
    const Told t{trace, k, cell, explain(trace, k, cell)};
    if (t.e.target != cell) FAIL_CHECK("about another cell: ", t.where());
    check_numbers(t);
    check_sources(t);
    check_words(t);
}

}  // namespace

DenseGradients dense_gradients(const Problem& p, const Matrix& dO) {
    const Dense dense = dense_attention(p);
    const int N = p.N(), M = p.N_kv(), d = p.d();
    const long double scale = p.softmax_scale();
    DenseGradients g{table(N, M),
                     table(N, M),
                     table(N, d),
                     table(M, d),
                     table(M, d),
                     std::vector<long double>(at(N)),
                     table(N, M),
                     table(N, d),
                     table(M, d),
                     table(M, d),
                     std::vector<long double>(at(N)),
                     0};
    long double size = 0;
    for (long double s : dense.size) size = std::max(size, s);
    g.precision = static_cast<double>(16 * std::numeric_limits<double>::epsilon() * size);
    for (int r = 0; r < N; ++r) {
        std::vector<long double> size_dP(at(M));
        for (int c = 0; c < M; ++c) {
            const long double P = dense.P[at(r)][at(c)];
            for (int x = 0; x < d; ++x) {
                const long double term = static_cast<long double>(dO(r, x)) * p.V(c, x);
                g.dP[at(r)][at(c)] += term;
                size_dP[at(c)] += std::abs(term);
                g.dV[at(c)][at(x)] += P * dO(r, x);
                g.size_dV[at(c)][at(x)] += P * std::abs(dO(r, x));
            }
            g.D[at(r)] += P * g.dP[at(r)][at(c)];
            g.size_D[at(r)] += P * size_dP[at(c)];
        }
        for (int c = 0; c < M; ++c) {
            const long double P = dense.P[at(r)][at(c)];
            const long double dS = g.dS[at(r)][at(c)] = P * (g.dP[at(r)][at(c)] - g.D[at(r)]);
            const long double size_dS = g.size_dS[at(r)][at(c)] = P * (size_dP[at(c)] + g.size_D[at(r)]);
            for (int x = 0; x < d; ++x) {
                g.dQ[at(r)][at(x)] += scale * dS * p.K(c, x);
                g.dK[at(c)][at(x)] += scale * dS * p.Q(r, x);
                g.size_dQ[at(r)][at(x)] += std::abs(scale) * size_dS * std::abs(p.K(c, x));
                g.size_dK[at(c)][at(x)] += std::abs(scale) * size_dS * std::abs(p.Q(r, x));
            }
        }
    }
    return g;
}

bool close_to(const Matrix& got, const Dense::Table& expected, const Dense::Table& size, double precision) {
    if (got.rows() != static_cast<Eigen::Index>(expected.size())) return false;
    for (int r = 0; r < got.rows(); ++r)
        for (int c = 0; c < got.cols(); ++c)
            if (!(std::abs(got(r, c) - expected[at(r)][at(c)]) <=
                  (1e-12L + precision) * size[at(r)][at(c)] + 1e-290L))
                return false;
    return true;
}

Problem gradient_problem(Random& random, int largest) {
    Problem p = any_problem(random, largest);
    const int N = p.N(), M = p.N_kv(), d = p.d();
    if (pick(random, 0, 3) > 0) {
        p.Q = small_numbers(random, N, d);
        p.K = small_numbers(random, M, d);
        p.V = small_numbers(random, M, d);
    } else {  // keeps the ties of integers
        p.Q /= std::max(1.0, p.Q.cwiseAbs().maxCoeff() / 2);
        p.K /= std::max(1.0, p.K.cwiseAbs().maxCoeff() / 2);
        p.V /= std::max(1.0, p.V.cwiseAbs().maxCoeff() / 2);
    }
    p.dO = small_numbers(random, N, d);
    if (pick(random, 0, 2) == 0) p.dO->row(pick(random, 0, N - 1)).setZero();
    return p;
}

Problem projected_problem(Random& random, int largest) {
    Problem p = gradient_problem(random, largest);
    const int N = p.N(), d = p.d(), model = pick(random, 1, 4);
    p.projection = Projection{small_numbers(random, N, model), small_numbers(random, model, d),
                              small_numbers(random, model, d), small_numbers(random, model, d)};
    project(p);
    return p;
}

double loss_of(const Problem& p, const Matrix& dO) { return dO.cwiseProduct(reference_attention(p).O).sum(); }

void check_explanations(const Trace& trace, int most_cells) {
    for (int k = 0; k < trace.size(); ++k) {
        if (trace.writes(k).empty()) {
            const Told t{trace, k, {}, explain(trace, k)};
            check_numbers(t);
            check_words(t);
            continue;
        }
        const Access access = trace.writes(k).back();
        const Region& region = trace.value(access.value).region;
        const int cells = region.rows * region.cols, stride = std::max(1, cells / most_cells);
        for (int n = 0; n < cells; n += stride)
            check_cell(trace, k, {access.slot, n / region.cols, n % region.cols});
    }
}

void check_traffic(const Trace& trace) {
    const TrafficModel model = lesson_of(trace).model(trace.problem());
    const Traffic& end = trace.step(trace.size() - 1).traffic;
    CHECK_MESSAGE(end.hbm_read == model.hbm_read, describe(trace.problem()), ", ", trace.lesson());
    CHECK_MESSAGE(end.hbm_write == model.hbm_write, describe(trace.problem()), ", ", trace.lesson());
    std::int64_t written = 0, flops = 0;
    for (int k = 0; k < trace.size(); ++k) {
        for (const Access& a : trace.writes(k))
            if (info(a.slot).hbm) written += trace.value(a.value).data.size() * trace.problem().element_bytes;
        CHECK(trace.step(k).traffic.hbm_write == written);
        CHECK(trace.step(k).traffic.flops >= flops);
        CHECK(trace.step(k).traffic.sram_live == 0);
        flops = trace.step(k).traffic.flops;
    }
}

void check_estimate(const Trace& trace) {
    const std::int64_t real = static_cast<std::int64_t>(trace.bytes()),
                       said = lesson_of(trace).estimate(trace.problem());
    CHECK_MESSAGE(real <= said, describe(trace.problem()), ", ", trace.lesson());
    if (real > 100000) CHECK_MESSAGE(said <= 4 * real, describe(trace.problem()), ", ", trace.lesson());
}

void check_figures(const Matrix& got, std::initializer_list<double> printed, double unit) {
    REQUIRE(got.size() == static_cast<Eigen::Index>(printed.size()));
    for (Eigen::Index n = 0; n < got.size(); ++n)
        CHECK_MESSAGE(std::abs(got.data()[n] - printed.begin()[n]) <= unit * 1.0001, "figure ", n, ": ",
                      got.data()[n], " against ", printed.begin()[n]);
}

int nth_step(const Trace& trace, Op op, int n) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && n-- == 0) return k;
    FAIL("no such step: ", name(op));
    return 0;
}

}  // namespace tilewalk::test
