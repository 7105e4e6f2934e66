// A number is followed back to the inputs and on to what it feeds, by keys and by mouse.
#include "app/ui/parts/matrix.h"
#include "app/ui/state/inputs.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

const Inspection& inspected(const Program& program) {
    REQUIRE(program.state.inspection);
    return *program.state.inspection;
}

std::string entry_id(const Inspection& in, Link link) {
    for (std::size_t n = 0; n < in.entries.size(); ++n)
        if (in.entries[n].link == link) return "link " + std::to_string(n);
    return "none";
}

}  // namespace

TEST_SUITE("inspect") {
    TEST_CASE("Enter follows a cell of O back to an input, Backspace returns, Escape leaves") {
        Program program;
        program.go_to_step(program.state.trace->size() - 1);
        program.click("O[0,1]", "HBM");
        const Trace& trace = *program.state.trace;
        CHECK(inspected(program).at() == Place{{Slot::O, 0, 1}, 19});
        std::vector<Place> way = {inspected(program).at()};
        while (inspected(program).at().step >= 0 && !inspected(program).from.empty() && way.size() < 30) {
            const Region& first = inspected(program).entries.front().patch.cells;
            if (first.rows * first.cols > 1) program.press("enter down");  // opens the group
            program.press(Key::enter);
            const std::vector<Place> from = sources(trace, way.back());
            CHECK(std::ranges::count(from, inspected(program).at()) == 1);
            way.push_back(inspected(program).at());
        }
        CHECK(way.size() > 4);
        CHECK(program.shows("O[0,1]"));
        CHECK(inspected(program).path == way);
        program.press(Key::backspace);
        CHECK(inspected(program).at() == way[way.size() - 2]);
        program.click("crumb 0");
        CHECK(inspected(program).path.size() == 1);
        program.press(Key::backspace);  // there is nothing further back
        CHECK(inspected(program).at() == way[0]);
        program.press(Key::escape);
        CHECK_FALSE(program.state.inspection);
        CHECK(program.look_for("Explanation"));
    }

    TEST_CASE("where more cells lie behind one than are looked for, the panel says so") {
        Program program(random_with_tiles(64, 128, 16, 16));
        program.go_to_step(program.state.trace->size() - 1);
        program.press(Key::w);
        program.frame(2);
        CHECK(inspected(program).too_many_ends);
        CHECK(program.shows("In the end from more cells than are listed."));
    }

    TEST_CASE("what the panel says is what the trace holds") {
        Program program;
        program.go_to_step(program.state.trace->size() - 1);
        for (int n = 0; n < 2; ++n) program.click("O[2,3]", "HBM");  // written by this very step
        const Trace& trace = *program.state.trace;
        const Place at = inspected(program).at();
        program.check_shows({"= " + format_full(value_of(trace, at)), "output, row 2, column 3"});
        CHECK_FALSE(program.shows("Go to step"));  // it stands there
        const std::vector<Place> from = sources(trace, at);
        CHECK(inspected(program).from == patches(from));
        program.check_shows({place_name(trace, from[0]), made_text(from[0].step), "In the end from",
                             "No later step reads it."});
        // O[2,3] comes from its row of Q, all keys, and one column of V.
        CHECK(program.shows("Q[2,0…3]"));
        CHECK(inspected(program).ends == patches(*inputs_of(trace, at)));
        program.go_to_step(at.step - 1);
        CHECK(program.shows("Go to step " + std::to_string(at.step + 1)));
    }

    TEST_CASE("places are called as the formulas call them") {
        const auto names = [](const char* lesson, const Options& options) {
            Problem problem = example("worked-4x4");
            problem.options = options;
            const auto trace = walk_of(lesson, problem);
            std::set<std::string> out;
            every_write(*trace, [&](Slot slot, const Value& value, int k) {
                out.insert(place_name(*trace, {{slot, value.region.row, value.region.col}, k}));
            });
            return out;
        };
        const auto forward = names("flash-forward", {}), backward = names("flash-backward", {});
        for (const char* name : {"O[2,0]", "O₁[2,0]", "Q₁[2,0]", "K₁[2,0]", "ℓ[0]", "P\u0303[0,2]"})
            CHECK_MESSAGE(forward.contains(name), std::string(name));
        for (const char* name : {"L₁[2]", "D₁[2]", "dO₁[2,0]", "dK₁[2,0]", "dQ₀[0,0]", "dQ[0,0]"})
            CHECK_MESSAGE(backward.contains(name), std::string(name));
        Options late;
        late.normalised = false;
        late.notation = Notation::delta_omega;
        const auto online = names("softmax-1pass", {}), at_end = names("softmax-1pass", late);
        for (const char* name : {"O₂[0]", "ℓ₂", "ℓ", "m₂", "α₂", "p₂", "x₂", "V₂[0]", "O[0,0]"})
            CHECK_MESSAGE(online.contains(name), std::string(name));
        for (const char* name : {"ω\u0303₂[0]", "δ₂", "o₃[0]"})
            CHECK_MESSAGE(at_end.contains(name), std::string(name));
    }

    TEST_CASE("the first click on what this step wrote chooses the row, the second inspects") {
        Program program;
        program.go_to_step(nth_step(*program.state.trace, Op::scores));
        program.click("S[1,0]", "SRAM");
        CHECK_FALSE(program.state.inspection);
        CHECK(program.state.row == 1);
        program.click("S[1,0]", "SRAM");
        CHECK(inspected(program).at().cell == CellRef{Slot::S, 1, 0});
        program.press("escape enter");
        CHECK(inspected(program).at().cell == CellRef{Slot::S, 1, 0});
        program.press("escape w");
        CHECK(inspected(program).at().cell == CellRef{Slot::S, 1, 0});
        // A cell that the inspected one came from is the next on the way.
        program.click("Q[1,0]", "SRAM");
        CHECK(inspected(program).path.size() == 2);
        CHECK(inspected(program).at().cell == CellRef{Slot::Qi, 1, 0});
        // Another one begins anew.
        program.click("V[3,3]", "HBM");
        CHECK(inspected(program).path == std::vector<Place>{{{Slot::V, 3, 3}, -1}});
    }

    TEST_CASE("groups open, fed cells are followed forwards, and the step back is one back") {
        Program program;
        const int k = nth_step(*program.state.trace, Op::scores);
        program.go_to_step(k);
        program.press(Key::w);
        const std::size_t closed = inspected(program).entries.size();
        CHECK(inspected(program).entries[0].patch.cells == Region{0, 0, 1, 4});
        program.press(Key::enter);
        CHECK(inspected(program).entries.size() == closed + 4);
        program.press(Key::enter);
        CHECK(inspected(program).entries.size() == closed);
        program.click(entry_id(inspected(program), Link::fed));
        const Place fed = inspected(program).at();
        CHECK(fed.step > k);
        CHECK(std::ranges::count(sources(*program.state.trace, fed), Place{{Slot::S, 0, 0}, k}) == 1);
        follow(program.state, {{Slot::S, 0, 0}, k});
        CHECK(inspected(program).path.size() == 1);
    }

    TEST_CASE("stepping goes on while the inspected place stays") {
        Program program;
        program.go_to_step(nth_step(*program.state.trace, Op::new_max, 1));
        program.press(Key::w);
        const Place at = inspected(program).at();
        program.press("right right");
        CHECK(program.step() == at.step + 2);
        CHECK(inspected(program).at() == at);
        program.click("go to origin");
        CHECK(program.step() == at.step);
        program.press("home shift+enter");
        CHECK(program.step() == at.step);
        CHECK(inspected(program).at() == at);
    }

    TEST_CASE("the cells that a frame shows carry marks of their own version only") {
        Program program;
        const int k = nth_step(*program.state.trace, Op::scores);
        program.go_to_step(k);
        program.press(Key::w);
        const Trace& trace = *program.state.trace;
        const auto marks = [&](Slot slot, int step) {
            return link_marks(program.state, slot, *trace.live(slot, step).value);
        };
        REQUIRE(marks(Slot::Qi, k).size() == 1);
        CHECK(marks(Slot::Qi, k)[0].link == Link::source);
        CHECK(marks(Slot::Qi, k)[0].cells == Region{0, 0, 1, 4});
        REQUIRE(marks(Slot::S, k).size() == 1);
        CHECK(marks(Slot::S, k)[0].link == Link::inspected);
        const int later = nth_step(*program.state.trace, Op::scores, 1);
        CHECK(marks(Slot::S, later).empty());
        CHECK(marks(Slot::Kj, later).empty());
        REQUIRE(marks(Slot::m_tile, nth_step(*program.state.trace, Op::tile_max)).size() == 1);
        CHECK(marks(Slot::m_tile, nth_step(*program.state.trace, Op::tile_max))[0].link == Link::fed);
    }

    TEST_CASE("an edit shows in the inspected value; another lesson ends the inspection") {
        Program program;
        program.go_to_step(program.state.trace->size() - 1);
        program.click("O[0,1]", "HBM");
        const std::shared_ptr<const Trace> before = program.state.trace;
        const Place at = inspected(program).at();
        set_element(program.state, {Slot::V, 0, 1}, 5);
        program.settle();
        program.frame(2);
        CHECK(inspected(program).at() == at);
        CHECK(value_of(*program.state.trace, at) != value_of(*before, at));
        CHECK(program.shows(format_full(value_of(*program.state.trace, at))));
        program.show_lesson("attention");
        program.frame(2);
        CHECK_FALSE(program.state.inspection);
        CHECK(program.look_for("Explanation"));
    }

    TEST_CASE("a double click types into a cell and leaves the inspection as it was") {
        Program program;
        program.go_to_step(12);
        program.double_click("V[0,1]", "HBM");
        REQUIRE(program.state.edit);
        CHECK_FALSE(program.state.inspection);
        program.press(Key::escape);
        program.state.edit.reset();
        program.go_to_step(program.state.trace->size() - 1);
        program.click("O[0,1]", "HBM");
        program.press(Key::enter);
        const std::vector<Place> way = inspected(program).path;
        REQUIRE(way.size() == 2);
        program.double_click("V[0,1]", "HBM");
        REQUIRE(program.state.edit);
        CHECK(inspected(program).path == way);
    }

    TEST_CASE(
        "F2 types into the cell under the pointer, else into the inspected one, as a spreadsheet does") {
        Program program;
        program.go_to_step(12);
        program.press(Key::f2);
        CHECK_FALSE(program.state.edit);
        program.check_shows({"F2 edits a number that is given"});
        program.hover("V[0,1]", "HBM");
        program.frame(2);
        program.press(Key::f2);
        program.frame(2);
        REQUIRE(program.state.edit);
        CHECK(program.state.edit->cell == CellRef{Slot::V, 0, 1});
        program.retype("2.5");
        program.press(Key::enter);
        program.settle();
        CHECK(program.state.problem->V(0, 1) == 2.5);
        // Of a result there is nothing to type, but the inspected cell may be one
        program.click("V[1,0]", "HBM");
        program.mouse_away();
        program.frame(2);
        REQUIRE(program.state.inspection);
        program.press(Key::f2);
        program.frame(2);
        REQUIRE(program.state.edit);
        CHECK(input_of(program.state.edit->cell.slot) == Slot::V);
        CHECK(program.state.edit->cell.row == 1);
        CHECK(program.look_for("cell edit"));
    }

    TEST_CASE("F2 types into the cell that the arrow keys have reached, and into none that the page does not "
              "show") {
        Program program;
        program.tab_to("hbm0 Q");
        program.press("right down f2");
        program.frame(2);
        REQUIRE(program.state.edit);
        CHECK(program.state.edit->cell == CellRef{Slot::Q, 1, 1});
        program.press(Key::escape);
        program.frame(2);
        begin_edit(program.state, {Slot::dO, 0, 0}, "");
        program.frame(2);
        CHECK_FALSE(program.state.edit);
    }

    TEST_CASE("a long way loses its middle") {
        const std::vector<float> widths(10, 50);
        CHECK(shown_crumbs(widths, 10, 1000, 1).size() == 10);
        CHECK(shown_crumbs(widths, 10, 200, 1) == std::vector<int>{0, -1, 8, 9});
        CHECK(shown_crumbs(widths, 10, 20, 1).size() <= 3);
        CHECK(shown_crumbs({50}, 10, 20, 1) == std::vector<int>{0});
    }

    TEST_CASE("the panel keeps the rules of the layout, in every lesson and at the three sizes") {
        for (const Screen size : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}})
            for (const char* id : {"flash-forward", "flash-backward", "training-step", "softmax-1pass"}) {
                Program program(example("worked-4x4"), size);
                program.show_lesson(id);
                program.go_to_step(program.state.trace->size() - 1);
                program.press(Key::w);
                for (int n = 0; n < 7; ++n) {
                    check_frame(program);
                    const Inspection& in = inspected(program);
                    if (in.from.empty()) break;
                    const Region& first = in.entries[0].patch.cells;
                    if (first.rows * first.cols > 1) program.press("enter down");
                    program.press(Key::enter);
                }
            }
    }

    TEST_CASE("presenter mode shows the way in letters for the back row") {
        Program program(example("worked-4x4"), {1280, 720});
        program.press(Key::p);
        program.go_to_step(nth_step(*program.state.trace, Op::output));
        program.press("w enter enter");
        CHECK(inspected(program).path.size() == 3);
        CHECK(program.shows(place_name(*program.state.trace, inspected(program).path[0])));
        check_frame(program);
        program.press(Key::escape);
        CHECK_FALSE(program.state.inspection);
        CHECK(program.state.presenter);
    }
}

TEST_CASE(
    "Ctrl V puts a table of the clipboard into the matrix that the mouse is at, and Ctrl Z takes it back") {
    Program program;
    const Matrix before = program.state.problem->V;
    program.state.hooks.take_table = [](const std::string& table, const Problem& current, Slot target) {
        Problem own = current;
        CHECK(target == Slot::V);
        own.V.setConstant(table.size());
        return Result<Problem>(own);
    };
    program.hover("V[1,2]", "HBM");
    ImGui::SetClipboardText("12345");
    program.press("ctrl+v");
    program.settle();
    CHECK(program.state.problem->V(0, 0) == 5);
    CHECK(program.shows("V is the table of the clipboard now"));
    program.press("ctrl+z");
    program.settle();
    CHECK(program.state.problem->V == before);
    ImGui::SetClipboardText("");
    program.press("ctrl+v");
    CHECK(program.shows("the clipboard holds no text"));
}
