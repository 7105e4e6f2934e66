// One rule for the numbers of a matrix, in all lessons and examples.
#include "app/io/examples.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/trace_look.h"
#include "core/lessons/table.h"
#include "core/problem/heads.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <regex>
#include <set>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

// Digits behind the point; −1 of a word or a power of ten.
int decimals_shown(const std::string& text) {
    if (text.find_first_not_of("0123456789.") != std::string::npos && !text.starts_with("−")) return -1;
    if (text.find("×") != std::string::npos || text.find("∞") != std::string::npos) return -1;
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

// Checks every cell of every value that the walk writes; returns how many numbers were seen.
int check_cells(const Trace& trace) {
    const TraceLook look = look_of(trace);
    int seen = 0;
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const SlotLook& all = look[a.slot];
            const Matrix& A = trace.value(a.value).data;
            for (int digits = 2; digits <= 6; ++digits)
                for (Eigen::Index n = 0; n < A.size(); ++n) {
                    const std::string text = all.digits.text(A.data()[n], digits);
                    const int shown = decimals_shown(text);
                    if (A.size() <= 256 && letter_count(text) > all.letters_with(digits))
                        FAIL_CHECK(trace.lesson().id, ", ", info(a.slot).name, ": ", text,
                                   " needs more than ", all.letters_with(digits));
                    if (shown < 0) continue;
                    ++seen;
                    if (shown != all.digits.decimals(digits))
                        FAIL_CHECK(trace.lesson().id, ", ", info(a.slot).name, " at step ", k + 1, ": ",
                                   text);
                }
        }
    return seen;
}

// Decimal numbers in all that the page says, but for bytes.
std::set<std::string> numbers_on(const test::Program& p) {
    static const std::regex number("[0-9]+\\.[0-9]+\\b(?! [kMGT]i?B)");
    std::set<std::string> out;
    for (const Item& item : p.items())
        for (std::sregex_iterator at(item.text.begin(), item.text.end(), number), end; at != end; ++at)
            if (item.kind == ItemKind::text) out.insert(at->str());
    return out;
}

// The operands of the formula have as many as it takes to come to the result, where cells have no room for
// them.
std::set<std::string> operands_of(const Explanation& e) {
    std::set<std::string> out;
    Line all = e.numbers;
    for (const Aside& aside : e.asides) all = pieces(all, aside.numbers);  // formulas, too
    for (const Span& span : all) {
        if (span.face != Span::Face::number) continue;
        const std::size_t from = span.text.find_first_of("0123456789");
        if (from != std::string::npos)
            out.insert(span.text.substr(from, span.text.find_last_of("0123456789") + 1 - from));
    }
    return out;
}

// 11.80 and 11.804 would be two roundings of one number; 0.50 and 0.5 are the same.
bool two_roundings(const std::string& coarse, const std::string& fine) {
    const ShownNumber a = read_shown(coarse), b = read_shown(fine);
    if (a.unit > .011 || b.unit > .11 * a.unit) return false;
    const double off = std::abs(a.value - b.value);
    return off > 1e-9 && off <= a.unit * .5001;
}

void check_page(const test::Program& p) {
    INFO(p.where());
    // A product in the drawing has the decimals of its factors; these have more in a table where it takes
    // them.
    const std::set<std::string> all = numbers_on(p), operands = operands_of(p.state.explanation);
    std::set<std::string> formula = operands;
    for (const Item& item : p.items())
        for (const std::string& operand : operands)
            if (item.kind == ItemKind::text && item.panel == "Lens" && decimals_shown(operand) > 3 &&
                decimals_shown(item.text) >= decimals_shown(operand) && decimals_shown(item.text) <= 6)
                formula.insert(item.text.substr(item.text.find_first_of("0123456789")));
    // What stands beside an operand in its matrix has its decimals, whether it changes in this step or not.
    std::set<int> of_matrices;
    for (const CellRef& source : p.state.explanation.sources)
        of_matrices.insert(formula_decimals(p.state, source.slot));
    for (const std::string& fine : all)
        if (decimals_shown(fine) > 3 && of_matrices.contains(decimals_shown(fine))) formula.insert(fine);
    for (const std::string& coarse : all)
        for (const std::string& fine : all)
            if (!formula.contains(fine) && two_roundings(coarse, fine)) FAIL_CHECK(coarse, " beside ", fine);
}

}  // namespace

