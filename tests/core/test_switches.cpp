// Broken on purpose: each fault changes what it must and nothing else, and the explanations of a broken walk
// are as true as those of a whole one.
#include "core/faults.h"
#include "core/lessons/lesson.h"
#include "tests/core/lies.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

const Lesson& forward() { return *find_lesson("flash-forward"); }

Problem with(Problem p, bool Switches::*fault) {
    p.switches.*fault = true;
    return p;
}

Problem random_faults(Random& random, Problem p) {
    for (const Fault& fault : forward_faults()) p.switches.*fault.on = pick(random, 0, 2) == 0;
    return p;
}

Format any_format(Random& random, bool narrow) {
    return formats()[static_cast<std::size_t>(pick(random, 0, narrow ? 5 : 4))];
}

Problem random_precision(Random& random, Problem p) {
    p.precision = {any_format(random, true), any_format(random, false), any_format(random, false),
                   any_format(random, true), any_format(random, false), any_format(random, true)};
    return p;
}

bool same_bits(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::equal(a.data(), a.data() + a.size(), b.data(),
                      [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// Same steps, same slots read and written, same bytes: only values may differ.
void check_same_structure(const Trace& a, const Trace& b) {
    REQUIRE(a.size() == b.size());
    const auto same_places = [](std::span<const Access> x, std::span<const Access> y) {
        return std::ranges::equal(
            x, y, [](const Access& p, const Access& q) { return p.slot == q.slot && p.tile == q.tile; });
    };
    for (int k = 0; k < a.size(); ++k) {
        const Step &x = a.step(k), &y = b.step(k);
        const bool same = x.op == y.op && x.i == y.i && x.j == y.j && x.phase == y.phase &&
                          x.traffic == y.traffic && same_places(a.reads(k), b.reads(k)) &&
                          same_places(a.writes(k), b.writes(k));
        CHECK_MESSAGE(same, "step ", k, " of ", describe(a.problem()));
    }
}

void check_no_lies(const Trace& trace) {
    every_written_cell(trace, [&](int k, const CellRef& cell) {
        const std::string lie = lie_in(trace, k, cell);
        if (!lie.empty()) FAIL_CHECK(lie);
    });
}

void check_broken(const Lesson& lesson, const Problem& p) {
    const auto truth = lesson.build(without_faults(p)), broken = lesson.build(p);
    check_same_structure(*truth, *broken);
    const TrafficModel model = lesson.model(p);
    CHECK(broken->step(broken->size() - 1).traffic.hbm_read == model.hbm_read);
    CHECK(broken->step(broken->size() - 1).traffic.hbm_write == model.hbm_write);
    check_no_lies(*broken);
}

bool same_result(const Problem& p, Slot slot) {
    return same_bits(forward().build(p)->result(slot), forward().build(without_faults(p))->result(slot));
}

}  // namespace

TEST_SUITE("switches") {
    TEST_CASE("every fault of the worked example, masked or not") {
        for (const Fault& fault : forward_faults())
            for (bool causal : {false, true}) {
                Problem p = with(worked_example(), fault.on);
                p.causal = causal;
                INFO(std::string(fault.name));
                check_broken(forward(), p);
            }
    }
    TEST_CASE("any faults together on random problems") {
        Random random(60);
        for (int n = 0; n < 250; ++n) check_broken(forward(), random_faults(random, any_problem(random, 6)));
    }
    TEST_CASE("any formats on random problems") {
        Random random(61);
        for (int n = 0; n < 250; ++n)
            check_broken(forward(), random_precision(random, any_problem(random, 6)));
    }
    TEST_CASE("faults and formats together") {
        Random random(62);
        for (int n = 0; n < 250; ++n)
            check_broken(forward(), random_precision(random, random_faults(random, any_problem(random, 6))));
    }
    TEST_CASE(
        "without a fault, and with every format written out as fp64, the walk is the same to the last bit") {
        Random random(63);
        for (int n = 0; n < 50; ++n) {
            Problem p = any_problem(random);
            const auto truth = forward().build(p);
            p.precision = {Format::fp64, Format::fp64, Format::fp64,
                           Format::fp64, Format::fp64, Format::fp64};
            CHECK_FALSE(p.broken());
            const auto same = forward().build(p);
            for (int k = 0; k < truth->size(); ++k)
                for (std::size_t w = 0; w < truth->writes(k).size(); ++w)
                    CHECK(same_bits(truth->value(truth->writes(k)[w].value).data,
                                    same->value(same->writes(k)[w].value).data));
        }
    }
}

TEST_SUITE("what a fault does") {
    TEST_CASE("without the correction O and ℓ are wrong exactly where a maximum rises after the first keys") {
        Problem p = with(worked_example(), &Switches::no_correction);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        const Matrix O = truth->result(Slot::O), wrong = broken->result(Slot::O);
        // In the example the maxima of queries 0 and 1 rise from 1 to 2; those of 2 and 3 stay.
        CHECK(std::abs(O(0, 0) - wrong(0, 0)) > 0.5);
        CHECK(std::abs(O(1, 0) - wrong(1, 0)) > 0.5);
        CHECK(O.bottomRows(2) == wrong.bottomRows(2));
        const double l = std::exp(truth->result(Slot::L)(0, 0) - 2),
                     l_wrong = std::exp(broken->result(Slot::L)(0, 0) - 2);
        CHECK(l == doctest::Approx(std::exp(-1) * (1 + std::exp(-1)) + 1 + std::exp(-2)));
        CHECK(l_wrong == doctest::Approx(1 + std::exp(-1) + 1 + std::exp(-2)));
    }
    TEST_CASE("without the maximum O and L are the same as long as nothing overflows") {
        Problem p = with(worked_example(), &Switches::no_max);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        CHECK(broken->result(Slot::O).isApprox(truth->result(Slot::O), 1e-14));
        CHECK(broken->result(Slot::L).isApprox(truth->result(Slot::L), 1e-14));
        CHECK_FALSE(same_bits(broken->live(Slot::P, 8).value->data, truth->live(Slot::P, 8).value->data));
        p.scale = {Scale::Kind::number, 360};  // scores up to 720: exp overflows beyond 709.78
        CHECK(forward().build(p)->result(Slot::O).hasNaN());
        CHECK_FALSE(forward().build(without_faults(p))->result(Slot::O).hasNaN());
        p.scale = {Scale::Kind::number, 6};  // 12: too much for fp16, whose exp overflows beyond 11.09
        CHECK_FALSE(forward().build(p)->result(Slot::O).hasNaN());
        p.precision.softmax = Format::fp16;
        CHECK_FALSE(forward().build(p)->result(Slot::O).allFinite());
    }
    TEST_CASE("without the division O is ℓ times too large and L is right") {
        const Problem p = with(worked_example(), &Switches::no_division);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        for (int r = 0; r < 4; ++r) {
            const int k = broken->size() - 1;
            const double l = broken->live(Slot::l, r < 2 ? k / 2 : k).value->data(r % 2, 0);
            CHECK(l > 1.3);
            for (int c = 0; c < 4; ++c)
                CHECK(broken->result(Slot::O)(r, c) ==
                      doctest::Approx(l * truth->result(Slot::O)(r, c)).epsilon(1e-14));
        }
        CHECK(same_result(p, Slot::L));
    }
    TEST_CASE("the old maximum makes ∞ at the first tile and NaN of it") {
        const auto broken = forward().build(with(worked_example(), &Switches::stale_max));
        CHECK((broken->live(Slot::P, 7).value->data.array() == INFINITY).all());
        CHECK(broken->result(Slot::O).array().isNaN().all());
    }
    TEST_CASE("with the mask edge one too far each query of a cut tile sees the key after its last") {
        Problem p = with(worked_example(), &Switches::wrong_mask_edge);
        CHECK(same_result(p, Slot::O));  // no mask, no edge
        for (bool causal : {true, false}) {
            p.causal = causal;
            p.window = causal ? std::nullopt : std::optional(0);
            const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
            int more = 0;
            for (int k = 0; k < truth->size(); ++k) {
                if (truth->step(k).op != Op::mask) continue;
                const Value &a = *truth->live(Slot::S, k).value, &b = *broken->live(Slot::S, k).value;
                for (int r = 0; r < a.region.rows; ++r)
                    for (int c = 0; c < a.region.cols; ++c) {
                        const bool one_more = a.region.col + c == a.region.row + r + 1;
                        CHECK(std::isinf(a.data(r, c)) ==
                              (a.region.col + c > a.region.row + r ||
                               (!causal && a.region.col + c != a.region.row + r)));
                        CHECK(std::isinf(b.data(r, c)) == (std::isinf(a.data(r, c)) && !one_more));
                        more += one_more;
                    }
            }
            CHECK(more ==
                  2);  // queries 0 and 2; the next keys of 1 and 3 lie in tiles that are skipped or not there
            CHECK_FALSE(same_result(p, Slot::O));
        }
    }
    TEST_CASE("a fault of the backward pass leaves the forward pass alone") {
        CHECK(same_result(with(worked_example(), &Switches::no_lse), Slot::O));
    }
    TEST_CASE("a stage that must hold −∞ refuses a format without it") {
        for (Format Precision::*stage : {&Precision::scores, &Precision::softmax, &Precision::accumulator}) {
            Problem p = worked_example();
            p.precision.*stage = Format::e4m3;
            REQUIRE(validate(p));
            CHECK(validate(p)->find("no ∞") != std::string::npos);
            p.precision.*stage = Format::fp16;
            CHECK_FALSE(validate(p));
        }
    }
    TEST_CASE("every stage rounds what it writes, and the inputs lie rounded in HBM") {
        Random random(64);
        for (int n = 0; n < 60; ++n) {
            const Problem p = random_precision(random, any_problem(random, 6));
            const auto trace = forward().build(p);
            const auto expect = [&](const Matrix& A, Format format) {
                CHECK(same_bits(A, round_to(format, A)));
            };
            for (Slot slot : {Slot::Q, Slot::K, Slot::V}) expect(trace->result(slot), p.precision.inputs);
            for (int k = 0; k < trace->size(); ++k)
                for (const Access& a : trace->writes(k)) {
                    const Matrix& A = trace->value(a.value).data;
                    const Precision& f = p.precision;
                    if (a.slot == Slot::S) expect(A, f.scores);
                    for (Slot slot : {Slot::m, Slot::m_tile, Slot::alpha, Slot::P, Slot::l, Slot::L})
                        if (a.slot == slot) expect(A, f.softmax);
                    if (a.slot == Slot::Oi) expect(A, f.accumulator);
                    if (a.slot == Slot::O) expect(A, f.output);
                }
        }
    }
    TEST_CASE("the weights are rounded on their way into the product, not in the sum") {
        Problem p = worked_example();
        p.precision.weights = Format::e4m3;
        const auto broken = forward().build(p), truth = forward().build(without_faults(p));
        CHECK(same_result(p, Slot::L));
        CHECK_FALSE(same_result(p, Slot::O));
        const int k = 9;  // output of tile (0, 0)
        REQUIRE(broken->step(k).op == Op::output);
        CHECK(broken->live(Slot::Oi, k).value->data(0, 0) == 1 * 1 + 0.375 * 5);  // exp(−1) in e4m3 is 0.375
        CHECK(same_bits(broken->live(Slot::P, k).value->data, truth->live(Slot::P, k).value->data));
    }
    TEST_CASE("fp16 scores overflow to −∞ and ∞, and the sentences say so") {
        Problem p = worked_example();
        p.Q *= 300;
        p.K *= -300;
        p.precision.scores = Format::fp16;
        const auto low = forward().build(p);
        int lost = 0;
        every_written_cell(*low, [&](int k, const CellRef& cell) {
            if (low->step(k).op != Op::exponentials || low->live(Slot::S, k).value->data.maxCoeff() > 0)
                return;
            const double S = value_at(*holding(*low, {Slot::S, cell.row, cell.col}, k).value,
                                      {Slot::S, cell.row, cell.col});
            if (!std::isinf(S)) return;
            ++lost;
            CHECK(explain(*low, k, cell).why.find("overflowed") != std::string::npos);
        });
        CHECK(lost > 0);
        p.K *= -1;
        CHECK(forward().build(p)->result(Slot::O).hasNaN());
        CHECK_FALSE(forward().build(without_faults(p))->result(Slot::O).hasNaN());
    }
}

TEST_SUITE("what is said about a fault") {
    TEST_CASE("the sentence of the step that a fault changes calls it a fault where it has an effect") {
        struct Row {
            bool Switches::*fault;
            Op op;
            const char* words;
        };
        const Row rows[] = {
            {&Switches::no_max, Op::new_max, "Fault: m stays 0, although query 0 has a maximum of 2"},
            {&Switches::no_max, Op::exponentials, "overflows beyond a score of 709.8"},
            {&Switches::no_correction, Op::correction, "Fault: α should be exp(1 − 2) = 0.368"},
            {&Switches::no_correction, Op::row_sum, "counts 2.718 times too much"},
            {&Switches::no_division, Op::normalize, "are 1.639 instead of 1"},
            {&Switches::stale_max, Op::exponentials,
             "measured from the old maximum 1 instead of 2, so it is 2.718 times"},
        };
        for (const Row& row : rows) {
            const auto trace = forward().build(with(worked_example(), row.fault));
            int k = 19;  // the last step of query block 0
            while (trace->step(k).op != row.op) --k;
            CHECK_MESSAGE(explain(*trace, k).why.find(row.words) != std::string::npos,
                          explain(*trace, k).why);
        }
        Problem p = with(worked_example(), &Switches::wrong_mask_edge);
        p.causal = true;
        const auto trace = forward().build(p);
        int k = 0;
        while (trace->step(k).op != Op::mask) ++k;
        CHECK(explain(*trace, k, CellRef{Slot::S, 0, 1}).why.find("query 0 keeps its score with key 1") !=
              std::string::npos);
    }
    TEST_CASE("every NaN and every ∞ is traced to what made it") {
        Random random(65);
        int births = 0, passed_on = 0;
        for (int n = 0; n < 120; ++n) {
            const auto trace =
                forward().build(random_precision(random, random_faults(random, any_problem(random, 5))));
            every_written_cell(*trace, [&](int k, const CellRef& cell) {
                const double value = value_at(*holding(*trace, cell, k).value, cell);
                const Op op = trace->step(k).op;
                if (!std::isnan(value) || op == Op::store || op == Op::normalize || op == Op::mask) return;
                const std::string why = explain(*trace, k, cell).why;
                const bool born = why.find("has no value") != std::string::npos;
                const bool came = why.find(" is NaN") != std::string::npos;
                CHECK_MESSAGE((born || came), why);
                ++(born ? births : passed_on);
            });
        }
        CHECK(births > 0);
        CHECK(passed_on > 0);
    }
    TEST_CASE("the pseudocode is that of the broken kernel") {
        const auto code =
            forward().code(with(with(worked_example(), &Switches::no_max), &Switches::no_division));
        CHECK(std::string(code[2].text).starts_with("m ← 0"));
        CHECK(std::string(code[13].text) == "O ← O");
        CHECK(std::string(code[9].text) == "α  ← exp(m_old − m)");
        CHECK(std::string(forward().code(worked_example())[13].text) == "O ← O ⊘ ℓ");
    }
}
