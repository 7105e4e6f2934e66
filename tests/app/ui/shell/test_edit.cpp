// Changing the problem by hand: cells, tile sizes, mask, scale, random numbers, examples, files.
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// O of the walk and of standard attention on the problem that is shown.
double distance_from_reference(const AppState& state) {
    const Matrix O = state.trace->result(Slot::O), wanted = matrix_of(dense_attention(*state.problem).O);
    REQUIRE(O.rows() == wanted.rows());
    REQUIRE(O.cols() == wanted.cols());
    return (O - wanted).cwiseAbs().maxCoeff();
}

void open_tab(Program& program, const char* name) {
    program.press(Key::i);
    program.click(std::string("problem tab/") + name);
}

void type_into(Program& program, const char* field, std::string_view text) {
    program.click(field);
    program.retype(text);
    program.press(Key::enter);
}

}  // namespace

TEST_CASE("a number typed into Q makes a new walk") {
    Program program;
    const auto before = program.state.trace;
    program.go_to_step(12);
    program.edit_cell("Q[1,2]", "HBM", "2.5");
    CHECK_FALSE(program.state.edit);
    CHECK(program.state.problem->Q(1, 2) == 2.5);
    CHECK(program.state.trace != before);
    CHECK(program.step() == 12);
    CHECK(distance_from_reference(program.state) < 1e-12);
    CHECK(contains(program.state.problem->title, "changed"));

    program.press("ctrl+z");
    CHECK(program.state.problem->Q(1, 2) == before->problem().Q(1, 2));
    CHECK(program.state.problem->title == before->problem().title);
    program.press("ctrl+y");
    CHECK(program.state.problem->Q(1, 2) == 2.5);
    program.press("ctrl+z shift+ctrl+z");
    CHECK(program.state.problem->Q(1, 2) == 2.5);
}

TEST_CASE("K and V can be typed into as well, O and L cannot") {
    Program program;
    program.go_to_step(39);
    for (const char* cell : {"K[3,0]", "V[2,1]"}) program.edit_cell(cell, "HBM", "−0,75");
    CHECK(program.state.problem->K(3, 0) == -.75);
    CHECK(program.state.problem->V(2, 1) == -.75);
    CHECK(distance_from_reference(program.state) < 1e-12);
    program.double_click("O[0,0]", "HBM");
    CHECK_FALSE(program.state.edit);
}

TEST_CASE("a tile on chip can be typed into where it shows its cells") {
    Program program;
    program.go_to_step(3);
    program.edit_cell("Q[1,1]", "SRAM", "4");
    CHECK(program.state.problem->Q(1, 1) == 4);
}

TEST_CASE("what is no number is refused and can be corrected") {
    Program program;
    const auto before = program.state.trace;
    for (const char* text : {"two", "1e999", "nan", "inf", "1.5x", "--1", ""}) {
        CAPTURE(text);
        program.edit_cell("Q[0,0]", "HBM", text);
        CHECK(program.state.edit);
        CHECK(contains(program.state.notice, "is not a number"));
        CHECK(program.state.trace == before);
        program.frame(2);
        CHECK(ImGui::GetIO().WantTextInput);  // the caret is still there
        program.press(Key::escape);
        CHECK_FALSE(program.state.edit);
    }
    program.edit_cell("Q[0,0]", "HBM", "x");
    program.retype("7");
    program.press(Key::enter);
    CHECK(program.state.problem->Q(0, 0) == 7);
}

TEST_CASE("Escape or a click elsewhere leaves the cell as it was") {
    Program program;
    const auto before = program.state.trace;
    program.double_click("V[0,0]", "HBM");
    program.type("9");
    program.press(Key::escape);
    CHECK_FALSE(program.state.edit);
    program.double_click("V[0,0]", "HBM");
    program.type("9");
    program.click_at(900, 500);
    program.frame(2);
    CHECK_FALSE(program.state.edit);
    CHECK(program.state.trace == before);
    program.press(Key::right);
    CHECK(program.step() == 1);
}

TEST_CASE("undo and redo by their buttons") {
    Program program;
    open_tab(program, "Settings");
    program.click("undo");
    CHECK(program.state.problem->Br == 2);
    program.click("Br/more");
    program.click("Bc/less");
    CHECK(program.state.problem->Br == 3);
    CHECK(program.state.problem->Bc == 1);
    program.click("undo");
    CHECK(program.state.problem->Bc == 2);
    program.click("undo");
    CHECK(program.state.problem->Br == 2);
    program.click("redo");
    program.click("redo");
    CHECK(program.state.problem->Bc == 1);
    program.press("ctrl+y");
    CHECK(program.state.notice == "There is nothing to redo.");
}

