// Where numbers come from, in runs that are written down by hand.
#include "core/inside/phases.h"
#include "core/inside/words.h"
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

TEST_CASE("inside: weights that are written over what the lane has read before its exponential: there were "
          "the scores") {
    constexpr std::uint32_t score = 64, elsewhere = 256, result = 0x3F000000;
    for (const bool ladder : {true, false}) {
        test::MadeRun run(1, 9);
        run.record.Bc = ladder ? 64 : 0;
        const std::uint32_t scores = run.add(Op::store, 0, 1, 4, {{score, 5}});
        const std::uint32_t read = run.add(Op::load, 0, 2, 4, {{score, 5}});
        run.add(Op::exp, 0, 3, 0, {{7, result}});
        const std::uint32_t aside = run.add(Op::store, 0, 4, 4, {{elsewhere, result}});
        const std::uint32_t weight = run.add(Op::store, 0, 5, 4, {{score, result}});
        const std::uint32_t taken = run.add(Op::load, 0, 6, 4, {{score, result}});
        const Steps steps(run.record, run.launch(), run.block());
        const Origins origins(run.record, run.block(), steps);
        CHECK(origins.matter(scores) == (ladder ? Matter::S : Matter::none));
        CHECK(origins.matter(read) == (ladder ? Matter::S : Matter::none));
        CHECK(origins.matter(weight) == (ladder ? Matter::P : Matter::none));
        CHECK(origins.matter(taken) == (ladder ? Matter::P : Matter::none));
        CHECK(origins.matter(aside) == Matter::none);  // α
        // The scores are read for the softmax, the weights for O: the phases say so.
        std::vector<Phase> phases;
        for (const PhaseStretch& s : phases_of(run.record, run.block(), steps, origins, 0, ladder)) {
            phases.push_back(s.phase);
            if (s.phase == Phase::softmax) CHECK(s.first == steps.slot(0, origins.step_number(read)));
        }
        CHECK(phases == (ladder ? std::vector{Phase::scores, Phase::softmax, Phase::output}
                                : std::vector{Phase::exponentials}));
    }
}

TEST_CASE(
    "inside: L may be scaled by the line that brings it to shared memory; of other lines the bits count") {
    test::MadeRun run(1, 3);
    run.record.regions.push_back({"L", global_base + 0x10000, 64, 4, 4});
    const std::uint32_t L = global_base + 0x10000;
    run.add(Op::load, 0, 1, 4, {{L + 20, 5}});
    const std::uint32_t scaled = run.add(Op::store, 0, 1, 4, {{64, 9}});
    run.add(Op::load, 0, 2, 4, {{L + 20, 5}});
    const std::uint32_t other = run.add(Op::store, 0, 3, 4, {{128, 9}});
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    CHECK(origins.matter(scaled) == Matter::L);
    CHECK(origins.matter(other) == Matter::none);
    const auto from = origins.global_source(64, other);
    REQUIRE(from);
    CHECK(short_address(run.record, *from) == "L[5]");
    CHECK(short_address(run.record, global_base + 3 * 64 + 8) == "K[3, 2]");
}

TEST_CASE(
    "inside: what a product sums up is told by its factors, and of one that was computed by the other") {
    CHECK(sum_of(Matter::Q, Matter::K) == Matter::S);
    CHECK(sum_of(Matter::K, Matter::Q) == Matter::S);
    CHECK(sum_of(Matter::dO, Matter::V) == Matter::dP);
    CHECK(sum_of(Matter::none, Matter::V) == Matter::O);
    CHECK(sum_of(Matter::P, Matter::dO) == Matter::dV);
    CHECK(sum_of(Matter::none, Matter::Q) == Matter::dK);
    CHECK(sum_of(Matter::dS, Matter::K) == Matter::dQ);
    CHECK(sum_of(Matter::Q, Matter::dO) == Matter::other);
    CHECK(sum_of(Matter::none, Matter::none) == Matter::none);
    CHECK(factor_of(Matter::dV) == Matter::P);
    CHECK(factor_of(Matter::dQ) == Matter::dS);
    CHECK(factor_of(Matter::S) == Matter::none);
}

}  // namespace tilewalk::inside
