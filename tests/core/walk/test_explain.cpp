// No lie on screen: every printed formula, worked out from its print alone, gives the number that is shown,
// and that number is the stored one. The printed operands are the values of the cells named as sources.
#include "core/lessons/forward/flash_forward.h"
#include "core/walk/explain.h"
#include "tests/core/expression.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

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
        return describe(trace.problem()) + ", step " + std::to_string(k) + " " + name(op()) + " " +
               info(cell.slot).name + "[" + std::to_string(cell.row) + "," + std::to_string(cell.col) +
               "]: " + plain(told.numbers) + " | " + plain(told.result) + " | " + told.why;
    }
};

// Calls look(seen) for every cell that any step of the trace wrote.
template <class Look> void every_cell(const Trace& trace, Look look) {
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const Region at = trace.value(a.value).region;
            for (int r = at.row; r < at.row + at.rows; ++r)
                for (int c = at.col; c < at.col + at.cols; ++c) look(Seen{trace, k, {a.slot, r, c}});
        }
}

std::optional<double> cell_value(const Trace& trace, const CellRef& cell, int k) {
    for (int t = 0; t < trace.tiles(cell.slot); ++t)
        if (const Held held = trace.live(cell.slot, t, k))
            if (const Region& at = held.value->region; at.contains(cell.row, cell.col))
                return held.value->data(cell.row - at.row, cell.col - at.col);
    return {};
}

bool moves_bytes(Op op) { return op == Op::load_q || op == Op::load_kv; }

