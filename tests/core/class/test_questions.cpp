#include "core/class/questions.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "tests/contains.h"
#include "tests/core/class/question_reference.h"
#include "tests/core/lessons/broken.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

bool right(const Question& q, const std::string& typed) {
    return check(q, typed).kind == Verdict::Kind::right;
}
bool wrong(const Question& q, const std::string& typed) {
    return check(q, typed).kind == Verdict::Kind::wrong;
}

// A question may not say in the name of a step how it turns out.
std::string without_outcome(const std::string& title) {
    return title == "The maximum rises" || title == "The maximum stays" ? "New maximum" : title;
}

std::string print(double value, const char* format = "%.10g") {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string where(const Trace& trace, const Question& q) {
    return test::where(trace, q.step) + ": " + q.text + " -> " + answer_text(q);
}

// What the reference answers to a choice, by the names of the choices.
std::set<std::string> chosen_by_reference(const QuestionReference& reference, const Trace& trace,
                                          const Question& q) {
    std::set<std::string> out;
    const Problem& p = trace.problem();
    const int k = q.step;
    switch (q.kind) {
    case Question::Kind::skipped_tiles:
        for (const std::string& name : q.choices) {
            int i = 0, j = 0;
            if (std::sscanf(name.c_str(), "tile (%d, %d)", &i, &j) == 2 && !tile_is_needed(p, i, j))
                out.insert(name);
        }
        return out.empty() ? std::set<std::string>{"none of these"} : out;
    case Question::Kind::maximum_rises: {
        const CellRef cell = q.explanation.target;
        const long double now = reference.value(trace, k, cell);
        // The maximum of before is that of the same row's step before this one, or −∞ where the row begins:
        // in split-kv every split begins anew.
        constexpr long double nothing = -std::numeric_limits<long double>::infinity();
        long double before = nothing;
        for (int n = 0; n < k; ++n) {
            const Step &step = trace.step(n), &asked = trace.step(k);
            if (step.op == Op::init) before = nothing;
            if (step.op == Op::new_max && step.phase <= asked.phase && step.i == asked.i)
                before = reference.value(trace, n, cell);
        }
        return {now > before ? "it rises" : "it stays"};
    }
    case Question::Kind::read_from_hbm: return read_by_code(trace, k);
    default: {
        const std::string title = explain(trace, k).title;
        return {without_outcome(title)};
    }
    }
}

std::string numbers_of(const Question& q, const std::set<std::string>& names) {
    std::string out;
    for (std::size_t n = 0; n < q.choices.size(); ++n)
        if (names.count(q.choices[n])) out += std::to_string(n + 1) + " ";
    return out;
}

void check_choice(const QuestionReference& reference, const Trace& trace, const Question& q) {
    const std::set<std::string> expected = chosen_by_reference(reference, trace, q);
    const std::string answer = numbers_of(q, expected);
    if (!right(q, answer)) FAIL_CHECK("refused ", answer, ": ", where(trace, q));
    CHECK(std::set<std::string>(q.choices.begin(), q.choices.end()).size() == q.choices.size());
    CHECK_MESSAGE((q.several || q.right.size() == 1), where(trace, q));
    for (unsigned set = 1; set < (1u << q.choices.size()); ++set) {
        std::set<std::string> names;
        for (std::size_t n = 0; n < q.choices.size(); ++n)
            if (set >> n & 1) names.insert(q.choices[n]);
        if (names != expected && !wrong(q, numbers_of(q, names)))
            FAIL_CHECK("accepted ", numbers_of(q, names), ": ", where(trace, q));
    }
}

// What an answer may be off by: 3 %, or half a unit in the second digit, which is more for 1.05
// (docs/questions.md).
double near(double expected) {
    const double size = std::abs(expected);
    return size == 0 ? 0 : std::max(0.03 * size, 0.05 * std::pow(10, std::floor(std::log10(size))));
}

// Neighbours of the cell in what the step wrote, beyond what rounding could confuse.
std::vector<double> neighbours(const Trace& trace, const Question& q) {
    std::vector<double> out;
    const CellRef cell = q.explanation.target;
    for (const Access& a : trace.writes(q.step)) {
        const Value& tile = trace.value(a.value);
        if (a.slot != cell.slot || !tile.region.contains(cell.row, cell.col)) continue;
        for (const double v : tile.data.reshaped())
            if (!std::isfinite(v) ? v != q.expected
                                  : !std::isfinite(q.expected) ||
                                        std::abs(v - q.expected) > near(q.expected) * (1 + 1e-9) + q.noise)
                out.push_back(v);
    }
    return out;
}

void check_value(const QuestionReference& reference, const Trace& trace, const Question& q) {
    const double truth = static_cast<double>(reference.value(trace, q.step, q.explanation.target));
    REQUIRE_MESSAGE(!std::isnan(truth), where(trace, q));
    std::vector<std::string> good = {print(truth), print(truth, "%.3g"), format_short(truth, 4)}, bad;
    const double from_text = worked_out_from_given(trace, q);
    good.insert(good.end(), {print(from_text), print(from_text, "%.4g")});
    if (std::isfinite(truth)) {
        std::string comma = print(truth, "%.5g");
        if (const auto point = comma.find('.'); point != std::string::npos) comma[point] = ',';
        good.push_back(comma);
        for (const double factor : {1.03, 0.97, -1.0, 2.0, 10.0}) bad.push_back(print(truth * factor));
        if (std::abs(truth) < q.noise) bad = {"0.01", "-1"};
        for (const double by : {-1.0, 1.0})
            if (std::abs(truth) < 30 || truth == std::round(truth)) bad.push_back(print(truth + by));
        bad.push_back("inf");
        bad.push_back("-inf");
    } else {
        good.push_back("-infinity");
        bad = {"inf", "0", "-1e9", "1"};
    }
    for (const double v : neighbours(trace, q)) bad.push_back(print(v));
    for (const std::string& text : good)
        if (!right(q, text)) FAIL_CHECK("refused ", text, ": ", where(trace, q));
    for (const std::string& text : bad)
        if (!wrong(q, text)) FAIL_CHECK("accepted ", text, ": ", where(trace, q));
}

void check_count(const Trace& trace, const Question& q) {
    const double truth = worked_out_from(q.text);
    std::vector<std::string> good = {print(truth, "%.0f"), print(truth, "%.0f.0")};
    if (q.bytes)
        good.insert(good.end(), {print(truth, "%.0f B"), print(truth / 1e3, "%.3f kB"),
                                 format_count(static_cast<std::int64_t>(truth))});
    for (const std::string& text : good)
        if (!right(q, text)) FAIL_CHECK("refused ", text, ": ", where(trace, q));
    for (const double v : {truth + 1, truth - 1, truth * 2, truth * 1.03, truth * 0.97, -truth, truth / 2})
        if (!wrong(q, print(v))) FAIL_CHECK("accepted ", v, ": ", where(trace, q));
}

// "ℓ[0…1] = (1; 2)" as "ℓ[0]" → "1", "ℓ[1]" → "2"
std::map<std::string, std::string> numbers_given(const std::string& text) {
    std::map<std::string, std::string> out;
    for (const GivenNumber& given : given_by(text)) {
        const std::size_t bracket = given.name.find('[');
        int row = 0, last_row = 0, col = 0, last_col = 0;
        const std::string place = bracket == std::string::npos ? "" : given.name.substr(bracket + 1);
        const std::size_t comma = place.find(',');
        const auto read = [](const std::string& range, int& first, int& last) {
            const std::size_t dots = range.find("…");
            first = last = std::atoi(range.c_str());
            if (dots != std::string::npos)
                last = std::atoi(range.substr(dots + std::string("…").size()).c_str());
        };
        read(place.substr(0, comma), row, last_row);
        if (comma != std::string::npos) read(place.substr(comma + 1), col, last_col);
        std::vector<std::string> values = given.before;
        std::erase(values, "|");
        REQUIRE_MESSAGE(
            values.size() == static_cast<std::size_t>((last_row - row + 1) * (last_col - col + 1)), text);
        for (std::size_t n = 0; n < values.size(); ++n) {
            const int cols = last_col - col + 1, at = static_cast<int>(n);
            out[given.name.substr(0, bracket) + " " + std::to_string(row + at / cols) + " " +
                std::to_string(col + at % cols)] = values[n];
        }
    }
    return out;
}

// What each gap needs stands in the text that is common to all; all right is right, one wrong is not.
void check_gaps(const QuestionReference& reference, const Trace& trace, const Question& q) {
    REQUIRE_MESSAGE(q.gaps.size() >= 2, where(trace, q));
    REQUIRE_MESSAGE(q.gaps.size() <= most_gaps, where(trace, q));
    CHECK_MESSAGE(q.gaps.size() % static_cast<std::size_t>(q.across) == 0, where(trace, q));
    CHECK(q.across <= 4);
    const auto all = numbers_given(q.text);
    std::string typed;
    std::set<std::string> targets;
    for (const Question& gap : q.gaps) {
        check_value(reference, trace, gap);
        targets.insert(gap.target);
        for (const auto& given : numbers_given(gap.text)) {
            REQUIRE_MESSAGE(all.contains(given.first), given.first, " of ", where(trace, gap), " is not in ",
                            q.text);
            CHECK(all.at(given.first) == given.second);
        }
        typed += (typed.empty() ? "" : "; ") + print(gap.expected);
    }
    CHECK(targets.size() == q.gaps.size());
    CHECK_MESSAGE(right(q, typed), where(trace, q));
    CHECK_MESSAGE(wrong(q, "1e9" + typed.substr(typed.find(';'))), where(trace, q));
    CHECK_MESSAGE(check(q, print(q.gaps[0].expected)).kind == Verdict::Kind::unreadable, where(trace, q));
}

void check_question(const QuestionReference& reference, const Trace& trace, const Question& q) {
    CHECK_FALSE(q.text.empty());
    CHECK(q.text.size() < 420);
    if (q.is_choice()) return check_choice(reference, trace, q);
    if (q.kind == Question::Kind::value) return check_value(reference, trace, q);
    if (q.kind == Question::Kind::gaps) return check_gaps(reference, trace, q);
    check_count(trace, q);
}

Problem problem_for(const Lesson& lesson, Random& random) {
    const std::string id = lesson.id;
    Problem p = pick(random, 0, 5) == 0 ? any_problem(random, 7) : gradient_problem(random, 7);
    if (id == "training-step" && pick(random, 0, 1)) p = projected_problem(random);
    if (pick(random, 0, 6) == 0) p = tutorial_backward();
    p.causal = pick(random, 0, 1) == 1;
    if (pick(random, 0, 3) == 0) p.logits = any_logits(random), p.logits.sink.reset();
    choose_rows(random, p);
    p.options.notation = static_cast<Notation>(pick(random, 0, 2));
    p.options.normalised = pick(random, 0, 1) == 1;
    if (pick(random, 0, 1)) p.options.order = BackwardOrder::query_outer;
    if (!lesson.uses(chooses_sequences)) return p;
    choose_sequences(random, p);
    return p;
}

// Calls look(trace) for a problem by chance of each lesson, as often as said.
using MakeProblem = Problem (*)(const Lesson&, Random&);
template <class Look> void every_walk(Random& random, int rounds, Look look, MakeProblem make = problem_for) {
    for (int round = 0; round < rounds; ++round)
        for (const Lesson& lesson : lessons())
            if (const auto built = build_trace(lesson, make(lesson, random))) look(**built);
}
// Calls look(question) for every question of a walk.
template <class Look> void every_question(const Trace& trace, Random& random, Look look) {
    for (int k = 1; k < trace.size(); ++k)
        for (const Question& q :
             questions_before(trace, k, random(), static_cast<Gaps>(pick(random, 0, gaps_count - 1))))
            look(q);
}

}  // namespace

