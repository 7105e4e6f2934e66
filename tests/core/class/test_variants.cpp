#include "core/class/variants.h"

#include "core/lessons/table.h"
#include "core/problem/mask.h"
#include "tests/contains.h"
#include "tests/core/class/question_reference.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/broken.h"
#include "tests/part.h"

#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <numeric>
#include <set>

using namespace tilewalk::test;

namespace {

using Kind = Question::Kind;

std::vector<AskedOfAll> variants(const VariantsWanted& wanted) {
    auto made = make_variants(wanted);
    REQUIRE_MESSAGE(made, made.error);
    return std::move(*made);
}

VariantsWanted wanted_of(const Lesson& lesson, int count, std::uint64_t seed = 7) {
    return {&lesson, worked_example(), {}, count, seed};
}

void check_answer(const Lesson& lesson, const Variant& variant) {
    const Question& q = variant.question;
    CAPTURE(q.text);
    if (q.is_choice()) return;
    if (q.exact) {
        CHECK(q.expected == worked_out_from(q.text));
        CHECK(tolerance(q) == 0);
        return;
    }
    const auto walk = walk_of(lesson, variant.problem);
    const Trace& trace = *walk;
    const long double truth = QuestionReference(trace.problem()).value(trace, q.step, q.explanation.target);
    CHECK(std::abs(static_cast<double>(truth) - q.expected) <= 1e-12 * std::max(1.0, std::abs(q.expected)));
    // Who has nothing but the text and writes three digits is right, and twice as far off nobody is.
    const double worked_out = worked_out_from_given(trace, q);
    CHECK(std::abs(three_digits(worked_out) - q.expected) <= tolerance(q));
    CHECK(tolerance(q) > 0);
    CHECK(tolerance(q) < 0.01 * std::abs(q.expected));
}

void check_rises(const Question& q) {
    // "… m[1] is −0.05, and m̃[1] is −2.02; does …"
    const std::string marks[] = {" is ", ", and ", " is ", "; does"};
    std::size_t at[4], from = q.text.find(". m") + 1;
    for (int n = 0; n < 4; ++n) from = at[n] = q.text.find(marks[n], from + 1);
    REQUIRE(at[3] != std::string::npos);
    const auto number = [&](std::size_t begin, std::size_t end) {
        std::string text = q.text.substr(begin + 4, end - begin - 4);
        if (text.starts_with("−")) text.replace(0, std::string("−").size(), "-");
        return std::atof(text.c_str());
    };
    CHECK(q.right == std::vector{number(at[2], at[3]) > number(at[0], at[1]) ? 0 : 1});
}

using Numbers = std::vector<double>;

// What a mistake makes of the numbers that the text gives, in their order; `now` of the one that has two.
struct Given {
    std::vector<Numbers> g;
    double now = 0, scale = 1, rate = 0;
    int d = 0;
    double one(std::size_t n) const { return g.at(n).at(0); }
    double sum(std::size_t n) const { return std::accumulate(g.at(n).begin(), g.at(n).end(), 0.0); }
    double dot(std::size_t a, std::size_t b) const {
        REQUIRE(g.at(a).size() == g.at(b).size());
        return std::inner_product(g[a].begin(), g[a].end(), g[b].begin(), 0.0);
    }
    double most() const { return *std::ranges::max_element(g.at(0)); }
    double weights(double m) const {
        return std::accumulate(g.at(0).begin(), g.at(0).end(), 0.0,
                               [m](double sum, double score) { return sum + std::exp(score - m); });
    }
    double weighted(double m) const {
        REQUIRE(g.at(0).size() == g.at(1).size());
        double out = 0;
        for (std::size_t n = 0; n < g[0].size(); ++n) out += std::exp(g[0][n] - m) * g[1][n];
        return out;
    }
    double products() const { return g.size() == 2 ? dot(0, 1) : one(0); }
};

double as_number(const std::string& text) { return static_cast<double>(read_number(text).value().value); }

Given read_given(const Trace& trace, const Question& q) {
    Given out;
    out.d = trace.problem().d();
    char before = 0;  // parts of one quantity belong together: m_old, m₁
    const Op op = trace.step(q.step).op;
    for (const GivenNumber& given : given_by(q.text)) {
        Numbers values;
        for (const std::string& text : given.before) values.push_back(as_number(text));
        const bool same =
            given.name[0] == before && (op == Op::part || (op >= Op::merge_max && op <= Op::merge_output));
        before = given.name[0];
        if (given.name == "scale")
            out.scale = values.at(0);
        else if (given.name == "η")
            out.rate = values.at(0);
        else if (same)
            out.g.back().insert(out.g.back().end(), values.begin(), values.end());
        else
            out.g.push_back(values);
        if (!given.now.empty()) out.now = as_number(given.now[0]);
    }
    return out;
}

struct Mistake {
    const char* ops;       ///< names of them, or part of them
    std::size_t operands;  ///< 0: any number
    const char* cause;     ///< how the sentence begins
    double (*value)(const Given&);
};

constexpr Mistake mistakes[] = {
    {"scores", 0, "No scale belongs", [](const Given& n) { return n.products() / std::sqrt(n.d); }},
    {"scores scale", 0, "The scale is missing", [](const Given& n) { return n.products(); }},
    {"scores scale", 0, "The scale is 1/√d", [](const Given& n) { return n.products() / n.d; }},
    {"max", 1, "This is the smallest", [](const Given& n) { return *std::ranges::min_element(n.g[0]); }},
    {"max", 1, "The sign counts", [](const Given& n) { return *std::ranges::min_element(n.g[0]); }},
    {"new_max", 2, "This is the maximum of before", [](const Given& n) { return n.one(0); }},
    {"new_max", 2, "This is ", [](const Given& n) { return n.one(1); }},
    {"correction", 1, "The sign is turned", [](const Given& n) { return std::exp(n.now - n.one(0)); }},
    {"correction", 1, "This is the exponent", [](const Given& n) { return n.one(0) - n.now; }},
    {"correction", 1, "α is 1", [](const Given&) { return 1.0; }},
    {"exponentials recompute", 1, "This is the exponent", [](const Given& n) { return n.one(0); }},
    {"exponentials recompute", 1, "The sign is turned", [](const Given& n) { return std::exp(-n.one(0)); }},
    {"exponentials recompute", 2, "This is the exponent", [](const Given& n) { return n.one(0) - n.one(1); }},
    {"exponentials recompute", 2, "The sign is turned",
     [](const Given& n) { return std::exp(n.one(1) - n.one(0)); }},
    {"exponentials recompute", 2, "m is missing", [](const Given& n) { return std::exp(n.one(0)); }},
    {"exponentials recompute", 2, "L is missing", [](const Given& n) { return std::exp(n.one(0)); }},
    {"row_sum", 2, "The sum so far", [](const Given& n) { return n.one(1); }},
    {"row_sum", 3, "α is missing", [](const Given& n) { return n.one(1) + n.sum(2); }},
    {"row_sum", 3, "The old sum", [](const Given& n) { return n.sum(2); }},
    {"row_sum", 3, "α multiplies", [](const Given& n) { return n.one(0) * (n.one(1) + n.sum(2)); }},
    // softmax: o, V, a; o′, V, α, p; o′, V, α, d′, p
    {"output", 3, "The output so far", [](const Given& n) { return n.one(1) * n.one(2); }},
    {"output-row", 4, "α is missing", [](const Given& n) { return n.one(0) + n.one(1) * n.one(3); }},
    {"output-row", 4, "The output so far is missing", [](const Given& n) { return n.one(1) * n.one(3); }},
    {"output-row", 5, "α is missing",
     [](const Given& n) { return (n.one(0) * n.one(3) + n.one(4) * n.one(1)) / n.now; }},
    {"output-row", 5, "The output so far is missing",
     [](const Given& n) { return n.one(4) * n.one(1) / n.now; }},
    {"output-row", 5, "The output so far is divided",
     [](const Given& n) { return n.one(0) * n.one(2) + n.one(4) * n.one(1) / n.now; }},
    // tiled: α, O, P̃, V; α, ℓ, O, P̃, V
    {"output-tile", 4, "α is missing", [](const Given& n) { return n.one(1) + n.dot(2, 3); }},
    {"output-tile", 4, "The old output is missing", [](const Given& n) { return n.dot(2, 3); }},
    {"output-tile", 4, "α multiplies", [](const Given& n) { return n.one(0) * (n.one(1) + n.dot(2, 3)); }},
    {"output-tile", 5, "α is missing",
     [](const Given& n) { return (n.one(1) * n.one(2) + n.dot(3, 4)) / n.now; }},
    {"output-tile", 5, "The old output is missing", [](const Given& n) { return n.dot(3, 4) / n.now; }},
    {"output-tile", 5, "α multiplies",
     [](const Given& n) { return n.one(0) * (n.one(1) * n.one(2) + n.dot(3, 4)) / n.now; }},
    {"output-tile", 5, "The division",
     [](const Given& n) { return n.one(0) * n.one(1) * n.one(2) + n.dot(3, 4); }},
    {"output-tile", 5, "The old output was",
     [](const Given& n) { return (n.one(0) * n.one(2) + n.dot(3, 4)) / n.now; }},
    {"part", 2, "The division is missing", [](const Given& n) { return n.weighted(n.most()); }},
    {"part", 2, "This is divided too early",
     [](const Given& n) { return n.weighted(n.most()) / n.weights(n.most()); }},
    {"part", 2, "The maximum of the part", [](const Given& n) { return n.weighted(0); }},
    {"merge_max", 1, "This is the smallest",
     [](const Given& n) { return *std::ranges::min_element(n.g[0]); }},
    {"merge_max", 1, "The sign counts", [](const Given& n) { return *std::ranges::min_element(n.g[0]); }},
    // The part's own one comes first, what all are measured from last.
    {"merge_weights", 0, "The sign is turned",
     [](const Given& n) { return std::exp(n.g.back().back() - n.one(0)); }},
    {"merge_weights", 0, "This is the exponent", [](const Given& n) { return n.one(0) - n.g.back().back(); }},
    {"merge_sum", 2, "The weights are missing", [](const Given& n) { return n.sum(1); }},
    {"merge_sum", 2, "It is not divided", [](const Given& n) { return n.dot(0, 1) / n.sum(0); }},
    {"merge_output", 2, "The weights are missing", [](const Given& n) { return n.sum(1); }},
    {"merge_output", 2, "It is not divided", [](const Given& n) { return n.dot(0, 1) / n.sum(0); }},
    {"merge_lse", 1, "L is a logarithm", [](const Given& n) { return n.sum(0); }},
    {"merge_lse", 1, "This is the largest alone",
     [](const Given& n) { return *std::ranges::max_element(n.g[0]); }},
    {"divide normalize", 2, "This is the number before", [](const Given& n) { return n.one(0); }},
    {"divide normalize", 2, "It is divided", [](const Given& n) { return n.one(0) * n.one(1); }},
    {"divide", 2, "The division", [](const Given& n) { return std::exp(n.one(0)); }},
    {"divide", 2, "exp is missing", [](const Given& n) { return n.one(0) / n.one(1); }},
    {"divide", 3, "The division", [](const Given& n) { return std::exp(n.one(0) - n.one(1)); }},
    {"divide", 3, "exp is missing", [](const Given& n) { return n.one(0) / n.one(2); }},
    {"divide", 3, "The maximum", [](const Given& n) { return std::exp(n.one(0)) / n.one(2); }},
    {"store", 2, "The logarithm is missing", [](const Given& n) { return n.one(0) + n.one(1); }},
    {"store", 2, "The maximum", [](const Given& n) { return std::log(n.one(1)); }},
    {"store", 2, "The logarithm of ℓ is added", [](const Given& n) { return n.one(0) - std::log(n.one(1)); }},
    {"store", 2, "The natural logarithm is meant, not that to the base 10",
     [](const Given& n) { return n.one(0) + std::log(n.one(1)) / std::log(10); }},
    {"store", 2, "The natural logarithm is meant, not that to the base 2",
     [](const Given& n) { return n.one(0) + std::log(n.one(1)) / std::log(2); }},
    {"ds", 3, "The sign of D", [](const Given& n) { return n.one(0) * (n.one(1) + n.one(2)); }},
    {"ds", 3, "D is missing", [](const Given& n) { return n.one(0) * n.one(1); }},
    {"ds", 3, "The product", [](const Given& n) { return n.one(1) - n.one(2); }},
    {"dq dk", 2, "The scale", [](const Given& n) { return n.dot(0, 1); }},
    {"dq dk", 3, "The scale", [](const Given& n) { return n.one(0) + n.dot(1, 2); }},
    {"dq dk dv", 3, "What the tiles", [](const Given& n) { return n.scale * n.dot(1, 2); }},
    {"update", 2, "The sign", [](const Given& n) { return n.one(0) + n.rate * n.one(1); }},
    {"update", 2, "The learning rate", [](const Given& n) { return n.one(0) - n.one(1); }},
    {"update", 2, "This is the number before", [](const Given& n) { return n.one(0); }},
};

// Causes that need a number which the text does not give.
constexpr const char* from_elsewhere[] = {
    "This is measured from the old maximum", "This is measured from the maximum of the tile alone",
    "This is divided by ℓ too early", "Rows and columns are exchanged", " is not transposed"};

std::string as_typed(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%#.10g", value);  // 1.2 would stand for all from 1.15 to 1.25
    return text;
}

// The numbers in the text have four digits; so a mistake made with them may be off by about a thousandth.
void check_wrong(const Trace& trace, const Question& q, std::set<std::string>& seen) {
    const Given given = read_given(trace, q);
    std::string op = name(trace.step(q.step).op);
    if (op == "output" && given.g.size() > 3)
        op += trace.lesson().chapter == ChapterId::softmax ? "-row" : "-tile";
    for (const WrongAnswer& wrong : q.wrong) {
        CAPTURE(op + ": " + q.text + " " + wrong.cause);
        CHECK(wrong.cause.ends_with("."));
        // Needs a number that the text does not give.
        const bool elsewhere = std::ranges::any_of(
            from_elsewhere, [&](const char* words) { return contains(wrong.cause, words); });
        CHECK(check(q, as_typed(wrong.value)).cause == wrong.cause);
        const std::string sign = contains(wrong.working, " ≈ ") ? "≈" : "=";
        if (const std::size_t at = wrong.working.find(" " + sign + " "); at != std::string::npos) {
            const auto result = read_number(wrong.working.substr(at + sign.size() + 2));
            REQUIRE(result);
            const std::string fault =
                fault_of(wrong.working.substr(0, at), sign, *result, wrong.value == std::round(wrong.value));
            CHECK_MESSAGE(fault.empty(), wrong.working, ": ", fault);
        }
        if (elsewhere) {
            seen.insert(wrong.cause);
            continue;
        }
        const auto meant = std::ranges::find_if(mistakes, [&](const Mistake& mistake) {
            const bool its_op = op == "row_max" || op == "tile_max" ? mistake.ops == std::string("max")
                                                                    : contains(mistake.ops, op);
            return its_op && (mistake.operands == 0 || mistake.operands == given.g.size()) &&
                   wrong.cause.starts_with(mistake.cause);
        });
        CHECK(meant != std::end(mistakes));
        if (meant == std::end(mistakes)) continue;
        seen.insert(meant->ops + std::to_string(meant->operands) + meant->cause);
        double size = std::abs(wrong.value);
        for (const Numbers& numbers : given.g)
            for (const double v : numbers) size = std::max(size, std::abs(v));
        CHECK(std::abs(meant->value(given) - wrong.value) <= 2e-3 * std::max(size, std::abs(wrong.value)));
    }
    // Told apart from the right answer and from each other.
    for (std::size_t n = 0; n < q.wrong.size(); ++n) {
        CHECK(std::abs(q.wrong[n].value - q.expected) > tolerance(q));
        for (std::size_t other = 0; other < n; ++other) CHECK(q.wrong[n].value != q.wrong[other].value);
    }
}

}  // namespace

