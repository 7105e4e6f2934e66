// What each example asks its reader to watch must be there to see, by the tests' own attention.
#include "app/io/examples.h"

#include "app/io/embedded.h"
#include "app/io/problem_json.h"
#include "core/lessons/table.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace tilewalk::test;

namespace {

const Problem& example(const char* name) {
    const Problem* problem = find_example(name);
    REQUIRE(problem);
    return *problem;
}

double score(const Problem& p, int r, int c) { return static_cast<double>(dense_attention(p).S(r, c)); }

/// Largest score of row r within key tile j.
double tile_max(const Problem& p, int r, int j) {
    const int first = j * p.Bc, keys = std::min(p.Bc, p.N_kv() - first);
    return static_cast<double>(dense_attention(p).S.row(r).segment(first, keys).maxCoeff());
}

/// Running maximum of row r after key tiles 0 … j; −∞ for j = −1.
double running_max(const Problem& p, int r, int j) {
    double m = -INFINITY;
    for (int t = 0; t <= j; ++t) m = std::max(m, tile_max(p, r, t));
    return m;
}

double alpha(const Problem& p, int r, int j) {
    return std::exp(running_max(p, r, j - 1) - running_max(p, r, j));
}

struct Counts {
    int full = 0, partial = 0, skipped = 0;
    bool operator==(const Counts&) const = default;
};
Counts count_tiles(const Problem& p) {
    Counts counts;
    for (int i = 0; i < p.N(); i += p.Br)
        for (int j = 0; j < p.N_kv(); j += p.Bc) {
            int seen = 0, cells = 0;
            for (int r = i; r < std::min(i + p.Br, p.N()); ++r)
                for (int c = j; c < std::min(j + p.Bc, p.N_kv()); ++c) ++cells, seen += sees(p, r, c);
            ++(seen == 0 ? counts.skipped : seen == cells ? counts.full : counts.partial);
        }
    return counts;
}

long characters(const std::string& text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

TEST_CASE("examples: twelve, in teaching order, each with a short title and something to watch") {
    const char* names[] = {"worked-4x4", "gradients-4x4", "six-by-two-blocks", "max-rises-late",
                           "max-first",  "ties",          "large-logits",      "fully-masked-row",
                           "ragged-7x5", "causal-8",      "window-12",         "six-words"};
    REQUIRE(examples().size() == std::size(names));
    for (std::size_t k = 0; k < std::size(names); ++k) {
        const Problem& problem = examples()[k];
        CAPTURE(problem.name);
        CHECK(problem.name == names[k]);
        CHECK(find_example(names[k]) == &problem);
        CHECK(characters(problem.title) > 0);
        CHECK(characters(problem.title) <= 28);
        CHECK(characters(problem.watch) > 20);
        CHECK(characters(problem.watch) <= 110);
        CHECK(problem.d() == 4);
        CHECK(problem.dO);
        CHECK(!validate(problem));
    }
    CHECK(!find_example("none"));
    CHECK(!find_example(""));
}

TEST_CASE("examples: every one walks to the output of dense attention") {
    for (const Problem& p : examples()) {
        const Matrix O = walk_of(default_lesson(), p)->result(Slot::O);
        const Dense dense = dense_attention(p);
        CHECK_MESSAGE(far_off(O, dense.O, tolerance_O(dense)) == "", p.name);
    }
}

TEST_CASE("examples: six-words finds what its sentence says") {
    const Problem& p = example("six-words");
    const Matrix P = matrix_of(dense_attention(p).P);
    CHECK(p.query_token(2) == "sat");
    CHECK(p.key_token(1) == "cat");
    CHECK(p.key_token(5) == "mat");
    for (int other : {0, 2, 3, 4}) {
        CHECK(P(2, 1) > 2 * P(2, other));
        CHECK(P(2, 5) > 2 * P(2, other));
    }
    CHECK(1 / p.Bc != 5 / p.Bc);
    REQUIRE(p.projection);
    CHECK(p.Q == p.projection->X * p.projection->W_Q);
}

TEST_CASE("examples: the files are written as the program itself would write them") {
    for (const EmbeddedFile& file : embedded_examples()) {
        CAPTURE(file.name);
        CHECK(problem_to_json(example(file.name)) == file.text);
    }
}

TEST_CASE("examples: worked-4x4 is the tutorial's, and row 0 rises from 1 to 2") {
    const Problem& p = example("worked-4x4");
    const Problem printed = tutorial_backward();
    CHECK(p.Q == printed.Q);
    CHECK(p.K == printed.K);
    CHECK(p.V == printed.V);
    CHECK(p.dO == printed.dO);
    CHECK(p.Br == 2);
    CHECK(p.Bc == 2);
    CHECK(p.softmax_scale() == 1);
    CHECK(running_max(p, 0, 0) == 1);
    CHECK(running_max(p, 0, 1) == 2);
    CHECK(alpha(p, 0, 1) == doctest::Approx(0.368).epsilon(0.001));
}

TEST_CASE("examples: max-rises-late rises by 6 or more in the last tile of every row") {
    const Problem& p = example("max-rises-late");
    for (int r = 0; r < p.N(); ++r) {
        CHECK(running_max(p, r, p.Tc() - 1) - running_max(p, r, p.Tc() - 2) >= 6);
        CHECK(alpha(p, r, p.Tc() - 1) <= 0.0025);
        CHECK(alpha(p, r, 1) < 1);
    }
}

TEST_CASE("examples: max-first never rescales after the first tile") {
    const Problem& p = example("max-first");
    REQUIRE(p.Tc() == 3);
    for (int r = 0; r < p.N(); ++r)
        for (int j = 1; j < p.Tc(); ++j) {
            CHECK(tile_max(p, r, j) < tile_max(p, r, 0));
            CHECK(alpha(p, r, j) == 1.0);
        }
}

TEST_CASE("examples: ties has each row's maximum in both tiles, and row 3 uniform") {
    const Problem& p = example("ties");
    REQUIRE(p.Tc() == 2);
    for (int r = 0; r < p.N(); ++r) {
        CHECK(tile_max(p, r, 0) == tile_max(p, r, 1));
        CHECK(alpha(p, r, 1) == 1.0);
        bool alike = true;
        for (int c = 1; c < p.N_kv(); ++c) alike = alike && score(p, r, c) == score(p, r, 0);
        CHECK(alike == (r == 3));
    }
}

TEST_CASE("examples: large-logits breaks plain exp and nothing else") {
    const Problem& p = example("large-logits");
    for (int r = 0; r < p.N(); ++r) {
        double plain = 0, shifted = 0;
        for (int c = 0; c < p.N_kv(); ++c) {
            CHECK(std::abs(std::abs(score(p, r, c)) - 1000) <= 5);
            plain += std::exp(score(p, r, c));
            shifted += std::exp(score(p, r, c) - running_max(p, r, p.Tc() - 1));
        }
        CHECK(plain == (r < 2 ? INFINITY : 0.0));
        CHECK(std::isnan(std::exp(score(p, r, 0)) / plain));
        CHECK(shifted >= 1);
        CHECK(shifted < p.N_kv());
    }
}

TEST_CASE("examples: fully-masked-row has two rows that see nothing, one in a tile that others see") {
    const Problem& p = example("fully-masked-row");
    for (int r = 0; r < p.N(); ++r) CHECK((running_max(p, r, p.Tc() - 1) == -INFINITY) == (r < 2));
    CHECK(p.causal);
    CHECK(tile_max(p, 0, 0) == -INFINITY);
    CHECK(tile_max(p, 2, 0) > -INFINITY);
}

TEST_CASE("examples: sizes, and how many of their tiles are whole, cut and skipped") {
    const struct {
        const char* name;
        int N, N_kv, Tr, Tc;
        Counts tiles;
    } wanted[] = {{"six-by-two-blocks", 4, 6, 2, 3, {6, 0, 0}},
                  {"fully-masked-row", 6, 4, 2, 2, {1, 2, 1}},
                  {"ragged-7x5", 7, 5, 3, 3, {9, 0, 0}},
                  {"causal-8", 8, 8, 4, 4, {6, 4, 6}},
                  {"window-12", 12, 12, 6, 6, {5, 10, 21}}};
    for (const auto& [example_name, N, N_kv, Tr, Tc, tiles] : wanted) {
        const char* const name = example_name;
        CAPTURE(name);
        const Problem& p = example(name);
        CHECK(p.N() == N);
        CHECK(p.N_kv() == N_kv);
        CHECK(p.Tr() == Tr);
        CHECK(p.Tc() == Tc);
        CHECK(count_tiles(p) == tiles);
    }
    CHECK(example("ragged-7x5").N() % example("ragged-7x5").Br == 1);
    CHECK(example("ragged-7x5").N_kv() % example("ragged-7x5").Bc == 1);
    CHECK(example("causal-8").softmax_scale() == 0.5);
    for (int c = 0; c < 12; ++c) CHECK(sees(example("window-12"), 7, c) == (c >= 4 && c <= 7));
}

TEST_CASE("examples: gradients-4x4 is the worked example with a gradient at every query") {
    const Problem &p = example("gradients-4x4"), &worked = example("worked-4x4");
    CHECK(p.Q == worked.Q);
    CHECK(p.K == worked.K);
    CHECK(p.V == worked.V);
    for (const char* id : {"backward", "flash-backward"}) {
        const Matrix dQ = walk_of(*find_lesson(id), p)->result(Slot::dQ);
        for (int r = 0; r < p.N(); ++r) CHECK(dQ.row(r).cwiseAbs().maxCoeff() > .01);
    }
}
