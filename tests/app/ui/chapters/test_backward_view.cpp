// The views of the backward pass and of FlashAttention-1's forward pass: everything has its place, the
// choices answer, and what stands side by side is as far.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/state/state.h"
#include "core/lessons/forward/forward.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

void show(Program& program, const char* lesson, Problem p, BackwardOrder order = BackwardOrder::key_outer) {
    p.options.order = order;
    program.state.lesson = find_lesson(lesson);
    REQUIRE(set_problem(program.state, std::move(p)));
    program.settle();
}

// Each kind of step where it first and last occurs.
std::vector<int> steps_to_look_at(const Trace& trace) {
    std::set<int> out;
    for (int op = 0; op < static_cast<int>(Op::count); ++op)
        if (const std::vector<int> all = steps_of(trace, static_cast<Op>(op)); !all.empty())
            out.insert({all.front(), all.back()});
    return {out.begin(), out.end()};
}

void check_layout(Program& program) {
    for (int k : steps_to_look_at(*program.state.trace)) {
        program.go_to_step(k);
        check_frame(program);
    }
}

std::vector<Problem> problems() {
    return {example("worked-4x4"),         example("causal-8"),           example("ragged-7x5"),
            example("large-logits"),       random_with_tiles(8, 4, 2, 2), random_with_tiles(1, 1, 1, 1),
            random_with_tiles(24, 8, 8, 4)};
}

}  // namespace

TEST_CASE("the views of the backward pass and of FlashAttention-1 keep every text in its place") {
    for (const Screen& screen : all_screens) {
        Program program(example("worked-4x4"), screen);
        for (const Problem& problem : problems()) {
            for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer}) {
                show(program, "flash-backward", problem, order);
                check_layout(program);
            }
            show(program, "flash-forward-v1", problem);
            for (bool beside : {true, false}) {
                program.state.beside.shown = beside;
                check_layout(program);
            }
        }
    }
}

TEST_CASE("a wire that waits for another block than that of its box says so") {
    Program program(example("worked-4x4"), {1280, 720});
    show(program, "flash-backward", example("worked-4x4"));
    program.go_to_step(10);  // dQ₀ grows in HBM
    CHECK(program.shows("32 B in, 32 B out"));
    CHECK_FALSE(program.shows("next: "));
    program.go_to_step(11);  // box and wire of dQ₀ and dQ₁
    CHECK(program.shows("next: dQ"));
    CHECK(program.shows("32 B in, 32 B out, at step 19"));
}

TEST_CASE("their presenter pages keep every text in its place, and none is small") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    for (const Problem& problem : problems()) {
        for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer}) {
            show(program, "flash-backward", problem, order);
            check_layout(program);
        }
        show(program, "flash-forward-v1", problem);
        check_layout(program);
    }
}

TEST_CASE("the order of the backward loops is a switch, and the problem stays the same otherwise") {
    Program program;
    show(program, "flash-backward", example("worked-4x4"));
    program.frame(2);
    CHECK(program.state.trace->size() == 40);
    program.click("query blocks outside");
    CHECK(program.state.problem->options.order == BackwardOrder::query_outer);
    CHECK(program.state.trace->size() == 41);
    CHECK(program.shows("Rows first"));
    program.click("key blocks outside");
    CHECK(program.state.trace->size() == 40);
    CHECK(program.shows("Columns first"));
}

TEST_CASE("FlashAttention-2 stands beside FlashAttention-1, and both give the same O") {
    Program program;
    show(program, "flash-forward-v1", example("worked-4x4"));
    program.go_to_step(31);
    program.check_shows({"3 of 4 tiles done by both", "standard 512 B", "The same O"});
    CHECK(program.state.beside.largest_difference < 1e-14);
    CHECK(program.state.beside.first == program.state.trace);
    program.click("This step");
    CHECK_FALSE(program.shows("The same O"));
}