TEST_CASE("what can be undone takes so many bytes and no more") {
    Program program;
    set_lesson(program.state, *find_lesson("softmax-dense"));
    Problem large = good(random_problem(64, 256, 1));
    // 8 MiB each; a walk of one row has few steps all the same
    large.Q = large.Q.replicate(64, 1).eval(), large.dO = large.dO->replicate(64, 1).eval();
    for (int n = 1; n <= 10; ++n) {
        large.Br = n;
        REQUIRE(set_problem(program.state, large));
    }
    CHECK(program.state.undo.size() == 3);
    program.frame();
    program.press("ctrl+z");
    CHECK(program.state.problem->Br == 9);
    while (!program.state.undo.empty()) program.press("ctrl+z");
    CHECK(program.state.problem->Br == 7);
}

TEST_CASE("tile sizes by button and by number stay within the matrix") {
    Program program;
    open_tab(program, "Settings");
    for (int n = 0; n < 6; ++n) program.click("Br/more");
    CHECK(program.state.problem->Br == 4);
    for (int n = 0; n < 6; ++n) program.click("Br/less");
    CHECK(program.state.problem->Br == 1);
    type_into(program, "Bc/value", "99");
    CHECK(program.state.problem->Bc == 4);
    type_into(program, "Bc/value", "3");
    CHECK(program.state.problem->Bc == 3);
    CHECK(distance_from_reference(program.state) < 1e-12);
}

TEST_CASE("mask, window, scale and element size") {
    Program program;
    open_tab(program, "Settings");
    program.click("causal");
    CHECK(program.state.problem->causal);
    CHECK(distance_from_reference(program.state) < 1e-12);
    program.click("windowed");
    CHECK(program.state.problem->window == 1);
    type_into(program, "window/value", "2");
    CHECK(program.state.problem->window == 2);
    CHECK(distance_from_reference(program.state) < 1e-12);
    program.click("windowed");
    CHECK_FALSE(program.state.problem->window);

    program.click("scale/1/√d");
    CHECK(program.state.problem->softmax_scale() == .5);
    program.click("scale/number");
    CHECK(program.state.problem->scale.kind == Scale::Kind::number);
    CHECK(program.state.problem->softmax_scale() == .5);
    type_into(program, "scale number", "0.125");
    CHECK(program.state.problem->softmax_scale() == .125);
    CHECK(distance_from_reference(program.state) < 1e-12);
    type_into(program, "scale number", "1/8");
    CHECK(program.state.problem->softmax_scale() == .125);
    program.click("scale/1");
    CHECK(program.state.problem->softmax_scale() == 1);

    program.click("bytes/2 B fp16");
    CHECK(program.state.problem->element_bytes == 2);
    CHECK(program.state.trace->step(0).traffic.hbm_read == 16);  // a 2 × 4 tile of Q
}

TEST_CASE("random numbers of a chosen size") {
    Program program;
    open_tab(program, "Numbers");
    type_into(program, "N/value", "12");
    CHECK(program.state.problem->N() == 12);
    type_into(program, "d/value", "6");
    CHECK(program.state.problem->N() == 12);
    CHECK(program.state.problem->d() == 6);
    const Matrix before = program.state.problem->Q;
    type_into(program, "seed/value", "4711");
    CHECK(program.state.problem->Q != before);
    type_into(program, "seed/value", "1");
    CHECK(program.state.problem->Q == before);
    CHECK(distance_from_reference(program.state) < 1e-12);
    program.click("undo");
    program.click("undo");
    CHECK(program.state.problem->Q == before);
}

TEST_CASE("a large walk is built in the background, and the old one stays until it is done") {
    Program program;
    const auto before = program.state.trace;
    REQUIRE(set_problem(program.state, random_with_tiles(256, 64, 8, 8)));
    CHECK(program.state.trace == before);
    CHECK(idle_seconds(program.state) < .1);  // soon to be looked at again
    program.press(Key::right);                // meanwhile everything goes on
    program.settle();
    CHECK(program.state.trace != before);
    CHECK(program.state.problem->N() == 256);
    CHECK(distance_from_reference(program.state) < 1e-9);
    program.press("ctrl+z");
    program.settle();
    CHECK(program.state.problem->N() == 4);
    program.press("ctrl+y ctrl+y");
    program.settle();
    CHECK(program.state.problem->N() == 256);
}

TEST_CASE("a walk that is out of date before it is done is dropped") {
    Program program;
    REQUIRE(set_problem(program.state, random_with_tiles(256, 64, 8, 8)));
    REQUIRE(set_problem(program.state, example("ties")));
    program.settle();
    CHECK(program.state.problem->name == "ties");
    program.frame(5);
    CHECK(program.state.problem->name == "ties");
}

TEST_CASE("what is too large to be walked through is refused, the old problem stays") {
    Program program;
    open_tab(program, "Numbers");
    type_into(program, "d/value", "1024");
    type_into(program, "N/value", "4096");
    program.settle();
    CHECK(program.state.notice != "");
    CHECK(program.state.problem->N() < 4096);
    CHECK(distance_from_reference(program.state) < 1e-9);
}

