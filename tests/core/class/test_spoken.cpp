#include "core/class/spoken.h"

#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/softmax/letters.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/softmax_problems.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

TEST_SUITE_BEGIN("spoken");

namespace {

// The words with the numbers in the places of #.
std::string filled(std::string words, const std::vector<std::string>& numbers) {
    std::size_t at = 0;
    for (const std::string& number : numbers) {
        at = words.find('#', at);
        words.replace(at, 1, number);
        at += number.size();
    }
    return words;
}

// One step, and the numbers that a sentence about it may say: taken from the trace, or counted anew.
struct Said {
    const Trace& trace;
    int k;
    Explanation e = explain(trace, k);
    int row = e.target.row;
    bool one = softmax_passes(trace) > 0;
    std::string Row = one ? "The row" : "Row " + std::to_string(row);
    std::string the_row = one ? "the row" : "row " + std::to_string(row);

    double number(Slot slot, int at) const {
        const Held held = trace.live(slot, at);
        return held ? value_at(*held.value, {slot, row, held.value->region.col}) : -INFINITY;
    }
    std::string target() const {
        return plain(e.result).substr(0, plain(e.result).rfind('=')) + "= " +
               format_short(value_at(*trace.live(e.target.slot, k).value, e.target));
    }
    // What all weights of the row sum to after the division by ℓ: 1, if there are any.
    double share() const {
        double sum = 0;
        const Dense dense = dense_attention(trace.problem());
        const double m = number(Slot::m, k), l = number(Slot::l, k);
        for (const long double s : dense.S[static_cast<std::size_t>(row)])
            sum += std::exp(static_cast<double>(s) - m) / l;
        return std::round(sum * 1e9) / 1e9;
    }
};

std::string said_of_maximum(const Said& s) {
    const double old = s.number(Slot::m, s.k - 1), now = s.number(Slot::m, s.k);
    const auto [from, to] = format_apart(old, now);
    if (now == -INFINITY) return s.Row + " has seen no key yet, so there is no maximum.";
    if (old == -INFINITY)
        return filled("# sees its first score#: the maximum starts at #.", {s.Row, s.one ? "" : "s", to});
    if (old == now) return filled("# found nothing larger: the maximum stays #.", {s.Row, to});
    if (softmax_passes(s.trace) == 3)
        return filled("# found a larger score: the maximum goes from # to #.", {s.Row, from, to});
    return filled("# found a larger score: # becomes #, so its old sum shrinks by α.", {s.Row, from, to});
}

std::string said_of_alpha(const Said& s) {
    const std::string alpha = format_short(s.number(Slot::alpha, s.k));
    if (alpha == "1") return "Nothing to correct in " + s.the_row + ": the maximum stayed, and α is 1.";
    if (alpha == "0")
        return filled("α is #: whatever # held before, it starts from nothing.", {alpha, s.the_row});
    return filled("α is #: that is what the old sum of # is still worth.", {alpha, s.the_row});
}

std::string said_of_skip(const Trace& trace, int k) {
    const Problem& p = trace.problem();
    const auto [op, i, j, phase, access, reads, writes, traffic] = trace.step(k);
    const auto range = [](int first, int count, const char* one) {
        const std::string words = one + std::string(count > 1 ? "s " : " ") + std::to_string(first);
        return count > 1 ? words + "–" + std::to_string(first + count - 1) : words;
    };
    CHECK_FALSE(tile_is_needed(p, i, j));
    return filled("No query of # may look at #: nothing is loaded, nothing is computed.",
                  {range(i * p.Br, rows_of(p, i), "row"), range(j * p.Bc, keys_of(p, j), "key")});
}

// The sentence, its numbers from the trace; empty where the explanation speaks for itself.
std::string said(const Said& s) {
    const std::string lesson = s.trace.lesson();
    const bool rebased = lesson == "flash-forward" || lesson == "softmax-1pass" ||
                         (lesson == "softmax-2pass" && s.trace.step(s.k).phase == 0);
    const bool late = lesson != "softmax-1pass" || !s.trace.problem().options.normalised;
    switch (s.trace.step(s.k).op) {
    case Op::new_max: return said_of_maximum(s);
    case Op::correction: return said_of_alpha(s);
    case Op::exponentials: {
        const Matrix& P = s.trace.value(s.trace.writes(s.k).back().value).data;
        CHECK(P.maxCoeff() <= 1);
        return filled("A score becomes a weight: #, and no weight is above 1.", {s.target()});
    }
    case Op::tile_max: {
        const Value& S = *s.trace.live(Slot::S, s.k).value;
        return filled("The best score of # in this tile is #.",
                      {s.the_row, format_short(S.data.row(s.row - S.region.row).maxCoeff())});
    }
    case Op::row_sum:
        return rebased
                   ? filled("The old sum, brought to the new maximum, plus the new weights: #.", {s.target()})
                   : "";
    case Op::output:
        if (!rebased) return "";
        if (late)
            return filled(
                "The old output, brought to the new maximum, plus the new values by their weights: #.",
                {s.target()});
        return s.number(Slot::l, s.k) == 0
                   ? ""
                   : filled("The old average and the new value, each by its share of the new sum: #.",
                            {s.target()});
    case Op::normalize:
        return s.number(Slot::l, s.k) == 0
                   ? ""
                   : filled("One division at the very end: now the weights of # sum to #.",
                            {s.the_row, format_short(s.share())});
    case Op::skip: return said_of_skip(s.trace, s.k);
    default: return "";
    }
}

}  // namespace

