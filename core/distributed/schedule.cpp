#include "core/distributed/schedule.h"

#include <algorithm>

namespace tilewalk::ring {

double Schedule::end() const { return *std::ranges::max_element(begin.back()); }

double Schedule::sends_from(int round, int rank) const {
    const std::vector<double>& now = begin[static_cast<std::size_t>(round)];
    const auto from = static_cast<std::size_t>(rank);
    return std::max(now[from], now[(from + 1) % now.size()]);
}

Schedule schedule(int ranks, int rounds, const RoundTime& computing, const RoundTime& sending) {
    Schedule out;
    out.begin.emplace_back(static_cast<std::size_t>(ranks), 0.0);
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> end = out.begin.back();
        for (int rank = 0; rank < ranks; ++rank)
            end[static_cast<std::size_t>(rank)] += computing(rank, round);
        for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
            const double time = sending(rank, round);
            if (time == 0) continue;
            const auto from = static_cast<std::size_t>(rank), to = (from + 1) % end.size();
            const double through = out.sends_from(round, rank) + time;
            end[from] = std::max(end[from], through), end[to] = std::max(end[to], through);
        }
        out.begin.push_back(std::move(end));
    }
    return out;
}

}  // namespace tilewalk::ring
