// What a kernel did, instruction by instruction, as the recording device (cuda/record) wrote it down. An
// event is what the lanes of one warp did together; what they read and wrote stands in words beside it.
//
// Addresses are those of the record: shared memory begins at 0, device memory at `global_base`, so that one
// word holds either. Plain arithmetic of the kernel's source (a * b + c) is not an event: no name of
// cuda/device/device.h is behind it.
#pragma once

#include "core/base/dtype.h"
#include "core/inside/fault.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::inside {

enum class Op : std::uint8_t {
    load,
    store,
    atomic_add,
    load_matrices,
    load_transposed,
    multiply_add,
    copy_issued,       ///< copy_async: from here on the copy may write, and it may not have written
    copies_committed,  ///< commit_copies: what was issued is a group
    wait_copies,
    copy_arrived,  ///< what a wait has waited for; its place is that of the issue
    sync_block,
    sync_warp,
    shuffle,
    exp2,
    exp,
    log,
    from_float,
    pack,
    // Of Hopper (cuda/device/device.h)
    fetch_tile,    ///< from here on the tile may come
    tile_arrived,  ///< it has, by itself: no warp did it; its warp and place are those of the fetch
    init_barrier,
    publish_barriers,
    arrive_at,
    expect_bytes,
    wait_for,
    arrive_named,
    sync_named,
    shrink_registers,
    grow_registers,
    fence_products,
    multiply_async,  ///< from here on it may read its factors, and its sums are not there
    commit_products,
    wait_products,
    left_out,  ///< a barrier or a wait that the run goes without
    count
};

/// What the words of a lane are, in their order. An access begins with its address.
struct OpInfo {
    const char* name;           ///< as kernels write it: "copy_async"
    const char* words;          ///< "address, value"
    bool reads, writes, meets;  ///< memory; the whole warp does it together
};
const OpInfo& info(Op op);
/// At a barrier that counts phases; the words begin with its address and the phase.
constexpr bool arrives(Op op) { return op == Op::arrive_at || op == Op::expect_bytes; }
/// By its name: "copy_async"; nothing if there is none.
std::optional<Op> find_op(std::string_view name);

constexpr std::uint32_t whole_warp = 0xFFFFFFFF;  ///< lanes
constexpr std::uint32_t global_base = 1u << 24;
constexpr bool is_shared(std::uint32_t address) { return address < global_base; }
/// What is no memory has addresses, too, where it races (races.h): registers that a product adds to, and
/// barriers with a number.
constexpr std::uint32_t register_base = 0xF0000000, numbered_base = 0xF8000000;
constexpr bool is_register(std::uint32_t address) {
    return address >= register_base && address < numbered_base;
}
constexpr bool is_numbered_barrier(std::uint32_t address) { return address >= numbered_base; }

/// One of the registers that a product in the background adds to: the lane's n-th array of sums, and which of
/// it.
struct SumRegister {
    std::uint32_t sums, reg;
};
constexpr std::uint32_t address_of(const SumRegister& at) { return register_base | at.sums << 8 | at.reg; }
constexpr SumRegister held_register(std::uint32_t address) { return {address >> 8 & 0xFF, address & 0xFF}; }

/// A place in the source. Who called its function the text says (calls.h).
struct Place {
    static constexpr std::uint32_t none = 0xFFFFFFFF;  ///< instead of the number of one
    std::string file;                                  ///< "cuda/kernels/bands.h"
    int line = 0, column = 0;
};

struct Event {
    std::uint32_t place = 0;
    std::uint32_t lanes = 0;  ///< bit l: lane l took part
    std::uint32_t at = 0;     ///< its first word in the block's `words`: so many for each lane that took part
    Op op = Op::load;
    std::uint8_t warp = 0;
    std::uint8_t bytes = 0;  ///< of each lane's access
    std::uint8_t words = 0;  ///< of each lane

    bool has(int lane) const { return lanes >> lane & 1; }
};

/// Of how many events this thread has looked at the step or the words: however long a record is, a frame and
/// a seek look at few of them, which tests count.
inline thread_local std::int64_t events_visited = 0;

/// A block in the order in which its warps ran. One of many orders: races.h says which of it is certain.
struct BlockRecord {
    int x = 0, y = 0, z = 0;
    std::vector<Event> events;
    std::vector<std::uint32_t> words;

    std::span<const std::uint32_t> words_of(const Event& event) const;
    /// Those of one lane; empty: it does not take part.
    std::span<const std::uint32_t> words_of(const Event& event, int lane) const;
    /// f(lane, its words) for each lane that takes part.
    template <class F> void each_lane(const Event& event, F&& f) const {
        auto rest = words_of(event);
        for (std::uint32_t lanes = event.lanes; lanes != 0; lanes &= lanes - 1) {
            f(std::countr_zero(lanes), rest.first(event.words));
            rest = rest.subspan(event.words);
        }
    }
    std::int64_t bytes() const;
};

