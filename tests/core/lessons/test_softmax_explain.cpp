// No lie on screen in the softmax lessons: every printed line, worked out from its print alone, gives the
// number shown; its operands are the cells named as sources; and each sentence is true.
#include "core/lessons/softmax/letters.h"
#include "core/walk/explain.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/softmax_problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

struct Seen {
    const Trace& trace;
    int k;
    CellRef cell;
    Explanation told = explain(trace, k, cell);

    Op op() const { return trace.step(k).op; }
    std::string where() const {
        return std::string(trace.lesson()) + ", " + describe(trace.problem()) + ", row " +
               std::to_string(trace.problem().options.row) + ", step " + std::to_string(k) + " " +
               name(op()) + ": " + plain(told.formula) + " | " + plain(told.numbers) + " | " +
               plain(told.result) + " | " + told.why;
    }
};

double held(const Trace& trace, const CellRef& cell, int k) {
    const Held h = holding(trace, cell, k);
    REQUIRE(h);
    return value_at(*h.value, cell);
}

template <class Look> void every_cell(const Trace& trace, Look look) {
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const Region at = trace.value(a.value).region;
            for (int c = at.col; c < at.col + at.cols; ++c) look(Seen{trace, k, {a.slot, at.row, c}});
        }
}

double stored_result(const Seen& s) {
    if (s.op() != Op::load_x) return held(s.trace, s.cell, s.k);
    const std::int64_t before = s.k ? s.trace.step(s.k - 1).traffic.hbm_read : 0;
    return static_cast<double>(s.trace.step(s.k).traffic.hbm_read - before);
}

void check_result(const Seen& s) {
    REQUIRE_FALSE(s.told.result.empty());
    const double stored = stored_result(s);
    const auto shown = read_number(s.told.result.back().text);
    if (!shown || !rounds(*shown, stored))
        FAIL_CHECK("the result is not the stored ", stored, ": ", s.where());
    if (s.told.numbers.empty() || !shown) return;
    const std::string fault = fault_of(plain(s.told.numbers), *shown, stored == std::round(stored));
    if (!fault.empty()) FAIL_CHECK(fault, ": ", s.where());
}

// Steps without arithmetic: start values, the row that goes out, and what would be divided by a sum of 0.
void check_numbers_present(const Seen& s) {
    bool none = s.op() == Op::init || s.op() == Op::store;
    const bool divides =
        s.op() == Op::divide || s.op() == Op::normalize ||
        (s.op() == Op::output && softmax_passes(s.trace) == 1 && s.trace.problem().options.normalised);
    if (divides) none = held(s.trace, {Slot::l, s.cell.row, 0}, s.k) == 0;
    if (s.told.numbers.empty() != none) FAIL_CHECK(s.where());
}

// The cells that a value comes from, as the loops of the paper have it.
std::set<Slot> expected_sources(const Seen& s) {
    const int passes = softmax_passes(s.trace);
    const bool average = passes == 1 && s.trace.problem().options.normalised;
    switch (s.op()) {
    case Op::load_x: return {s.cell.slot == Slot::Vj ? Slot::V : Slot::x};
    case Op::new_max: return {Slot::m, Slot::S};
    case Op::correction: return {Slot::m};
    case Op::exponentials: return {Slot::S, Slot::m};
    case Op::row_sum:
        return passes == 3 ? std::set{Slot::l, Slot::P} : std::set{Slot::alpha, Slot::l, Slot::P};
    case Op::divide: return {Slot::S, Slot::m, Slot::l};
    case Op::output:
        if (passes > 1) return {Slot::Oi, Slot::Prob, Slot::Vj};
        if (average) return {Slot::Oi, Slot::alpha, Slot::l, Slot::P, Slot::Vj};
        return {Slot::Oi, Slot::alpha, Slot::P, Slot::Vj};
    case Op::normalize: return {Slot::Oi, Slot::l};
    case Op::store: return {Slot::Oi};
    default: return {};
    }
}

