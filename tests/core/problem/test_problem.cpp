#include "core/lessons/forward/forward.h"
#include "core/problem/problem.h"
#include "tests/contains.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <functional>

using namespace tilewalk::test;

namespace {

// The sentence about the worked example after `spoil`; every part must be in it.
void check_refused(const std::function<void(Problem&)>& spoil,
                   std::initializer_list<std::string_view> parts) {
    Problem p = worked_example();
    spoil(p);
    const auto sentence = validate(p);
    REQUIRE(sentence);
    CHECK_MESSAGE(sentence->back() == '.', *sentence);
    check_contains(*sentence, parts);
}

}  // namespace

TEST_SUITE("problem") {
    TEST_CASE("a good problem has no sentence") {
        CHECK_FALSE(validate(worked_example()));
        Random random(70);
        for (int n = 0; n < 300; ++n) CHECK_FALSE(validate(any_problem(random)));
    }
    TEST_CASE("shapes") {
        check_refused([](Problem& p) { p.Q.resize(0, 0); }, {"Q is empty"});
        check_refused([](Problem& p) { p.Q.resize(4, 0); }, {"Q is empty"});
        check_refused([](Problem& p) { p.K.resize(0, 4); }, {"K is empty"});
        check_refused([](Problem& p) { p.V.resize(0, 4); }, {"4 × 4", "V is 0 × 4"});
        check_refused([](Problem& p) { p.K = p.V = Matrix::Zero(4, 3); },
                      {"Q is 4 × 4", "K is 4 × 3", "columns"});
        check_refused([](Problem& p) { p.V = Matrix::Zero(5, 4); }, {"K is 4 × 4", "V is 5 × 4"});
        check_refused([](Problem& p) { p.V = Matrix::Zero(4, 2); }, {"V is 4 × 2"});
        check_refused([](Problem& p) { p.dO = Matrix::Zero(4, 3); }, {"dO is 4 × 3", "Q is 4 × 4"});
    }
    TEST_CASE("tile sizes, window, scale, element bytes") {
        check_refused([](Problem& p) { p.Br = 0; }, {"Br is 0"});
        check_refused([](Problem& p) { p.Br = INT_MIN; }, {"Br is -2147483648"});
        check_refused([](Problem& p) { p.Bc = -3; }, {"Bc is -3"});
        check_refused([](Problem& p) { p.window = -1; }, {"window is -1"});
        check_refused([](Problem& p) { p.scale = {Scale::Kind::number, NAN}; }, {"scale is NaN"});
        check_refused([](Problem& p) { p.scale = {Scale::Kind::number, INFINITY}; }, {"scale is ∞"});
        for (int bytes : {0, 3, 16, -4})
            check_refused([&](Problem& p) { p.element_bytes = bytes; },
                          {std::to_string(bytes), "1, 2, 4 or 8"});
    }
    TEST_CASE("softcap, slope and sink") {
        for (const double cap : {0.0, -2.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
            check_refused([=](Problem& p) { p.logits.softcap = cap; }, {"softcap is", "above 0"});
        for (const double slope : {-0.5, static_cast<double>(INFINITY), static_cast<double>(NAN)})
            check_refused([=](Problem& p) { p.logits.alibi = slope; }, {"slope is", "0 or more"});
        check_refused([](Problem& p) { p.logits.alibi = 1e300; },
                      {"slope is", "queries and keys it must stay below"});
        for (const double sink : {1e300, static_cast<double>(INFINITY), static_cast<double>(NAN)})
            check_refused([=](Problem& p) { p.logits.sink = sink; }, {"sink is", "between −10³⁰⁰ and"});
        Problem p = worked_example();
        p.logits = {1e-3, 0.0, -700.0};
        CHECK_FALSE(validate(p));
    }
    TEST_CASE("a number that is not finite is named by its place") {
        check_refused([](Problem& p) { p.Q(1, 2) = NAN; }, {"Q[1,2] is NaN"});
        check_refused([](Problem& p) { p.K(3, 0) = INFINITY; }, {"K[3,0] is ∞"});
        check_refused([](Problem& p) { p.V(0, 3) = -INFINITY; }, {"V[0,3] is −∞"});
        check_refused([](Problem& p) { (p.dO = Matrix::Zero(4, 4))->row(2)[1] = NAN; }, {"dO[2,1] is NaN"});
    }
    TEST_CASE("numbers whose products or sums would leave double precision") {
        check_refused([](Problem& p) { p.Q *= 1e200, p.K *= 1e200; }, {"|Q|", "|K|", "overflow"});
        check_refused([](Problem& p) { p.scale = {Scale::Kind::number, 1e305}; }, {"overflow"});
        check_refused([](Problem& p) { p.V *= 1e300; }, {"|V|", "overflow"});
        check_refused(
            [](Problem& p) {
                p.Q *= 1e308, p.K *= 0;
                p.V(0, 0) = 1e308;
            },
            {"overflow"});
    }
    TEST_CASE("what validate lets through gives finite numbers") {
        Problem p = worked_example();
        p.Q *= 1e148;
        p.K *= 1e148;
        p.V *= 1e297;
        REQUIRE_FALSE(validate(p));
        CHECK(flash_forward(p)->result(Slot::O).allFinite());
        CHECK(flash_forward(p)->result(Slot::L).allFinite());
    }
    TEST_CASE("the number of tiles") {
        Problem p = worked_example();
        CHECK(p.Tr() == 2);
        p.Br = 3;
        p.Bc = 5;
        CHECK(p.Tr() == 2);
        CHECK(p.Tc() == 1);
        p.Br = p.Bc = INT_MAX;
        CHECK(p.Tr() == 1);
        CHECK(p.Tc() == 1);
        CHECK(ceil_div(INT_MAX, 1) == INT_MAX);
        CHECK(ceil_div(INT_MAX, INT_MAX - 1) == 2);
        CHECK(ceil_div(1, INT_MAX) == 1);
    }
    TEST_CASE("the largest tile sizes and windows walk like tiles of the matrix's size") {
        for (bool causal : {false, true}) {
            Problem p = worked_example();
            p.causal = causal;
            p.Br = p.Bc = 4;
            const auto expected = flash_forward(p);
            p.Br = p.Bc = INT_MAX;
            p.window = INT_MAX;
            const auto got = flash_forward(p);
            CHECK(got->size() == expected->size());
            CHECK(got->result(Slot::O) == expected->result(Slot::O));
            CHECK(flash_forward.estimate(p) >= static_cast<std::int64_t>(got->bytes()));
        }
    }
    TEST_CASE("scale") {
        CHECK(Scale{}.value(64) == 1);
        CHECK(Scale{Scale::Kind::sqrt, 7}.value(64) == 0.125);
        CHECK(Scale{Scale::Kind::number, -0.3}.value(64) == -0.3);
    }
}

TEST_SUITE("random problem") {
    TEST_CASE("the same numbers for a seed on every machine") {
        // The generator's 10 000th number is fixed by the C++ standard; ours are its remainders modulo 401.
        const Problem p = *random_problem(4, 3, 7);
        std::mt19937_64 engine(7);
        for (const Matrix* A : {&p.Q, &p.K, &p.V, &*p.dO})
            for (Eigen::Index n = 0; n < A->size(); ++n)
                CHECK(A->data()[n] == (static_cast<double>(engine() % 401) - 200) / 100);
        CHECK(p.Q(0, 0) == 1.89);
        CHECK(p.Q(0, 1) == 1.47);
        CHECK((*p.dO)(3, 2) == -0.61);
        CHECK(random_problem(4, 3, 7)->Q == p.Q);
        CHECK(random_problem(4, 3, 8)->Q != p.Q);
    }
    TEST_CASE("numbers are hundredths of [−2, 2], both ends reached, and the problem is valid") {
        const Problem p = *random_problem(200, 20, 1);
        CHECK_FALSE(validate(p));
        CHECK(p.Q.maxCoeff() == 2);
        CHECK(p.Q.minCoeff() == -2);
        CHECK((p.Q * 100 - (p.Q * 100).array().round().matrix()).cwiseAbs().maxCoeff() < 1e-9);
        CHECK(p.scale.kind == Scale::Kind::sqrt);
        CHECK_FALSE(p.title.empty());
        CHECK_FALSE(p.watch.empty());
        for (int n : {1, 2, 8, 9, 32, 33, 128, 129}) CHECK_FALSE(validate(*random_problem(n, 1, 0)));
    }
    TEST_CASE("sizes outside the range are refused with a sentence") {
        for (int n : {0, -1, 4097, INT_MAX, INT_MIN})
            CHECK(random_problem(n, 4, 1).error ==
                  "N is " + std::to_string(n) + "; a random problem has 1 to 4096 rows.");
        for (int d : {0, -1, 1025, INT_MAX, INT_MIN})
            CHECK(random_problem(4, d, 1).error ==
                  "d is " + std::to_string(d) + "; a random problem has 1 to 1024 columns.");
        CHECK(random_problem(1, 1024, UINT64_MAX));
        CHECK(random_problem(4096, 1, 0));
    }
}