TEST_CASE("no page shows two roundings of one number") {
    // Narrow cells at the desk have fewer.
    enum Where { desk = 1, stage = 2, both = 3 };
    struct Page {
        const char *example, *lesson;
        int first, last;
        Where where = both;
        int heads = 1;
    };
    constexpr Page pages[] = {{"worked-4x4", "flash-forward", 5, 40},
                              {"worked-4x4", "flash-forward-v1", 4, 43, stage},
                              {"ragged-7x5", "flash-forward", 5, 30, stage},
                              {"six-words", "flash-forward", 5, 30, stage},
                              {"worked-4x4", "split-kv", 5, 29, stage},
                              {"worked-4x4", "cascade", 5, 30, stage},
                              {"worked-4x4", "merge", 1, 8, stage},
                              {"worked-4x4", "ring", 1, 14, stage},
                              {"worked-4x4", "attention", 4, 12},
                              {"gradients-4x4", "backward", 1, 6, desk},
                              // At step 4 fewer digits would mislead in the formula, and more have no room.
                              {"gradients-4x4", "backward", 1, 3, stage},
                              {"gradients-4x4", "backward", 5, 6, stage},
                              {"gradients-4x4", "flash-backward", 1, 1, desk},
                              {"gradients-4x4", "flash-backward", 5, 40},
                              {"gradients-4x4", "ring-backward", 5, 20, stage},
                              {"worked-4x4", "softmax-1pass", 5, 25},
                              {"worked-4x4", "training-step", 11, 18, desk, 4}};
    for (const Where where : {desk, stage})
        for (const Page& page : pages) {
            if ((page.where & where) == 0) continue;
            Problem problem = test::example(page.example);
            give_heads(problem, page.heads, 1);
            test::Program p(problem, {1920, 1080}, where == stage);
            p.show_lesson(page.lesson);
            for (int k = page.first; k <= std::min(page.last, p.state.trace->size()); ++k) {
                p.go_to_step(k - 1);
                check_page(p);
            }
        }
}

namespace {

bool in_a_cell(const test::Program& p, const Item& text) {
    const ImVec2 at = test::middle(text);
    return std::ranges::any_of(p.items(), [&](const Item& cell) {
        return cell.kind == ItemKind::cell && at.x > cell.min.x && at.x < cell.max.x && at.y > cell.min.y &&
               at.y < cell.max.y;
    });
}

// What stands in the cell; empty where it is not shown with a number.
std::string text_in(const test::Program& p, const CellRef& ref) {
    for (const Item& cell : p.items()) {
        if (cell.kind != ItemKind::cell || cell.text != cell_name(ref)) continue;
        for (const Item& text : p.items()) {
            const ImVec2 at = test::middle(text);
            if (text.kind == ItemKind::text && at.x > cell.min.x && at.x < cell.max.x && at.y > cell.min.y &&
                at.y < cell.max.y)
                return text.text;
        }
    }
    return {};
}

// The cells that the formula is about have the numbers that the rest of the slide has of them.
int check_cells_of_formula(const test::Program& p) {
    INFO(p.where());
    std::vector<CellRef> cells = p.state.explanation.sources;
    cells.push_back(p.state.explanation.target);
    std::set<std::string> in_cells;
    for (const CellRef& ref : cells)
        if (std::string text = text_in(p, ref); text.find('.') != std::string::npos) in_cells.insert(text);
    static const std::regex number("(−)?[0-9]+\\.[0-9]+");
    int checked = 0;
    for (const Item& item : p.items()) {
        // Formula and sentence; the numbers of a sum that stands over a row are others.
        if (item.kind != ItemKind::text || item.panel != "Presenter" || in_a_cell(p, item)) continue;
        if (item.text.find("shown") != std::string::npos || test::middle(item).y < 420) continue;
        for (std::sregex_iterator at(item.text.begin(), item.text.end(), number), end; at != end; ++at)
            for (const std::string& cell : in_cells) {
                ++checked;
                if (two_roundings(cell, at->str())) FAIL_CHECK(cell, " in its cell, and ", at->str());
                if (two_roundings(at->str(), cell)) FAIL_CHECK(cell, " in its cell, and ", at->str());
            }
    }
    return checked;
}

}  // namespace