namespace {

// Returns how many answers there were.
int check_five_hundred(const Lesson& lesson) {
    int answers = 0;
    test::Part part("TILEWALK_QUESTIONS", 3);
    const auto all = variants(wanted_of(lesson, 500));
    CAPTURE(std::string(lesson.id));
    CHECK(all.size() >= 5);
    for (const AskedOfAll& asked : all) {
        std::set<std::string> texts;
        std::set<double> expected;
        CHECK((asked.variants.size() == 500 || asked.same_for_all()));
        for (const Variant& variant : asked.variants) {
            const Question& q = variant.question;
            CHECK(q.step == asked.step);
            CHECK(q.kind == asked.variants[0].question.kind);
            CHECK(q.target == asked.variants[0].question.target);
            texts.insert(q.text);
            expected.insert(q.expected);
            if (part.takes()) check_answer(lesson, variant);
            if (q.kind == Kind::maximum_rises) check_rises(q);
            ++answers;
        }
        CHECK(texts.size() == asked.variants.size());
        if (!asked.variants[0].question.is_choice() && !asked.same_for_all()) CHECK(expected.size() > 20);
    }
    return answers;
}

// Every fourth lesson, so that they run side by side
void check_a_quarter(std::size_t which) {
    int answers = 0;
    for (std::size_t n = which; n < lessons().size(); n += 4)
        answers += check_five_hundred(lessons()[n].get());
    MESSAGE(answers, " answers");
    CHECK(answers > 7500);
}

}  // namespace

