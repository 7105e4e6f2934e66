// The model of a ring held against the runs that were recorded on four cores: the table of
// docs/distributed.md, number for number, and how far apart both may be.
#include "app/io/bench_json.h"
#include "app/io/file.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/distributed/ring_model.h"
#include "tests/contains.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

// What the schedule takes at the rate at which one rank after the other computes, messages taking no time
double scheduled(const Point& p) {
    const auto& names = ring::names_of_shards();
    const ring::Shards shards =
        static_cast<ring::Shards>(std::ranges::find(names, p.ring->shards) - names.begin());
    const ring::Rates rates{flops(p.workload) / p.ring->one_rank, 1e18};
    return ring::simulate({p.workload, shards}, p.ring->ranks, rates, 4).seconds;
}

const Point& point(const BenchReport& report, Direction direction, std::int64_t N, int ranks,
                   const char* shards) {
    return *std::ranges::find_if(report.points, [&](const Point& p) {
        return p.workload.direction == direction && p.workload.N_q == N && p.ring->ranks == ranks &&
               p.ring->shards == shards;
    });
}

std::string cell(const Point& p) {
    const double model = scheduled(p);
    const auto ms = [](double seconds) { return format_fixed(seconds * 1e3, seconds < .1 ? 1 : 0); };
    return ms(model) + " → " + ms(p.median) + " (" + format_fixed(p.median / model, 2) + ")";
}

}  // namespace

TEST_CASE(
    "recorded rings take what the schedule says, where a round is long enough; the docs have the table") {
    const auto loaded = load_bench_file(TILEWALK_SOURCE_DIR "/assets/bench/epyc-zen4-4-cores-ring.json");
    REQUIRE_MESSAGE(loaded, loaded.error);
    const auto docs = read_file(TILEWALK_SOURCE_DIR "/docs/distributed.md");
    REQUIRE(docs);
    for (const std::int64_t N : {2048, 4096, 8192})
        for (const int ranks : {2, 4}) {
            std::string row = "| " + str(N) + " | " + str(ranks);
            for (const Direction direction : {Direction::forward, Direction::backward})
                for (const char* shards : {"zigzag", "contiguous"}) {
                    const Point& p = point(*loaded, direction, N, ranks, shards);
                    const double ratio = p.median / scheduled(p);
                    CAPTURE(p.kernel);
                    CAPTURE(N);
                    row += " | " + cell(p);
                    // Nothing is much faster than its schedule. What a round costs beside computing is most
                    // where it is short: four ranks in step.
                    CHECK(ratio > .9);
                    const bool short_rounds = ranks == 4 && std::string(shards) == "zigzag";
                    CHECK(ratio < (short_rounds ? 1 + 1200.0 / static_cast<double>(N) : 1.12));
                }
            CHECK_MESSAGE(contains(*docs, row + " |\n"), row);
        }
}
