#include "core/class/spoken.h"

#include "core/base/beside_matrix.h"
#include "core/base/words.h"
#include "tests/contains.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/softmax_problems.h"

#include <cmath>
#include <map>
#include <set>
#include <sstream>

using namespace tilewalk::test;

namespace {

// A step of a sound walk, what is said of it, and the numbers that it may say, as texts.
struct Said {
    const Trace& trace;
    int k;
    Explanation e = explain(trace, k);
    std::string text = spoken(trace, k, e);
    double before = maximum(k - 1), now = maximum(k);
    std::set<std::string> numbers = {"0", "1", std::to_string(e.target.row)};

    Said(const Trace& of, int step) : trace(of), k(step) {
        const auto [from, to] = format_apart(before, now);
        numbers.insert({from, to});
        for (const double m : {before, now}) numbers.insert(text_alone(trace.digits(Slot::m), m));
        if (e.target.slot == Slot::count) {
            add_places();
            return;
        }
        numbers.insert({e.result.back().text, std::to_string(e.target.col),
                        format_short(value_at(*holding(trace, e.target, k).value, e.target))});
    }
    // A skipped tile has rows and keys.
    void add_places() {
        const Problem& p = trace.problem();
        const Step& step = trace.step(k);
        for (const int first : {step.i * p.Br, step.j * p.Bc}) numbers.insert(std::to_string(first));
        numbers.insert({std::to_string(step.i * p.Br + rows_of(p, step.i) - 1),
                        std::to_string(step.j * p.Bc + keys_of(p, step.j) - 1)});
    }
    double maximum(int at) const {
        const Held held = trace.live(Slot::m, at);
        const CellRef cell{Slot::m, e.target.row, 0};
        return held && held.value->region.contains(cell.row, 0) ? value_at(*held.value, cell) : -INFINITY;
    }
    bool has(const char* words) const { return contains(text, words); }
};

// The numbers in a text, as they are written: "−0.5", "1.2×10⁻⁵". Indices below a letter are none.
std::vector<std::string> numbers_in(std::string text) {
    for (const char* other : {"[", "]", ",", "–"})
        for (std::size_t at; (at = text.find(other)) != std::string::npos;)
            text.replace(at, std::string_view(other).size(), " ");
    std::vector<std::string> out;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        while (word.ends_with('.') || word.ends_with(':') || word.ends_with(';')) word.pop_back();
        if (read_number(word)) out.push_back(word);
    }
    return out;
}

// The words about a maximum are those of how it moved.
void check_maximum(const Said& s) {
    CHECK_MESSAGE(s.has("no maximum") == (s.now == -INFINITY), s.text);
    CHECK_MESSAGE(s.has("sees its first score") == (s.before == -INFINITY && s.now > s.before), s.text);
    CHECK_MESSAGE(s.has("found a larger score") == (s.before > -INFINITY && s.now > s.before), s.text);
    CHECK_MESSAGE(s.has("found nothing larger") == (s.now > -INFINITY && s.now == s.before), s.text);
}

}  // namespace

TEST_CASE("the steps of the worked example, as one would say them") {
    const auto trace = walk_of(default_lesson(), worked_example());
    const auto say = [&](int k) { return spoken(*trace, k, explain(*trace, k)); };
    CHECK(say(5) == "Row 0 sees its first scores: the maximum starts at 1.");
    CHECK(say(6) == "α is 0.000: whatever row 0 held before, it starts from nothing.");
    CHECK(say(12) == "The best score of row 0 in this tile is 2.");
    CHECK(say(13) ==
          "Row 0 found a larger score: its maximum 1 becomes 2, so its old sum is multiplied by α.");
    CHECK(say(14) == "α is 0.368: the old sum of row 0 keeps that share of its worth.");
    CHECK(say(8) == "The sum begins with the first weights: ℓ[0] is 1.368.");
    CHECK(say(36) == "The old sum counts in full, plus the new weights: ℓ[2] is 2.736.");
    CHECK(say(16) == "The old sum, times α, plus the new weights: ℓ[0] is 1.639.");
    CHECK(say(33) == "Row 2 found nothing larger: the maximum stays 1.");
}

