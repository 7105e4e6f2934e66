#include "core/lessons/forward/forward.h"
#include "core/walk/explain.h"
#include "core/walk/playback.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>
#include <set>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace tilewalk::test;

namespace {

const Level levels[] = {Level::micro, Level::step, Level::tile, Level::block};

std::shared_ptr<const Trace> masked_trace() {
    Problem p = causal(*random_problem(5, 3, 1));
    p.Br = 2;
    p.Bc = 3;
    return flash_forward(p);
}

std::vector<std::shared_ptr<const Trace>> traces() {
    std::vector<std::shared_ptr<const Trace>> out{flash_forward(worked_example()), masked_trace()};
    Random random(80);
    for (int n = 0; n < 40; ++n) out.push_back(flash_forward(any_problem(random, 6)));
    return out;
}

bool before(const Cursor& a, const Cursor& b) { return std::tie(a.step, a.done) < std::tie(b.step, b.done); }

bool valid(const Trace& trace, const Cursor& c) {
    return c.step >= 0 && c.step < trace.size() && c.done >= 1 && c.done <= step_units(trace, c.step);
}

// From the first step on; every stop, the start included.
std::vector<Cursor> walk(const Trace& trace, Level level) {
    std::vector<Cursor> stops{first(trace)};
    while (!at_end(trace, stops.back())) {
        stops.push_back(forward(trace, stops.back(), level));
        REQUIRE(before(stops[stops.size() - 2], stops.back()));
    }
    return stops;
}

std::vector<Cursor> walk_back(const Trace& trace, Level level) {
    std::vector<Cursor> stops{last(trace)};
    while (stops.back() != first(trace)) {
        stops.push_back(backward(trace, stops.back(), level));
        REQUIRE(before(stops.back(), stops[stops.size() - 2]));
    }
    return stops;
}

int rows_computed(const Trace& trace, int k) {
    switch (trace.step(k).op) {
    case Op::load_q:
    case Op::load_kv:
    case Op::init:
    case Op::store:
    case Op::skip: return 1;
    default: return rows_of(trace.problem(), trace.step(k).i);
    }
}

}  // namespace

TEST_SUITE("playback") {
    TEST_CASE("a step has as many rows as its block, loads and stores have one") {
        for (const auto& trace : traces())
            for (int k = 0; k < trace->size(); ++k) CHECK(step_units(*trace, k) == rows_computed(*trace, k));
    }
    TEST_CASE("forward and backward reach the ends at every level, and stay there") {
        for (const auto& trace : traces())
            for (Level level : levels) {
                for (const Cursor& c : walk(*trace, level)) CHECK(valid(*trace, c));
                for (const Cursor& c : walk_back(*trace, level)) CHECK(valid(*trace, c));
                CHECK(forward(*trace, last(*trace), level) == last(*trace));
                CHECK(backward(*trace, first(*trace), level) == first(*trace));
            }
    }
    TEST_CASE("micro and step: the walk back visits the same stops") {
        for (const auto& trace : traces())
            for (Level level : {Level::micro, Level::step}) {
                auto there = walk(*trace, level), back = walk_back(*trace, level);
                std::reverse(back.begin(), back.end());
                CHECK(there == back);
                for (std::size_t n = 1; n < there.size(); ++n)
                    CHECK(forward(*trace, backward(*trace, there[n], level), level) == there[n]);
            }
    }
    TEST_CASE("every step is stopped at once, every row once") {
        for (const auto& trace : traces()) {
            int rows = 0;
            for (int k = 0; k < trace->size(); ++k) rows += rows_computed(*trace, k);
            CHECK(static_cast<int>(walk(*trace, Level::step).size()) == trace->size());
            CHECK(static_cast<int>(walk(*trace, Level::micro).size()) == rows - rows_computed(*trace, 0) + 1);
        }
    }
    TEST_CASE("worked example: tiles end at their output, blocks at their store") {
        const auto trace = flash_forward(worked_example());
        std::vector<int> tiles, blocks;
        for (const Cursor& c : walk(*trace, Level::tile)) tiles.push_back(c.step);
        for (const Cursor& c : walk(*trace, Level::block)) blocks.push_back(c.step);
        CHECK(tiles == std::vector<int>{0, 1, 9, 17, 19, 21, 29, 37, 39});
        CHECK(blocks == std::vector<int>{0, 19, 39});
        tiles.clear();
        for (const Cursor& c : walk_back(*trace, Level::tile)) tiles.push_back(c.step);
        CHECK(tiles == std::vector<int>{39, 37, 29, 21, 19, 17, 9, 1, 0});
    }
    TEST_CASE("tile and block stop exactly where the next step belongs to another") {
        for (const auto& trace : traces())
            for (Level level : {Level::tile, Level::block}) {
                std::vector<int> expected{0};
                for (int k = 1; k < trace->size(); ++k) {
                    const Step& s = trace->step(k);
                    const bool end = k + 1 == trace->size();
                    const Step& next = trace->step(end ? k : k + 1);
                    if (end || s.i != next.i || (level == Level::tile && s.j != next.j))
                        expected.push_back(k);
                }
                std::vector<int> got;
                for (const Cursor& c : walk(*trace, level)) {
                    got.push_back(c.step);
                    CHECK(c == at_step(*trace, c.step));
                }
                CHECK(got == expected);
            }
    }
    TEST_CASE("a step that was entered row by row is finished first") {
        const auto trace = flash_forward(worked_example());
        CHECK(forward(*trace, {3, 1}, Level::step) == at_step(*trace, 3));
        CHECK(forward(*trace, {9, 1}, Level::tile) == at_step(*trace, 9));
        CHECK(forward(*trace, {3, 1}, Level::tile) == at_step(*trace, 9));
        CHECK(backward(*trace, {3, 2}, Level::micro) == Cursor{3, 1});
        CHECK(backward(*trace, {3, 1}, Level::micro) == at_step(*trace, 2));
        CHECK(backward(*trace, {3, 1}, Level::step) == at_step(*trace, 2));
    }
    TEST_CASE("a step number out of range is clamped") {
        const auto trace = flash_forward(worked_example());
        CHECK(at_step(*trace, -5) == first(*trace));
        CHECK(at_step(*trace, 40) == last(*trace));
        CHECK(at_step(*trace, std::numeric_limits<int>::max()) == last(*trace));
    }
    TEST_CASE("any path to a step shows what the straight walk shows") {
        const auto trace = masked_trace();
        using Shown = std::tuple<std::string, std::string, const Value*>;
        const auto show = [&](const Cursor& c) {
            const Explanation e = explain(*trace, c.step);
            return Shown{plain(e.numbers) + plain(e.result), e.why, trace->live(Slot::Oi, c.step).value};
        };
        std::vector<Shown> straight;
        for (const Cursor& c : walk(*trace, Level::step)) straight.push_back(show(c));
        Random random(81);
        Cursor at = first(*trace);
        for (int n = 0; n < 1000; ++n) {
            const Level level = levels[pick(random, 0, 3)];
            const int move = pick(random, 0, 4);
            at = move == 0   ? at_step(*trace, pick(random, -3, trace->size() + 3))
                 : move <= 2 ? forward(*trace, at, level)
                             : backward(*trace, at, level);
            REQUIRE(valid(*trace, at));
            CHECK(show(at) == straight[static_cast<std::size_t>(at.step)]);
        }
    }
}

