// Gathers what threads of the emulator do into events of warps (core/inside/record.h).
//
// Two things tell it. The names of cuda/device/device.h report themselves (device_recorded.h). And what a
// kernel reads and writes by itself, x = K[n], reports the compiler: the kernels of this back end are
// compiled with -fsanitize=alignment, all memory of this device begins one byte beside its alignment, and so
// the sanitizer's call, which knows address, size and place, comes at each such access, of which registers
// (local variables, which are aligned) are none. Nothing of the sanitizer's own runtime is linked.
//
// Threads are fibers that run one after the other, each as far as it comes; the events of a warp's lanes are
// laid side by side wherever the whole warp meets.
#pragma once

#include "core/base/platform.h"
#include "core/inside/model_time.h"
#include "core/inside/races.h"
#include "core/inside/record.h"
#include "core/inside/reported.h"
#include "cuda/emulator/stream.h"
#include "cuda/launch/grid.h"
#include "cuda/record/at.h"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <unordered_map>

namespace tilewalk::gpu {

constexpr int skew = 1;  ///< bytes by which memory misses its alignment as kernels see it

/// Device memory with addresses of the record. The host sees it aligned; kernels are given every address plus
/// `skew`. Each piece knows its extent. In the machine's memory so much that nobody has lies before and
/// behind each one that what misses its piece does not come to another one; in the record's addresses they
/// follow each other.
class Arena {
public:
    explicit Arena(std::int64_t most_bytes);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    void* take(std::int64_t bytes);  ///< null if there is not so much
    void give_back();                ///< one piece; the room is free again when all are back
    std::int64_t used() const { return next; }
    std::int64_t free() const { return size - next; }

    struct Piece {
        std::int64_t begin, bytes;  ///< as the host sees it, from the begin of the memory
        std::uint32_t address;
    };
    /// The piece that a kernel's address lies in, or else the nearest one; null: none is within `gap` bytes.
    const Piece* near(const void* p) const;
    bool holds(const void* p, int bytes) const;
    std::uint32_t address(const void* p) const;  ///< of a kernel's, in the piece before it
    std::int64_t offset(const void* p) const {   ///< of any address, from the begin of the memory
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) -
                                         reinterpret_cast<std::uintptr_t>(memory)) -
               skew;
    }
    static constexpr std::int64_t gap = in_browser ? 1 << 20 : 8 << 20;  ///< a page pays for what it asks for

private:
    std::int64_t room;  ///< for pieces and what lies between them
    unsigned char* memory;
    std::int64_t size, next = 0;
    std::vector<Piece> pieces;
    std::size_t taken = 0;
};

class Recording {
public:
    /// `blocks`: of which events are kept, by their numbers in a launch.
    struct Limits {
        std::vector<int> blocks;
        std::int64_t bytes, steps;  ///< of kept events; of threads, after which a kernel is stopped
        inside::Schedule schedule;
        std::stop_token stop{};
        std::shared_ptr<std::atomic<int>> blocks_done{};
        std::function<void(const std::string&)> stopped{};
        std::optional<inside::Fault> fault{};  ///< what the run goes without
        const inside::Costs* timed = nullptr;  ///< every block has its time by these
        inside::Reported reported{};           ///< accesses of which the compiler reports another pointer
    };
    Recording(Limits with, const Arena& of) : limits(std::move(with)), arena(of) {}

    /// Runs all blocks of a launch. A sentence if it went wrong.
    std::string run(const Grid& grid, const std::function<void()>& body);
    void note_product(int m, int n, int k, int count);  ///< of the vendor's library
    inside::Record& record() { return result; }
    const inside::Record& record() const { return result; }
    void begin_kernel(const char* name) { kernel = name ? name : ""; }

