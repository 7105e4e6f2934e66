// The list that copies a matrix: by mouse and by keys, and what it puts on the clipboard.
#include "tests/app/ui/layout_check.h"

#include "app/ui/kit/imgui_compat.h"
#include "app/ui/state/matrix_menu.h"
#include "core/base/matrix_text.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewalk::test;

namespace {

std::string clipboard() {
    const char* text = ImGui::GetClipboardText();
    return text ? text : "";
}

void right_click(Program& program, std::string_view cell, std::string_view panel) {
    program.hover(cell, panel);
    ui::send_mouse_button(1, true);
    program.frame();
    ui::send_mouse_button(1, false);
    program.frame(2);
}

}  // namespace

TEST_CASE("by keys: the chosen matrix in every format") {
    Program program;
    program.go_to_step(17);  // O ← α ⊙ O + P̃ V
    const Matrix O = program.state.trace->live(Slot::Oi, 17).value->data;
    const std::string texts[] = {matrix_as_csv(O), matrix_as_numpy(O), matrix_as_latex(O)};
    for (int n = 0; n < 3; ++n) {
        program.press("shift+ctrl+c");
        program.frame();
        REQUIRE(program.state.matrix_menu);
        CHECK(program.shows("Copy O₀"));
        for (int down = 0; down < n; ++down) program.press(Key::down);
        program.press(Key::enter);
        program.frame();
        CHECK(!program.state.matrix_menu);
        CHECK(clipboard() == texts[n]);
    }
    CHECK(program.state.notice.find("LaTeX") != std::string::npos);
    program.press("shift+ctrl+c escape");
    program.frame();
    CHECK(!program.state.matrix_menu);
    CHECK(program.step() == 17);
}

TEST_CASE("by mouse: one tile, or the whole slot") {
    Program program;
    program.frame(2);
    right_click(program, "K[2,0]", "HBM");
    REQUIRE(program.state.matrix_menu);
    CHECK(program.state.matrix_menu->slot == Slot::K);
    program.click("copy tile CSV");
    CHECK(clipboard() == matrix_as_csv(program.state.problem->K.bottomRows(2)));
    right_click(program, "K[2,0]", "HBM");
    program.click("copy all NumPy");
    program.frame();
    CHECK(clipboard() == matrix_as_numpy(program.state.problem->K));
    CHECK(!program.state.matrix_menu);
    right_click(program, "K[2,0]", "HBM");
    program.click_at(5, 5);
    program.frame();
    CHECK(!program.state.matrix_menu);
}

TEST_CASE("a slot as it lies at a step: what is not there yet is NaN") {
    Program program;
    const Trace& trace = *program.state.trace;
    CHECK(ui::slot_matrix(trace, Slot::Q, 0) == program.state.problem->Q);
    CHECK(ui::slot_matrix(trace, Slot::O, 0).size() == 0);
    const Matrix half = ui::slot_matrix(trace, Slot::O, 19);
    REQUIRE(half.rows() == 4);
    CHECK(half.topRows(2) == trace.result(Slot::O).topRows(2));
    CHECK(std::isnan(half(2, 0)));
    CHECK(ui::slot_matrix(trace, Slot::O, trace.size() - 1) == trace.result(Slot::O));
    ui::open_matrix_menu(program.state, Slot::O, 1);
    CHECK(!program.state.matrix_menu);
    CHECK(!program.state.notice.empty());
}

TEST_CASE("the list is legible at every size, also on a projector") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1920, 1080}})
        for (const bool presenter : {false, true}) {
            Program program(example("worked-4x4"), screen, presenter);
            ui::open_matrix_menu(program.state, Slot::K, 0);
            program.frame(3);
            CHECK(program.shows("Copy all of K"));
            check_frame(program, {}, {.panel = "Copy matrix"});
        }
}
