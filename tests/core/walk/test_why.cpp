// The sentences are true: what each `why` claims is worked out here from the stored values alone.
#include "core/lessons/forward/forward.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <cmath>
#include <set>

using namespace tilewalk::test;

namespace {

double at(const Held& held, int row, int col = 0) {
    return held.value->data(row - held.value->region.row, col - held.value->region.col);
}

std::vector<Problem> problems() {
    std::vector<Problem> out{worked_example()};
    std::mt19937_64 random(11);
    for (int n = 0; n < 120; ++n) out.push_back(any_problem(random));
    Problem zeros = worked_example();  // every score ties
    zeros.scale = {Scale::Kind::number, 0.0};
    out.push_back(zeros);
    return out;
}

// Calls check(trace, step, row, explanation) for every row of every step with that op, in all problems.
template <class Check> void each_row(Op op, Check check) {
    for (const Problem& p : problems()) {
        const auto trace = flash_forward(p);
        for (const int k : steps_of(*trace, op)) {
            const Region tile = trace->value(trace->writes(k).front().value).region;
            for (int r = tile.row; r < tile.row + tile.rows; ++r) {
                INFO(where(*trace, k), ", row ", r);
                check(*trace, k, r, explain(*trace, k, cell_of_row(*trace, k, r)));
            }
        }
    }
}

// The row maximum before and after the tile of step k, read from the two values that the slot m had.
struct Maxima {
    double before, after;
};
Maxima maxima(const Trace& trace, int k, int row) {
    const Held now = trace.live(Slot::m, k), then = trace.live(Slot::m, now.step - 1);
    return {at(then, row), at(now, row)};
}

// Holds sentences, of each kind until the first that is not as expected: one changed word prints a few lines.
class Sentences {
public:
    void check(const std::string& kind, const std::string& why,
               std::initializer_list<std::string_view> parts) {
        if (!wrong_.contains(kind) && !check_contains(why, parts)) wrong_.insert(kind);
    }

private:
    std::set<std::string> wrong_;
};

}  // namespace

