// The race that is told of a run with a fault, of runs that are written down by hand: who wrote, who read,
// what was read and what should have been.
#include "core/inside/crossing.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

namespace tilewalk::inside {

using test::MadeRun;

namespace {

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::optional<Crossing> crossing_in(const MadeRun& broken, const MadeRun& sound) {
    const Steps of_broken(broken.record, broken.launch(), broken.block()),
        of_sound(sound.record, sound.launch(), sound.block());
    return crossing_of({broken.record, broken.launch(), broken.block(), of_broken, 0},
                       {sound.record, sound.launch(), sound.block(), of_sound, 0});
}

std::string read_text(const MadeRun& run, const Content& content) {
    return content_text(run.record, content);
}

constexpr std::uint32_t place = 0x100;  // in shared memory

/// Warp 0 stores 1, 2 and 3 with lanes 3 to 5; warp 1 reads two of them with lanes 7 and 8, behind a barrier
/// …
MadeRun with_barrier() {
    MadeRun run(2, 9);
    run.add(Op::store, 0, 2, 4, {{place, bits(1)}, {place + 4, bits(2)}, {place + 8, bits(3)}}, 3);
    run.whole(Op::sync_block, 0, 3), run.whole(Op::sync_block, 1, 3);
    run.add(Op::load, 1, 4, 4, {{place, bits(1)}, {place + 4, bits(2)}}, 7);
    return run;
}
/// … or without it and before it was written: lane 8 finds `found` there.
MadeRun without_barrier(float found) {
    MadeRun run(2, 9);
    run.whole(Op::left_out, 1, 3);
    const std::uint32_t load = run.add(Op::load, 1, 4, 4, {{place, bits(1)}, {place + 4, bits(found)}}, 7);
    const std::uint32_t store =
        run.add(Op::store, 0, 2, 4, {{place, bits(1)}, {place + 4, bits(2)}, {place + 8, bits(3)}}, 3);
    run.whole(Op::left_out, 0, 3);
    run.race(load, store, place + 4, 2);
    return run;
}

}  // namespace

TEST_CASE("crossing: a read that came too early, the write that it should have found, and what it found") {
    const MadeRun sound = with_barrier(), broken = without_barrier(7);
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    CHECK(crossing->address == place + 4);
    CHECK(crossing->ordered);
    CHECK(crossing->crossed);
    CHECK(crossing->pairs == 2);
    // In the order of the source: the store, then the load, each with the lane that gave the address.
    CHECK(crossing->first.event == 2);
    CHECK(crossing->first.writes);
    CHECK(crossing->first.warp == 0);
    CHECK(crossing->first.lane == 4);
    CHECK(read_text(broken, crossing->first.content) == "2");
    CHECK(crossing->second.event == 1);
    CHECK_FALSE(crossing->second.writes);
    CHECK(crossing->second.warp == 1);
    CHECK(crossing->second.lane == 8);
    CHECK(read_text(broken, crossing->second.content) == "7");
    CHECK(read_text(broken, crossing->second.sound) == "2");
    const auto nothing = crossing_in(without_barrier(std::numeric_limits<float>::quiet_NaN()), sound);
    REQUIRE(nothing);
    CHECK(read_text(broken, nothing->second.content) == "NaN: nothing has come");
    // With the name of the place where that is known
    CHECK(content_text(broken.record, nothing->second.content, "S[3, 4]") ==
          "S[3, 4] = NaN: nothing has come");
    CHECK(content_text(broken.record, crossing->first.content, "S[3, 4]") == "S[3, 4] = 2");
}

TEST_CASE("crossing: where all was read right by luck, the race is told as the source orders it") {
    const MadeRun sound = with_barrier(), broken = without_barrier(2);
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    CHECK(crossing->ordered);
    CHECK_FALSE(crossing->crossed);
    CHECK(crossing->first.writes);
    CHECK(crossing->first.lane == 4);
    CHECK(crossing->second.lane == 8);
    CHECK(read_text(broken, crossing->second.content) == "2");
    // Nothing races: nothing is told.
    MadeRun silent = without_barrier(2);
    silent.launch().races.clear();
    CHECK_FALSE(crossing_in(silent, sound));
    // Nor does what races in another block.
    MadeRun elsewhere = without_barrier(2);
    elsewhere.launch().races[0].second.block = 1;
    CHECK_FALSE(crossing_in(elsewhere, sound));
}

TEST_CASE(
    "crossing: of several races that of the widest memory, between warps and most often, is told by luck") {
    const MadeRun sound = with_barrier();
    MadeRun broken = without_barrier(2);
    broken.race(1, 2, place, 9);
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    CHECK(crossing->pairs == 9);
    CHECK(crossing->address == place);
}

namespace {

constexpr std::uint32_t K_row(int row) { return global_base + 64 * static_cast<std::uint32_t>(row); }

/// Rows `row` and then `row + 1` of K come to the same place, with lanes 5 and 6, and are read there after
/// each wait. Without the second wait the first row is read again.
MadeRun copies(bool waits) {
    MadeRun run(1, 9);
    const auto copy = [&](int row, std::uint32_t group) {
        return run.add(Op::copy_issued, 0, 2, 16,
                       {{place, K_row(row), 16, group}, {place + 16, K_row(row) + 16, 16, group}}, 5);
    };
    const auto arrive = [&](int row, std::uint32_t group) {
        const auto words = [&](float first) {
            return std::vector{bits(first), bits(first + 1), bits(first + 2), bits(first + 3)};
        };
        std::vector<std::vector<std::uint32_t>> lanes;
        for (const std::uint32_t half : {0u, 1u}) {
            lanes.push_back({place + 16 * half, group});
            const auto numbers = words(10.0f * static_cast<float>(row) + 4.0f * static_cast<float>(half));
            lanes.back().insert(lanes.back().end(), numbers.begin(), numbers.end());
        }
        return run.add(Op::copy_arrived, 0, 2, 16, lanes, 5);
    };
    const auto load = [&](float value) { return run.add(Op::load, 0, 6, 4, {{place + 20, bits(value)}}, 9); };
    copy(1, 0), run.whole(Op::copies_committed, 0, 3, {0});
    run.whole(Op::wait_copies, 0, 4, {0, 1}), arrive(1, 0);
    load(15);
    const std::uint32_t second = copy(2, 1);
    run.whole(Op::copies_committed, 0, 3, {1});
    run.whole(waits ? Op::wait_copies : Op::left_out, 0, 5, {0, 2});
    if (waits) arrive(2, 1);
    const std::uint32_t read = load(waits ? 25 : 15);
    if (!waits) run.race(second, read, place + 20, 3);
    return run;
}

}  // namespace

TEST_CASE(
    "crossing: a copy that nobody waited for brings an element, and what was there before is one as well") {
    const MadeRun sound = copies(true), broken = copies(false);
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    CHECK(crossing->crossed);
    CHECK(crossing->pairs == 3);
    CHECK(crossing->first.op == Op::copy_issued);
    CHECK(crossing->first.lane == 6);
    CHECK(crossing->first.content.from == K_row(2) + 20);
    CHECK(read_text(broken, crossing->first.content) == "K[2, 5] = 25");
    CHECK(crossing->second.lane == 9);
    CHECK(read_text(broken, crossing->second.content) == "K[1, 5] = 15");
    CHECK(read_text(broken, crossing->second.sound) == "K[2, 5] = 25");
}

TEST_CASE("crossing: a copy has happened with the wait that brings it, or at once; else at its own step") {
    const MadeRun sound = copies(true), broken = copies(false);
    const Steps steps(sound.record, sound.launch(), sound.block());
    const auto found = crossing_in(broken, sound);
    REQUIRE(found);
    CrossingSide side = found->first;
    const auto is_copy = [&](std::uint32_t n) { return sound.block().events[n].op == Op::copy_issued; };
    for (std::uint32_t n = 0; n < sound.block().events.size(); ++n) {
        side.event = n, side.op = sound.block().events[n].op;
        const auto late = happened_with(sound.block(), steps, {}, side);
        CHECK(happened_with(sound.block(), steps, {.early = true}, side) == n);
        if (!is_copy(n))
            CHECK(late == n);
        else
            CHECK(late == (n == 0 ? 2u : 7u));
    }
    // Nobody waits for the second one of the broken run.
    const Steps of_broken(broken.record, broken.launch(), broken.block());
    CHECK_FALSE(happened_with(broken.block(), of_broken, {}, found->first));
}

namespace {

/// Warp 0 fetches the first eight rows of K to a tile, warp 4 multiplies by it behind the barrier of the
/// tile, or without that: its sums are NaN then.
MadeRun tile(bool waits) {
    constexpr std::uint32_t row_bytes = 128, barrier = 0x2000;
    constexpr std::uint32_t described = row_bytes * 8 >> 4;  // from eight rows to the next
    MadeRun run(5, 9);
    const auto fetch = [&] {
        return run.add(Op::fetch_tile, 0, 2, 0, {{0x400, K_row(0), 8, 64, 64, barrier, 0, 8 * row_bytes}});
    };
    std::uint32_t sent = waits ? fetch() : 0;
    run.whole(waits ? Op::wait_for : Op::left_out, 4, 3, {barrier, 1});
    const std::vector<std::uint32_t> product{0, 0, 0x400 >> 4, 1u << 30 | described, 8, 0, 0, 0, 0, 0, 0, 0};
    const std::uint32_t reads = run.whole(Op::multiply_async, 4, 5, product);
    run.whole(Op::commit_products, 4, 6, {0});
    const float sum = waits ? 1 : std::numeric_limits<float>::quiet_NaN();
    run.whole(Op::wait_products, 4, 7, {0, 1, 0, bits(sum), bits(sum), bits(sum), bits(sum)});
    if (!waits) sent = fetch(), run.race(reads, sent, 0x400);
    return run;
}

}  // namespace

TEST_CASE("crossing: a tile that comes by itself writes, and a product in the background reads") {
    const MadeRun sound = tile(true), broken = tile(false);
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    CHECK(crossing->ordered);
    CHECK(crossing->crossed);
    CHECK(crossing->address == 0x400);
    CHECK(crossing->first.op == Op::fetch_tile);
    CHECK(crossing->first.writes);
    CHECK(crossing->first.warp == 0);
    CHECK(crossing->second.op == Op::multiply_async);
    CHECK_FALSE(crossing->second.writes);
    CHECK(crossing->second.warp == 4);
    CHECK(read_text(broken, crossing->first.content) == "K[0, 0]");
    CHECK(read_text(broken, crossing->second.sound) == "K[0, 0]");
    CHECK(read_text(broken, crossing->second.content) == "NaN: nothing has come");
}

TEST_CASE("crossing: slots that say otherwise than what happened are turned") {
    const MadeRun sound = with_barrier(), broken = without_barrier(7);
    const Steps steps(broken.record, broken.launch(), broken.block());
    const auto crossing = crossing_in(broken, sound);
    REQUIRE(crossing);
    // The load happened first and stands in slot 1, behind the store in slot 0.
    const auto turned = turned_in_slots(broken.block(), steps, {}, *crossing);
    REQUIRE(turned);
    CHECK(turned->first == 1);
    CHECK(turned->second == 2);
    Crossing as_in_source = *crossing;
    as_in_source.crossed = false;
    CHECK_FALSE(turned_in_slots(broken.block(), steps, {}, as_in_source));
}

}  // namespace tilewalk::inside
