#include "tests/cuda/ptx/warp.h"

#include <algorithm>
#include <bit>
#include <sstream>

namespace tilewalk::ptx {

namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t(0);

const char* name_of(Space space) {
    constexpr const char* names[] = {"parameter", "global", "shared", "local"};
    return names[static_cast<int>(space)];
}

}  // namespace

Warp::Warp(BlockState& of, int which)
    : block(of), number(which), file(of.kernel.file_words),
      local(static_cast<std::size_t>(of.kernel.local_bytes) * lanes) {}

void Warp::begin() {
    // What nobody has written yet is a NaN, and no address
    std::fill(file.begin(), file.end(), 0xFFFFFFFFu);
    std::fill(local.begin(), local.end(), static_cast<unsigned char>(0xFF));
    for (const Kernel::Constant& c : block.kernel.constants) switch (c.bits) {
        case 1: predicate(c.row) = static_cast<Mask>(c.value); break;
        case 16: std::fill_n(row<std::uint16_t>(c.row), lanes, static_cast<std::uint16_t>(c.value)); break;
        case 32: std::fill_n(row<std::uint32_t>(c.row), lanes, static_cast<std::uint32_t>(c.value)); break;
        default: std::fill_n(row<std::uint64_t>(c.row), lanes, c.value);
        }
    const Launch& launch = block.launch;
    for (const Kernel::SpecialRow& special : block.kernel.specials) {
        std::uint32_t* const to = row<std::uint32_t>(special.row);
        for (int lane = 0; lane < lanes; ++lane) {
            const int thread = number * lanes + lane;
            const int values[] = {thread,           launch.threads,   block.index[0],
                                  block.index[1],   block.index[2],   launch.blocks[0],
                                  launch.blocks[1], launch.blocks[2], lane};
            to[lane] = static_cast<std::uint32_t>(values[static_cast<int>(special.which)]);
        }
    }
    copies.clear();
    groups.fill(0), places.fill(0);
    const int own = std::min(lanes, launch.threads - number * lanes);
    exited = own == lanes ? 0 : all_lanes << own;
    waiting = 0, group = ~exited, here = 0, next_others = nowhere;
    state = State::running;
}

void Warp::fail(const Instruction& in, const std::string& what, int lane) const {
    std::ostringstream text;
    text << "PTX line " << in.line << " of " << plain_name(block.kernel.name) << ": "
         << block.kernel.text(in.line) << "  block " << block.index[0] << ", " << block.index[1] << ", "
         << block.index[2] << ", warp " << number;
    if (lane >= 0) text << ", lane " << lane;
    text << ": " << what;
    throw Error(text.str());
}

void Warp::refuse_access(Space space, std::uint64_t address, std::uint64_t bytes, int lane,
                         const Instruction& in, const std::string& why) const {
    std::ostringstream text;
    text << bytes << " bytes at 0x" << std::hex << address << " of " << name_of(space) << " memory: " << why;
    fail(in, text.str(), lane);
}

void Warp::refuse_race(std::uint64_t address, std::uint64_t bytes, int lane, int other,
                       const Instruction& in) const {
    refuse_access(Space::shared, address, bytes, lane, in,
                  "warp " + std::to_string(other) + " accesses them with no barrier between the two");
}

unsigned char* Warp::access_with_care(Space space, std::uint64_t address, std::uint64_t bytes,
                                      std::uint64_t aligned, int lane, const Instruction& in) {
    const auto refuse = [&](const std::string& why) { refuse_access(space, address, bytes, lane, in, why); };
    if (address % aligned != 0) refuse("not aligned to " + std::to_string(aligned));
    // The bytes of a space that begins at `begin`
    const auto inside = [&](std::uint64_t begin, std::uint64_t size) {
        if (!lies_inside(address, bytes, begin, size))
            refuse("outside of its " + std::to_string(size) + " bytes, which begin at " +
                   std::to_string(begin));
        return address - begin;
    };
    switch (space) {
    case Space::parameters:
        return block.parameters.data() + inside(parameters_begin, block.parameters.size());
    case Space::local: {
        const auto size = static_cast<std::uint64_t>(block.kernel.local_bytes);
        return local.data() + static_cast<std::uint64_t>(lane) * size + inside(local_begin, size);
    }
    case Space::shared: return block.shared.data() + inside(shared_begin, block.shared.size());
    default: {
        std::string why;
        unsigned char* const found = block.machine.memory.find(address, bytes, &why);
        if (!found) refuse(why);
        return found;
    }
    }
}