// What the shown result must be: bytes of the step for loads, else the stored value of the cell.
double stored_result(const Seen& s) {
    if (!moves_bytes(s.op())) return *cell_value(s.trace, s.cell, s.k);
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

// Steps without arithmetic: a start value, −∞ in place of a score, a row that goes out, 0 ÷ 0 left out.
void check_numbers_present(const Seen& s) {
    const bool none =
        s.op() == Op::init || s.op() == Op::mask || (s.op() == Op::store && s.cell.slot == Slot::O);
    const bool no_key = s.op() == Op::normalize && *cell_value(s.trace, {Slot::l, s.cell.row, 0}, s.k) == 0;
    if (s.told.numbers.empty() != (none || no_key)) FAIL_CHECK(s.where());
}

std::vector<CellRef> in_row(Slot slot, int row, int first, int count) {
    std::vector<CellRef> out;
    for (int c = 0; c < count; ++c) out.push_back({slot, row, first + c});
    return out;
}

// The cells that a cell comes from, as the algorithm has it.
std::vector<CellRef> expected_sources(const Seen& s) {
    const Problem& p = s.trace.problem();
    const int r = s.cell.row, c = s.cell.col, d = p.d(), j = s.trace.step(s.k).j;
    const int key = j * p.Bc, keys = j >= 0 ? keys_of(p, j) : 0;
    std::vector<CellRef> out;
    const auto add = [&](std::vector<CellRef> more) { out.insert(out.end(), more.begin(), more.end()); };
    switch (s.op()) {
    case Op::load_q: return {{Slot::Q, r, c}};
    case Op::load_kv: return {{s.cell.slot == Slot::Kj ? Slot::K : Slot::V, r, c}};
    case Op::scores: add(in_row(Slot::Qi, r, 0, d)), add(in_row(Slot::Kj, c, 0, d)); return out;
    case Op::mask: return {{Slot::S, r, c}};
    case Op::tile_max: return in_row(Slot::S, r, key, keys);
    case Op::new_max: return {{Slot::m, r, 0}, {Slot::m_tile, r, 0}};
    case Op::correction: return {{Slot::m, r, 0}};
    case Op::exponentials: return {{Slot::S, r, c}, {Slot::m, r, 0}};
    case Op::row_sum:
        add({{Slot::alpha, r, 0}, {Slot::l, r, 0}}), add(in_row(Slot::P, r, key, keys));
        return out;
    case Op::output:
        add({{Slot::alpha, r, 0}, {Slot::Oi, r, c}}), add(in_row(Slot::P, r, key, keys));
        for (int x = 0; x < keys; ++x) out.push_back({Slot::Vj, key + x, c});
        return out;
    case Op::normalize: return {{Slot::Oi, r, c}, {Slot::l, r, 0}};
    case Op::store:
        if (s.cell.slot == Slot::O) return {{Slot::Oi, r, c}};
        return {{Slot::m, r, 0}, {Slot::l, r, 0}};
    default: return {};
    }
}

void check_sources(const Seen& s) {
    auto told = s.told.sources, expected = expected_sources(s);
    const auto order = [](const CellRef& a, const CellRef& b) {
        return std::tuple(a.slot, a.row, a.col) < std::tuple(b.slot, b.row, b.col);
    };
    std::ranges::sort(told, order);
    std::ranges::sort(expected, order);
    if (told != expected) FAIL_CHECK("wrong sources: ", s.where());
    std::set<Slot> read;
    for (const Access& a : s.trace.reads(s.k)) read.insert(a.slot);
    for (const CellRef& source : told)
        if (!read.count(source.slot) || !cell_value(s.trace, source, s.k - 1))
            FAIL_CHECK("a source that the step did not read: ", s.where());
}

// Every printed operand is the value of a source (or the scale, or the 0 that stands in for m = −∞), and
// every source value is printed.
void check_operands(const Seen& s) {
    if (s.told.numbers.empty() || moves_bytes(s.op())) return;
    const auto formula = evaluate(plain(s.told.numbers));
    if (!formula) return;  // reported already
    std::vector<double> values;
    for (const CellRef& cell : s.told.sources) values.push_back(*cell_value(s.trace, cell, s.k - 1));
    if (s.op() == Op::correction) {
        const int rise = s.trace.live(Slot::m, s.k).step;
        values.push_back(*cell_value(s.trace, {Slot::m, s.cell.row, 0}, rise - 1));
    }
    std::vector<double> allowed = values;
    if (s.op() == Op::scores) allowed.push_back(s.trace.problem().softmax_scale());
    const bool stands_in = s.op() == Op::correction || s.op() == Op::exponentials;
    if (stands_in && std::isinf(*cell_value(s.trace, {Slot::m, s.cell.row, 0}, s.k)))
        allowed = {-INFINITY, 0};
    for (const Printed& n : formula->numbers)
        if (std::ranges::none_of(allowed, [&](double v) { return rounds(n, v); }))
            FAIL_CHECK("a number from nowhere, ", static_cast<double>(n.value), ": ", s.where());
    for (double v : values)
        if (std::ranges::none_of(formula->numbers, [&](const Printed& n) { return rounds(n, v); }))
            FAIL_CHECK("a source that is not printed, ", v, ": ", s.where());
}

const char* code_of(Op op) {
    switch (op) {
    case Op::load_q: return "load Qᵢ";
    case Op::init: return "m ← −∞";
    case Op::load_kv: return "load Kⱼ, Vⱼ";
    case Op::scores: return "Qᵢ Kⱼᵀ";
    case Op::mask: return "where masked";
    case Op::tile_max: return "rowmax(S)";
    case Op::new_max: return "max(m, m̃)";
    case Op::correction: return "exp(m_old − m)";
    case Op::exponentials: return "exp(S − m)";
    case Op::row_sum: return "rowsum(P̃)";
    case Op::output: return "P̃ Vⱼ";
    case Op::normalize: return "O ⊘ ℓ";
    case Op::store: return "store Oᵢ, Lᵢ";
    case Op::skip: return "for j in";
    default: return "no such op in this lesson";
    }
}

void check_words(const Seen& s) {
    const Explanation& e = s.told;
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty())
        FAIL_CHECK("a part is missing: ", s.where());
    const auto code = flash_forward_code(Problem{});
    REQUIRE(e.code_line >= 0);
    REQUIRE(e.code_line < static_cast<int>(code.size()));
    const std::string line = code[static_cast<std::size_t>(e.code_line)].text;
    if (line.find(code_of(s.op())) == std::string::npos) FAIL_CHECK("'", line, "' does not fit: ", s.where());
    for (const std::string& text : {e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", "inf", "-0", "−0 ", "−−"})
            if (text.find(bad) != std::string::npos) FAIL_CHECK("'", bad, "' in: ", s.where());
    if (e.why.back() != '.') FAIL_CHECK("not a sentence: ", s.where());
}

void check_everything(const Problem& p) {
    const auto trace = flash_forward(p);
    every_cell(*trace, [](const Seen& s) {
        CHECK(s.told.target == s.cell);
        check_result(s);
        check_numbers_present(s);
        check_sources(s);
        check_operands(s);
        check_words(s);
    });
}

Problem masked(Problem p, bool causal, std::optional<int> window) {
    p.causal = causal;
    p.window = window;
    return p;
}

int step_of(const Trace& trace, Op op, int i, int j) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && trace.step(k).i == i && trace.step(k).j == j) return k;
    return 0;
}

}  // namespace