TEST_CASE("a cell of the panel can be typed into; the wheel moves a larger matrix") {
    Program program(random_with_tiles(40, 3, 8, 8));
    open_tab(program, "Numbers");
    program.click("matrix/K");
    REQUIRE(program.look_for("K[0,0]", "Problem"));
    program.hover("K[0,0]", "Problem");
    program.wheel(-1);
    CHECK_FALSE(program.look_for("K[0,0]", "Problem"));
    program.edit_cell("K[3,1]", "Problem", "1.25");
    CHECK(program.state.problem->K(3, 1) == 1.25);
}

TEST_CASE("an example is chosen from the list") {
    Program program;
    program.press(Key::end);
    program.click("example");
    program.click("causal-8");
    CHECK(program.state.problem->name == "causal-8");
    CHECK(program.step() == 0);
    CHECK_FALSE(program.look_for("ties"));
    program.press("ctrl+z");
    CHECK(program.state.problem->name == "worked-4x4");
}

TEST_CASE("every example can be chosen") {
    Program program;
    for (const Problem& p : std::vector<Problem>(program.state.examples)) {
        program.click("example");
        program.click(p.name);
        CHECK(program.state.problem->name == p.name);
        CHECK(distance_from_reference(program.state) < 1e-9);
    }
}

TEST_CASE("a problem is saved and loaded by its path") {
    const Folder scratch;
    const std::string path = scratch.file("mine.json");
    Program program(example("causal-8"));
    open_tab(program, "Numbers");
    program.click("save");
    CHECK(contains(program.state.notice, "Type a file name"));
    program.click("path");
    program.type(path);
    program.click("save");
    CHECK(program.state.notice == "Saved " + path + ".");
    CHECK(scratch.count() == 1);
    REQUIRE(set_problem(program.state, example("ties")));
    program.click("load");
    CHECK(program.state.problem->Q == example("causal-8").Q);
    CHECK(program.state.problem->causal);
    CHECK(program.state.notice.starts_with("Loaded"));

    program.click("path");
    program.retype(scratch.file("absent.json"));
    program.press(Key::enter);
    CHECK(contains(program.state.notice, "absent.json"));
    CHECK(program.state.problem->Q == example("causal-8").Q);
    program.click("path");
    program.retype(scratch.file("no/such/folder.json"));
    program.click("save");
    CHECK(contains(program.state.notice, "folder.json"));
    CHECK(scratch.count() == 1);
}

TEST_CASE("dropped files: a problem, three matrices at once, something else") {
    const Folder scratch;
    Program program;
    AppState& state = program.state;

    state.dropped = {std::string(TILEWALK_SOURCE_DIR) + "/assets/examples/ties.json"};
    program.frame(2);
    CHECK(state.problem->Q == example("ties").Q);

    state.dropped = {scratch.file("v.csv", "7,8\n9,10\n"), scratch.file("q.csv", "1,2\n3,4\n5,6\n"),
                     scratch.file("k.csv", "1,0\n0,1\n")};
    program.frame(2);
    CHECK(state.problem->N() == 3);
    CHECK(state.problem->N_kv() == 2);
    CHECK(state.problem->d() == 2);
    CHECK(state.problem->V(1, 1) == 10);
    CHECK(distance_from_reference(state) < 1e-12);
    CHECK(state.dropped.empty());

    const auto before = state.trace;
    scratch.file("bad.csv", "1,2\n3,oops\n");
    scratch.file("bad.json", "{\"q\": [[1, 2], [3]]}");
    scratch.file("wide_q.csv", "1,2,3\n");
    for (const char* name : {"bad.csv", "bad.json", "wide_q.csv", "absent.npy"}) {
        CAPTURE(name);
        state.notice.clear();
        state.dropped = {scratch.file(name)};
        program.frame(2);
        CHECK(state.notice != "");
        CHECK(state.trace == before);
        CHECK(state.dropped.empty());
    }
}

TEST_CASE("without hooks files cannot be opened or saved, and it says so") {
    Program program;
    program.state.hooks = {};
    program.state.dropped = {"x.json"};
    program.frame(2);
    CHECK(program.state.notice == "Files cannot be opened here.");
    save_file(program.state, "x.json");
    CHECK(program.state.notice == "Files cannot be saved here.");
}

TEST_CASE("a problem saved without an ending gets the one of problems") {
    Program program;
    std::string path;
    program.state.hooks.save_problem = [&](const std::string& name, auto&&...) {
        path = name;
        return Result<void>{};
    };
    for (const auto& [typed, written] : {std::pair{"mine", "mine.tilewalk.json"},
                                         {"a.b/mine", "a.b/mine.tilewalk.json"},
                                         {"mine.json", "mine.json"}}) {
        save_file(program.state, typed);
        CHECK(path == written);
        CHECK(contains(program.state.notice, written));
    }
}
