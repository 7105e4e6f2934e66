// Conditions typed as text, held against the same question asked in C++, and what a bad text gets told.
#include "core/walk/condition.h"

#include "core/lessons/table.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/good.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

// Some element that step k writes to the slot passes.
bool any(const Trace& t, int k, Slot slot, const std::function<bool(double)>& passes) {
    for (const Access& a : t.writes(k)) {
        if (a.slot != slot) continue;
        const Matrix& A = t.value(a.value).data;
        for (int n = 0; n < A.size(); ++n)
            if (passes(A.data()[n])) return true;
    }
    return false;
}

using Asked = std::function<bool(const Trace&, int)>;
// Of one slot, or of two that are called the same.
Asked some(Slot slot, const std::function<bool(double)>& passes, Slot other = Slot::count) {
    return [=](const Trace& t, int k) { return any(t, k, slot, passes) || any(t, k, other, passes); };
}

struct Case {
    const char* text;
    Asked expected;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> table = {
        {"alpha < 1", some(Slot::alpha, [](double v) { return v < 1; })},
        {"i == 1 && j == 2", [](const Trace& t, int k) { return t.step(k).i == 1 && t.step(k).j == 2; }},
        {"m > 5 || isnan(S)",
         [](const Trace& t, int k) {
             return any(t, k, Slot::m, [](double v) { return v > 5; }) ||
                    any(t, k, Slot::S, [](double v) { return std::isnan(v); });
         }},
        {"op == scores", [](const Trace& t, int k) { return t.step(k).op == Op::scores; }},
        {"op != scores", [](const Trace& t, int k) { return t.step(k).op != Op::scores; }},
        {"op==loss||loss>=0",
         [](const Trace& t, int k) {
             return t.step(k).op == Op::loss || any(t, k, Slot::loss, [](double v) { return v >= 0; });
         }},
        {"isinf(S)", some(Slot::S, [](double v) { return std::isinf(v); })},
        {"m == -inf", some(Slot::m, [](double v) { return v == -INFINITY; })},
        {"step >= 7", [](const Trace&, int k) { return k + 1 >= 7; }},
        {"7<=step", [](const Trace&, int k) { return k + 1 >= 7; }},
        // Both the weights before the division and those after it are called P in files.
        {"0.5 >= P", some(
                         Slot::Prob, [](double v) { return v <= 0.5; }, Slot::P)},
        {"l != 0", some(Slot::l, [](double v) { return v != 0; })},
        {"i == j", [](const Trace& t, int k) { return t.step(k).i == t.step(k).j; }},
        {"O > step",
         [](const Trace& t, int k) { return any(t, k, Slot::O, [&](double v) { return v > k + 1; }); }},
        {"!(i == 0) && !j == 1", [](const Trace& t, int k) { return t.step(k).i != 0 && t.step(k).j != 1; }},
        // && binds tighter than ||
        {"i == 0 || i == 1 && j == 1",
         [](const Trace& t, int k) { return t.step(k).i == 0 || (t.step(k).i == 1 && t.step(k).j == 1); }},
        {"(i == 0 || i == 1) && j == 1",
         [](const Trace& t, int k) { return (t.step(k).i == 0 || t.step(k).i == 1) && t.step(k).j == 1; }},
        {"  ( ( S > -1.5e0 ) )  ", some(Slot::S, [](double v) { return v > -1.5; })},
        {"m_tile < .25", some(Slot::m_tile, [](double v) { return v < .25; })},
        // The letters of the screen.
        {"α < 1", some(Slot::alpha, [](double v) { return v < 1; })},
        {"ℓ>1 || δ > 1 || d′ > 1", some(
                                       Slot::l, [](double v) { return v > 1; }, Slot::l_hbm)},
        {"m\u0303 < .25", some(Slot::m_tile, [](double v) { return v < .25; })},
        {"P\u0303 <= 0.5", some(
                               Slot::P, [](double v) { return v <= .5; }, Slot::E)},
        {"p == 1 || a == 1", some(
                                 Slot::P, [](double v) { return v == 1; }, Slot::Prob)},
        {"o′ < 0 || isnan(ω)", some(Slot::Oi, [](double v) { return v < 0 || std::isnan(v); })},
        {"1 < 2", [](const Trace&, int) { return true; }},
        {"-1 == 1", [](const Trace&, int) { return false; }},
    };
    return table;
}

std::vector<Problem> problems() {
    Random random(3);
    std::vector<Problem> out = {worked_example(), tutorial_backward()};
    for (int n = 0; n < 12; ++n) out.push_back(any_problem(random, 7));
    return out;
}

std::string error_of(std::string_view text) {
    const Result<Condition> parsed = parse_condition(text);
    INFO(std::string(text));
    CHECK(!parsed);
    return parsed.error;
}

}  // namespace

