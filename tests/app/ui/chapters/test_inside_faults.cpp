// The page Inside with something left out: the list of what can be, the race as two orders, the numbers that
// come of it, the way back.
#include "app/ui/cards/commands.h"
#include "app/ui/chapters/inside/inside.h"
#include "core/base/numbers.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

struct FaultProgram : Program {
    explicit FaultProgram(Screen size = {}, bool presenter = false)
        : Program(example("worked-4x4"), size, presenter) {
        state.page = Page::inside;
        settle_record();
    }
    void settle_record() {
        frame();
        wait_for_inside(state);
        frame(2);
    }
    const InsidePage& page() { return inside_page(state); }
    /// By its name, as a click or a digit would.
    void leave_out(const std::string& name) {
        choose_inside_fault(state, name);
        settle_record();
        REQUIRE(page().broken);
    }
    /// A barrier's name, counted from the end of the list.
    std::string last(inside::FaultKind kind) {
        std::string name;
        for (const InsideFault& f : inside_faults(state))
            if (f.fault.kind == kind) name = f.name;
        return name;
    }
};

}  // namespace

TEST_CASE("inside faults: X opens the list, a digit leaves out, X puts back, X X leaves out again") {
    FaultProgram program;
    program.press(Key::x);
    program.frame();
    program.check_shows(
        {"Run f5-flash2 without", "Swizzle off", "K_{j+1} may come", "Every tile of keys is full"});
    program.press(Key::escape);
    CHECK_FALSE(program.state.lists.faults);
    program.press("x 1");
    program.settle_record();
    REQUIRE(program.page().broken);
    const std::string first = inside_faults(program.state).front().name;
    CHECK(program.state.inside.fault == first);
    CHECK(program.page().shown != program.page().sound);
    program.press(Key::x);
    program.settle_record();
    CHECK(program.state.inside.fault.empty());
    CHECK_FALSE(program.page().broken);
    CHECK(program.page().shown == program.page().sound);
    program.press("x x");
    CHECK(program.state.inside.fault == first);
    program.settle_record();
    CHECK(program.page().broken);
}

TEST_CASE("inside faults: a barrier too few is shown as two orders, and the number that it makes") {
    FaultProgram program({1600, 900});
    program.leave_out(program.last(inside::FaultKind::barrier));
    const BrokenWalk& told = *program.page().broken;
    const std::string line = str(told.fault.line);
    REQUIRE(told.crossing);
    CHECK(told.crossing->crossed);
    program.check_shows({"Two accesses cross", "Race", "With the barrier of line " + line,
                         "Without it: this run", "nothing orders them", "Put line " + line + " back",
                         "The number it makes"});
    REQUIRE(told.damage.worst);
    program.check_shows({format_short(told.damage.worst->sound), format_short(told.damage.worst->broken)});
    // The walk stands at the access that gets what it must not
    const InsidePlace at = place_inside(program.state);
    CHECK(at.n == (told.crossing->second.writes ? told.crossing->first : told.crossing->second).event);
    // F tells of the step, and of the fault again
    program.press(Key::f);
    program.frame(2);
    CHECK_FALSE(program.shows("Two accesses cross"));
    program.press(Key::f);
    program.frame(2);
    CHECK(program.shows("Two accesses cross"));
    program.click("put back");
    program.settle_record();
    CHECK_FALSE(program.page().broken);
}

TEST_CASE(
    "inside faults: the swizzle off shows the banks with and without; swapped registers a wrong number") {
    FaultProgram program({1600, 900});
    program.leave_out("swizzle");
    program.check_shows({"Bank conflicts", "Without the swizzle", "With it", "8 ways of conflict",
                         "no bank is asked twice at once", "bit for bit"});
    program.leave_out("swap-b");
    CHECK(program.page().broken->damage.wrong > 0);
    program.check_shows({"Wrong numbers", "Registers of B swapped", "Put it back", "right", "this run"});
    CHECK(place_inside(program.state).event->op == inside::Op::multiply_add);
}

TEST_CASE("inside faults: what another kernel does not know is told, and the sound run shows") {
    FaultProgram program;
    program.state.inside.fault = "f2_tiled_fp32.cu:1";
    program.settle_record();
    CHECK(program.shows("is nothing that f5-flash2 can be run without"));
    CHECK(program.state.inside.fault.empty());
    CHECK(program.page().shown == program.page().sound);
    program.leave_out("swap-a");
    choose_inside_kernel(program.state, "f2-tiled-fp32");
    program.settle_record();
    CHECK(program.state.inside.fault.empty());
    CHECK_FALSE(program.page().broken);
}

TEST_CASE("inside faults: the palette of commands finds them") {
    FaultProgram program;
    const auto found = find_commands(commands(program.state), "swizzle off");
    REQUIRE(!found.empty());
    found.front().run(program.state);
    program.settle_record();
    CHECK(program.state.inside.fault == "swizzle");
}

TEST_CASE("inside faults: texts have their place at every size, on the desk and on stage") {
    for (const Screen& screen : all_screens)
        for (const bool presenter : {false, true}) {
            FaultProgram program(screen, presenter);
            program.press(Key::x);
            check_new_frame(program, "the list");
            program.press(Key::escape);
            for (const std::string& name :
                 {program.last(inside::FaultKind::barrier), program.last(inside::FaultKind::wait),
                  std::string("swizzle"), std::string("swap-b")}) {
                program.leave_out(name);
                check_new_frame(program, name);
            }
        }
}

TEST_CASE("inside faults: text is legible in every theme") {
    for (const ThemeId id : all_themes) {
        FaultProgram program({1280, 720});
        program.state.settings.theme = id;
        for (const char* name : {"swizzle", "swap-a"}) {
            program.leave_out(name);
            check_new_frame(program, name);
        }
        program.leave_out(program.last(inside::FaultKind::barrier));
        check_new_frame(program, "barrier");
    }
}
