// Branches, barriers and what lanes tell each other: PTX 9.7.12, 9.7.13.1, 9.7.9.6.
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

#include <algorithm>

namespace tilewalk::ptx {

namespace {

enum class Mode { up, down, bfly, idx };

// shfl.sync d|p, a, b, c, mask: b is a lane or a distance, c the bounds of its segment
template <Mode mode> void shuffle(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    std::array<u32, lanes> a;
    std::copy_n(warp.row<u32>(in.at[2]), lanes, a.begin());
    const u32 *const b = warp.row<u32>(in.at[3]), *const c = warp.row<u32>(in.at[4]);
    const bool more = warp.faulty(Fault::shuffle_by_one_more),
               keeps = mode == Mode::bfly && warp.faulty(Fault::shuffle_keeps_own);
    Mask in_range = 0;
    over_lanes(warp, [&](int lane) {
        const int by = static_cast<int>(b[lane] & 31), bound = static_cast<int>(c[lane] & 31),
                  segment = static_cast<int>(c[lane] >> 8 & 31);
        const int first = lane & segment, last = first | (bound & ~segment);
        int from = mode == Mode::up     ? lane - by
                   : mode == Mode::down ? lane + by
                   : mode == Mode::bfly ? lane ^ by
                                        : first | (by & ~segment);
        const bool inside = mode == Mode::up ? from >= last : from <= last;
        if (!inside || keeps) from = lane;
        if (more) from = (from + 1) % lanes;
        if (!(warp.active >> from & 1)) warp.fail(in, "takes from a lane that takes no part", lane);
        in_range |= Mask(inside) << lane;
        d[lane] = a[static_cast<std::size_t>(from)];
    });
    set_predicate(warp, in.at[1], in_range);
}

// vote.sync: PTX 9.7.13.8
template <bool all> void vote(Warp& warp, const Instruction& in) {
    const Mask yes = warp.predicate(in.at[1]) & warp.active;
    set_predicate(warp, in.at[0], (all ? yes == warp.active : yes != 0) ? all_lanes : 0);
}
void ballot(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const Mask yes = warp.predicate(in.at[1]) & warp.active;
    over_lanes(warp, [=](int lane) { d[lane] = yes; });
}

}  // namespace

void add_control(InstructionTable& table) {
    table.insert({
        {"bra", {"t", nullptr, Flow::branch}},
        {"bra.uni", {"t", nullptr, Flow::branch}},
        {"ret", {"", nullptr, Flow::exit}},
        {"exit", {"", nullptr, Flow::exit}},
        {"trap", {"", nullptr, Flow::trap}},
        {"bar.sync", {"0", nullptr, Flow::barrier}},
        {"bar.warp.sync", {"w", nullptr, Flow::members}},
        {"vote.sync.any.pred", {"ppw", vote<false>, Flow::members}},
        {"vote.sync.all.pred", {"ppw", vote<true>, Flow::members}},
        {"vote.sync.ballot.b32", {"wpw", ballot, Flow::members}},
        {"shfl.sync.up.b32", {"wpwwww", shuffle<Mode::up>, Flow::members}},
        {"shfl.sync.down.b32", {"wpwwww", shuffle<Mode::down>, Flow::members}},
        {"shfl.sync.bfly.b32", {"wpwwww", shuffle<Mode::bfly>, Flow::members}},
        {"shfl.sync.idx.b32", {"wpwwww", shuffle<Mode::idx>, Flow::members}},
    });
}

const InstructionTable& instruction_table() {
    static const InstructionTable table = [] {
        InstructionTable all;
        add_integers(all), add_floats(all), add_logic(all), add_conversions(all);
        add_memory(all), add_copies(all), add_matrices(all), add_control(all);
        return all;
    }();
    return table;
}

}  // namespace tilewalk::ptx
