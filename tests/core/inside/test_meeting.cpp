// What a barrier orders, of runs that are written down by hand.
#include "core/inside/meeting.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

using test::MadeRun;

namespace {

constexpr std::uint32_t place = 0x100;  // in shared memory

std::vector<Protected> ordered_by_barrier(const MadeRun& run, int k) {
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    const auto meeting = meeting_at(run.block(), steps, origins, 0, k);
    REQUIRE(meeting);
    return meeting->orders;
}

/// Lanes `first`, `first` + 1, … each at four bytes of their own from `at` on.
std::uint32_t touch(MadeRun& run, Op op, int warp, int line, int lanes, int first, std::uint32_t at) {
    std::vector<std::vector<std::uint32_t>> words;
    for (int n = 0; n < lanes; ++n) words.push_back({at + 4 * static_cast<std::uint32_t>(n), 0});
    return run.add(op, warp, line, 4, words, first);
}

}  // namespace

TEST_CASE("meeting: who stored before the barrier, who loads behind it, and the bytes of both") {
    MadeRun run(2, 9);
    touch(run, Op::store, 1, 1, 1, 0, place + 0x100);  // nobody reads it
    const auto store = touch(run, Op::store, 0, 2, 4, 3, place);
    run.whole(Op::sync_block, 0, 3), run.whole(Op::sync_block, 1, 3);
    const auto load =
        touch(run, Op::load, 1, 4, 3, 7, place + 8);  // two words of the four, and one beyond them
    const auto all = ordered_by_barrier(run, 1);
    REQUIRE(all.size() == 1);
    const Protected& p = all[0];
    CHECK(p.first_writes);
    CHECK_FALSE(p.second_writes);
    CHECK(p.first_event == store);
    CHECK(p.second_event == load);
    CHECK(p.first_place == 1);
    CHECK(p.second_place == 3);
    CHECK(p.first_op == Op::store);
    CHECK(p.second_op == Op::load);
    CHECK(p.first_lane == 5);
    CHECK(p.second_lane == 7);
    CHECK(p.first_warps == 1);
    CHECK(p.second_warps == 2);
    CHECK(p.bytes == 8);
    CHECK(p.begin == place + 8);
    CHECK(p.end == place + 16);
}

TEST_CASE("meeting: two pairs of places are told apart, the one with more bytes first, each byte once") {
    MadeRun run(2, 9);
    touch(run, Op::store, 0, 2, 1, 0, place);       // read by line 6
    touch(run, Op::store, 0, 3, 2, 0, place + 64);  // read twice by line 7
    run.whole(Op::sync_block, 0, 4), run.whole(Op::sync_block, 1, 4);
    touch(run, Op::load, 1, 6, 1, 0, place);
    touch(run, Op::load, 1, 7, 2, 0, place + 64), touch(run, Op::load, 1, 7, 2, 8, place + 64);
    const auto all = ordered_by_barrier(run, 2);
    REQUIRE(all.size() == 2);
    CHECK(all[0].first_place == 2);
    CHECK(all[0].second_place == 6);
    CHECK(all[0].bytes == 8);
    CHECK(all[1].first_place == 1);
    CHECK(all[1].second_place == 5);
    CHECK(all[1].bytes == 4);
}

TEST_CASE(
    "meeting: what a lane wrote itself, what is read twice and what nobody touches again need no barrier") {
    const auto run_of = [](Op before, Op behind, int warp, std::uint32_t at) {
        MadeRun run(2, 9);
        touch(run, before, 0, 2, 1, 5, place);
        run.whole(Op::sync_block, 0, 3), run.whole(Op::sync_block, 1, 3);
        touch(run, behind, warp, 4, 1, 5, at);
        return run;
    };
    CHECK(ordered_by_barrier(run_of(Op::store, Op::load, 0, place), 1).empty());
    CHECK(ordered_by_barrier(run_of(Op::load, Op::load, 1, place), 1).empty());
    CHECK(ordered_by_barrier(run_of(Op::store, Op::load, 1, place + 4), 1).empty());
    CHECK(ordered_by_barrier(run_of(Op::store, Op::load, 1, place), 1).size() == 1);
    const auto written_over = ordered_by_barrier(run_of(Op::load, Op::store, 1, place), 1);
    REQUIRE(written_over.size() == 1);
    CHECK_FALSE(written_over[0].first_writes);
    CHECK(written_over[0].second_writes);
}

TEST_CASE("meeting: the name that a line of the source stores under") {
    CHECK(stored_name("    factor[own_row] = alpha;") == "factor");
    CHECK(stored_name("if (owner) factor[own_row] = alpha;") == "factor");
    CHECK(stored_name("x[0] = y[1];") == "x");
    CHECK(stored_name("  [0] = 1;").empty());
    CHECK(stored_name("float sum = row[3];").empty());  // what is read has no say
    CHECK(stored_name("row[3];").empty());
    CHECK(stored_name("sum = 0;").empty());
    CHECK(stored_name("").empty());
}

}  // namespace tilewalk::inside
