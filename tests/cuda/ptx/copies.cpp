// Asynchronous copies: PTX 9.7.9.25. Each lane gathers its copies into groups of its own.
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

#include <algorithm>

namespace tilewalk::ptx {

namespace {

// cp.async [shared], [global], bytes, bytes of the source; the rest are zeros
void copy(Warp& warp, const Instruction& in) {
    for (Mask left = warp.active; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        Warp::Copy one{warp.address(in, 0, 0, in.wide, lane),
                       warp.address(in, 1, 1, true, lane),
                       warp.row<u32>(in.at[2])[lane],
                       warp.row<u32>(in.at[3])[lane],
                       warp.groups[static_cast<std::size_t>(lane)],
                       lane,
                       &in};
        if (one.bytes != 16) warp.fail(in, "cp.async.cg copies 16 bytes", lane);
        if (one.source_bytes > one.bytes) warp.fail(in, "more bytes of the source than are copied", lane);
        if (one.from % one.bytes != 0) warp.fail(in, "its source is not aligned to 16", lane);
        // From here on nobody else may touch the bytes
        warp.access(Space::shared, one.to, one.bytes, one.bytes, lane, true, in);
        if (warp.block.machine.schedule.late_copies)
            warp.copies.push_back(one);
        else
            warp.perform(one);
    }
}

void commit(Warp& warp, const Instruction&) {
    for (Mask left = warp.active; left; left &= left - 1)
        ++warp.groups[static_cast<std::size_t>(std::countr_zero(left))];
}

// All that a lane has begun, committed or not
void wait_all(Warp& warp, const Instruction&) {
    std::vector<Warp::Copy> left_over;
    for (const Warp::Copy& copy : warp.copies)
        if (warp.active >> copy.lane & 1)
            warp.perform(copy);
        else
            left_over.push_back(copy);
    warp.copies = std::move(left_over);
}

// At most so many of a lane's last groups stay under way; what is not committed is in none.
void wait(Warp& warp, const Instruction& in) {
    const u32 spared = warp.faulty(Fault::wait_one_short) ? 1 : 0;
    std::vector<Warp::Copy> left_over;
    for (const Warp::Copy& copy : warp.copies) {
        const auto lane = static_cast<std::size_t>(copy.lane);
        const u32 may_stay = warp.row<u32>(in.at[0])[lane] + spared;
        const bool arrives = warp.active >> lane & 1 && copy.group + may_stay < warp.groups[lane];
        if (arrives)
            warp.perform(copy);
        else
            left_over.push_back(copy);
    }
    warp.copies = std::move(left_over);
}

}  // namespace

void add_copies(InstructionTable& table) {
    table.insert({
        {"cp.async.cg.shared.global", {"aaww", copy}},
        {"cp.async.commit_group", {"", commit}},
        {"cp.async.wait_group", {"w", wait}},
        {"cp.async.wait_all", {"", wait_all}},
    });
}

}  // namespace tilewalk::ptx
