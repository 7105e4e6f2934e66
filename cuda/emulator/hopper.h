// What Hopper does beside a block's threads, on the CPU: tiles that come by themselves (TMA), barriers that
// count arrivals, bytes and phases (mbarrier), products of warps that run on while the warps go on (wgmma),
// barriers that have a number, registers that change hands (setmaxnreg).
//
// Each happens as late as its rules allow, or at once (Options::copies). Late: a tile comes when nobody can
// go on without it, in an order by chance, and where it will lie is NaN until then; a product is computed
// when it is waited for, and its sums are NaN until then.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tilewalk::gpu::emulator {

class Block;

/// How a tensor lies in HBM, 16-bit elements: columns, rows, heads, batches, and the box of it that is
/// fetched at once: 64 columns of so many rows.
struct TensorMap {
    const unsigned char* data = nullptr;
    std::array<std::int64_t, 4> size{}, stride{};  ///< stride in bytes
    int rows = 0;

    int box_bytes() const;
    /// The row of the box that is `r` rows below (column, row); null outside of the tensor.
    const unsigned char* row(const std::array<int, 4>& at, int r) const;
    /// 16-byte chunks of a row of the box that lie inside.
    int chunks(const std::array<int, 4>& at) const;
};

/// A tile on its way.
struct Flight {
    TensorMap map;
    void *to, *barrier;
    std::array<int, 4> at;  ///< column, row, head, batch
    int thread;             ///< that asked for it
};

/// 16 rows of a product, those of one warp.
struct AsyncProduct {
    int columns = 0;
    bool adds = false;            ///< to what is there; else the sums begin at 0
    bool A_in_registers = false;  ///< then the rows of B are summed over, else its columns
    std::uint64_t A = 0, B = 0;   ///< descriptors
    float (*number)(std::uint16_t) = nullptr;
    std::array<float*, 32> sums{};
    std::array<const std::uint32_t*, 32> registers{};
    std::vector<float> before;  ///< what the sums were, where they are NaN meanwhile
};

class Hopper {
public:
    explicit Hopper(Block& of) : block(of) {}
    /// A new block of so many threads.
    void begin(int threads, bool late, bool forgives);
    /// What was begun and never waited for when the block has ended; empty: nothing, or it is forgiven.
    std::string unfinished() const;

    // Barriers that count phases: eight bytes of shared memory
    void init(void* barrier, int arrivals);
    void arrive(void* barrier);
    void expect(void* barrier, int bytes);  ///< and arrives
    void wait(const void* barrier, int parity);
    /// Phases that have ended since it was made.
    std::uint32_t completed(const void* barrier) const;

    // Tiles
    void fetch(const Flight& flight);
    /// One that is on its way arrives; false: none is.
    bool deliver(std::mt19937_64& random);
    std::function<void(const Flight&)> on_arrival;  ///< told of each

    // Barriers with a number, 1 to 15
    void arrive_named(int id, int threads) { come(id, threads); }
    void sync_named(int id, int threads);

    // Registers of a warp; all its lanes call
    void shrink(int registers);
    void grow(int registers);

    // Products of a warp; the last lane calls
    void fence() { warp().fenced = true; }
    void issue(AsyncProduct product);
    void commit();
    void wait_products(int groups);

private:
    struct Phases;
    struct Named {
        int needed = 0, arrived = 0;
        std::uint64_t generation = 0;
    };
    struct Warp {
        std::vector<AsyncProduct> open;
        std::deque<std::vector<AsyncProduct>> groups;
        std::size_t issued = 0;
        int registers = 0, wanted = 0;  ///< of each thread
        bool fenced = false;
    };
    /// Of four warps: what each of them must issue alike.
    struct Issued {
        int columns;
        std::uint64_t A, B;
        bool operator==(const Issued&) const = default;
    };
    Warp& warp();
    Phases phases(const void* barrier, const char* what) const;
    Phases open_phase(const void* barrier, const char* what);
    void put(void* barrier, Phases phases);
    bool come(int id, int threads);  ///< whether all have
    void land(const Flight& flight);
    bool is_pending(const float* sums);
    void hold_back(AsyncProduct& product);
    void compute(const AsyncProduct& product, int warp_of_group);
    void set_registers(const char* what, int registers, bool more);
    void grant_registers();

    Block& block;
    bool late = true, forgives = false;
    std::vector<Warp> warps;
    std::vector<std::vector<Issued>> of_group;
    std::vector<Flight> flights;
    std::array<Named, 16> named;
    std::map<const void*, std::uint32_t> ended;  ///< phases
    int spare_registers = 0;
};

}  // namespace tilewalk::gpu::emulator