TEST_SUITE("player") {
    TEST_CASE("two steps a second") {
        const auto trace = flash_forward(worked_example());
        Player player{true, Level::step, 2.0, 0.0};
        Cursor at = first(*trace);
        at = advance(player, *trace, at, 0.25);
        CHECK(at.step == 0);
        at = advance(player, *trace, at, 0.25);
        CHECK(at.step == 1);
        at = advance(player, *trace, at, 1.75);
        CHECK(at.step == 4);
        CHECK(player.elapsed == doctest::Approx(0.25));
        CHECK(player.playing);
    }
    TEST_CASE("frames do not matter, only the time that passed") {
        const auto trace = flash_forward(worked_example());
        Player one{true, Level::micro, 8.0, 0.0}, many = one;
        Cursor a = advance(one, *trace, first(*trace), 2.0), b = first(*trace);
        for (int frame = 0; frame < 128; ++frame) b = advance(many, *trace, b, 1.0 / 64);
        CHECK(a == b);
    }
    TEST_CASE("stops at the end and starts the next play without a rest of time") {
        const auto trace = flash_forward(worked_example());
        for (Level level : levels) {
            Player player{true, level, 10.0, 0.0};
            CHECK(at_end(*trace, advance(player, *trace, first(*trace), 1e6)));
            CHECK_FALSE(player.playing);
            CHECK(player.elapsed == 0);
        }
        Player player{true, Level::step, 1.0, 0.0};
        CHECK(advance(player, *trace, last(*trace), 1.0) == last(*trace));
        CHECK_FALSE(player.playing);
    }
    TEST_CASE("paused: nothing moves") {
        const auto trace = flash_forward(worked_example());
        Player player;
        CHECK(advance(player, *trace, at_step(*trace, 5), 100) == at_step(*trace, 5));
        CHECK(player.elapsed == 0);
    }
    TEST_CASE("a loop goes round for ever, at every level, and a clock that jumps does not keep it busy") {
        const auto trace = flash_forward(worked_example());
        const StepRange loop{11, 18};
        for (const Level level : levels) {
            Player player{true, level, 10.0, 0.0};
            Cursor at = at_step(*trace, loop.first);
            std::set<int> seen;
            for (int frame = 0; frame < 500; ++frame) {
                at = advance(player, *trace, at, .1, loop);
                CHECK(loop.holds(at.step));
                seen.insert(at.step);
            }
            CHECK(player.playing);
            if (level <= Level::step) CHECK(seen.size() == 8);
            const Cursor before = at;
            CHECK(advance(player, *trace, at, 1e9, loop) == before);
            CHECK(player.elapsed == 0);
            player.steps_per_second = INFINITY;
            CHECK(advance(player, *trace, at, .1, loop) == before);
        }
        // To the end of the walk, and from beyond its end
        Player player{true, Level::step, 1.0, 0.0};
        const StepRange end{trace->size() - 2, trace->size() - 1};
        Cursor at = at_step(*trace, end.last);
        at = advance(player, *trace, at, 1, end);
        CHECK(at == at_step(*trace, end.first));
        CHECK(player.playing);
        CHECK_FALSE(StepRange{}.set());
        CHECK_FALSE(StepRange{3, 2}.set());
        CHECK_FALSE(StepRange{3, 5}.holds(2));
    }
    TEST_CASE("odd speeds and times neither hang nor leave the trace") {
        const auto trace = flash_forward(worked_example());
        const double odd[] = {0, -1, 1e-300, 1e300, INFINITY, NAN};
        for (double speed : odd)
            for (double dt : odd) {
                Player player{true, Level::step, speed, 0.0};
                CHECK(valid(*trace, advance(player, *trace, at_step(*trace, 5), dt)));
            }
    }
}
