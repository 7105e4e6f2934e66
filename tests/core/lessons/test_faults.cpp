// What each fault and each format does to the numbers of a walk.
#include "core/lessons/table.h"
#include "tests/core/lessons/broken.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

using namespace tilewalk::test;

namespace {

bool same_result(const Problem& p, Slot slot) {
    return same_bits(forward().build(p)->result(slot), forward().build(without_faults(p))->result(slot));
}

}  // namespace

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
    TEST_CASE("without L the weights of the backward pass are exp(S), and the forward results stay true") {
        for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer}) {
            Problem p = with(worked_example(), &Switches::no_lse);
            p.options.order = order;
            const Lesson& backward = *find_lesson("flash-backward");
            const auto truth = backward.build(without_faults(p)), broken = backward.build(p);
            int seen = 0;
            for (int k = 0; k < broken->size(); ++k) {
                if (broken->step(k).op != Op::recompute) continue;
                const Value &S = *broken->live(Slot::S, k).value, &P = *broken->live(Slot::Prob, k).value;
                for (Eigen::Index n = 0; n < P.data.size(); ++n)
                    CHECK(P.data.data()[n] == std::exp(S.data.data()[n]));
                ++seen;
            }
            CHECK(seen == 4);
            for (Slot slot : {Slot::O, Slot::L, Slot::D})
                CHECK(same_bits(truth->result(slot), broken->result(slot)));
            for (Slot slot : {Slot::dQ, Slot::dK, Slot::dV})
                CHECK_FALSE(same_bits(truth->result(slot), broken->result(slot)));
        }
    }
    TEST_CASE("a row of the backward pass that sees one key too many has weights above 1 together") {
        Problem p = with(worked_example(), &Switches::wrong_mask_edge);
        p.causal = true;
        const auto broken = find_lesson("flash-backward")->build(p);
        double most = 0;
        for (int k = 0; k < broken->size(); ++k)
            if (broken->step(k).op == Op::recompute)
                most = std::max(most, broken->live(Slot::Prob, k).value->data.rowwise().sum().maxCoeff());
        CHECK(most > 1.1);
    }
    TEST_CASE(
        "both forward lessons agree about a fault of the mask and differ where the division is left out") {
        const Lesson& first = *find_lesson("flash-forward-v1");
        Problem p = with(worked_example(), &Switches::wrong_mask_edge);
        p.causal = true;
        CHECK(first.build(p)->result(Slot::O).isApprox(forward().build(p)->result(Slot::O), 1e-12));
        CHECK_FALSE(
            first.build(p)->result(Slot::O).isApprox(first.build(without_faults(p))->result(Slot::O), 1e-3));
        p = with(worked_example(), &Switches::no_division);
        CHECK_FALSE(first.build(p)->result(Slot::O).isApprox(forward().build(p)->result(Slot::O), 1e-3));
    }
    TEST_CASE("every stage rounds what it writes, and the inputs lie rounded in HBM") {
        Random random(66);
        for (int n = 0; n < 60; ++n) {
            const Problem p = random_precision(random, any_problem(random, 6));
            const Precision& f = p.precision;
            const std::map<Slot, Format> forwards = {
                {Slot::S, f.scores},      {Slot::m, f.softmax},      {Slot::m_tile, f.softmax},
                {Slot::alpha, f.softmax}, {Slot::P, f.softmax},      {Slot::l, f.softmax},
                {Slot::L, f.softmax},     {Slot::Oi, f.accumulator}, {Slot::O, f.output}};
            const std::map<Slot, Format> backwards = {{Slot::S, f.scores},        {Slot::dP, f.scores},
                                                      {Slot::Prob, f.softmax},    {Slot::D, f.softmax},
                                                      {Slot::dS, f.softmax},      {Slot::dKj, f.accumulator},
                                                      {Slot::dQi, f.accumulator}, {Slot::dK, f.output}};
            for (const auto& [lesson, stages] :
                 {std::pair("flash-forward", forwards), {"flash-backward", backwards}}) {
                const auto trace = find_lesson(lesson)->build(p);
                for (Slot slot : {Slot::Q, Slot::K, Slot::V})
                    CHECK(same_bits(trace->result(slot), round_to(f.inputs, trace->result(slot))));
                for (int k = 0; k < trace->size(); ++k)
                    for (const Access& a : trace->writes(k)) {
                        const Matrix& A = trace->value(a.value).data;
                        if (stages.contains(a.slot)) CHECK(same_bits(A, round_to(stages.at(a.slot), A)));
                    }
            }
            CHECK(same_bits(find_lesson("flash-backward")->build(p)->result(Slot::dO),
                            round_to(f.inputs, output_gradient(p))));
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
        every_written_cell(*low, [&](const CellRef& cell, int k) {
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
