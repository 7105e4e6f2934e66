// Truth against broken: where the walks part, and that the sentence about it is true.
#include "core/base/matrix.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "core/walk/compare.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

using namespace tilewalk::test;

namespace {

struct Pair {
    std::shared_ptr<const Trace> truth, broken;
    Comparison c;
    explicit Pair(const Problem& p, const char* lesson = "flash-forward")
        : truth(walk_of(lesson, without_faults(p))), broken(walk_of(lesson, p)), c(compare(*truth, *broken)) {
    }
    bool says(const std::string& words) const { return contains(c.sentence, words); }
    bool judges(const std::string& words) const { return contains(c.verdict, words); }
};

Problem broken(bool Switches::*fault) { return with(worked_example(), fault); }
Problem broken_edge() { return causal(broken(&Switches::wrong_mask_edge)); }

}  // namespace

TEST_SUITE("compare") {
    TEST_CASE("distance") {
        CHECK(distance(1, 1.5) == 0.5);
        CHECK(distance(-infinity, -infinity) == 0);
        CHECK(distance(NAN, NAN) == 0);
        CHECK(distance(1, NAN) == infinity);
        CHECK(distance(infinity, -infinity) == infinity);
        CHECK(distance(0.0, -0.0) == 0);
    }
    TEST_CASE("a walk beside itself differs nowhere") {
        const Pair w(worked_example());
        CHECK(w.c.mismatch.empty());
        CHECK_FALSE(w.c.differs());
        CHECK(next_difference(w.c, -1) == -1);
        CHECK(next_lost(w.c, -1) == -1);
        CHECK(w.c.verdict == "O is the same to the last bit.");
        CHECK_FALSE(largest_difference(*w.truth, *w.broken, 9));
    }
    TEST_CASE("the figures per step are those of the cells, on random problems with random faults") {
        Random random(80);
        int differ = 0, lost = 0;
        for (int n = 0; n < 80; ++n) {
            Problem p = any_problem(random, 6);
            for (const Fault& fault : forward_faults()) p.switches.*fault.on = pick(random, 0, 3) == 0;
            if (pick(random, 0, 1)) p.precision.softmax = Format::fp16;
            const Pair w(p);
            REQUIRE(w.c.mismatch.empty());
            int next = -1;
            for (int k = 0; k < w.truth->size(); ++k) {
                double most = 0;
                bool gone = false;
                for (const Access& a : w.truth->writes(k))
                    every_cell(a.slot, w.truth->value(a.value).region, [&](const CellRef& cell) {
                        const double x = *true_value(*w.truth, cell, k), y = *true_value(*w.broken, cell, k);
                        most = std::max(most, distance(x, y));
                        gone = gone || (std::isfinite(x) && !std::isfinite(y));
                    });
                CHECK(w.c.largest[static_cast<std::size_t>(k)] == most);
                CHECK(w.c.lost[static_cast<std::size_t>(k)] == gone);
                const auto d = largest_difference(*w.truth, *w.broken, k);
                CHECK(d.has_value() == (most > 0));
                if (d) CHECK(distance(d->truth, d->broken) == most);
                if (most > 0) {
                    CHECK(next_difference(w.c, next) == k);
                    next = k;
                }
                differ += most > 0;
                lost += gone;
            }
            CHECK(next_difference(w.c, next) == -1);
            const Matrix O = w.broken->result(Slot::O);
            int bad = 0;
            for (Eigen::Index e = 0; e < O.size(); ++e) bad += !std::isfinite(O.data()[e]);
            CHECK(w.c.not_finite == bad);
            CHECK(w.c.elements == O.size());
            CHECK(w.c.sentence.back() == '.');
            CHECK(w.c.verdict.back() == '.');
        }
        CHECK(differ > 100);
        CHECK(lost > 20);
    }
    TEST_CASE("an edit says from which step on it changes the walk") {
        const Lesson& lesson = *find_lesson("flash-forward");
        Problem p = worked_example();
        const auto before = lesson.build(p);
        p.V(3, 0) = 5;  // key block 1: loaded in steps 11 and 31, then O, ÷ ℓ and O L of both query blocks
        CHECK(edit_sentence(*before, *lesson.build(p))
                  .starts_with("From step 11 on 8 of 40 steps write other"));
        CHECK(edit_sentence(*before, *before).starts_with("No step"));
        p.Br = 4;
        CHECK(edit_sentence(*before, *lesson.build(p)).empty());
    }
    TEST_CASE("walks of other shapes are not compared, and it says why") {
        Problem p = worked_example();
        const auto a = walk_of("flash-forward", p);
        p.Br = 4;
        const auto b = walk_of("flash-forward", p);
        CHECK(contains(compare(*a, *b).mismatch, "40 and 20 steps"));
        p = worked_example();
        p.Q = p.Q.leftCols(2).eval(), p.K = p.K.leftCols(2).eval(), p.V = p.V.leftCols(2).eval();
        const auto narrow = walk_of("flash-forward", p);
        CHECK(compare(*a, *narrow).mismatch == "Step 1 of the two walks is not the same step.");
        const auto other = walk_of("attention", worked_example());
        CHECK(contains(compare(*a, *other).mismatch, "different lessons"));
        CHECK_FALSE(compare(*a, *other).differs());
    }
}