TEST_SUITE("explanations do not lie") {
    TEST_CASE("worked example") { check_everything(worked_example()); }
    TEST_CASE("worked example, masked") {
        for (bool causal : {false, true})
            for (int window : {0, 1, 2}) check_everything(masked(worked_example(), causal, window));
        check_everything(masked(worked_example(), true, {}));
    }
    TEST_CASE("random problems: ragged tiles, masks, scales, small and large numbers, ties") {
        Random random(40);
        for (int n = 0; n < 400; ++n) check_everything(any_problem(random, 6));
    }
    TEST_CASE("logits that exp alone could not bear") {
        for (double factor : {30.0, 1000.0, 1e5, 1e9}) {
            Problem p = *random_problem(4, 3, 5);
            p.Q *= factor;
            check_everything(p);
        }
    }
    TEST_CASE("very small and very uneven numbers") {
        for (double factor : {1e-3, 1e-5, 1e-12, 1e-160}) {
            Problem p = *random_problem(4, 3, 6);
            p.Q *= factor;
            p.V.col(0) *= factor;
            p.V.col(1) /= factor;
            check_everything(p);
        }
    }
    TEST_CASE("terms that cancel") {
        Problem p = worked_example();
        p.Q << 1000.123, -1000.123, 3.0001, 1, 0.1, 0.2, -0.3, 0, 1e5, 1e-5, -1e5, 1, 1.0 / 3, 1, -1, 2;
        p.K << 1, 1, 1, -3, 1, 1, 1, 0, 1, 1, 1, 1, 3, -1, 0, 0.001;
        p.V << 1, -1, 0.1, 0, -1, 1, 0.2, 0, 1, -1, -0.3, 0, -1, 1, 0, -0.0;
        check_everything(p);
    }
    TEST_CASE("queries that see nothing") {
        Problem p = *random_problem(6, 3, 1);
        p.K = p.K.topRows(3).eval();
        p.V = p.V.topRows(3).eval();
        check_everything(masked(p, true, {}));
        check_everything(masked(p, false, 0));
        p.Br = 6;
        p.Bc = 3;
        check_everything(masked(p, true, 1));
    }
}