TEST_SUITE("the reasons") {
    TEST_CASE(
        "a maximum that starts, rises, stays or is not there yet is said to do so, of the right query") {
        int seen[4] = {}, wrong_kinds = 0;
        Sentences sentences;
        for (Op op : {Op::new_max, Op::correction, Op::row_sum, Op::output})
            each_row(op, [&](const Trace& trace, int k, int row, const Explanation& e) {
                const auto [before, after] = maxima(trace, k, row);
                const int kind = std::isinf(after) ? 3 : std::isinf(before) ? 2 : after > before ? 1 : 0;
                static const char* const words[4][4] = {
                    {"stays", "did not change", "did not rise", "did not rise"},
                    {"rises from", "takes that back", "brings the old sum", "brings the old output"},
                    {"starts at", "starts here", "empty start", "empty start"},
                    {"has not seen", "has seen no key", "still sees no key", "still sees no key"}};
                const int column = op == Op::new_max      ? 0
                                   : op == Op::correction ? 1
                                   : op == Op::row_sum    ? 2
                                                          : 3;
                const std::string of = std::string(name(op)) + " " + std::to_string(kind);
                sentences.check(of, e.why, {words[kind][column]});
                // "query 1" or "Query 1"
                sentences.check(of + ", its query", e.why, {"uery " + std::to_string(row)});
                if (e.kind != kind && ++wrong_kinds == 1) CHECK(e.kind == kind);
                ++seen[kind];
            });
        for (int kind : seen) CHECK(kind > 0);
    }

    TEST_CASE("negative maxima stand in brackets behind a minus sign") {
        int negative = 0;
        Sentences sentences;
        each_row(Op::row_sum, [&](const Trace& trace, int k, int row, const Explanation& e) {
            CHECK_FALSE(contains(e.why, "− −"));
            const auto [before, after] = maxima(trace, k, row);
            if (std::isinf(before) || after <= before || after >= 0) return;
            sentences.check("negative", e.why, {" − (−"});
            ++negative;
        });
        CHECK(negative > 0);
    }

    TEST_CASE("the key with the highest score is named, and ties name every key") {
        int ties = 0;
        Sentences sentences;
        each_row(Op::tile_max, [&](const Trace& trace, int k, int row, const Explanation& e) {
            const Held S = trace.live(Slot::S, k);
            std::vector<int> best;
            double most = -INFINITY;
            for (int c = S.value->region.col; c < S.value->region.col + S.value->region.cols; ++c) {
                if (at(S, row, c) > most) most = at(S, row, c), best.clear();
                if (at(S, row, c) == most) best.push_back(c);
            }
            if (std::isinf(most)) {
                sentences.check("none", e.why, {"hides every key"});
            } else if (S.value->region.cols == 1) {
                sentences.check("one", e.why, {"has one key"});
            } else if (best.size() == 1) {
                sentences.check("highest", e.why, {"with key " + std::to_string(best[0]) + "."});
            } else if (best.size() > 3) {
                sentences.check("many", e.why, {std::to_string(best.size()) + " keys tie"});
            } else {
                ++ties;
                sentences.check("few", e.why,
                                {std::to_string(best.front()) + (best.size() == 2 ? " and " : ", "),
                                 "and " + std::to_string(best.back()) + " tie"});
            }
        });
        CHECK(ties > 0);
    }

    TEST_CASE("an overflow is announced only where exp of the score would overflow") {
        Problem p = worked_example();
        p.scale = {Scale::Kind::number, 700};
        const auto large = flash_forward(p);
        int over = 0, under = 0;
        for (const int k : steps_of(*large, Op::exponentials)) {
            const Value& S = *large->live(Slot::S, k).value;
            every_cell(Slot::P, S.region, [&](const CellRef& cell) {
                const bool overflows = std::isinf(std::exp(value_at(S, cell)));
                CHECK(contains(explain(*large, k, cell).why, "would overflow") == overflows);
                ++(overflows ? over : under);
            });
        }
        CHECK(over > 0);
        CHECK(under > 0);
    }

    TEST_CASE("a skipped tile names its own queries and keys, also in a ragged tail") {
        Problem p = causal(*random_problem(7, 2, 3));
        p.Br = 3, p.Bc = 4;
        const auto trace = flash_forward(p);
        const std::vector<int> skipped = steps_of(*trace, Op::skip);
        CHECK_FALSE(skipped.empty());
        for (const int k : skipped) {
            const Step& step = trace->step(k);
            const auto range = [](int first, int last) {
                return first == last ? " " + std::to_string(first)
                                     : "s " + std::to_string(first) + "–" + std::to_string(last);
            };
            const std::string why = explain(*trace, k).why;
            check_contains(why, {"row" + range(step.i * 3, std::min(step.i * 3 + 2, 6)),
                                 "key" + range(step.j * 4, std::min(step.j * 4 + 3, 6))});
        }
    }

    TEST_CASE("loads say how often a block is read, and whether any key block will follow") {
        Problem one = worked_example();
        one.Br = 4;
        check_contains(explain(*flash_forward(one), 2).why, {"each is read once"});
        check_contains(explain(*flash_forward(worked_example()), 2).why, {"reads it again"});
        Problem blind = causal(*random_problem(4, 2, 1));
        keep_keys(blind, 1);
        blind.Br = 1;
        const auto trace = flash_forward(blind);
        check_contains(explain(*trace, 0).why, {"hides every key block"});
        check_contains(explain(*trace, trace->size() - 1).why, {"leave the chip"});
        const auto worked = flash_forward(worked_example());
        const std::vector<int> stores = steps_of(*worked, Op::store);
        REQUIRE(stores.size() == 2);
        check_contains(explain(*worked, stores[0]).why, {"again, as exp(S − L)"});
        check_contains(explain(*worked, stores[1]).why, {"all of both is in HBM now"});
    }

    TEST_CASE("a changed example says so and no longer says what to watch") {
        Problem p = worked_example();
        p.name = "worked-4x4", p.title = "4 × 4", p.watch = "the second tile";
        mark_changed(p);
        mark_changed(p);
        CHECK(p.title == "4 × 4 (changed)");
        CHECK(p.name.empty());
        CHECK(p.watch.empty());
    }
}