TEST_CASE("no number that a question gives has the name of what it asks for") {
    Random random(62);
    int replaced = 0;
    every_walk(random, 6, [&](const Trace& trace) {
        every_question(trace, random, [&](const Question& q) {
            for (const GivenNumber& given : given_by(q.text)) {
                CHECK_MESSAGE(given.name != q.target, q.text);
                replaced += given.name.find("_old") != std::string::npos;
            }
        });
    });
    CHECK(replaced > 50);
}

TEST_CASE("a thousand questions: the reference answers all, and wrong answers are refused") {
    Random random(61);
    std::map<Question::Kind, int> kinds;
    std::map<std::string, int> values;
    int asked = 0;
    for (int round = 0; asked < 3000; ++round)
        for (const Lesson& lesson : lessons()) {
            const Problem p = problem_for(lesson, random);
            const auto built = build_trace(lesson, p);
            if (!built) continue;
            const Trace& trace = **built;
            const QuestionReference reference(p);
            for (int n = 0; n < 9; ++n) {
                int k = pick(random, 1, trace.size() - 1);
                if (n == 0)  // where a block begins the tiles that are skipped can be asked
                    while (k > 1 && trace.step(k).phase == trace.step(k - 1).phase) --k;
                const auto q =
                    question_before(trace, k, random(), static_cast<Gaps>(pick(random, 0, gaps_count - 1)));
                if (!q) continue;
                ++asked;
                ++kinds[q->kind];
                if (!q->numbers().empty() && !q->exact) ++values[info(q->explanation.target.slot).name];
                check_question(reference, trace, *q);
            }
        }
    MESSAGE(asked, " questions");
    CHECK(asked >= 1000);
    for (int kind = 0; kind <= static_cast<int>(Question::Kind::next_op); ++kind)
        CHECK_MESSAGE(kinds[static_cast<Question::Kind>(kind)] >= 10, "kind ", kind);
    for (const char* slot : {"m", "alpha", "l", "S", "P", "Oi", "dVj", "dP", "dS"})
        CHECK_MESSAGE(values[slot] >= 3, std::string(slot));
}

