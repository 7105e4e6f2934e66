// Broken on purpose: each fault changes what it must and nothing else, and the explanations of a broken walk
// are as true as those of a whole one.
#include "core/lessons/shared/faults.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/contract.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

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

// A tile that the query sees has a larger score than all before it.
bool maximum_rises(const Problem& p, int row) {
    const Dense dense = dense_attention(p);
    double most = -INFINITY;
    for (int first = 0; first < p.N_kv(); first += p.Bc) {
        const int keys = std::min(p.Bc, p.N_kv() - first);
        const double tile = static_cast<double>(dense.S.row(row).segment(first, keys).maxCoeff());
        if (std::isfinite(most) && tile > most) return true;
        most = std::max(most, tile);
    }
    return false;
}

void check_broken(const Lesson& lesson, const Problem& p) {
    const auto truth = lesson.build(without_faults(p)), broken = lesson.build(p);
    check_same_structure(*truth, *broken);
    check_costs(*broken);
    check_explanations(*broken);
}

}  // namespace

TEST_SUITE("switches") {
    TEST_CASE("every fault of the worked example, masked or not, in every lesson") {
        CHECK(breakable().size() == 9);
        for (const Broken& b : breakable())
            for (const Fault& fault : b.lesson.faults())
                for (bool causal : {false, true}) {
                    Problem p = with(b.of(worked_example()), fault.on);
                    p.causal = causal;
                    INFO(std::string(b.lesson.id), " ", std::string(fault.name));
                    check_broken(b.lesson, p);
                }
    }
    TEST_CASE("any faults, any formats, and both together on random problems") {
        Random random(60);
        for (int n = 0; n < 60; ++n)
            for (const Broken& b : breakable()) {
                const auto problem = [&] {
                    Problem p = b.of(any_problem(random, 6));
                    choose_rows(random, p);
                    return p;
                };
                check_broken(b.lesson, random_faults(random, problem()));
                check_broken(b.lesson, random_precision(random, problem()));
                check_broken(b.lesson, random_precision(random, random_faults(random, problem())));
            }
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
            {&Switches::no_correction, Op::row_sum, "is 2.718 times what it should be"},
            {&Switches::no_division, Op::normalize, "are 1.639 instead of 1"},
            {&Switches::stale_max, Op::exponentials,
             "measured from the old maximum 1 instead of 2, so it is 2.718 times what it should be"},
            {&Switches::no_correction, Op::normalize,
             "Fault: ℓ = 2.503 of query 0 adds weights that are measured from different maxima"},
            {&Switches::no_correction, Op::store, "will not sum to 1 for query 0"},
        };
        for (const Row& row : rows) {
            const auto trace = forward().build(with(worked_example(), row.fault));
            int k = 19;  // the last step of query block 0
            while (trace->step(k).op != row.op) --k;
            CHECK_MESSAGE(contains(explain(*trace, k).why, row.words), explain(*trace, k).why);
        }
        const auto trace = forward().build(with(causal(worked_example()), &Switches::wrong_mask_edge));
        const int k = nth_step(*trace, Op::mask);
        CHECK(explain(*trace, k).target == CellRef{Slot::S, 0, 1});  // what is wrong comes first
        CHECK(contains(explain(*trace, k, CellRef{Slot::S, 0, 1}).why, "query 0 keeps its score with key 1"));
    }
    TEST_CASE("every NaN and every ∞ is traced to what made it") {
        Random random(65);
        int births = 0, passed_on = 0;
        for (int n = 0; n < 120; ++n) {
            const auto trace =
                forward().build(random_precision(random, random_faults(random, any_problem(random, 5))));
            every_written_cell(*trace, [&](const CellRef& cell, int k) {
                const double value = value_at(*holding(*trace, cell, k).value, cell);
                const Op op = trace->step(k).op;
                if (!std::isnan(value) || op == Op::store || op == Op::normalize || op == Op::mask) return;
                const std::string why = explain(*trace, k, cell).why;
                const bool born = contains(why, "has no value");
                const bool came = contains(why, " is NaN");
                CHECK_MESSAGE((born || came), why);
                ++(born ? births : passed_on);
            });
        }
        CHECK(births > 0);
        CHECK(passed_on > 0);
    }
    TEST_CASE("∞ × 0 names the factor that meets the 0, and a NaN that was there before is not made anew") {
        Problem p = with(worked_example(), &Switches::no_max);
        p.Q.setZero(), p.K.setZero();
        p.Q.col(0).setConstant(40), p.K.col(0).setConstant(25);
        p.V.col(0) << 1, 0, 3, 0;
        p.V.col(1) << 1, 1, 3, 0;
        const auto trace = forward().build(p);
        const int first = find_step(*trace, Op::output, 0, 0), second = find_step(*trace, Op::output, 0, 1);
        const auto why = [&](int k, int col) { return explain(*trace, k, CellRef{Slot::Oi, 0, col}).why; };
        CHECK(why(first, 0).starts_with("∞ × 0 has no value, so O[0,0] is NaN: P̃[0,1] is ∞ since step "));
        CHECK(why(second, 0) == "O[0,0] is NaN since step " + std::to_string(first + 1) + " and stays NaN.");
        CHECK(why(first, 1).starts_with("P̃[0,0] is ∞ since step "));
        CHECK(why(second, 1).starts_with("∞ × 0 has no value, so O[0,1] is NaN: P̃[0,3] is ∞ since step "));
    }
    TEST_CASE("a division by 1 that is left out is no loss") {
        const auto trace = forward().build(with(causal(worked_example()), &Switches::no_division));
        const int k = find_step(*trace, Op::normalize, 0);
        CHECK(explain(*trace, k, CellRef{Slot::Oi, 0, 0}).why ==
              "A fault without effect here: all weights of query 0 together are 1 already, so without the "
              "division nothing is lost.");
        CHECK(explain(*trace, k, CellRef{Slot::Oi, 1, 0}).why.starts_with("Fault: all weights of query 1"));
    }
    TEST_CASE("what a fault has spoiled is not praised, and what it has not is no fault") {
        Random random(66);
        int spoiled = 0, whole = 0;
        for (int n = 0; n < 60; ++n) {
            const Problem p = with(any_problem(random, 7), &Switches::no_correction);
            const auto trace = forward().build(p);
            every_written_cell(*trace, [&](const CellRef& cell, int k) {
                const Op op = trace->step(k).op;
                if (op != Op::normalize && op != Op::store) return;
                const std::string why = explain(*trace, k, cell).why;
                const bool blames = why.starts_with("Fault: ") || contains(why, "as wrong as it is");
                const bool rises = maximum_rises(p, cell.row);
                CHECK_MESSAGE(blames == rises, why);
                ++(rises ? spoiled : whole);
            });
        }
        CHECK(spoiled > 50);
        CHECK(whole > 50);
        const auto undivided = forward().build(with(worked_example(), &Switches::no_division));
        const int stored = nth_step(*undivided, Op::store);
        CHECK(contains(explain(*undivided, stored, CellRef{Slot::O, 0, 0}).why, "as wrong as it is"));
        CHECK(contains(explain(*undivided, stored, CellRef{Slot::L, 0, 0}).why, "again, as exp(S − L)"));
        // The weights that the backward pass makes of such an L.
        const auto trace = forward().build(with(worked_example(), &Switches::no_correction));
        const Dense dense = dense_attention(worked_example());
        for (int r = 0; r < 4; ++r) {
            const double L =
                value_at(*holding(*trace, {Slot::L, r, 0}, trace->size() - 1).value, {Slot::L, r, 0});
            const double sum = (dense.S.row(r).cast<double>().array() - L).exp().sum();
            CHECK((std::abs(sum - 1) > .1) == (r < 2));
        }
    }
    TEST_CASE("nothing is explained by itself: what was ∞ or NaN before stays so") {
        Random random(67);
        int stays = 0;
        for (int n = 0; n < 40; ++n)
            for (const Broken& b : breakable()) {
                const Problem p =
                    random_precision(random, random_faults(random, b.of(any_problem(random, 5))));
                const auto trace = b.lesson.build(p);
                every_written_cell(*trace, [&](const CellRef& cell, int k) {
                    const std::string why = explain(*trace, k, cell).why,
                                      own = cell_text(*trace, cell, k) + " is ";
                    const bool itself = why.starts_with(own) && contains(why, ", and so " + own);
                    CHECK_MESSAGE(!itself, why);
                    stays += contains(why, " and stays ");
                });
            }
        CHECK(stays > 10);
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