TEST_SUITE("condition") {
    TEST_CASE("a text means what the same question in C++ means, at every step of every lesson") {
        std::vector<int> hits(cases().size());
        for (const Problem& p : problems())
            for (const Lesson& lesson : lessons()) {
                const auto trace = build_trace(lesson, p);
                if (!trace) continue;
                for (std::size_t n = 0; n < cases().size(); ++n) {
                    const Condition condition = good(parse_condition(cases()[n].text));
                    CHECK(condition.text() == cases()[n].text);
                    for (int k = 0; k < (*trace)->size(); ++k) {
                        const bool holds = condition.holds(**trace, k);
                        hits[n] += holds;
                        INFO(std::string(cases()[n].text)
                             << " in " << std::string(lesson.id) << ", step " << k + 1);
                        CHECK(holds == cases()[n].expected(**trace, k));
                    }
                }
            }
        for (std::size_t n = 0; n < hits.size(); ++n) {
            INFO(std::string(cases()[n].text));
            CHECK((hits[n] > 0) == (std::string_view(cases()[n].text) != "-1 == 1"));
        }
    }

    TEST_CASE("a bad text gets one sentence with the place") {
        const std::pair<const char*, const char*> table[] = {
            {"", "column 1: expected a number or a name, found the end"},
            {"alpha < <", "column 9: expected a number or a name, found '<'"},
            {"alpha <", "column 8: expected a number or a name, found the end"},
            {"alpha", "column 6: expected one of < <= > >= == !=, found the end"},
            {"alpha = 1", "column 7: '=' compares nothing; did you mean ==?"},
            {"op=scores", "column 3: '=' compares nothing; did you mean ==?"},
            {"alpah < 1", "column 1: there is no slot or value 'alpah'"},
            {"β < 1", "column 1: there is no slot or value 'β'"},
            {"é < 1", "column 1: expected a number or a name, found 'é'"},
            {"m > 1 ℓ", "column 7: expected &&, || or the end, found 'ℓ'"},
            {"i == 1 & j == 2", "column 8: expected &&, || or the end, found '&'"},
            {"(i == 1", "column 8: expected &&, || or ')', found the end"},
            {"i == 1)", "column 7: expected &&, || or the end, found ')'"},
            {"op == score", "column 7: there is no op 'score'"},
            {"op < scores", "column 4: op is compared with == or != only"},
            {"op == 3", "column 7: expected the name of an op, such as scores, found '3'"},
            {"scores == op", "column 1: there is no slot or value 'scores'"},
            {"1 == op", "column 6: op stands on the left: op == scores"},
            {"m > l", "column 5: a slot is compared with a number, not with another slot"},
            {"isnan S", "column 7: expected '(', found 'S'"},
            {"isnan(3)", "column 7: expected the name of a slot, found '3'"},
            {"isinf(S", "column 8: expected ')', found the end"},
            {"m > 1e999", "column 5: expected a number or a name, found '1e999'"},
            {"!", "column 2: expected a number or a name, found the end"},
            {"m > -", "column 5: expected a number or a name, found '-'"},
        };
        for (const auto& [text, sentence] : table) CHECK(error_of(text) == sentence);
        // A character is quoted if it is one: no half of it, none longer than need be, none beyond the last.
        for (const char* one : {"é", "€", "中", "\uD7FF", "\uE000", "😀", "\xF4\x8F\xBF\xBF"})
            CHECK(error_of(std::string(one) + " < 1") ==
                  "column 1: expected a number or a name, found '" + std::string(one) + "'");
        for (const char* none :
             {"\x01", "\x7F", "\xC2", "\xC2\x9F", "\xC1\xBF", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
              "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x98", "\xFF"})
            CHECK(error_of(std::string(none) + " < 1") == "column 1: expected a number or a name, found '?'");
        CHECK(error_of(std::string(1001, ' ')) == "it has more than 1000 bytes");
        CHECK(contains(error_of(std::string(1000, '(')), "too many parentheses"));
        CHECK(contains(error_of(std::string(1000, '!')), "too many parentheses"));
    }

    TEST_CASE("no text brings it down") {
        Random random(9);
        const auto trace = *build_trace(default_lesson(), worked_example());
        const char* const pieces[] = {"alpha", "m",  "op",   "scores", "isnan", "(",   ")",  "<",
                                      "<=",    "&&", "||",   "!",      "==",    "1.5", "-2", "i",
                                      "j",     "&",  "\xce", "é",      "ℓ",     "′",   " ",  "step",
                                      "1e400", "-",  ".",    "inf",    "nan",   "\0",  "\n", "isinf"};
        int parsed = 0;
        for (int n = 0; n < 20000; ++n) {
            std::string text;
            if (n % 2) text = cases()[static_cast<std::size_t>(n / 2) % cases().size()].text;
            for (int m = pick(random, 0, n % 2 ? 3 : 8); m > 0; --m) {
                const auto at = static_cast<std::size_t>(pick(random, 0, static_cast<int>(text.size())));
                if (pick(random, 0, 2) == 0)
                    text.erase(at, 1);
                else if (pick(random, 0, 9))
                    text.insert(at, pieces[pick(random, 0, static_cast<int>(std::size(pieces)) - 1)]);
                else
                    text.insert(at, 1, static_cast<char>(pick(random, -128, 127)));
            }
            const auto condition = parse_condition(text);
            CHECK(condition.error.empty() == static_cast<bool>(condition));
            if (!condition) {
                CHECK(condition.error.starts_with("column "));
                continue;
            }
            ++parsed;
            // What it answers to nonsense does not matter.
            for (int k = 0; k < trace->size(); k += 5) condition->holds(*trace, k);
        }
        CHECK(parsed > 100);
    }
}