namespace {

// Numbers with all the digits that a double has, so that the text of a question leaves most of them out.
Matrix long_numbers(Random& random, Eigen::Index rows, Eigen::Index cols, double size) {
    Matrix A(rows, cols);
    for (double& v : A.reshaped()) v = size * pick(random, -1000003, 1000003) / 1000003.0;
    return A;
}

Problem long_problem(const Lesson& lesson, Random& random) {
    Problem p = problem_for(lesson, random);
    p.projection.reset();
    const double size = choose(random, {1, 3, 12});
    for (Matrix* A : {&p.Q, &p.K, &p.V}) *A = long_numbers(random, A->rows(), A->cols(), size);
    p.dO = long_numbers(random, p.Q.rows(), p.Q.cols(), size);
    return p;
}

}  // namespace

TEST_CASE("what is worked out from the numbers in the text is right") {
    Random random(64);
    int asked = 0, from_rounded = 0;
    std::set<std::string> ops;
    const auto check_given = [&](const Trace& trace) {
        every_question(trace, random, [&](const Question& any) {
            for (const Question& q : any.numbers()) {
                if (q.kind != Question::Kind::value) continue;
                const double answer = worked_out_from_given(trace, q);
                ++asked;
                from_rounded += answer != q.expected;
                ops.insert(title(trace.step(q.step).op));
                for (const std::string& text : {print(answer), print(answer, "%.4g")})
                    if (!right(q, text)) FAIL_CHECK("refused ", text, ": ", where(trace, q));
            }
        });
    };
    every_walk(random, 40, check_given, long_problem);
    MESSAGE(asked, " numbers, ", from_rounded, " of them from rounded ones");
    CHECK(from_rounded > 3000);
    CHECK(ops.size() >= 20);
}