void check_sources(const Seen& s) {
    std::set<Slot> told, read;
    for (const CellRef& source : s.told.sources) told.insert(source.slot);
    for (const Access& a : s.trace.reads(s.k)) read.insert(a.slot);
    if (told != expected_sources(s) || told.size() != s.told.sources.size())
        FAIL_CHECK("wrong sources: ", s.where());
    for (const CellRef& source : s.told.sources)
        if (!read.count(source.slot) || !holding(s.trace, source, s.k - 1))
            FAIL_CHECK("a source that the step did not read: ", s.where());
}

// Every printed operand is a source, an earlier value of m or the sum, or the 0 that stands in for m = −∞.
void check_operands(const Seen& s) {
    if (s.told.numbers.empty() || s.op() == Op::load_x) return;
    const auto formula = evaluate(plain(s.told.numbers));
    if (!formula) return;
    std::vector<double> allowed;
    for (const CellRef& cell : s.told.sources) allowed.push_back(held(s.trace, cell, s.k - 1));
    const auto before = [&](Slot slot) {
        const int made = s.trace.live(slot, s.k).step;
        allowed.push_back(held(s.trace, {slot, s.cell.row, 0}, made - 1));
    };
    if (s.op() == Op::correction) before(Slot::m);
    const bool average = softmax_passes(s.trace) == 1 && s.trace.problem().options.normalised;
    if (s.op() == Op::output && average) before(Slot::l);
    const bool stands_in = s.op() == Op::correction || s.op() == Op::exponentials;
    if (stands_in && std::isinf(held(s.trace, {Slot::m, s.cell.row, 0}, s.k))) allowed = {-INFINITY, 0};
    for (const Printed& n : formula->numbers)
        if (std::ranges::none_of(allowed, [&](double v) { return rounds(n, v); }))
            FAIL_CHECK("a number from nowhere, ", static_cast<double>(n.value), ": ", s.where());
    for (double v : allowed)
        if (std::ranges::none_of(formula->numbers, [&](const Printed& n) { return rounds(n, v); }))
            FAIL_CHECK("a source that is not printed, ", v, ": ", s.where());
}

const char* code_of(const Seen& s) {
    const bool late = softmax_passes(s.trace) == 1 && !s.trace.problem().options.normalised;
    switch (s.op()) {
    case Op::init: return "← 0";
    case Op::load_x: return "load xᵢ";
    case Op::new_max: return "max(m, xᵢ)";
    case Op::correction: return "exp(m_old − m)";
    case Op::exponentials: return "p ← exp(xᵢ − m)";
    case Op::row_sum: return "+ p";
    case Op::divide: return "a ← exp(xᵢ − m) / ";
    case Op::output: return late ? "+ p Vᵢ" : "Vᵢ";
    case Op::normalize: return " / ";
    default: return "store";
    }
}

void check_words(const Seen& s) {
    const Explanation& e = s.told;
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty())
        FAIL_CHECK("a part is missing: ", s.where());
    const auto code = lesson_of(s.trace).code(s.trace.problem());
    REQUIRE(e.code_line >= 0);
    REQUIRE(e.code_line < static_cast<int>(code.size()));
    const std::string line = code[static_cast<std::size_t>(e.code_line)].text;
    const bool only_max = s.op() == Op::init && s.trace.step(s.k).phase == 0;
    if (line.find(only_max ? "m ← −∞" : code_of(s)) == std::string::npos)
        FAIL_CHECK("'", line, "' does not fit: ", s.where());
    for (const std::string& text : {e.why, plain(e.numbers), plain(e.result), plain(e.formula), line})
        for (const char* bad : {"nan", "inf", "-0", "−0 ", "−−", "$", "− −"})
            if (text.find(bad) != std::string::npos) FAIL_CHECK("'", bad, "' in: ", s.where());
    if (e.why.back() != '.') FAIL_CHECK("not a sentence: ", s.where());
}