    // By the thread that runs
    void note(inside::Op op, std::uint32_t place, int bytes, std::span<const std::uint32_t> words);
    std::uint32_t place(const char* file, int line, int column);
    std::uint32_t place(const At& at);
    std::uint32_t address(const void* p) const;
    /// Just before it is done; what was stored is looked up when the thread goes on.
    void note_access(bool stores, std::uint32_t place, const void* p, int bytes);
    void settle();  ///< does so
    /// A kernel that nobody has tested (Limits::stopped)
    bool untested() const { return static_cast<bool>(limits.stopped); }
    /// All of it lies in one buffer, or in shared memory.
    bool is_given(const void* p, int bytes) const;
    /// Stops a kernel before it reads or writes what it was not given.
    void expect_given(std::uint32_t place, const void* p, int bytes, bool stores);
    /// Where an access is of which the compiler reports this pointer; stops a kernel where that is unknown.
    const void* reported_at(const void* p, std::uint32_t place, const char* file, int line, int column,
                            bool stores);
    /// Stops a kernel at an access of which nobody knows whether it reads or writes.
    void stop_at_member(std::uint32_t place);
    void issue(std::uint32_t place, void* to, const void* from, bool inside);
    void commit(std::uint32_t place);
    void wait(std::uint32_t place, int groups);  ///< the copies have been made
    /// Groups of products that this lane has committed, and one more.
    std::uint32_t product_groups() { return self().products; }
    std::uint32_t commit_group() { return self().products++; }
    /// Which of its arrays of sums this is, in the order in which the lane first named them.
    std::uint32_t sums(const float* first);
    /// This thread has waited for these phases of a barrier: what other warps have done up to their arrivals
    /// and fetches there becomes events, though they do not meet yet.
    void catch_up(std::uint32_t barrier, std::uint32_t phases);
    void fetch(std::uint32_t place, const void* to) { self().fetches[to] = place; }
    /// The run goes without what stands at this place, which is noted.
    bool leaves_out(std::uint32_t place);
    bool has(inside::FaultKind kind) const { return limits.fault && limits.fault->kind == kind; }
    bool swizzles() { return result.swizzles = true, !has(inside::FaultKind::swizzle); }

private:
    struct Step {  ///< of one lane
        std::uint32_t place, at;
        inside::Op op;
        std::uint8_t bytes, words;
        bool same_as(const Step& other) const { return place == other.place && op == other.op; }
    };
    struct Copy {
        std::uint32_t place;
        void* to;
    };
    struct Lane {
        std::vector<Step> steps;
        std::vector<std::uint32_t> words;
        std::size_t next = 0;  ///< the first step that is not in an event yet
        int meetings = 0;      ///< among the steps from there on
        int arrivals = 0;      ///< of lanes and of bytes, among them
        bool ended = false;
        std::uint32_t last = inside::Place::none;  ///< the place of its last step
        const void* stored = nullptr;              ///< by the last step, not yet read
        std::vector<Copy> open;
        std::deque<std::vector<Copy>> groups;
        std::uint32_t committed = 0, arrived = 0;      ///< groups of copies
        std::uint32_t products = 0;                    ///< groups of them
        std::vector<const float*> sums;                ///< arrays that they add to
        std::map<const void*, std::uint32_t> fetches;  ///< where tiles were sent to, and from which place

        const Step* step() const { return next < steps.size() ? &steps[next] : nullptr; }
    };
    struct Site {
        const char* file;
        int line, column;
        bool operator==(const Site&) const = default;
    };
    struct SiteHash {
        std::size_t operator()(const Site& s) const {
            return reinterpret_cast<std::uintptr_t>(s.file) * 31 +
                   static_cast<std::size_t>(s.line * 257 + s.column);
        }
    };

    Lane& self();
    static void settle(Lane& lane);
    std::span<Lane> lanes_of(int warp);
    void tile_arrived(const emulator::Flight& flight);
    void stop(const std::string& sentence);
    std::string where_outside(const void* p, int bytes) const;
    std::string where_warps_wait() const;
    void end_thread();
    void lay_side_by_side(
        int warp);  ///< up to where the warp meets next, as often as all its lanes have come there
    void until_meeting(int warp, std::span<Lane> of_warp);
    static std::uint32_t lanes_at(std::span<const Lane> of_warp, const Step& step);
    static const Step* next_step(std::span<const Lane> of_warp);
    void emit(int warp, std::span<Lane> of_warp, std::uint32_t mask);
    void count(const inside::Event& event);
    void keep(const inside::Event& event);
    void keep_block(inside::Launch& launch, inside::BlockRecord block, bool wanted);
    void note_writers(inside::Launch& launch) const;

    Limits limits;
    const Arena& arena;
    std::string kernel;
    inside::Record result;
    std::unordered_map<Site, std::uint32_t, SiteHash> sites;
    std::unordered_map<std::uint64_t, std::optional<std::int64_t>> behind;  ///< by place, and what it does
    std::unique_ptr<inside::RaceDetector> races;
    std::vector<inside::Counts> counts;  ///< by place and op, in the order of their first time
    std::unordered_map<std::uint64_t, std::size_t> count_of;
    std::vector<Lane> lanes;
    inside::BlockRecord* kept = nullptr;  ///< of the block that runs, if its events are
    std::int64_t kept_bytes = 0, steps = 0;
    std::vector<std::uint32_t> gathered;  ///< words of the event at hand
};

/// What is being recorded; null: nothing.
inline thread_local Recording* recording = nullptr;

/// Runs launches on the emulator, and writes them down where there is a recording.
class RecordingStream : public EmulatedStream {
public:
    void run(const Grid& grid, const std::function<void()>& body);
};

}  // namespace tilewalk::gpu
