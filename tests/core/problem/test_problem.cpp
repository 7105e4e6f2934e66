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
    TEST_CASE("an input and its weights") {
        const auto refused = [](const std::function<void(Problem&, Projection&)>& spoil,
                                std::initializer_list<std::string_view> parts) {
            const auto with_input = [&](Problem& p) {
                p.projection = Projection{Matrix::Identity(4, 4), p.Q, p.K, p.V};
                CHECK_FALSE(validate(p));
                spoil(p, *p.projection);
            };
            check_refused(with_input, parts);
        };
        refused([](Problem& p, Projection&) { keep_keys(p, 3); }, {"same tokens", "Q has 4 rows", "K has 3"});
        refused([](Problem&, Projection& w) { w.X = Matrix::Identity(3, 4); },
                {"X is 3 × 4", "row for each row"});
        refused([](Problem&, Projection& w) { w.X.resize(4, 0); }, {"X is 4 × 0"});
        refused([](Problem&, Projection& w) { w.W_K = Matrix::Zero(4, 3); },
                {"W_K is 4 × 3", "must be 4 × 4"});
        refused([](Problem&, Projection& w) { w.W_V = Matrix::Zero(5, 4); }, {"W_V is 5 × 4"});
        refused([](Problem&, Projection& w) { w.X(1, 2) = NAN; }, {"X[1,2] is NaN"});
        refused([](Problem&, Projection& w) { w.W_Q(3, 0) = INFINITY; }, {"W_Q[3,0] is ∞"});
    }
    TEST_CASE("what a lesson reads beside the matrices") {
        for (const int row : {-1, 4})
            check_refused([=](Problem& p) { p.options.row = row; }, {"The row is", "0 to 3"});
        for (const double rate : {2e6, -2e6, static_cast<double>(NAN), static_cast<double>(INFINITY)})
            check_refused([=](Problem& p) { p.options.learning_rate = rate; }, {"learning rate is"});
        check_refused([](Problem& p) { p.tokens = {"one"}; },
                      {"There is 1 token label; expected one for each"});
        check_refused([](Problem& p) { p.tokens = {"a", "b"}; }, {"There are 2 token labels"});
        check_refused(
            [](Problem& p) {
                p.Q = p.K = p.V = Matrix::Ones(1, 4), p.tokens = {"a", "b"};
            },
            {"2 token labels; expected one, or none"});
        for (const int workers : {0, 65})
            check_refused([=](Problem& p) { p.options.workers = workers; }, {"workers; expected 1 to 64"});
        check_refused([](Problem& p) { p.options.splits.assign(65, 0); }, {"65 parts; at most 64"});
        check_refused([](Problem& p) { p.options.splits = {5, -1}; }, {"has -1 keys"});
        check_refused([](Problem& p) { p.options.splits = {2, 1}; }, {"3 keys together, but K has 4"});
        for (const int ranks : {-1, 17})
            check_refused([=](Problem& p) { p.options.ranks = ranks; }, {"ranks; expected 1 to 16"});
        check_refused([](Problem& p) { p.options.ranks = 4, p.options.shards = ShardKind::zigzag; },
                      {"4 ranks with zig-zag shards needs 8", "there are 4 queries"});
        check_refused([](Problem& p) { keep_keys(p, 1), p.options.ranks = 2; }, {"there is one key."});
        for (const int queries : {0, 9})
            check_refused([=](Problem& p) { p.options.queries = queries; }, {"expected 1 to 8"});
        check_refused([](Problem& p) { p.options.row = 2, p.options.queries = 3; },
                      {"From row 2 on Q has 2 rows; 3 queries"});
    }
    TEST_CASE("gradients and new weights that would leave double precision") {
        Problem p = tutorial_backward();
        CHECK_FALSE(validate_gradients(p));
        CHECK_FALSE(validate_update(p));
        *p.dO *= 1e299;
        check_contains(validate_gradients(p).value_or(""), {"|dO|", "would overflow"});
        p = tutorial_backward();
        p.options.learning_rate = 1e6;
        p.projection = Projection{Matrix::Identity(4, 4) * 1e80, p.Q, p.K, p.V};
        check_contains(validate_update(p).value_or(""), {"learning rate 1.00×10⁶", "overflow"});
        p = tutorial_backward();
        p.logits.sink = 1e300;
        check_contains(validate_update(p).value_or(""), {"overflow"});
        p = tutorial_backward();
        p.V *= 1e301, *p.dO *= 1e-300, p.options.learning_rate = 0;
        check_contains(validate_update(p).value_or("(no sentence)"), {"overflow"});
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