TEST_CASE("one weight is added where a step sees one score, several where it sees a tile") {
    const auto one = walk_of("softmax-1pass", worked_example());
    CHECK(contains(spoken(*one, 11, explain(*one, 11)), "plus the new weight: "));
    CHECK(contains(spoken(*one, 5, explain(*one, 5)), "begins with the first weight: "));
    const auto tiles = walk_of("split-kv", worked_example());
    for (int k = 0; k < tiles->size(); ++k)
        if (tiles->step(k).op == Op::row_sum)
            CHECK(contains(spoken(*tiles, k, explain(*tiles, k)), "weights: "));
}

TEST_CASE("a row that has a word is called by it") {
    Problem p = worked_example();
    p.tokens = {"The", "cat", "sat", "down"};
    const auto trace = walk_of(default_lesson(), p);
    const auto say = [&](int k) { return spoken(*trace, k, explain(*trace, k)); };
    CHECK(say(12) == "The best score of row 0 (“The”) in this tile is 2.");
    CHECK(say(13) ==
          "Row 0 (“The”) found a larger score: its maximum 1 becomes 2, so its old sum is multiplied by α.");
    CHECK(say(33) == "Row 2 (“sat”) found nothing larger: the maximum stays 1.");
}

TEST_CASE("what a sentence says in numbers, the trace says as well") {
    Random random(72);
    std::map<Op, int> checked;
    for (int round = 0; round < 40; ++round)
        for (const char* id :
             {"softmax-3pass", "softmax-2pass", "softmax-1pass", "flash-forward", "flash-forward-v1"}) {
            Problem p = any_row(random, 7);
            if (round == 0) p = worked_example();
            if (round % 2) p.causal = true, p.Br = p.Bc = 2;
            const auto trace = walk_of(id, p);
            for (int k = 0; k < trace->size(); ++k) {
                const Op op = trace->step(k).op;
                // The explanations of the others have numbers of their own.
                if (op != Op::new_max && op != Op::correction && op != Op::exponentials &&
                    op != Op::tile_max && op != Op::skip)
                    continue;
                const Said said(*trace, k);
                if (said.text.starts_with(said.e.title + ": "))
                    continue;  // long numbers leave room for the result alone
                for (const std::string& number : numbers_in(said.text))
                    CHECK_MESSAGE(said.numbers.contains(number), number, " in: ", said.text);
                if (op == Op::new_max) check_maximum(said);
                ++checked[op];
            }
        }
    for (const Op op : {Op::new_max, Op::correction, Op::exponentials, Op::tile_max, Op::skip})
        CHECK_MESSAGE(checked[op] > 10, std::string(name(op)));
}

TEST_CASE("a row that sees no key has no weights that sum to 1") {
    Problem p = causal(worked_example());  // the last query sees the last key: the first two see none
    keep_keys(p, 2);
    for (const Lesson& lesson : lessons()) {
        const auto built = build_trace(lesson, p);
        if (!built) continue;
        for (int k = 0; k < (**built).size(); ++k) {
            const Explanation e = explain(**built, k);
            const Held l = (**built).live(Slot::l, k);
            if (e.target.row >= 2 || !l || l.value->data(0, 0) != 0) continue;
            CHECK_FALSE(contains(spoken(**built, k, e), "sum to 1"));
            CHECK_FALSE(contains(spoken(**built, k, e), "share of the new sum"));
        }
    }
}

