// A run of one block that a test writes down itself, event after event, instead of a kernel.
#pragma once

#include "core/inside/steps.h"

#include <initializer_list>
#include <utility>

namespace tilewalk::inside::test {

struct MadeRun {
    Record record;

    /// Places are lines 1, 2, … of one file; K lies at the begin of device memory, rows of 64 bytes of fp32.
    explicit MadeRun(int warps, int lines) {
        record.kernel = "made";
        for (int line = 1; line <= lines; ++line) record.places.push_back({"cuda/kernels/made.cu", line});
        record.regions.push_back({"K", global_base, 64 * 64, 64, 4});
        record.launches.emplace_back().threads = 32 * warps;
        record.launches[0].blocks.emplace_back();
    }
    Launch& launch() { return record.launches[0]; }
    BlockRecord& block() { return record.launches[0].blocks[0]; }
    const Launch& launch() const { return record.launches[0]; }
    const BlockRecord& block() const { return record.launches[0].blocks[0]; }

    /// What the lanes from `first` on did, one list of words for each; its number among the events.
    std::uint32_t add(Op op, int warp, int line, int bytes,
                      const std::vector<std::vector<std::uint32_t>>& lanes, int first = 0) {
        Event event;
        event.op = op, event.warp = static_cast<std::uint8_t>(warp);
        event.place = static_cast<std::uint32_t>(line - 1), event.bytes = static_cast<std::uint8_t>(bytes);
        event.at = static_cast<std::uint32_t>(block().words.size());
        event.words = static_cast<std::uint8_t>(lanes.empty() ? 0 : lanes[0].size());
        for (std::size_t n = 0; n < lanes.size(); ++n) {
            event.lanes |= 1u << (static_cast<std::size_t>(first) + n);
            block().words.insert(block().words.end(), lanes[n].begin(), lanes[n].end());
        }
        block().events.push_back(event);
        return static_cast<std::uint32_t>(block().events.size() - 1);
    }
    /// The whole warp, with these words of each lane.
    std::uint32_t whole(Op op, int warp, int line, const std::vector<std::uint32_t>& words = {}) {
        return add(op, warp, line, 0, std::vector(32, words));
    }
    void race(std::uint32_t first, std::uint32_t second, std::uint32_t address, std::int64_t times = 1) {
        const auto side = [&](std::uint32_t n) {
            const Event& event = block().events[n];
            return RaceAccess{event.place, event.op, 0, event.warp, event.lanes, n};
        };
        launch().races.push_back({side(first), side(second), address, times});
    }
};

}  // namespace tilewalk::inside::test
