// How far a barrier that counts is, of a run that is written down by hand: a producer that asks for two tiles
// of K one after the other into one buffer, and two warps that compute.
#include "core/inside/barriers.h"
#include "core/inside/phases.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

using test::MadeRun;

namespace {

constexpr std::uint32_t buffer = 0x400, full = 0x1000, is_free = 0x1008, rows = 4,
                        box_bytes = rows * 128;  // rows of 128 bytes in shared memory

std::uint32_t fetch(MadeRun& run, std::uint32_t first_row, std::uint32_t phase) {
    return run.add(Op::fetch_tile, 0, 6, 0,
                   {{buffer, global_base + first_row * 64, rows, 64, 64, full, phase, box_bytes}});
}

/// Warp 0: both barriers, tile 0, then, when both others are done with it, tile 1. Warps 1 and 2: wait for
/// tile 0, warp 2 does something before it is done.
struct TwoTiles : MadeRun {
    std::uint32_t made, expected, fetched, waited, done_1, done_2, waited_free, waited_next;
    TwoTiles() : MadeRun(3, 30) {
        made = add(Op::init_barrier, 0, 1, 0, {{full, 1}});
        add(Op::init_barrier, 0, 2, 0, {{is_free, 2}});
        add(Op::wait_for, 0, 3, 0, {{is_free, 0}});
        expected = add(Op::expect_bytes, 0, 5, 0, {{full, 0, box_bytes}});
        fetched = fetch(*this, 0, 0);
        waited = whole(Op::wait_for, 1, 10, {full, 1});
        whole(Op::wait_for, 2, 10, {full, 1});
        done_1 = add(Op::arrive_at, 1, 12, 0, {{is_free, 0}});
        for (int n = 0; n < 3; ++n) whole(Op::exp2, 2, 11, {0, 0});
        done_2 = add(Op::arrive_at, 2, 12, 0, {{is_free, 0}});
        waited_free = add(Op::wait_for, 0, 3, 0, {{is_free, 1}});
        add(Op::expect_bytes, 0, 5, 0, {{full, 1, box_bytes}});
        fetch(*this, rows, 1);
        waited_next = whole(Op::wait_for, 1, 10, {full, 2});
    }
};

struct Looked {
    const TwoTiles run;
    const Steps steps{run.record, run.launch(), run.block()};
    const Origins origins{run.record, run.block(), steps};
    const Barriers barriers{run.record, run.block(), steps, origins};
    BarrierState at(std::uint32_t event) const {
        const auto state =
            barriers.at(run.block(), steps, run.block().events[event].warp, origins.step_number(event));
        REQUIRE(state);
        return *state;
    }
    std::string words(std::uint32_t event) const {
        return barrier_sentence(at(event), run.block().events[event].op);
    }
};

}  // namespace

TEST_CASE("barriers: bytes are announced, on their way, and there when somebody has waited for the phase") {
    const Looked l;
    const BarrierState announced = l.at(l.run.expected);
    CHECK(announced.use == BarrierState::Use::full);
    CHECK(announced.arrivals == 1);
    CHECK(announced.now.number == 0);
    CHECK(announced.now.arrivals == 1);
    CHECK(announced.now.expected == box_bytes);
    CHECK(announced.now.asked == 0);
    CHECK_FALSE(announced.now.over);
    CHECK(announced.waits == 0b110);  // warps 1 and 2 stand before it
    const BarrierState waited = l.at(l.run.waited);
    CHECK(waited.before.over);
    CHECK(waited.before.asked == box_bytes);
    CHECK(waited.about.number == 0);
    CHECK(waited.about.parity() == 0);
    CHECK(waited.now.number == 1);
    CHECK(waited.now.arrivals == 0);
    CHECK(waited.waits == 0);
    CHECK(l.at(l.run.waited_next).about.parity() == 1);
}

TEST_CASE("barriers: a buffer is free with the last arrival, and who waits for it stands before it") {
    const Looked l;
    const BarrierState first = l.at(l.run.done_1), last = l.at(l.run.done_2);
    CHECK(first.use == BarrierState::Use::free);
    CHECK(first.arrivals == 2);
    CHECK(first.now.arrivals == 1);
    CHECK(first.now.came == 0b010);
    CHECK_FALSE(first.now.over);
    CHECK(first.waits == 0b001);
    CHECK(last.before.over);
    CHECK(last.before.came == 0b110);
    CHECK(last.about.number == 0);
    // Whoever made it has not waited: the phase before the first counts as over.
    CHECK(l.words(l.run.waited_free).find("done with tile 0 of K") != std::string::npos);
    const std::uint32_t fresh = l.steps.event(0, 2);
    CHECK(l.words(fresh).find("Nobody has used the buffer yet") == 0);
}

TEST_CASE("barriers: each says of which tile it is, and no two waits for different things say the same") {
    const Looked l;
    CHECK(l.words(l.run.made).find("K has come") != std::string::npos);
    CHECK(l.words(l.run.expected).find("tile 0 of K") != std::string::npos);
    CHECK(l.words(l.run.waited).find("Goes on when tile 0 of K has come") == 0);
    CHECK(l.words(l.run.waited_next).find("Goes on when tile 1 of K has come") == 0);
    CHECK(l.words(l.run.done_1).find("1 arrival of 2 has come") != std::string::npos);
    CHECK(l.words(l.run.done_2).find("the phase ends") != std::string::npos);
    CHECK(tiles_text({{Matter::K, 0}, {Matter::V, 0}}) == "tile 0 of K and V");
    CHECK(tiles_text({}).empty());
    // The copies above the warps have the same numbers.
    REQUIRE(l.steps.flights().size() == 2);
    CHECK(l.steps.flights()[0].tile == 0);
    CHECK(l.steps.flights()[1].tile == 1);
}

TEST_CASE("barriers: one with a number opens when so many threads have come, and then counts anew") {
    MadeRun run(2, 9);
    const auto given = run.whole(Op::arrive_named, 0, 1, {1, 64});
    run.whole(Op::exp2, 1, 2, {0, 0});
    const auto taken = run.whole(Op::sync_named, 1, 3, {1, 64});
    const auto waits = run.whole(Op::sync_named, 1, 4, {1, 64});
    run.whole(Op::arrive_named, 0, 5, {1, 64});
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    const Barriers barriers(run.record, run.block(), steps, origins);
    const auto at = [&](std::uint32_t n) {
        return *barriers.at(run.block(), steps, run.block().events[n].warp, origins.step_number(n));
    };
    CHECK(at(given).use == BarrierState::Use::turn);
    CHECK(at(given).arrivals == 2);
    CHECK(at(given).now.came == 0b01);
    CHECK(at(taken).before.came == 0b11);
    CHECK(at(taken).about.number == 0);
    CHECK(at(waits).about.number == 1);
    CHECK_FALSE(barriers.at(run.block(), steps, 1, 0));  // an exponential
}

TEST_CASE("barriers: what is counted at one is no access, and single lanes do it") {
    for (const Op op : {Op::init_barrier, Op::arrive_at, Op::expect_bytes, Op::wait_for}) {
        INFO(info(op).name);
        CHECK_FALSE(info(op).reads);
        CHECK_FALSE(info(op).writes);
        CHECK_FALSE(info(op).meets);
    }
}

}  // namespace tilewalk::inside