TEST_CASE("what nobody works out in the head or on paper is not asked for: fourteen numbers at most, twice "
          "as many for several") {
    // Seven products and the sum before them have fifteen.
    Problem problem = *random_problem(7, 7, 3);
    problem.Br = problem.Bc = 7;
    const auto walk = *build_trace(*find_lesson("flash-backward"), problem);
    const Trace& trace = *walk;
    bool fifteen = false;
    for (int k = 1; k < trace.size(); ++k) {
        fifteen |= explain(trace, k).sources.size() == 15;
        for (const Gaps gaps : {Gaps::one, Gaps::row, Gaps::tile})
            for (const Question& asked : questions_before(trace, k, 7, gaps)) {
                std::set<std::tuple<Slot, int, int>> given;
                for (const Question& q : asked.numbers()) {
                    if (q.kind != Question::Kind::value) continue;
                    INFO(where(trace, q));
                    CHECK(q.explanation.sources.size() <= 14);
                    for (const CellRef& cell : q.explanation.sources)
                        given.insert({cell.slot, cell.row, cell.col});
                }
                CHECK(given.size() <= 28);
            }
    }
    CHECK(fifteen);
}

TEST_CASE("no question says what its step does") {
    Random random(65);
    std::map<std::string, std::set<std::string>> titles;  // of what computes the same
    int rises = 0;
    every_walk(random, 16, [&](const Trace& trace) {
        for (int k = 1; k < trace.size(); ++k) rises += explain(trace, k).title == "The maximum rises";
        every_question(trace, random, [&](const Question& q) {
            if (contains(q.text, "rises")) FAIL_CHECK(where(trace, q));
            if (!q.text.starts_with("Next: ")) return;
            const Slot about = explain(trace, q.step).target.slot;
            titles[std::string(trace.lesson().id) + title(trace.step(q.step).op) + info(about).name].insert(
                q.text.substr(0, q.text.find_first_of(",.")));
        });
    });
    CHECK(rises > 20);
    for (const auto& title_of : titles) CHECK_MESSAGE(title_of.second.size() == 1, title_of.first);
}

TEST_CASE("the softmax lessons ask in the letters of their formulas") {
    Random random(66);
    std::set<std::string> letters;
    every_walk(random, 9, [&](const Trace& trace) {
        if (trace.lesson().chapter != ChapterId::softmax) return;
        every_question(trace, random, [&](const Question& q) {
            for (const GivenNumber& given : given_by(q.text)) {
                const std::string letter = replaced(given.name.substr(0, given.name.find('[')), "_old", "");
                letters.insert(letter);
                if (!contains(plain(q.explanation.formula), letter))
                    FAIL_CHECK(letter, ": ", where(trace, q));
            }
        });
    });
    CHECK(letters.count("a") == 1);
    CHECK(letters.count("P") == 0);
}

TEST_CASE("numbers that differ never look the same") {
    Problem p = worked_example();
    p.Q = Matrix::Constant(2, 1, 1);
    p.K.resize(3, 1);
    p.K << 0.707101, 0.707104, 0.9;
    p.V = Matrix::Constant(3, 1, 2.5);
    p.dO.reset();
    p.Br = p.Bc = 1;
    p.options.row = 0;
    int asked = 0;
    for (const char* id : {"softmax-1pass", "softmax-2pass", "flash-forward"}) {
        const auto trace = walk_of(id, p);
        for (int k = 1; k < trace->size(); ++k)
            for (const Question& q : questions_before(*trace, k))
                for (const GivenNumber& given : given_by(q.text)) {
                    asked += !given.now.empty();
                    CHECK_MESSAGE((given.before != given.now || q.expected == 1), where(*trace, q));
                }
    }
    CHECK(asked >= 6);
}

