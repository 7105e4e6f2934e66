// What the explanations of the tiled forward pass say; that they are true is held by the contract of the
// lessons.
#include "core/lessons/forward/forward.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <set>

using namespace tilewalk::test;

TEST_SUITE("explanations") {
    TEST_CASE("the figures of the tutorial, as they stand on screen") {
        const auto trace = flash_forward(worked_example());
        const auto line = [&](Op op, int i, int j, CellRef cell) {
            const Explanation e = explain(*trace, find_step(*trace, op, i, j), cell);
            return plain(e.numbers) + " | " + plain(e.result);
        };
        CHECK(line(Op::scores, 0, 0, {Slot::S, 0, 0}) == "1 × 1 + 0 × 0 + 1 × 0 + 0 × 0 | S[0,0] = 1");
        CHECK(line(Op::new_max, 0, 1, {Slot::m, 0, 0}) == "max(1, 2) | m[0] = 2");
        CHECK(line(Op::correction, 0, 0, {Slot::alpha, 0, 0}) == "exp(−∞ − 1) | α[0] = 0.000");
        CHECK(line(Op::correction, 0, 1, {Slot::alpha, 0, 0}) == "exp(1 − 2) | α[0] ≈ 0.368");
        CHECK(line(Op::exponentials, 0, 1, {Slot::P, 0, 3}) == "exp(0 − 2) | P\u0303[0,3] ≈ 0.135");
        CHECK(line(Op::row_sum, 0, 1, {Slot::l, 0, 0}) ==
              "0.3679 × 1.3679 + (1.0000 + 0.1353) | ℓ[0] ≈ 1.639");
        CHECK(line(Op::load_q, 0, -1, {Slot::Qi, 0, 0}) == "2 × 4 × 4 | bytes read = 32");
        CHECK(line(Op::load_kv, 0, 0, {Slot::Kj, 0, 0}) == "2 × 2 × 4 × 4 | bytes read = 64");
    }
    TEST_CASE("symbols are written with subscript digits, raised T and a tilde that combines") {
        const auto trace = flash_forward(worked_example());
        const auto formula = [&](Op op, int j) {
            return plain(explain(*trace, find_step(*trace, op, 1, j)).formula);
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
        const int k = find_step(*trace, Op::scores, 1, 1);
        for (const CellRef& wrong : {CellRef{Slot::S, 0, 0}, CellRef{Slot::S, 2, 1}, CellRef{Slot::P, 2, 2},
                                     CellRef{Slot::S, -1, 99}, CellRef{}}) {
            CHECK(explain(*trace, k, wrong).target == CellRef{Slot::S, 2, 2});
            CHECK(plain(explain(*trace, k, wrong).numbers) == plain(explain(*trace, k).numbers));
        }
        CHECK(explain(*trace, find_step(*trace, Op::store, 0, -1)).target == CellRef{Slot::L, 0, 0});
    }
    TEST_CASE("a mask step speaks of its first masked cell") {
        const auto trace = flash_forward(causal(worked_example()));
        const Explanation e = explain(*trace, find_step(*trace, Op::mask, 1, 1));
        CHECK(e.target == CellRef{Slot::S, 2, 3});
        check_contains(e.why, {"key 3 for query 2", "last visible key is 2"});
        // Here the window hides a key from the second row of the tile only.
        Problem narrow = causal(worked_example());
        narrow.window = 2;
        const auto windowed = flash_forward(narrow);
        CHECK(explain(*windowed, find_step(*windowed, Op::mask, 1, 0)).target == CellRef{Slot::S, 3, 0});
        const Explanation kept = explain(*trace, find_step(*trace, Op::mask, 1, 1), CellRef{Slot::S, 3, 2});
        CHECK(kept.why == "The mask leaves key 2 for query 3 as it is.");
    }
    TEST_CASE("a skipped tile says which queries and keys it is about") {
        const auto trace = flash_forward(causal(worked_example()));
        const int k = find_step(*trace, Op::skip, 0, 1);
        const Explanation e = explain(*trace, k);
        CHECK(e.place == "tile (0, 1)");
        check_contains(e.why, {"rows 0–1", "keys 2–3"});
        CHECK(e.sources.empty());
        CHECK(e.numbers.empty());
        CHECK(flash_forward.code(Problem{})[static_cast<std::size_t>(e.code_line)].text ==
              std::string("for j in 0 … Tc−1"));
        CHECK(cell_of_row(*trace, k, 0) == CellRef{});
    }
    TEST_CASE("cell_of_row stays within what the step wrote") {
        const auto trace = flash_forward(worked_example());
        const int k = find_step(*trace, Op::exponentials, 1, 1);
        CHECK(cell_of_row(*trace, k, 3, 1) == CellRef{Slot::P, 3, 3});
        CHECK(cell_of_row(*trace, k, -100) == CellRef{Slot::P, 2, 2});
        CHECK(cell_of_row(*trace, k, 100, 100) == CellRef{Slot::P, 3, 3});
    }
    TEST_CASE("the why of a rising maximum names the old and the new one") {
        const auto trace = flash_forward(worked_example());
        for (Op op : {Op::new_max, Op::correction, Op::row_sum, Op::output}) {
            const std::string why = explain(*trace, find_step(*trace, op, 0, 1)).why;
            CHECK_MESSAGE(contains(why, "from"), why);
            CHECK_MESSAGE(contains(why, "2"), why);
            CHECK_MESSAGE(why.find('1') < why.find('2'), why);
        }
        const auto stays = explain(*trace, find_step(*trace, Op::new_max, 1, 1)).why;
        CHECK(contains(stays, "stays 1"));
    }
}