void Warp::perform(const Copy& copy) {
    if (faulty(Fault::copy_never_arrives)) return;
    unsigned char* const to =
        access(Space::shared, copy.to, copy.bytes, copy.bytes, copy.lane, true, *copy.by);
    if (copy.source_bytes > 0)
        std::memcpy(
            to, access(Space::global, copy.from, copy.source_bytes, copy.bytes, copy.lane, false, *copy.by),
            copy.source_bytes);
    if (!faulty(Fault::copy_without_zeros))
        std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

void Warp::run(int most) {
    const std::vector<Instruction>& code = block.kernel.code;
    for (; most > 0 && state == State::running; --most) {
        if ((group == 0 || here >= next_others) && !choose()) return;
        if (block.machine.executed++ >= block.machine.budget_ends)
            fail(code[here], "the launch has not ended after " + std::to_string(block.machine.budget) +
                                 " instructions of warps");
        step(code[here]);
    }
}

void Warp::pass_barrier() {
    if (state != State::at_barrier) return;
    state = State::running;
    ++here;
}

// The lanes at the lowest place go on. False: none is left.
bool Warp::choose() {
    for (int lane = 0; lane < lanes; ++lane)
        if (group >> lane & 1) places[static_cast<std::size_t>(lane)] = here;
    const auto lowest = [this](Mask of) {
        std::uint32_t place = nowhere;
        for (; of; of &= of - 1)
            place = std::min(place, places[static_cast<std::size_t>(std::countr_zero(of))]);
        return place;
    };
    const auto standing = [this](Mask of, std::uint32_t place) {
        Mask found = 0;
        for (Mask left = of; left; left &= left - 1)
            if (places[static_cast<std::size_t>(std::countr_zero(left))] == place) found |= left & (0 - left);
        return found;
    };
    group = 0;
    const Mask able = ~exited & ~waiting;
    if (able) {
        here = lowest(able);
        group = standing(able, here);
        next_others = lowest(able & ~group);
        return true;
    }
    if (!waiting) return state = State::done, false;
    // Those that the rest waited for may have left meanwhile
    for (Mask left = waiting; left;) {
        here = lowest(left);
        const Mask there = standing(waiting, here);
        if ((needed(block.kernel.code[here], there) & ~there) == 0) {
            group = there, waiting &= ~there, next_others = nowhere;
            return true;
        }
        left &= ~there;
    }
    here = lowest(waiting);
    fail(block.kernel.code[here], "its lanes wait for others that never come", std::countr_zero(waiting));
}

// The lanes without which an instruction cannot go on
Mask Warp::needed(const Instruction& in, Mask there) {
    if (in.flow == Flow::barrier) return ~exited;
    if (in.flow == Flow::warp) return all_lanes;
    const Row mask = in.at[in.mask];
    return row<std::uint32_t>(mask)[std::countr_zero(there)] & ~exited;
}

// PTX 9.7.9.6, 9.7.14: lanes wait until all that are needed execute the instruction.
bool Warp::gather(const Instruction& in) {
    Mask there = group;
    for (Mask left = waiting; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (places[static_cast<std::size_t>(lane)] == here) there |= Mask(1) << lane;
    }
    const Mask wanted = needed(in, there);
    if (in.flow == Flow::warp && exited) fail(in, "a lane of the warp has left", std::countr_zero(exited));
    if (in.flow == Flow::members && (there & ~wanted))
        fail(in, "a lane is not in the mask of the first that is here");
    if ((wanted & ~there) == 0) {
        waiting &= ~there;
        group = there;
        return true;
    }
    for (Mask left = group; left; left &= left - 1)
        places[static_cast<std::size_t>(std::countr_zero(left))] = here;
    waiting |= group;
    group = 0;
    return false;
}

void Warp::branch(const Instruction& in) {
    if (active && faulty(Fault::branch_for_all)) active = group;
    if (active == group) {
        here = in.target;
    } else if (active == 0) {
        ++here;
    } else {
        for (Mask left = group; left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            places[static_cast<std::size_t>(lane)] = active >> lane & 1 ? in.target : here + 1;
        }
        group = 0;
    }
}

void Warp::step(const Instruction& in) {
    active = group;
    if (in.guarded) active &= predicate(in.guard) ^ (in.negated ? all_lanes : 0);
    switch (in.flow) {
    case Flow::next:
        if (active) in.run(*this, in);
        ++here;
        return;
    case Flow::branch: return branch(in);
    case Flow::exit:
        exited |= active;
        group &= ~active;
        ++here;
        return;
    case Flow::trap:
        if (active) fail(in, "the kernel stopped itself", std::countr_zero(active));
        ++here;
        return;
    default: break;
    }
    if (active != group) fail(in, "a guard parts the lanes that it needs together");
    if (!gather(in)) return;
    active = group;
    if (in.flow == Flow::barrier && !faulty(Fault::barrier_open)) {
        state = State::at_barrier;
        return;
    }
    if (in.run) in.run(*this, in);
    ++here;
}

}  // namespace tilewalk::ptx
