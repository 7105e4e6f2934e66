// The lessons of dense matrices on screen: layout at all sizes, what is marked, the ledger, the smallest
// step.
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/state/state.h"
#include "core/problem/heads.h"
#include "tests/app/ui/layout_check.h"
#include "tests/contains.h"

#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

const char* const lesson_ids[] = {"attention", "backward", "training-step"};

Problem with_tokens(Problem p) {
    p.tokens = {"the", "cat", "sat", "it"};
    return p;
}

Problem uneven() {
    Problem p = causal(random_with_tiles(3, 2, 2, 2));
    const Problem keys = random_with_tiles(5, 2, 2, 2, 9);
    p.K = keys.K, p.V = keys.V;
    return p;
}

// Four query heads, of which two share K and V each.
Problem grouped(Problem p) {
    give_heads(p, 4, 2);
    return p;
}

// Calls look(step) where the program stands at each step of its walk.
template <class Look> void every_step(Program& program, Look look) {
    for (int k = 0; k < program.state.trace->size(); ++k) {
        program.go_to_step(k);
        look(k);
    }
}

}  // namespace

TEST_SUITE("dense lessons on screen") {
    TEST_CASE("nothing is clipped, overlaps or is hard to read, at any size") {
        const struct {
            Screen screen;
            bool presenter = false;
            ThemeId theme = ThemeId::dark;
        } cases[] = {{{1024, 640}},
                     {{1280, 720}, false, ThemeId::light},
                     {{1600, 900}},
                     {{1600, 900}, false, ThemeId::contrast},
                     {{1920, 1080}, false, ThemeId::light},
                     {{1280, 720}, true},
                     {{1280, 720}, true, ThemeId::light}};
        const Problem problems[] = {example("worked-4x4"),
                                    with_tokens(example("worked-4x4")),
                                    uneven(),
                                    random_with_tiles(1, 1, 1, 1),
                                    random_with_tiles(8, 4, 2, 2),
                                    grouped(with_tokens(example("worked-4x4"))),
                                    grouped(uneven())};
        for (const auto& [screen, presenter, theme] : cases) {
            Program program(example("worked-4x4"), screen, presenter, theme);
            for (const char* id : lesson_ids) {
                program.show_lesson(id);
                for (const Problem& problem : problems) {
                    program.show(problem);
                    every_step(program, [&](int) { check_frame(program); });
                }
            }
        }
    }
    TEST_CASE("large problems are heat maps, and every step can be drawn") {
        for (const char* id : lesson_ids) {
            Program program;
            program.show_lesson(id);
            program.show(random_with_tiles(64, 8, 8, 8));
            for (int k = 0; k < program.state.trace->size(); ++k) {
                go_to(program.state, at_step(*program.state.trace, k));
                program.frame_unlisted();
            }
            program.state.presenter = true;
            program.frame_unlisted();
        }
    }
    TEST_CASE("rows that see no key, zeros, very small and very large numbers are drawn") {
        std::vector<Problem> problems{example("fully-masked-row"), example("large-logits")};
        problems.push_back(random_with_tiles(4, 20, 2, 2));  // long sums
        problems.back().Q.setZero(), problems.back().dO->setZero();
        for (double factor : {1e-160, 1e60}) {
            problems.push_back(random_with_tiles(4, 3, 2, 2));
            problems.back().Q *= factor, problems.back().V *= factor;
        }
        for (const char* id : lesson_ids)
            for (const Problem& p : problems) {
                Program program;
                program.show_lesson(id);
                program.show(p);
                every_step(program, [&](int) {
                    program.picture();
                    for (const Item& item : program.items()) {
                        const bool finite = std::isfinite(item.min.x) && std::isfinite(item.min.y) &&
                                            std::isfinite(item.max.x) && std::isfinite(item.max.y);
                        if (!finite) FAIL_CHECK(program.where(), ": '", item.text, "' lies nowhere");
                    }
                });
            }
    }
    TEST_CASE("each matrix that a step reads or writes is on its page") {
        for (const char* id : lesson_ids)
            for (const Problem& p : {example("worked-4x4"), uneven(), grouped(uneven())}) {
                Program program(p);
                program.show_lesson(id);
                const Trace& trace = *program.state.trace;
                every_step(program, [&](int k) {
                    std::set<Slot> there;
                    for (const DenseGroup& group : dense_page(program.state))
                        for (const DenseEntry& e : group)
                            there.insert({dense_slot(program.state, e), e.chip, e.hbm});
                    for (const auto& accesses : {trace.reads(k), trace.writes(k)})
                        for (const Access& a : accesses) CHECK_MESSAGE(there.count(a.slot), where(trace, k));
                    for (const Access& a : trace.writes(k))
                        program.find(cell_name({a.slot, 0, 0}), "Matrices");
                });
            }
    }
    TEST_CASE("the shape that a page reserves is the shape that the trace writes") {
        for (const char* id : lesson_ids)
            for (const Problem& p : {example("worked-4x4"), uneven(), random_with_tiles(1, 3, 1, 1),
                                     grouped(example("worked-4x4"))}) {
                Program program(p);
                program.show_lesson(id);
                every_write(*program.state.trace, [&](Slot slot, const Value& value, int) {
                    CHECK(dense_shape(program.state.trace->walked(), slot) == value.region);
                });
            }
    }
    TEST_CASE("matrices keep their places through a kernel") {
        Program program;
        program.show_lesson("attention");
        Item first;
        for (int k = 3; k < 9; ++k) {
            program.go_to_step(k);
            const Item item = program.find("S[0,0]", "Matrices");
            if (k > 3) CHECK(item.min.x == first.min.x);
            if (k > 3) CHECK(item.min.y == first.min.y);
            first = item;
        }
    }
    TEST_CASE("the ledger counts what the N × N matrices moved") {
        Program program;
        program.show_lesson("attention");
        program.go_to_step(0);
        CHECK(program.shows("0 of 4 times"));
        program.go_to_step(nth_step(*program.state.trace, Op::store));
        program.check_shows({"64 B out", "1 of 4 times"});
        program.go_to_step(program.state.trace->size() - 1);
        program.check_shows({"64 B out, 64 B back", "4 of 4 times"});
    }
    TEST_CASE("the smallest step is a cell") {
        Program program;
        program.show_lesson("attention");
        program.go_to_step(nth_step(*program.state.trace, Op::scores));
        program.state.cursor.done = 1;
        refresh_explanation(program.state);
        program.frame();
        CHECK(program.state.explanation.target == CellRef{Slot::S, 0, 0});
        step_forward(program.state, Level::micro);
        program.frame();
        CHECK(program.state.explanation.target == CellRef{Slot::S, 0, 1});
        program.check_shows({"Q, row 0", "K, row 1"});
    }
    TEST_CASE("queries and keys are named by their words") {
        Program program(with_tokens(example("worked-4x4")));
        program.show_lesson("attention");
        program.go_to_step(nth_step(*program.state.trace, Op::divide));
        for (const char* word : {"the", "cat", "sat", "it"}) CHECK(program.look_for(word, "Matrices"));
        program.show(example("worked-4x4"));
        program.go_to_step(nth_step(*program.state.trace, Op::divide));
        CHECK(program.look_for("q0", "Matrices"));
    }
    TEST_CASE("the last step of training shows the promise beside the change") {
        Program program;
        program.show_lesson("training-step");
        program.go_to_step(program.state.trace->size() - 1);
        program.check_shows({"before", "after", "promised", "change", "−41.50", "−38.46"});
    }
    TEST_CASE("an input of the training step can be changed by double-click") {
        Program program;
        program.show_lesson("attention");
        program.go_to_step(0);
        program.double_click("Q[0,0]", "Matrices");
        CHECK(program.state.edit);
    }
    TEST_CASE("training shows the rows of all heads that share K and V, and each can be changed") {
        Problem p = grouped(example("worked-4x4"));
        show_head(p, 2);  // the group of heads 2 and 3
        Program program(p, {1600, 900});
        program.show_lesson("training-step");
        program.go_to_step(nth_step(*program.state.trace, Op::ds));
        for (const char* row : {"h2 q0", "h3 q3"}) CHECK(program.look_for(row, "Matrices"));
        const auto edited = [&] { return *program.state.problem; };
        set_element(program.state, {Slot::W_Q, 6, 1}, 7);  // row 2 of head 3
        CHECK(edited().heads->Q[3](2, 1) == 7);
        CHECK(edited().heads->shown == 2);
        CHECK(edited().Q == p.Q);
        set_element(program.state, {Slot::dO, 5, 0}, -2);
        CHECK(edited().heads->dO[3](1, 0) == -2);
        CHECK(edited().heads->dO[2] == p.heads->dO[2]);
        set_element(program.state, {Slot::W_K, 3, 0}, 9);  // of the group
        CHECK(edited().K(3, 0) == 9);
        CHECK(program.state.trace->result(Slot::O).rows() == 8);
        set_element(program.state, {Slot::X, 7, 7}, 2);
        CHECK(contains(program.state.notice, "X is the identity"));
        CHECK_FALSE(edited().projection);
    }
    TEST_CASE("a first gradient of the loss is given to all heads") {
        Problem p = example("worked-4x4");
        p.dO.reset();
        Program program(grouped(p));
        program.show_lesson("backward");
        set_element(program.state, {Slot::dO, 0, 0}, 3);
        REQUIRE(program.state.problem->dO);
        CHECK((*program.state.problem->dO)(0, 0) == 3);
        CHECK(program.state.problem->heads->dO.size() == 4);
    }
}
