#include "app/ui/state/timeline_grid.h"

#include "core/walk/lesson.h"

#include <set>
#include <utility>

namespace tilewalk::ui {

namespace {

bool lanes_by_query(const Trace& trace) {
    for (int k = 0; k < trace.size(); ++k) {
        const Step& s = trace.step(k);
        if (s.i >= 0 && s.j >= 0 && s.i != s.phase) return false;
    }
    return true;
}

// The block that changes within a lane; −1 for what comes before and after the blocks.
int inner_block(const TimelineGrid& grid, const Step& s) {
    if (grid.by_query) return s.j;
    return s.i >= 0 && s.j >= 0 ? s.i : -1;
}

// Steps of a lane before its first block, and after its last one.
std::pair<int, int> around_blocks(const TimelineGrid& grid, const Trace& trace, int lane) {
    int before = 0, after = 0;
    const int begin = grid.begin(lane), end = grid.end(lane);
    while (begin + before < end && inner_block(grid, trace.step(begin + before)) < 0) ++before;
    if (begin + before == end) return {before, 0};
    while (inner_block(grid, trace.step(end - 1 - after)) < 0) ++after;
    return {before, after};
}

void place_steps(TimelineGrid& grid, const Trace& trace) {
    grid.column.resize(static_cast<std::size_t>(trace.size()));
    grid.width.assign(static_cast<std::size_t>(trace.size()), 1);
    for (int lane = 0; lane < grid.count(); ++lane) {
        const auto [before, after] = around_blocks(grid, trace, lane);
        // What starts a lane stands right before its blocks.
        int next = grid.blocks.empty() ? 0 : grid.start - before, nth = 0;
        const int finish = grid.columns - grid.finish;
        for (int k = grid.begin(lane); k < grid.end(lane); ++k) {
            const Step& step = trace.step(k);
            const int inner = inner_block(grid, step);
            int& column = grid.column[static_cast<std::size_t>(k)];
            if (k >= grid.end(lane) - after && after > 0) {
                column = finish + k - (grid.end(lane) - after);
            } else if (inner < 0) {
                column = next++;
            } else {
                const TimelineGrid::Group& group = grid.blocks[static_cast<std::size_t>(inner)];
                auto at = std::ranges::find(group.ops, step.op);
                if (grid.by_element) {  // passes do different things to an element; each begins at its left
                    const bool same = k > grid.begin(lane) && trace.step(k - 1).j == step.j;
                    nth = same ? nth + 1 : 0;
                    at = group.ops.begin() + nth;
                }
                column = group.first + static_cast<int>(at - group.ops.begin());
                if (step.op == Op::skip) column = group.first;
                if (step.op == Op::skip)
                    grid.width[static_cast<std::size_t>(k)] = std::max(1, static_cast<int>(group.ops.size()));
            }
        }
    }
}

bool no_query_blocks(const Trace& trace) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).i >= 0) return false;
    return true;
}

// Steps that a pass spends on one element, at most.
int most_ops_of_element(const Trace& trace) {
    int most = 0, run = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const bool same =
            k > 0 && trace.step(k - 1).j == trace.step(k).j && trace.step(k - 1).phase == trace.step(k).phase;
        run = trace.step(k).j < 0 ? 0 : same ? run + 1 : 1;
        most = std::max(most, run);
    }
    return most;
}

}  // namespace

namespace {

// The gaps in a lane until the last tick of all: its worker waits. Where several workers have their steps in
// a lane, nobody waits in it, and they are busy with those steps in lanes of their own.
void find_gaps(TimelineGrid& grid, const Trace& trace) {
    const auto busy_with = [&](int k, int lane, int worker) {
        const When& when = trace.step(k).when;
        if (when.beneath || when.worker != worker) return false;
        const int own = grid.lane_of(k);
        return own == lane || grid.is_shared(trace, own);
    };
    for (int lane = 0; lane < grid.count(); ++lane) {
        auto& gaps = grid.gaps.emplace_back();
        if (grid.is_shared(trace, lane)) continue;
        const int worker = trace.step(grid.begin(lane)).when.worker;
        std::vector<std::pair<int, int>> busy;
        for (int k = 0; k < trace.size(); ++k)
            if (busy_with(k, lane, worker))
                busy.emplace_back(trace.step(k).when.start, trace.step(k).when.end);
        std::ranges::sort(busy);
        int free = 0;
        for (const auto& [start, end] : busy) {
            if (start > free) gaps.emplace_back(free, start);
            free = std::max(free, end);
        }
        if (free < grid.columns) gaps.emplace_back(free, grid.columns);
    }
}

// Lanes are workers (what is recorded goes worker after worker), columns their ticks.
TimelineGrid timed_grid(const Trace& trace) {
    TimelineGrid out;
    out.timed = true;
    out.columns = trace.ticks();
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (k == 0 || step.phase != trace.step(k - 1).phase) out.first.push_back(k);
        out.column.push_back(step.when.start);
        out.width.push_back(step.when.end - step.when.start);
        out.beneath.push_back(step.when.beneath);
        out.shares.resize(out.first.size());
        if (step.when.beneath) out.shares.back() = true;
    }
    out.first.push_back(trace.size());
    find_gaps(out, trace);
    return out;
}

}  // namespace

bool TimelineGrid::is_shared(const Trace& trace, int lane) const {
    const int worker = trace.step(begin(lane)).when.worker;
    for (int k = begin(lane); k < end(lane); ++k)
        if (trace.step(k).when.worker != worker) return true;
    return false;
}

TimelineGrid timeline_grid(const Trace& trace) {
    if (trace.workers() > 0) return timed_grid(trace);
    TimelineGrid out;
    out.by_query = lanes_by_query(trace);
    std::vector<std::set<Op>> ops;
    bool skips = false;
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (k == 0 || step.phase != trace.step(k - 1).phase) out.first.push_back(k);
        const int inner = inner_block(out, step);
        if (inner < 0) continue;
        if (inner >= static_cast<int>(ops.size())) ops.resize(static_cast<std::size_t>(inner) + 1);
        skips |= step.op == Op::skip;
        if (step.op != Op::skip) ops[static_cast<std::size_t>(inner)].insert(step.op);
    }
    out.first.push_back(trace.size());
    if (ops.empty() && out.count() > 1) out.phases = std::exchange(out.first, {0, trace.size()});
    for (int lane = 0; lane < out.count(); ++lane) {
        const auto [before, after] = around_blocks(out, trace, lane);
        out.start = std::max(out.start, before), out.finish = std::max(out.finish, after);
    }
    // All blocks are equally wide, so that the eye can compare them.
    std::set<Op> all;
    for (const auto& some : ops) all.insert(some.begin(), some.end());
    int width = std::max<int>(skips ? 1 : 0, static_cast<int>(all.size()));
    out.by_element = !ops.empty() && trace.lesson().one_row && no_query_blocks(trace);
    if (out.by_element) width = most_ops_of_element(trace);
    out.columns = out.start;
    for (std::size_t n = 0; n < ops.size(); ++n) {
        out.blocks.push_back({{all.begin(), all.end()}, out.columns});
        out.columns += width;
    }
    out.columns += out.finish;
    place_steps(out, trace);
    return out;
}

}  // namespace tilewalk::ui