TEST_CASE("five hundred variants of every lesson: the dense reference gives every answer, 1 of 4") {
    check_a_quarter(0);
}

TEST_CASE("five hundred variants of every lesson: the dense reference gives every answer, 2 of 4") {
    check_a_quarter(1);
}

TEST_CASE("five hundred variants of every lesson: the dense reference gives every answer, 3 of 4") {
    check_a_quarter(2);
}

TEST_CASE("five hundred variants of every lesson: the dense reference gives every answer, 4 of 4") {
    check_a_quarter(3);
}

TEST_CASE("a likely wrong answer is what its cause says") {
    std::set<std::string> seen;
    for (const Lesson& lesson : lessons())
        for (const Scale::Kind kind : {Scale::Kind::none, Scale::Kind::sqrt})
            for (const bool normalised : {true, false})
                for (const bool masked : {true, false}) {
                    if (masked && lesson.uses(chooses_sequences)) continue;
                    VariantsWanted wanted = wanted_of(lesson, 12, masked);
                    wanted.shape.scale.kind = kind;
                    wanted.shape.causal = masked;
                    wanted.shape.options.normalised = normalised;
                    if (normalised) wanted.shape.options.parts = PartForm::normalised;
                    wanted.shape.options.row = 3;
                    for (const AskedOfAll& asked : variants(wanted))
                        for (const Variant& variant : asked.variants)
                            if (variant.question.kind == Kind::value)
                                check_wrong(*walk_of(lesson, variant.problem), variant.question, seen);
                }
    for (const Mistake& mistake : mistakes)
        CHECK_MESSAGE(seen.count(mistake.ops + std::to_string(mistake.operands) + mistake.cause) == 1,
                      std::string(mistake.ops), ": ", std::string(mistake.cause));
    for (const char* words : from_elsewhere)
        CHECK_MESSAGE(std::ranges::any_of(seen, [&](const std::string& one) { return contains(one, words); }),
                      words);
}