TEST_SUITE("what happened") {
    TEST_CASE("no correction: harmless α in tile (0, 0), wrong sums from step 17 on") {
        const Pair w(broken(&Switches::no_correction));
        CHECK(w.says("From step 17 on row 0 keeps a sum that was never brought from 1 to 2: ℓ[0] is 2.503 "
                     "instead of 1.639."));
        const auto first = largest_difference(*w.truth, *w.broken, next_difference(w.c, -1));
        REQUIRE(first);
        CHECK(w.truth->step(first->step).op == Op::correction);
        CHECK(first->broken == 1);
        CHECK(first->truth == 0);
        CHECK(next_lost(w.c, -1) == -1);
        CHECK(w.judges("O is off by at most"));
        Problem one = broken(&Switches::no_correction);
        one.Bc = 4;
        CHECK(Pair(one).says("changes nothing here"));
        CHECK(Pair(one).c.verdict == "O is the same to the last bit.");
    }
    TEST_CASE("no maximum: other weights, the same O, until exp overflows") {
        const Pair w(broken(&Switches::no_max));
        CHECK(w.says("cancels in the division"));
        CHECK(w.says("709.8 (in fp16: 11.09)"));
        CHECK(w.judges("the same up to the last bits"));
        CHECK(next_lost(w.c, -1) == -1);
        Problem p = broken(&Switches::no_max);
        p.scale = {Scale::Kind::number, 400};
        const Pair far(p);
        CHECK(far.says("exp(800) overflows fp64"));
        CHECK(far.judges("NaN or ∞"));
        CHECK(next_lost(far.c, -1) > 0);
        p.scale.number = 6;
        p.precision.softmax = Format::fp16;
        CHECK(Pair(p).says("exp(12) overflows fp16, which ends at a score of 11.09"));
    }
    TEST_CASE("no division, an old maximum, a wrong edge") {
        CHECK(Pair(broken(&Switches::no_division)).says("From step 19 on row 1 is not divided by ℓ = 1.639"));
        CHECK(Pair(broken(&Switches::stale_max))
                  .says("measured from the old maximum −∞ instead of 1: P\u0303[0,0] is ∞"));
        CHECK(Pair(broken(&Switches::stale_max)).judges("16 of the 16 elements of O are NaN or ∞."));
        CHECK(Pair(broken(&Switches::wrong_mask_edge)).says("no mask"));
        CHECK(Pair(broken_edge()).says("query 0 keeps its score with key 1"));
    }
    TEST_CASE("the first version of the forward pass, and the backward pass") {
        CHECK(Pair(broken(&Switches::no_division), "flash-forward-v1").says("is not divided by ℓ = 1.368"));
        CHECK(Pair(broken(&Switches::no_correction), "flash-forward-v1")
                  .says("keeps a sum that was never brought from 1 to 2: ℓ[0] is 2.503 instead of 1.639."));
        const Pair lse(broken(&Switches::no_lse), "flash-backward");
        CHECK(lse.says("on P is exp(S), which is not divided by anything: P[0,0] is 2.718 instead of"));
        CHECK(lse.judges("dQ, dK, dV are off by at most"));
        CHECK(Pair(broken_edge(), "flash-backward").says("keeps its score with key 1"));
        const Pair other(broken(&Switches::no_max), "flash-backward");
        CHECK(other.c.sentence == "Nothing is broken.");
        CHECK_FALSE(other.c.differs());
        CHECK_FALSE(breaks(*find_lesson("flash-backward"), broken(&Switches::no_max)));
        CHECK(breaks(*find_lesson("flash-forward"), broken(&Switches::no_max)));
        CHECK_FALSE(breaks(*find_lesson("attention"), broken(&Switches::no_max)));
    }
    TEST_CASE("rounding is told by the first number that it changes") {
        Problem p = worked_example();
        p.precision.softmax = Format::fp16;
        const Pair w(p);
        CHECK(w.says(
            "Rounding first shows at step 8 (Exponentials): P\u0303[0,1] is 0.36792 instead of 0.36788."));
        CHECK(w.judges("O is off by at most"));
        p.precision = {};
        p.precision.inputs = Format::fp16;
        CHECK(Pair(p).says("fits the chosen formats"));
    }
}