TEST_CASE("bytes asked for at the end are those of the closed form") {
    Random random(62);
    int compared = 0;
    every_walk(random, 6, [&](const Trace& trace) {
        int last = trace.size() - 1;
        while (last > 1 && trace.step(last).traffic.hbm_read == trace.step(last - 1).traffic.hbm_read) --last;
        for (const Question& q : questions_before(trace, last))
            if (q.kind == Question::Kind::total_read) {
                CHECK(right(q, std::to_string(trace.lesson().model(trace.problem()).hbm_read)));
                ++compared;
            }
    });
    CHECK(compared > 30);
}

namespace {

Question number_question(double expected) {
    Question q;
    q.expected = expected;
    q.target = "O[0,0]";
    q.noise = 1e-9;
    return q;
}

}  // namespace

TEST_CASE("what is mistaken in bytes and FLOPs is what its cause says") {
    Random random(68);
    std::map<std::string, int> seen;
    every_walk(random, 16, [&](const Trace& trace) {
        every_question(trace, random, [&](const Question& q) {
            if (!q.exact) return;
            const int k = q.step;
            const Traffic &now = trace.step(k).traffic, &old = trace.step(k - 1).traffic;
            const bool read = q.kind != Question::Kind::bytes_written;
            double numbers = 0;
            for (const Access& a : read ? trace.reads(k) : trace.writes(k))
                if (info(a.slot).hbm) numbers += static_cast<double>(trace.value(a.value).data.size());
            const double before =
                q.kind == Question::Kind::total_read ? static_cast<double>(old.hbm_read) : 0;
            const double cells = static_cast<double>(trace.value(trace.writes(k)[0].value).data.size()),
                         d = trace.problem().d(), flops = static_cast<double>(now.flops - old.flops);
            for (const WrongAnswer& wrong : q.wrong) {
                CAPTURE(q.text + " " + wrong.cause);
                const std::string begin = wrong.cause.substr(0, wrong.cause.find_first_of(",:;"));
                ++seen[begin];
                CHECK(check(q, print(wrong.value)).cause == wrong.cause);
                if (begin == "These are numbers") CHECK(wrong.value == before + numbers);
                if (begin == "This is what the step alone reads")
                    CHECK(wrong.value == static_cast<double>(now.hbm_read - old.hbm_read));
                if (begin == "Multiplications and additions both count")
                    CHECK(wrong.value == flops - cells * d);
                if (begin == "This is for one number") CHECK(wrong.value == flops / cells);
                if (begin == "This is what they read together")
                    CHECK(wrong.value == static_cast<double>(now.hbm_read - old.hbm_read));
            }
        });
    });
    CHECK(seen.size() == 5);
    for (const auto& cause : seen)
        CHECK_MESSAGE(cause.second > (cause.first == "This is what they read together" ? 2 : 20),
                      cause.first);
}

TEST_CASE("who has the text alone knows which step has just been taken") {
    Random random(69);
    int asked = 0;
    every_walk(random, 4, [&](const Trace& trace) {
        every_question(trace, random, [&](const Question& q) {
            if (q.kind != Question::Kind::next_op && q.kind != Question::Kind::read_from_hbm) return;
            const Explanation e = explain(trace, q.step - 1);
            const std::string title = without_outcome(e.title);
            CHECK_MESSAGE(q.text.starts_with("Just done: " + title), q.text);
            CHECK_MESSAGE((e.place == e.title || contains(q.text, ", " + e.place + ". W")), q.text);
            ++asked;
        });
    });
    CHECK(asked > 200);
}

TEST_CASE("numbers as people type them") {
    const Question q = number_question(13.4402);
    for (const char* text : {"13.44", "13,44", "13.4", "13", "13.4402", " 13.44 ", "+13.44", "1.344e1",
                             "1.344×10^1", "1.344×10¹", "26.88/2", "10 + 3.44", "=13.44", "13.44000"})
        CHECK_MESSAGE(right(q, text), text);
    for (const char* text : {"14", "10", "12.9", "13.6", "-13.44", "134", "1.3", "13.04", "1e1"})
        CHECK_MESSAGE(wrong(q, text), text);
    CHECK(right(number_question(-0.5), "−0.5"));
    CHECK(right(number_question(-0.5), "-.5"));
    CHECK(right(number_question(-0.5), "-1/2"));
    CHECK(right(number_question(0.1353), "exp(−2)"));
    CHECK(right(number_question(0.1353), "e^-2"));
    CHECK(right(number_question(1.0 / 3), "1/3"));
    CHECK(right(number_question(0.001), "1e-3"));
    CHECK(right(number_question(0.000912), "9.12×10⁻⁴"));
    CHECK(right(number_question(2.494), "2 + ln(1.639)"));
    CHECK(right(number_question(0), "0"));
    CHECK(wrong(number_question(0), "0.01"));
    for (const char* text : {"sqrt(4)", "log(e^2)", "2e+0", "20e-1", "0.2E1", "2+tanh(0)", "2×10⁰", "2,000",
                             "--2", "8/2/2", "2^2^0.5^2*0+2"})
        CHECK_MESSAGE(right(number_question(2), text), text);
    for (const char* text : {"-inf", "−∞", "-∞", "-Infinity", " - inf "})
        CHECK_MESSAGE(right(number_question(-std::numeric_limits<double>::infinity()), text), text);
}