TEST_CASE("enlarged rows and a question have the numbers of their formula, in every lesson with a stage") {
    int checked = 0;
    for (const Problem& problem :
         {test::random_with_tiles(64, 16, 8, 8), test::random_with_tiles(200, 64, 16, 16)}) {
        test::Program p(problem, {1280, 720}, true);
        for (const char* lesson :
             {"flash-forward", "flash-forward-v1", "flash-backward", "attention", "backward"}) {
            p.show_lesson(lesson);
            p.settle();
            const Trace& trace = *p.state.trace;
            for (int n = 0; n < static_cast<int>(Op::count); ++n) {
                const std::vector<int> steps = test::steps_of(trace, static_cast<Op>(n));
                if (steps.empty() || info(static_cast<Op>(n)).kind != OpKind::compute) continue;
                p.go_to_step(steps[steps.size() / 2], 2);
                checked += check_cells_of_formula(p);
            }
        }
    }
    CHECK(checked > 100);
    // The text of a question has a digit more than a matrix: its answer is to come out.
    test::Program question(test::example("worked-4x4"), {1280, 720}, true);
    question.go_to_step(16);
    question.press("q right"), question.frame(2);
    REQUIRE(quiz_waits(question.state));
    for (const char* number : {"1.00000", "0.13534", "6.94304"}) CHECK(question.look_for(number));
    CHECK_FALSE(question.look_for("0.14"));
}

TEST_CASE("in a usual window the matrices of a step have the digits of its formula") {
    for (const char* problem : {"worked-4x4", "six-words"}) {
        test::Program p(test::example(problem), {1600, 900});
        for (int k = 5; k <= 14; ++k) p.go_to_step(k - 1), check_page(p);
    }
    test::Program p(test::example("worked-4x4"), {1280, 720});
    for (int k = 13; k <= 19; ++k) p.go_to_step(k - 1), check_page(p);
}

TEST_CASE("all cells of one matrix have the same decimals, in every lesson and example") {
    int seen = 0;
    for (const Problem& p : examples())
        for (const Lesson& lesson : lessons())
            if (const auto trace = build_trace(lesson, p)) {
                INFO(p.name);
                seen += check_cells(**trace);
            }
    CHECK(seen > 100000);
}

TEST_CASE("a tile on chip has the decimals of its matrix") {
    const auto trace = build_trace(default_lesson(), *find_example("six-words"));
    REQUIRE(trace);
    const TraceLook look = look_of(**trace);
    CHECK(look[Slot::Q].digits.decimals() == look[Slot::Qi].digits.decimals());
    CHECK(look[Slot::Q].digits.text(.25, 2) == "0.25");  // not 0.2 beside 0.25
    CHECK(look[Slot::Q].digits.text(.5) == "0.50");
}

