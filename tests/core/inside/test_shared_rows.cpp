// Rows of what warps compute in shared memory, by the gaps between them.
#include "core/inside/shared_map.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t base = 0x100, word = 4;

/// Rows of three words, `apart` words from each other.
SharedArea area_of_rows(std::initializer_list<std::uint32_t> begins, std::uint32_t last_length = 3) {
    test::MadeRun run(1, 2);
    std::uint32_t n = 0;
    for (const std::uint32_t begin : begins) {
        const std::uint32_t length = ++n == begins.size() ? last_length : 3;
        for (std::uint32_t w = 0; w < length; ++w)
            run.add(Op::store, 0, 1, 4, {{base + (begin + w) * word, w}});
    }
    const Steps steps(run.record, run.launch(), run.block());
    const Origins origins(run.record, run.block(), steps);
    const SharedMap map(run.block(), steps, origins);
    REQUIRE(map.areas().size() == 1);
    return map.areas()[0];
}

}  // namespace

TEST_CASE("shared memory: rows are told by equal gaps between equal runs") {
    const SharedArea area = area_of_rows({0, 4, 8});
    CHECK(area.row_bytes == 16);
    const PlaceInArea place = place_in(area, base + 9 * word, 4);
    CHECK(place.row == 2);
    CHECK(place.column == 1);
    CHECK(place_in(area, base + 9 * word, 2).column == 2);  // of numbers of two bytes
    // One run is counted through; so is what has no rows.
    CHECK(area_of_rows({0}).row_bytes == 0);
    CHECK(place_in(area_of_rows({0}), base + 2 * word, 4).row == 2);
    CHECK(place_in(area_of_rows({0}), base + 2 * word, 4).column == -1);
    CHECK(area_of_rows({0, 4, 9}).row_bytes == 0);
    CHECK(area_of_rows({0, 4, 8}, 2).row_bytes == 0);
}

}  // namespace tilewalk::inside