TEST_CASE("bytes with and without their unit") {
    Question q = number_question(1536);
    q.exact = q.bytes = true;
    for (const char* text : {"1536", "1536 B", "1,536", "1 536", "1.5 KiB", "1.536 kB", "1536 bytes", "3*512",
                             "1,5 KiB", "1.536e3", "1536.0"})
        CHECK_MESSAGE(right(q, text), text);
    for (const char* text : {"1537", "1535 B", "1500", "1.6 KiB", "1.4 kB", "1.5", "2 KiB", "1.5e3",
                             "1.5e3 B", "1.54×10³", "1536.4"})
        CHECK_MESSAGE(wrong(q, text), text);
    q = number_question(128);
    q.exact = true;
    CHECK(wrong(q, "1.3e2"));
    CHECK(right(q, "1.28e2"));
    CHECK(check(number_question(3), "3 B").kind == Verdict::Kind::unreadable);
}

TEST_CASE("what is no answer gets a sentence") {
    const Question q = number_question(3);
    for (const char* text : {"", "  ", "abc", "1/", "(1", "1..2", "--", "1 2 x", "0/0", "exp", "e^", "nan",
                             "((((((", "3)", "1.2.3", "3e", "sqrt 9", ".", "3,0,0"}) {
        const Verdict verdict = check(q, text);
        CHECK_MESSAGE(verdict.kind == Verdict::Kind::unreadable, text);
        CHECK(verdict.sentence.back() == '.');
    }
    CHECK(check(q, std::string(5000, '(')).kind == Verdict::Kind::unreadable);
    CHECK(check(q, std::string(5000, '-') + "1").kind == Verdict::Kind::unreadable);
    CHECK(check(q, "3." + std::string(41, '0')).kind == Verdict::Kind::unreadable);
    CHECK(right(q, std::string(20, '(') + "3" + std::string(20, ')')));
    Question choice;
    choice.choices = {"a", "b"};
    choice.right = {1};
    CHECK(check(choice, "3").sentence == "Choose by the numbers 1 to 2.");
    CHECK(check(choice, "").kind == Verdict::Kind::unreadable);
    CHECK(check(choice, "2").sentence == "Right: b.");
    CHECK(check(choice, "1").sentence == "You chose a; it is b.");
    CHECK(check(choice, "x").sentence == "Choose by the numbers 1 to 2.");
    CHECK(check(choice, std::vector<int>{}).sentence == "Choose an answer first.");
    choice.choices = {"a", "b", "c"}, choice.right = {0, 2}, choice.several = true;
    choice.causes = {"", "b is one step too far."};
    for (const char* text : {"1 3", "3,1", "1;3;1"}) CHECK(check(choice, text).sentence == "Right: a and c.");
    CHECK(check(choice, "2").cause == "b is one step too far.");
    CHECK(check(choice, "3").cause.empty());
    CHECK(check(choice, "1 2").cause.empty());
    CHECK(tolerance(choice) == 0);
    CHECK(tolerance(number_question(std::numeric_limits<double>::infinity())) == 0);
    CHECK(check(q, "4").sentence == "You typed 4; O[0,0] = 3.");
    // With fewer digits it would be a mystery why this is refused.
    CHECK(check(number_question(0.012487), "0.0124").sentence == "You typed 0.0124; O[0,0] = 0.01249.");
    CHECK(check(number_question(0.10074), "0.102").sentence == "You typed 0.102; O[0,0] = 0.1007.");
}

TEST_CASE("the same seed asks the same, and every question explains itself") {
    const auto trace = walk_of(default_lesson(), worked_example());
    CHECK_FALSE(question_before(*trace, 0));
    std::set<std::string> texts;
    for (int k = 1; k < trace->size(); ++k)
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            const auto q = question_before(*trace, k, seed), again = question_before(*trace, k, seed);
            REQUIRE(q);
            CHECK(q->text == again->text);
            CHECK(q->expected == again->expected);
            CHECK_FALSE(q->explanation.why.empty());
            if (q->kind == Question::Kind::value) CHECK(plain(q->explanation.result).starts_with(q->target));
            texts.insert(q->text);
        }
    CHECK(texts.size() > 60);
}

TEST_CASE("a broken walk is asked about its order and its bytes only, and never about NaN") {
    Random random(63);
    for (const Broken& broken : breakable()) {
        Problem p = broken.of(random_faults(random, gradient_problem(random)));
        p.switches.no_max = p.switches.no_lse = true;
        REQUIRE(breaks(broken.lesson, p));
        every_question(*walk_of(broken.lesson, p), random, [](const Question& q) {
            CHECK(q.kind != Question::Kind::value);
            CHECK(q.kind != Question::Kind::gaps);
            CHECK(q.kind != Question::Kind::maximum_rises);
            CHECK_FALSE(contains(q.text, "NaN"));
        });
    }
}