TEST_CASE("mistakes that need more than the text gives") {
    for (const AskedOfAll& asked : variants(wanted_of(forward(), 40)))
        for (const Variant& variant : asked.variants) {
            const auto trace = walk_of(forward(), variant.problem);
            const Question& q = variant.question;
            const CellRef cell = q.explanation.target;
            for (const WrongAnswer& wrong : q.wrong) {
                if (wrong.cause.starts_with("This is measured from the old maximum")) {
                    const Dense dense = dense_attention(variant.problem);
                    const double old = static_cast<double>(dense.S.row(cell.row).head(2).maxCoeff());
                    CHECK(wrong.value ==
                          doctest::Approx(std::exp(static_cast<double>(dense.S(cell.row, cell.col)) - old)));
                }
                if (wrong.cause.starts_with("This is measured from the maximum of the tile alone")) {
                    const Dense dense = dense_attention(variant.problem);
                    const double tile = static_cast<double>(dense.S.row(cell.row).segment(2, 2).maxCoeff());
                    CHECK(wrong.value ==
                          doctest::Approx(std::exp(static_cast<double>(dense.S(cell.row, cell.col)) - tile)));
                }
                if (const std::size_t at = wrong.cause.find("exchanged: this is "); at != std::string::npos) {
                    int row = 0, col = 0;
                    CHECK(std::sscanf(wrong.cause.c_str() + wrong.cause.find('['), "[%d,%d]", &row, &col) ==
                          2);
                    const Region tile = step_region(*trace, q.step);
                    CHECK(row - tile.row == cell.col - tile.col);
                    CHECK(col - tile.col == cell.row - tile.row);
                    const QuestionReference reference(variant.problem);
                    CHECK(wrong.value == doctest::Approx(static_cast<double>(
                                             reference.value(*trace, q.step, {cell.slot, row, col}))));
                }
                if (wrong.cause.starts_with("This is divided by ℓ too early")) {
                    const QuestionReference reference(variant.problem);
                    // Behind the row sum and before the output of one tile.
                    const auto l = reference.value(*trace, q.step - 1, {Slot::l, cell.row, 0});
                    CHECK(wrong.value == doctest::Approx(q.expected / static_cast<double>(l)));
                }
            }
        }
}