TEST_CASE("the walk beside is as many tiles far, at the same op") {
    for (const char* name : {"worked-4x4", "causal-8", "ragged-7x5", "fully-masked-row"}) {
        const Problem p = example(name);
        const auto first = flash_forward_v1(p), second = flash_forward(p);
        for (int k = 0; k < first->size(); ++k) {
            const int at = step_beside(*first, k, *second);
            const int done = tiles_done(*first, k), all = tiles_done(*first, first->size() - 1);
            INFO(std::string(name), ", step ", k);
            if (at >= 0) CHECK(tiles_done(*second, at) == done);
            if (first->step(k).op == Op::init) CHECK(at == -1);
            if (done == all) CHECK(at == second->size() - 1);
            const Op op = first->step(k).op;
            if (op == Op::scores || op == Op::row_sum) CHECK(second->step(at).op == op);
        }
    }
}

TEST_CASE("on chip, a tile stays as long as its block does") {
    Program program;
    show(program, "flash-backward", example("worked-4x4"));
    const auto state_of = [&](Slot slot) { return backward_look(program.state, slot).state; };
    program.go_to_step(28);                        // dS of tile (0, 1)
    CHECK(state_of(Slot::Kj) == CellState::idle);  // loaded for all query blocks
    CHECK(state_of(Slot::dVj) == CellState::idle);
    CHECK(state_of(Slot::dQi) == CellState::discarded);  // still that of query block 1
    CHECK(state_of(Slot::dS) == CellState::written);
    CHECK(state_of(Slot::Prob) == CellState::read);
    CHECK(scores_slot(program.state) == Slot::Prob);
    program.go_to_step(24);  // S of tile (0, 1): P is that of the tile before
    CHECK(scores_slot(program.state) == Slot::S);
    program.go_to_step(29);  // dQ comes from HBM, with what key block 0 gave
    const MatrixLook dQ = backward_look(program.state, Slot::dQi);
    REQUIRE(dQ.before);
    CHECK(dQ.before == program.state.trace->live(Slot::dQ, 0, 28).value);
}

TEST_CASE("in the narrowest window, too, the tile that a step makes has its numbers") {
    Program program(example("gradients-4x4"), {1024, 640});
    show(program, "flash-backward", example("gradients-4x4"));
    const Trace& trace = *program.state.trace;
    for (const Op op : {Op::scores, Op::recompute, Op::dp, Op::ds}) {
        const int k = steps_of(trace, op).front();
        program.go_to_step(k, 2);
        INFO(program.where());
        const Access& made = trace.writes(k).front();
        const Region at = trace.value(made.value).region;
        const Item cell = program.find(cell_name({made.slot, at.row, at.col}), "SRAM");
        CHECK(std::ranges::any_of(program.items(), [&](const Item& item) {
            const ImVec2 mid = middle(item);
            return item.kind == ItemKind::text && mid.x > cell.min.x && mid.x < cell.max.x &&
                   mid.y > cell.min.y && mid.y < cell.max.y;
        }));
    }
}

TEST_CASE("in the narrowest window a step has the numbers that it reads, and its sentence to the end") {
    Program program(example("worked-4x4"), {1024, 640});
    program.show_lesson("flash-backward");
    program.go_to_step(6);
    REQUIRE(program.state.trace->step(6).op == Op::recompute);
    CHECK(program.look_for("0.225", "SRAM"));
    CHECK(program.look_for("2.4938", "SRAM"));  // as the formula has it
    CHECK(program.look_for("34.816", "SRAM"));
    for (const std::string& text : shortened_texts(program)) CHECK_FALSE(text.starts_with("Explanation"));
}

TEST_CASE("matrices side by side in HBM share the room so that numbers have theirs") {
    Program words(example("six-words"), {1920, 1080});
    CHECK(words.look_for("2.50", "HBM"));  // only Q has it
    CHECK(words.look_for("1.25", "HBM"));  // only K
    Program causal(example("causal-8"));
    CHECK(causal.look_for("−1.0", "HBM"));
    CHECK(causal.look_for("4", "HBM"));  // V gives what it can spare
}