TEST_SUITE("explanations") {
    TEST_CASE("the figures of the tutorial, as they stand on screen") {
        const auto trace = flash_forward(worked_example());
        const auto line = [&](Op op, int i, int j, CellRef cell) {
            const Explanation e = explain(*trace, step_of(*trace, op, i, j), cell);
            return plain(e.numbers) + " | " + plain(e.result);
        };
        CHECK(line(Op::scores, 0, 0, {Slot::S, 0, 0}) == "1 × 1 + 0 × 0 + 1 × 0 + 0 × 0 | S[0,0] = 1");
        CHECK(line(Op::new_max, 0, 1, {Slot::m, 0, 0}) == "max(1, 2) | m[0] = 2");
        CHECK(line(Op::correction, 0, 0, {Slot::alpha, 0, 0}) == "exp(−∞ − 1) | α[0] = 0");
        CHECK(line(Op::correction, 0, 1, {Slot::alpha, 0, 0}) == "exp(1 − 2) | α[0] = 0.368");
        CHECK(line(Op::exponentials, 0, 1, {Slot::P, 0, 3}) == "exp(0 − 2) | P\u0303[0,3] = 0.135");
        CHECK(line(Op::row_sum, 0, 1, {Slot::l, 0, 0}) == "0.368 × 1.368 + (1.000 + 0.135) | ℓ[0] = 1.639");
        CHECK(line(Op::load_q, 0, -1, {Slot::Qi, 0, 0}) == "2 × 4 × 4 | bytes read = 32");
        CHECK(line(Op::load_kv, 0, 0, {Slot::Kj, 0, 0}) == "2 × 2 × 4 × 4 | bytes read = 64");
    }
    TEST_CASE("symbols are written with subscript digits, raised T and a tilde that combines") {
        const auto trace = flash_forward(worked_example());
        const auto formula = [&](Op op, int j) {
            return plain(explain(*trace, step_of(*trace, op, 1, j)).formula);
        };
        CHECK(formula(Op::scores, 0) == "S  ←  Q₁ K₀ᵀ");
        CHECK(formula(Op::output, 1) == "O₁  ←  α ⊙ O₁  +  P\u0303 V₁");
        CHECK(formula(Op::tile_max, 0) == "m\u0303  ←  rowmax(S)");
        CHECK(plain(slot_symbol(Slot::Qi, 120)) == "Q₁₂₀");
        CHECK(plain(slot_symbol(Slot::P)) == "P\u0303");
        CHECK(plain({}).empty());
        CHECK(plain({Span{"x", Role::none, Span::Face::symbol, Span::Script::sub}}) == "_x");
    }
    TEST_CASE("every op has a title of its own and a symbol for the timeline") {
        std::set<std::string> titles, names;
        for (int op = 0; op < static_cast<int>(Op::count); ++op) {
            titles.insert(title(static_cast<Op>(op)));
            names.insert(name(static_cast<Op>(op)));
            CHECK_FALSE(plain(step_symbol(static_cast<Op>(op))).empty());
        }
        for (const auto& all : {titles, names}) {
            CHECK(all.size() == static_cast<std::size_t>(Op::count));
            CHECK(all.count("") == 0);
        }
    }
    TEST_CASE("a cell that the step did not write falls back to the step's own first cell") {
        const auto trace = flash_forward(worked_example());
        const int k = step_of(*trace, Op::scores, 1, 1);
        for (const CellRef& wrong : {CellRef{Slot::S, 0, 0}, CellRef{Slot::S, 2, 1}, CellRef{Slot::P, 2, 2},
                                     CellRef{Slot::S, -1, 99}, CellRef{}}) {
            CHECK(explain(*trace, k, wrong).target == CellRef{Slot::S, 2, 2});
            CHECK(plain(explain(*trace, k, wrong).numbers) == plain(explain(*trace, k).numbers));
        }
        CHECK(explain(*trace, step_of(*trace, Op::store, 0, -1)).target == CellRef{Slot::L, 0, 0});
    }
    TEST_CASE("a mask step speaks of its first masked cell") {
        const auto trace = flash_forward(masked(worked_example(), true, {}));
        const Explanation e = explain(*trace, step_of(*trace, Op::mask, 1, 1));
        CHECK(e.target == CellRef{Slot::S, 2, 3});
        CHECK(e.why.find("key 3 for query 2") != std::string::npos);
        CHECK(e.why.find("last visible key is 2") != std::string::npos);
        // Here the window hides a key from the second row of the tile only.
        const auto windowed = flash_forward(masked(worked_example(), true, 2));
        CHECK(explain(*windowed, step_of(*windowed, Op::mask, 1, 0)).target == CellRef{Slot::S, 3, 0});
        const Explanation kept = explain(*trace, step_of(*trace, Op::mask, 1, 1), CellRef{Slot::S, 3, 2});
        CHECK(kept.why == "The mask leaves key 2 for query 3 as it is.");
    }
    TEST_CASE("a skipped tile says which queries and keys it is about") {
        const auto trace = flash_forward(masked(worked_example(), true, {}));
        const int k = step_of(*trace, Op::skip, 0, 1);
        const Explanation e = explain(*trace, k);
        CHECK(e.place == "tile (0, 1)");
        CHECK(e.why.find("rows 0–1") != std::string::npos);
        CHECK(e.why.find("keys 2–3") != std::string::npos);
        CHECK(e.sources.empty());
        CHECK(e.numbers.empty());
        CHECK(flash_forward_code(Problem{})[static_cast<std::size_t>(e.code_line)].text ==
              std::string("for j in 0 … Tc−1"));
        CHECK(cell_of_row(*trace, k, 0) == CellRef{});
    }
    TEST_CASE("cell_of_row stays within what the step wrote") {
        const auto trace = flash_forward(worked_example());
        const int k = step_of(*trace, Op::exponentials, 1, 1);
        CHECK(cell_of_row(*trace, k, 3, 1) == CellRef{Slot::P, 3, 3});
        CHECK(cell_of_row(*trace, k, -100) == CellRef{Slot::P, 2, 2});
        CHECK(cell_of_row(*trace, k, 100, 100) == CellRef{Slot::P, 3, 3});
    }
    TEST_CASE("the why of a rising maximum names the old and the new one") {
        const auto trace = flash_forward(worked_example());
        for (Op op : {Op::new_max, Op::correction, Op::row_sum, Op::output}) {
            const std::string why = explain(*trace, step_of(*trace, op, 0, 1)).why;
            CHECK_MESSAGE(why.find("from") != std::string::npos, why);
            CHECK_MESSAGE(why.find("1") < why.find("2"), why);
        }
        const auto stays = explain(*trace, step_of(*trace, Op::new_max, 1, 1)).why;
        CHECK(stays.find("stays 1") != std::string::npos);
    }
}