TEST_CASE("dS that was not transposed") {
    int seen = 0;
    for (const AskedOfAll& asked : variants(wanted_of(*find_lesson("backward"), 40)))
        for (const auto& [problem, q] : asked.variants)
            for (const WrongAnswer& wrong : q.wrong) {
                if (!wrong.cause.starts_with("dS is not transposed")) continue;
                ++seen;
                const CellRef cell = q.explanation.target;
                const DenseGradients gradients = dense_gradients(problem, *problem.dO);
                const Matrix dS = gradients.dS.cast<double>();
                CHECK(wrong.value == doctest::Approx(problem.softmax_scale() *
                                                     dS.row(cell.row).dot(problem.Q.col(cell.col))));
            }
    CHECK(seen >= 20);
}

TEST_CASE("two questions about one step have different problems") {
    int pairs = 0;
    for (const Lesson& lesson : lessons()) {
        const auto all = variants(wanted_of(lesson, 3));
        for (const AskedOfAll& a : all)
            for (const AskedOfAll& b : all) {
                if (&a == &b || a.step != b.step || a.same_for_all() || b.same_for_all()) continue;
                ++pairs;
                for (std::size_t n = 0; n < a.variants.size(); ++n)
                    CHECK_FALSE(a.variants[n].problem.Q == b.variants[n].problem.Q);
            }
    }
    CHECK(pairs >= 2);
}