TEST_CASE("the steps of the worked example, as one would say them") {
    const auto trace = *build_trace(default_lesson(), worked_example());
    const auto say = [&](int k) { return spoken(*trace, k, explain(*trace, k)); };
    CHECK(say(5) == "Row 0 sees its first scores: the maximum starts at 1.");
    CHECK(say(6) == "α is 0: whatever row 0 held before, it starts from nothing.");
    CHECK(say(12) == "The best score of row 0 in this tile is 2.");
    CHECK(say(13) == "Row 0 found a larger score: 1 becomes 2, so its old sum shrinks by α.");
    CHECK(say(14) == "α is 0.368: that is what the old sum of row 0 is still worth.");
    CHECK(say(16) == "The old sum, brought to the new maximum, plus the new weights: ℓ[0] = 1.639.");
    CHECK(say(33) == "Row 2 found nothing larger: the maximum stays 1.");
}

TEST_CASE("what a sentence says in numbers, the trace says as well") {
    Random random(72);
    std::map<Op, int> checked;
    for (int round = 0; round < 40; ++round)
        for (const Lesson& lesson : lessons()) {
            Problem p = any_row(random, 7);
            if (round == 0) p = worked_example();
            if (round % 2) p.causal = true, p.Br = p.Bc = 2;
            const auto built = build_trace(lesson, p);
            if (!built) continue;
            for (int k = 0; k < (**built).size(); ++k) {
                if (std::string_view(lesson.id) == "softmax-2pass" && (**built).step(k).phase > 0) continue;
                const Said step{**built, k};
                const std::string words = said(step), text = spoken(**built, k, step.e);
                // Long numbers leave room for the result alone.
                if (words.empty() || text.starts_with(step.e.title + ": ")) continue;
                CHECK_MESSAGE(text == words, lesson.id, " ", k);
                ++checked[(**built).step(k).op];
            }
        }
    for (const Op op : {Op::new_max, Op::correction, Op::exponentials, Op::tile_max, Op::row_sum, Op::output,
                        Op::normalize, Op::skip})
        CHECK_MESSAGE(checked[op] > 10, name(op));
}

TEST_CASE("a row that sees no key has no weights that sum to 1") {
    Problem p = worked_example();
    p.K.conservativeResize(2, 4), p.V.conservativeResize(2, 4);
    p.causal = true;  // the last query sees the last key: the first two see none
    for (const Lesson& lesson : lessons()) {
        const auto built = build_trace(lesson, p);
        if (!built) continue;
        for (int k = 0; k < (**built).size(); ++k) {
            const Explanation e = explain(**built, k);
            const Held l = (**built).live(Slot::l, k);
            if (e.target.row >= 2 || !l || l.value->data(0, 0) != 0) continue;
            CHECK_FALSE(spoken(**built, k, e).find("sum to 1") != std::string::npos);
            CHECK_FALSE(spoken(**built, k, e).find("share of the new sum") != std::string::npos);
        }
    }
}

TEST_CASE("every step of every lesson has one short sentence") {
    Random random(71);
    for (int round = 0; round < 4; ++round)
        for (const Lesson& lesson : lessons()) {
            Problem p = round == 0 ? tutorial_backward() : any_problem(random, 6);
            if (round == 2) p.switches.no_max = p.switches.no_correction = p.switches.no_lse = true;
            const auto built = build_trace(lesson, p);
            if (!built) continue;
            for (int k = 0; k < (**built).size(); ++k) {
                const std::string text = spoken(**built, k, explain(**built, k));
                const auto letters = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
                CHECK_MESSAGE(letters <= spoken_letters, text);
                CHECK_MESSAGE(letters > 10, lesson.id, " ", k);
                CHECK_MESSAGE(text.ends_with("."), text);
            }
        }
}

TEST_SUITE_END();
