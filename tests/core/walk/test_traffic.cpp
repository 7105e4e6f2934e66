// What has moved by a step, of workers side by side: each step's own bytes, added by the clock.
#include "core/lessons/table.h"
#include "core/walk/traffic.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("traffic: by a moment of the clock all workers together, at the last one all of the walk") {
    int side_by_side = 0;
    for (const Lesson& lesson : lessons()) {
        const auto built = build_trace(lesson, worked_example());
        if (!built) continue;
        const Trace& trace = **built;
        CAPTURE(lesson.id);
        const bool clock = trace.workers() > 1;
        side_by_side += clock;
        std::int64_t most = 0;
        for (int k = 0; k < trace.size(); ++k) {
            CAPTURE(k);
            std::int64_t before = 0, done = 0;
            for (int n = 0; n < trace.size(); ++n) {
                const std::int64_t last = n == 0 ? 0 : trace.step(n - 1).traffic.total();
                const std::int64_t own = trace.step(n).traffic.total() - last;
                const bool over = clock ? trace.step(n).when.end <= trace.step(k).when.end : n <= k;
                const bool over_at_start = clock ? trace.step(n).when.end <= trace.step(k).when.start : n < k;
                if (n == k) CHECK(moved_by(trace, k) == own);
                done += over ? own : 0;
                before += over_at_start ? own : 0;
            }
            CHECK(moved_when_done(trace, k).total() == done);
            CHECK(moved_before(trace, k) == before);
            most = std::max(most, done);
        }
        CHECK(most == trace.step(trace.size() - 1).traffic.total());
    }
    CHECK(side_by_side > 1);
}