TEST_CASE("the numbers of a sentence have the roles that the formula has them for") {
    const auto trace = walk_of(default_lesson(), worked_example());
    const auto told = [&](int k) {
        std::string out;
        const Explanation e = explain(*trace, k);
        for (const Span& span : in_roles(spoken(*trace, k, e), e))
            out += span.role == Role::none ? span.text : "{" + span.text + "}";
        return out;
    };
    CHECK(told(5) == "Row 0 sees its first scores: the maximum starts at {1}.");
    CHECK(told(13) ==
          "Row 0 found a larger score: its maximum {1} becomes {2}, so its old sum is multiplied by α.");
    CHECK(told(14) == "{α} is {0.368}: the old sum of row 0 keeps that share of its worth.");
    CHECK(told(16) == "The old sum, times {α}, plus the new weights: {ℓ}[0] is {1.639}.");
    CHECK(told(3) == spoken(*trace, 3, explain(*trace, 3)));  // query 0, key 0, a tile of 2 × 2
    const Explanation sum = explain(*trace, 16);
    const Line line = in_roles(spoken(*trace, 16, sum), sum);
    CHECK(line[line.size() - 2].role == Role::l);
    for (const Lesson& lesson : lessons()) {
        const auto walk = walk_of(lesson, worked_example());
        for (int k = 0; k < walk->size(); ++k) {
            const Explanation e = explain(*walk, k);
            const std::string said = spoken(*walk, k, e);
            CHECK_MESSAGE(plain(in_roles(said, e)) == said, lesson.id, " ", k);
        }
    }
}

TEST_CASE("a question beside its matrices has the same words, and numbers as near as its digits say") {
    Random random(5);
    int changed = 0, indexed = 0, in_roles = 0;
    for (const Lesson& lesson : lessons())
        for (const Problem& problem : {worked_example(), causal(any_problem(random)), any_problem(random)}) {
            const auto built = build_trace(lesson, problem);
            if (!built) continue;
            for (int k = 0; k < (**built).size(); ++k)
                for (const Gaps gaps : {Gaps::one, Gaps::few})
                    for (const Question& q : questions_before(**built, k, 3, gaps)) {
                        CAPTURE(q.text);
                        const Line line = question_line(q);
                        // "_" has become a subscript.
                        std::string shown, asked = q.text;
                        for (const Span& span : line) {
                            CHECK(!span.text.empty());
                            indexed += span.script == Span::Script::sub;
                            in_roles += span.role != Role::none;
                            shown += span.text;
                        }
                        asked = replaced(replaced(asked, "_old", " old"), "_", "");
                        shown = replaced(shown, "old", " old");
                        for (std::string* text : {&asked, &shown}) *text = replaced(*text, "  ", " ");
                        if (shown == asked) continue;
                        ++changed;
                        for (std::string* text : {&asked, &shown})
                            for (const char* apart : {"\u00A0", "(", ")", "|"})
                                *text = replaced(*text, apart, " ");
                        std::istringstream a(asked), b(shown);
                        std::string word, other;
                        // As many words, and the same but for the digits of their numbers.
                        const auto without_digits = [](std::string text) {
                            for (const char* minus : {"−"})
                                for (std::size_t at; (at = text.find(minus)) != std::string::npos;)
                                    text.erase(at, std::string_view(minus).size());
                            std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
                            return text;
                        };
                        CHECK(std::ranges::count(asked, ' ') == std::ranges::count(shown, ' '));
                        while (a >> word && b >> other) {
                            if (word == other) continue;
                            CHECK(without_digits(word) == without_digits(other));
                            const auto from = numbers_in(word), to = numbers_in(other);
                            REQUIRE_MESSAGE(from.size() == to.size(), word, " became ", other);
                            REQUIRE_MESSAGE(!from.empty(), word, " became ", other);
                            for (std::size_t n = 0; n < from.size(); ++n) {
                                const auto [value, unit] = read_shown(from[n]);
                                const auto [near, step] = read_shown(to[n]);
                                CHECK_MESSAGE(std::abs(value - near) <= .51 * std::max(unit, step), word,
                                              " became ", other);
                            }
                        }
                    }
        }
    CHECK(changed > 20);
    CHECK(indexed > 20);
    CHECK(in_roles > 100);
}