TEST_CASE("the output of a part says whether it is divided, and each number of parts has one name") {
    VariantsWanted wanted = wanted_of(*find_lesson("merge"), 2);
    wanted.shape.options.splits = {1, 1, 1, 1};
    wanted.shape.options.merge = MergeOrder::pairs;
    for (const PartForm form : {PartForm::sums, PartForm::normalised}) {
        wanted.shape.options.parts = form;
        const std::string says =
            std::string(form == PartForm::normalised ? " be, " : " be, not ") + "divided by the sum";
        int outputs = 0;
        for (const Gaps gaps : {Gaps::one, Gaps::row}) {
            wanted.gaps = gaps;
            for (const AskedOfAll& asked : variants(wanted))
                for (const Variant& variant : asked.variants) {
                    const Question& q = variant.question;
                    CAPTURE(q.text);
                    CHECK_FALSE(contains(q.text, "_i["));
                    if (q.explanation.target.slot != Slot::O_part || q.exact) continue;
                    const auto trace = walk_of(*wanted.lesson, variant.problem);
                    const bool part = trace->step(q.step).op == Op::part;
                    CHECK(contains(q.text, says) == part);
                    CHECK(contains(asked.title, "divided by") == part);
                    outputs += part;
                }
        }
        CHECK(outputs > 0);
    }
}