namespace {

std::vector<Question> numbers_before(const Trace& trace, int k, Gaps gaps, std::uint64_t seed = 0) {
    std::vector<Question> all = questions_before(trace, k, seed, gaps);
    std::erase_if(all, [](const Question& q) { return q.exact || q.is_choice(); });
    return all;
}

}  // namespace

TEST_CASE("gaps: one number, two or three in a row, a row, a tile") {
    const auto trace = walk_of("flash-forward", worked_example());  // tiles of 2 × 2, d = 4
    const int output = nth_step(*trace, Op::output, 1), sum = nth_step(*trace, Op::row_sum, 1);
    const auto targets = [&](int k, Gaps gaps, std::uint64_t seed = 0) {
        std::vector<std::string> out;
        for (const Question& q : numbers_before(*trace, k, gaps, seed))
            for (const Question& gap : q.numbers()) out.push_back(gap.target);
        return out;
    };
    CHECK(targets(output, Gaps::one).size() == 1);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto few = targets(output, Gaps::few, seed);
        CHECK((few.size() == 2 || few.size() == 3));
        for (std::size_t n = 1; n < few.size(); ++n) {  // O[0,1], O[0,2]: beside each other
            CHECK(few[n].substr(0, few[n].find(',')) == few[0].substr(0, few[0].find(',')));
            CHECK(std::atoi(few[n].c_str() + few[n].find(',') + 1) ==
                  std::atoi(few[n - 1].c_str() + few[n - 1].find(',') + 1) + 1);
        }
        CHECK(targets(output, Gaps::row, seed).size() == 4);
    }
    CHECK(targets(output, Gaps::tile) == std::vector<std::string>{"O[0,0]", "O[0,1]", "O[0,2]", "O[0,3]",
                                                                  "O[1,0]", "O[1,1]", "O[1,2]", "O[1,3]"});
    CHECK(targets(sum, Gaps::row) == std::vector<std::string>{"ℓ[0]", "ℓ[1]"});
    const Question q = numbers_before(*trace, output, Gaps::tile).at(0);
    CHECK(q.across == 4);
    CHECK(q.target == "O[0…1,0…3]");
    CHECK(contains(q.text, "V[2…3,0…3]"));
    // No tile that is too large is asked for, but a part of it.
    Problem p = *random_problem(6, 3, 7);
    p.Br = p.Bc = 6;
    const auto wide = walk_of("flash-forward", p);
    for (const Question& big : numbers_before(*wide, nth_step(*wide, Op::exponentials), Gaps::tile))
        CHECK(big.numbers().size() <= 3);
}

TEST_CASE("a wrong number is explained by what was probably done") {
    const struct {
        const char* lesson;
        Op op;
        int nth;
        const char* typed;
        const char* cause;
    } cases[] = {
        {"flash-forward", Op::row_sum, 1, "2.503", "α is missing"},
        {"flash-forward", Op::row_sum, 1, "1.135", "The old sum is missing"},
        {"flash-forward", Op::correction, 1, "2.718", "The sign is turned round"},
        {"softmax-1pass", Op::row_sum, 0, "1e9", ""},
        {"flash-forward", Op::new_max, 1, "1", "This is the maximum of before"},
    };
    for (const auto& [lesson, op, nth, typed, cause] : cases) {
        const auto trace = walk_of(lesson, worked_example());
        const auto asked = numbers_before(*trace, nth_step(*trace, op, nth), Gaps::one);
        REQUIRE(asked.size() == 1);
        const Verdict verdict = check(asked[0], typed);
        CHECK(verdict.kind == Verdict::Kind::wrong);
        CHECK_MESSAGE(verdict.cause.starts_with(cause), verdict.cause);
        CHECK(verdict.cause.empty() == (*cause == 0));
    }
    const auto trace = walk_of("flash-forward", worked_example());
    const Question sum = numbers_before(*trace, nth_step(*trace, Op::row_sum, 1), Gaps::one).at(0);
    CHECK(check(sum, "2.503").working ==
          (sum.target == "ℓ[0]" ? "1.368 + (1.000 + 0.135) = 2.503" : "1.368 + (0.135 + 1.000) = 2.503"));
    const Question q = numbers_before(*trace, nth_step(*trace, Op::output, 1), Gaps::row).at(0);
    const std::string first = answer_text(q.gaps[0]), second = answer_text(q.gaps[1]);
    const auto each = check_each(q, {second, first, answer_text(q.gaps[2]), "x"});
    REQUIRE(each.size() == 4);
    CHECK(each[0].cause == "This is " + q.gaps[1].target + ", another of the numbers that are asked for.");
    CHECK(each[2].kind == Verdict::Kind::right);
    CHECK(together(q, each).sentence.starts_with(q.gaps[3].target + ": "));
    CHECK(check(q, second + ";" + first + ";" + answer_text(q.gaps[2]) + ";" + answer_text(q.gaps[3]))
              .sentence == "2 of 4 are right.");
    // All of them, one, none
    CHECK(answer_text(q) == answer_text(q.gaps[0]) + "; " + answer_text(q.gaps[1]) + "; " +
                                answer_text(q.gaps[2]) + "; " + answer_text(q.gaps[3]));
    CHECK(check(q, answer_text(q)).sentence == "All 4 are right.");
    CHECK(check(q, answer_text(q.gaps[0]) + ";1e6;1e6;1e6").sentence == "1 of 4 is right.");
    CHECK(check(q, "1e6;1e6;1e6;1e6").sentence == "None of 4 are right.");
    CHECK(contains(check(q, answer_text(q.gaps[0])).sentence, "Type a number first"));
}