TEST_CASE(
    "decimals: exact where few are enough, else one less than the digits; tiny matrices in powers of ten") {
    const auto of = [](std::initializer_list<double> values) {
        MatrixDigits all;
        for (double v : values) all.take(v);
        return all;
    };
    CHECK(of({1, 2, -3}).text(2) == "2");
    CHECK(of({1, 2.5}).text(1) == "1.0");
    CHECK(of({.25, 2.25}).text(2.25, 2) == "2.25");
    CHECK(of({1, 1. / 3}).text(1) == "1.000");
    CHECK(of({1, 1. / 3}).text(1. / 3, 3) == "0.33");
    CHECK(of({1, 1e-5}).text(1e-5) == "0.000");
    CHECK(of({1e-5, -2e-5}).text(1e-5) == "1.000×10⁻⁵");
    CHECK(of({0, -INFINITY}).text(-INFINITY) == "−∞");
}

TEST_CASE("a problem of two rows and columns has its numbers in HBM, too") {
    test::Program program(test::random_with_tiles(2, 2, 2, 2), {1600, 900});
    program.go_to_step(7);
    const Trace& trace = *program.state.trace;
    for (const Slot slot : {Slot::Q, Slot::K, Slot::V}) {
        const double value = trace.live(slot, 0, program.step()).value->data(1, 0);
        CHECK_MESSAGE(program.look_for(program.state.look[slot].digits.text(value, 3), "HBM"), value);
    }
}

TEST_CASE("two numbers that differ are told apart with the same decimals") {
    const auto [from, to] = format_apart(.72, .7197265625);
    CHECK(from == "0.7200");
    CHECK(to == "0.7197");
    CHECK(format_apart(1, 2.5).first == "1");
    CHECK(format_apart(.5, .5).second == "0.5");
}

namespace {

// What stands in the cells of one matrix on stage.
std::vector<std::string> numbers_of(const test::Program& p, Slot slot) {
    std::vector<std::string> out;
    const std::string name = std::string(info(slot).name) + "[";
    for (const Item& cell : p.items()) {
        if (cell.kind != ItemKind::cell || !cell.text.starts_with(name)) continue;
        for (const Item& text : p.items()) {
            const ImVec2 at = test::middle(text);
            const bool within =
                at.x > cell.min.x && at.x < cell.max.x && at.y > cell.min.y && at.y < cell.max.y;
            if (text.kind == ItemKind::text && within) out.push_back(text.text);
        }
    }
    return out;
}

std::set<int> decimals_of(const std::vector<std::string>& numbers) {
    std::set<int> out;
    for (const std::string& number : numbers)
        if (const int shown = decimals_shown(number); shown >= 0) out.insert(shown);
    return out;
}

}  // namespace

TEST_CASE(
    "on stage all numbers of a matrix have the same decimals, and a bar or a result of it has them, too") {
    int matrices = 0, results = 0;
    for (const char* lesson : {"flash-forward", "flash-forward-v1", "flash-backward", "attention", "split-kv",
                               "ring", "ring-backward", "softmax-1pass"}) {
        test::Program p(test::example(std::string_view(lesson).find("backward") == std::string_view::npos
                                          ? "worked-4x4"
                                          : "gradients-4x4"),
                        {1280, 720}, true);
        p.show_lesson(lesson);
        const Trace& trace = *p.state.trace;
        for (int k = 0; k < trace.size(); ++k) {
            p.go_to_step(k, 2);
            INFO(p.where());
            for (const auto& list : {trace.reads(k), trace.writes(k)})
                for (const Access& a : list) {
                    const std::set<int> shown = decimals_of(numbers_of(p, a.slot));
                    CHECK_MESSAGE(shown.size() < 2, info(a.slot).name);
                    ++matrices;
                }
            const Explanation& e = p.state.explanation;
            if (info(trace.step(k).op).kind != OpKind::compute || e.result.empty()) continue;
            const int result = decimals_shown(e.result.back().text);
            if (result < 0 || number_style().digits != 4) continue;
            CHECK_MESSAGE(result == trace.digits(e.target.slot).decimals(), plain(e.result));
            ++results;
        }
    }
    CHECK(matrices > 500);
    CHECK(results > 100);
}
