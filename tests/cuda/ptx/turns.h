// Which shapes, layouts, head dimensions and schedules come together in a case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tilewalk::ptx {

struct Turn {
    std::size_t shape, layout, d, schedule;
};

/// Every pair of a shape and a layout, and every pair of a head dimension and a schedule, in as few turns as
/// that takes. The second pairs go by a step that has no divisor in common with their number, so that
/// no shape meets one head dimension or one schedule alone.
inline std::vector<Turn> turns(std::size_t shapes, std::size_t layouts, std::size_t dims,
                               std::size_t schedules) {
    std::vector<Turn> all;
    if (dims == 0) return all;
    constexpr std::size_t step = 13;
    const std::size_t pairs = dims * schedules;
    for (std::size_t n = 0; n < std::max(shapes * layouts, pairs); ++n) {
        const std::size_t pair = step * n % pairs;
        all.push_back({n % shapes, n / shapes % layouts, pair / schedules, pair % schedules});
    }
    return all;
}

}  // namespace tilewalk::ptx
