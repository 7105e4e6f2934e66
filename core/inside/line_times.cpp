#include "core/inside/line_times.h"

#include <algorithm>

namespace tilewalk::inside {

LineTimes::LineTimes(const Record& record, const BlockRecord& block, const Steps& steps) {
    std::vector<std::vector<std::vector<Kind>>*> of_place;
    for (const Place& place : record.places) {
        auto& warps = lines[{place.file, place.line}];
        warps.resize(static_cast<std::size_t>(steps.warps()));
        of_place.push_back(&warps);
    }
    for (int w = 0; w < steps.warps(); ++w)
        for (int k = 0; k < steps.count(w); ++k) {
            const Event& event = block.events[steps.event(w, k)];
            auto& kinds = (*of_place[event.place])[static_cast<std::size_t>(w)];
            auto kind = std::ranges::find(kinds, event.op, &Kind::op);
            if (kind == kinds.end()) kind = kinds.insert(kind, Kind{event.op, {}});
            kind->steps.push_back(k);
        }
}

std::vector<LineTimes::OfOp> LineTimes::at(int warp, int k, const std::string& file, int line) const {
    std::vector<OfOp> out;
    const auto found = lines.find({file, line});
    if (found == lines.end()) return out;
    for (const Kind& kind : found->second[static_cast<std::size_t>(warp)]) {
        const auto now = std::ranges::upper_bound(kind.steps, k) - kind.steps.begin();
        out.push_back({kind.op, {static_cast<int>(now), static_cast<int>(kind.steps.size())}});
    }
    return out;
}

}  // namespace tilewalk::inside
