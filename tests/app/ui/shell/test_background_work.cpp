// Work in the background that is given up: replaced by newer work, or left behind with the program.
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem large(unsigned seed) { return *random_problem(256, 32, seed); }

}  // namespace

TEST_CASE("the walk of the newest problem is shown, whatever was being built before") {
    Program program(*random_problem(8, 4, 1));
    for (unsigned seed = 1; seed <= 4; ++seed) REQUIRE(set_problem(program.state, large(seed), false));
    REQUIRE(program.state.pending);
    program.settle();
    CHECK(program.state.problem->Q == large(4).Q);
    CHECK(program.state.trace->result(Slot::O).allFinite());
}

TEST_CASE("the program can be closed while a walk is built, devices are looked for and kernels run") {
    Program program(*random_problem(8, 4, 1));
    REQUIRE(set_problem(program.state, large(5), false));
    for (const Page page : {Page::scale, Page::inside, Page::compare}) {
        program.state.page = page;
        program.frame();
    }
    program.state.scale.preset = static_cast<int>(length_presets.size());
    fill_in(program.state.scale.lengths, "512");
    start_bench(program.state);
    CHECK(scale_page(program.state).running);
    start_comparison(program.state);
    CHECK(compare_page(program.state).run);
}
