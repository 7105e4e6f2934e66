// One warp: 32 lanes, each at its own place in the code. Those that stand lowest go on, together; so lanes
// that parted meet again where their ways join. An instruction that needs several lanes at once waits for
// them.
#pragma once

#include "tests/cuda/ptx/machine.h"

#include <cstring>

namespace tilewalk::ptx {

using Mask = std::uint32_t;
constexpr int lanes = 32;
constexpr Mask all_lanes = ~Mask(0);

struct BlockState {
    Machine& machine;
    const Kernel& kernel;
    const Launch& launch;
    std::array<int, 3> index{};
    SharedMemory shared;
    std::vector<unsigned char> parameters;
};

class Warp {
public:
    enum class State { running, at_barrier, done };

    Warp(BlockState& of, int number);
    /// Ready for the block's next index.
    void begin();
    /// At most so many instructions, or until all its lanes have left or wait at a barrier.
    void run(int most);
    void pass_barrier();

    BlockState& block;
    const int number;
    State state = State::running;
    Mask active = 0;  ///< who executes the instruction at hand

    bool faulty(Fault fault) const { return block.machine.fault == fault; }
    /// A row of the file; T is as wide as its registers.
    template <class T> T* row(Row at) { return reinterpret_cast<T*>(file.data() + at); }
    Mask& predicate(Row at) { return file[at]; }

    /// The bytes that a lane accesses. Throws unless they are there and aligned to `aligned`.
    [[gnu::always_inline]] unsigned char* access(Space space, std::uint64_t address, std::uint64_t bytes,
                                                 std::uint64_t aligned, int lane, bool writes,
                                                 const Instruction& in) {
        const bool at_its_place = address % aligned == 0;
        if (space == Space::shared && at_its_place &&
            lies_inside(address, bytes, shared_begin, block.shared.size())) {
            const std::uint64_t offset = address - shared_begin;
            const int other =
                block.machine.find_races ? block.shared.touch(offset, bytes, number, writes) : -1;
            if (other >= 0) refuse_race(address, bytes, lane, other, in);
            return block.shared.data() + offset;
        }
        if (space == Space::global && at_its_place)
            if (unsigned char* const found = block.machine.memory.find_again(address, bytes)) return found;
        return access_with_care(space, address, bytes, aligned, lane, in);
    }
    std::uint64_t address(const Instruction& in, std::size_t operand, std::size_t nth, bool wide, int lane) {
        const auto offset = static_cast<std::uint64_t>(in.offset[nth]);
        if (wide) return row<std::uint64_t>(in.at[operand])[lane] + offset;
        return row<std::uint32_t>(in.at[operand])[lane] + static_cast<std::uint32_t>(offset);  // wraps
    }
    [[noreturn]] void fail(const Instruction& in, const std::string& what, int lane = -1) const;

    /// Asynchronous copies: PTX 9.7.9.25. Each lane counts its own groups.
    struct Copy {
        std::uint64_t to, from;
        std::uint32_t bytes, source_bytes, group;
        int lane;
        const Instruction* by;
    };
    std::vector<Copy> copies;
    std::array<std::uint32_t, lanes> groups{};  ///< committed so far
    void perform(const Copy& copy);

private:
    unsigned char* access_with_care(Space space, std::uint64_t address, std::uint64_t bytes,
                                    std::uint64_t aligned, int lane, const Instruction& in);
    [[noreturn]] void refuse_access(Space space, std::uint64_t address, std::uint64_t bytes, int lane,
                                    const Instruction& in, const std::string& why) const;
    [[noreturn]] void refuse_race(std::uint64_t address, std::uint64_t bytes, int lane, int other,
                                  const Instruction& in) const;
    void step(const Instruction& in);
    void branch(const Instruction& in);
    Mask needed(const Instruction& in, Mask there);
    bool gather(const Instruction& in);
    bool choose();

    std::vector<std::uint32_t> file;
    std::vector<unsigned char> local;
    std::array<std::uint32_t, lanes> places{};
    Mask exited = 0, waiting = 0;
    Mask group = 0;                 ///< the lanes that go on together
    std::uint32_t here = 0;         ///< their place
    std::uint32_t next_others = 0;  ///< the lowest place of the others that may go on
};

}  // namespace tilewalk::ptx
