// Which words of an event are a lane's, which store takes what was packed, and what stretches of a warp's
// steps compute; in runs that are written down by hand.
#include "core/inside/accesses.h"
#include "core/inside/phases.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

TEST_CASE("inside: a lane's words stand behind those of the lanes before it that take part") {
    test::MadeRun run(1, 2);
    run.add(Op::load, 0, 1, 4, {{1, 2}});  // words of another event before them
    const std::uint32_t n = run.add(Op::store, 0, 2, 4, {{10, 11}, {20, 21}, {30, 31}}, 12);
    run.block().events[n].lanes = 1u << 3 | 1u << 12 | 1u << 31;
    const Event& event = run.block().events[n];
    CHECK(event.has(12));
    CHECK_FALSE(event.has(13));
    CHECK(run.block().words_of(event, 13).empty());
    REQUIRE(run.block().words_of(event, 12).size() == 2);
    CHECK(run.block().words_of(event, 3)[0] == 10);
    CHECK(run.block().words_of(event, 12)[1] == 21);
    CHECK(run.block().words_of(event, 31)[0] == 30);
    std::vector<std::pair<int, std::uint32_t>> seen;
    run.block().each_lane(event, [&](int lane, auto words) { seen.emplace_back(lane, words[0]); });
    CHECK(seen == std::vector<std::pair<int, std::uint32_t>>{{3, 10}, {12, 20}, {31, 30}});
}

TEST_CASE(
    "inside: behind a packing its warp's next steps are looked through for the store of the same bits") {
    test::MadeRun run(2, 9);
    const std::uint32_t pack = run.add(Op::pack, 0, 1, 0, {{1, 2, 77}, {3, 4, 88}}, 5);
    run.add(Op::store, 1, 2, 4, {{0, 77}}, 5);                   // of another warp
    run.add(Op::store, 0, 3, 4, {{0, 88}}, 5);                   // of lane 5 the bits of lane 6
    run.add(Op::copy_arrived, 0, 4, 16, {{0, 0, 77, 0, 0, 0}});  // which is no step
    const std::uint32_t store = run.add(Op::store, 0, 5, 4, {{4, 77}, {8, 89}}, 5);
    CHECK(stored_behind(run.block(), pack, 5) == store);
    CHECK_FALSE(stored_behind(run.block(), pack, 6));
    CHECK_FALSE(stored_behind(run.block(), pack, 7));
    // Too far behind, it is another number of the same bits.
    test::MadeRun far(1, 9);
    const std::uint32_t early = far.add(Op::pack, 0, 1, 0, {{1, 2, 77}});
    for (int line = 2; line <= 5; ++line) far.add(Op::log, 0, line, 0, {{1, 2}});
    far.add(Op::store, 0, 6, 4, {{0, 77}});
    CHECK_FALSE(stored_behind(far.block(), early, 0));
}

TEST_CASE("inside: of a kernel that is not known a load says nothing of what is computed, nor that it is a "
          "softmax") {
    test::MadeRun run(1, 3);
    run.add(Op::load, 0, 1, 4, {{global_base, 5}});  // of K …
    run.add(Op::store, 0, 2, 4, {{64, 5}});          // … to shared memory
    run.add(Op::load, 0, 3, 4, {{64, 5}});           // from there
    run.add(Op::exp2, 0, 3, 0, {{0, 0x3F800000}});
    run.add(Op::load, 0, 3, 4, {{64, 5}});
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    REQUIRE(origins.matter(steps.event(0, 2)) == Matter::K);
    const auto phases = [&](bool known) {
        std::vector<Phase> out;
        for (const PhaseStretch& s : phases_of(run.record, run.block(), steps, origins, 0, known))
            out.push_back(s.phase);
        return out;
    };
    CHECK(phases(true) == std::vector{Phase::scores, Phase::softmax, Phase::scores});
    CHECK(phases(false) == std::vector{Phase::exponentials});
}

TEST_CASE("inside: four warps that ask for tiles are the producer, those that multiply them consumers") {
    test::MadeRun run(12, 1);
    const std::vector<std::uint32_t> product(12, 0);
    for (const int warp : {4, 5, 8, 11}) run.whole(Op::multiply_async, warp, 1, product);
    const auto text = [&](int warp) {
        return role_text(roles_of(run.block(), 12)[static_cast<std::size_t>(warp)]);
    };
    CHECK(text(4).empty());  // nobody asks for tiles
    run.add(Op::fetch_tile, 1, 1, 0, {std::vector<std::uint32_t>(8, 0)});
    CHECK(text(0) == "producer");
    CHECK(text(3) == "producer");
    CHECK(text(4) == "consumer 1");
    CHECK(text(11) == "consumer 2");
}

}  // namespace tilewalk::inside