TEST_CASE("the same seed gives the same variants, another seed others") {
    const auto a = variants(wanted_of(forward(), 4)), b = variants(wanted_of(forward(), 4)),
               c = variants(wanted_of(forward(), 4, 8)), more = variants(wanted_of(forward(), 9));
    REQUIRE(a.size() == b.size());
    for (std::size_t n = 0; n < a.size(); ++n)
        for (std::size_t v = 0; v < a[n].variants.size(); ++v) {
            CHECK(a[n].variants[v].question.text == b[n].variants[v].question.text);
            // Who comes late to the course changes nothing for the others.
            CHECK(a[n].variants[v].question.text == more[n].variants[v].question.text);
        }
    CHECK(a[1].variants[0].question.text != c[1].variants[0].question.text);
}

TEST_CASE("numbers are multiples of a tenth, and the shape stays") {
    Random random(5);
    for (int round = 0; round < 50; ++round) {
        const Problem shape = any_problem(random);
        const Problem p = with_other_numbers(shape, random());
        CHECK(p.N() == shape.N());
        CHECK(p.N_kv() == shape.N_kv());
        CHECK(p.d() == shape.d());
        CHECK(p.Br == shape.Br);
        CHECK(p.Bc == shape.Bc);
        CHECK(p.causal == shape.causal);
        CHECK(p.window == shape.window);
        CHECK(p.scale == shape.scale);
        for (const Matrix* A : {&p.Q, &p.K, &p.V, &*p.dO})
            for (const double v : A->reshaped()) {
                CHECK(std::abs(v) <= 1.5);
                CHECK(v == std::round(v * 10) / 10);
            }
    }
}

TEST_CASE("no variant of one step is easier than the others: α is 1 in none") {
    VariantsWanted wanted = wanted_of(forward(), 300);
    wanted.step = nth_step(*walk_of(forward(), wanted.shape), Op::row_sum, 1);
    for (wanted.seed = 1; wanted.seed <= 4; ++wanted.seed) {
        const AskedOfAll first = variants(wanted).at(0);
        for (const Variant& variant : first.variants) {
            const Question& q = variant.question;
            CHECK_MESSAGE(contains(q.text, "α["), q.text);
            CHECK_MESSAGE(!contains(q.text, "]\u00A0=\u00A01,"), q.text);
            CHECK_MESSAGE(q.wrong.size() >= 3, q.text);
        }
    }
}

TEST_CASE("one step alone, or a sentence") {
    VariantsWanted wanted = wanted_of(forward(), 5);
    const int sum = nth_step(*walk_of(forward(), wanted.shape), Op::row_sum, 1);
    wanted.step = sum;
    const auto one = variants(wanted);
    REQUIRE(one.size() == 1);
    CHECK(one[0].step == sum);
    CHECK(one[0].variants.size() == 5);
    CHECK(one[0].title == "Row sum, tile (0, 1), " + one[0].variants[0].question.target);

    const auto refused = [&](auto change, const char* part) {
        VariantsWanted bad = wanted_of(forward(), 5);
        change(bad);
        const auto made = make_variants(bad);
        CHECK(!made);
        CHECK_MESSAGE(contains(made.error, part), made.error);
    };
    refused([](VariantsWanted& w) { w.step = 0; }, "There is no question about step 1");
    refused([](VariantsWanted& w) { w.step = 40; }, "from 1 to 40");
    refused([](VariantsWanted& w) { w.shape.switches.no_max = true; }, "--break");
    refused([](VariantsWanted& w) { w.shape.precision.scores = Format::bf16; }, "--precision");
    refused([](VariantsWanted& w) { keep_keys(w.shape, 0); }, "K");
    refused([](VariantsWanted& w) { w.shape.Q = Matrix::Zero(17, 4); }, "16 rows");
    refused(
        [](VariantsWanted& w) {
            w.shape.Q = w.shape.K = w.shape.V = Matrix::Zero(1, 1);
            w.shape.dO.reset();
            w.variants = 1000;
            w.step = 3;
        },
        "--variants is 1000");
}
