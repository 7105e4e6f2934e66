// Where numbers come from, in runs that are written down by hand.
#include "core/inside/origin.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

TEST_CASE(
    "inside: a word that two warps write without a barrier is what the last of them wrote in this run") {
    constexpr std::uint32_t word = 64;
    test::MadeRun run(2, 5);
    // Slots 0 and 1 of warp 1, slot 3 of warp 0: in the run's order 0, 3, 1.
    const std::uint32_t first = run.add(Op::store, 1, 1, 4, {{word, 1}});
    for (int line = 1; line <= 3; ++line) run.add(Op::store, 0, line, 4, {{128, 7}});
    const std::uint32_t late = run.add(Op::store, 0, 4, 4, {{word, 2}});
    const std::uint32_t second = run.add(Op::store, 1, 5, 4, {{word, 3}});
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    REQUIRE(steps.slot(1, 0) < steps.slot(1, 1));
    REQUIRE(steps.slot(1, 1) < steps.slot(0, 3));
    REQUIRE(steps.event(0, 3) == late);
    const auto writer_at = [&](int slot) { return origins.word_at(word, slot).there; };
    REQUIRE(writer_at(steps.slot(1, 0)));
    CHECK(writer_at(steps.slot(1, 0))->event == first);
    REQUIRE(writer_at(steps.slot(1, 1)));
    CHECK(writer_at(steps.slot(1, 1))->event == second);
    REQUIRE(writer_at(steps.slot(0, 3)));
    CHECK(writer_at(steps.slot(0, 3))->event == second);
}

TEST_CASE("inside: a packing is found behind another one of its lanes with other bits") {
    test::MadeRun run(1, 3);
    const std::uint32_t stored = run.whole(Op::pack, 0, 1, {1, 2, 0x3F803F80});
    const std::uint32_t other = run.whole(Op::pack, 0, 2, {3, 4, 0x40004000});
    run.add(Op::store, 0, 3, 4, {{global_base, 0x3F803F80}});
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    CHECK(origins.matter(stored) == Matter::K);
    CHECK(origins.matter(other) == Matter::none);
}

}  // namespace tilewalk::inside
