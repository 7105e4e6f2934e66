// What each example asks its reader to watch must be there to see. Plain loops, nothing of the program's own
// attention, so that a mistake there cannot hide here.
#include "app/io/examples.h"

#include "app/io/embedded.h"
#include "app/io/problem_json.h"
#include "core/lessons/table.h"
#include "tests/core/matrix_of.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tilewalk;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

const Problem& example(const char* name) {
    const Problem* problem = find_example(name);
    REQUIRE(problem);
    return *problem;
}

bool sees(const Problem& p, int r, int c) {
    const int own = r + p.N_kv() - p.N();  // the key that stands where the query stands
    if (p.causal && c > own) return false;
    return !p.window || (c >= own - *p.window && c <= own + *p.window);
}

double score(const Problem& p, int r, int c) {
    if (!sees(p, r, c)) return -inf;
    double sum = 0;
    for (int k = 0; k < p.d(); ++k) sum += p.Q(r, k) * p.K(c, k);
    if (p.scale.kind == Scale::Kind::sqrt) sum /= std::sqrt(p.d());
    return sum;
}

/// Largest score of row r within key tile j.
double tile_max(const Problem& p, int r, int j) {
    double m = -inf;
    for (int c = j * p.Bc; c < std::min((j + 1) * p.Bc, p.N_kv()); ++c) m = std::max(m, score(p, r, c));
    return m;
}

/// Running maximum of row r after key tiles 0 … j; −∞ for j = −1.
double running_max(const Problem& p, int r, int j) {
    double m = -inf;
    for (int t = 0; t <= j; ++t) m = std::max(m, tile_max(p, r, t));
    return m;
}

double alpha(const Problem& p, int r, int j) {
    return std::exp(running_max(p, r, j - 1) - running_max(p, r, j));
}

struct Counts {
    int full = 0, partial = 0, skipped = 0;
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

// Row r of dense attention.
std::vector<double> output_row(const Problem& p, int r) {
    std::vector<double> out(static_cast<std::size_t>(p.d()), 0.0);
    const double m = running_max(p, r, p.Tc() - 1);
    double sum = 0;
    for (int c = 0; c < p.N_kv() && m > -inf; ++c) {
        const double weight = std::exp(score(p, r, c) - m);
        sum += weight;
        for (int k = 0; k < p.d(); ++k) out[static_cast<std::size_t>(k)] += weight * p.V(c, k);
    }
    for (double& x : out) x = sum > 0 ? x / sum : 0;
    return out;
}

long characters(const std::string& text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

TEST_CASE("examples: eleven, in teaching order, each with a short title and something to watch") {
    const char* names[] = {"worked-4x4", "six-by-two-blocks", "max-rises-late",   "max-first",
                           "ties",       "large-logits",      "fully-masked-row", "ragged-7x5",
                           "causal-8",   "window-12",         "six-words"};
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
        const auto trace = build_trace(default_lesson(), p);
        REQUIRE_MESSAGE(trace, p.name);
        const Matrix O = (*trace)->result(Slot::O);
        for (int r = 0; r < p.N(); ++r) {
            const std::vector<double> wanted = output_row(p, r);
            for (int k = 0; k < p.d(); ++k) {
                const double w = wanted[static_cast<std::size_t>(k)];
                CHECK_MESSAGE(std::abs(O(r, k) - w) <= 1e-12 * std::max(1.0, std::abs(w)), p.name, " O[", r,
                              ",", k, "]");
            }
        }
    }
}

TEST_CASE("examples: six-words finds what its sentence says") {
    const Problem& p = example("six-words");
    const Matrix P = test::matrix_of(test::dense_attention(p).P);
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
    CHECK(p.Q == Matrix{{1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}});
    CHECK(p.K == Matrix{{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}});
    CHECK(p.V == Matrix{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}});
    CHECK(p.dO == Matrix{{1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}});
    CHECK(p.Br == 2);
    CHECK(p.Bc == 2);
    CHECK(p.softmax_scale() == 1);
    CHECK(running_max(p, 0, 0) == 1);
    CHECK(running_max(p, 0, 1) == 2);
    CHECK(alpha(p, 0, 1) == doctest::Approx(0.368).epsilon(0.001));
}

TEST_CASE("examples: six-by-two-blocks has two query blocks and three key blocks") {
    const Problem& p = example("six-by-two-blocks");
    CHECK(p.N_kv() == 6);
    CHECK(p.Tr() == 2);
    CHECK(p.Tc() == 3);
    CHECK(count_tiles(p).full == 6);
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
        CHECK(plain == (r < 2 ? inf : 0.0));
        CHECK(std::isnan(std::exp(score(p, r, 0)) / plain));
        CHECK(shifted >= 1);
        CHECK(shifted < p.N_kv());
    }
}

TEST_CASE("examples: fully-masked-row has two rows that see nothing, one in a tile that others see") {
    const Problem& p = example("fully-masked-row");
    for (int r = 0; r < p.N(); ++r) CHECK((running_max(p, r, p.Tc() - 1) == -inf) == (r < 2));
    CHECK(p.N() == 6);
    CHECK(p.N_kv() == 4);
    CHECK(p.causal);
    const Counts counts = count_tiles(p);
    CHECK(counts.skipped == 1);
    CHECK(counts.partial == 2);
    CHECK(counts.full == 1);
    CHECK(tile_max(p, 0, 0) == -inf);
    CHECK(tile_max(p, 2, 0) > -inf);
}

TEST_CASE("examples: ragged-7x5 has one row over on both sides") {
    const Problem& p = example("ragged-7x5");
    CHECK(p.N() == 7);
    CHECK(p.N_kv() == 5);
    CHECK(p.N() % p.Br == 1);
    CHECK(p.N_kv() % p.Bc == 1);
}

TEST_CASE("examples: causal-8 skips 6 of 16 tiles and masks 4") {
    const Problem& p = example("causal-8");
    CHECK(p.N() == 8);
    const Counts counts = count_tiles(p);
    CHECK(counts.skipped == 6);
    CHECK(counts.partial == 4);
    CHECK(counts.full == 6);
    CHECK(p.softmax_scale() == 0.5);
}

TEST_CASE("examples: window-12 skips 21 of 36 tiles, masks 10 and uses 5 whole") {
    const Problem& p = example("window-12");
    CHECK(p.N() == 12);
    const Counts counts = count_tiles(p);
    CHECK(counts.skipped == 21);
    CHECK(counts.partial == 10);
    CHECK(counts.full == 5);
    for (int c = 0; c < 12; ++c) CHECK(sees(p, 7, c) == (c >= 4 && c <= 7));
}