/// What the lanes of a warp did at one place, over all blocks of a launch.
struct Counts {
    std::uint32_t place = 0;
    Op op = Op::load;
    std::int64_t warps = 0, lanes = 0;  ///< how often warps did it, and lanes
    std::int64_t shared_bytes = 0, shared_turns = 0,
                 shared_least = 0;  ///< turns of the banks, and without conflicts
    int worst_ways = 0;
    std::int64_t global_bytes = 0, sectors = 0,
                 sectors_least = 0;  ///< sectors of 32 bytes, and those needed for the bytes
    std::int64_t products = 0;       ///< of 16 × 8 × 16, as mma.m16n8k16 is one; wgmma is as many as it has
};

/// One of the two accesses of a race.
struct RaceAccess {
    std::uint32_t place = 0;
    Op op = Op::load;
    int block = 0, warp = 0;
    std::uint32_t lanes = 0;
    std::uint32_t event = 0;  ///< of its block: the first that raced here
};

/// Two accesses to one address, one of them writing, that nothing orders.
struct Race {
    RaceAccess first, second;  ///< in the order of this run
    std::uint32_t address = 0;
    std::int64_t times = 0;  ///< accesses at the second place that meet one at the first
};

/// Memory of the device that has a name.
struct Region {
    std::string name;
    std::uint32_t begin = 0;
    std::int64_t bytes = 0;
    int row_bytes = 0, element_bytes = 0;  ///< 0: no rows
    int head = -1;                         ///< of which it is; −1: there is one

    bool holds(std::uint32_t address) const { return address >= begin && address - begin < bytes; }
};

struct Launch {
    std::string name;  ///< of a product by the vendor's library, which is not walked through; empty: a kernel
    int x = 1, y = 1, z = 1, threads = 0;
    std::int64_t shared_bytes = 0;
    std::vector<BlockRecord> blocks;  ///< those that were asked for
    std::vector<Counts> counts;       ///< of all blocks
    std::vector<Race> races;          ///< among all blocks
    /// By region: which block wrote each of its words (4 bytes) last; −1: none did. Empty for a region that
    /// has no rows, or that nobody wrote.
    std::vector<std::vector<std::int32_t>> writers;
    /// By the model of time, of each of all its blocks; empty: nobody asked (RecordRequest::timed).
    std::vector<std::int64_t> clocks;

    int warps() const { return (threads + 31) / 32; }
    /// What all warps of all its blocks did: the launch with most of it does the main work.
    std::int64_t steps() const;
};

/// " of head 2", or nothing where there is one.
std::string head_text(int head);

/// What the kernel writes: O, or dQ, dK and dV.
struct Output {
    std::string name;  ///< of several heads with that: "O of head 2"
    int rows = 0, columns = 0;
    std::vector<float> values;
};

struct Record {
    std::string kernel, title, teaches;  ///< its name, what it is called, its idea
    DType dtype = DType::f32;
    int Br = 0, Bc = 0, tiles = 0;  ///< of its tiles, and those that the mask leaves; 0: it has none
    int split_blocks = 0;  ///< blocks of keys of a split, in which m, ℓ and O begin anew; 0: one walk
    Schedule schedule;
    std::optional<Fault> fault;  ///< what it went without
    bool swizzles = false;       ///< the kernel asked where a chunk of a row lies
    int heads = 1, key_heads = 1;
    int open_keys = 0;  ///< how many keys the last tile has room for beyond those that there are
    std::vector<Output> outputs;
    std::vector<Place> places;
    std::vector<Region> regions;
    std::vector<Launch> launches;

    std::int64_t races() const;
    std::int64_t lost_turns() const;  ///< races of barriers with a number, which order no memory
    std::int64_t bytes() const;       ///< that it takes
    /// The block of a launch that wrote this address of device memory last; −1: none did, or it has no name.
    int writer(const Launch& launch, std::uint32_t address) const;
};

/// "cuda/kernels/bands.h:76"
std::string place_text(const Record& record, std::uint32_t place);
/// "shared memory, byte 0x1230", "K, row 12, column 8".
std::string address_text(const Record& record, std::uint32_t address);
/// "lane 3", "lanes 0–15, 17".
std::string lanes_text(std::uint32_t lanes);
/// The address, and below it both accesses.
std::string race_text(const Record& record, const Race& race);
/// Of one without a race; of launches by the vendor's library nothing is known.
std::string no_race_text(const Record& record);

}  // namespace tilewalk::inside