TEST_CASE("the alternatives to the next step are close by, and none of them would do as well") {
    // Neither needs the other, so that either may come first. Only FlashAttention-2 divides at the end.
    const std::set<std::set<Op>> exchangeable = {{Op::correction, Op::exponentials},
                                                 {Op::dv, Op::dp},
                                                 {Op::dq, Op::dk},
                                                 {Op::recompute, Op::dp}},
                                 of_flash_2 = {{Op::row_sum, Op::output}};
    Random random(67);
    int asked = 0, dividing = 0, loading = 0, skipping_one = 0;
    every_walk(random, 6, [&](const Trace& trace) {
        for (int k = 1; k < trace.size(); ++k)
            for (const Question& q : questions_before(trace, k)) {
                if (q.kind != Question::Kind::next_op) continue;
                ++asked;
                CHECK(q.choices.size() >= 3);
                const Op own = trace.step(k).op;
                for (std::size_t n = 0; n < q.choices.size(); ++n) {
                    if (static_cast<int>(n) == q.right[0]) continue;
                    int nearest = 2 * trace.size();
                    for (int other = 0; other < trace.size(); ++other) {
                        const std::string title = explain(trace, other).title;
                        if (without_outcome(title) != q.choices[n]) continue;
                        if (std::abs(other - k) < std::abs(nearest - k)) nearest = other;
                    }
                    REQUIRE_MESSAGE(nearest < trace.size(), q.choices[n], " ", where(trace, q));
                    const Op op = trace.step(nearest).op;
                    CHECK_MESSAGE(std::abs(nearest - k) < 12, q.choices[n], " ", where(trace, q));
                    CHECK_MESSAGE(op != own, where(trace, q));
                    CHECK_MESSAGE(op != trace.step(k - 1).op, where(trace, q));
                    const bool same_tile = trace.step(nearest).i == trace.step(k).i &&
                                           trace.step(nearest).j == trace.step(k).j && nearest > k;
                    const std::set<Op> both = {own, op};
                    const bool either = exchangeable.contains(both) ||
                                        (&trace.lesson() == &forward() && of_flash_2.contains(both));
                    if (same_tile && either) FAIL_CHECK(q.choices[n], " would do as well: ", where(trace, q));
                    dividing += op == Op::normalize || op == Op::divide;
                    loading += info(op).kind == OpKind::load;
                    skipping_one += nearest == k + 1;
                }
            }
    });
    MESSAGE(asked, " asked, ", dividing, " could divide, ", loading, " load, ", skipping_one,
            " leave one out");
    CHECK(asked > 300);
    CHECK(dividing > 20);
    CHECK(loading > 20);
    CHECK(skipping_one > 100);
}

TEST_CASE("no product with a row of the identity is asked for: its answer would stand in the question") {
    const Lesson& lesson = *find_lesson("training-step");
    const auto asked = [&](const Problem& p) {
        const auto trace = lesson.build(p);
        int numbers = 0;
        for (int k = 1; k < trace->size(); ++k) {
            const Op op = trace->step(k).op;
            if (op != Op::project && op != Op::weight_gradient) continue;
            for (std::uint64_t seed = 0; seed < 12; ++seed)
                for (const Question& q : questions_before(*trace, k, seed)) {
                    if (q.kind != Question::Kind::value) continue;
                    ++numbers;
                    // The sum has more than one product that is not 0.
                    INFO(q.text);
                    CHECK(q.text.find(" = (0;\u00A01;\u00A00") == std::string::npos);
                }
        }
        return numbers;
    };
    Problem p = *random_problem(4, 3, 7);
    CHECK(asked(p) == 0);  // X = I
    const Problem drawn = *random_problem(4, 3, 8);
    p.projection = Projection{drawn.Q, drawn.K.topRows(3), drawn.V.topRows(3), drawn.Q.topRows(3)};
    project(p);
    CHECK(asked(p) > 20);
}