void check_everything(const Problem& p) {
    for (int passes : {3, 2, 1}) {
        const auto trace = softmax_walk(p, passes);
        every_cell(*trace, [](const Seen& s) {
            CHECK(s.told.target == s.cell);
            check_result(s);
            check_numbers_present(s);
            check_sources(s);
            check_operands(s);
            check_words(s);
        });
    }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("softmax explanations do not lie") {
    TEST_CASE("worked example, all rows, notations and forms") {
        for (int row = 0; row < 4; ++row)
            for (int notation = 0; notation < 3; ++notation)
                for (bool normalised : {true, false}) {
                    Problem p = with_row(worked_example(), row, static_cast<Notation>(notation), normalised);
                    check_everything(p);
                    p.causal = true;
                    check_everything(p);
                    p.window = 1;
                    check_everything(p);
                }
    }
    TEST_CASE("random problems") {
        Random random(62);
        for (int n = 0; n < 500; ++n) check_everything(any_row(random, 6));
    }
    TEST_CASE("logits that exp alone could not bear, small and uneven numbers") {
        for (double factor : {30.0, 1000.0, 1e9, 1e-3, 1e-12, 1e-160})
            for (bool normalised : {true, false}) {
                Problem p = with_row(*random_problem(4, 3, 5), 1, Notation::d_o, normalised);
                p.Q *= factor;
                p.V.col(0) *= factor;
                p.V.col(1) /= factor;
                check_everything(p);
            }
    }
    TEST_CASE("a row that sees nothing") {
        Problem p = *random_problem(6, 3, 1);
        p.K = p.K.topRows(3).eval();
        p.V = p.V.topRows(3).eval();
        p.causal = true;
        for (int row = 0; row < 6; ++row)
            for (bool normalised : {true, false})
                check_everything(with_row(p, row, Notation::l_O, normalised));
    }
}

TEST_SUITE("softmax explanations") {
    TEST_CASE("the lines of element 3 of row 0, as the picture shows them") {
        const auto trace = softmax_1pass(with_row(worked_example(), 0));
        const auto line = [&](Op op) {
            const Explanation e = explain(*trace, softmax_step(*trace, op, 3));
            CHECK(e.place == "element 3 of 4");
            return plain(e.formula) + " | " + plain(e.numbers) + " | " + plain(e.result);
        };
        CHECK(line(Op::load_x) == "x₃, V₃  ←  element 3 of x, row 2 of V | 1 × 4 + 4 × 4 | bytes read = 20");
        CHECK(line(Op::new_max) == "m₃  =  max(m₂, x₃) | max(1, 2) | m₃ = 2");
        CHECK(line(Op::correction) == "α₃  =  exp(m₂ − m₃) | exp(1 − 2) | α₃ = 0.368");
        CHECK(line(Op::exponentials) == "p₃  =  exp(x₃ − m₃) | exp(2 − 2) | p₃ = 1");
        CHECK(line(Op::row_sum) == "d′₃  =  α₃ d′₂ + p₃ | 0.368 × 1.368 + 1.000 | d′₃ = 1.503");
        CHECK(line(Op::output) == "o′₃  =  o′₂ (d′₂\u00A0÷\u00A0d′₃) α₃  +  (p₃\u00A0÷\u00A0d′₃) V₃ | 2.0758 "
                                  "× (1.3679 ÷ 1.5032) × 0.3679 + (1.0000 "
                                  "÷ 1.5032) × 9.0000 | o′₃[0] = 6.682");
        CHECK(explain(*trace, softmax_step(*trace, Op::new_max, 3)).title == "The maximum rises");
    }
    TEST_CASE("only the symbols change with the notation") {
        const auto formula = [&](Notation notation, int passes, Op op, int pass, bool normalised = true) {
            const auto trace = softmax_walk(with_row(worked_example(), 0, notation, normalised), passes);
            return plain(explain(*trace, softmax_step(*trace, op, 2, pass)).formula);
        };
        CHECK(formula(Notation::d_o, 3, Op::row_sum, 2) == "d₂  =  d₁ + p₂");
        CHECK(formula(Notation::d_o, 2, Op::divide, 2) == "a₂  =  exp(x₂ − m₄) ÷ d′₄");
        CHECK(formula(Notation::delta_omega, 2, Op::output, 2) == "o₂  =  o₁ + a₂ V₂");
        CHECK(formula(Notation::delta_omega, 1, Op::output, 1) ==
              "ω₂  =  ω₁ (δ₁\u00A0÷\u00A0δ₂) α₂  +  (p₂\u00A0÷\u00A0δ₂) V₂");
        CHECK(formula(Notation::l_O, 1, Op::output, 1, false) == "O\u0303₂  =  α₂ O\u0303₁ + p₂ V₂");
        Random random(63);
        for (int n = 0; n < 60; ++n) {
            const Problem p = any_row(random, 6);
            for (int passes : {3, 2, 1}) {
                const auto a = softmax_walk(with_row(p, p.options.row, Notation::d_o), passes),
                           b = softmax_walk(with_row(p, p.options.row, Notation::delta_omega), passes);
                REQUIRE(a->size() == b->size());
                for (int k = 0; k < a->size(); ++k) {
                    CHECK(plain(explain(*a, k).numbers) == plain(explain(*b, k).numbers));
                    CHECK(explain(*a, k).result.back().text == explain(*b, k).result.back().text);
                }
            }
        }
    }
    TEST_CASE("a maximum that starts, rises, stays or is not there yet is said to do so") {
        Random random(64);
        int seen[4] = {};
        for (int n = 0; n < 300; ++n) {
            const Problem p = any_row(random, 7);
            for (int passes : {2, 1}) {
                const auto trace = softmax_walk(p, passes);
                for (int element = 1; element <= p.N_kv(); ++element) {
                    const int k = softmax_step(*trace, Op::new_max, element);
                    const double before = trace->live(Slot::m, k - 1).value->data(0, 0),
                                 now = trace->live(Slot::m, k).value->data(0, 0);
                    const int kind = std::isinf(now) ? 3 : std::isinf(before) ? 2 : now > before ? 1 : 0;
                    const std::map<Op, std::vector<const char*>> words{
                        {Op::new_max, {"it stays", "is larger than", "is the first score", "no maximum yet"}},
                        {Op::correction,
                         {"did not change", "repairs the whole past", "empty start", "stands in"}},
                        {Op::row_sum, {"did not move", "re-based from", "starts the sum", "stays empty"}}};
                    for (const auto& [op, sentences] : words) {
                        const Explanation e = explain(*trace, softmax_step(*trace, op, element));
                        INFO(describe(p), ", element ", element, ", ", name(op), ": ", e.why);
                        CHECK(has(e.why, sentences[static_cast<std::size_t>(kind)]));
                    }
                    ++seen[kind];
                }
            }
        }
        for (int times : seen) CHECK(times > 20);
    }
    TEST_CASE("masked elements are read, weigh nothing, and are said to be masked") {
        Problem p = with_row(worked_example(), 1);
        p.causal = true;
        for (int passes : {3, 2, 1}) {
            const auto trace = softmax_walk(p, passes);
            for (int element : {3, 4}) {
                CHECK(has(explain(*trace, softmax_step(*trace, Op::load_x, element)).why, "mask hides key"));
                const Op weight = passes == 1 ? Op::exponentials : Op::divide;
                const int k = softmax_step(*trace, weight, element, passes);
                CHECK(trace->live(passes == 1 ? Slot::P : Slot::Prob, k).value->data(0, 0) == 0);
            }
            CHECK_FALSE(has(explain(*trace, softmax_step(*trace, Op::load_x, 2)).why, "mask"));
        }
    }
    TEST_CASE("the shares of the old average and of the new value make 1") {
        Random random(65);
        int shares = 0;
        for (int n = 0; n < 100; ++n) {
            Problem p = any_row(random, 6);
            p.options.normalised = true;
            const auto trace = softmax_1pass(p);
            for (int k = 0; k < trace->size(); ++k) {
                const std::string why = explain(*trace, k).why;
                const std::size_t at = why.find("a share of ");
                if (at == std::string::npos) continue;
                const std::size_t comma = why.find(", and", at), rest = why.find("the rest, ");
                const auto old = read_number(why.substr(at + 11, comma - at - 11));
                const auto add = read_number(why.substr(rest + 10, why.size() - rest - 11));
                REQUIRE(old);
                REQUIRE(add);
                CHECK(std::abs(static_cast<double>(old->value + add->value) - 1) < 0.0011);
                ++shares;
            }
        }
        CHECK(shares > 50);
    }
}
